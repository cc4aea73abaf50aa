from __future__ import annotations

import subprocess

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import commands
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import apt_ready, locale, role_ports, temp
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Level

UNKEPT = {"time_sync": {"synchronised": False, "by": "kernel"}, "time_sources": []}


def test_each_is_one_line_that_a_shell_takes_and_asks_nothing(record):
    given = [*apt_ready.COMMANDS_DPKG, *locale.COMMANDS, temp.REMOUNT, commands.UPDATE,
             *commands.clock_kept(record(**UNKEPT)), *commands.clock_kept(record(apt=False, **UNKEPT))]
    assert len(given) == 8
    for command in given:
        assert subprocess.run(["sh", "-n"], input=command.encode(), check=False).returncode == 0, command
        assert "\n" not in command and "sudo" not in command
        assert all(words.startswith((" -y ", " update")) for words in command.split("apt-get")[1:])


@pytest.mark.parametrize("sections", [
    {"time_sources": ["chrony"]}, {"time_sources": ["ptp4l"]}, {"time_sources": None}, {"time_sources": "x"},
    {"time_sync": {"synchronised": True, "by": "kernel"}}, {"time_sync": None}, {"time_sync": 5}, {"time_sync": {}},
])
def test_a_clock_that_is_kept_or_may_be_has_none(record, sections):
    assert commands.clock_kept(record(**UNKEPT))
    assert commands.clock_kept(record(**{**UNKEPT, **sections})) == ()


# ------------------------------------------------------------------------------------------------------------- ports and ufw
def closed_to_db2(group, wall, ports=(2380, 5432), callers=("db2",), caller=None):
    """What is said of db1 where these callers do not get through to these ports of it; ``wall`` is what it tells of its firewall."""
    stand_ins = {"pid": 1, "open": [2379, 2380, 5432, 8008], "held": [], "not_opened": []}
    missed = [{"machine": "db1", "port": port, "address": "10.0.0.1", "outcome": "timeout"} for port in ports]
    machines = {}
    for name in ("db1", "db2", "db3"):
        not_open = missed if name in callers else []
        edges = {"tried": 8, "open": 8 - len(not_open), "not_open": not_open, "slowest": None}
        machines[name] = {"stand_ins": stand_ins, "edges": edges}
    machines["db1"]["firewall"] = wall
    machines["db2"].update(caller or {})
    return dict(role_ports.compare(group(machines)))["db1"]


UFW = {"by": "ufw", "open": [{"first": 22, "last": 22}, {"first": 8000, "last": 9000}], "unread": None}
IDENTITY = {"machine_id": None, "host_keys": [], "hostname": "db2", "macs": []}


@pytest.mark.parametrize(("given", "rules"), [
    ({}, ["ufw allow proto tcp from 10.0.0.2 to any port 2380,5432"]),
    ({"callers": ("db3", "db2"), "ports": (5432,)}, [f"ufw allow proto tcp from 10.0.0.{last} to any port 5432" for last in (2, 3)]),
    ({"ports": (5432, 8008)}, ["ufw allow proto tcp from 10.0.0.2 to any port 5432"]),  # it lets the other in
    ({"ports": (8008,)}, []),
    ({"caller": {"address": "fd00::2", "identity": {**IDENTITY, "addresses": ["fd00::2"]}}},
     ["ufw allow proto tcp from fd00::2 to any port 2380,5432"]),
    # By what address it calls is not known: it is another's, or none.
    ({"caller": {"address": "192.0.2.9"}}, []),
    ({"caller": {"identity": None}}, []),
    ({"caller": {"address": "db2", "identity": {**IDENTITY, "addresses": ["db2"]}}}, []),
    ({"caller": {"address": "fe80::2%$(rm)", "identity": {**IDENTITY, "addresses": ["fe80::2%$(rm)"]}}}, []),
    ({"caller": {"address": "1;rm", "identity": {**IDENTITY, "addresses": ["1;rm"]}}}, []),
    # Whether it is the firewall is not known, or how that is told to let them in.
    ({"wall": {**UFW, "open": None}}, []), ({"wall": {**UFW, "by": "firewalld"}}, []), ({"wall": {**UFW, "by": None}}, []),
    ({"wall": None}, []), ({"wall": 5}, []),
])
def test_who_needs_a_port_is_let_in_through_ufw(group, given, rules):
    found = closed_to_db2(group, **{"wall": UFW, **given})
    assert found.level == Level.FAIL and found.commands == tuple(rules)
