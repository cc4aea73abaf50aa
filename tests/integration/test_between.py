"""What no single machine can tell: a row each, of machines of one lab that are played together, and all that must not be ok."""

from __future__ import annotations

import re

import pytest

BETWEEN = ("names", "identity", "clocks", "quorum", "alike", "latency")
TABLE = "127.0.0.1 localhost\n"
UBUNTU = {"ID": "ubuntu", "VERSION_ID": "24.04", "PRETTY_NAME": "Ubuntu 24.04 LTS"}
COPY = {"/etc/machine-id": "0123456789abcdef0123456789abcdef\n"}

IDLE = {f"pressure/{kind}": "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n" for kind in ("cpu", "memory", "io")}
MACHINES = {  # name -> (role, fields of the lab)
    "db1": ("database", {}),
    "db2": ("database", {}),
    "db3": ("database", {}),
    "far": ("etcd_witness", {"latency_ms": 60}),
    "n1": ("node", {}),
    "n2": ("node", {}),
    "n3": ("node", {}),
    "n4": ("node", {}),
    "ubuntu": ("database", {"os_release": UBUNTU}),
    "copy1": ("node", {"files": COPY}),
    "copy2": ("node", {"files": COPY}),
    "copy3": ("node", {"files": COPY}),
    "late1": ("node", {"clock_offset_s": -30}),
    "late2": ("node", {"clock_offset_s": -30}),
    "late3": ("node", {"clock_offset_s": -30}),
    "misled": ("node", {"files": {"/etc/hosts": f"{TABLE}127.0.1.1 misled n1\n"}}),
    # sudo looks its hostname up, and waits for a name server that is not there; the machine says that it is idle, however busy the box is.
    "nameless": ("node", {"files": {"/etc/hosts": TABLE}, "proc": IDLE}),
}
BY_NAME = {"preflight_address": "{{ inventory_hostname }}"}
SLOW_SUDO = ("warn", r"sudo without a password, but it waits for \d+\.\d s each time")
LATE = r"(29|30)\.\d{3} s behind the controller's \(give or take \d\.\d{3} s; 1 s is allowed\)"

CORE = ("healthy, by name", "copies of one image")  # run on more than one ansible-core
# name -> (machines, variables, (machine, check) -> (level, the whole detail as a pattern))
ROWS = {
    "healthy": ("db1 db2 db3 n1", {}, {}),
    "healthy, by name": ("db1 db2 db3 n1", BY_NAME, {}),
    "copies of one image": ("copy1 copy2 n1 copy3", {}, {
        ("copy2", "identity"): ("fail", r"has the same machine-id as copy1"),
        ("copy3", "identity"): ("fail", r"has the same machine-id as copy1")}),
    "one machine under two names": ("n1 n2 n1=twin", {}, {
        ("twin", "identity"): ("fail", r"n1 and twin are one machine, under two names")}),
    "one wrong clock of five": ("n1 n2 late1 n3 n4", {}, {
        ("late1", "clock"): ("fail", LATE),
        ("late1", "clocks"): ("fail", r"(29|30)\.\d{3} s behind the middle of the 4 that agree \(give or take .*\)")}),
    "the controller's clock": ("late1 late2 late3", {}, {
        **{(machine, "clock"): ("fail", LATE) for machine in ("late1", "late2", "late3")},
        (None, "clocks"): ("warn", r"the controller's clock is about (29|30)\.\d{3} s ahead of that of all 3 machines")}),
    "a name that leads to the machine itself": ("misled n1", BY_NAME, {
        ("misled", "names"): ("fail", r"n1 leads to 127\.0\.1\.1, which is this machine itself"),
        ("misled", "network"): ("fail", r"does not reach n1 \(n1 port 22: something else answers there\)")}),
    "a name for which no server answers": ("nameless n1", BY_NAME, {
        ("nameless", "names"): ("fail", r"no name server answers for n1; no name server answers for its own hostname nameless"),
        ("nameless", "sudo"): SLOW_SUDO,
        ("nameless", "network"): ("fail", r"does not reach n1 \(n1 port 22: its name can not be looked up\)")}),
    "no hostname of its own": ("n1 nameless", {}, {
        ("nameless", "names"): ("warn", r"no name server answers for its own hostname nameless"),
        ("nameless", "sudo"): SLOW_SUDO}),
    "another system for a replica": ("db1 db2 ubuntu", {}, {
        (None, "alike"): ("warn", r"the 3 with PostgreSQL have not the same system: debian 12 \(db1, db2\), ubuntu 24\.04 \(ubuntu\)")}),
    "an even number of etcd members": ("db1 db2 n1", {}, {
        (None, "quorum"): ("warn", r"2 etcd members \(db1, db2\): the loss of either stops everything, so they are no safer than one")}),
    "an etcd member far away": ("db1 db2 far", {}, {
        ("db1", "latency"): ("warn", r"\d\d\.\d ms to far and back \(10 ms is allowed\)"),
        ("db2", "latency"): ("warn", r"\d\d\.\d ms to far and back \(10 ms is allowed\)"),
        ("far", "latency"): ("warn", r"\d\d\.\d ms to db[12] and back \(10 ms is allowed\)")}),
}


