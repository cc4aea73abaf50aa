"""What several runs have read, judged as one: the same comes out as of one run, or it is said to be unknown."""

from __future__ import annotations

import copy
import datetime
import itertools
import json
import random

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import parts, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import RecordsError, evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Level

NOW = datetime.datetime(2026, 11, 30, 12, 0, tzinfo=datetime.UTC)
VERSION = "1.0"
NAMES = ("cp1", "db1", "db2", "n1", "n2", "n3", "w1")
ROLE = {"cp": "control_plane", "db": "database", "n": "node", "w": "etcd_witness"}


def roles_of(name):
    return [ROLE[name.rstrip("0123456789")]]


def seen(name, why=None):
    return {"machine": name, "address": f"10.0.0.{NAMES.index(name) + 1}", "port": 22, "roles": roles_of(name), "examined": why is None,
            "serves": [], "internet_urls": [], **({"why": why} if why else {})}


@pytest.fixture
def read(record):
    """read("n1", ...): healthy records of these machines; of the same batch."""

    def make(*names, batch, tried):
        made = []
        for name in names:
            number = NAMES.index(name) + 1
            made.append(record(
                machine=name, address=f"10.0.0.{number}", roles=roles_of(name), batch=batch, controller="boot-1",
                identity={"machine_id": f"{number:032x}", "host_keys": [f"SHA256:{number}"], "hostname": name,
                          "addresses": [f"10.0.0.{number}"], "macs": [f"52:54:00:00:00:{number:02x}"]},
                reach={"tried": tried, "open": tried, "seconds": {"median": 0.0004, "max": 0.01}, "not_open": []}))
        return made

    return make


@pytest.fixture
def part(read):
    """part("n1 n2", ...): what a run over these machines saves, which knows of all others by --limit or as peers."""

    def make(examined, why="limit", known=NAMES, at=NOW, version=VERSION, batch=None, elsewhere=(), **changed):
        examined = examined.split()
        machines = ([seen(name, None if name in examined else why) for name in known] if why == "limit" else
                    [*map(seen, examined), *(seen(name, why) for name in known if name not in examined)])
        plan = {"profile": settings.profile().as_dict(), "limits": settings.limits(None), "custom_checks": [],
                "left_out": ["role_ports", "latency"],
                "waivers": [], "sampled": None, "machines": machines, **changed}
        records = read(*examined, batch=batch or f"run of {examined}", tried=len(known) - 1)
        made = parts.part_of(plan, records, {"at": at.isoformat(), "version": version}, elsewhere)
        return json.loads(json.dumps(made))  # as it comes from a file

    return make


def whole(*given, version=VERSION, now=NOW, limits=None, waivers=None, **named):
    return parts.whole({**{f"{number}.json": part for number, part in enumerate(given, 1)}, **named}, version, now, limits, waivers)


def judged(found):
    return evaluate(found.records, limits=found.settings["limits"], profile=found.settings["profile"],
                    custom_checks=found.settings["custom_checks"], skip=found.settings["left_out"], waived=found.settings["waivers"],
                    today=NOW.date(), elsewhere=found.elsewhere, told=found.findings)


def told(found):
    return [(finding.machine, finding.level, finding.detail) for finding in found.findings]


SLICES = {
    "in a row": ("cp1 db1 db2", "n1 n2", "n3 w1"),
    "each third": ("cp1 n1 w1", "db1 n2", "db2 n3"),  # as AWX makes them
}


@pytest.mark.parametrize("why", ["limit", "peer"])
@pytest.mark.parametrize("slices", SLICES)
def test_parts_are_judged_as_one_run_over_all_whatever_their_files_are_called(part, slices, why):
    one = judged(whole(part(" ".join(NAMES))))
    assert one["worst"] == "ok"
    assert [machine["machine"] for machine in one["machines"]] == list(NAMES)
    for order in itertools.permutations(SLICES[slices]):
        found = whole(*(part(names, why) for names in order))
        assert found.findings == []
        assert judged(found) == one


FAULTS = (
    {"cpus": 1}, {"memory_mb": 900}, {"clock": {"offset_s": 40.0, "error_s": 0.01}}, {"clock": {"offset_s": 0.9, "error_s": 0.01}},
    {"architecture": "aarch64"}, {"login": {"ok": False, "reason": "it is down", "cause": "timeout"}}, {"libc": "glibc 2.31"},
    {"names": {"own": {"name": "x", "addresses": []}, "looked_up": 1, "nobody": ["n1"], "loopback": []}},
    {"identity": {"machine_id": "f" * 32, "host_keys": ["SHA256:same"], "hostname": "same", "addresses": [], "macs": []}},
    {"reach": {"tried": 6, "open": 5, "not_open": [{"machine": "db2", "address": "10.0.0.3", "port": 22, "outcome": "refused"}]}},
)


