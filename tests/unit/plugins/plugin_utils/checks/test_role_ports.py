from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import role_ports
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Group, Member, fail, ok, together, warn

NOTHING_LEFT = {"tried": 4, "open": 4, "not_open": [], "seconds": {}, "slowest": None}


def machine(name, role, edges="all", stand_ins=None, **more):
    edges = NOTHING_LEFT if edges == "all" else edges
    need = together([settings.NEEDS[role]])
    opened = {"pid": 5, "open": list(need.ports), "held": [], "not_opened": [], **(stand_ins or {})}
    record = {"machine": name, "stand_ins": opened, "edges": edges, "unmeasured": {}, **more}
    return Member(name, (role,), need, {key: value for key, value in record.items() if value is not None})


def blocked(*calls, tried=9):
    return {"tried": tried, "open": tried - len(calls),
            "not_open": [{"machine": to, "address": "10.0.0.9", "port": port, "outcome": outcome} for to, port, outcome in calls]}


def compare(*members):
    return role_ports.compare(Group(members, (), settings.LIMITS))


DB_OK = ok("2379, 2380, 5432, 8008 can be reached from every machine that needs them (2)")


def test_all_is_reached_and_who_is_needed_by_nobody_has_no_finding():
    found = compare(machine("db1", "database"), machine("db2", "database"), machine("w", "etcd_witness"), machine("n", "node"))
    assert found == [
        ("db1", DB_OK), ("db2", DB_OK), ("w", ok("2379, 2380 can be reached from every machine that needs them (2)"))]


def test_nothing_is_said_where_nothing_was_tried():
    assert compare(machine("db1", "database", edges=None, stand_ins=None)._replace(record={"machine": "db1", "unmeasured": {}})) == []


def test_one_that_lets_nobody_in_is_told_once():
    told = fail("lets nobody in on 2379, 2380 (tried from db1, w: no answer)",
                "Open 2379, 2380 on db2 for db1, w (firewall, security group, routes).")
    calls = [("db2", 2379, "timeout"), ("db2", 2380, "timeout")]
    assert compare(machine("db1", "database", blocked(*calls)), machine("db2", "database"),
                   machine("w", "etcd_witness", blocked(*calls))) == [
        ("db1", DB_OK), ("db2", told), ("w", ok("2379, 2380 can be reached from every machine that needs them (2)"))]


def test_one_way_only():
    assert compare(machine("db1", "database", blocked(("db2", 5432, "refused"))), machine("db2", "database"),
                   machine("cp", "control_plane")) == [
        ("db1", DB_OK),
        ("db2", fail("is not reached on 5432 (from db1: refused)", "Open 5432 on db2 for db1 (firewall, security group, routes).")),
    ]


def test_one_that_gets_nowhere_is_told_once():
    lost = blocked(("db1", 2379, "no_route"), ("db1", 2380, "no_route"), ("db2", 2379, "no_route"), ("db2", 2380, "no_route"), tried=4)
    assert compare(machine("w", "etcd_witness", lost), machine("db1", "database"), machine("db2", "database")) == [
        ("w", fail("reaches none of the ports that it needs: db1 2379 (no route), db1 2380 (no route), db2 2379 (no route), "
                   "db2 2380 (no route)", role_ports.FIX_ALONE)),
        ("db1", DB_OK), ("db2", DB_OK)]


@pytest.mark.parametrize(("stand_ins", "outcome", "verdict"), [
    ({"not_opened": [{"port": 2380, "reason": "only root may listen on it"}]}, None,
     warn("could not be tried: 2380: only root may listen on it", role_ports.FIX_UNTRIED)),
    ({"held": [5432]}, "refused",
     warn("could not be tried: 5432 from db1: what listens on it does so for some callers only", role_ports.FIX_UNTRIED)),
    ({"gone": True}, "refused",
     warn("could not be tried: 5432 from db1: its stand-in had ended before it was called", role_ports.FIX_UNTRIED)),
    ({}, "other_run", warn("could not be tried: 5432 from db1: another preflight is at it", role_ports.FIX_UNTRIED)),
    ({"held": [5432]}, "timeout",
     fail("is not reached on 5432 (from db1: no answer)", "Open 5432 on db2 for db1 (firewall, security group, routes).")),
    ({}, "wrong_answer", fail("is not reached on 5432 (from db1: something else answers there)",
                              "Open 5432 on db2 for db1 (firewall, security group, routes).")),
])
def test_what_could_not_be_tried_is_no_failure(stand_ins, outcome, verdict):
    edges = blocked(("db2", 5432, outcome)) if outcome else NOTHING_LEFT
    found = compare(machine("db1", "database", edges), machine("db2", "database", stand_ins=stand_ins), machine("cp", "control_plane"))
    assert found == [("db1", DB_OK), ("db2", verdict)]


def test_a_machine_that_was_lost_between_the_tasks_is_a_finding():
    lost = machine("db2", "database", edges=None, unmeasured={"edges": "Connection timed out"})
    assert compare(machine("db1", "database"), lost)[0] == (
        "db2", fail("was read, but not logged in to any more when the ports were tried: Connection timed out", role_ports.FIX_LOST))


def test_junk_is_no_pass():
    assert ("db1", fail("could not be read: edges.tried is not in the record", role_ports.FIX_UNREAD)) in compare(
        machine("db1", "database", {"x": 1}), machine("db2", "database"))
    assert ("db1", fail("could not be read: stand_ins is not a mapping in the record", role_ports.FIX_UNREAD)) in compare(
        machine("db1", "database")._replace(record={"stand_ins": 5, "edges": NOTHING_LEFT, "unmeasured": {}}), machine("db2", "database"))
