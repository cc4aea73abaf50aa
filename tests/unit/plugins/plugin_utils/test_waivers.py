from __future__ import annotations

import datetime

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings, waivers
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Finding, Level

TODAY = datetime.date(2027, 1, 31)
LOW = [{"path": "/", "mount": "/", "free_bytes": 12 * 2**30}]  # a database's disk fails
FEW = {"cpus": 1}  # which warns
DEAD = {"machine": "n1", "roles": ["node"], "login": {"ok": False, "reason": "refused", "cause": "refused"}}


@pytest.fixture
def named(record):
    """named("db2", section=value, ...): a healthy machine's record that has nothing in common with those of other names."""

    def make(name, **sections):
        own = {"machine_id": name.encode().hex().rjust(32, "0"), "host_keys": [name], "hostname": name, "addresses": [], "macs": []}
        return record(machine=name, identity=own, **sections)

    return make


def judged(records, *waived, **given):
    return evaluate(records, waived=[{"reason": "why", **waiver} for waiver in waived], **{"today": TODAY, **given})


def states(report):
    return [waiver["state"] for waiver in report["waivers"]]


def told(report):
    return [(finding["level"], finding["detail"]) for finding in report["findings"] if finding["check"] == waivers.ID]


def test_a_waived_finding_stays_as_it_is_and_no_longer_counts(named):
    records = [named("db1", disks=LOW), named("db2")]
    before = evaluate(records)
    report = judged(records, {"check": "disk", "machine": "db1", "until": "2027-12-31"})
    assert (before["worst"], before["machines"][0]["worst"]) == ("fail", "fail")
    (disk,) = [finding for finding in report["findings"] if (finding["machine"], finding["check"]) == ("db1", "disk")]
    assert disk == {"machine": "db1", "check": "disk", "level": "fail", "detail": "12 GB free on / (needs 30)",
                    "fix": "Free space on / or enlarge it, to 30 GB free (du -xh / | sort -h shows what is large).",
                    "waived": {"reason": "why", "until": "2027-12-31"}}
    assert [finding for finding in report["findings"] if "waived" in finding] == [disk]
    assert [{key: value for key, value in finding.items() if key != "waived"} for finding in report["findings"]] == before["findings"]
    assert report["counts"] == {**before["counts"], "fail": before["counts"]["fail"] - 1}
    assert (report["worst"], report["waived"]) == ("warn", 1)  # two members of etcd
    assert [(one["worst"], one["counts"]["fail"], one["waived"]) for one in report["machines"]] == [("ok", 0, 1), ("ok", 0, 0)]
    assert report["waivers"] == [{"check": "disk", "machine": ["db1"], "reason": "why", "until": "2027-12-31", "state": "used"}]
    assert told(report) == []


@pytest.mark.parametrize(("until", "holds"), [
    (None, True), ("2027-01-31", True), ("2027-02-01", True), ("9999-12-31", True), ("2027-01-30", False), ("2026-12-31", False),
    (datetime.date(2027, 1, 31), True), (datetime.date(2027, 1, 30), False), (datetime.datetime(2027, 1, 31), True),
    (datetime.datetime(2027, 1, 30, 23, 59, tzinfo=datetime.timezone(datetime.timedelta(hours=9))), False),
])
def test_the_last_day_is_one_on_which_it_holds(record, until, holds):
    report = judged([record(disks=LOW)], {"check": "disk", "until": until})
    assert states(report) == ["used" if holds else "expired"]
    assert report["worst"] == ("ok" if holds else "fail")
    day = until and str(until)[:10]
    assert report["waivers"][0]["until"] == day
    assert told(report) == ([] if holds else [("warn", f"disk on * ran out on {day} and holds no longer (why)")])


def test_without_a_day_none_that_ends_holds(record):
    report = evaluate([record(disks=LOW)], waived=[{"check": "disk", "reason": "why", "until": "2999-01-01"}])
    assert states(report) == ["expired"] and report["worst"] == "fail"