def test_whatever_is_wrong_it_is_judged_as_by_one_run(part):
    """Each slice by one controller at the same time; the machines' faults and the slices are drawn by lot."""
    levels = set()
    for seed in range(60):
        rng = random.Random(seed)
        faults = {name: rng.choice(FAULTS) for name in rng.sample(NAMES, rng.randint(1, 4))}
        drawn = {name: rng.randrange(3) for name in NAMES}
        slices = [names for number in range(3) if (names := [name for name in NAMES if drawn[name] == number])]
        one = part(" ".join(NAMES))
        # Of two slices that know each other as peers nobody knows the order of all, by which words may differ.
        whys = ["limit", "peer"] if len(slices) > 2 else ["limit"]
        several = [part(" ".join(names), rng.choice(whys), batch="r") for names in slices]
        for each in (one, *several):
            for record in each["records"]:
                record.update(copy.deepcopy(faults.get(record["machine"], {})))
        expected, found = judged(whole(one)), whole(*rng.sample(several, len(several)))
        assert found.findings == []
        assert judged(found) == expected, faults
        levels.add(expected["worst"])
    assert "fail" in levels


def test_what_is_wrong_between_parts_comes_out(part):
    first, second = part("cp1 db1 db2"), part("n1 n2 n3 w1")
    second["records"][0]["identity"]["machine_id"] = first["records"][1]["identity"]["machine_id"]
    second["records"][1]["clock"]["offset_s"] = 30.0
    found = {(f["machine"], f["check"]): f for f in judged(whole(first, second))["findings"] if f["level"] != "ok"}
    assert set(found) == {("n1", "identity"), ("n2", "clock"), ("n2", "clocks")}
    assert "db1" in found["n1", "identity"]["detail"]


def test_one_machine_under_two_names_is_seen(part):
    first, second = part("cp1 db1 db2 n1", known=NAMES[:4]), part("n2", known=NAMES[4:5])
    second["records"][0]["identity"] = copy.deepcopy(first["records"][3]["identity"])
    (found,) = [f for f in judged(whole(first, second))["findings"] if f["check"] == "identity" and f["level"] == "fail"]
    assert (found["machine"], "n1" in found["detail"]) == ("n2", True)


def test_a_machine_that_no_part_has_read_is_a_failure(part):
    report = judged(whole(part("cp1 db1 db2", "peer"), part("n1 n2 n3", "peer")))
    assert [machine["worst"] for machine in report["machines"]] == ["ok"] * 6 + ["fail"]
    (finding,) = [f for f in report["findings"] if f["machine"] == "w1"]
    assert (finding["check"], finding["detail"]) == ("login", parts.NOT_READ)


def test_a_peer_that_its_own_run_calls_otherwise_is_one_that_none_has_read(part):
    first, second = part("cp1 db1 db2 n1", "peer", known=NAMES[:5]), part("n2", "peer", known=NAMES[:5])
    for each in (*second["machines"], *second["records"]):
        each["machine"] = each["machine"].replace("n2", "n2.example")
    found = whole(first, second)
    assert ("n2", "login") in {(f["machine"], f["check"]) for f in judged(found)["findings"] if f["level"] == "fail"}
    assert {machine for machine, level, detail in told(found) if "n2.example" in detail} == {"cp1", "db1", "db2", "n1"}


def test_what_was_not_tried_since_the_runs_did_not_know_of_each_other_is_said(part):
    given = part("cp1 db1", known=("cp1", "db1")), part("n1 n2 n3", known=("n1", "n2", "n3"))
    untried = "could not be tried whether it reaches machines that its run did not know of: "
    assert told(whole(*given)) == [
        *((machine, Level.WARN, f"{untried}n1, n2, n3") for machine in ("cp1", "db1")),
        *((machine, Level.WARN, f"{untried}cp1, db1") for machine in ("n1", "n2", "n3"))]
    assert judged(whole(*given))["worst"] == "warn"
    for each in given:  # nobody wants to know
        each["settings"]["left_out"] += ["network"]
    assert told(whole(*given)) == []


