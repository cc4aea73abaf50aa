# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The report as JUnit XML, for what shows the results of tests: Jenkins, GitLab, and many others.

A machine is a test suite, and so is what is about all together; a check there is a test case of the same name in each run, so that its
history can be followed. What one check found several times on one machine is one test case. One that fails is failed; one that only warns
has passed, and says so in its output, since whether a warning stops anything is decided elsewhere (preflight_fail_on). What is waived, a
check that was left out, and the login to a machine that was not examined are skipped, each with the reason.
"""

from __future__ import annotations

import hashlib
import typing as t
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence

from .text import clean, names

ALL = "all machines"
NOT_EXAMINED = {"batch": "not examined: its batch had not come", "limit": "not examined: --limit left it out",
                "peer": "not examined: another run reads it (preflight_peers)"}
LEFT_OUT = "left out by preflight_only or preflight_skip"
TEXT_MOST = 2000  # characters of one text
NAME_MOST = 300
PATTERNS_MOST = 20  # of the machines of a waiver

Finding = dict[str, t.Any]
Cases = dict[str, tuple[str, str, str]]  # check -> its outcome (failure, skipped or system-out; none where it is well), why, and in full


def write(report: dict[str, t.Any]) -> str:
    findings, rest = report["findings"], report["not_examined"]
    name_of = _distinct([ALL], (one["machine"] for one in (*report["machines"], *findings, *rest) if one["machine"] is not None))
    check_of = _distinct([], [*(finding["check"] for finding in findings), *report["skipped"]])
    name_of[None] = ALL
    found: dict[str, dict[str, list[Finding]]] = {name_of[machine["machine"]]: {} for machine in report["machines"]}
    for finding in findings:
        found.setdefault(name_of[finding["machine"]], {}).setdefault(check_of[finding["check"]], []).append(finding)
    suites: dict[str, Cases] = {name: {check: _case(its) for check, its in checks.items()} for name, checks in found.items()}
    for entry in rest:
        why = NOT_EXAMINED.get(entry["why"], "not examined")
        suites.setdefault(name_of[entry["machine"]], {}).setdefault("login", ("skipped", why, why))
    together = suites.pop(ALL, {})
    suites[ALL] = {**{check_of[check]: ("skipped", LEFT_OUT, LEFT_OUT) for check in report["skipped"]}, **together}

    root = ET.Element("testsuites", {"name": "llmgw.preflight", **_counts([case for cases in suites.values() for case in cases.values()])})
    del root.attrib["skipped"]  # which Jenkins' form does not know here
    addresses = {name_of[machine["machine"]]: machine.get("address") for machine in report["machines"]}
    at = clean(report["about"]["at"])
    for name, cases in suites.items():
        host = {"hostname": clean(addresses[name], NAME_MOST)} if addresses.get(name) else {}
        suite = ET.SubElement(root, "testsuite", {"name": name, **_counts(list(cases.values())), "timestamp": at, **host})
        if name == ALL:
            _properties(suite, report)
        for check, case in cases.items():
            _testcase(suite, name, check, case)
    ET.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _distinct(taken: t.Iterable[str], given: t.Iterable[str]) -> dict[str | None, str]:
    """Each name made harmless and cut; those that are then alike, or taken, have a mark behind them, the same in each run."""
    told = {name: clean(name, NAME_MOST) for name in dict.fromkeys(given)}
    times = Counter([*taken, *told.values()])
    return {name: f"{short} ({hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]})" if times[short] > 1 else short
            for name, short in told.items()}


def _case(findings: Sequence[Finding]) -> tuple[str, str, str]:
    """What one check says of one machine; the worst that counts decides."""
    bad = [finding for finding in findings if finding["level"] != "ok"]
    counting = [finding for finding in bad if not finding.get("waived")]
    failing = [finding for finding in counting if finding["level"] == "fail"]
    if failing:
        return "failure", _details(failing), _full(bad)
    reasons = [clean(finding["waived"]["reason"], TEXT_MOST) for finding in bad if finding.get("waived")]
    if reasons:
        return "skipped", f"waived: {'; '.join(dict.fromkeys(reasons))}", _full(bad)
    return ("system-out", _details(bad), _full(bad)) if bad else ("", "", "")


def _details(findings: Sequence[Finding]) -> str:
    return "; ".join(clean(finding["detail"], TEXT_MOST) for finding in findings)


def _full(findings: Sequence[Finding]) -> str:
    """All that is to be said: many readers show this alone."""
    lines = []
    for finding in findings:
        lines.append(f"{finding['level']}: {clean(finding['detail'], TEXT_MOST)}")
        if finding["fix"]:
            lines.append(f"-> {clean(finding['fix'], TEXT_MOST)}")
        if waived := finding.get("waived"):
            until = f" until {clean(waived['until'])}" if waived.get("until") else ""
            lines.append(f"waived{until}: {clean(waived['reason'], TEXT_MOST)}")
    return "\n".join(lines)


def _counts(cases: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    outcomes = [outcome for outcome, why, full in cases]
    # How long each took is not known; some programs stumble where no time is given.
    return {"tests": str(len(cases)), "failures": str(outcomes.count("failure")), "errors": "0",
            "skipped": str(outcomes.count("skipped")), "time": "0"}


def _properties(suite: ET.Element, report: dict[str, t.Any]) -> None:
    told = [(key, report["about"].get(key)) for key in ("at", "version", "ansible", "profile")]
    for waiver in report["waivers"]:
        until = f" until {waiver['until']}" if waiver["until"] else ""
        told.append(("waiver", f"{waiver['check']} on {names(waiver['machine'], PATTERNS_MOST)}{until} ({waiver['state']}): "
                     f"{waiver['reason']}"))
    properties = ET.SubElement(suite, "properties")
    for name, value in told:
        ET.SubElement(properties, "property", {"name": name, "value": "" if value is None else clean(value, TEXT_MOST)})


def _testcase(suite: ET.Element, name: str, check: str, case: tuple[str, str, str]) -> None:
    outcome, why, full = case
    # GitLab knows a test by these two, and shows the first as its suite.
    testcase = ET.SubElement(suite, "testcase", {"classname": name, "name": check, "time": "0"})
    if outcome == "system-out":
        ET.SubElement(testcase, outcome).text = full
    elif outcome:
        ET.SubElement(testcase, outcome, {"type": "fail" if outcome == "failure" else "skipped", "message": why}).text = full
