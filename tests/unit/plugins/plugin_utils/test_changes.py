from __future__ import annotations

import copy
import dataclasses
import re
from pathlib import Path

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import checks, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.changes import ALLOWED, URLS, NotComparable, changes
from ansible_collections.llmgw.preflight.plugins.plugin_utils.changes import LIMITS as LIMITED
from ansible_collections.llmgw.preflight.plugins.plugin_utils.changes import NEEDS as NEEDED
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Need

THEN = "2026-11-29T10:00:00+01:00"


def report(findings="", not_examined="", **parts):
    """A report in short: "db1 disk fail, n1 login ok, - quorum warn"; machines that are named have been logged in to, unless that is told.

    The address of a machine is its name with 10. before, if not ``addresses`` says otherwise.
    """
    told = [finding.split() for finding in findings.split(", ") if finding]
    addresses = parts.pop("addresses", {})
    machines = list(dict.fromkeys(machine for machine, check, level in told if machine != "-"))
    logged_in = [[machine, "login", "ok"] for machine in machines if [machine, "login", "fail"] not in told]
    return {
        "schema_version": 1,
        "about": {"at": THEN, "version": "0.1.0", "ansible": "2.19", "profile": "llmgw"},
        "machines": [{"machine": name, "address": addresses.get(name, f"10.{name}"), "clock": {"offset_s": 0, "error_s": 0}}
                     for name in machines],
        "findings": [{"machine": None if machine == "-" else machine, "check": check, "level": level, "detail": "d", "fix": "f"}
                     for machine, check, level in (*logged_in, *told)],
        "not_examined": [{"machine": name, "why": "limit"} for name in not_examined.split()],
        "skipped": [], "waivers": [], "sampled": None, **parts,
    }


def what(then, now):
    """The changes in short, without what is empty."""
    found = changes(then, now)
    assert found.pop("since") == THEN
    return {key: ", ".join(f"{at['machine'] or '-'} {at['check']}" for at in value) if isinstance(value, list) else value
            for key, value in found.items() if value}


def test_a_whole_one():
    then = report("db1 disk fail, db1 cpus warn, db1 memory fail, db1 time_sync warn, n1 disk ok, - quorum warn")
    now = report("db1 disk ok, db1 cpus fail, db1 memory warn, db1 time_sync warn, n1 disk warn, - quorum ok")
    assert changes(then, now) == {
        "since": THEN,
        "new": [{"machine": "n1", "check": "disk"}],
        "worse": [{"machine": "db1", "check": "cpus"}],
        "better": [{"machine": "db1", "check": "memory"}],
        "fixed": [{"machine": "db1", "check": "disk"}, {"machine": None, "check": "quorum"}],
        "eased": [],
        "counting": [],
        "waived": [],
        "remains": 1,
        "hidden": [],
        "uncovered": [],
    }


SAMPLED = {"sampled": {"machines": 60, "others": 5, "seed": "abc123"}}
ALIKE = "db1 login ok, db2 login ok, db3 login ok"

