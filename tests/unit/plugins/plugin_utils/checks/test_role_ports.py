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


def test_no_firewall_is_to_blame_for_a_name():
    calls = [("db2", 5432, "no_name"), ("db2", 2379, "timeout")]
    assert compare(machine("db1", "database", calls), machine("db2", "database"), machine("cp", "control_plane")) == [
        ("db1", DB_OK),
        ("db2", fail("lets nobody in on 2379 (tried from db1: no answer); is not reached on 5432 (from db1: its name can not be looked up)",
                     "Open 2379 on db2 for db1 (firewall, security group, routes). Correct preflight_address of db2, or what the name "
                     "server of db1 knows (/etc/resolv.conf, /etc/hosts).")),
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
     warn("could not be tried: 5432 from db1: what listens on it does so for some callers only, or has ended by now",
          role_ports.FIX_UNTRIED)),
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


def apart(name, role, outcomes, **more):
    """A machine that is read by itself; outcomes are those of its calls, as (machine, port, outcome)."""
    there = [{"port": port, "outcome": outcome, "machines": [to]} for to, port, outcome in outcomes if outcome in ("open", "refused")]
    missed = [{"machine": to, "address": "10.0.0.9", "port": port, "outcome": outcome} for to, port, outcome in outcomes
              if outcome not in ("open", "refused")]
    edges = {"tried": len(outcomes), "open": sum(each["outcome"] == "open" for each in there), "not_open": missed, "elsewhere": there,
             "asked": len(outcomes)}
    return machine(name, role, edges, batch=name, **more)


REFUSED = "{} from {} of other batches or runs: refused, since nothing listens there yet, or by a firewall"


@pytest.mark.parametrize(("outcomes", "verdict"), [
    (("open", "open"), ok("7443 can be reached from every machine that needs it (2)")),
    (("refused", "open"), warn(f"could not be tried: {REFUSED.format(7443, 1)}", role_ports.FIX_UNTRIED)),
    (("refused", "refused"), warn(f"could not be tried: {REFUSED.format(7443, 2)}", role_ports.FIX_UNTRIED)),
    (("refused", None), warn(f"could not be tried: {REFUSED.format(7443, 1)}; 7443 from 1 of other batches or runs, read at another time",
                             role_ports.FIX_UNTRIED)),
    (("timeout", "open"), fail("is not reached on 7443 (from n1: no answer)",
                               "Open 7443 on cp for n1 (firewall, security group, routes).")),
    (("no_route", "no_route"), fail("lets nobody in on 7443 (tried from n1, n2: no route)",
                                    "Open 7443 on cp for n1, n2 (firewall, security group, routes).")),
    (("timeout", "refused"), fail(f"is not reached on 7443 (from n1: no answer); {REFUSED.format(7443, 1)}",
                                  "Open 7443 on cp for n1 (firewall, security group, routes).")),
])
def test_ports_of_machines_that_are_read_at_another_time(outcomes, verdict):
    nodes = [apart(f"n{number}", "node", [("cp", 7443, outcome)] if outcome else []) for number, outcome in enumerate(outcomes, 1)]
    assert compare(apart("cp", "control_plane", []), *nodes) == [("cp", verdict)]


def test_who_gets_through_in_its_own_batch_only():
    """Beside callers of the callee's own batch, which reached its stand-ins."""
    found = dict(compare(machine("db1", "database", batch="1"), machine("db2", "database", batch="1"),
                         apart("w", "etcd_witness", [(name, port, "timeout" if name == "db1" else "open") for name in ("db1", "db2")
                                                     for port in (2379, 2380)])))
    assert found["db1"] == fail("is not reached on 2379, 2380 (from w: no answer)",
                                "Open 2379, 2380 on db1 for w (firewall, security group, routes).")
    assert found["db2"] == ok("2379, 2380, 5432, 8008 can be reached from every machine that needs them (2)")


def test_one_that_gets_nowhere_at_any_time_is_told_once():
    found = dict(compare(apart("cp", "control_plane", []), apart("db", "database", []), apart("n1", "node", [("cp", 7443, "open")]),
                         apart("n2", "node", [("cp", 7443, "open")]),
                         apart("both", "node", [(name, 7443, "timeout") for name in ("cp", "gone")])))
    assert found["both"] == fail(
        "reaches none of the ports that it needs: cp 7443 (no answer), gone 7443 (no answer)", role_ports.FIX_ALONE)
    assert found["cp"].level == ok("").level


def test_ways_to_machines_that_are_not_read_here_are_told_of_who_tried_them():
    """As with --limit; what is refused tells nothing, and the report says who was not examined."""
    lost = [("cp1", 7443, "timeout"), ("cp2", 7443, "refused"), ("cp3", 7443, "open")]
    assert compare(apart("n1", "node", lost)) == [
        ("n1", fail("does not reach cp1 on 7443 (no answer)", "Open these ports there for n1 (firewall, security group, routes)."))]


def test_who_does_not_tell_all_that_the_controller_asked_of_it_does_not_pass():
    silent = apart("n1", "node", [("cp", 7443, "open")])
    silent.record["edges"]["asked"] = 2
    found = dict(compare(silent, apart("cp", "control_plane", [])))
    assert found["n1"] == fail(
        "could not be read: of the 2 ports that it was to try it tells 1, 1 open and 0 not", role_ports.FIX_UNREAD)


def test_nobody_is_believed_about_ports_that_it_does_not_need():
    liars = [apart(f"db{number}", "database", [("cp", 7443, "open")]) for number in (1, 2)]
    found = dict(compare(apart("cp", "control_plane", []), apart("n1", "node", []), *liars))
    assert found["cp"] == warn("could not be tried: 7443 from 1 of other batches or runs, read at another time", role_ports.FIX_UNTRIED)


def test_a_machine_that_was_read_again_is_no_machine_that_was_not_tried():
    """n1 and n2 reached the stand-in that cp had when they were read."""
    tried = {"tried": 1, "open": 1, "not_open": [], "elsewhere": [], "asked": 1}
    found = compare(machine("n1", "node", tried, batch="1"), machine("n2", "node", tried, batch="1"), apart("cp", "control_plane", []))
    assert found == [("cp", warn("could not be tried: 7443 from 2 of other batches or runs, read at another time", role_ports.FIX_UNTRIED))]
