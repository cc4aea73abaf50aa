# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The report for a terminal: worst first, a line a problem with its fix below or, on a wide one, beside it; totals last."""

from __future__ import annotations

import itertools
import operator
import typing as t
from collections.abc import Iterable, Mapping

from ..model import FIX_MOST, OUTCOMES, Level
from . import columns, folding, offers, places

clean, count, names = folding.clean, folding.count, folding.names

LEVELS = {str(level): level for level in Level}
NOT_EXAMINED = {
    "batch": "not examined yet, since their batch has not come",
    "limit": "not examined, since --limit leaves them out; only tried",
    "peer": "not examined, since another run reads them (preflight_peers); only tried",
}
WAIVERS = {"unneeded": "waivers that are not needed any more, since all is well there",
           "waiting": "waivers that wait, since what they are about was not looked at"}
CHANGES = {"new": "new", "worse": "worse", "better": "better", "fixed": "fixed", "eased": "eased by a change in what is asked",
           "counting": "not waived any more", "waived": "newly waived", "uncovered": "not looked at before",
           "hidden": "not looked at this time"}
HOSTS_MOST = 24  # names and ranges of the machines in the head; -v tells all
SKIPPED_MOST = 30
NAMELESS = "waivers"  # the check that tells of waivers, and so of no machine
FEW, MANY = 4, 10  # different problems of one check that are told each by itself, and with everything

OTHER_FIXES = "Each has a fix of its own: look at one machine by itself (--limit)."
OTHER_REASONS = "waived, each for a reason of its own (-v shows them)"

Report = Mapping[str, t.Any]
Finding = Mapping[str, t.Any]
Block = tuple[str, str, list[folding.Problem]]  # a check, a fix, and what it mends


def lines(report: Report, width: int = 80, everything: bool = False, fit: bool = False) -> Iterable[columns.Line]:
    """What to show, line by line. With ``everything`` each ok is told too, and the waiver of each problem; with ``fit`` what would fit
    where, also if nothing is short of room."""
    findings = list(with_names_folded(report))
    counting = [finding for finding in findings if not finding.get("waived")]
    waived = [{**finding, "fix": _decided(finding["waived"])} for finding in findings if finding.get("waived")]
    most = MANY if everything else FEW
    shown = [(level, block) for level in ("fail", "warn", "ok") if everything or level != "ok" for block in grouped(counting, level, most)]
    reasons = len(waived) if everything else FEW
    aside = [(level, block) for level in ("fail", "warn") for block in grouped(waived, level, most, reasons, OTHER_REASONS)]
    layout = columns.Layout(width, [(clean(check), _told(check, problem)) for level, (check, fix, problems) in (*shown, *aside)
                            for problem in problems], side_by_side=not everything)
    until = offers.until(report) if everything else ""
    offered = {check for level, (check, fix, problems) in shown if until and level != "ok" and offers.can_be_waived(check)}

    yield None, "", ""
    yield from layout.plain("", _about(report, len(report["machines"]) if everything else HOSTS_MOST))
    for level, (check, fix, problems) in shown:
        yield from layout.block(f"{level.upper():<{columns.LEVEL_WIDTH}}", level, clean(check), [
            (_told(check, problem), offers.waiver(check, problem[1], until) if check in offered and level != "ok" else ())
            for problem in problems], clean(fix, FIX_MOST), "-> ")
    if aside:
        yield from layout.plain(columns.NOTE, "waived, and so not counted:")
    for level, (check, fix, problems) in aside:
        yield from layout.block(f"{'':<{columns.LEVEL_WIDTH}}{level:<{columns.LEVEL_WIDTH}}", None, clean(check), [
            (_told(check, problem), ()) for problem in problems], clean(fix, FIX_MOST))
    for note in _notes(report, bool(offered), everything):
        yield from layout.plain(columns.NOTE, note)
    yield from _changes(report.get("changes"), layout)
    if fit or places.is_short(report):
        yield from places.lines(report, layout, fit or everything)
    counts = report["counts"]
    if not everything and counts["ok"]:
        yield "ok", f"{'OK':<{columns.LEVEL_WIDTH}}{count(counts['ok'], 'check')} (-v shows each)", ""
    yield None, "", ""
    yield report["worst"], totals(report), ""


def totals(report: Report) -> str:
    counts, machines, waived = report["counts"], report["machines"], report.get("waived", 0)
    return (f"{count(len(machines), 'machine')}, {count(sum(counts.values()) + waived, 'check')}: "
            f"{counts['fail']} fail, {counts['warn']} warn, {counts['ok']} ok{f', {waived} waived' if waived else ''}.")


