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
TO_MOST = 10  # machines that one move names: with many on both sides, their product would be most of the report


def fit(members: Sequence[Member], needs: Mapping[str, Need], asked: Asked) -> dict[str, t.Any]:
    """machines: of each that was read, each role with whether it fits (fits, short, no) and what is short of it; moves: of each machine
    that lacks the room for a role of its own, up to TO_MOST others that have it, those with the fewest roles first."""
    asked_for = {role: dataclasses.replace(asked, need=need) for role, need in needs.items()}
    alike: dict[str, dict[str, t.Any]] = {}  # many machines have the same room
    rooms, fits = {}, {}
    for member in members:
        rooms[member.name] = room = _room(member.record)
        key = repr(room)
        if key not in alike:
            alike[key] = {role: _fit(room, its) for role, its in asked_for.items()}
        fits[member.name] = alike[key]
    by_roles = sorted(members, key=lambda member: len(member.roles))
    able = {role: [one.name for one in by_roles if role not in one.roles and fits[one.name][role]["fits"] == FITS][:TO_MOST]
            for role in needs}
    moves = [
        {"machine": member.name, "role": role, "to": able[role]}
        for member in members for role in member.roles
        if able[role] and fits[member.name][role]["fits"] == NO
        and _is_mended_by_a_move(rooms[member.name], asked_for[role], dataclasses.replace(asked, need=Need()))
    ]
    return {"machines": [{"machine": name, "roles": roles} for name, roles in fits.items()], "moves": moves}


def _room(record: Mapping[str, t.Any]) -> dict[str, t.Any]:
    """What a machine has, and of what it could not be read, nothing else: machines that differ in other things have the same room."""
    room = {name: record[name] for name in checks.ROOM_SECTIONS if name in record}
    if isinstance(room.get("unmeasured"), Mapping):
        room["unmeasured"] = {name: reason for name, reason in room["unmeasured"].items() if name in checks.ROOM_SECTIONS}
    return room


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


def _is_mended_by_a_move(room: Mapping[str, t.Any], asked: Asked, of_nothing: Asked) -> bool:
    """Whether the machine lacks something because of this role: not where a figure could not be read, or where the role would have room
    but for models that have none even without it."""
    if not _lacks(room, asked):
        return False
    without_models = {name: value for name, value in room.items() if name != "serves"}
    return _lacks(without_models, asked) or not _lacks(room, of_nothing)


def _lacks(room: Mapping[str, t.Any], asked: Asked) -> bool:
    """Whether a figure that was read is too small."""
    verdicts = [(check, checks.verdict_of(check, room, asked)) for check in checks.ROOM]
    return any(verdict and verdict.level == Level.FAIL and verdict.fix != check.FIX_UNREAD for check, verdict in verdicts)
