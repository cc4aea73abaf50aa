# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Findings that somebody has decided to live with: they stay visible, and no longer count. Pure.

A waiver is a mapping of check, machine (a list of patterns), reason, and until (the last day on which it holds, or None); see
settings.waivers. It is used; unneeded, since what it is about is ok; waiting, for what was not looked at this time; expired; or it matches
nothing at all (unmatched). That is told only where it is certain: who takes a waiver out that was only not needed this time, misses it. So
is a pattern that no known machine matches, though others of its list do.
"""

from __future__ import annotations

import dataclasses
import datetime
import fnmatch
import typing as t
from collections.abc import Mapping, Sequence

from . import own, parts
from .model import NOT_WAIVED, Finding, Level, Told, several, warn

ID = "waivers"

FIX_EXPIRED = "Mend what it is about, give it a later until in preflight_waivers, or take it out."
FIX_UNMATCHED = "Correct its check or machine in preflight_waivers, or take it out."
FIX_UNKNOWN = "Correct it in machine in preflight_waivers, or take it out there."

Waiver = Mapping[str, t.Any]


class Patterns(list[str]):
    """Of machines. Most are names, and a list may be of all there are: these are found at once."""

    def __init__(self, given: t.Iterable[str]) -> None:
        super().__init__(given)
        self.names = frozenset(self)
        self.globs = [pattern for pattern in self if any(sign in pattern for sign in "*?[")]

    def match(self, machine: str) -> bool:
        return machine in self.names or any(fnmatch.fnmatchcase(machine, pattern) for pattern in self.globs)

    def match_any(self, machines: t.Collection[str]) -> bool:
        return not self.names.isdisjoint(machines) or bool(self.globs) and any(map(self.match, machines))


@dataclasses.dataclass(frozen=True)
class LookedAt:
    """What was looked at, and what was not."""

    checks: t.Collection[str]  # the ids that are known, but for those of findings of the user's own
    between: t.Collection[str]  # those of them that tell of a machine only beside others
    left_out: t.Collection[str]
    read: t.Collection[str]  # machines
    absent: t.Collection[str]  # of the same set, but not read, or not examined
    elsewhere: t.Collection[str] = ()  # that are known, and not of this set


def apply(
    findings: Sequence[Finding], waivers: Sequence[Waiver], looked_at: LookedAt, today: datetime.date,
) -> tuple[list[Finding], list[dict[str, t.Any]], list[Told]]:
    """The findings, with those that are waived marked; each waiver with its state; and what is to be said of waivers."""
    waivers = [{**waiver, "machine": Patterns(waiver["machine"])} for waiver in waivers]
    known = {"*", *looked_at.read, *looked_at.absent, *looked_at.elsewhere}
    holding: dict[str, list[Waiver]] = {}
    for waiver in waivers:
        if not _is_over(waiver, today):
            holding.setdefault(waiver["check"], []).append(waiver)
    by_check: dict[str, list[Finding]] = {waiver["check"]: [] for waiver in waivers}
    for finding in findings:
        if finding.check in by_check:
            by_check[finding.check].append(finding)
    states, told = [], list[Told]()
    for waiver in waivers:
        of_check = by_check[waiver["check"]]
        state = "expired" if _is_over(waiver, today) else _state(waiver, of_check, looked_at)
        states.append({**waiver, "state": state})
        what = f"{waiver['check']} on {several(waiver['machine'])}"
        if state == "expired":
            told.append((None, warn(f"{what} ran out on {waiver['until']} and holds no longer ({waiver['reason']})", FIX_EXPIRED)))
        elif state == "unmatched":
            why = _why(waiver, of_check, looked_at)
            told.append((None, warn(f"{what} matches nothing: {why} ({waiver['reason']})", FIX_UNMATCHED)))
        unknown = [] if state == "expired" else _unknown(waiver["machine"], known)
        if unknown:
            told.append((None, warn(f"{waiver['check']} on {several(unknown)}: no machine that is known is called so ({waiver['reason']})",
                                    FIX_UNKNOWN)))
    return [_waived(finding, holding[finding.check]) if finding.check in holding else finding for finding in findings], states, told


def _waived(finding: Finding, waivers: Sequence[Waiver]) -> Finding:
    if finding.level == Level.OK or finding.check in NOT_WAIVED:
        return finding
    for waiver in waivers:
        if _is_about(waiver, finding.machine):
            return finding._replace(waived={"reason": waiver["reason"], "until": waiver["until"]})
    return finding


def _is_about(waiver: Waiver, machine: str | None) -> bool:
    """What is about all machines together is matched by * only."""
    if machine is None:
        return "*" in waiver["machine"]
    return bool(waiver["machine"].match(machine))


def _unknown(patterns: Patterns, known: t.Collection[str]) -> list[str]:
    """Those that no machine matches, where there are others; of one without these it is told that it matches nothing."""
    found = [pattern for pattern in patterns if pattern not in known and not Patterns([pattern]).match_any(known)]
    return found if len(found) < len(patterns) else []


def _is_over(waiver: Waiver, today: datetime.date) -> bool:
    return waiver["until"] is not None and datetime.date.fromisoformat(waiver["until"]) < today


def _state(waiver: Waiver, findings: Sequence[Finding], looked_at: LookedAt) -> str:
    """``findings`` are those of its check."""
    check = waiver["check"]
    levels = [finding.level for finding in findings if _is_about(waiver, finding.machine)]
    if levels:
        return "used" if max(levels) > Level.OK else "unneeded"
    called = check if check in looked_at.checks else own.ID
    if called in looked_at.left_out or waiver["machine"].match_any(looked_at.absent):
        return "waiting"
    is_here = waiver["machine"].match_any(looked_at.read)
    if check == parts.ID and is_here:  # not each run's to tell, and the judge of several is silent where all is well
        return "waiting"
    if (check in looked_at.checks or not is_here) and waiver["machine"].match_any(looked_at.elsewhere):
        return "waiting"
    if check not in looked_at.checks and is_here and findings:
        return "unneeded"  # tasks of the user's own need not say that all is well
    if check in looked_at.between:
        if looked_at.absent or len(looked_at.read) < 2:
            return "waiting"
        # It names a machine only where something is wrong there.
        if is_here and findings and not _of_all(findings):
            return "unneeded"
    return "unmatched"


def _of_all(findings: Sequence[Finding]) -> bool:
    return any(finding.machine is None and finding.level > Level.OK for finding in findings)


def _why(waiver: Waiver, findings: Sequence[Finding], looked_at: LookedAt) -> str:
    if not findings and waiver["check"] not in (*looked_at.checks, parts.ID):
        return "there is no such check, and no task left a finding of that name"
    if not waiver["machine"].match_any(looked_at.read):
        return "there is no such machine"
    if any(finding.machine is None for finding in findings):
        return "it tells of all machines together, which * alone is for"
    return "it has nothing to tell there"