# what has happened -> (then, now, what is told)
CASES = {
    "nothing": (report("a disk ok"), report("a disk ok"), {}),
    "it remains": (report("a disk fail"), report("a disk fail"), {"remains": 1}),
    "of several findings of one check the worst counts": (
        report("a raid warn, a raid fail"), report("a raid fail, a raid warn"), {"remains": 1}),
    "one of several is mended": (report("a raid warn, a raid fail"), report("a raid warn, a raid ok"), {"better": "a raid"}),
    # Machines that come and go.
    "not examined this time": (report("a disk fail, b disk ok"), report("b disk ok", "a"), {"hidden": "a disk"}),
    "nor could it be logged in to then": (report("a login fail"), report("b disk ok", "a"), {"hidden": "a login"}),
    "not examined then": (report("b disk ok", "a"), report("a disk fail, b disk ok"), {"uncovered": "a disk"}),
    "not to be logged in to any more": (
        report("a disk fail, a cpus warn"), report("a login fail"), {"new": "a login", "hidden": "a disk, a cpus"}),
    "to be logged in to again": (
        report("a login fail"), report("a disk fail, a cpus ok"), {"fixed": "a login", "uncovered": "a disk"}),
    "not examined then, and not to be logged in to now": (
        report("b disk ok", "a"), report("a login fail, b disk ok"), {"uncovered": "a login"}),
    "a machine more": (report("a disk ok"), report("a disk ok, b disk fail"), {"new": "b disk"}),
    "a machine less": (report("a disk ok, b disk fail"), report("a disk ok"), {"hidden": "b disk"}),
    "one under a new name": (
        report("db1 disk fail, db1 cpus warn, n1 disk ok", addresses={"db1": "10.0.0.1"}),
        report("pg1 disk fail, pg1 cpus ok, n1 disk ok", addresses={"pg1": "10.0.0.1"}), {"remains": 1, "fixed": "pg1 cpus"}),
    "two that have changed their addresses": (
        report("a disk fail, b disk ok", addresses={"a": "10.1", "b": "10.2"}),
        report("a disk fail, b disk ok", addresses={"a": "10.2", "b": "10.1"}), {"remains": 1}),
    "new names behind one address": (
        report("a disk fail, b disk fail", addresses={"a": "10.1", "b": "10.1"}),
        report("c disk fail, d disk fail", addresses={"c": "10.1", "d": "10.1"}), {"new": "c disk, d disk", "hidden": "a disk, b disk"}),
    "its address is now that of one that was there too": (
        report("a disk fail, b disk ok", addresses={"a": "10.1", "b": "10.2"}), report("b disk ok", addresses={"b": "10.1"}),
        {"hidden": "a disk"}),
    "its address is another machine's now, and it is only not examined": (
        report("a disk fail", addresses={"a": "10.1"}), report("b disk fail", "a", addresses={"b": "10.1"}),
        {"new": "b disk", "hidden": "a disk"}),
    # Checks that come and go.
    "skipped now": (report("a disk fail, - quorum warn"), report("a cpus ok", skipped=["disk", "quorum"]), {"hidden": "a disk, - quorum"}),
    "skipped then": (report("a cpus ok", skipped=["disk"]), report("a disk fail, a cpus ok"), {"uncovered": "a disk"}),
    "one of the user's own was skipped": (report("a cpus ok", skipped=["raid"]), report("a raid fail, a cpus ok"), {"uncovered": "a raid"}),
    "not asked any more": (report("a ports warn, b ports ok"), report("a disk ok, b ports ok"), {"hidden": "a ports"}),
    "asked now": (report("a disk ok, b ports ok"), report("a ports warn, b ports ok"), {"new": "a ports"}),
    "a check that was not made at all": (
        report("a disk ok, b disk ok"), report("a role_ports fail, b role_ports ok"), {"uncovered": "a role_ports"}),
    "a task of the user's own tells of it": (report("a disk ok"), report("a disk ok, a raid fail"), {"new": "a raid"}),
    "the user's own were skipped": (
        report("a disk ok", skipped=["own_findings"]), report("a disk ok, a raid fail"), {"uncovered": "a raid"}),
    "one of the user's own is silent": (report("a raid fail"), report("a disk ok"), {"hidden": "a raid"}),
    "one of the user's own is well": (report("a raid fail"), report("a raid ok"), {"fixed": "a raid"}),
    # Between machines.
    "a clock is right": (report("a clocks warn, b disk ok"), report("a disk ok, b disk ok, - clocks ok"), {"fixed": "a clocks"}),
    "a clock is right and another is not": (
        report("a clocks warn, b disk ok, c disk ok"), report("a disk ok, b clocks warn, c disk ok"),
        {"new": "b clocks", "fixed": "a clocks"}),
    "the controller's clock is right": (
        report("a disk ok, b disk ok, - clocks warn"), report("a disk ok, b disk ok, - clocks ok"), {"fixed": "- clocks"}),
    "the clocks were not compared": (report("a clocks warn, b disk ok"), report("a disk ok, b disk ok"), {"hidden": "a clocks"}),
    "ways that are open again": (
        report("n1 role_ports fail, db1 role_ports ok"), report("n1 disk ok, db1 role_ports ok"), {"fixed": "n1 role_ports"}),
    "the ways were not tried": (
        report("n1 role_ports fail, db1 role_ports ok"), report("n1 disk ok, db1 disk ok"), {"hidden": "n1 role_ports"}),
    "what could not be read is as with the others": (
        report(f"{ALIKE}, db2 alike fail"), report(f"{ALIKE}, - alike ok"), {"fixed": "db2 alike"}),
    "what can not be read can not be compared": (
        report(f"{ALIKE}, - alike fail"), report(f"{ALIKE}, db2 alike fail"), {"new": "db2 alike", "hidden": "- alike"}),
    "its double is not examined": (
        report("a identity ok, b identity fail, c identity ok"), report("b identity ok, c identity ok", "a"), {"hidden": "b identity"}),
    "its double can not be logged in to": (
        report("a identity ok, b identity fail, c identity ok"), report("a login fail, b identity ok, c identity ok"),
        {"new": "a login", "hidden": "b identity"}),
    "its worst double is not examined": (
        report("a identity ok, b identity fail, c identity ok"), report("b identity warn, c identity ok", "a"), {"hidden": "b identity"}),
    "its double warns, and is not examined": (
        report("a identity ok, b identity warn, c identity ok"), report("b identity warn, c identity ok", "a"), {"remains": 1}),
    "its double was not examined": (
        report("b identity ok, c identity ok", "a"), report("a identity ok, b identity fail, c identity ok"), {"uncovered": "b identity"}),
    "its worst double was not examined": (
        report("b identity warn, c identity ok", "a"), report("a identity ok, b identity fail, c identity ok"),
        {"uncovered": "b identity"}),
    "its worse double is new": (
        report("b identity warn, c identity ok"), report("a identity ok, b identity fail, c identity ok"), {"worse": "b identity"}),
    "its double is gone": (report("a identity ok, b identity fail, c identity ok"), report("b identity ok, c identity ok"),
                           {"fixed": "b identity"}),
    "its double is new": (report("b identity ok, c identity ok"), report("a identity ok, b identity fail, c identity ok"),
                          {"new": "b identity"}),
    "neither time could the third be read": (
        report("a identity ok, b identity fail, c login fail"), report("a identity ok, b identity ok, c login fail"),
        {"fixed": "b identity", "remains": 1}),
    "etcd's members are known, examined or not": (
        report("a disk ok, b disk ok, - quorum warn"), report("a disk ok, - quorum ok", "b"), {"fixed": "- quorum"}),
    "the way to all others is tried, examined or not": (
        report("a network fail, b network ok"), report("a network ok", "b"), {"fixed": "a network"}),
    "one for all of the user's own, and not all are there": (
        report("a disk ok, b disk ok, - all_alike fail"), report("a disk ok, - all_alike ok", "b"), {"hidden": "- all_alike"}),
    "one for all can not be told yet": (
        report("a disk ok, b disk ok, - all_alike fail"), report("a disk ok, - all_alike warn", "b"), {"hidden": "- all_alike"}),
    "one for all could not be told then": (
        report("a disk ok, - all_alike warn", "b"), report("a disk ok, b disk ok, - all_alike fail"), {"uncovered": "- all_alike"}),
    "others were tried by lot": (report("a network fail, b names fail"), report("a network ok, b names ok", **SAMPLED),
                                 {"hidden": "a network, b names"}),
    "others had been tried by lot": (report("a network ok, b network ok", **SAMPLED), report("a network fail, b network ok"),
                                     {"uncovered": "a network"}),
    # What the user gave.
    "a waiver is put right": (report("a disk ok, - waivers warn"), report("a disk ok"), {"fixed": "- waivers"}),
    "a waiver waits": (report("a disk ok, - waivers warn"), report("a disk ok", waivers=[{"state": "waiting"}]), {"hidden": "- waivers"}),
    "a waiver had waited": (report("a disk ok", waivers=[{"state": "waiting"}]), report("a disk ok, - waivers warn"),
                            {"uncovered": "- waivers"}),
    "own findings are put right": (report("a own_findings fail"), report("a disk ok"), {"fixed": "a own_findings"}),
    "own findings of a machine that is gone": (report("a own_findings fail, b disk ok"), report("b disk ok"), {"hidden": "a own_findings"}),
}