def test_of_two_on_one_finding_the_first_that_holds_is_told_and_both_are_used(record):
    waived = [{"check": "disk", "reason": "old", "until": "2027-01-01"}, {"check": "disk", "machine": ["x", "db1"], "reason": "one"},
              {"check": "disk", "machine": "db*", "reason": "two"}]
    report = judged([record(disks=LOW)], *waived)
    assert [finding["waived"]["reason"] for finding in report["findings"] if "waived" in finding] == ["one"]
    assert states(report) == ["expired", "used", "used"]
    assert (report["worst"], report["waived"]) == ("warn", 1)  # for the one that ran out


def test_each_of_several_findings_of_one_check_is_waived(record):
    own = [{"check": "smart", "level": level, "detail": level, "fix": "x"} for level in ("ok", "warn", "fail")]
    report = judged([record(own_findings=own)], {"check": "smart", "machine": "db1"})
    assert [(finding["level"], "waived" in finding) for finding in report["findings"] if finding["check"] == "smart"] == [
        ("ok", False), ("warn", True), ("fail", True)]
    assert (report["worst"], report["waived"], states(report)) == ("ok", 2, ["used"])


@pytest.mark.parametrize(("pattern", "machine", "matches"), [
    ("*", "db1", True), ("db*", "db1", True), ("db?", "db1", True), ("db[12]", "db1", True), ("*.example", "db1.example", True),
    ("[fe80::1]", "[fe80::1]", True), ("DB1", "db1", False), ("db", "db1", False), ("b1", "db1", False), ("db[!1]", "db1", False),
    ("database", "db1", False), ("[fe80::1]", "f", True), (["x", "db1"], "db1", True), (["x", "y"], "db1", False),
])
def test_patterns(record, pattern, machine, matches):
    report = judged([record(machine=machine, disks=LOW)], {"check": "disk", "machine": pattern})
    assert states(report) == ["used" if matches else "unmatched"]
    assert report["counts"]["fail"] == (0 if matches else 1)


def test_what_is_about_all_together_is_waived_by_the_star_only(named):
    two = [named("db1"), named("db2")]
    for machine, holds in (("*", True), (None, True), (["db1", "*"], True), ("db*", False), ("**", False), (["db1", "db2"], False)):
        report = judged(two, {"check": "quorum", "machine": machine})
        assert (report["counts"]["warn"], states(report)) == ((0, ["used"]) if holds else (2, ["unmatched"])), machine
    assert told(report) == [("warn", "quorum on db1, db2 matches nothing: it tells of all machines together, which * alone is for (why)")]


def test_the_login_is_never_waived(record):
    finding = evaluate([DEAD])["findings"][0]
    for check in ("login", "waivers"):
        with pytest.raises(settings.SettingsError) as error:
            judged([DEAD], {"check": check})
        assert str(error.value) == f"waived[0].check is '{check}': this one can not be waived."
    # Nor where somebody hands it over by another way.
    assert waivers._waived(waivers.Finding(*finding.values())._replace(level=2), [{"check": "login", "machine": ["*"]}]).waived is None


@pytest.mark.parametrize(("waiver", "words"), [
    ({"check": "dsik"}, "dsik on * matches nothing: there is no such check, and no task left a finding of that name (why)"),
    ({"check": "disk", "machine": "bd*"}, "disk on bd* matches nothing: there is no such machine (why)"),
    ({"check": "ports", "machine": "n2"}, "ports on n2 matches nothing: it has nothing to tell there (why)"),
    ({"check": "mine", "machine": "n2"}, "mine on n2 matches nothing: it has nothing to tell there (why)"),
    ({"check": "apart", "machine": "n2"}, "apart on n2 matches nothing: it tells of all machines together, which * alone is for (why)"),
    ({"check": "disk", "machine": [f"x{number}" for number in range(12)]},
     "disk on x0, x1, x2, x3, x4, x5, x6, x7 and 4 more matches nothing: there is no such machine (why)"),
])
def test_one_that_matches_nothing(record, waiver, words):
    records = [record(own_findings=[{"check": "smart", "level": "ok", "detail": "x"}]), record(machine="n2", roles=["node"])]
    mine = [{"check": "mine", "expect": "`true`", "fix": "x", "roles": "database"},
            {"check": "apart", "expect": "`true`", "fix": "x", "scope": "all"}]
    report = judged(records, waiver, custom_checks=mine)
    assert (states(report), told(report)) == (["unmatched"], [("warn", words)])


