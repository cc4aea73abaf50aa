"""The example of CONTRIBUTING.md works as it stands there: its check passes its test, and keeps the rules for checks."""

from __future__ import annotations

import importlib
import re
import sys
import textwrap
import types
from pathlib import Path

import pytest
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


NOT_NEXT = "1.0.1 is in changelogs/ already: without VERSION, make release builds what galaxy.yml says."


@pytest.mark.parametrize(("version", "given", "told"), [
    ("1.0.2", {}, None), ("2.0.0-rc1", {}, None), ("1.0.1", {"released": ["1.0.0"]}, None),  # galaxy.yml may say it before it is one
    ("1.0.1", {}, NOT_NEXT), ("01.2.3", {}, "01.2.3 is no version such as 1.0.0."), ("soon", {}, "soon is no version such as 1.0.0."),
    ("0.9.0", {}, "0.9.0 is before what there is already: 1.0.0, 1.0.1, 1.0.1."),
    ("1.0.2", {"fragments": []}, "There is nothing in changelogs/fragments, so the entry would be empty."),
    ("1.0.2", {"unknown": ["a", "b"]}, "git does not know a: add it, or take it away\ngit does not know b: add it, or take it away")])
def test_what_can_not_be_released_is_told_before_anything_is_changed(monkeypatch, version, given, told):
    monkeypatch.syspath_prepend(ROOT / "tests" / "tools")
    refusal = importlib.import_module("changelog").refusal
    usual = {"before": "1.0.1", "released": ["1.0.0", "1.0.1"], "fragments": ["x.yml"], "unknown": []}
    assert refusal(version, **{**usual, **given}) == told


def test_the_files_that_it_names_are_there():
    assert set(yaml.safe_load(FRAGMENT)) <= {section for section, _title in
                                             yaml.safe_load((ROOT / "changelogs" / "config.yaml").read_text("utf-8"))["sections"]}
    for target in re.findall(r"\]\(([^)#:]+)\)", PAGE):
        assert (ROOT / target).exists(), target
    for name in ("AFTER_LOGIN", "BETWEEN", "LOOKED_AT_BY"):
        assert name in PAGE and hasattr(checks, name)
    there = (ROOT / "tests" / "unit" / "plugins" / "plugin_utils" / "checks" / "test_checks.py").read_text("utf-8")
    assert re.search("^ORDER = ", there, re.MULTILINE) and re.search("^SECTIONS = ", there, re.MULTILINE)


def test_fragments_have_the_form_of_one():
    sections = {section for section, _title in yaml.safe_load((ROOT / "changelogs" / "config.yaml").read_text("utf-8"))["sections"]}
    for path in (ROOT / "changelogs" / "fragments").glob("*.yml"):
        told = yaml.safe_load(path.read_text("utf-8"))
        assert isinstance(told, dict) and set(told) <= {*sections, "release_summary"}, path
        assert all(isinstance(each, str) for section in sections & set(told) for each in told[section]), path
