from __future__ import annotations

import gc
import json

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import checks
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import login, network
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import RecordsError, evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.settings import SettingsError
from browser import made_up


def test_a_whole_report(record):
    two = [
        record(machine="db1", disks=[{"path": "/", "mount": "/", "free_bytes": 12 * 2**30}], sudo={"how": "password"}),
        record(machine="n1", address="10.0.0.6", roles=[], login={"ok": False, "reason": "Connection refused", "cause": "refused"}),
    ]
    report = evaluate(two)
    assert {key: report[key] for key in ("worst", "counts", "machines")} == {
        "worst": "fail",
        "counts": {"ok": 23, "warn": 1, "fail": 2},
        "machines": [
            {"machine": "db1", "address": "10.0.0.5", "roles": ["database"], "worst": "fail",
             "counts": {"ok": 22, "warn": 1, "fail": 1}, "waived": 0, "clock": {"offset_s": 0.003, "error_s": 0.008}},
            {"machine": "n1", "address": "10.0.0.6", "roles": [], "worst": "fail", "counts": {"ok": 0, "warn": 0, "fail": 1}, "waived": 0,
             "clock": None},
        ],
    }
    assert len(report["findings"]) == 26
    assert next(finding for finding in report["findings"] if finding["check"] == "disk") == {
        "machine": "db1", "check": "disk", "level": "fail", "detail": "12 GB free on / (needs 30)",
        "fix": "Free space on / or enlarge it, to 30 GB free (du -xh / | sort -h shows what is large)."}
    assert report["findings"][24] == {
        "machine": "n1", "check": "login", "level": "fail", "detail": "Connection refused",
        "fix": "Start the SSH server there, or correct ansible_host and ansible_port in the inventory."}
    assert report["findings"][25] == {
        "machine": None, "check": "quorum", "level": "ok", "detail": "1 etcd member (db1): its loss stops everything", "fix": ""}
    assert json.loads(json.dumps(report)) == report


def test_several_roles_need_the_largest_figures_and_all_ports(record):
    report = evaluate([record(roles=["etcd_witness", "control_plane"], cpus=1, memory_mb=900)])
    details = {finding["check"]: finding["detail"] for finding in report["findings"]}
    assert details["cpus"] == "1 usable (needs 2)"
    assert details["memory"] == "900 MB (needs 3500)"
    assert details["disk"] == "40 GB free on / (needs 15)"
    assert details["ports"] == "free: 2379, 2380, 7443, 8080"


def test_one_machine_alone_has_no_network(record):
    assert "network" not in {finding["check"] for finding in evaluate([record(reach=None)])["findings"]}
    both = evaluate([record(), record(machine="db2", reach=None)])
    assert [f["level"] for f in both["findings"] if f["check"] == "network"] == ["ok", "fail"]


def test_what_the_controller_does_not_reach_either_is_a_matter_of_its_login(record):
    closed = {"machine": "down", "address": "10.0.0.9", "port": 22, "outcome": "timeout"}
    reach = {"tried": 1, "open": 0, "seconds": {"median": None, "max": None}, "not_open": [closed]}

    def fix(cause):
        down = {"machine": "down", "roles": [], "login": {"ok": False, "reason": "no", "cause": cause}}
        return next(f["fix"] for f in evaluate([record(reach=reach), down])["findings"] if f["check"] == "network")

    assert {cause: fix(cause) for cause in login.FIXES} == {
        cause: network.FIX_DOWN if cause in ("refused", "timeout", "no_route") else network.FIX for cause in login.FIXES}


def test_a_machine_that_has_a_record_is_none_of_the_others(record):
    mine = [{"check": "mine", "expect": "cpus > `0`", "fix": "Do it.", "scope": "all"}]
    records = [record(), record(machine="b")]
    assert evaluate(records, others=[{"machine": "b", "roles": []}], custom_checks=mine) == evaluate(records, custom_checks=mine)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(record, enabled):
    try:
        (gc.enable if enabled else gc.disable)()
        evaluate([record()])
        with pytest.raises(RecordsError):
            evaluate([])
        assert gc.isenabled() is enabled
    finally:
        gc.enable()


def test_needs_are_put_over_the_defaults(record):
    report = evaluate([record(roles=["database"]), record(machine="b", roles=["cache"])],
                      needs={"database": {"disk_gb": 100}, "cache": {"memory_mb": 99999}})
    details = {(f["machine"], f["check"]): f["detail"] for f in report["findings"]}
    assert details["db1", "disk"] == "40 GB free on / (needs 100)"
    assert details["db1", "memory"] == "7950 MB (needs 3500)"
    assert details["b", "memory"] == "7950 MB (needs 99999)"