def test_ports_that_no_run_had_a_reason_to_try_are_said_not_to_be_tried(part):
    """Each run by itself has nobody who needs a port of another."""
    given = [part(names, left_out=["quorum"]) for names in ("cp1", "db1 n1", "db2", "n2 n3", "w1")]
    found = {f["machine"]: (f["level"], f["detail"]) for f in judged(whole(*given))["findings"] if f["check"] == "role_ports"}
    assert {machine: level for machine, (level, detail) in found.items()} == dict.fromkeys(("cp1", "db1", "db2", "w1"), "warn")
    assert found["cp1"][1] == "could not be tried: 7443 from 3 of other batches or runs, read at another time"
    assert "role_ports" not in {f["check"] for f in judged(whole(part("n1 n2 n3", known=("n1", "n2", "n3"), left_out=[])))["findings"]}


def test_a_waiver_of_a_machine_that_the_runs_are_not_about_waits_without_a_word(part):
    waivers = [{"check": "disk", "machine": [name], "reason": "x", "until": None} for name in ("web1", "nobody")]
    given = (part("cp1 db1 db2", waivers=waivers, elsewhere=["web1"]), part("n1 n2 n3 w1", waivers=waivers, elsewhere=["cp1"]))
    report = judged(whole(*given))
    assert [waiver["state"] for waiver in report["waivers"]] == ["waiting", "unmatched"]
    waivers[0]["machine"] = ["nowhere"]
    told_later = judged(whole(*(part(names, elsewhere=["web1"]) for names in ("cp1 db1 db2", "n1 n2 n3 w1")), waivers=waivers))
    assert [waiver["state"] for waiver in told_later["waivers"]] == ["unmatched", "unmatched"]


def test_clocks_read_from_two_controllers_are_not_called_alike(part):
    first, second = part("cp1 db1 db2"), part("n1 n2 n3 w1")
    for record in second["records"]:
        record["controller"] = "boot-2"
        record["clock"]["offset_s"] += 0.9
    ((machine, level, detail),) = told(whole(first, second))
    assert (machine, level) == (None, Level.WARN)
    assert detail.startswith("the machines were read from 2 controllers, so it is not known whether")
    first["settings"]["left_out"] = second["settings"]["left_out"] = ["clocks"]
    assert told(whole(first, second)) == []


@pytest.mark.parametrize("controller", ["", None])
def test_controllers_that_can_not_be_told_apart_are_not_taken_for_one(part, controller):
    given = part("cp1 db1 db2"), part("n1 n2 n3 w1")
    for record in (*given[0]["records"], *given[1]["records"]):
        record["controller"] = controller
    assert [machine for machine, level, detail in told(whole(*given)) if "2 controllers" in detail] == [None]
    assert len({record["controller"] for record in whole(*given).records}) == 2


# ------------------------------------------------------------------------------------------------ how old, and from where
@pytest.mark.parametrize(("ago_s", "level", "begins"), [
    (86400, None, ""),
    (86401, Level.FAIL, "was read 86,401 s ago (2026-11-29T11:59:59+00:00; 86400 s is allowed)"),
    (-300, None, ""),
    (-301, Level.FAIL, "was read 301 s from now (2026-11-30T12:05:01+00:00), so nobody can say how old it is"),
])
def test_how_old_a_record_may_be(part, ago_s, level, begins):
    old = part("cp1 db1 db2", at=NOW - datetime.timedelta(seconds=ago_s))
    found = told(whole(old, part("n1 n2 n3 w1")))
    assert found == [(machine, level, begins) for machine in ("cp1", "db1", "db2") if level]


def test_the_limit_is_the_one_that_was_given(part):
    limits = settings.limits({"stale_s": 60})
    given = [part("cp1 db1 db2", limits=limits, at=NOW - datetime.timedelta(seconds=61)), part("n1 n2 n3 w1", limits=limits)]
    assert {machine for machine, level, detail in told(whole(*given))} == {"cp1", "db1", "db2"}


def test_the_limit_that_the_judge_is_given_counts(part):
    old = [part(names, at=NOW - datetime.timedelta(days=3)) for names in ("cp1 db1 db2", "n1 n2 n3 w1")]
    assert {machine for machine, level, detail in told(whole(*old))} == set(NAMES)
    found = whole(*old, limits={"stale_s": 4 * 86400})
    assert told(found) == []
    assert found.settings["limits"] == settings.limits({"stale_s": 4 * 86400})


def test_waivers_that_the_judge_is_given_stand_in_for_those_of_the_parts(part):
    waivers = [{"check": "cpus", "machine": ["n1"], "reason": "x", "until": None}]
    given = [part(" ".join(NAMES), waivers=waivers)]
    given[0]["records"][3]["cpus"] = 1
    assert judged(whole(*given))["waived"] == 1
    assert judged(whole(*given, waivers=[]))["waived"] == 0
    given[0]["settings"]["waivers"] = []
    assert judged(whole(*given, waivers=waivers))["waived"] == 1
    # Nor does it matter then whether those of the parts are the same.
    differ = part("cp1 db1 db2 n1", waivers=waivers), part("n2 n3 w1")
    assert whole(*differ, waivers=waivers).settings["waivers"] == waivers
    assert refused(*differ)


