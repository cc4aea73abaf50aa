# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which machine would fit which role? Each machine is judged for the room that each role needs, not only for its own roles. Pure."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Mapping, Sequence

from . import checks
from .model import Asked, Level, Member, Need

FITS, SHORT, NO = "fits", "short", "no"
WORDS = {Level.OK: FITS, Level.WARN: SHORT, Level.FAIL: NO}


def fit(members: Sequence[Member], needs: Mapping[str, Need], asked: Asked) -> dict[str, t.Any]:
    """machines: of each that was read, each role with whether it fits (fits, short, no) and what is short of it; moves: of each machine
    without the room for a role of its own, the others that have it."""
    alike: dict[str, dict[str, t.Any]] = {}  # many machines have the same room
    fits: dict[str, dict[str, t.Any]] = {}
    for member in members:
        room = {name: member.record[name] for name in checks.ROOM_SECTIONS if name in member.record}
        if repr(room) not in alike:
            alike[repr(room)] = {role: _fit(room, dataclasses.replace(asked, need=need)) for role, need in needs.items()}
        fits[member.name] = alike[repr(room)]
    moves = [
        {"machine": member.name, "role": role, "to": to}
        for member in members for role in member.roles if fits[member.name][role]["fits"] == NO
        if (to := [other.name for other in members if role not in other.roles and fits[other.name][role]["fits"] == FITS])
    ]
    return {"machines": [{"machine": name, "roles": roles} for name, roles in fits.items()], "moves": moves}


def _fit(room: Mapping[str, t.Any], asked: Asked) -> dict[str, t.Any]:
    level, short = Level.OK, []
    for check in checks.ROOM:
        verdict = checks.verdict_of(check, room, asked)
        # To be held to less than the machine shows is no lack while it is enough.
        if verdict is None or verdict.level == Level.OK or check is checks.limits and verdict.level == Level.WARN:
            continue
        level = max(level, verdict.level)
        short.append({"check": check.ID, "detail": verdict.detail})
    return {"fits": WORDS[level], "short": short}