@pytest.fixture(scope="module")
def lab(make_lab):
    return make_lab({"defaults": {"cpus": 2}, "hosts": [
        {"name": name, "vars": {"preflight_roles": [role]}, **fields} for name, (role, fields) in MACHINES.items()]})


def inventory(lab, machines):
    """These of the lab's machines; ``a=b`` is a under the name b."""
    made = lab.inventory()["all"]
    names = [each.partition("=") for each in machines.split()]
    return {"all": {"vars": made["vars"], "hosts": {other or name: made["hosts"][name] for name, dummy, other in names}}}


@pytest.fixture(scope="module")
def outcomes(lab, play):
    """outcomes(row): the Outcome of a row, played once."""
    played = {}

    def outcome(name):
        if name not in played:
            machines, variables, dummy = ROWS[name]
            given = {"preflight_internet_urls": [], "preflight_skip": ["mirrors"], **variables}
            played[name] = play(inventory(lab, machines), lab, arguments="-f 5", variables=given)
        return played[name]

    return outcome


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.core] if name in CORE else []) for name in ROWS])
def test_what_is_reported(outcomes, name):
    expected = ROWS[name][2]
    result = outcomes(name)
    bad = {at: finding for at, finding in result.findings().items() if finding["level"] != "ok"}
    assert {at: finding["level"] for at, finding in bad.items()} == {at: level for at, (level, detail) in expected.items()}, bad
    assert [bad[at]["detail"] for at, (level, detail) in expected.items() if not re.fullmatch(detail, bad[at]["detail"])] == []
    assert (result.rc == 0) == ("fail" not in {level for level, detail in expected.values()})


def test_what_is_said_of_healthy_machines(outcomes):
    found = {at: finding["detail"] for at, finding in outcomes("healthy, by name").findings().items() if at[1] in BETWEEN}
    machines = ("db1", "db2", "db3", "n1")
    clocks = r"4 clocks are within 0\.\d{3} s of each other \(give or take \d\.\d{3} s; 1 s is allowed\)"
    assert re.fullmatch(clocks, found.pop((None, "clocks")))
    assert re.fullmatch(r"the 3 with PostgreSQL all have x86_64, debian 12, glibc \d\.\d+", found.pop((None, "alike")))
    for machine in machines[:3]:
        assert re.fullmatch(r"\d\.\d ms to db[123] and back \(10 ms is allowed\)", found.pop((machine, "latency")))
    assert found == {
        **{(machine, "names"): "looks up its own hostname and 3 other names" for machine in machines},
        **{(machine, "identity"): "nothing of it is another machine's too" for machine in machines},
        (None, "quorum"): "3 etcd members (db1, db2, db3): 1 may be lost",
    }


def test_each_machine_has_an_identity_of_its_own(outcomes, lab):
    found = {name: record["identity"] for name, record in outcomes("healthy").records().items()}
    for name, identity in found.items():
        host = lab.host(name)
        assert {**identity, "machine_id": None, "host_keys": None, "macs": None} == {
            "machine_id": None, "host_keys": None, "hostname": name, "addresses": [host["ip"], host["ip6"]], "macs": None}
        assert identity["machine_id"] == lab.exec(name, "cat /etc/machine-id").stdout.strip()
        assert identity["host_keys"] == [lab.exec(name, "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub").stdout.split()[1]]
        assert identity["macs"] == [lab.exec(name, "cat /sys/class/net/eth0/address").stdout.strip()]
    assert len(found) == 4


def test_what_is_about_all_of_them_is_told_as_that(outcomes):
    assert "WARN  quorum       all machines: 2 etcd members (db1, db2)" in outcomes("an even number of etcd members").output
    assert "Preflight: 2 of 4 machines not ready: copy2, copy3." in outcomes("copies of one image").output
