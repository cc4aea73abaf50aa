# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Do the machines' clocks agree with each other, whatever the controller's says?

Where the offsets are all within the limit for a warning of each other, that is ok. Else the one that is farthest from their median is
taken off, again and again, until the rest agrees (of two that are equally far, the one farther from the controller's); each one taken
off has a finding. Its level comes from the least distance from the rest's median that the errors allow. If that is within the limit, so
that it is only too far from some of the rest, or the errors allow either, it is a warning.

An error alone alarms nobody: a busy machine's offset is known within half a second or so, and may be as right as any. The two offsets of
clocks that agree are never farther apart than their errors together, and those that checks/clock.py passes lie within the limit of the
controller's with all of their error, so their middles are within the limit of each other if the clocks agree. A difference passes only
as far as the errors hide it, and what they hide is less than the errors together; the detail says how much that is.

A machine whose clock could not be read has a finding by checks/clock.py already. Where three or more agree with each other, outnumber
those that do not together with the controller, and are all over the limit from the controller's clock on one side, it is the controller's
that is wrong.
"""

from __future__ import annotations

import statistics
import typing as t
from collections.abc import Mapping, Sequence

from .. import commands
from ..model import Group, Level, Member, Told, Unmeasured, Verdict, fail, ok, seconds, section, warn

ID = "clocks"
WORST = Level.FAIL
FIX_UNREAD = "Run date there and see why it does not answer."

FIX = "Set its clock right and keep it so: timedatectl set-ntp true, or apt-get install chrony."
FIX_UNSURE = "Run again when the machines and the connections to them are less busy."
FIX_CONTROLLER = "Set the clock of the controller right, the machine on which Ansible runs, and keep it so: timedatectl set-ntp true."


class _Clock(t.NamedTuple):
    machine: str
    offset: float
    error: float
    commands: tuple[str, ...] = ()


def compare(group: Group) -> list[Told]:
    """Those that were read from one controller with each other: what is known of a clock is its offset from the controller's."""
    controllers: dict[str, list[Member]] = {}
    for member in group.members:
        controllers.setdefault(str(member.record.get("controller") or ""), []).append(member)
    return [told for members in controllers.values() for told in _compare(members, group.limits)]


def _compare(members: Sequence[Member], limits: Mapping[str, float]) -> list[Told]:
    clocks = []
    for member in members:
        try:
            found = section(member.record, "clock", {"offset_s": (int, float), "error_s": (int, float)})
        except Unmeasured:  # checks/clock.py says so
            continue
        clocks.append(_Clock(member.name, found["offset_s"], found["error_s"], commands.clock_kept(member.record)))
    if len(clocks) < 2:
        return []
    warn_s, fail_s = limits["clock_warn_s"], limits["clock_fail_s"]
    rest, odd = _parted(clocks, warn_s)
    told: list[Told] = [(clock.machine, _judge(clock, rest, warn_s, fail_s)) for clock in odd]
    if len(rest) > len(odd) + 1 and len(rest) >= 3:
        told += _controller(rest, len(clocks), warn_s)
    if told:
        return told
    number = str(len(clocks)) if len(clocks) == len(members) else f"{len(clocks)} of {len(members)}"
    worst = sum(sorted(clock.error for clock in clocks)[-2:])
    spread = max(clock.offset for clock in clocks) - min(clock.offset for clock in clocks)
    return [(None, ok(f"{number} clocks are within {seconds(spread)} of each other (give or take {seconds(worst)}; "
                      f"{warn_s:g} s is allowed)"))]


def _parted(clocks: Sequence[_Clock], warn_s: float) -> tuple[list[_Clock], list[_Clock]]:
    """(those that agree, the odd ones in the order of the machines)."""
    rest, odd = sorted(clocks, key=lambda clock: clock.offset), []
    while _spread(rest) > warn_s:
        middle = statistics.median(clock.offset for clock in rest)
        below, above = [(round(abs(clock.offset - middle), 6), abs(clock.offset)) for clock in (rest[0], rest[-1])]
        odd.append(rest.pop(-1 if above >= below else 0))
    for clock in reversed(odd[:]):  # what was taken off for one that is off itself by now
        if _spread([*rest, clock]) <= warn_s:
            rest.append(clock)
            odd.remove(clock)
    return rest, [clock for clock in clocks if clock in odd]


def _spread(clocks: Sequence[_Clock]) -> float:
    offsets = [clock.offset for clock in clocks]
    return round(max(offsets) - min(offsets), 6)


def _judge(clock: _Clock, rest: Sequence[_Clock], warn_s: float, fail_s: float) -> Verdict:
    middle, error = _median(rest)
    against = f"{rest[0].machine}'s" if len(rest) == 1 else f"the middle of the {len(rest)} that agree"
    distance, error = clock.offset - middle, error + clock.error
    if abs(distance) - error > warn_s:
        detail = _detail(distance, error, against, warn_s)
        return (fail if abs(distance) - error > fail_s else warn)(detail, FIX, *clock.commands)
    farthest = max(rest, key=lambda other: abs(clock.offset - other.offset))
    distance, error = clock.offset - farthest.offset, clock.error + farthest.error
    detail = _detail(distance, error, f"{farthest.machine}'s", warn_s)
    if abs(distance) - error > warn_s:
        return warn(detail, FIX, *clock.commands)
    return warn(f"can not be told closely enough: {detail}", FIX_UNSURE)


def _median(clocks: Sequence[_Clock]) -> tuple[float, float]:
    """The median of the true offsets, and its error: it lies between the median of the lowest and that of the highest that can be."""
    low = statistics.median(clock.offset - clock.error for clock in clocks)
    high = statistics.median(clock.offset + clock.error for clock in clocks)
    return (low + high) / 2, (high - low) / 2


def _controller(rest: Sequence[_Clock], read: int, warn_s: float) -> list[Told]:
    middle, error = _median(rest)
    if abs(middle) - error <= warn_s or any(abs(clock.offset) <= warn_s for clock in rest):
        return []
    which = f"all {read} machines" if len(rest) == read else f"{len(rest)} of {read} machines, which agree with each other"
    return [(None, warn(f"the controller's clock is about {seconds(abs(middle))} {'behind' if middle > 0 else 'ahead of'} that of {which}",
                        FIX_CONTROLLER))]


def _detail(distance: float, error: float, against: str, warn_s: float) -> str:
    way = "ahead of" if distance > 0 else "behind"
    return f"{seconds(abs(distance))} {way} {against} (give or take {seconds(error)}; {warn_s:g} s is allowed)"