NEEDS = {
    "database": {"cpus": 4, "cpu_level": 2, "memory_mb": 3500, "gpus": 0, "gpu_memory_mb": 0, "disk_gb": {"/": 30, "/var/lib": 20},
                 "writes": ["/var/lib"], "ports": [5432], "reaches": {"database": [5432]}, "packages": ["postgresql"]},
    "node": {"cpus": 2, "cpu_level": 0, "memory_mb": 8000, "gpus": 1, "gpu_memory_mb": 9, "disk_gb": 20, "writes": [], "ports": [],
             "reaches": {"database": [5432]}, "packages": []},
    "witness": {"cpus": 1, "disk_gb": 0},
}
LIMITS = {"clock_warn_s": 1, "clock_fail_s": 10, "latency_warn_s": 0.1, "latency_fail_s": 1, "sync_warn_s": 0.01, "sync_fail_s": 0.1,
          "internet_s": 10, "stale_s": 3600, "reach_s": 10}


def asking(findings, roles, needs=None, limits=None, closed="", **parts):
    """A report of machines with such roles: "db1 database, n1 node database"; ``closed`` are ways: "n1 db1 5432 edges"."""
    made = report(findings, needs=needs or NEEDS, limits=limits or LIMITS, **parts)
    its = {name: roles for name, *roles in (one.split() for one in roles.split(", "))}
    made["machines"] = [{**machine, "roles": its.get(machine["machine"], [])} for machine in made["machines"]]
    made["not_reached"] = [{"machine": caller, "peer": callee, "port": int(port), "outcome": "timeout", "of": of}
                           for caller, callee, port, of in (way.split() for way in closed.split(", ") if way)]
    return made