def test_sections_that_are_not_known_are_let_be(record):
    assert evaluate([record(weather={"rain": True})])["worst"] == "ok"


@pytest.mark.parametrize(("records", "message"), [
    ("x", "a list of records is needed, not a text"),
    ({"machine": "x"}, "a list of records is needed, not a mapping; of a file of preflight_records_dir, that is what it has under records"),
    (None, "a list of records is needed, not nothing"),
    ([], "there is no record to judge, so there is nothing to call good"),
    ([{"machine": "a"}, 5], "record 2 is not a mapping with the machine's name under machine"),
    ([{}], "record 1 is not a mapping with the machine's name under machine"),
    ([{"machine": "a"}, {"machine": "a"}], "more than one record is about a"),
])
def test_what_is_no_list_of_records(records, message):
    with pytest.raises(RecordsError) as problem:
        evaluate(records)
    assert str(problem.value) == message


def test_a_role_that_nobody_knows(record):
    with pytest.raises(SettingsError) as problem:
        evaluate([record(roles=["databse"])])
    assert str(problem.value) == ("roles of db1 is 'databse': the known role ids are control_plane, database, "
                                  "etcd_witness, node.")


def test_checks_that_are_left_out(record):
    everything = evaluate([record()], custom_checks=MINE)
    made = [finding["check"] for finding in everything["findings"]]
    assert everything["skipped"] == []
    some = evaluate([record()], custom_checks=MINE, only=["disk", "mine", "cpus"], skip=["cpus", "quorum"])
    assert [finding["check"] for finding in some["findings"]] == ["login", "disk", "mine"]
    assert some["skipped"] == [check for check in (*checks.IDS, "own_findings") if check not in ("login", "disk")]
    for check in {*checks.IDS, "mine"} - {"login"}:
        report = evaluate([record()], custom_checks=MINE, skip=[check])
        assert report["skipped"] == [check]
        assert [finding["check"] for finding in report["findings"]] == [one for one in made if one != check]
    only_login = evaluate([record()], custom_checks=MINE, only="login")
    assert [finding["check"] for finding in only_login["findings"]] == ["login"]
    assert only_login["worst"] == "ok"
    assert evaluate([record(login={"ok": False, "reason": "refused", "cause": "refused"})], only=["disk"])["worst"] == "fail"


MINE = [{"check": "mine", "expect": "`true`", "fix": "x"}]


@pytest.mark.parametrize("which", ["only", "skip"])
def test_a_check_that_there_is_not(record, which):
    with pytest.raises(SettingsError) as problem:
        evaluate([record()], custom_checks=MINE, **{which: ["dsik"]})
    assert str(problem.value) == f"{which} is 'dsik': the known checks are {', '.join(checks.IDS)}, mine, own_findings."


def test_a_role_of_the_profile_and_one_of_the_needs_can_be_asked_of_checks_of_ones_own(record):
    of_cache = [{**MINE[0], "roles": ["cache", "node"]}]
    report = evaluate([record(roles=["cache"]), record(machine="db2")], needs={"cache": {}}, custom_checks=of_cache)
    assert [finding["machine"] for finding in report["findings"] if finding["check"] == "mine"] == ["db1"]
    with pytest.raises(SettingsError, match="roles is .* the known ones are control_plane, database, etcd_witness, node"):
        evaluate([record()], custom_checks=of_cache)


def trying(*urls):
    return [{"url": url, "ok": True, "via": "direct", "stage": None, "reason": None} for url in urls]


def test_what_is_asked_for_is_told_without_what_may_be_secret_or_long(record):
    secret = {**MINE[0], "expect": "machine != 'hunter2'", "fix": "hunter2"}
    models = [{"name": "hunter2", "memory_mb": 3, "cpu_level": 2}, {"name": "b", "memory_mb": 4, "cpu_level": 1, "disk_gb": 5}]
    records = [record(machine="a", serves=models), *(record(machine=name) for name in "bc"),
               record(machine="d", internet=trying("https://hunter2.example"))]
    asked = evaluate(records, systems={"debian": ["12"]}, architectures=["x86_64"], custom_checks=[secret])["asked"]
    assert asked["systems"] == {"debian": ["12"]}
    assert asked["architectures"] == ["x86_64"]
    assert list(asked["custom_checks"]) == ["mine"]
    assert asked["machines"]["a"] == {"serves": {"memory_mb": 7, "cpu_level": 2, "disk_gb": 5}}
    assert list(asked["machines"]) == ["a", "d"]
    assert [*asked["machines"]["d"]] == ["internet_urls"]
    assert asked["machines"]["d"]["internet_urls"] != asked["internet_urls"]
    assert "hunter2" not in str(asked) and "example" not in str(asked)


