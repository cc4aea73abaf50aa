from __future__ import annotations

import json

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import NotRead, edges_of, facts_of, harmless, parts_of

LOGIN = {"ok": True, "user": "ops", "uid": 1000}
WHOLE = {"sections": {"login": LOGIN, "cpus": 4}, "unmeasured": {"apt": "no"}, "started": 100, "ended": 101.5}
PARTS = ({"login": LOGIN, "cpus": 4}, {"apt": "no"}, (100.0, 101.5))


def test_a_whole_result():
    assert parts_of({**WHOLE, "changed": False}) == PARTS


@pytest.mark.parametrize("output", [
    f"welcome {{here\n{json.dumps(WHOLE)}\nbye",
    f"{{\"x\": 5}}\nnoise{json.dumps(WHOLE)}noise\n",
])
def test_a_result_amid_noise(output):
    assert parts_of({"failed": True, "msg": "MODULE FAILURE", "module_stdout": output}) == PARTS


def test_a_machine_can_not_pass_itself_off_as_another():
    sections = {**WHOLE["sections"], "machine": "other", "roles": [], "local": True, "clock": {"offset_s": 0, "error_s": 0}}
    assert parts_of({**WHOLE, "sections": sections, "unmeasured": {"apt": "no", "machine": "x"}}) == PARTS


@pytest.mark.parametrize("part", [
    {"sections": 5}, {"sections": {}}, {"sections": {"login": 5}}, {"sections": {"login": {**LOGIN, "ok": False}}},
    {"unmeasured": []}, {"started": None}, {"started": float("nan")}, {"ended": float("inf")},
])
def test_a_result_that_is_not_whole(part):
    with pytest.raises(NotRead, match="^Python printed another result: {"):
        parts_of({**WHOLE, **part})


@pytest.mark.parametrize(("result", "said"), [
    ({"module_stdout": "", "module_stderr": "", "msg": "MODULE FAILURE"}, "Python printed nothing"),
    ({"module_stdout": "out\n", "module_stderr": "err\n", "msg": "MODULE FAILURE"}, "out\n\nerr"),
    ({"failed": True, "msg": "Ansible requires Python 3.9"}, "Ansible requires Python 3.9"),
    ({"failed": True, "x": 5}, 'Python printed another result: {"x": 5}'),
    ({"x": 5, "_ansible_parsed": True, "changed": False, "warnings": []}, 'Python printed another result: {"x": 5}'),
    ({}, "Python printed another result: {}"),
])
def test_what_is_said_instead(result, said):
    with pytest.raises(NotRead) as problem:
        parts_of(result)
    assert str(problem.value) == said


@pytest.mark.parametrize(("rc", "cause"), [(126, "python"), (127, "python"), (1, None), ([127], None)])
def test_a_shell_that_can_not_run_python_tells_so_by_its_exit_status(rc, cause):
    with pytest.raises(NotRead) as problem:
        parts_of({"module_stdout": "", "module_stderr": "bash: /opt/python: Keine Berechtigung", "rc": rc})
    assert problem.value.cause == cause


def test_texts_are_cut_and_lists_are_not():
    sections = {"login": LOGIN, "system": {"id": "x" * 5000, "version": None, "name": ["y" * 5000] * 2, "k" * 5000: 1},
                "listening": [{"port": 1}] * 9999}
    found, unmeasured, dummy = parts_of({**WHOLE, "sections": sections, "unmeasured": {"apt": "z" * 5000}})
    assert found["system"] == {"id": "x" * 1000, "version": None, "name": ["y" * 1000] * 2, "k" * 1000: 1}
    assert len(found["listening"]) == 9999
    assert unmeasured == {"apt": "z" * 1000}


def test_odd_bytes_can_be_written_to_a_file():
    found, dummy, dummy = parts_of({**WHOLE, "sections": {"login": {**LOGIN, "user": "caf\udce9"}}})
    assert found["login"]["user"] == "caf?"
    with pytest.raises(NotRead, match=r"^caf\?$"):
        parts_of({"module_stdout": "caf\udce9", "module_stderr": ""})


SETUP = {"ansible_facts": {"ansible_kernel": "x" * 5000, "facter_kernel": 6, "discovered_interpreter_python": "/usr/bin/python3"}}
FACTS = {"kernel": "x" * 1000, "facter_kernel": 6}


@pytest.mark.parametrize("result", [SETUP, {"failed": True, "module_stdout": f"noise\n{json.dumps(SETUP)}\nbye"}])
def test_facts(result):
    assert facts_of(result) == FACTS


@pytest.mark.parametrize(("result", "said"), [
    ({"failed": True, "msg": "Bad subset", "ansible_facts": {}}, "Bad subset"),
    ({"ansible_facts": 5}, 'Python printed another result: {"ansible_facts": 5}'),
])
def test_no_facts(result, said):
    with pytest.raises(NotRead) as problem:
        facts_of(result)
    assert str(problem.value) == said


@pytest.mark.parametrize("told", ["a\x1b[2J", "a\x9b2J\x7f", "a\b\f\x00", "C:\\bin\\fog \\u001b", "é\n\t{\"x\": 1}"])
def test_nothing_that_a_machine_prints_steers_a_terminal(told):
    printed = json.dumps({"told": told}) + f"\nand {told}\r\n"
    shown = harmless(printed)
    assert not [char for char in shown if not char.isprintable() and char not in "\n\r\t"]
    value = json.loads(shown.splitlines()[0])["told"]
    assert not [char for char in value if not char.isprintable() and char not in "\n\r\t"]
    if not any(ord(char) < 32 and char not in "\n\t" or 127 <= ord(char) < 160 for char in told):
        assert (shown.splitlines()[0], value) == (printed.splitlines()[0], told)


EDGES = {"tried": 1, "open": 1, "not_open": []}


@pytest.mark.parametrize("result", [
    {"edges": EDGES, "changed": False},
    {"failed": True, "module_stdout": f'{{"x": 1}}\n{{"edges": 5}}\n{{"edges" broken\n{json.dumps({"edges": EDGES})}'},
])
def test_what_was_tried_of_the_others(result):
    assert edges_of(result) == EDGES


@pytest.mark.parametrize(("result", "said"), [
    ({"edges": 5, "changed": False}, 'Python printed another result: {"edges": 5}'),
    ({"module_stdout": '{"edges": 5}', "module_stderr": ""}, '{"edges": 5}'),
    ({"failed": True, "msg": "no room"}, "no room"),
])
def test_nothing_of_the_others(result, said):
    with pytest.raises(NotRead) as problem:
        edges_of(result)
    assert str(problem.value) == said


@pytest.mark.parametrize("time", [10**400, float("nan"), float("inf"), "1", None])
def test_a_time_that_is_none_is_no_result(time):
    with pytest.raises(NotRead):
        parts_of({**WHOLE, "ended": time})


def test_what_is_nested_too_deeply_is_cut():
    deep = "end"
    for _level in range(20):
        deep = [deep]
    found = parts_of({**WHOLE, "sections": {"login": LOGIN, "cpus": deep}})[0]["cpus"]
    for _level in range(12):
        (found,) = found
    assert found == "..."


def test_odd_bytes_in_a_key_can_be_written_to_a_file():
    login = {**LOGIN, "x\ud800": 1}
    assert parts_of({**WHOLE, "sections": {"login": login}})[0] == {"login": {**LOGIN, "x?": 1}}