def also(findings, **asked):
    """A report that also tells this of what it asks for."""
    return asking(findings, "a node, b node", asked={
        "systems": {"debian": ["12"]}, "architectures": ["x86_64"], "custom_checks": {}, "internet_urls": ["u1", "u2"], "machines": {},
        **asked})


def serving(**figures):
    return {"machines": {"a": {"serves": figures}}}


def but(role, **figures):
    return {**NEEDS, role: {**NEEDS[role], **figures}}


BOTH, WAY = "n1 role_ports ok, db1 role_ports fail", "n1 db1 5432 edges"
# what has happened -> (then, now, what is told)
EASED = {
    "a role was taken away": (
        asking("a disk fail, a cpus warn, a memory fail", "a database node"), asking("a disk ok, a cpus ok, a memory ok", "a node"),
        {"eased": "a disk, a cpus", "fixed": "a memory"}),
    "a role was taken away, and the check with it": (
        asking("a ports fail, a locale warn, a disk_speed fail", "a database"), asking("a disk ok", "a node"),
        {"eased": "a ports, a locale, a disk_speed"}),
    "a role that asks for the same was taken away": (
        asking("a disk fail", "a database witness"), asking("a disk ok", "a database"), {"fixed": "a disk"}),
    "a role more, and it is well": (asking("a disk fail", "a node"), asking("a disk ok", "a node database"), {"fixed": "a disk"}),
    "it needs less": (asking("a disk fail, a cpus fail", "a database"),
                      asking("a disk ok, a cpus ok", "a database", but("database", disk_gb={"/": 30, "/var/lib": 19})),
                      {"eased": "a disk", "fixed": "a cpus"}),
    "it needs more, and it is well": (asking("a disk fail", "a node"), asking("a disk ok", "a node", but("node", disk_gb=21)),
                                      {"fixed": "a disk"}),
    "another role needs less": (asking("a disk fail", "a node"), asking("a disk ok", "a node", but("database", disk_gb=1)),
                                {"fixed": "a disk"}),
    "it needs less, and so it only warns": (
        asking("a disk fail", "a node"), asking("a disk warn", "a node", but("node", disk_gb=10)), {"eased": "a disk"}),
    "it needs less, and still fails": (
        asking("a disk fail", "a node"), asking("a disk fail", "a node", but("node", disk_gb=10)), {"remains": 1}),
    "it takes a package less": (asking("a apt_ready fail", "a database"), asking("a apt_ready ok", "a database", but(
        "database", packages=["etcd"])), {"eased": "a apt_ready"}),
    "a limit is wider": (
        asking("a clock fail, a clocks warn, b disk fail", "a node, b node"),
        asking("a clock ok, b disk ok, - clocks ok", "a node, b node", limits={**LIMITS, "clock_fail_s": 20}),
        {"eased": "a clock, a clocks", "fixed": "b disk"}),
    "a limit is narrower": (asking("a clock fail", "a node"), asking("a clock ok", "a node", limits={**LIMITS, "clock_fail_s": 5}),
                            {"fixed": "a clock"}),
    "all together, by one of them": (
        asking("- alike warn, a disk ok, b disk ok", "a database, b database"),
        asking("- alike ok, a disk ok, b disk ok", "a database, b node"), {"eased": "- alike"}),
    "of etcd's members the roles are what is mended": (
        asking("- quorum warn, a disk ok, b disk ok", "a database, b database"),
        asking("- quorum ok, a disk ok, b disk ok", "a database, b node"), {"fixed": "- quorum"}),
    "the way is open": (asking(BOTH, "n1 node, db1 database", closed=WAY), asking(
        "n1 role_ports ok, db1 role_ports ok", "n1 node, db1 database"), {"fixed": "db1 role_ports"}),
    "who could not reach it does not need it any more": (
        asking(BOTH, "n1 node, db1 database", closed=WAY), asking("n1 disk ok, db1 role_ports ok", "n1 witness, db1 database"),
        {"eased": "db1 role_ports"}),
    "who could not reach it is gone": (
        asking(f"{BOTH}, n2 role_ports ok", "n1 node, n2 node, db1 database", closed=WAY),
        asking("n2 role_ports ok, db1 role_ports ok", "n2 node, db1 database"), {"eased": "db1 role_ports"}),
    "another that needs it is gone": (
        asking(f"{BOTH}, n2 role_ports ok", "n1 node, n2 node, db1 database", closed=WAY),
        asking("n1 role_ports ok, db1 role_ports ok", "n1 node, db1 database"), {"fixed": "db1 role_ports"}),
    "who was not reached is gone": (
        asking("a network fail, b network ok, c network ok", "a node, b node, c node", closed="a b 22 reach"),
        asking("a network ok, c network ok", "a node, c node"), {"eased": "a network"}),
    "who was not reached is not examined": (
        asking("a network fail, b network ok, c network ok", "a node, b node, c node", closed="a b 22 reach"),
        asking("a network ok, c network ok", "a node, c node", not_examined="b"), {"fixed": "a network"}),
    "who was not reached has another name": (
        asking("a network fail, b network ok", "a node, b node", closed="a b 22 reach", addresses={"b": "10.9"}),
        asking("a network ok, x network ok", "a node, x node", addresses={"x": "10.9"}), {"fixed": "a network"}),
    "less is asked of one that is not examined, and of a check that is skipped": (
        asking("a disk fail, b cpus fail", "a database, b database"),
        asking("b disk ok", "b witness", not_examined="a", skipped=["cpus"]), {"hidden": "a disk, b cpus"}),
    "the earlier one does not tell what it asked for": (report("a disk fail"), asking("a disk ok", "a node"), {"fixed": "a disk"}),
    # What holds for all machines.
    "another system will do": (also("a system fail, b disk fail"), also("a system ok, b disk ok", systems={
        "debian": ["12"], "fedora": ["40"]}), {"eased": "a system", "fixed": "b disk"}),
    "another version will do": (
        also("a system warn"), also("a system ok", systems={"debian": ["12", "13"]}), {"eased": "a system"}),
    "a system will do in versions that were not tested": (
        also("a system fail"), also("a system warn", systems={"debian": ["12"], "fedora": []}), {"eased": "a system"}),
    "it has another system, and a version less will do": (
        also("a system fail", systems={"debian": ["12", "13"]}), also("a system ok"), {"fixed": "a system"}),
    "another architecture will do": (also("a architecture fail"), also("a architecture ok", architectures=["x86_64", "riscv64"]),
                                     {"eased": "a architecture"}),
    "an architecture less will do": (
        also("a architecture fail", architectures=["x86_64", "riscv64"]), also("a architecture ok"), {"fixed": "a architecture"}),
    "a check of one's own asks for something else": (
        also("a raid fail, b raid warn, a disk fail", custom_checks={"raid": "d1", "disks": "d2"}),
        also("a raid ok, b raid warn, a disk ok", custom_checks={"raid": "d3", "disks": "d2"}),
        {"eased": "a raid", "fixed": "a disk", "remains": 1}),
    "a check of one's own only warns now": (
        also("a raid fail", custom_checks={"raid": "d1"}), also("a raid warn", custom_checks={"raid": "d3"}), {"eased": "a raid"}),
    "a check of one's own is as it was": (
        also("a raid fail, b raid fail", custom_checks={"raid": "d1"}), also("a raid ok, b raid warn", custom_checks={"raid": "d1"}),
        {"fixed": "a raid", "better": "b raid"}),
    "a check of one's own is gone": (also("a raid fail", custom_checks={"raid": "d1"}), also("a disk ok"), {"hidden": "a raid"}),
    "a check of one's own comes": (also("a disk ok"), also("a raid fail", custom_checks={"raid": "d1"}), {"uncovered": "a raid"}),
    "a check of one's own comes, and the earlier one does not tell of any": (
        report("a disk ok"), also("a raid fail", custom_checks={"raid": "d1"}), {"uncovered": "a raid"}),
    "a check of one's own comes, and another task's finding": (
        also("a disk ok"), also("a raid fail, b lvm fail", custom_checks={"raid": "d1"}), {"uncovered": "a raid", "new": "b lvm"}),
    "a check of one's own is of more machines": (
        also("b raid ok", custom_checks={"raid": "d1"}), also("a raid fail, b raid ok", custom_checks={"raid": "d1"}), {"new": "a raid"}),
    # What one machine is asked for besides its roles.
    "a URL was replaced": (also("a internet fail, b disk fail"), also("a internet ok, b disk ok", internet_urls=["u1", "u3"]),
                           {"eased": "a internet", "fixed": "b disk"}),
    "all URLs were taken away": (also("a internet fail"), also("a disk ok", internet_urls=[]), {"eased": "a internet"}),
    "a URL more, and it is well": (also("a internet fail"), also("a internet ok", internet_urls=["u3", "u2", "u1"]),
                                   {"fixed": "a internet"}),
    "another machine's URL was replaced": (
        also("a internet fail"), also("a internet ok", machines={"b": {"internet_urls": ["u3"]}}), {"fixed": "a internet"}),
    "its own URL was replaced": (
        also("a internet fail, b internet fail", machines={"a": {"internet_urls": ["u3"]}}), also("a internet ok, b internet ok"),
        {"eased": "a internet", "fixed": "b internet"}),
    "its URL is one of its own now": (
        also("a internet fail, b internet fail"), also("a internet ok, b internet ok", machines={"a": {"internet_urls": ["u2"]}}),
        {"eased": "a internet", "fixed": "b internet"}),
    "a model was taken away": (
        also("a memory fail, a disk fail, a cpu fail, a gpu fail, a limits fail, a temp fail",
             **serving(memory_mb=9, disk_gb=9, cpu_level=3, gpu_memory_mb=9)),
        also("a memory ok, a disk ok, a cpu ok, a limits ok, a temp ok"),
        {"eased": "a memory, a disk, a cpu, a gpu, a limits", "fixed": "a temp"}),
    "a model needs less of one thing": (
        also("a memory fail, a disk fail", **serving(memory_mb=9, disk_gb=9)), also("a memory ok, a disk ok", **serving(
            memory_mb=8, disk_gb=9)), {"eased": "a memory", "fixed": "a disk"}),
    "a model needs a level of CPUs, and its roles that too": (
        asking("a cpu fail", "a database", asked=serving(cpu_level=2)), asking("a cpu ok", "a database", asked={}), {"fixed": "a cpu"}),
    "another machine serves a model less": (
        also("b memory fail", **serving(memory_mb=9)), also("b memory ok"), {"fixed": "b memory"}),
    "it has another name, and its model was taken away": (
        asking("a memory fail", "a node", asked=serving(memory_mb=9), addresses={"a": "10.9"}),
        asking("x memory ok", "x node", asked={}, addresses={"x": "10.9"}), {"eased": "x memory"}),
    "the earlier one does not tell what it asked for besides": (
        asking("a system fail, a architecture fail, a internet fail, a memory fail, a raid fail", "a node"),
        also("a system ok, a architecture ok, a internet ok, a memory ok, a raid ok", custom_checks={"raid": "d1"}),
        {"fixed": "a system, a architecture, a internet, a memory, a raid"}),
}