def test_it_covers_what_could_not_be_read_and_a_check_that_is_broken_as_the_docs_say(record):
    report = judged([record(disks=None, unmeasured={"disks": "no answer"})], {"check": "disk"}, {"check": "mine"},
                    custom_checks=[{"check": "mine", "expect": "disks == `1`", "fix": "x"}])
    assert [(finding["check"], finding["level"]) for finding in report["findings"] if "waived" in finding] == [
        ("disk", "fail"), ("mine", "fail")]
    assert states(report) == ["used", "used"]


def test_a_waiver_of_a_task_that_is_silent_where_all_is_well_warns_and_with_ok_it_does_not(record):
    for left, expected in (([], ["unmatched"]), ([{"check": "smart", "level": "ok", "detail": "x"}], ["unneeded"])):
        assert states(judged([record(own_findings=left)], {"check": "smart", "machine": "db1"})) == expected


@pytest.mark.parametrize(("machine", "unknown"), [
    (["db1", "typo*"], "typo*"), (["n1", "bd1", "db*", "x"], "bd1, x"), (["*", "typo"], "typo"), (["there", "typo"], "typo"),
    (["db1", "n1", "there", "t*", "*"], None), (["typo"], None), (["x", "typo"], None),
])
@pytest.mark.parametrize("check", ["disk", "cpus", "memory"])
def test_a_misspelt_name_beside_others_is_told(record, machine, unknown, check):
    def judged_with(machine):
        return judged([record(disks=LOW), DEAD], {"check": check, "machine": machine}, elsewhere=["there"], skip=["memory"])

    report = judged_with(machine)
    found = [(detail, finding["fix"]) for finding, (level, detail) in zip(
        [one for one in report["findings"] if one["check"] == waivers.ID], told(report), strict=True) if "matches nothing" not in detail]
    assert found == ([(f"{check} on {unknown}: no machine that is known is called so (why)", waivers.FIX_UNKNOWN)] if unknown else [])
    names = [name for name in machine if unknown and name not in unknown.split(", ")]
    assert not unknown or states(report) == states(judged_with(names))


def test_of_one_that_ran_out_no_name_is_told(record):
    report = judged([record(disks=LOW)], {"check": "disk", "machine": ["db1", "typo"], "until": "2027-01-30"})
    assert [detail for level, detail in told(report)] == ["disk on db1, typo ran out on 2027-01-30 and holds no longer (why)"]


def test_a_task_of_ones_own_need_not_say_that_all_is_well(record):
    records = [record(own_findings=[{"check": "smart", "level": "warn", "detail": "x", "fix": "y"}]), record(machine="n2", roles=["node"])]
    report = judged(records, {"check": "smart", "machine": "n2"})
    assert (states(report), told(report)) == (["unneeded"], [])


@pytest.mark.parametrize(("waiver", "state"), [
    ({"check": "disk", "machine": "db1"}, "unneeded"),
    ({"check": "disk", "machine": "n1"}, "waiting"),  # could not be read
    ({"check": "disk", "machine": ["n*", "x"]}, "waiting"),
    ({"check": "disk", "machine": "db3"}, "waiting"),  # was not examined
    ({"check": "disk", "machine": "app1"}, "waiting"),  # of another play
    ({"check": "time_sync", "machine": "db1"}, "waiting"),  # skipped
    ({"check": "mine", "machine": "db1"}, "waiting"),  # a skipped one of the user's own
    ({"check": "quorum", "machine": "db1"}, "waiting"),
    ({"check": "identity", "machine": "db1"}, "unneeded"),
    ({"check": "role_ports", "machine": "db1"}, "waiting"),  # nobody was there to try
    ({"check": "smart", "machine": "n1"}, "waiting"),  # no task of the user's own may have got there
    ({"check": "smart", "machine": "db3"}, "waiting"),
    ({"check": "smart", "machine": "app*"}, "waiting"),
    ({"check": "ports", "machine": ["db1", "app*"]}, "unneeded"),
    ({"check": "dsik", "machine": "db1"}, "unmatched"),
    ({"check": "disk", "machine": "x"}, "unmatched"),
])
def test_it_waits_for_what_was_not_looked_at(record, waiver, state):
    records = [record(), record(machine="db2"), DEAD]
    mine = [{"check": "mine", "expect": "`false`", "fix": "x"}]
    report = judged(records, waiver, custom_checks=mine, skip=["time_sync", "mine"], others=[{"machine": "db3", "roles": ["database"]}],
                    elsewhere=["app1", "app2"])
    assert states(report) == [state]
    assert sum("matches nothing" in detail for level, detail in told(report)) == (state == "unmatched")