def test_what_is_asked_for_is_told_alike_where_it_is_alike(record):
    def asked(urls=("https://a.example", "https://b.example"), **check):
        return evaluate([record(internet=trying(*urls))], needs={"cache": {}}, custom_checks=[{**MINE[0], **check}])["asked"]

    first = asked()
    assert asked(urls=("https://b.example", "https://a.example"), detail="other words", fix="others") == first
    assert asked(roles=["cache", "node"]) == asked(roles=["node", "cache"])
    many = asked(urls=[f"https://{name}.example" for name in "abcdefgh"])["internet_urls"]
    assert len(many) == 8
    assert many == sorted(many)  # whatever order a set has in this run
    assert asked(urls=("https://a.example",))["internet_urls"] != first["internet_urls"]
    others = [asked(**other)["custom_checks"]["mine"]
              for other in ({}, {"expect": "`false`"}, {"level": "warn"}, {"roles": ["node"]}, {"expect": "`true`", "scope": "all"})]
    assert len(set(others)) == len(others)


@pytest.mark.parametrize("sections", [
    {"serves": 5}, {"serves": [5]}, {"serves": [{"name": "a", "memory_mb": -5}]}, {"serves": [{"name": "a", "memory_mb": "much"}]},
    {"internet": 5}, {"internet": [{"url": 5}]}, {"internet": None, "unmeasured": {"internet": "it took too long"}},
    {"login": {"ok": False, "reason": "refused", "cause": "refused"}}], ids=str)
def test_what_is_asked_for_where_a_record_is_odd(record, sections):
    asked = evaluate([record(), record(machine="db2", **sections)])["asked"]
    assert asked["machines"] == {}
    assert asked == evaluate([record()])["asked"]


def test_what_is_asked_for_adds_little_to_a_large_report(record):
    models = [{"name": "starter", "memory_mb": 90_000, "gpu_memory_mb": 90_000, "disk_gb": 100}]
    report = evaluate([record(machine=f"node{number}", address=f"10.0.1.{number}", roles=["node"], serves=models) for number in range(100)])
    assert len(report["asked"]["machines"]) == 100
    assert len(json.dumps(report["asked"])) < 0.04 * len(json.dumps(report))


def itself(text, *_how):
    return text


class Text(str):
    """As Ansible's own kind of text: what is made of it is of its kind too."""

    __str__ = __format__ = itself


def marked(value):
    if isinstance(value, dict):
        return {Text(key): marked(inner) for key, inner in value.items()}
    return [marked(inner) for inner in value] if isinstance(value, list) else Text(value) if isinstance(value, str) else value


def test_no_text_of_ansibles_own_kinds_comes_through(record):
    """Of machines that have findings, lack room for their roles, do not reach others, and are waived."""
    def judged(made):
        return evaluate([made(one) for one in records], waived=made(waivers), others=made([{"machine": "n9", "roles": ["node"]}]))

    reach = {"tried": 1, "open": 0, "not_open": [{"machine": "db2", "address": "10.0.0.6", "port": 22, "outcome": "odd"}]}
    records = [record(machine="db1", reach=reach, cpus=None, unmeasured={"cpus": "it took too long"}, sudo={"how": "password"}),
               record(machine="db2", address="10.0.0.6", disks=[{"path": "/", "mount": "/", "free_bytes": 2**30}])]
    waivers = [{"check": "disk", "machine": ["db2"], "reason": "known", "until": None}]
    report = judged(marked)
    assert report == judged(lambda given: given)
    assert kinds(report) == {dict, list, str, int, float, type(None)}


def kinds(value):
    """All types that occur in it."""
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {type(value)}.union(*map(kinds, inner))


def containers(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return [] if inner is None else [value, *(one for each in inner for one in containers(each))]


def test_nothing_is_there_twice_as_one_thing_which_yaml_would_tell_by_a_reference():
    waivers = [{"check": "time_sync", "machine": "*", "reason": "r"}]
    found = containers(evaluate(made_up.records(20), waived=waivers))
    assert len({id(one) for one in found}) == len(found)