@pytest.mark.parametrize("name", EASED)
def test_what_is_well_since_less_is_asked_is_not_fixed(name):
    then, now, told = EASED[name]
    assert what(then, now) == told


def test_all_that_a_check_judges_by_is_known():
    figures = "|".join(field.name for field in dataclasses.fields(Need))
    own = {"need", "limits", "machines", "unreached"}  # of Asked; the last two are how many there are, and what to do first
    ways = ((rf"\bneed\.({figures})\b", "need"), (r"\blimits\[\"(\w+)\"\]", "limits"), (r"\basked\.(\w+)", "allowed"),
            (r"asked_by_models\(record, \"(\w+)\"\)", "need"), (r"section\(record, \"serves\", .*\"(\w+_mb)\"", "need"),
            (r"section\(record, \"(internet)\"", "urls"))
    judged = [(check.ID, kind, name) for check in (*checks.AFTER_LOGIN, *checks.BETWEEN)
              for source in [Path(check.__file__).read_text(encoding="utf-8")]
              for pattern, kind in ways for name in re.findall(pattern, source) if kind != "allowed" or name not in own]
    known = {(check, kind, name) for kind, table in (("need", NEEDED), ("limits", LIMITED), ("allowed", ALLOWED), ("urls", URLS))
             for check, names in table.items() for name in names}
    assert {kind for check, kind, name in judged} == {"need", "limits", "allowed", "urls"}
    assert len(judged) > 30
    assert {one for one in judged if one[0] != checks.quorum.ID} <= known
    assert {name for check, kind, name in known if kind == "need"} <= set(figures.split("|"))
    assert {name for check, kind, name in known if kind == "limits"} <= set(settings.LIMITS)
    assert {one for one in known if one[1] in ("allowed", "urls")} <= set(judged)