@pytest.mark.parametrize(("waiver", "state"), [
    ({"check": "network", "machine": "db1"}, "waiting"), ({"check": "clocks"}, "waiting"), ({"check": "identity"}, "waiting"),
    ({"check": "dsik"}, "unmatched"), ({"check": "disk", "machine": "db2"}, "unmatched"), ({"check": "disk"}, "unneeded"),
])
def test_checks_between_machines_wait_where_there_is_one_only(record, waiver, state):
    assert states(judged([record(reach={"tried": 0, "open": 0, "not_open": []})], waiver)) == [state]


@pytest.mark.parametrize(("waiver", "state"), [
    # They name a machine only where something is wrong there; once that is mended the waiver is not needed, and no mistake.
    ({"check": "clocks", "machine": "db2"}, "unneeded"), ({"check": "clocks"}, "unneeded"),
    ({"check": "quorum", "machine": "db1"}, "unneeded"), ({"check": "role_ports", "machine": "n2"}, "unneeded"),
    ({"check": "clocks", "machine": "db9"}, "unmatched"), ({"check": "latency", "machine": "db1"}, "unmatched"),
    ({"check": "ports", "machine": "n2*"}, "waiting"),  # of another play too
    ({"check": "dsik", "machine": "n*"}, "unmatched"),
])
def test_where_all_is_well(named, waiver, state):
    stand_ins = {"pid": 1, "open": [7443], "held": [], "not_opened": []}
    called, calling = {"tried": 0, "open": 0, "not_open": [], "slowest": None}, {"tried": 1, "open": 1, "not_open": [], "slowest": None}
    records = [named(name) for name in ("db1", "db2", "db3")] + [
        named("cp1", roles=["control_plane"], stand_ins=stand_ins, edges=called), named("n2", roles=["node"], edges=calling)]
    needs = {"control_plane": {"reaches": {}}, "database": {"reaches": {}}}
    report = judged(records, {"machine": "*", **waiver}, needs=needs, elsewhere=["n20"])
    assert states(report) == [state]
    assert report["worst"] == ("warn" if state == "unmatched" else "ok")


@pytest.mark.parametrize(("machine", "state"), [("*", "waiting"), ("db1", "waiting"), ("n1", "waiting"), ("x", "unmatched")])
def test_what_the_judge_of_several_runs_tells_is_waited_for_in_each_of_them(record, machine, state):
    """The runs save their waivers, and these are the judge's."""
    records = [record(), *([DEAD] if machine == "n1" else [])]
    report = judged(records, {"check": "parts", "machine": machine})
    assert (states(report), told(report)) == ([state], [] if state == "waiting" else [
        ("warn", f"parts on {machine} matches nothing: there is no such machine (why)")])
    stale = [Finding("db1", "parts", Level.FAIL, "was read long ago", "Read it again.")]
    assert states(judged(records, {"check": "parts", "machine": machine}, told=stale)) == [
        "used" if machine in ("*", "db1") else state]


def test_findings_of_ones_own_that_are_skipped_wait(record):
    assert states(judged([record(own_findings="junk")], {"check": "smart"}, skip=["own_findings"])) == ["waiting"]
    assert states(judged([record(own_findings="junk")], {"check": "smart"}, only=["disk"])) == ["waiting"]
    assert states(judged([record(own_findings="junk")], {"check": "own_findings"})) == ["used"]
    assert states(judged([record(own_findings=[])], {"check": "smart"})) == ["unmatched"]


