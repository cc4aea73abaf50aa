# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which machine would fit which role? Each machine is judged for the room that each role needs, not only for its own roles. Pure."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Mapping, Sequence

from . import checks
from .model import Asked, Level, Member, Need, Verdict, together
from .plain import plain

FITS, SHORT, NO = "fits", "short", "no"
WORDS = {Level.OK: FITS, Level.WARN: SHORT, Level.FAIL: NO}
MAY_BE = {check: Level.WARN if check is checks.limits else Level.OK for check in checks.ROOM}  # where there is no lack
TO_MOST = 10  # machines that one move names: with many on both sides, their product would be most of the report


def fit(members: Sequence[Member], needs: Mapping[str, Need], asked: Asked) -> dict[str, t.Any]:
    """machines: of each that was read, each role with whether it fits (fits, short, no) and what is short of it; moves: of each machine
    that lacks the room for a role of its own, up to TO_MOST others that have it, those with the fewest roles first."""
    asked_for = {role: dataclasses.replace(asked, need=need) for role, need in needs.items()}
    need = together(needs.values())
    asked_for_all = dataclasses.replace(asked, need=dataclasses.replace(need, disk_gb=_largest(need.disk_gb)))
    rooms = {member.name: _room(member.record) for member in members}
    roles = [str.__str__(role) for role in needs]
    # Who has room for all roles together has it for each: so of most machines each check is asked once.
    fits = {name: _fits(room, asked_for, doubtful) if (doubtful := [check for check in checks.ROOM if _lack(check, room, asked_for_all)])
            else {role: {"fits": FITS, "short": []} for role in roles} for name, room in rooms.items()}
    by_roles = sorted(members, key=lambda member: len(member.roles))
    able = {role: [one.name for one in by_roles if role not in one.roles and fits[one.name][role]["fits"] == FITS][:TO_MOST]
            for role in needs}
    moves = [
        {"machine": member.name, "role": role, "to": able[role]}
        for member in members for role in member.roles
        if able[role] and fits[member.name][role]["fits"] == NO
        and _is_mended_by_a_move(rooms[member.name], asked_for[role], dataclasses.replace(asked, need=Need()))
    ]
    return {"machines": [{"machine": str.__str__(name), "roles": its} for name, its in fits.items()], "moves": plain(moves)}


def _largest(asked: Sequence[Mapping[str, int]]) -> tuple[Mapping[str, int], ...]:
    """Of roles that need disk space at the same paths, one for all of them: the most of each path."""
    found: dict[frozenset[str], dict[str, int]] = {}
    for paths in asked:
        most = found.setdefault(frozenset(paths), dict(paths))
        most.update({path: max(size, most[path]) for path, size in paths.items()})
    return tuple(found.values())


def _room(record: Mapping[str, t.Any]) -> dict[str, t.Any]:
    return {name: record[name] for name in checks.ROOM_SECTIONS if name in record}


def _fits(room: Mapping[str, t.Any], asked_for: Mapping[str, Asked], doubtful: Sequence[t.Any]) -> dict[str, t.Any]:
    fits: dict[str, t.Any] = plain({
        role: _fit({check.ID: lack for check in doubtful if (lack := _lack(check, room, asked))}) for role, asked in asked_for.items()})
    return fits


def _lack(check: t.Any, room: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    """What this check finds to be less than is asked for. To be held to less than the machine shows is no lack while it is enough."""
    verdict = checks.verdict_of(check, room, asked)
    return verdict if verdict and verdict.level > MAY_BE[check] else None


def _fit(lacks: Mapping[str, Verdict]) -> dict[str, t.Any]:
    level = max((lack.level for lack in lacks.values()), default=Level.OK)
    return {"fits": WORDS[level], "short": [{"check": check, "detail": lack.detail} for check, lack in lacks.items()]}


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
