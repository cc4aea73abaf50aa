# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The report for a terminal: worst first, a line a problem with its fix below, totals last."""

from __future__ import annotations

import textwrap
import typing as t
from collections.abc import Iterable, Sequence

from ..model import Level

LEVELS = {str(level): level for level in Level}
NOT_EXAMINED = {
    "batch": "not examined yet, since their batch has not come",
    "limit": "not examined, since --limit leaves them out; only tried",
}
NAMES_MOST = 8  # machines named in one line before the rest is only counted
TEXT_MOST = 400  # characters of one detail; what comes from a machine may be of any length
CHECK_WIDTH = 13  # the longest id (architecture) and a space

Line = tuple[str | None, str]  # the level whose colour it takes, and the text


def lines(report: dict[str, t.Any], width: int = 80, everything: bool = False, fit: bool = False) -> Iterable[Line]:
    """What to show, line by line. With ``everything`` each ok is told too."""
    width = max(60, min(width, 140))
    yield None, ""
    for level in ("fail", "warn", "ok") if everything else ("fail", "warn"):
        for check, fix, problems in grouped(report["findings"], level):
            head = f"{level.upper():<6}{check:<{CHECK_WIDTH}}"
            for detail, machines in problems:
                for text in _wrapped(head, f"{names(machines)}: {clean(detail)}", width):
                    yield level, text
                head = " " * len(head)
            if fix:
                for text in _wrapped(" " * len(head), f"-> {clean(fix)}", width, "   "):
                    yield None, text
    for note in _notes(report):
        for text in _wrapped(f"{'note':<6}", note, width):
            yield None, text
    counts = report["counts"]
    if not everything and counts["ok"]:
        yield "ok", f"{'OK':<6}{_count(counts['ok'], 'check')} (-v shows each)"
    yield None, ""
    yield report["worst"], totals(report)


def totals(report: dict[str, t.Any]) -> str:
    counts, machines = report["counts"], report["machines"]
    checks = sum(counts.values())
    return (f"{_count(len(machines), 'machine')}, {_count(checks, 'check')}: "
            f"{counts['fail']} fail, {counts['warn']} warn, {counts['ok']} ok.")


def verdict(report: dict[str, t.Any], fail_on: str) -> str:
    """Why the play stops, in one short line."""
    bad = _machines_at(report, fail_on)
    together = [finding["check"] for finding in report["findings"]
                if finding["machine"] is None and LEVELS[finding["level"]] >= LEVELS[fail_on]]
    machines, checks = _count(len(report["machines"]), "machine"), ", ".join(dict.fromkeys(together))
    if not bad:
        return f"Preflight: {machines} not ready together: {checks}."
    return f"Preflight: {len(bad)} of {machines} not ready: {names(bad)}{f'; all of them together: {checks}' if checks else ''}."


def grouped(findings: Iterable[dict[str, t.Any]], level: str) -> list[tuple[str, str, list[tuple[str, list[str]]]]]:
    """Findings of one level as (check, fix, [(detail, machines)]): equal problems once, those with one fix together.

    The checks come in the order in which the machines' findings do.
    """
    order: list[str] = []
    groups: dict[str, dict[str, dict[str, list[str]]]] = {}
    machine, before = "", -1
    for finding in findings:
        if finding["machine"] != machine:  # what is about all of them comes last
            machine, before = finding["machine"], -1 if finding["machine"] else len(order) - 1
        if finding["check"] not in groups:  # behind the one that this machine has before it
            order.insert(before + 1, finding["check"])
            groups[finding["check"]] = {}
        before = order.index(finding["check"])
        if finding["level"] == level:
            details = groups[finding["check"]].setdefault(finding["fix"], {})
            details.setdefault(finding["detail"], []).append(finding["machine"] or "all machines")
    return [(check, fix, list(details.items())) for check in order for fix, details in groups[check].items()]


def names(machines: Sequence[str]) -> str:
    told = ", ".join(clean(machine, 60) for machine in machines[:NAMES_MOST])
    return told if len(machines) <= NAMES_MOST else f"{told} and {len(machines) - NAMES_MOST} more"


def clean(text: t.Any, most: int = TEXT_MOST) -> str:
    """Text of a machine made harmless for a terminal: one line, nothing that steers it, no more than ``most`` characters."""
    text = str(text)
    cut = text[:most] + "..." if len(text) > most else text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in cut)


def _notes(report: dict[str, t.Any]) -> Iterable[str]:
    for why, words in NOT_EXAMINED.items():
        waiting = [entry["machine"] for entry in report.get("not_examined", ()) if entry["why"] == why]
        if waiting:
            yield f"{words}: {names(waiting)}"
    sampled = report.get("sampled")
    if sampled:
        yield (f"not each machine tried each other one, since there are {sampled['machines']} (preflight_limits.all_pairs): it tried those "
               f"that it needs, and {sampled['others']} by lot (seed {sampled['seed']})")
    without = [machine["machine"] for machine in report["machines"] if not machine["roles"]]
    if without:
        yield (f"no role, so nothing is asked of CPUs, memory, disk and ports: {names(without)} "
               "(put them in a group that is called like a role, or set preflight_roles)")


def _machines_at(report: dict[str, t.Any], level: str) -> list[str]:
    return [machine["machine"] for machine in report["machines"] if LEVELS[machine["worst"]] >= LEVELS[level]]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _wrapped(head: str, text: str, width: int, hang: str = "") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * len(head) + hang,
                         break_on_hyphens=False) or [head]
