from __future__ import annotations

import datetime
import re
import time
from pathlib import Path

import pytest
import yaml
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings, waivers
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import IDS
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.fit import fit
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import GIB, NOT_WAIVED, Asked, Finding, Level, Member, Need, together
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import folding, offers, text

HERE = Path(__file__).parent
ABOUT = {"at": "2026-11-30T02:05:09+01:00", "version": "0.1.0", "ansible": "2.19.3", "profile": "llmgw"}


def finding(machine, check, level, detail, fix="", **waived):
    return {"machine": machine, "check": check, "level": level, "detail": detail, "fix": fix, **({"waived": waived} if waived else {})}


REPORT = {
    "worst": "fail",
    "counts": {"ok": 3, "warn": 2, "fail": 3},
    "machines": [
        {"machine": "db1", "roles": ["database"], "worst": "fail"},
        {"machine": "db2", "roles": ["database"], "worst": "fail"},
        {"machine": "n1", "roles": [], "worst": "warn"},
    ],
    "findings": [
        finding("db1", "login", "ok", "logged in as ops"),
        finding("db1", "disk", "fail", "12 GB free on / (needs 30)", "Free space on /."),
        finding("db1", "time_sync", "warn", "not synchronised", "Install chrony."),
        finding("db2", "login", "fail", "Connection refused", "Start the SSH server there, or correct ansible_host in the inventory."),
        finding("db2", "disk", "fail", "13 GB free on / (needs 30)", "Free space on /."),
        finding("n1", "login", "ok", "logged in as ops"),
        finding("n1", "disk", "ok", "99 GB free on / (needs 0)"),
        finding("n1", "time_sync", "warn", "not synchronised", "Install chrony."),
    ],
    "not_examined": [{"machine": "n2", "why": "batch"}, {"machine": "n3", "why": "limit"}, {"machine": "n4", "why": "limit"}],
}
SHOWN = """
FAIL  login        db2: Connection refused
                   -> Start the SSH server there, or correct ansible_host in the
                      inventory.
FAIL  disk         db1: 12 GB free on / (needs 30)
                   db2: 13 GB free on / (needs 30)
                   -> Free space on /.
WARN  time_sync    db1, n1: not synchronised
                   -> Install chrony.
note  not examined yet, since their batch has not come: n2
note  not examined, since --limit leaves them out; only tried: n3, n4
note  no role, so nothing is asked of CPUs, memory, disk and ports: n1 (put them
      in a group that is called like a role, or set preflight_roles)
"""
TOTALS = "3 machines, 8 checks: 3 fail, 2 warn, 3 ok."


def shown(report, **options):
    return "\n".join(line + rest for level, line, rest in text.lines(report, **options)) + "\n"


def test_worst_first_with_the_fix_below_and_totals_last():
    assert shown(REPORT) == f"{SHOWN}OK    3 checks (-v shows each)\n\n{TOTALS}\n"


def test_everything():
    ok = "OK    login        db1, n1: logged in as ops\nOK    disk         n1: 99 GB free on / (needs 0)\n"
    head, notes = SHOWN.split("note", 1)
    assert shown(REPORT, everything=True) == f"{head}{ok}note{notes}\n{TOTALS}\n"


def test_levels_colour_their_lines_and_fixes_stay_plain():
    levels = [level for level, line, rest in text.lines(REPORT) if line]
    assert levels == ["fail", None, None, "fail", "fail", None, "warn", None, None, None, None, None, "ok", "fail"]


def test_why_the_play_stops():
    assert text.verdict(REPORT, "fail") == "Preflight: 2 of 3 machines not ready: db1, db2."
    assert text.verdict(REPORT, "warn") == "Preflight: 3 of 3 machines not ready: db1, db2, n1."


def test_one_machine_and_nothing_wrong():
    report = {"worst": "ok", "counts": {"ok": 1, "warn": 0, "fail": 0}, "findings": [finding("m", "login", "ok", "in")],
              "machines": [{"machine": "m", "roles": ["node"], "worst": "ok"}], "about": ABOUT}
    assert shown(report) == (
        "\nPreflight of 2026-11-30 02:05:09+01:00 by llmgw.preflight 0.1.0, ansible-core\n2.19.3, profile llmgw: m\n"
        "OK    1 check (-v shows each)\n\n1 machine, 1 check: 0 fail, 0 warn, 1 ok.\n")


def test_v_tells_of_which_machines_it_is_whatever_they_are_called():
    names = [f"{chr(97 + at % 26)}{chr(97 + at // 26)}" for at in range(300)]
    report = {**REPORT, "about": ABOUT, "machines": [{"machine": name, "roles": ["node"], "worst": "ok"} for name in names]}
    few, many = (" ".join(shown(report, everything=everything).split()) for everything in (False, True))
    assert f"llmgw: {', '.join(names[:24])} and 276 more" in few
    assert f"llmgw: {', '.join(names)}" in many


