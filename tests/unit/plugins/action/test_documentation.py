"""What a module's documentation says that it takes is what its action takes."""

import importlib
import sys
import types
from pathlib import Path

import pytest
import yaml
from ansible.plugins.action import ActionBase
from ansible_collections.llmgw.preflight.plugins.doc_fragments import attributes, of_report

PLUGINS = "ansible_collections.llmgw.preflight.plugins"
NAMES = sorted(path.stem for path in (Path(__file__).parents[4] / "plugins" / "modules").glob("*.py"))


class Taken(Exception):
    """What an action takes."""


@pytest.fixture
def taken(monkeypatch):
    """taken(name): the argument spec of that action."""
    def stop(self, argument_spec):
        raise Taken(argument_spec)

    def ask(name):
        monkeypatch.setattr(ActionBase, "run", lambda self, tmp=None, task_vars=None: {})
        monkeypatch.setattr(ActionBase, "validate_argument_spec", stop)
        action = importlib.import_module(f"{PLUGINS}.action.{name}").ActionModule(*[types.SimpleNamespace()] * 6)
        with pytest.raises(Taken) as told:
            action.run(task_vars={})
        return told.value.args[0]

    return ask


@pytest.mark.parametrize("name", NAMES)
def test_options(name, taken, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))  # those that run on a machine change it
    module = importlib.import_module(f"{PLUGINS}.modules.{name}")
    told = yaml.safe_load(module.DOCUMENTATION)
    assert told["module"] == name
    spec, options = taken(name), told.get("options", {})
    if "llmgw.preflight.of_report" in told["extends_documentation_fragment"]:
        options |= yaml.safe_load(of_report.ModuleDocFragment.DOCUMENTATION)["options"]
    assert set(options) == set(spec)
    for option, of in options.items():
        assert bool(of.get("required")) == bool(spec[option].get("required")), option
        assert of.get("default") == spec[option].get("default"), option
        if "choices" in of:
            assert list(of["choices"]) == list(spec[option]["choices"]), option
    for task in yaml.safe_load(module.EXAMPLES):
        assert set(task[f"llmgw.preflight.{name}"] or ()) <= set(spec)


def test_what_all_have_in_common():
    assert set(yaml.safe_load(attributes.ModuleDocFragment.DOCUMENTATION)["attributes"]) == {"check_mode", "diff_mode"}