def test_what_is_said_of_waivers_counts_and_is_of_all_together(record):
    report = judged([record()], {"check": "dsik"}, {"check": "disk", "until": "2020-01-01"})
    assert report["worst"] == "warn"
    assert report["counts"]["warn"] == 2
    assert [finding["machine"] for finding in report["findings"] if finding["check"] == "waivers"] == [None, None]
    assert all(finding["fix"] for finding in report["findings"] if finding["check"] == "waivers")
    assert report["machines"][0]["worst"] == "ok"


def test_no_waiver_changes_nothing(record):
    records = [record(disks=LOW), DEAD]
    assert evaluate(records, waived=[]) == evaluate(records)
    assert evaluate(records)["waivers"] == []


WAIVER = "it must be a list of check, machine, reason and until."
DAY = "it must be a day such as 2027-01-31, the last on which the waiver holds."
MACHINE = "it must be a machine's name or a pattern such as db*, or a list of them."
REASON = "it must say why this can be lived with."


@pytest.mark.parametrize(("given", "problem"), [
    ({"check": "disk"}, f" is {{'check': 'disk'}}: {WAIVER}"),
    ("disk", f" is 'disk': {WAIVER}"),
    (["disk"], "[0] is 'disk': it must be a mapping of check, machine, reason and until."),
    ([{"reason": "x"}], "[0].check is None: it must be the id of a check, as the report has it."),
    ([{"check": "Disk", "reason": "x"}], "[0].check is 'Disk': it must be the id of a check, as the report has it."),
    ([{"check": "disk*", "reason": "x"}], "[0].check is 'disk*': it must be the id of a check, as the report has it."),
    ([{"check": ["disk"], "reason": "x"}], "[0].check is ['disk']: it must be the id of a check, as the report has it."),
    ([{"check": "disk"}], f"[0].reason is None: {REASON}"),
    ([{"check": "disk", "reason": " \n"}], f"[0].reason is ' \\n': {REASON}"),
    ([{"check": "disk", "reason": 5}], f"[0].reason is 5: {REASON}"),
    *(([{"check": "disk", "reason": "x", "machine": bad}], f"[0].machine is {[bad] if isinstance(bad, str) else bad!r}: {MACHINE}")
      for bad in (5, [], {}, "", [""], ["db1", 5], [["db1"]])),
    *(([{"check": "disk", "reason": "x", "until": bad}], f"[0].until is {bad!r}: {DAY}")
      for bad in ("tomorrow", "2027-1-31", "20270131", "2027-02-30", "2027-W04-7", " 2027-01-31", "2027-01-31T00:00", "", 20270131, True)),
    ([{"check": "disk", "reason": "x", "machine": "db[1:20]"}],
     "[0].machine is ['db[1:20]']: [1:3] is Ansible's; a pattern here has db[1-3] for one digit, or a list of names."),
    ([{"check": "disk", "reason": "x", "machines": "db1", "untill": 1}],
     "[0] key is 'machines': the known ones are check, machine, reason, until.\n"
     "preflight_waivers[0] key is 'untill': the known ones are check, machine, reason, until."),
    ([{"check": "disk", "reason": "x"}, {"check": "login", "until": "x"}],
     f"[1].check is 'login': this one can not be waived.\npreflight_waivers[1].reason is None: {REASON}\n"
     f"preflight_waivers[1].until is 'x': {DAY}"),
])
def test_what_is_no_waiver(given, problem):
    with pytest.raises(settings.SettingsError) as error:
        settings.waivers(given)
    assert str(error.value) == f"preflight_waivers{problem}"


def test_what_is_a_waiver():
    assert settings.waivers([{"check": "disk", "reason": " why\n"}]) == [
        {"check": "disk", "machine": ["*"], "reason": "why", "until": None}]
    assert settings.waivers(({"check": "disk", "machine": (" db* ",), "reason": "why", "until": datetime.date(2027, 2, 3)},)) == [
        {"check": "disk", "machine": ["db*"], "reason": "why", "until": "2027-02-03"}]
    for nothing in (None, "", " ", [], ()):
        assert settings.waivers(nothing) == []
