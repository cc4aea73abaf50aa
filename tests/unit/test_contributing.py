"""The example of CONTRIBUTING.md works as it stands there: its check passes its test, and keeps the rules for checks."""

from __future__ import annotations

import re
import sys
import textwrap
import types
from pathlib import Path

import yaml
from ansible_collections.llmgw.preflight.plugins.plugin_utils import checks

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RULE, TEST = (textwrap.dedent(block) for block in re.findall(r"   ```python\n(.*?)   ```", PAGE, re.DOTALL))
(FRAGMENT,) = (textwrap.dedent(block) for block in re.findall(r"   ```yaml\n(.*?)   ```", PAGE, re.DOTALL))


def test_the_check_passes_its_test(monkeypatch, record, asked):
    check, test = types.ModuleType(f"{checks.__name__}.role_name"), types.ModuleType("test_role_name")
    exec(compile(RULE, "role_name.py", "exec"), check.__dict__)
    monkeypatch.setitem(sys.modules, check.__name__, check)
    monkeypatch.setattr(checks, "role_name", check, raising=False)
    exec(compile(TEST, "test_role_name.py", "exec"), test.__dict__)
    (cases,) = (mark.args[1] for mark in test.test_levels.pytestmark)
    assert len(cases) == 3
    for name, verdict in cases:
        test.test_levels(record, asked, name, verdict)
    assert checks.verdict_of(check, record(identity=None), asked()).level == check.WORST
    assert check.__doc__.splitlines()[0].endswith("?")


def test_the_files_that_it_names_are_there():
    assert set(yaml.safe_load(FRAGMENT)) <= {section for section, _title in
                                             yaml.safe_load((ROOT / "changelogs" / "config.yaml").read_text("utf-8"))["sections"]}
    for target in re.findall(r"\]\(([^)#:]+)\)", PAGE):
        assert (ROOT / target).exists(), target
    for name in ("AFTER_LOGIN", "BETWEEN", "LOOKED_AT_BY"):
        assert name in PAGE and hasattr(checks, name)
    there = (ROOT / "tests" / "unit" / "plugins" / "plugin_utils" / "checks" / "test_checks.py").read_text("utf-8")
    assert re.search("^ORDER = ", there, re.MULTILINE) and re.search("^SECTIONS = ", there, re.MULTILINE)
