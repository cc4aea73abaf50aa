"""Machines that stop answering while they are read: told within their deadline, and the others are not held up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

PYTHON = "/usr/bin/python3"
# Says that the module is about to run, and gives the test time to do something to the machine.
SLOW_PYTHON = {"/usr/bin/slow-python": {
    "content": f"#!/bin/sh\ncat >/tmp/module\ntouch /tmp/started\nsleep 4\n{PYTHON} </tmp/module\n", "mode": "0755"}}


@pytest.mark.parametrize(("fault", "reason"), [
    ("freeze", "no answer within 25 s"),
    ("drop", "no answer within 25 s"),
    ("kill-sshd", None),
])
def test_lost_while_it_is_read(make_lab, play, fault, reason):
    lab = make_lab({"defaults": {"groups": ["node"]}, "hosts": [
        {"name": "lost", "files": SLOW_PYTHON, "vars": {"ansible_python_interpreter": "/usr/bin/slow-python"}}, {"name": "fine"}]})

    def strike():
        for _attempt in range(600):
            if lab.exec("lost", "test -e /tmp/started").returncode == 0:
                lab.fault("lost", fault)
                return
            time.sleep(0.1)

    striking = threading.Thread(target=strike)
    striking.start()
    outcome = play(lab.inventory(), lab, variables={"preflight_limits": {"machine_s": 25}})
    striking.join()
    assert outcome.rc == 2
    assert {machine: finding["level"] for (machine, check), finding in outcome.findings("login").items()} == {
        "lost": "fail", "fine": "ok"}
    assert [check for machine, check in outcome.findings() if machine == "lost"] == ["login"]
    if reason:
        assert outcome.findings()["lost", "login"]["detail"] == reason
    others = {check: f["level"] for (machine, check), f in outcome.findings().items() if machine == "fine" and f["level"] != "ok"}
    assert set(others) <= {"network"}


# Stands before sshd, and hangs up on the first three that come, as sshd does with what goes beyond its MaxStartups (A#17349).
FLAKY = """
import socket, threading

def carry(source, target):
    while data := source.recv(65536):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)

server = socket.create_server(("", 2222))
print("ready", flush=True)
for number in range(100):
    caller = server.accept()[0]
    if number < 3:
        caller.close()
        continue
    sshd = socket.create_connection(("127.0.0.1", 22))
    for pair in ((caller, sshd), (sshd, caller)):
        threading.Thread(target=carry, args=pair, daemon=True).start()
"""


def test_a_search_for_python_that_is_cut_short_is_made_again(make_lab, play):
    ends_the_first = "[ -e /tmp/once ] || { touch /tmp/once; exit 0; }\n"
    lab = make_lab({"defaults": {"groups": ["node"]}, "hosts": [{"name": "cut", "files": {"/home/ops/.bashrc": ends_the_first}}]})
    outcome = play(lab.inventory(), lab)
    assert [finding for finding in outcome.report["findings"] if finding["level"] != "ok"] == []


@pytest.mark.core
def test_a_login_that_sshd_drops_is_tried_again(make_lab, play):
    lab = make_lab({"defaults": {"groups": ["node"]}, "hosts": [
        {"name": "busy", "vars": {"ansible_port": 2222}, "files": {"/opt/flaky.py": FLAKY}}]})
    with subprocess.Popen(lab.exec_command("busy", ["python3", "/opt/flaky.py"]), stdout=subprocess.PIPE) as flaky:
        try:
            assert flaky.stdout.readline() == b"ready\n"
            outcome = play(lab.inventory(), lab)
        finally:
            flaky.kill()
    assert [finding for finding in outcome.report["findings"] if finding["level"] != "ok"] == []


# Says that the module is at it, and holds it there until the test lets it go on.
HOLDING_SUDO = "#!/bin/sh\ntouch /tmp/started\nfor _ in $(seq 90); do [ -e /tmp/go ] && break; sleep 0.1; done\nexit 1\n"


def until(holds):
    """Wait until this is so; nothing here takes a minute, but one that hangs must not hang the tests."""
    for _attempt in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it never came to that")


def test_a_run_that_is_stopped_by_hand_leaves_no_stand_in_behind_later(make_lab, tmp_path):
    names = {"db1": "database", "db2": "database", "co1": "control_plane"}
    lab = make_lab({"hosts": [{"name": name, "groups": [role], "files": {
        "/usr/local/bin/sudo": {"content": HOLDING_SUDO, "mode": "0755"}}} for name, role in names.items()]})
    (tmp_path / "hosts.json").write_text(json.dumps(lab.inventory()))
    settings = {"ANSIBLE_COLLECTIONS_PATH": str(Path(__file__).parents[2] / ".collections"), "ANSIBLE_HOME": str(tmp_path / "home"),
                "LC_ALL": "C.UTF-8"}
    with lab.network(), subprocess.Popen(
            [sys.executable, "-m", "ansible", "playbook", "-i", "hosts.json", "llmgw.preflight.preflight"], cwd=tmp_path,
            env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True) as run:
        until(lambda: all(lab.exec(name, "test -e /tmp/started").returncode == 0 for name in names))
        os.killpg(run.pid, signal.SIGINT)
        run.wait(60)
    for name in names:
        lab.exec(name, "touch /tmp/go")
        until(lambda name=name: "python" not in lab.exec(name, "ps -A -o comm").stdout)
        assert "llmgw-preflight" not in lab.exec(name, "ps -A -o comm").stdout