def test_a_fix_is_not_cut_and_a_detail_keeps_its_end():
    fix = "Do this, then that. " * 49 + "And the last."
    told = " ".join(shown({**REPORT, "findings": [finding("db1", "disk", "fail", f"{'of one, ' * 100}: no answer", fix)]}).split())
    assert fix in told
    assert "of one, : no answer" in told


def test_checks_come_in_their_order_also_where_the_first_machine_lacks_one():
    findings = [finding(machine, check, "warn", "d", "f") for machine, checks in (
        ("a", "login disk network"), ("b", "login disk ports internet network"), ("c", "system login")) for check in checks.split()]
    assert [check for check, fix, details in text.grouped(findings, "warn")] == ["system", "login", "disk", "ports", "internet", "network"]


def test_what_is_about_all_machines_comes_last_and_stops_the_play_too():
    findings = [*REPORT["findings"], finding("n1", "clocks", "warn", "30 s behind", "Set it."),
                finding(None, "clocks", "warn", "the controller's is behind", "Set the controller's."),
                finding(None, "quorum", "warn", "2 members", "Add one."), finding(None, "alike", "fail", "not the same", "Use one.")]
    report = {**REPORT, "findings": findings}
    assert [check for check, fix, details in text.grouped(findings, "warn")] == ["time_sync", "clocks", "clocks", "quorum"]
    assert [check for check, fix, details in text.grouped(findings, "fail")] == ["login", "disk", "alike"]
    assert "FAIL  alike        all machines: not the same\n                   -> Use one.\n" in shown(report)
    assert text.verdict(report, "fail") == "Preflight: 2 of 3 machines not ready: db1, db2; all of them together: alike."
    assert text.verdict(report, "warn") == (
        "Preflight: 3 of 3 machines not ready: db1, db2, n1; all of them together: clocks, quorum, alike.")
    healthy = {**report, "machines": [{"machine": "m", "roles": ["node"], "worst": "ok"}] * 2}
    assert text.verdict(healthy, "fail") == "Preflight: 2 machines not ready together: alike."
    assert text.verdict({**healthy, "machines": healthy["machines"][:1]}, "fail") == "Preflight: 1 machine not ready: alike."


# ---------------------------------------------------------------------------------------------------- what is waived
WAIVED = {**REPORT, "about": ABOUT, "waived": 3, "findings": [
    *REPORT["findings"],
    finding("db1", "clock", "warn", "3 s behind", "Set it.", reason="it is\x1b[2J old", until="2027-01-31"),
    finding("n1", "clock", "warn", "3 s behind", "Set it.", reason="it is\x1b[2J old", until="2027-01-31"),
    finding(None, "alike", "fail", "not the same", "Use one.", reason="for a test", until=None),
]}


def test_what_is_waived_comes_after_the_others_with_its_level_and_until_when():
    assert shown(WAIVED).endswith("""
                   -> Install chrony.
note  waived, and so not counted:
      fail  alike        all machines: not the same
                         waived for good: for a test
      warn  clock        db1, n1: 3 s behind
                         waived until 2027-01-31: it is\\x1b[2J old
""" + SHOWN.partition("-> Install chrony.\n")[2] + """OK    3 checks (-v shows each)

3 machines, 11 checks: 3 fail, 2 warn, 3 ok, 3 waived.
""")


