"""Machines that can not be read: each has a record and a finding that names the cause, and holds no other back."""

from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import login

pytestmark = pytest.mark.core
PYTHON = "/usr/bin/python3"


def script(*lines):
    return {"files": {PYTHON: {"content": "\n".join(("#!/bin/sh", *lines, "")), "mode": "0755"}},
            "vars": {"ansible_python_interpreter": PYTHON}}


# machine -> (what is wrong with it, the detail that must be reported, the fix's cause)
CASES = {
    "down": ({"down": True}, "ssh: connect to host 10.77.2.1 port 22: Connection refused", "refused"),
    "silent": ({"blackhole": True}, "ssh: connect to host 10.77.2.2 port 22: Connection timed out", "timeout"),
    "absent": ({"absent": True}, "ssh: connect to host 10.77.2.3 port 22: No route to host", "no_route"),
    "locked": ({"auth": "none"}, "ops@10.77.2.4: Permission denied (publickey).", "denied"),
    "unnamed": ({"vars": {"ansible_host": "no-such-name.invalid"}},
                "ssh: Could not resolve hostname no-such-name.invalid: Temporary failure in name resolution", "no_name"),
    "bare": ({"no_python": True, "vars": {"ansible_python_interpreter": PYTHON}},
             "/bin/sh: 1: /usr/bin/python3: not found", "python"),
    "shim": (script("echo 'pyenv: python3: command not found' >&2", "exit 127"),
             "/usr/bin/python3: pyenv: python3: command not found", "python"),
    "junk": (script("cat >/dev/null", "echo '{\"sections\": 5}'"), 'Python printed another result: {"sections": 5}', "other"),
    "crash": (script("cat >/dev/null", "echo 'Segmentation fault' >&2", "exit 139"), "Segmentation fault", "other"),
    "mute": (script("cat >/dev/null"), "Python printed nothing", "other"),
    "frozen": (script("cat >/dev/null", "sleep 600"), "no answer within 20 s", "silent"),
}
HEALTHY = {
    "fine": {},
    "noisy": {"motd_noise": True, "vars": {"ansible_python_interpreter": PYTHON}},
    "plain": {"login_shell": "/bin/dash", "tmp_noexec": True},
}


@pytest.fixture(scope="module")
def outcome(make_lab, play):
    lab = make_lab({"defaults": {"groups": ["node"]}, "hosts": [
        *({"name": name, "ip": f"10.77.2.{number}", **fault} for number, (name, (fault, detail, cause)) in enumerate(CASES.items(), 1)),
        *({"name": name, **fields} for name, fields in HEALTHY.items()),
    ]})
    limits = {"machine_s": 20, "reach_s": 5}
    return play(lab.inventory(), lab, arguments="-f 30", variables={"preflight_limits": limits}, settings={"ANSIBLE_TIMEOUT": "6"})


def test_every_machine_is_in_the_report_and_none_leaves_the_play(outcome):
    assert [machine["machine"] for machine in outcome.report["machines"]] == [*CASES, *HEALTHY]
    assert set(outcome.records()) == {*CASES, *HEALTHY}
    assert "unreachable=1" not in outcome.output
    assert outcome.rc == 2


@pytest.mark.parametrize("name", CASES)
def test_the_cause_is_named_and_nothing_else_is_reported(outcome, name):
    fault, detail, cause = CASES[name]
    findings = [finding for finding in outcome.report["findings"] if finding["machine"] == name]
    assert findings == [{"machine": name, "check": "login", "level": "fail", "detail": detail,
                         "fix": login.FIXES.get(cause, login.FIX_OTHER)}]


@pytest.mark.parametrize("name", HEALTHY)
def test_the_others_are_read_whole(outcome, name):
    levels = {check: finding["level"] for (machine, check), finding in outcome.findings().items() if machine == name}
    assert len(levels) == 22
    assert {check for check, level in levels.items() if level != "ok"} == {"network", "names"} | (  # it can't reach the dead ones either
        {"temp"} if HEALTHY[name].get("tmp_noexec") else set())
    # A name that nobody has can take its resolver as long as the deadline of this test.
    assert set(outcome.records()[name]["unmeasured"]) <= {"names", "gpus"}
    assert {peer["machine"] for peer in outcome.records()[name]["reach"]["not_open"]} == {"down", "silent", "absent", "unnamed"}
