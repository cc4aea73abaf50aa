"""Eight real machines, on which every check gives every level that it can, and the whole report compared."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

EXPECTED = Path(__file__).parent / "every_level.json"
# (check, level) that rules cannot give: these are never failures, or never only warnings.
NEVER = {
    *((check, "warn") for check in ("login", "architecture", "packages", "cpu", "remote_tmp", "internet", "network")),
    *((check, "fail") for check in ("hostname", "sudo", "locale", "time_sync", "time_source", "ports", "firewall")),
}
BETWEEN = {"role_ports", "names", "identity", "clocks", "quorum", "alike", "latency"}  # see test_between.py and test_role_ports.py
HOLD = ("import fcntl, time; file = open('/var/lib/apt/lists/lock', 'w'); fcntl.lockf(file, fcntl.LOCK_EX); "
        "print('held', flush=True); time.sleep(999)")
CPU = "processor\t: 0\nflags\t\t: cmov cx8 fpu fxsr mmx syscall sse sse2 {}\n\nprocessor\t: 1\n".format
V1, V2 = ({"cpuinfo": CPU(flags)} for flags in ("", "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3"))
ALONE = {**V2, "stat": "cpu  0 0 0 0 0 0 0 0\n", "diskstats": "\n"}  # nothing else is at work, however busy the box is
# What a driver leaves of itself, and a program that answers for it.
PCI = ["sh", "-ec", "cd /sys/bus/pci/devices; mount -t tmpfs gpu .; cd .; mkdir 0000:01:00.0; cd 0000:01:00.0; "
       "echo 0x030200 > class; echo 0x10de > vendor"]
NVIDIA_SMI = {"content": "#!/bin/sh\necho 'NVIDIA L4, 23034, 00000000:01:00.0'\n", "mode": "0755"}
NO_LOCALES = dict.fromkeys(("/usr/lib/locale/C.utf8", "/usr/lib/locale/C.UTF-8", "/usr/lib/locale/locale-archive"))
UFW = {"/etc/ufw/ufw.conf": "ENABLED=yes\n", "/etc/ufw/user.rules": "*filter\n-A ufw-user-input -p tcp --dport 22 -j ACCEPT\nCOMMIT\n"}
HALF = {"/var/lib/dpkg/status": "Package: openssl\nStatus: install ok half-configured\nVersion: 3\n"}
TRAINER = {"preflight_roles": ["node", "trainer"]}
SPEC = {
    "defaults": {"cpus": 2, "arch": "x86_64", "proc": V2},
    "hosts": [
        {"name": "control1", "groups": ["control_plane"], "cgroup": {"memory.max": "4294967296\n"}, "files": UFW},
        {"name": "db1", "groups": ["database"], "mem_mb": 3000, "disk_gb": 20, "disk_free_gb": 12.5,
         "listen": [{"port": 5432, "name": "postgres"}, "127.0.0.1:8008"], "files": NO_LOCALES,
         "sync_ms": 300, "proc": ALONE},
        {"name": "witness1", "groups": ["etcd_witness"], "vars": {"preflight_roles": ["etcd_witness", "huge"]}, "files": HALF,
         "listen": [{"port": 123, "udp": True, "name": "ntpd"}, {"port": 124, "udp": True, "name": "systemd-timesyncd"}],
         "sync_ms": 30, "proc": ALONE},
        {"name": "node1", "groups": ["node"], "cpus": 1, "disk_gb": 20, "disk_free_gb": 11.5, "sudo": "password",
         "clock_offset_s": 3, "ntp": False, "tmp_noexec": True, "vars": TRAINER,
         "files": {"/etc/apt/sources.list": "# none\n"}},
        {"name": "node2", "groups": ["node"], "mem_mb": 8000,
         "vars": {**TRAINER, "ansible_remote_tmp": "/none/tmp",
                  "preflight_serves": [{"name": "starter", "memory_mb": 2000}, {"name": "judges", "memory_mb": 4000}]},
         "files": {"/usr/bin/nvidia-smi": NVIDIA_SMI},
         "os_release": {"ID": "ubuntu", "VERSION_ID": "23.10", "PRETTY_NAME": "Ubuntu 23.10"}},
        {"name": "node3", "groups": ["node"], "mem_mb": 1024, "os_release": {"ID": "fedora", "VERSION_ID": "40", "NAME": "Fedora"},
         "arch": "armv7l", "no_apt": True, "files": {"/tmp": None, "/var/tmp": None}, "clock_offset_s": -30, "internet": False,
         "vars": TRAINER},
        {"name": "node4", "groups": ["node"], "auth": "none"},
        {"name": "node5", "groups": ["node"], "block": [{"to": "db1", "port": 22}, {"to": "node1", "port": 22, "how": "reject"}],
         "cgroup": {"system.slice/cpu.max": "50000 100000\n"}, "proc": V1,
         "files": {"/etc/apt/sources.list.d/one.list": "deb http://nobody.example/debian bookworm main\n"}},
    ],
}


@pytest.mark.core
def test_the_whole_report(make_lab, play):
    lab = make_lab(SPEC)
    lab.exec("node1", PCI)
    lab.exec("control1", ["hostname", "localhost"])
    inventory = lab.inventory(secrets=False)
    with subprocess.Popen(lab.exec_command("db1", ["python3", "-c", HOLD]), stdout=subprocess.PIPE) as apt:
        assert apt.stdout.readline() == b"held\n"
        outcome = play(inventory, lab, variables={
            "preflight_needs": {"huge": {"cpus": 64, "ports": [5432]}, "trainer": {"gpus": 1}, "control_plane": {"writes": ["/srv"]}},
            "preflight_limits": {"reach_s": 4}})
        apt.kill()
    assert outcome.rc == 2
    found = json.loads(re.sub(r"process \d+", "process #", json.dumps(outcome.steady())))
    expected = json.loads(EXPECTED.read_text())
    assert found == expected
    reached = {(finding["check"], finding["level"]) for finding in expected["findings"]}
    checks = {check for check, level in reached}
    assert len(checks) == 32
    assert {(check, level) for check in checks - BETWEEN for level in ("ok", "warn", "fail")} - reached == NEVER


def test_the_clocks_are_told_within_their_bounds(make_lab, play):
    lab = make_lab({"defaults": {"groups": ["node"]}, "hosts": [
        {"name": "right"}, {"name": "ahead", "clock_offset_s": 100}, {"name": "far", "latency_ms": 800}]})
    outcome = play(lab.inventory(), lab)
    for machine, offset in (("right", 0), ("ahead", 100), ("far", 0)):
        clock = outcome.records()[machine]["clock"]
        assert abs(clock["offset_s"] - offset) <= clock["error_s"] + 0.001, (machine, clock)
    assert {machine: f["level"] for (machine, check), f in outcome.findings("clock").items()} == {
        "right": "ok", "ahead": "fail", "far": "ok"}
    told = outcome.findings()["ahead", "clock"]["detail"]
    assert re.match(r"(100|99\.\d+|100\.\d+) s ahead of the controller's \(give or take 0\.", told)


@pytest.fixture
def healthy(make_lab):
    return make_lab({"hosts": [{"name": "m%02d", "count": 25, "groups": ["node", "control_plane"]},
                               {"name": "db%d", "count": 5, "groups": ["database"]}]})


def test_thirty_healthy_machines_have_no_finding_above_ok(healthy, play):
    outcome = play(healthy.inventory(), healthy, arguments="-f 50")
    assert [finding for finding in outcome.report["findings"] if finding["level"] != "ok"] == []
    assert outcome.report["worst"] == "ok"
    # Of each machine, of the disks of databases, of those that others need and of etcd's members, and of all together: clocks, quorum,
    # alike.
    assert outcome.report["counts"] == {"ok": 30 * 24 + 5 + 30 + 5 + 3, "warn": 0, "fail": 0}
    assert outcome.rc == 0
    recap = re.findall(r"^(?:m\d\d|db\d) .*changed=(\d+) +unreachable=(\d+) +failed=(\d+)", outcome.output, re.M)
    assert recap == [("0", "0", "0")] * 30