def test_a_whole_run_that_asks_less(record):
    then, now = ({**report(), **evaluate([record(memory_mb=3000, roles=[role])])} for role in ("database", "etcd_witness"))
    assert [finding["level"] for finding in then["findings"] if finding["check"] == "memory"] != ["ok"]
    found = changes(then, now)
    assert {"machine": "db1", "check": "memory"} in found["eased"]
    assert found["fixed"] == []


MODEL = [{"name": "starter", "memory_mb": 90_000}]
TRIED = {"via": "direct", "ok": True, "stage": None, "reason": None}
CLOSED = {**TRIED, "ok": False, "stage": "connect", "reason": "refused"}
MANY = {"check": "many", "expect": "cpus > `100`", "fix": "Buy some."}
# the check -> what a machine tells then and now, and what is asked for then and now
LESS = {
    "memory": ({"serves": MODEL}, {"serves": []}, {}, {}),
    "system": ({}, {}, {"systems": {"fedora": ["40"]}}, {"systems": {"fedora": ["40"], "debian": ["12"]}}),
    "architecture": ({}, {}, {"architectures": ["riscv64"]}, {"architectures": ["riscv64", "x86_64"]}),
    "internet": ({"internet": [{"url": "https://a.example", **CLOSED}]}, {"internet": [{"url": "https://b.example", **TRIED}]}, {}, {}),
    "many": ({}, {}, {"custom_checks": [MANY]}, {"custom_checks": [{**MANY, "expect": "cpus > `0`"}]}),
}


