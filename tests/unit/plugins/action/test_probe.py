"""What the probe and its kin make of machines that say this or that; on real ones they are tried in tests/integration."""

from __future__ import annotations

import types

import pytest
from ansible.errors import AnsibleError
from ansible_collections.llmgw.preflight.plugins.action import close, probe
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import NotRead
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waiting import OutOfTime


@pytest.fixture
def action():
    """action(answer, ...): the probe's action, with what the machine answers to each command; an exception is raised."""
    def make(*answers, kind=probe.ActionModule):
        made, left = object.__new__(kind), list(answers)
        made.asked, made.plugins = [], []

        def command(text, sudoable=True):
            made.asked.append(text)
            answer = left.pop(0)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        made._low_level_execute_command = command
        made._limits, made._end = settings.limits(None), probe.time.monotonic() + 600
        made._discovered_interpreter_key, made._searched_again = None, False
        made._record, made._unmeasured, made._vars = {"machine": "m", "sudo": {"how": "password"}}, {}, {}
        made._templar = types.SimpleNamespace(template=lambda given: given)
        made._play_context = types.SimpleNamespace(become_pass=None)
        made._connection = types.SimpleNamespace(set_become_plugin=made.plugins.append)
        return made

    return make


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
    (RuntimeError("a plugin of somebody's own broke on s3cret"), {"how": "denied", "reason": "a plugin of somebody's own broke on ***"}),
])
def test_a_password_for_sudo(action, answer, sudo):
    made = action(answer)
    made._vars = {"ansible_become_password": "s3cret"}
    made._measure("sudo", made._try_password)
    assert made._record["sudo"] == sudo
    assert made.asked == ["id -u"] and made.plugins[-1] is None  # nothing that comes later becomes root


def test_a_password_that_nobody_answers_to(action):
    made = action(OutOfTime())
    made._play_context.become_pass = "s3cret"
    made._measure("sudo", made._try_password)
    assert "sudo" not in made._record
    assert made._unmeasured == {"sudo": "no answer after the password was given"}


def test_without_a_password_sudo_is_let_be(action):
    made = action()
    made._measure("sudo", made._try_password)
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
