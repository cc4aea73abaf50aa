# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The verdict on top of the page, and what is told at its end."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Mapping

from ..text import CHANGES, together_of
from .words import NAME_MOST, clean, count, names

Report = Mapping[str, t.Any]

STATES = {
    "used": "used",
    "unneeded": "not needed: what it is about is ok",
    "waiting": "waits: what it is about was not looked at",
    "expired": "has run out, and holds no longer",
    "unmatched": "matches nothing",
}
NOT_EXAMINED = {"batch": ", since their batch has not come", "limit": ", since --limit leaves them out; it was only tried who reaches them",
                "peer": ", since another run reads them (preflight_peers); it was only tried who reaches them"}


class Share(t.NamedTuple):
    """A part of the bar, of a hundred."""

    level: str
    number: int
    x: float
    width: float


def verdict(report: Report) -> str:
    machines = report["machines"]
    bad = sum(machine["worst"] == "fail" for machine in machines)
    if bad:
        who = clean(machines[0]["machine"], NAME_MOST) if len(machines) == 1 else f"{bad:,} of {count(len(machines), 'machine')}"
        return f"{who} {'is' if bad == 1 else 'are'} not ready"
    if report["worst"] == "fail":
        return f"{count(len(machines), 'machine')}, not ready{together_of(report)}"
    ready = f"{count(len(machines), 'machine')} ready"
    return ready if report["worst"] == "ok" else f"{ready}, with {count(report['counts']['warn'], 'warning')}"


def shares(report: Report) -> list[Share]:
    """How many machines are at each level at worst."""
    found = Counter(machine["worst"] for machine in report["machines"])
    made, x = [], 0.0
    for level in ("fail", "warn", "ok"):
        if found[level]:
            width = 100 * found[level] / len(report["machines"])
            made.append(Share(level, found[level], round(x, 2), round(width, 2)))
            x += width
    return made


def changes(report: Report) -> dict[str, t.Any] | None:
    """since, the numbers, and of each kind the checks with their machines."""
    found = report.get("changes")
    if not found:
        return None
    kinds = {}
    for kind, word in CHANGES.items():
        by_check: dict[str, list[str | None]] = {}
        for at in found.get(kind, ()):
            by_check.setdefault(at["check"], []).append(at["machine"])
        kinds[word] = [(clean(check), names(machines)) for check, machines in by_check.items()]
    return {"since": clean(found["since"]), "kinds": kinds, "remains": found["remains"],
            "numbers": {word: len(found.get(kind, ())) for kind, word in CHANGES.items()}}


def waivers(report: Report) -> list[dict[str, str]]:
    return [{"check": clean(waiver["check"]), "on": names(waiver["machine"]), "reason": clean(waiver["reason"]),
             "until": clean(waiver.get("until") or ""), "state": STATES.get(waiver["state"], clean(waiver["state"])),
             "level": "warn" if waiver["state"] in ("expired", "unmatched") else ""} for waiver in report["waivers"]]


def notes(report: Report) -> list[tuple[str, str, str]]:
    """What was not looked at, or not wholly, and why."""
    found = [("Not examined", why, [entry["machine"] for entry in report["not_examined"] if entry["why"] == kind])
             for kind, why in NOT_EXAMINED.items()]
    found.append(("Without a role", ", so nothing is asked of their CPUs, memory, disk and ports",
                  [machine["machine"] for machine in report["machines"] if not machine["roles"]]))
    return [(what, why, names(machines)) for what, why, machines in found if machines]