def test_how_old_is_told_of_each_machine_and_not_of_its_file(part):
    """As with serial, where what was read of the first batch is saved once more with the last."""
    given = part(" ".join(NAMES))
    given["records"][1]["at"] = (NOW - datetime.timedelta(days=2)).isoformat()
    given["records"][2]["at"] = (NOW - datetime.timedelta(hours=2)).isoformat()
    ((machine, level, detail),) = told(whole(given))
    assert (machine, level) == ("db1", Level.FAIL)
    assert detail == "was read 172,800 s ago (2026-11-28T12:00:00+00:00; 86400 s is allowed)"


def test_the_newest_record_is_taken_and_not_that_of_the_newest_file(part):
    serial, between = part(" ".join(NAMES), batch="a"), part("n1", at=NOW - datetime.timedelta(hours=1), batch="b")
    serial["records"][3].update(at=(NOW - datetime.timedelta(hours=2)).isoformat(), cpus=1)
    found = whole(serial, between)
    assert told(found) == [
        ("n1", Level.WARN, "was read more than once: 2.json, of 2026-11-30T11:00:00+00:00, is taken, and not 1.json")]
    assert [record["cpus"] for record in found.records if record["machine"] == "n1"] == [4]


def test_times_of_other_zones_are_the_same_times(part):
    zone = datetime.timezone(datetime.timedelta(hours=-11))
    assert told(whole(part(" ".join(NAMES), at=NOW.astimezone(zone)))) == []


def test_the_newest_record_is_taken_and_said_so_whatever_the_names(part):
    new, old = part("n1 n2", batch="b"), part(" ".join(NAMES), at=NOW - datetime.timedelta(hours=1), batch="a")
    old["records"][3]["cpus"] = 1
    for named in ({"a": new, "b": old}, {"b": new, "a": old}):
        found = whole(**named)
        taken, other = ("a", "b") if named["a"] is new else ("b", "a")
        assert told(found) == [
            (machine, Level.WARN, f"was read more than once: {taken}, of 2026-11-30T12:00:00+00:00, is taken, and not {other}")
            for machine in ("n1", "n2")]
        assert [record["cpus"] for record in found.records if record["machine"] == "n1"] == [4]


def test_newer_that_it_could_not_be_read_counts_more_than_older_that_it_could(part):
    new, old = part("n1", batch="b"), part(" ".join(NAMES), at=NOW - datetime.timedelta(hours=1), batch="a")
    new["records"] = [{**seen("n1"), "login": {"ok": False, "reason": "it is down", "cause": "timeout"}}]
    found = whole(old, new)
    assert {machine for machine, level, detail in told(found)} == {"n1"}
    assert judged(found)["worst"] == "fail"


def test_the_same_file_twice_is_no_second_reading(part):
    given = part(" ".join(NAMES))
    assert told(whole(given, copy.deepcopy(given))) == []


def test_records_of_another_version_are_told(part):
    found = told(whole(part("cp1 db1 db2", version="0.9"), part("n1 n2 n3 w1")))
    assert found == [(machine, Level.WARN, "was read by version 0.9, and is judged by 1.0") for machine in ("cp1", "db1", "db2")]


def test_roles_that_differ_from_run_to_run_are_told_unless_none_are_given(part):
    first, second = part("cp1 db1 db2", "peer"), part("n1 n2 n3 w1", "peer")
    peer = next(machine for machine in first["machines"] if machine["machine"] == "n1")
    peer["roles"] = []
    assert told(whole(first, second)) == []
    peer["roles"] = ["database"]
    assert [(machine, level) for machine, level, detail in told(whole(first, second))] == [("n1", Level.WARN)]
    (finding,) = whole(first, second).findings
    assert finding.detail == "has the roles node, and in other runs database, by which these chose what to try"


def test_where_not_each_pair_was_tried_that_is_told_of_all(part):
    lot = {"machines": 5, "others": 3, "seed": "abc123"}
    assert whole(part("cp1 db1 db2", sampled=lot), part("n1 n2 n3 w1")).sampled == {**lot, "machines": 7}
    assert whole(part("cp1 db1 db2"), part("n1 n2 n3 w1")).sampled is None


