"""What runs first on a machine, tried in this process; tests/unit/plugins/plugin_utils/test_script.py has Python run it as Ansible does."""

import json
import sys

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import start

SOURCES = {
    "readers_of_test.one": "from readers_of_test.two import TWO\ndef main(asked, begun):\n    return {'found': [asked, begun, TWO]}\n",
    "readers_of_test.two": "TWO = 2\n"}


class Ended(Exception):
    """The process would have ended."""


@pytest.fixture
def run(monkeypatch, capsys):
    """run(oldest Python): what is printed."""
    def end(status):
        assert status == 0
        raise Ended

    def make(oldest):
        with pytest.raises(Ended):
            start.start(SOURCES, "readers_of_test.one", oldest, {"x": 1}, 5.5)
        return json.loads(capsys.readouterr().out)

    monkeypatch.setattr(start.os, "_exit", end)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield make
    for name in [name for name in sys.modules if name.partition(".")[0] == "readers_of_test"]:
        del sys.modules[name]


def test_readers_are_imported_from_their_sources_and_nothing_else_is(run):
    assert run((3, 6)) == {"found": [{"x": 1}, 5.5, 2]}
    with pytest.raises(ModuleNotFoundError):
        __import__("readers_of_test.three")


def test_a_python_that_is_too_old_runs_none_of_them(run):
    assert run((9, 4)) == {"failed": True, "msg": "Ansible requires Python 9.4 or newer on the machine"}
    assert not [name for name in sys.modules if name.startswith("readers_of_test")]