def verdict(report: Report, fail_on: str) -> str:
    """Why the play stops, in one short line."""
    bad = [machine["machine"] for machine in report["machines"] if LEVELS[machine["worst"]] >= LEVELS[fail_on]]
    together = [finding["check"] for finding in report["findings"]
                if finding["machine"] is None and not finding.get("waived") and LEVELS[finding["level"]] >= LEVELS[fail_on]]
    machines, checks = count(len(report["machines"]), "machine"), folding.several(list(dict.fromkeys(together)))
    waived = f" {count(report['waived'], 'finding')} waived." if report.get("waived") else ""
    if not bad:
        return f"Preflight: {machines} not ready{together_of(report)}: {checks}.{waived}"
    return f"Preflight: {len(bad)} of {machines} not ready: {names(bad)}{f'; all of them together: {checks}' if checks else ''}.{waived}"


def together_of(report: Report) -> str:
    """What stands behind "not ready" where each machine by itself is; one alone is not together."""
    return " together" if len(report["machines"]) > 1 else ""


# -------------------------------------------------------------------------------------------------------- grouping
def order(findings: Iterable[Finding]) -> list[str]:
    """The checks in the order in which the machines' findings come; those of all machines together last."""
    by_machine = itertools.groupby(findings, operator.itemgetter("machine"))
    found: list[str] = []
    # Most machines have had the same ones.
    for together, checks in dict.fromkeys((machine is None, tuple(finding["check"] for finding in its)) for machine, its in by_machine):
        before = len(found) - 1 if together else -1
        for check in checks:
            if check not in found:  # behind the one that this machine has before it
                found.insert(before + 1, check)
            before = found.index(check)
    return found


def grouped(
    findings: Iterable[Finding], level: str, most: int = FEW, fixes_most: int | None = None, others: str = OTHER_FIXES,
) -> list[Block]:
    """Findings of one level as (check, fix, [(detail, machines)]): equal problems once, those with one fix together. What is about all
    machines together has none. More than ``most`` of one check are told as one where they differ in figures only; see folding.alike.
    So are fixes, and ``others`` stands for those of the rest.
    """
    findings = list(findings)
    groups: dict[str, dict[str, dict[tuple[str, bool], list[str]]]] = {}
    for finding in findings:
        if finding["level"] == level:
            details, machine = groups.setdefault(finding["check"], {}).setdefault(finding["fix"], {}), finding["machine"]
            details.setdefault((finding["detail"], machine is None), []).extend([machine] if machine else [])
    return [(check, fix, folding.alike(problems, most)) for check in order(findings) if check in groups for fix, problems in _few([
        (fix, [(detail, machines) for (detail, together), machines in details.items()]) for fix, details in groups[check].items()],
        fixes_most or most, others)]


def _few(fixes: list[tuple[str, list[folding.Problem]]], most: int, others: str) -> list[tuple[str, list[folding.Problem]]]:
    """Fixes that differ only in figures as one, where there are more than ``most``; and if there still are, the rest as one."""
    if len(fixes) <= most:
        return fixes
    kinds: dict[tuple[str, ...], list[tuple[str, list[folding.Problem]]]] = {}
    for fix, problems in fixes:
        kinds.setdefault(folding.shape(fix), []).append((fix, problems))
    merged = [(folding.in_one([fix for fix, problems in kind]), [problem for fix, problems in kind for problem in problems])
              for kind in kinds.values()]
    if len(merged) <= most:
        return merged
    rest = [problem for fix, problems in merged[most - 1:] for problem in problems]
    return [*merged[:most - 1], (others, rest)]


def with_names_folded(report: Report, longer: int = 0) -> Iterable[Finding]:
    """The findings, of machines that do not reach many others with the names of these folded where the text is ``longer``."""
    closed: dict[str, list[Mapping[str, t.Any]]] = {}
    for call in report.get("not_reached", ()):
        if call["of"] == "reach":
            closed.setdefault(call["machine"], []).append(call)
    others = len(report["machines"]) + len(report.get("not_examined", ())) - 1
    for finding in report["findings"]:
        calls = closed.get(finding["machine"], ())
        if finding["check"] == "network" and finding["detail"].startswith("does not reach ") and len(calls) > 2 \
                and len(finding["detail"]) > longer:
            by_way: dict[tuple[int, str], list[str]] = {}
            for call in calls:
                by_way.setdefault((call["port"], call["outcome"]), []).append(call["peer"])
            told = [f"{f'any of the {others} others' if len(peers) == others else names(peers)} "
                    f"(port {port}: {OUTCOMES.get(outcome, outcome)})" for (port, outcome), peers in by_way.items()]
            yield {**finding, "detail": f"does not reach {', '.join(told)}"}
        else:
            yield finding


