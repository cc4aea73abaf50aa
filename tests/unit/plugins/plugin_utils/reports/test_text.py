from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import text


def finding(machine, check, level, detail, fix=""):
    return {"machine": machine, "check": check, "level": level, "detail": detail, "fix": fix}


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
    return "\n".join(line for level, line in text.lines(report, **options)) + "\n"


def test_worst_first_with_the_fix_below_and_totals_last():
    assert shown(REPORT) == f"{SHOWN}OK    3 checks (-v shows each)\n\n{TOTALS}\n"


def test_everything():
    ok = "OK    login        db1, n1: logged in as ops\nOK    disk         n1: 99 GB free on / (needs 0)\n"
    head, notes = SHOWN.split("note", 1)
    assert shown(REPORT, everything=True) == f"{head}{ok}note{notes}\n{TOTALS}\n"


def test_levels_colour_their_lines_and_fixes_stay_plain():
    levels = [level for level, line in text.lines(REPORT) if line]
    assert levels == ["fail", None, None, "fail", "fail", None, "warn", None, None, None, None, None, "ok", "fail"]


@pytest.mark.parametrize("width", [20, 60, 79, 200, 1000])
def test_no_line_is_wider_than_the_screen(width):
    long = finding("m", "disk", "fail", "word " * 50 + "x" * 500, "do this " * 50)
    for line in text.lines({**REPORT, "findings": [long]}, width=width):
        assert len(line[1]) <= max(60, min(width, 140))


def test_what_comes_from_a_machine_can_not_steer_the_terminal():
    evil = finding("m\x1b[2J", "disk", "warn", "a\x1b]0;t\x07b\r\nc\u202ed\udc80e" + "x" * 1000, "\x9b31m")
    output = shown({**REPORT, "findings": [evil]}, width=140)
    assert all(char.isprintable() or char == "\n" for char in output)
    assert " ".join(output.split()).startswith("WARN disk m\\x1b[2J: a\\x1b]0;t\\x07b\\r\\nc\\u202ed\\udc80exxx")
    assert output.count("x") < 500


def test_many_names_are_counted():
    assert text.names([f"n{number}" for number in range(1, 9)]) == "n1, n2, n3, n4, n5, n6, n7, n8"
    assert text.names([f"n{number}" for number in range(1, 41)]) == "n1, n2, n3, n4, n5, n6, n7, n8 and 32 more"


def test_why_the_play_stops():
    assert text.verdict(REPORT, "fail") == "Preflight: 2 of 3 machines not ready: db1, db2."
    assert text.verdict(REPORT, "warn") == "Preflight: 3 of 3 machines not ready: db1, db2, n1."


def test_one_machine_and_nothing_wrong():
    report = {"worst": "ok", "counts": {"ok": 1, "warn": 0, "fail": 0}, "findings": [finding("m", "login", "ok", "in")],
              "machines": [{"machine": "m", "roles": ["node"], "worst": "ok"}]}
    assert shown(report) == "\nOK    1 check (-v shows each)\n\n1 machine, 1 check: 0 fail, 0 warn, 1 ok.\n"


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
