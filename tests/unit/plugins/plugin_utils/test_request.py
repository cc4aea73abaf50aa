from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import IDS
from ansible_collections.llmgw.preflight.plugins.plugin_utils.request import Request, request_of

ARGUMENTS = {"machines": [], "internet_urls": None, "packages": [], "paths": [], "writes": [], "limits": {}, "skip": [],
             "gather_subset": []}
URLS = ["http://deb.debian.org/"]


def machine(name, *roles, address=None, port=22, serves=(), examined=True):
    return {"machine": name, "address": address or f"{name}.lan", "port": port, "examined": examined, "roles": list(roles),
            "serves": list(serves), "internet_urls": [f"http://for-{name}/"]}


DB1, DB2, W, N = machine("db1", "database"), machine("db2", "database"), machine("w1", "etcd_witness", port=2222), machine("n1", "node")


def plan(*machines, **changed):
    return {"run": "r1", "machines": list(machines), "limits": settings.LIMITS, "gather_subset": [], "custom_checks": [], "left_out": [],
            "profile": settings.profile().as_dict(), "role_ports": True, "sampled": None, **changed}


def asked(name, of=None, batch=("db1", "db2", "w1", "n1"), local=False, **arguments):
    return request_of(name, "given.lan", local, {**ARGUMENTS, **arguments}, of, batch)


def test_a_machine_alone():
    assert asked("m") == Request(
        run="",
        record={"machine": "m", "address": "given.lan", "roles": [], "local": False, "serves": []},
        module={"peers": [], "internet_urls": URLS, "packages": [], "limits": settings.LIMITS, "paths": ["/"], "writes": [], "skip": [],
                "stand_ins": None},
        facts=[])


def test_a_machine_alone_of_which_all_is_asked():
    found = asked("m", local=True, machines=[DB1], internet_urls=["http://x/"], packages=["a", "b", "a"], paths=["/srv", "/"],
                  writes=["/w"], limits={"clock_s": 3}, skip=["temp"], gather_subset=["min"])
    assert found == Request(
        run="",
        record={"machine": "m", "address": "given.lan", "roles": [], "local": True, "serves": []},
        module={"peers": [{"machine": "db1", "address": "db1.lan", "port": 22}], "internet_urls": ["http://x/"], "packages": ["a", "b"],
                "limits": {**settings.LIMITS, "clock_s": 3}, "paths": ["/", "/srv"], "writes": ["/w"], "skip": ["temp", "sudo"],
                "stand_ins": None},
        facts=["min"])


def test_a_machine_of_a_plan():
    assert asked("db1", plan(DB1, DB2, W)) == Request(
        run="r1",
        record={"machine": "db1", "address": "db1.lan", "roles": ["database"], "local": False, "serves": []},
        module={
            "peers": [{"machine": "db2", "address": "db2.lan", "port": 22}, {"machine": "w1", "address": "w1.lan", "port": 2222}],
            "internet_urls": ["http://for-db1/"], "packages": ["postgresql", "patroni", "etcd-server", "etcd"], "limits": settings.LIMITS,
            "paths": ["/"], "writes": ["/var/lib/postgresql", "/var/lib/etcd"], "skip": ["gpus"],
            "stand_ins": {"ports": {5432: 1, 8008: 1, 2379: 2, 2380: 2}, "token": "r1", "me": 0, "lifetime_s": 900},
        },
        facts=[])


def test_what_the_task_asks_for_comes_first_and_the_plans_machines_and_limits_count():
    limits = {**settings.LIMITS, "read_s": 7.0}
    found = asked("db1", plan(DB1, limits=limits, gather_subset=["all"]), machines=[DB2], limits={"read_s": 8}, internet_urls=[],
                  packages=["etcd", "mine"], paths=["/srv"], writes=["/var/lib/etcd"], gather_subset=["min"])
    assert (found.module["peers"], found.module["limits"], found.module["internet_urls"], found.facts) == ([], limits, [], ["all"])
    assert found.module["packages"] == ["etcd", "mine", "postgresql", "patroni", "etcd-server"]
    assert found.module["paths"] == ["/", "/srv"]
    assert found.module["writes"] == ["/var/lib/etcd", "/var/lib/postgresql"]


