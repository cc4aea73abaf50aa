"""What is packed for a machine, run as Ansible has it run there: over standard input, with nothing of ours at hand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ansible import constants
from ansible_collections.llmgw.preflight.plugins.plugin_utils import script

PLUGINS = Path(script.__file__).parents[1]
ASKED = {"edges": [], "elsewhere": [], "round_trips": [], "absent": {"9": []}, "reach_s": 1, "token": 'a"""b\\', "me": 0}


def run(module, code, arguments, folder):
    """What that module prints, filled in as ansible-core does it (ansible.executor.module_common, jsonargs)."""
    given = json.dumps({"code": code, "arguments": arguments})
    filled = (PLUGINS / "modules" / f"{module}.py").read_text().replace("<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>", given)
    return subprocess.run([sys.executable], input=filled, cwd=folder, env={}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("module", ["probe", "edges"])
def test_it_runs_whatever_lies_in_the_folder_of_the_login(module, tmp_path):
    for name in ("json", "zlib", "base64", "socket", "importlib"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken from the folder')\n")
    done = run(module, script.packed("ways", (3, 6)), ASKED, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["edges"]["tried"] == 0


def test_a_python_that_is_too_old_says_so(tmp_path):
    done = run("probe", script.packed("ways", (9, 4)), ASKED, tmp_path)
    assert json.loads(done.stdout) == {"failed": True, "msg": "Ansible requires Python 9.4 or newer on the machine"}


def test_an_error_is_told_as_python_tells_it(tmp_path):
    done = run("edges", script.packed("ways", (3, 6)), {}, tmp_path)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.splitlines()[-1] == "KeyError: 'edges'"


def test_a_module_alone_does_nothing():
    """ansible-test imports it, ansible-doc reads it."""
    for module in ("probe", "edges"):
        names: dict = {"__name__": "__main__"}
        exec((PLUGINS / "modules" / f"{module}.py").read_text(), names)
        assert names["DONE"] is False


def test_both_tasks_carry_what_they_need_and_no_more():
    all_of_ours = {path.stem for path in (PLUGINS / "module_utils").glob("*.py")} - {"__init__"}
    carried = {main: {name.rpartition(".")[2] for name in script.sources_of(main)} for main in ("machine", "ways")}
    assert carried["machine"] | carried["ways"] | {"start"} == all_of_ours
    assert carried["ways"] <= {"ways", "calls", "elsewhere", "reach", "lookup", "background", "stand_in"}
    for main, names in carried.items():
        for name in names:
            source = (PLUGINS / "module_utils" / f"{name}.py").read_text()
            assert set(re.findall(r"module_utils\.(\w+)", source)) <= names, (main, name)
            assert "ansible.module_utils" not in source


def test_what_is_imported_is_carried_however_it_is_written():
    source = f"from {script.OURS}.reading import (\n    find,\n)\nfrom {script.OURS}.lookup import x\nfrom {script.OURS} import ways\n"
    assert [module or imported for module, imported in script.IMPORTED.findall(source)] == ["reading", "lookup", "ways"]


@pytest.mark.parametrize(("found", "oldest"), [
    (["python3.13", "python3.9", "/usr/bin/python3", "python3"], (3, 9)),
    (["python3.12", "python3.6", "/usr/bin/python3", "python2.7"], (3, 6)),
    (["python3.5", "python3.10"], (3, 6)),
    (["python3"], (3, 6)),
])
def test_the_oldest_python(found, oldest):
    assert script.oldest_python({"INTERPRETER_PYTHON_FALLBACK": {"default": found}}) == oldest


def test_this_ansible_core_tells_its_oldest_python():
    names = constants.config.get_configuration_definitions()[script.FALLBACKS]["default"]
    assert f"python3.{script.oldest_python(constants.config.get_configuration_definitions())[1]}" in names
