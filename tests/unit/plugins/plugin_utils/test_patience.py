from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import login, patience
from ansible_collections.llmgw.preflight.plugins.plugin_utils.offset import COMMAND
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import NotRead

PYTHON = "/usr/bin/python3"
DROPPED = RuntimeError("kex_exchange_identification: Connection closed by remote host")
BROKEN = RuntimeError("broken pipe")


@pytest.fixture
def slept(monkeypatch):
    found = []
    monkeypatch.setattr(patience.time, "sleep", found.append)
    return found


@pytest.fixture
def read(slept):
    """read(problems, ...): what comes of it when a machine can only be read after these problems; under tried how often it was."""
    def make(*problems, **how):
        left, make.tried = list(problems), 0

        def once():
            make.tried += 1
            if left:
                raise left.pop(0)
            return "read"

        given = {"look_closer": raise_it, "may_do": lambda problem: False, "left": lambda seconds: seconds, **how}
        return patience.with_patience(once, **given)

    return make


def raise_it(problem):
    raise problem


@pytest.mark.parametrize(("fails", "tried"), [(0, 1), (2, 3), (4, 5), (9, 5)])
def test_a_login_that_is_dropped_is_tried_again_five_times_in_all(read, slept, fails, tried):
    if fails < 5:
        assert read(*[DROPPED] * fails) == "read"
    else:
        with pytest.raises(RuntimeError, match="kex_exchange"):
            read(*[DROPPED] * fails)
    assert read.tried == tried
    bounds = [(0.5 * pause, 1.5 * pause) for pause in patience.PAUSES_S]
    assert len(slept) == tried - 1 and all(low <= each <= high for each, (low, high) in zip(slept, bounds, strict=False))


def test_no_pause_is_longer_than_what_is_left(read, slept):
    read(DROPPED, DROPPED, left=lambda seconds: min(seconds, 0.1))
    assert slept == [0.1, 0.1]


def test_another_failure_is_none_to_try_again(read, slept):
    with pytest.raises(RuntimeError, match="No route"):
        read(RuntimeError("No route to host"))
    assert slept == []


def test_it_is_tried_again_where_nothing_is_found_on_a_closer_look(read):
    assert read(BROKEN, BROKEN, look_closer=lambda problem: None) == "read"
    with pytest.raises(RuntimeError, match="broken"):
        read(BROKEN)


def test_it_is_tried_again_where_it_may_do_all_the_same(read):
    seen = []
    assert read(BROKEN, may_do=lambda problem: not seen.append(problem)) == "read"
    assert seen == [BROKEN]


@pytest.fixture
def machine():
    """machine(answer, ...): what runs a command there, with what it answers to each; an exception is raised. Under asked the commands."""
    def make(*answers):
        left, make.asked = list(answers), []

        def run(command):
            make.asked.append(command)
            answer = left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return run

    return make


OK = {"rc": 0, "stdout": "", "stderr": ""}


@pytest.mark.parametrize(("problem", "answers", "said", "cause"), [
    (RuntimeError("Permission denied (publickey)"), [], "Permission denied (publickey)", "denied"),
    (NotRead("nonsense"), [], "nonsense", "other"),
    (BROKEN, [RuntimeError("Connection refused")], "Connection refused", "refused"),
    (BROKEN, [OK, {"rc": 127, "stderr": f"sh: 1: {PYTHON}: not found"}], f"sh: 1: {PYTHON}: not found", "python"),
    (BROKEN, [OK, {"rc": 126, "stderr": f"sh: 1: {PYTHON}: Permission denied"}], f"sh: 1: {PYTHON}: Permission denied", "python"),
    (NotRead("Permission denied", "python"), [OK, {"rc": 126, "stderr": "Permission denied"}], f"{PYTHON}: Permission denied", "python"),
    (BROKEN, [OK, {"rc": 139}], f"{PYTHON}: exit status 139", "python"),
    (NotRead("SyntaxError: invalid syntax"), [OK, {"rc": 0, "stderr": "Python 2.7.18"}],
     f"{PYTHON} is Python 2.7.18, which can not run this Ansible's modules: SyntaxError: invalid syntax", "python"),
    (NotRead("ImportError: no"), [OK, {"rc": 0, "stdout": "who knows"}], "ImportError: no", "python"),
])
def test_what_really_keeps_a_machine_from_being_read(machine, problem, answers, said, cause):
    run = machine(*answers)
    with pytest.raises((RuntimeError, NotRead)) as told:
        patience.look_closer(problem, PYTHON, run)
    assert str(told.value) == said
    assert login.told_by(told.value)[1] == cause
    assert len(machine.asked) == len(answers)


@pytest.mark.parametrize(("interpreter", "asked"), [(PYTHON, [COMMAND, f"{PYTHON} -V"]), ("", [COMMAND]),
                                                    ("/opt/my python", [COMMAND, "'/opt/my python' -V"])])
def test_what_is_worth_another_try(machine, interpreter, asked):
    assert patience.look_closer(BROKEN, interpreter, machine(OK, {"rc": 0, "stdout": "Python 3.11.2"})) is None
    assert machine.asked == asked


def test_without_a_python_nothing_more_is_asked(machine):
    with pytest.raises(NotRead, match="SyntaxError"):
        patience.look_closer(NotRead("SyntaxError: invalid syntax"), "", machine())
