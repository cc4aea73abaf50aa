from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import role_ports
from ansible_collections.llmgw.preflight.plugins.plugin_utils.edges import Edges
from ansible_collections.llmgw.preflight.plugins.plugin_utils.left import stand_ins_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Group, Member, fail, ok, together, warn


def machine(name, role, edges=(), stand_ins=None, **more):
    """``edges`` are the calls that did not get through, as (machine, port, outcome); or the whole section; or None."""
    need = together([settings.profile().needs[role]])
    opened = {"pid": 5, "open": list(need.ports), "held": [], "not_opened": [], **(stand_ins or {})}
    record = {"machine": name, "stand_ins": opened, "edges": edges, "unmeasured": {}, **more}
    return Member(name, (role,), need, {key: value for key, value in record.items() if value is not None})


def compare(*members):
    """With what each machine tried worked out as it is before it is tried."""
    edges = Edges([{"machine": member.name, "roles": member.roles} for member in members], settings.profile().needs)
    there = {member.name: (member.record.get("batch"), stand_ins_of(member.record)) for member in members}
    for member, me in zip(members, edges.machines, strict=True):
        if isinstance(member.record.get("edges"), (tuple, list)):
            missed = member.record["edges"]
            tried = sum(
                there[other["machine"]][0] == member.record.get("batch") and port in stand_ins.open | stand_ins.held
                for other, port in edges.calls(me) for stand_ins in [there[other["machine"]][1]])
            member.record["edges"] = {"tried": tried, "open": tried - len(missed), "not_open": [
                {"machine": to, "address": "10.0.0.9", "port": port, "outcome": outcome} for to, port, outcome in missed]}
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
    assert compare(machine("db1", "database", calls), machine("db2", "database"),
                   machine("w", "etcd_witness", calls)) == [
        ("db1", DB_OK), ("db2", told), ("w", ok("2379, 2380 can be reached from every machine that needs them (2)"))]


def test_one_way_only():
    assert compare(machine("db1", "database", [("db2", 5432, "refused")]), machine("db2", "database"),
                   machine("cp", "control_plane")) == [
        ("db1", DB_OK),
        ("db2", fail("is not reached on 5432 (from db1: refused)", "Open 5432 on db2 for db1 (firewall, security group, routes).")),
    ]


def test_one_that_gets_nowhere_is_told_once():
    lost = [(name, port, "no_route") for name in ("db1", "db2") for port in (2379, 2380)]
    assert compare(machine("w", "etcd_witness", lost), machine("db1", "database"), machine("db2", "database")) == [
        ("w", fail("reaches none of the ports that it needs: db1 2379 (no route), db1 2380 (no route), db2 2379 (no route), "
                   "db2 2380 (no route)", role_ports.FIX_ALONE)),
        ("db1", DB_OK), ("db2", DB_OK)]


@pytest.mark.parametrize(("stand_ins", "outcome", "verdict"), [
    ({"open": [2379, 5432, 8008], "not_opened": [{"port": 2380, "reason": "only root may listen on it"}]}, None,
     warn("could not be tried: 2380: only root may listen on it", role_ports.FIX_UNTRIED)),
    ({"open": [2379, 2380, 8008], "held": [5432]}, "refused",
     warn("could not be tried: 5432 from db1: what listens on it does so for some callers only", role_ports.FIX_UNTRIED)),
    ({"gone": True}, "refused",
     warn("could not be tried: 5432 from db1: its stand-in had ended before it was called (logind's KillUserProcesses=yes does that, and "
          "stand_in_s)", role_ports.FIX_UNTRIED)),
    ({}, "other_run", warn("could not be tried: 5432 from db1: another preflight is at it", role_ports.FIX_UNTRIED)),
    ({}, "no_word", warn("could not be tried: 5432 from db1: the connection is made, but nothing answers on it", role_ports.FIX_UNTRIED)),
    ({"open": [2379, 2380, 8008], "held": [5432]}, "timeout",
     fail("is not reached on 5432 (from db1: no answer)", "Open 5432 on db2 for db1 (firewall, security group, routes).")),
    ({}, "wrong_answer", fail("is not reached on 5432 (from db1: something else answers there)",
                              "Open 5432 on db2 for db1 (firewall, security group, routes).")),
])
def test_what_could_not_be_tried_is_no_failure(stand_ins, outcome, verdict):
    edges = [("db2", 5432, outcome)] if outcome else []
    found = compare(machine("db1", "database", edges), machine("db2", "database", stand_ins=stand_ins), machine("cp", "control_plane"))
    assert found == [("db1", DB_OK), ("db2", verdict)]


def test_a_machine_that_was_lost_between_the_tasks_is_a_finding():
    lost = machine("db2", "database", edges=None, unmeasured={"edges": "Connection timed out"})
    assert compare(machine("db1", "database"), lost)[0] == (
        "db2", fail("was read, but could not try the ports that it needs: Connection timed out", role_ports.FIX_LOST))


def test_junk_is_no_pass():
    assert ("db1", fail("could not be read: edges.tried is not in the record", role_ports.FIX_UNREAD)) in compare(
        machine("db1", "database", {"x": 1}), machine("db2", "database"))
    assert ("db1", fail("could not be read: stand_ins is not a mapping in the record", role_ports.FIX_UNREAD)) in compare(
        machine("db1", "database")._replace(record={"stand_ins": 5, "edges": (), "unmeasured": {}}), machine("db2", "database"))


def test_who_does_not_tell_what_it_tried_does_not_pass():
    assert ("db1", fail("could not be read: it does not tell which ports it tried", role_ports.FIX_UNREAD)) in compare(
        machine("db1", "database", None), machine("db2", "database"))
    for told in ({"tried": 0, "open": 0, "not_open": []}, {"tried": 4, "open": 3, "not_open": []}):
        found = dict(compare(machine("db1", "database", told), machine("db2", "database")))
        assert found["db1"] == fail(f"could not be read: of the 4 ports that it was to try it tells {told['tried']}, "
                                    f"{told['open']} open and 0 not", role_ports.FIX_UNREAD)


def test_who_opened_nothing_does_not_pass():
    found = dict(compare(machine("db1", "database"), machine("db2", "database", stand_ins={"pid": None, "open": []})))
    assert found["db2"] == warn("could not be tried: 2379, 2380, 5432, 8008: nothing was opened there to be tried", role_ports.FIX_UNTRIED)


def test_a_machine_can_not_accuse_another_of_what_nobody_needs():
    told = {"tried": 4, "open": 3, "not_open": [{"machine": "n", "port": 22, "outcome": "refused"}]}
    assert [name for name, verdict in compare(machine("db1", "database", told), machine("db2", "database"), machine("n", "node"))] == [
        "db1", "db2"]


def test_of_another_batch_is_said_to_be_untried():
    found = compare(machine("db1", "database", batch="1"), machine("db2", "database", batch="1"), machine("db3", "database", batch="2"))
    told = "2379, 2380, 5432, 8008 from {} of other batches or runs, read at another time"
    assert found == [(name, warn(f"could not be tried: {told.format(number)}", role_ports.FIX_UNTRIED))
                     for name, number in (("db1", 1), ("db2", 1), ("db3", 2))]