@pytest.mark.parametrize("check", LESS)
def test_a_whole_run_that_asks_less_besides_its_roles(record, check):
    machine_then, machine_now, asked_then, asked_now = LESS[check]
    then, now = ({**report(), **evaluate([record(**machine)], **asked)}
                 for machine, asked in ((machine_then, asked_then), (machine_now, asked_now)))
    assert what(then, now) == {"eased": f"db1 {check}"}
    del then["asked"]  # as one from before this was told
    assert what(then, now) == {"fixed": f"db1 {check}"}


def test_a_whole_run_in_which_a_check_of_ones_own_only_warns_now(record):
    then, now = ({**report(), **evaluate([record()], custom_checks=[{**MANY, "level": level}])} for level in ("fail", "warn"))
    assert what(then, now) == {"eased": "db1 many"}


@pytest.mark.parametrize("name", CASES)
def test_what_is_told(name):
    then, now, told = CASES[name]
    assert what(then, now) == told


def test_a_clock_that_can_not_be_told_any_more_is_not_right():
    then, now = report("a clock ok, a clocks warn, b disk ok, c disk ok"), report("a clock fail, b disk ok, c disk ok, - clocks ok")
    now["machines"][0]["clock"] = None
    assert what(then, now) == {"new": "a clock", "hidden": "a clocks"}


def test_each_problem_of_both_reports_is_told_once():
    for then, now, _told in (*CASES.values(), *EASED.values()):
        found = changes(then, now)
        lists = {key: [(at["machine"], at["check"]) for at in found[key]] for key in found.keys() - {"since", "remains"}}
        left = [at for at in lists["eased"] if at in problems_of(now)]
        again = [at for at in (*lists["hidden"], *lists["uncovered"]) if at in problems_of(now) & problems_of(then)]
        both = len(lists["worse"]) + len(lists["better"]) + found["remains"] + len(left) + len(again)
        come, gone = ([at for at in lists[key] if at not in again] for key in ("uncovered", "hidden"))
        assert len(lists["new"]) + len(come) + both == len(problems_of(now))
        assert len(lists["fixed"]) + len(gone) + len(lists["eased"]) - len(left) + both == len(problems_of(then))


def problems_of(report):
    return {(finding["machine"], finding["check"]) for finding in report["findings"] if finding["level"] != "ok"}


def test_a_problem_that_is_waived_now_remains(record):
    waivers = [{"check": "cpus", "reason": "a test"}]
    counting, waived = ({**report(), **evaluate([record(cpus=1)], waived=given)} for given in (None, waivers))
    assert (counting["counts"]["warn"], waived["counts"]["warn"], waived["waived"]) == (1, 0, 1)
    assert what(counting, waived) == {"waived": "db1 cpus", "remains": 1}
    assert what(waived, counting) == {"counting": "db1 cpus", "remains": 1}