def test_disks_are_looked_at_for_every_role_and_written_to_for_its_own():
    profile = settings.profile().as_dict()
    profile["needs"]["node"]["disk_gb"] = {"/srv/models": 20, "/": 5}
    found = asked("w1", plan(W, N, profile=profile))
    assert (found.module["paths"], found.module["writes"]) == (["/", "/srv/models"], ["/var/lib/etcd"])


@pytest.mark.parametrize(("left_out", "expect", "skipped"), [
    ([], None, []),
    (["temp"], None, ["temp"]),
    (["clock"], None, []),  # the check clocks looks at it too
    (["clock", "clocks"], None, ["clock"]),
    (["clock", "clocks"], "clock.offset_s < `1`", []),
    (["temp", "mine"], "temp", ["temp"]),  # the own check is left out itself
])
def test_a_section_is_read_if_anything_looks_at_it(left_out, expect, skipped):
    own = settings.custom_checks([{"check": "mine", "expect": expect, "fix": "f"}], settings.profile().needs, IDS) if expect else []
    found = asked("w1", plan(W, left_out=left_out, custom_checks=own), skip=["sudo"])
    assert found.module["skip"] == [*skipped, "gpus"]


@pytest.mark.parametrize(("machines", "looked_at"), [
    ([W, machine("n1", "node", serves=[{"name": "m", "gpu_memory_mb": 5}])], True), ([W, machine("n1", serves=[{"name": "m"}])], False)])
def test_gpus_are_looked_at_only_where_any_is_asked_for(machines, looked_at):
    assert ("gpus" not in asked("n1", plan(*machines)).module["skip"]) is looked_at


def test_an_address_that_every_machine_takes_for_itself_is_not_called():
    assert asked("db1", plan(DB1, machine("db2", address="127.0.0.1"), W)).module["peers"] == [
        {"machine": "w1", "address": "w1.lan", "port": 2222}]


@pytest.mark.parametrize(("changed", "batch", "stand_ins"), [
    ({}, ["db1", "w1"], {"ports": {2379: 1, 2380: 1}, "token": "r1", "me": 1, "lifetime_s": 900}),
    ({}, ["w1"], {"ports": {}, "token": "r1", "me": 0, "lifetime_s": 900}),
    ({"limits": {**settings.LIMITS, "stand_in_s": 60}}, ["w1"], {"ports": {}, "token": "r1", "me": 0, "lifetime_s": 60}),
    ({}, ["db1"], None),
    ({"role_ports": False}, ["db1", "w1"], None),
])
def test_stand_ins_are_for_the_callers_of_the_same_batch(changed, batch, stand_ins):
    assert asked("w1", plan(DB1, W, **changed), batch).module["stand_ins"] == stand_ins


def test_of_many_machines_those_that_are_needed_are_tried_and_some_by_lot():
    nodes = [machine(f"n{number}", "node") for number in range(30)]
    found = asked("w1", plan(DB1, *nodes, W, sampled={"machines": 32, "others": 5, "seed": "s"})).module["peers"]
    assert len(found) == 6 and found[0]["machine"] == "db1"
    assert found != asked("w1", plan(DB1, *nodes, W, sampled={"machines": 32, "others": 5, "seed": "t"})).module["peers"]


@pytest.mark.parametrize(("arguments", "told"), [
    ({"limits": {"clock_s": 0}}, "limits.clock_s is 0: "), ({"internet_urls": ["ftp://x"]}, "internet_urls is 'ftp://x': ")])
def test_what_can_not_be_used(arguments, told):
    with pytest.raises(settings.SettingsError, match=told):
        asked("m", **arguments)
