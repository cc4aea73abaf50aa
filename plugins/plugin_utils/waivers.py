# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Findings that somebody has decided to live with: they stay visible, and no longer count. Pure.

A waiver is a mapping of check, machine (a pattern, or a list of them), reason, and until (the last day on which it holds, or None); see
settings.waivers.
"""

from __future__ import annotations

import datetime
import fnmatch
import typing as t
from collections.abc import Mapping, Sequence

from .model import Finding, Level, Told, several, warn

ID = "waivers"
NEVER = ("login", ID)  # a machine that was not read may be anything

FIX_EXPIRED = "Mend what it is about, give it a later until in preflight_waivers, or take it out."
FIX_UNMATCHED = "Correct its check or machine in preflight_waivers, or take it out."

Waiver = Mapping[str, t.Any]


def apply(
    findings: Sequence[Finding], waivers: Sequence[Waiver], unread: t.Collection[str], skipped: t.Container[str], today: datetime.date,
) -> tuple[list[Finding], list[dict[str, t.Any]], list[Told]]:
    """The findings, with those that are waived marked; each waiver with its state; and what is to be said of waivers.

    ``unread`` are the machines of the set of which there are no findings to match. The state is used, unneeded (what it is about is
    ok), waiting (for what was not read or was skipped), expired or unmatched.
    """
    if not waivers:
        return list(findings), [], []
    holding = [waiver for waiver in waivers if not _is_over(waiver, today)]
    waived = [_waived(finding, holding) for finding in findings]
    states = [{**waiver, "state": _state(waiver, findings, unread, skipped, today)} for waiver in waivers]
    told: list[Told] = []
    for waiver in states:
        what = f"{waiver['check']} on {several(waiver['machine'])}"
        if waiver["state"] == "expired":
            told.append((None, warn(f"{what} ran out on {waiver['until']} and holds no longer ({waiver['reason']})", FIX_EXPIRED)))
        elif waiver["state"] == "unmatched":
            told.append((None, warn(f"{what} matches nothing ({waiver['reason']})", FIX_UNMATCHED)))
    return waived, states, told


def _waived(finding: Finding, waivers: Sequence[Waiver]) -> Finding:
    if finding.level == Level.OK or finding.check in NEVER:
        return finding
    for waiver in waivers:
        if _matches(waiver, finding):
            return finding._replace(waived={"reason": waiver["reason"], "until": waiver["until"]})
    return finding


def _matches(waiver: Waiver, finding: Finding) -> bool:
    return bool(waiver["check"] == finding.check) and _is_about(waiver, finding.machine)


def _is_about(waiver: Waiver, machine: str | None) -> bool:
    """What is about all machines together is matched by * only."""
    return any(pattern == "*" if machine is None else fnmatch.fnmatchcase(machine, pattern) for pattern in waiver["machine"])


def _is_over(waiver: Waiver, today: datetime.date) -> bool:
    return waiver["until"] is not None and datetime.date.fromisoformat(waiver["until"]) < today


def _state(waiver: Waiver, findings: Sequence[Finding], unread: t.Collection[str], skipped: t.Container[str], today: datetime.date) -> str:
    if _is_over(waiver, today):
        return "expired"
    levels = [finding.level for finding in findings if _matches(waiver, finding)]
    if levels:
        return "used" if max(levels) > Level.OK else "unneeded"
    if waiver["check"] in skipped or any(_is_about(waiver, machine) for machine in unread):
        return "waiting"
    return "unmatched"
