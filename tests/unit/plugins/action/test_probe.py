"""What the probe and its kin make of machines that say this or that; on real ones they are tried in tests/integration."""

from __future__ import annotations

import types

import pytest
from ansible.errors import AnsibleError
from ansible_collections.llmgw.preflight.plugins.action import close, probe
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import NotRead
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waiting import OutOfTime

PYTHON = "/usr/bin/python3"


@pytest.fixture
def action(monkeypatch):
    """action(answer, ...): the probe's action, with what the machine answers to each command; an exception is raised."""
    slept = []
    monkeypatch.setattr(probe.time, "sleep", slept.append)

    def make(*answers, kind=probe.ActionModule):
        made, left = object.__new__(kind), list(answers)
        made.asked, made.slept, made.plugins = [], slept, []

        def command(text, sudoable=True):
            made.asked.append(text)
            answer = left.pop(0)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        made._low_level_execute_command = command
        made._limits, made._end = settings.limits(None), probe.time.monotonic() + 600
        made._used_interpreter, made._discovered_interpreter_key, made._searched_again = PYTHON, None, False
        made._record, made._unmeasured, made._vars = {"machine": "m", "sudo": {"how": "password"}}, {}, {}
        made._templar = types.SimpleNamespace(template=lambda given: given)
        made._play_context = types.SimpleNamespace(become_pass=None)
        made._connection = types.SimpleNamespace(set_become_plugin=made.plugins.append)
        return made

    return make


OK = {"rc": 0, "stdout": "", "stderr": ""}


@pytest.mark.parametrize(("problem", "answers", "said"), [
    (AnsibleError("Permission denied (publickey)"), [], "Permission denied (publickey)"),
    (NotRead("nonsense"), [], "nonsense"),
    (AnsibleError("broken pipe"), [AnsibleError("Connection refused")], "Connection refused"),
    (AnsibleError("broken pipe"), [OK, {"rc": 127, "stderr": f"sh: 1: {PYTHON}: not found"}], f"sh: 1: {PYTHON}: not found"),
    (AnsibleError("broken pipe"), [OK, {"rc": 139}], f"{PYTHON}: exit status 139"),
    (NotRead("SyntaxError: invalid syntax"), [OK, {"rc": 0, "stderr": "Python 2.7.18"}],
     f"{PYTHON} is Python 2.7.18, which can not run this Ansible's modules: SyntaxError: invalid syntax"),
    (NotRead("ImportError: no"), [OK, {"rc": 0, "stdout": "who knows"}], "ImportError: no"),
])
def test_what_really_keeps_a_machine_from_being_read(action, problem, answers, said):
    made = action(*answers)
    with pytest.raises((AnsibleError, NotRead)) as told:
        made._look_closer(problem)
    assert str(told.value) == said
    assert len(made.asked) == len(answers)


def test_what_is_worth_another_try(action):
    made = action(OK, {"rc": 0, "stdout": "Python 3.11.2"})
    assert made._look_closer(AnsibleError("broken pipe")) is None
    assert made.asked == [probe.COMMAND, f"{PYTHON} -V"]


@pytest.mark.parametrize(("fails", "reads"), [(0, 1), (2, 3), (4, 5), (9, 5)])
def test_a_login_that_is_dropped_is_tried_again_five_times_in_all(action, fails, reads):
    made, tried = action(), []

    def read():
        tried.append(1)
        if len(tried) <= fails:
            raise AnsibleError("kex_exchange_identification: Connection closed by remote host")

    if fails < 5:
        made._with_patience(read)
    else:
        with pytest.raises(AnsibleError, match="kex_exchange"):
            made._with_patience(read)
    assert len(tried) == reads
    bounds = [(0.5 * pause, 1.5 * pause) for pause in probe.PAUSES_S]
    assert len(made.slept) == reads - 1 and all(low <= slept <= high for slept, (low, high) in zip(made.slept, bounds, strict=False))


def test_another_failure_is_none_to_try_again(action):
    made = action()

    def read():
        raise AnsibleError("No route to host")

    with pytest.raises(AnsibleError, match="No route"):
        made._with_patience(read)
    assert made.slept == []


def test_python_is_searched_for_once_more(action):
    made = action()
    made._vars = {"ansible_facts": {"discovered_interpreter_python": "/no/python", "x": 1}}
    made._discovered_interpreter_key = "discovered_interpreter_python"
    assert made._searches_python_again(NotRead("/no/python: not found")) is True
    assert made._vars == {"ansible_facts": {"x": 1}}
    made._discovered_interpreter_key = "discovered_interpreter_python"
    assert made._searches_python_again(NotRead("/no/python: not found")) is False


@pytest.mark.parametrize(("answer", "sudo"), [
    ({"rc": 0, "stdout": "hello\n0\n"}, {"how": "password_given"}),
    ({"rc": 0, "stdout": "1000\n"}, {"how": "denied", "reason": "1000"}),
    ({"rc": 1, "stdout": "", "stderr": "sudo: s3cret is wrong"}, {"how": "denied", "reason": "sudo: *** is wrong"}),
    ({"rc": 1}, {"how": "denied", "reason": "the password that was given does not work"}),
    (AnsibleError("Incorrect sudo password"), {"how": "denied", "reason": "Incorrect sudo password"}),
])
def test_a_password_for_sudo(action, answer, sudo):
    made = action(answer)
    made._vars = {"ansible_become_password": "s3cret"}
    made._try_password()
    assert made._record["sudo"] == sudo
    assert made.asked == ["id -u"] and made.plugins[-1] is None  # nothing that comes later becomes root


def test_a_password_that_nobody_answers_to(action):
    made = action(OutOfTime())
    made._play_context.become_pass = "s3cret"
    made._try_password()
    assert "sudo" not in made._record
    assert made._unmeasured == {"sudo": "no answer after the password was given"}


def test_without_a_password_sudo_is_let_be(action):
    made = action()
    made._try_password()
    assert (made._record["sudo"], made.asked) == ({"how": "password"}, [])


@pytest.mark.parametrize(("pid", "answers", "alive", "commands"), [
    (None, [], None, 0),
    (4711, [{"stdout": "ended\n"}], True, 1),
    (4711, [{"stdout": "gone\n"}], False, 1),
    (4711, [{"stdout": "what\n"}], None, 1),
    (4711, [AnsibleError("Connection refused")], None, 1),
    (4711, [OutOfTime()], None, 1),
])
def test_stand_ins_are_ended(action, monkeypatch, pid, answers, alive, commands):
    made = action(*answers, kind=close.ActionModule)
    plan = {"run": "r", "limits": made._limits}
    monkeypatch.setattr(probe.ActionBase, "run", lambda self, tmp=None, task_vars=None: {})
    monkeypatch.setattr(close.ActionModule, "_prepare_connection", lambda self: None)
    made.validate_argument_spec = lambda argument_spec: (None, {"machine": "m", "plan": plan})
    record = {"login": {"ok": True}, "stand_ins": {"pid": pid, "open": [], "held": []}}
    hostvars = {"m": {"preflight_probe": {"machine": "m", "run": "r", "play": "p", "record": record}}}
    assert made.run(task_vars={"hostvars": hostvars})["alive"] is alive
    assert made.asked == [close.COMMAND.format(pid=pid)] * commands