def test_lists_that_contradict_each_other_leave_none_out(part):
    first, second = part("cp1 db1 db2 n1"), part("n2 n3 w1")
    second["machines"].reverse()
    assert sorted(record["machine"] for record in whole(first, second).records) == sorted(NAMES)


# --------------------------------------------------------------------------------------------------------- what is refused
def refused(*given, **named):
    with pytest.raises(parts.PartsError) as problem:
        whole(*given, **named)
    return str(problem.value).splitlines()


@pytest.mark.parametrize(("setting", "value"), [
    ("limits", settings.limits({"clock_warn_s": 2})), ("left_out", ["role_ports", "latency", "disk"]),
    ("waivers", [{"check": "disk", "machine": ["*"], "reason": "x", "until": None}]),
    ("custom_checks", [{"check": "mine"}]), ("profile", {"name": "other"}),
])
def test_settings_that_differ_are_refused_since_there_is_one_judgement(part, setting, value):
    (line,) = refused(part("cp1 db1 db2"), part("n1 n2 n3 w1", **{setting: value}))
    assert line.startswith(f"2.json was read with other settings than 1.json: {setting}. There is one judgement")


def test_all_that_is_wrong_is_told_at_once(part):
    lines = refused(part("cp1"), {"kind": "else"}, {**part("n1"), "schema_version": 2}, [])
    assert [line.split(":")[0] for line in lines] == ["2.json", "3.json", "4.json"]
    assert lines[1] == "3.json: it is of another form ('2', not 1); read its machines again with one version."


def test_nothing_is_not_called_good(part):
    assert refused() == ["There is no part to judge, so there is nothing to call good: let preflight_records name files or folders."]
    with pytest.raises(RecordsError):
        judged(whole(part("", known=())))


DAMAGED = {
    "about.at is no time with a zone": lambda part: part["about"].update(at="2026-11-30T12:00:00"),
    "about.at is no time": lambda part: part["about"].update(at="yesterday"),
    "at of a record is no time": lambda part: part["records"][1].update(at=5),
    "more than once of 'n1'": lambda part: part["records"].append(part["records"][0]),
    "more than once of 'w1'": lambda part: part["machines"].append(part["machines"][-1]),
    "does not know of ('x\\x1b[2J')": lambda part: part["records"].append({"machine": "x\x1b[2J", "roles": []}),
    "a machine has no name": lambda part: part["machines"][0].update(machine=""),
    "part.settings.limits.stale_s is not in": lambda part: part["settings"].update(limits={}),
    "part.settings.left_out is not a list": lambda part: part["settings"].update(left_out="x"),
    "others is True": lambda part: part.update(sampled={"others": True, "seed": "x"}),
}


@pytest.mark.parametrize("words", DAMAGED)
def test_what_is_damaged_is_said_of_which_file(part, words):
    damaged = part("n1 n2 n3 w1")
    DAMAGED[words](damaged)
    (line,) = refused(part("cp1 db1 db2"), damaged)
    assert line.startswith("2.json: it is damaged: ")
    assert words.removesuffix(" with a zone") in line
    assert line.isprintable()


JUNK = (None, 1e999, "\x1b[2J\n\ud800", [], [[None]], {"machine": []})


OF_RECORDS = ("machine", "address", "roles", "login", "batch", "controller", "clock", "reach")  # the rest is for the checks' own tests


def places(value, path=()):
    """Each place of a part that something else may stand in."""
    if path[:2] == ("records", 0) and len(path) > 2 and path[2] not in OF_RECORDS or path[:2] == ("settings", "profile") and len(path) > 2:
        return
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, inner in items:
        if len(path) < 3:
            yield from places(inner, (*path, key))


def test_junk_in_any_place_is_refused_with_words_or_judged(part):
    """And it never makes a machine good or go away."""
    good, outcomes = part("n1 n2 n3 w1"), {"refused": 0, "judged": 0}
    for path in list(places(good)):
        for junk in JUNK:
            given = {"top": copy.deepcopy(good)}
            holder = given
            for key in ("top", *path)[:-1]:
                holder = holder[key]
            holder[("top", *path)[-1]] = junk
            try:
                found = whole(part("cp1 db1 db2"), given["top"])
                report = judged(found)
            except (parts.PartsError, RecordsError, settings.SettingsError) as problem:
                assert str(problem), (path, junk)
                outcomes["refused"] += 1
                continue
            json.dumps(report)
            assert {machine["machine"] for machine in report["machines"]} >= set(NAMES[:3]), (path, junk)
            outcomes["judged"] += 1
    assert all(outcomes.values()), outcomes
