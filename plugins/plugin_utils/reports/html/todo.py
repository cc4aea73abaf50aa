# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What must be done: most serious first, equal problems once, those with one fix together."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Mapping, Sequence

from ...model import FIX_MOST
from .. import offers
from ..text import NAMELESS, order
from .words import Finding, clean, names, state

WAIVERS_MOST = 1000  # that the page offers: where each machine has its own problems, they would be much of its size


class Line(t.NamedTuple):
    """One problem, and the machines that have it."""

    who: str
    detail: str
    tag: str  # what changed since the earlier report


class Part(t.NamedTuple):
    """Problems with one fix."""

    fix: str
    lines: Sequence[Line]
    machines: Sequence[str]  # not cleaned
    waiver: str  # "" where there can be none
    number: int  # counted through the whole page


class Job(t.NamedTuple):
    level: str
    check: str
    parts: Sequence[Part]
    machines: int  # 0: about all of them together
    together: bool


def jobs(report: Mapping[str, t.Any]) -> list[Job]:
    """What counts. What is waived is told elsewhere."""
    changed = report.get("changes") or {}
    tags = {(at["machine"], at["check"]): tag for tag in ("new", "worse") for at in changed.get(tag, ())}
    until = offers.until(report)
    made: list[Job] = []
    number = 0
    for level in ("fail", "warn"):
        for check, fixes in _grouped(report["findings"], level):
            parts = []
            for fix, details in fixes.items():
                lines = [Line("" if check == NAMELESS else names(machines), clean(detail), _tag(machines, check, tags))
                         for detail, machines in details.items()]
                concerned = list(dict.fromkeys(machine for machines in details.values() for machine in machines if machine is not None))
                offered = until and offers.can_be_waived(check) and number < WAIVERS_MOST
                waiver = " ".join(offers.waiver(check, concerned, until)) if offered else ""
                parts.append(Part(clean(fix, FIX_MOST), lines, concerned, waiver, number))
                number += 1
            everyone = {machine for details in fixes.values() for machines in details.values() for machine in machines}
            made.append(Job(level, clean(check), parts, len(everyone - {None}), None in everyone))
    return made


def waived(report: Mapping[str, t.Any]) -> list[dict[str, str]]:
    """What would count, and the reason why it does not."""
    found: dict[tuple[str, ...], list[str | None]] = {}
    for finding in report["findings"]:
        if finding.get("waived"):
            its = finding["waived"]
            told = (clean(text) for text in (finding["level"], finding["check"], finding["detail"], its["reason"], its.get("until") or ""))
            found.setdefault(tuple(told), []).append(finding["machine"])
    return [dict(zip(("level", "check", "detail", "reason", "until", "who"), (*told, names(machines)), strict=True))
            for told, machines in sorted(found.items(), key=lambda item: item[0][0] != "fail")]


def _grouped(findings: Iterable[Finding], level: str) -> list[tuple[str, dict[str, dict[str, list[str | None]]]]]:
    """(check, fix -> detail -> machines)."""
    findings = list(findings)
    groups: dict[str, dict[str, dict[str, list[str | None]]]] = {}
    for finding in findings:
        if state(finding) == level:
            details = groups.setdefault(finding["check"], {}).setdefault(finding["fix"], {})
            details.setdefault(finding["detail"], []).append(finding["machine"])
    return [(check, groups[check]) for check in order(findings) if check in groups]


def _tag(machines: Sequence[str | None], check: str, tags: Mapping[tuple[str | None, str], str]) -> str:
    """new or worse, and of how many where it is not all of them."""
    for tag in ("new", "worse"):
        hit = sum(tags.get((machine, check)) == tag for machine in machines)
        if hit:
            return tag if hit == len(machines) else f"{tag} on {hit}"
    return ""