# ----------------------------------------------------------------------------------------------------------- words
def _told(check: str, problem: folding.Problem) -> str:
    detail, machines = problem
    who = names(machines) if machines else "" if check == NAMELESS else "all machines"
    return f"{who}: {clean(detail)}" if who else clean(detail)


def _decided(waived: Mapping[str, t.Any]) -> str:
    until = f"until {waived['until']}" if waived["until"] else "for good"
    return f"waived {until}: {waived['reason']}"


# ----------------------------------------------------------------------------------------------------------- notes
def _about(report: Report, most: int) -> str:
    about = report.get("about") or {}
    if not about.get("at"):
        return ""
    profile = f", profile {clean(about['profile'])}" if about.get("profile") else ""
    return (f"Preflight of {_when(about['at'])} by llmgw.preflight {clean(about.get('version'))}, ansible-core "
            f"{clean(about.get('ansible'))}{profile}: {names((machine['machine'] for machine in report['machines']), most)}")


def _when(at: t.Any) -> str:
    return clean(at).replace("T", " ", 1)


def _notes(report: Report, waivers: bool, everything: bool) -> Iterable[str]:
    for why, words in NOT_EXAMINED.items():
        waiting = [entry["machine"] for entry in report.get("not_examined", ()) if entry["why"] == why]
        if waiting:
            yield f"{words}: {names(waiting)}"
    sampled = report.get("sampled")
    if sampled:
        yield (f"not each machine tried each other one, since there are {sampled['machines']} (preflight_limits.all_pairs): it tried those "
               f"that it needs, and {sampled['others']} by lot (seed {clean(sampled['seed'])})")
    without = [machine["machine"] for machine in report["machines"] if not machine["roles"]]
    if without:
        yield (f"no role, so nothing is asked of CPUs, memory, disk and ports: {names(without)} "
               "(put them in a group that is called like a role, or set preflight_roles)")
    if report.get("skipped"):
        most = len(report["skipped"]) if everything else SKIPPED_MOST
        yield f"skipped (preflight_only, preflight_skip): {folding.several(report['skipped'], most)}"
    for state, words in WAIVERS.items():
        told: dict[str, list[str]] = {}
        for waiver in report.get("waivers", ()):
            if waiver["state"] == state:
                told.setdefault(clean(waiver["check"]), []).extend(waiver["machine"])
        if told:
            yield f"{words}: {'; '.join(f'{check} on {names(machines)}' for check, machines in told.items())}"
    if waivers:
        yield "a line that begins with - is a waiver to copy: put it into preflight_waivers and fill in the reason"


def _changes(changes: Mapping[str, t.Any] | None, layout: columns.Layout) -> Iterable[columns.Line]:
    if not changes:
        return
    since, remains = _when(changes["since"]), count(changes["remains"], "problem")
    kinds = [kind for kind in CHANGES if changes.get(kind)]
    if not kinds:
        yield from layout.plain(columns.NOTE, f"since the report of {since} nothing changed; {remains} as before")
        return
    yield from layout.plain(columns.NOTE, f"since the report of {since}; {remains} as before:")
    for kind in kinds:
        told = "; ".join(f"{clean(check)}{f' on {names(on, FEW)}' if on else ''}" for check, on in by_check(changes[kind]))
        number, words = f"{len(changes[kind])} {kind}", "" if CHANGES[kind] == kind else f" ({CHANGES[kind]})"
        yield from layout.plain(f"{'':<{columns.LEVEL_WIDTH}}{number:<13} ", told + words)


def by_check(changed: Iterable[Mapping[str, t.Any]]) -> Iterable[tuple[str, list[str]]]:
    """Each check with its machines, and by itself, without any, where it is about all of them together."""
    machines: dict[tuple[str, bool], list[str]] = {}
    for at in changed:
        machines.setdefault((at["check"], at["machine"] is None), []).extend([at["machine"]] if at["machine"] else [])
    return ((check, on) for (check, together), on in machines.items())
