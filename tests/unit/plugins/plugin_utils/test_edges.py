from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.edges import Edges, some_of, together


def machine(name, *roles):
    return {"machine": name, "roles": list(roles)}


DB1, DB2, W, CP, N = (machine("db1", "database"), machine("db2", "database"), machine("w", "etcd_witness"),
                      machine("cp", "control_plane"), machine("n", "node"))
ALL = (DB1, DB2, W, CP, N)


@pytest.mark.parametrize(("caller", "callee", "ports"), [
    (DB1, DB2, (2379, 2380, 5432, 8008)), (DB1, W, (2379, 2380)), (W, DB1, (2379, 2380)), (CP, DB1, (5432,)), (N, CP, (7443,)),
    (DB1, CP, ()), (CP, N, ()), (N, DB1, ()), (CP, W, ()), (N, N, ()),
    (machine("both", "node", "control_plane"), machine("all", "control_plane", "database"), (5432, 7443)),
])
def test_who_needs_which_port_of_whom(caller, callee, ports):
    assert Edges(ALL, settings.profile().needs).ports(caller, callee) == ports


def test_calls_and_callers_are_the_same_edges():
    edges = Edges(ALL, settings.profile().needs)
    calls = {(me["machine"], other["machine"], port) for me in ALL for other, port in edges.calls(me)}
    callers = {(other["machine"], me["machine"], port) for me in ALL for port, others in edges.callers(me).items() for other in others}
    assert calls == callers
    assert len(calls) == 2 * 4 + 4 * 2 + 2 + 1


@pytest.mark.parametrize(("machines", "there"), [
    ([DB1], False), ([DB1, DB2], True), ([N, CP], True), ([N, DB1], False), ([N, machine("m", "node")], False), ([], False),
    ([machine("x"), DB1], False),
])
def test_whether_there_is_anything_to_try(machines, there):
    edges = Edges(machines, settings.profile().needs)
    assert edges.any([each["machine"] for each in machines]) is there
    assert edges.any([]) is False


@pytest.mark.parametrize(("callers", "there"), [(["n"], True), (["cp"], False), (["m"], True), (["n", "cp"], True)])
def test_whether_these_have_anything_to_try_at_others(callers, there):
    assert Edges([N, CP, machine("m", "node")], settings.profile().needs).any(callers) is there


def test_some_by_lot_and_all_that_are_needed():
    peers = [machine(f"m{number}") for number in range(100)]
    drawn = some_of(peers, {"m7"}, 5, "seed", "me")
    assert len(drawn) == 6 and machine("m7") in drawn
    assert drawn == some_of(peers, {"m7"}, 5, "seed", "me") != some_of(peers, {"m7"}, 5, "seed", "you")
    assert some_of(peers[:3], (), 5, "seed", "me") == peers[:3]


def test_who_is_read_at_the_same_time():
    plan = {"machines": [{"machine": "a", "examined": True}, {"machine": "b", "examined": False}, {"machine": "c", "examined": True}]}
    assert together(plan, ["b", "a"]) == [{"machine": "a", "examined": True}]