def test_many_reasons_of_one_check_are_all_told_with_v():
    reasons = [f"{word} has said so" for word in ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven")]
    report = {**REPORT, "about": ABOUT, "findings": [finding(f"m{number}", "clock", "warn", "late", "Set it.", reason=reason, until=None)
                                                     for number, reason in enumerate(reasons)]}
    told = shown(report)
    assert [reason for reason in reasons if reason in told] == reasons[:3]
    assert "\n                         waived, each for a reason of its own (-v shows them)\n" in told
    assert [reason for reason in reasons if reason in shown(report, everything=True)] == reasons


def test_what_is_waived_does_not_stop_the_play():
    assert text.verdict(WAIVED, "fail") == "Preflight: 2 of 3 machines not ready: db1, db2. 3 findings waived."
    assert text.verdict({**REPORT, "waived": 1}, "fail") == "Preflight: 2 of 3 machines not ready: db1, db2. 1 finding waived."


def test_notes_on_what_was_skipped_and_on_waivers():
    told = shown({**REPORT, "skipped": ["sudo", "internet"], "waivers": [
        {"check": "cpus", "machine": ["db*", "n1"], "reason": "r", "until": None, "state": "unneeded"},
        {"check": "disk", "machine": ["*"], "reason": "r", "until": None, "state": "unneeded"},
        {"check": "memory", "machine": ["*"], "reason": "r", "until": None, "state": "used"},
        *({"check": "disk", "machine": [f"n{number}"], "reason": "r", "until": None, "state": "waiting"} for number in range(1, 21))]})
    assert "note  skipped (preflight_only, preflight_skip): sudo, internet\n" in told
    many = [f"check{number}" for number in range(31)]
    assert "check29 and 1 more\n" in shown({**REPORT, "skipped": many}, width=800)
    assert ", check30\n" in shown({**REPORT, "skipped": many}, width=800, everything=True)
    assert """note  waivers that are not needed any more, since all is well there: cpus on
      db*, n1; disk on *
note  waivers that wait, since what they are about was not looked at: disk on
      n[1-20]
""" in told


def test_what_a_waiver_is_told_for_is_about_no_machine():
    told = shown({**REPORT, "findings": [finding(None, "waivers", "warn", "disk on db* matches nothing (r)", "Correct it.")]})
    assert "WARN  waivers      disk on db* matches nothing (r)\n" in told


# ------------------------------------------------------------------------------------------- waivers to be copied
ODD = ["my host", "yes", "12", "a,b", "x[1-3]", "m\x1b[2J\n.", "\udc80", "計算機", "שרת", "😀", "*", "'\"\\", "{{ 1 }}",
       "a: b", "# a"]


def every_fault(record):
    """Machines with something wrong of many kinds, of names of many kinds."""
    names = ["db1", "db2", *ODD, *(f"n{number:02}" for number in range(40))]
    made = [record(machine=name, address=f"10.0.1.{number}", roles=["database" if number < 2 else "node"],
                   identity={"machine_id": None, "host_keys": [], "hostname": name, "addresses": [], "macs": []})
            for number, name in enumerate(names)]
    for number, one in enumerate(made):
        one["cpus"] = 1 + number % 2
        one["sudo"] = {"how": ("missing", "denied", "nopasswd")[number % 3]}
        one["memory_mb"] = 3000 + 100 * (number % 9)
        one["clock"] = {"offset_s": number / 7, "error_s": 0.01}
        one["disks"] = [{"path": "/", "free_bytes": (number % 25) * GIB}]
        one["own_findings"] = [{"check": "own", "level": "warn", "detail": f"of {one['machine']}", "fix": "Mend it."}] * (number % 2)
    del made[5]["disks"], made[6]["cpus"]
    made[7]["login"] = {"ok": False, "reason": "away", "cause": "timeout"}
    return made


@pytest.mark.parametrize("width", [60, 79, 200])
def test_each_line_of_v_can_be_made_a_waiver_that_matches_just_its_findings(record, width):
    machines = every_fault(record)
    report = {**evaluate(machines), "about": ABOUT}
    findings = [Finding(one["machine"], one["check"], text.LEVELS[one["level"]], one["detail"], one["fix"]) for one in report["findings"]]
    left = {finding for finding in findings if finding.level > Level.OK and finding.check not in NOT_WAIVED}
    looked_at = waivers.LookedAt(checks=IDS, between=(), left_out=(), read=[one["machine"] for one in machines], absent=())
    copied = re.findall(r"^ +- \{.*?\}$", shown(report, width=width, everything=True), re.M | re.S)
    given = []
    for lines in copied:
        (waiver,) = yaml.safe_load(lines)
        assert (waiver["reason"], waiver["until"]) == ("", datetime.date(2026, 12, 30))
        with pytest.raises(settings.SettingsError, match=r"reason is ''.*must say why"):
            settings.waivers([waiver])
        given += settings.waivers([{**waiver, "reason": "r"}])
        told, states, problems = waivers.apply(findings, given[-1:], looked_at, datetime.date(2026, 12, 30))
        found = {finding._replace(waived=None) for finding in told if finding.waived}
        assert found and found <= left
        assert [state["state"] for state in states] == ["used"]
        left -= found
    assert len(given) > 20
    assert not left
    # All of them at once, as they stand below each other.
    assert [{**waiver, "reason": "r"} for waiver in yaml.safe_load("\n".join(copied))] == [
        {**waiver, "reason": "r"} for lines in copied for waiver in yaml.safe_load(lines)]


def test_what_can_not_be_waived_is_not_offered():
    assert NOT_WAIVED == ("login", "waivers")
    told = shown({**REPORT, "about": ABOUT, "findings": [
        finding("a", "login", "fail", "away", "Look."), finding(None, "waivers", "warn", "matches nothing", "Look.")]}, everything=True)
    assert "{" not in told
    assert "waiver to copy" not in told
    told = shown({**REPORT, "about": ABOUT, "findings": [finding("a", "Größe", "fail", "small", "Look."),
                                                         finding("a", "cpus", "ok", "4")]}, everything=True)
    assert "{" not in told


def test_a_waiver_of_what_is_about_all_machines_together():
    assert offers.waiver("quorum", [], "2026-12-30") == ["- {check: quorum,", 'machine: "*",', 'reason: "",', "until: 2026-12-30}"]


def test_without_a_date_there_is_none_to_count_from():
    assert "{" not in shown({**REPORT, "about": {"at": "yesterday"}}, everything=True)


# ------------------------------------------------------------------------------------------------- what changed
def at(check, *machines):
    return [{"machine": machine, "check": check} for machine in machines]


def test_what_changed():
    changes = {"since": "2026-11-29T22:10:00+01:00", "remains": 1, "worse": [], "better": at("cpus", "b"),
               "new": [*at("disk", "n1", "n2", "n3", "db1"), *at("clocks", "n1", None), *at("quorum", None), *at("cpus", "a")],
               "fixed": at("clock", *(f"n{number}" for number in range(1, 30, 2))),
               "eased": at("memory", "b"), "hidden": at("login", "away"), "uncovered": at("names", "back")}
    told = shown({**REPORT, "changes": changes}).partition("note  since")[2].partition("OK ")[0]
    assert told == """ the report of 2026-11-29 22:10:00+01:00; 1 problem as before:
      8 new         disk on n[1-3], db1; clocks on n1; clocks; quorum; cpus on a
      1 better      cpus on b
      15 fixed      clock on n[1,3,5,7] and 11 more
      1 eased       memory on b (eased by a change in what is asked)
      1 uncovered   names on back (not looked at before)
      1 hidden      login on away (not looked at this time)
"""


def test_nothing_changed():
    changes = {"since": "2026-11-29T22:10:00+01:00", "remains": 0, "new": [], "worse": [], "better": [], "fixed": []}
    told = shown({**REPORT, "changes": changes})
    assert "note  since the report of 2026-11-29 22:10:00+01:00 nothing changed; 0 problems\n      as before\n" in told
    assert "since the report" not in shown({**REPORT, "changes": None})


# ---------------------------------------------------------------------------------------------------- many machines
def of_many(details, check="disk", fix="Free space."):
    return {**REPORT, "machines": [], "findings": [
        finding(f"n{number:03}", check, "fail", detail, fix.format(number)) for number, detail in enumerate(details, 1)]}


def lines_of(report, **options):
    return shown(report, **options).partition("note")[0].strip("\n").splitlines()


def test_three_hundred_machines_each_with_another_figure():
    assert lines_of(of_many(f"{100 + 7 * number % 300} GB free on / (needs 500)" for number in range(300))) == [
        "FAIL  disk         n[001-300]: 100 to 399 GB free on / (needs 500); least on",
        "                     n001, most on n258",
        "                   -> Free space."]


def test_fixes_that_differ_in_figures_are_one():
    told = lines_of(of_many(["too little"] * 300, fix="Give it {} GB."))
    assert told == ["FAIL  disk         n[001-300]: too little", "                   -> Give it 1 to 300 GB."]


def test_a_fix_of_its_own_for_each_machine():
    told = lines_of(of_many(["too little"] * 300, fix="Run mend-{}."))
    assert told[:6] == [
        "FAIL  disk         n001: too little", "                   -> Run mend-1.", "FAIL  disk         n002: too little",
        "                   -> Run mend-2.", "FAIL  disk         n003: too little", "                   -> Run mend-3."]
    assert told[6:] == [
        "FAIL  disk         n[004-300]: too little",
        "                   -> Each has a fix of its own: look at one machine by itself",
        "                      (--limit)."]


def test_with_everything_more_are_told_each_by_itself():
    details = [f"{number} GB free" for number in range(10)]
    assert len([line for line in lines_of(of_many(details), everything=True) if "GB free" in line]) == 10
    assert len([line for line in lines_of(of_many(details)) if "GB free" in line]) == 1


def test_who_does_not_reach_many_others_is_told_with_their_names_folded(record):
    def closed(outcome, *numbers):
        return [{"machine": f"n{number}", "address": f"10.0.0.{number}", "port": 22, "outcome": outcome} for number in numbers]

    def reached(*not_open):
        return {"tried": 9, "open": 9 - len(not_open), "seconds": None, "not_open": list(not_open)}

    ways = {1: reached(*closed("timeout", *range(2, 11))), 2: reached(*closed("refused", 5, 6, 7, 8), *closed("timeout", 1)),
            3: reached(*closed("timeout", 1, 2))}
    machines = [record(machine=f"n{number}", address=f"10.0.0.{number}", roles=["node"], reach=ways.get(number, reached()))
                for number in range(1, 11)]
    machines[3]["address"], machines[3]["reach"] = "127.0.0.1", ways[1]
    told = shown(evaluate(machines, only=["network"]), width=120)
    assert "n1: does not reach any of the 9 others (port 22: no answer)" in told
    assert "n2: does not reach n[5-8] (port 22: refused), n1 (port 22: no answer)" in told
    assert "n3: does not reach n1 (10.0.0.1 port 22: no answer), n2 (10.0.0.2 port 22: no answer)" in told
    assert "n4: its address for the others is 127.0.0.1" in told
    by_port = {**evaluate(machines, only=["network"]), "not_reached": [
        {"machine": "n2", "peer": f"n{number}", "port": 5432, "outcome": "refused", "of": "edges"} for number in range(5, 9)]}
    assert "n2: does not reach n5 (10.0.0.5 port 22: refused), n6" in shown(by_port, width=120)  # ports of roles are told elsewhere


# ----------------------------------------------------------------------------------------------- what would fit where
ROOM = {"cpus": 4, "memory_mb": 8000, "confinement": {"cpus": None, "memory_mb": None}}
NEEDS = settings.needs({
    "database": {"cpus": 2, "memory_mb": 3500, "disk_gb": 30},
    "node": {"cpus": 2, "memory_mb": 3500, "disk_gb": 20},
    "tiny": {"cpus": 1, "memory_mb": 500, "disk_gb": 5},
    "nothing": {"ports": [80]},
}, "needs", {})


def free(disk_gb):
    return [{"path": "/", "free_bytes": disk_gb * GIB}]


def with_fit(machines, needs=None, failing=True):
    """A report of machines, name -> (roles, GB of disk, and what else is not as it is with a healthy one)."""
    needs = NEEDS if needs is None else needs
    members = [Member(name, roles, together(needs[role] for role in roles), {**ROOM, "disks": free(disk), **other})
               for name, (roles, disk, other) in machines.items()]
    asked = Asked(Need(), {}, (), settings.LIMITS, len(members))
    lacking = finding(next(iter(machines), None), "disk", "fail", "12 GB free on / (needs 30)", "Free it.")
    return {**REPORT, "not_examined": [], "findings": [lacking] if failing else [],
            "machines": [{"machine": name, "roles": list(roles), "worst": "ok"} for name, (roles, *rest) in machines.items()],
            "needs": {role: settings.as_given(need) for role, need in needs.items()}, "fit": fit(members, needs, asked)}


FLEET = {"db1": (("database",), 12, {}), "db2": (("database",), 40, {}), "n1": (("node",), 60, {}), "n2": (("node",), 12, {"cpus": 1}),
         **{f"n{number}": (("node",), 25, {}) for number in range(3, 10)}, "unread": (("node",), 0, {"disks": 5})}


def fits(report, **options):
    return shown(report, **options).partition("note  what would fit")[2].partition("OK  ")[0]


def test_the_table_says_what_would_fit_where_and_who_could_take_what():
    assert fits(with_fit(FLEET)) == """ where (* its own role):
      machine       database node    tiny    short of
      db1           no*      short   fits    disk
      unread        unread   unread* unread  disk
      n2            no       short*  fits    cpus, disk
      n[3-9]        short    fits    fits    disk
      db2, n1       fits     fits    fits
      db1 lacks room for database: n1 has it
"""


def test_with_the_figures():
    assert fits(with_fit(FLEET, failing=False), fit=True) == """ where (* its own role):
      machine       database node    tiny    short of
      (CPUs)        2        2       1
      (MB memory)   3500     3500    500
      (GB disk)     30       20      5
      db1           no*      short   fits    disk
        12 GB free on /
      unread        unread   unread* unread  disk
        could not be read: disks is not a list in the record
      n2            no       short*  fits    cpus, disk
        1 usable; 12 GB free on /
      n[3-9]        short    fits    fits    disk
        25 GB free on /
      db2, n1       fits     fits    fits
      db1 lacks room for database: n1 has it
"""


@pytest.mark.parametrize(("machine", "check", "level", "expected"), [
    ("db1", "disk", "fail", True),
    ("db1", "disk", "warn", False),
    ("db1", "clock", "fail", False),
    ("n2", "cpus", "fail", True),
    ("unread", "disk", "fail", False),  # it may well have the room
    ("db2", "disk", "fail", False),
    (None, "disk", "fail", False),
])
def test_the_table_comes_where_a_machine_fails_for_want_of_room_or_is_asked_for(machine, check, level, expected):
    report = {**with_fit(FLEET), "findings": [finding(machine, check, level, "little", "f")]}
    assert bool(fits(report)) is expected
    assert fits(report, fit=True)
    assert not fits({**report, "findings": [finding(machine, check, level, "little", "f", reason="r", until=None)]})


def test_nobody_has_room():
    told = fits(with_fit({"db1": (("database",), 1, {}), "n1": (("node",), 20, {})}))
    assert "\n      no machine without this role has room for database\n" in told
    assert "no machine without" not in fits(with_fit({"db1": (("database",), 1, {})}))


def test_nothing_is_asked_for_or_nobody_was_read():
    told = shown(with_fit({"m": (("nothing",), 1, {})}, {"nothing": NEEDS["nothing"]}), fit=True)
    assert "note  what would fit where: no role asks for room\n" in told
    nobody = {**REPORT, "fit": {"machines": [], "moves": []}}
    assert "note  what would fit where: not known of any machine, since none could be read\n" in shown(nobody, fit=True)
    assert "what would" not in shown(nobody)


def test_models_are_named_where_they_take_the_room():
    told = fits(with_fit({"m": (("node",), 40, {"serves": [{"name": "judge", "memory_mb": 7000}]})}), fit=True)
    assert "\n        8000 MB (7000 for judge)\n" in told
    asking = {"name": "judge", "memory_mb": 1, "cpu_level": 3, "gpu_memory_mb": 9}
    gpus = {"answering": [{"name": "L4", "memory_mb": 8}], "silent": []}
    told = fits(with_fit({"m": (("node",), 40, {"serves": [asking], "cpu_level": 2, "gpus": gpus})}), fit=True)
    assert "\n        x86-64-v2 (needs v3 for judge); 1 GPU with 8 MB (9 for judge)\n" in told


def test_what_is_needed_on_several_filesystems_is_told_as_a_sum():
    report = with_fit({"m": (("node",), 40, {})})
    report["needs"]["node"] = {**report["needs"]["node"], "disk_gb": {"/": 20, "/var/lib": 5, "/srv": 0}, "packages": ["chrony"]}
    assert "\n      (GB disk)     30       20+5    5\n" in fits(report, fit=True)


def test_many_roles_take_several_tables():
    needs = settings.needs({f"a_role_of_length_{number}": {"cpus": number} for number in range(1, 8)}, "needs", {})
    told = fits(with_fit({"m": (("a_role_of_length_7",), 1, {"cpus": 1})}, needs), fit=True).splitlines()
    assert [re.findall(r"length_(\d)", line) for line in told if "short of" in line] == [["1", "2"], ["3", "4"], ["5", "6"], ["7"]]
    assert max(map(len, told)) <= 80
    # Each says what is short of its own roles.
    told = [line.split()[1:] for line in told if line.split()[:1] == ["m"]]
    assert told == [["fits", "short", "cpus"], ["no", "no", "cpus"], ["no", "no", "cpus"], ["no*", "cpus"]]
    told = fits(with_fit({"m": (("a_role_of_length_7",), 1, {"cpus": 4})}, needs), fit=True).splitlines()
    told = [line.split()[1:] for line in told if line.split()[:1] == ["m"]]
    assert told == [["fits", "fits"], ["fits", "fits"], ["short", "short", "cpus"], ["short*", "cpus"]]


def test_rows_that_are_left_out_are_counted():
    needs = settings.needs({f"r{number}": {"cpus": number} for number in range(1, 16)}, "needs", {})
    for number, words in ((13, "and 1 more in 1 other row\n"), (14, "and 2 more in 2 other rows\n")):
        fleet = {f"m{cpus}": ((), 1, {"cpus": cpus}) for cpus in range(number)}
        assert words in fits(with_fit(fleet, needs), fit=True)


def test_many_machines_of_many_kinds_are_few_rows():
    fleet = {f"n{number:03}": ((), number % 35, {"cpus": number % 3, "memory_mb": 100 * (number % 50)}) for number in range(300)}
    told = fits(with_fit(fleet)).splitlines()
    assert len(told) < 40
    everything = fits(with_fit(fleet), fit=True).splitlines()
    assert [line for line in everything if re.fullmatch(r"      and \d+ more in \d+ other rows", line)]
    assert len(everything) < 80


# ------------------------------------------------------------------------------------------------------- the screen
def test_names_from_right_to_left_keep_their_mark_where_they_are_part_of_a_text():
    """What is made of names is cleaned once more with the text around it."""
    names = [f"{letter}שרת" for letter in "אבגדהוז"]
    calls = [{"machine": name, "peer": peer, "port": 22, "outcome": "timeout", "of": "reach"} for name in names for peer in names[:4]]
    findings = [finding(name, "network", "fail", f"does not reach {', '.join(names[:4])}") for name in names[5:]]
    findings += [finding(name, "disk", "fail", f"{number} GB free") for number, name in enumerate(names)]
    told = " ".join(shown({**REPORT, "findings": findings, "not_reached": calls}).split())
    assert "least on אשרת\u200e, most on זשרת\u200e" in told
    assert "does not reach אשרת\u200e, בשרת\u200e" in told
    assert "\\u200e" not in told


EVIL = ["m\x1b[2J", "a\x1b]0;t\x07b\r\nc\u202ed\udc80e" + "x" * 1000, "\x9b31m", "日本語" * 60, "שלום עולם 12 GB", "e" + "\u0301" * 99,
        "", " ", "a  b", "😀" * 99]


def evil(level="fail"):
    machines = [{"machine": name, "roles": [name], "worst": level} for name in EVIL]
    roles = {name: {"fits": "no", "short": [{"check": "disk", "detail": name}]} for name in EVIL}
    return {
        "about": dict.fromkeys(("at", "version", "ansible", "profile"), " ".join(EVIL)),
        "worst": level, "counts": {"ok": 1, "warn": 1, "fail": 1}, "waived": 5, "machines": machines,
        "findings": [finding(machine, check, of, machine or check, check)
                     for machine in [*EVIL, None] for check in [*EVIL, "disk"] for of in ("fail", "warn", "ok")]
        + [finding(name, "disk", level, name, name, reason=name, until=name) for name in EVIL],
        "not_examined": [{"machine": name, "why": "limit"} for name in EVIL], "skipped": EVIL,
        "waivers": [{"check": name, "machine": [name], "reason": name, "until": name, "state": "unneeded"} for name in EVIL],
        "sampled": {"machines": 50, "others": 5, "seed": EVIL[0]},
        "changes": {"since": EVIL[1], "remains": 5, **{kind: at(EVIL[0], *EVIL) for kind in text.CHANGES}},
        "needs": {}, "not_reached": [],
        "fit": {"machines": [{"machine": name, "roles": roles} for name in EVIL],
                "moves": [{"machine": name, "role": name, "to": EVIL} for name in EVIL]},
    }


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("width", [20, 79, 140, 1000])
def test_no_line_is_wider_than_the_screen_and_nothing_steers_it(width, everything):
    told = [(line, rest) for level, line, rest in text.lines(evil(), width=width, everything=everything, fit=True)]
    assert len(told) > 50
    for line, rest in told:
        assert all(char.isprintable() or char == folding.LEFT_TO_RIGHT_MARK for char in line + rest)
        # A check and a waiver's name are not broken, since they are to be copied.
        whole = re.fullmatch(" *(- )?\\S+|(FAIL|WARN|OK  )  .*", line + rest) and not rest or "- {check" in line
        assert whole or folding.width(line + rest) <= max(60, min(width, 200)), line + rest
        assert line == line.rstrip() or rest


def test_a_check_of_wide_letters_takes_their_columns():
    told = shown({**REPORT, "findings": [finding("a", "計算機", "fail", "x " * 199, "f")]})
    assert max(map(folding.width, told.splitlines())) <= 80


@pytest.mark.parametrize("count", [3, 40, 300])
@pytest.mark.parametrize("width", [79, 200])
@pytest.mark.parametrize("everything", [False, True])
def test_each_line_is_shown_whole_by_awx(count, width, everything):
    """It cuts an event behind 1,024 bytes; a line is one, with the marks of its colour."""
    told = ["\x1b[0;31m" + line + "\x1b[0m" + rest for level, line, rest in text.lines(made_up(count), width=width, everything=everything)]
    assert max(len(line.encode()) for line in told) < 300
    assert len(told) < (600 if everything else 150)
    assert len(text.verdict(made_up(count), "fail").encode()) < 300


# ------------------------------------------------------------------------------------------------------ whole reports
FIX = {
    "login": "Check that the machine is on, that its address is right, and that no firewall drops the connection.",
    "cpus": "Give the machine 2 CPUs, or move one of its roles to another machine.",
    "disk": "Free space on / or enlarge it, to {} GB free (du -xh / | sort -h shows what is large).",
    "clock": "Set the clock right and keep it so: timedatectl set-ntp true, or apt-get install chrony.",
    "apt_ready": "Wait until that program has finished (ps -fp shows it by its number), or stop it.",
    "network": "Open the SSH port between the machines (firewall, security group, routes), or set preflight_address.",
}


def made_up(count):
    """Databases and nodes, of which some can't be logged in to, lack room, are late, are busy, or are not reached."""
    fleet = {f"db{number}": ("database",) for number in range(1, 4)}
    fleet |= {f"node{number:03}": ("node",) for number in range(1, count - 2)}
    machines, findings, members, closed = [], [], [], []
    for number, (name, roles) in enumerate(fleet.items()):
        told, asked_gb = [], {"database": 30, "node": 20}[roles[0]]
        disk_gb, offset, cpus = (37 * number) % 61, (17 * number % 300) / 25, 1 if number % 9 == 4 else 4
        if number % 13 == 6:
            told.append(finding(name, "login", "fail", "Connection timed out", FIX["login"]))
        else:
            members.append(Member(name, roles, NEEDS[roles[0]], {**ROOM, "cpus": cpus, "disks": free(disk_gb)}))
            told.append(finding(name, "login", "ok", "logged in as ops"))
            held = number % 11 == 2
            told.append(finding(name, "apt_ready", "warn", f"/var/lib/dpkg/lock is held by apt (process {900 + number})", FIX["apt_ready"])
                        if held else finding(name, "apt_ready", "ok", "no program holds the locks of dpkg and apt"))
            told.append(finding(name, "cpus", "ok" if cpus > 1 else "warn", f"{cpus} usable (needs 2)", FIX["cpus"] if cpus == 1 else ""))
            level = "ok" if disk_gb >= asked_gb else "warn" if 2 * disk_gb >= asked_gb else "fail"
            waived = {"reason": "the new disks come on Friday", "until": "2026-12-04"} if number % 7 == 5 and level != "ok" else {}
            told.append(finding(name, "disk", level, f"{disk_gb} GB free on / (needs {asked_gb})",
                                FIX["disk"].format(asked_gb) if level != "ok" else "", **waived))
            level = "ok" if offset <= 7 else "warn" if offset <= 11 else "fail"
            detail = f"{offset:.3f} s ahead of the controller's (give or take 0.0{number % 90 + 10} s; 7 s is allowed)"
            told.append(finding(name, "clock", level, detail, FIX["clock"] if level != "ok" else ""))
            if name == "node009":
                peers = [peer for peer in fleet if peer != name]
                closed += [{"machine": name, "peer": peer, "port": 22, "outcome": "no_route", "of": "reach"} for peer in peers]
                told.append(finding(name, "network", "fail", f"does not reach {', '.join(peers)}", FIX["network"]))
            elif count > 20:
                closed.append({"machine": name, "peer": "node009", "port": 22, "outcome": "timeout", "of": "reach"})
                told.append(finding(name, "network", "fail", "does not reach node009 (10.0.0.12 port 22: no answer)", FIX["network"]))
        counting = [one["level"] for one in told if "waived" not in one]
        machines.append({"machine": name, "roles": list(roles), "worst": max(counting, key=list(text.LEVELS).index)})
        findings += told
    findings += [
        finding(None, "quorum", "warn", "2 etcd members (db1, db2): the loss of either stops everything", "Add one machine."),
        finding(None, "waivers", "warn", "clock on db* ran out on 2026-11-01 and holds no longer (it is old)", "Give it a later until."),
    ]
    counting = [one["level"] for one in findings if "waived" not in one]
    report = {
        "about": ABOUT, "worst": "fail", "counts": {level: counting.count(level) for level in text.LEVELS},
        "waived": len(findings) - len(counting), "machines": machines, "findings": findings, "not_reached": closed, "not_examined": [],
        "sampled": None, "skipped": ["internet"], "waivers": [],
        "needs": {role: settings.as_given(need) for role, need in NEEDS.items()},
        "fit": fit(members, NEEDS, Asked(Need(), {}, (), settings.LIMITS, len(members))),
    }
    nodes = [name for name in fleet if name.startswith("node")]
    return {**report, "changes": {
        "since": "2026-11-29T22:10:00+01:00", "remains": 5, "worse": [], "better": at("disk", "db1"), "hidden": at("clock", *nodes[3::13]),
        "new": [*at("disk", *nodes[::9]), *at("clock", *nodes[1::5])], "fixed": at("cpus", *nodes[:5]), "uncovered": []}}


@pytest.mark.parametrize(("file", "count", "options"), [
    ("3_at_80_with_v.txt", 3, {"width": 80, "everything": True}),
    ("40_at_80.txt", 40, {"width": 80}),
    ("300_at_200.txt", 300, {"width": 200}),
])
def test_the_whole(file, count, options):
    assert shown(made_up(count), **options) == (HERE / "terminal" / file).read_text()


def test_a_thousand_machines_take_about_ten_times_as_long_as_a_hundred():
    def seconds(count):
        report = made_up(count)
        start = time.process_time()
        list(text.lines(report, everything=True))
        return time.process_time() - start

    seconds(100)
    assert seconds(1000) < 40 * seconds(100)
