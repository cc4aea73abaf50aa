from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.calls import calls_of


def machine(name, *roles, address=None, examined=True):
    return {"machine": name, "address": address or f"{name}.lan", "port": 22, "examined": examined, "roles": list(roles)}


def place(name):
    return {"machine": name, "address": f"{name}.lan", "port": 22}


def record(open=(), held=(), not_open=()):
    return {"stand_ins": {"pid": 7, "open": list(open), "held": list(held), "not_opened": []},
            "reach": {"not_open": [{"machine": name} for name in not_open]}}


DB1, DB2, W, CP, N = (machine("db1", "database"), machine("db2", "database"), machine("w1", "etcd_witness"),
                      machine("cp1", "control_plane"), machine("n1", "node"))
ALL = record(open=[2379, 2380, 5432, 8008])


def calls(name, machines, records, batch=None):
    plan = {"run": "r1", "machines": machines, "limits": {**settings.LIMITS, "reach_s": 3}, "profile": settings.profile().as_dict()}
    return calls_of(name, plan, batch or [each["machine"] for each in machines], records.get)


def only(**given):
    return {"edges": [], "elsewhere": [], "round_trips": [], "absent": {}, "reach_s": 3, "token": "r1", **given}


def test_ports_of_machines_that_have_stand_ins_or_services():
    assert calls("w1", [DB1, DB2, W], {"w1": ALL, "db1": ALL, "db2": record(open=[2379], held=[2380])}) == only(me=2, edges=[
        {**place("db1"), "port": 2379, "number": 0, "held": False, "measured": False},
        {**place("db1"), "port": 2380, "number": 0, "held": False, "measured": True},
        {**place("db2"), "port": 2379, "number": 1, "held": False, "measured": False},
        {**place("db2"), "port": 2380, "number": 1, "held": True, "measured": True}])


def test_a_port_that_could_not_be_opened_is_told_of_that_machine_and_the_round_trip_still_measured():
    assert calls("w1", [DB1, W], {"w1": ALL, "db1": record(open=[2379])}) == only(
        me=1, edges=[{**place("db1"), "port": 2379, "number": 0, "held": False, "measured": False}], round_trips=[place("db1")])


def test_a_stand_in_is_told_whom_not_to_wait_for():
    machines = [DB1, DB2, W, CP]
    assert calls("db1", machines, {"db1": record(open=[5432, 2380])}) == only(me=0, absent={2380: [1, 2], 5432: [1, 3]})


def test_machines_that_are_read_at_another_time():
    limited = machine("w1", "etcd_witness", examined=False)
    assert calls("db1", [DB1, limited, CP], {"db1": ALL}, batch=["db1"]) == only(
        me=0, elsewhere=[{**place("w1"), "port": 2379}, {**place("w1"), "port": 2380}], round_trips=[place("w1")])


@pytest.mark.parametrize(("other", "of_me"), [
    (machine("w1", "etcd_witness", address="127.0.0.1"), ALL), (W, record(not_open=["w1"]))])
def test_those_of_them_are_passed_over_that_can_not_be_reached(other, of_me):
    assert calls("db1", [DB1, other], {"db1": of_me}, batch=["db1"]) is None


def test_what_it_could_not_reach_counts_only_if_it_can_be_believed():
    found = calls("db1", [DB1, W], {"db1": {**ALL, "reach": {"not_open": ["w1"]}}}, batch=["db1"])
    assert [call["port"] for call in found["elsewhere"]] == [2379, 2380]


@pytest.mark.parametrize(("name", "machines", "records"), [
    ("db1", [DB1, W], {"w1": ALL}),  # it was not read
    ("x", [DB1, W], {"w1": ALL, "x": ALL}),  # of another batch
    ("n1", [N, DB1], {"n1": ALL, "db1": ALL}),  # it needs nobody, and nobody needs it
    ("w1", [W, DB1], {"w1": record(), "db1": None}),  # whom it needs was not read, and it has no stand-in
])
def test_nothing_to_try(name, machines, records):
    assert calls(name, machines, records) is None


def test_no_record_is_asked_for_twice():
    seen = []

    def read(name):
        seen.append(name)
        return ALL

    plan = {"run": "r", "machines": [DB1, DB2, W], "limits": settings.LIMITS, "profile": settings.profile().as_dict()}
    calls_of("db1", plan, ["db1", "db2", "w1"], read)
    assert sorted(seen) == ["db1", "db2", "w1"]
