"""Ports between real machines, with stand-ins: what is blocked is told, by whom and how, and nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import network

DATABASES = [{"name": "db1", "groups": ["database"]}, {"name": "db2", "groups": ["database"]}]
OTHERS = [{"name": "w1", "groups": ["etcd_witness"]}, {"name": "cp1", "groups": ["control_plane"]}, {"name": "n1", "groups": ["node"]}]
STRANGER = """
import socket
server = socket.create_server(("", 9999))
print("ready", flush=True)
while True:
    server.accept()[0].close()
"""

# name -> (machine -> fields of the lab, machine -> (level, detail) of role_ports where it is not ok)
ROWS = {
    "nothing": ({}, {}),
    "dropped": ({"db2": {"block": [{"dir": "in", "from": "any", "port": 2380}]}}, {
        "db2": ("fail", "lets nobody in on 2380 (tried from db1, w1: no answer)")}),
    "rejected": ({"db2": {"block": [{"dir": "in", "from": "any", "port": 2379, "how": "reject"},
                                    {"dir": "in", "from": "any", "port": 2380, "how": "reject"}]}}, {
        "db2": ("fail", "lets nobody in on 2379, 2380 (tried from db1, w1: refused)")}),
    "one direction": ({"cp1": {"block": [{"to": "db1", "port": 5432}]}}, {
        "db1": ("fail", "is not reached on 5432 (from cp1: no answer)")}),
    "gets nowhere": ({"w1": {"block": [{"to": "any", "port": port} for port in (2379, 2380)]}}, {
        "w1": ("fail", "reaches none of the ports that it needs: db1 2379 (no answer), db1 2380 (no answer), db2 2379 (no answer), "
                       "db2 2380 (no answer)")}),
    "held by the service": ({"db1": {"listen": [{"port": 5432, "name": "postgres"}]}}, {}),
    "does not tell of its stand-ins": ({"db2": {"vars": {"ansible_python_interpreter": "/usr/bin/forgetful"}, "files": {
        "/usr/bin/forgetful": {"content": "#!/bin/sh\n/usr/bin/python3 \"$@\" | sed 's/\"stand_ins\"/\"other\"/g'\n", "mode": "0755"}}}}, {
            "db2": ("fail", "could not be read: the machine does not tell of them")}),
    "held for itself only": ({"db1": {"listen": ["127.0.0.1:8008"]}}, {
        "db1": ("warn", "could not be tried: 8008 from db2: what listens on it does so for some callers only, or has ended by now")}),
}
CORE = ("nothing", "rejected")  # run on more than one ansible-core


def left_over(lab):
    """Machines on which a stand-in is still there."""
    return [host["name"] for host in lab.hosts()
            if not host["absent"] and not host["down"] and "llmgw-preflight" in lab.exec(host["name"], "cat /proc/[0-9]*/comm").stdout]


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.core] if name in CORE else []) for name in ROWS])
def test_what_is_blocked_is_told_once_and_nothing_is_left(make_lab, play, name):
    faults, expected = ROWS[name]
    lab = make_lab({"defaults": {"cpus": 2}, "hosts": [{**host, **faults.get(host["name"], {})} for host in (*DATABASES, *OTHERS)]})
    outcome = play(lab.inventory(), lab, variables={"preflight_limits": {"reach_s": 4}})
    found = outcome.findings("role_ports")
    assert {machine for machine, check in found} == {"db1", "db2", "w1", "cp1"}
    assert {machine: (f["level"], f["detail"]) for (machine, check), f in found.items() if f["level"] != "ok"} == expected
    assert outcome.findings()["cp1", "role_ports"]["detail"] == "7443 can be reached from every machine that needs it (1)"
    assert outcome.rc == (2 if any(level == "fail" for level, detail in expected.values()) else 0)
    # Whose number is not told can not be ended; it ends by itself.
    assert left_over(lab) == (["db2"] if name == "does not tell of its stand-ins" else [])


def test_a_stranger_that_answers_in_its_place(make_lab, play):
    """What arrives at db2 on 5432 is led to something else there, as by a proxy or a NAT rule."""
    lab = make_lab({"defaults": {"cpus": 2}, "hosts": DATABASES})
    with subprocess.Popen(lab.exec_command("db2", ["python3", "-c", STRANGER]), stdout=subprocess.PIPE) as stranger:
        assert stranger.stdout.readline() == b"ready\n"
        rule = "table ip nat { chain pre { type nat hook prerouting priority -100; tcp dport 5432 redirect to :9999; }; }"
        made = lab.exec("db2", f"nft '{rule}'")
        outcome = play(lab.inventory(), lab)
        stranger.kill()
    assert made.returncode == 0, made.stderr
    assert outcome.findings()["db2", "role_ports"]["detail"] == "lets nobody in on 5432 (tried from db1: something else answers there)"
    assert left_over(lab) == []


def test_turned_off(make_lab, play):
    lab = make_lab({"defaults": {"cpus": 2}, "hosts": DATABASES})
    outcome = play(lab.inventory(), lab, variables={"preflight_role_ports": False})
    assert outcome.findings("role_ports") == {}
    assert outcome.findings("latency") == {}
    assert "skipping: [db2]" in outcome.output


@pytest.mark.parametrize("fault", ["drop", "kill-sshd"])
def test_a_machine_that_dies_between_the_two_tasks(make_lab, play, fault):
    # One is slow to read, so that there is time between the two tasks on the others.
    slow = {"name": "n1", "groups": ["node"], "files": {"/usr/local/bin/sudo": {"content": "#!/bin/sh\nsleep 6\n", "mode": "0755"}}}
    lab = make_lab({"defaults": {"cpus": 2}, "hosts": [*DATABASES, slow]})
    done = threading.Event()

    def strike():
        while not done.is_set():
            if "db2" in left_over(lab):  # it was read, and its record is on the way
                time.sleep(1)
                lab.fault("db2", fault)
                return
            time.sleep(0.05)

    striking = threading.Thread(target=strike)
    striking.start()
    outcome = play(lab.inventory(), lab, variables={"preflight_limits": {"machine_s": 20, "reach_s": 4}})
    done.set()
    striking.join()
    assert outcome.rc == 2
    of_db2 = {check: finding for (machine, check), finding in outcome.findings().items() if machine == "db2"}
    if of_db2["login"]["level"] == "ok":  # else it died within the first task already, with what it had read on its way
        assert of_db2["role_ports"]["level"] == "fail"
        assert "was read, but could not try the ports that it needs" in of_db2["role_ports"]["detail"]
    assert set(left_over(lab)) <= {"db2"}


def test_a_silent_machine_among_twenty_costs_its_deadline_once(make_lab, play):
    lab = make_lab({"defaults": {"cpus": 2, "groups": ["database"]}, "hosts": [
        {"name": "m%02d", "count": 19}, {"name": "silent", "blackhole": True}]})
    begun = time.monotonic()
    limits = {"preflight_limits": {"reach_s": 3}}
    outcome = play(lab.inventory(), lab, arguments="-f 20", variables=limits, settings={"ANSIBLE_TIMEOUT": "5"})
    with_it = time.monotonic() - begun
    inventory = lab.inventory()
    inventory["all"]["hosts"].pop("silent")
    inventory["all"]["children"]["database"]["hosts"].pop("silent")
    begun = time.monotonic()
    play(inventory, lab, arguments="-f 20", variables=limits)
    without = time.monotonic() - begun
    assert [machine for machine, check in outcome.findings("role_ports")] == [f"m{number:02d}" for number in range(1, 20)]
    assert {f["level"] for f in outcome.findings("role_ports").values()} == {"ok"}
    assert {f["fix"] for f in outcome.findings("network").values()} == {network.FIX_DOWN}
    assert left_over(lab) == []
    assert with_it < 2 * without + 8 + 5, (with_it, without)  # the two deadlines, of the login and of reaching it, and the noise of the box


def test_a_killed_controller_leaves_no_listener_beyond_its_deadline(make_lab, play, tmp_path):
    lab = make_lab({"defaults": {"cpus": 2}, "hosts": DATABASES})
    killed = []

    def kill():
        while not left_over(lab):
            time.sleep(0.05)
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/cmdline") as file:
                    command = file.read()
            except OSError:
                continue
            if "ansible-playbook" in command and str(tmp_path) in command:
                killed.append(int(entry))
                os.kill(int(entry), signal.SIGKILL)

    (tmp_path / "hosts.json").write_text(json.dumps(lab.inventory()))
    killing = threading.Thread(target=kill)
    killing.start()
    outcome = play(tmp_path / "hosts.json", lab, variables={"preflight_limits": {"stand_in_s": 8}})
    killing.join()
    assert killed
    assert outcome.rc != 0
    end = time.monotonic() + 60
    while left_over(lab) and time.monotonic() < end:
        time.sleep(0.5)
    assert left_over(lab) == []


def test_where_there_are_many_each_tries_some_and_those_that_it_needs(make_lab, play):
    lab = make_lab({"defaults": {"cpus": 2}, "hosts": [
        {"name": "cp%d", "count": 2, "groups": ["control_plane"]}, {"name": "n%d", "count": 10, "groups": ["node"]}]})
    outcome = play(lab.inventory(), lab, variables={"preflight_limits": {"all_pairs": 11}})
    assert outcome.rc == 0, outcome.output
    assert {record["reach"]["tried"] for machine, record in outcome.records().items() if machine.startswith("n")} == {2 + 5}
    assert {record["reach"]["tried"] for machine, record in outcome.records().items() if machine.startswith("cp")} == {5}
    assert outcome.report["sampled"].keys() == {"machines", "others", "seed"}
    assert f"by lot (seed {outcome.report['sampled']['seed']})" in " ".join(outcome.output.split())
    outcome = play(lab.inventory(), lab, variables={"preflight_limits": {"all_pairs": 12}})
    assert {record["reach"]["tried"] for record in outcome.records().values()} == {11}
    assert outcome.report["sampled"] is None


def test_batches_try_each_other_within_a_batch(make_lab, play, tmp_path):
    lab = make_lab({"defaults": {"cpus": 2}, "hosts": [*DATABASES, {"name": "db3", "groups": ["database"]}]})
    playbook = tmp_path / "play.yml"
    playbook.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "serial": 2, "tasks": [
        {"ansible.builtin.import_role": {"name": "llmgw.preflight.preflight"}}]}]))
    outcome = play(lab.inventory(), lab, playbook=playbook)
    assert outcome.rc == 0, outcome.output
    ports = ("could not be tried: 2379, 2380, 5432, 8008 from {} of other batches or runs: refused, since nothing listens there yet, or by "
             "a firewall")
    assert {machine: f["detail"] for (machine, check), f in outcome.findings("role_ports").items()} == {
        "db1": ports.format(1), "db2": ports.format(1), "db3": ports.format(2)}
    assert {machine: f["level"] for (machine, check), f in outcome.findings("latency").items()} == {
        "db1": "ok", "db2": "ok", "db3": "ok"}
    assert left_over(lab) == []


def test_batches_find_what_is_dropped_between_them(make_lab, play, tmp_path):
    lab = make_lab({"defaults": {"cpus": 2}, "hosts": [
        DATABASES[0], {**DATABASES[1], "block": [{"to": "db3", "port": 2380}]}, {"name": "db3", "groups": ["database"], "latency_ms": 30}]})
    playbook = tmp_path / "play.yml"
    playbook.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "serial": 1, "max_fail_percentage": 100, "tasks": [
        {"ansible.builtin.import_role": {"name": "llmgw.preflight.preflight"}}]}]))
    outcome = play(lab.inventory(), lab, playbook=playbook, variables={"preflight_limits": {"reach_s": 4}, "preflight_fail_on": "never"})
    told = {machine: f for (machine, check), f in outcome.findings("role_ports").items()}
    assert {machine: f["level"] for machine, f in told.items()} == {"db1": "warn", "db2": "warn", "db3": "fail"}
    assert told["db3"]["detail"].startswith("is not reached on 2380 (from db2: no answer); ")
    slow = {machine: f for (machine, check), f in outcome.findings("latency").items()}
    assert {machine: f["level"] for machine, f in slow.items()} == {"db1": "warn", "db2": "warn", "db3": "warn"}
    assert all(" to db3 and back" in slow[machine]["detail"] for machine in ("db1", "db2"))


def test_beyond_a_limit_what_is_dropped_is_told_of_who_tried_it(make_lab, play):
    """As for a new machine beside an install that runs: cp1's port is held, cp2's is shut off, and nothing listens on cp3's yet."""
    lab = make_lab({"defaults": {"cpus": 2, "groups": ["control_plane"]}, "hosts": [
        {"name": "cp1", "listen": [7443]}, {"name": "cp2", "block": [{"dir": "in", "from": "any", "port": 7443}]}, {"name": "cp3"},
        {"name": "new", "groups": ["node"]}]})
    outcome = play(lab.inventory(), lab, arguments="--limit new", variables={"preflight_limits": {"reach_s": 4}})
    assert outcome.rc == 2, outcome.output
    assert {at: f["detail"] for at, f in outcome.findings().items() if f["level"] == "fail"} == {
        ("new", "role_ports"): "does not reach cp2 on 7443 (no answer)"}
    assert [entry["machine"] for entry in outcome.report["not_examined"]] == ["cp1", "cp2", "cp3"]