def test_what_another_profile_asks_for_is_not_compared():
    then, now, unnamed = ({**report("a disk fail"), "about": {"at": THEN, "profile": name}} for name in ("kubeadm", "llmgw", None))
    with pytest.raises(NotComparable, match="^it is of the profile 'kubeadm', and this one of 'llmgw'$"):
        changes(then, now)
    assert what(unnamed, now) == {"remains": 1}


def test_figures_that_no_machine_has_are_compared():
    large = {"limits": {**LIMITS, "clock_fail_s": 10**400}, "asked": serving(memory_mb=10**400)}
    then, now = asking("a clock fail, a memory fail", "a node"), asking("a clock ok, a memory ok", "a node", **large)
    assert what(then, now) == {"eased": "a clock", "fixed": "a memory"}
    assert what(asking("a clock fail, a memory fail", "a node", **large), asking("a clock ok, a memory ok", "a node")) == {
        "eased": "a memory", "fixed": "a clock"}


def broken(**parts):
    return {**report("a disk fail"), **parts}


@pytest.mark.parametrize(("earlier", "message"), [
    ([], "it is no report"),
    ("x", "it is no report"),
    (None, "it is no report"),
    ({}, "it is no report"),
    ({"schema_version": 1}, "it is no report"),
    (broken(schema_version=2), "its form is version 2, and this one's 1"),
    (broken(schema_version="7" * 99), f"its form is version {'7' * 20}, and this one's 1"),
    (broken(about={}), "it is no report"),
    (broken(about={"at": 5}), "it is no report"),
    (broken(about={"at": "\x1b[2J"}), "it is no report"),
    (broken(findings=5), "it is no report"),
    (broken(findings={"a": 1}), "it is no report"),
    (broken(findings=[{"machine": ["a"], "check": "disk", "level": "fail"}]), "it is no report"),
    (broken(findings=[{"machine": 5, "check": "disk", "level": "fail"}]), "it is no report"),
    (broken(findings=[{"machine": "a", "check": None, "level": "fail"}]), "it is no report"),
    (broken(findings=[{"machine": "a", "check": "disk", "level": "bad"}]), "it is no report"),
    (broken(findings=[{"machine": "a", "check": "disk", "level": []}]), "it is no report"),
    (broken(machines=[{"machine": "a", "address": {}}]), "it is no report"),
    (broken(machines=[5]), "it is no report"),
    (broken(not_examined=["a"]), "it is no report"),
    (broken(skipped=5), "it is no report"),
    (broken(waivers=[5]), "it is no report"),
    (broken(limits=[5]), "it is no report"),
    (broken(limits={"clock_warn_s": []}), "it is no report"),
    (broken(needs={"node": 5}), "it is no report"),
    (broken(needs={"node": {"cpus": "many"}}), "it is no report"),
    (broken(needs={"node": {"ports": [{}]}}), "it is no report"),
    (broken(needs={"node": {"cpus": -10**400}}), "it is no report"),
    (broken(limits={"clock_warn_s": -10**400}), "it is no report"),
    (broken(asked=5), "it is no report"),
    (broken(asked={"systems": 5}), "it is no report"),
    (broken(asked={"systems": {"debian": 5}}), "it is no report"),
    (broken(asked={"architectures": [[]]}), "it is no report"),
    (broken(asked={"custom_checks": [5]}), "it is no report"),
    (broken(asked={"internet_urls": [[]]}), "it is no report"),
    (broken(asked={"machines": ["a"]}), "it is no report"),
    (broken(asked={"machines": {"a": 5}}), "it is no report"),
    (broken(asked={"machines": {"a": {"internet_urls": [[]]}}}), "it is no report"),
    (broken(asked={"machines": {"a": {"serves": {"memory_mb": "much"}}}}), "it is no report"),
    (broken(asked={"machines": {"a": {"serves": {"memory_mb": -10**400}}}}), "it is no report"),
    (broken(needs={"node": {"reaches": {"node": [{}]}}}), "it is no report"),
    (broken(machines=[{"machine": "a", "roles": [[]]}]), "it is no report"),
    (broken(machines=[{"machine": "a", "roles": 5}]), "it is no report"),
    (broken(not_reached=[{"machine": "a", "peer": "b", "port": [], "of": "reach"}]), "it is no report"),
    (broken(not_reached=[{"machine": "a", "peer": {}, "port": 1, "of": "reach"}]), "it is no report"),
], ids=repr)
def test_what_is_no_earlier_report(earlier, message):
    now = report("a disk ok")
    before = copy.deepcopy(now)
    with pytest.raises(NotComparable) as problem:
        changes(earlier, now)
    assert str(problem.value) == message
    assert now == before
