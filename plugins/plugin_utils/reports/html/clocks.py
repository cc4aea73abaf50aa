# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A picture of the clocks: how far each is from the controller's, with what is not known about that as a bar, on a scale that shows a
millisecond and a year beside each other."""

from __future__ import annotations

import math
import typing as t
from collections.abc import Mapping, Sequence

from ...model import seconds
from .words import count, label, names, state, worst

SINGLE_MOST = 30  # machines of which each has a line; where there are more, those that are right share one
LINES_MOST = 60
FINE_S = 0.001  # around here the scale turns from a linear into a logarithmic one
FARTHEST_S = 1e300  # that is drawn, which infinity is not, nor what is no number
LABELS_APART = 14.0  # of a hundred


class Tick(t.NamedTuple):
    x: float  # of a hundred, as all below
    label: str


class Limit(t.NamedTuple):
    x: float
    level: str


class Line(t.NamedTuple):
    who: str
    level: str
    low: float
    high: float
    dots: Sequence[float]
    offset: str
    error: str


class Clocks(t.NamedTuple):
    ticks: Sequence[Tick]
    limits: Sequence[Limit]
    warn_s: str
    fail_s: str
    lines: Sequence[Line]
    more: int  # that are not right and have no line
    unknown: str


def clocks(report: Mapping[str, t.Any]) -> Clocks | None:
    """None where no clock is known, or was to be judged."""
    if {"clock", "clocks"} <= set(report["skipped"]):
        return None
    states: dict[str, list[str]] = {}
    for finding in report["findings"]:
        if finding["check"] in ("clock", "clocks") and finding["machine"] is not None:
            states.setdefault(finding["machine"], []).append(state(finding))
    known = []
    for machine in report["machines"]:
        clock = machine.get("clock")
        if clock and all(abs(clock[part]) <= FARTHEST_S for part in ("offset_s", "error_s")):
            known.append((machine["machine"], clock["offset_s"], clock["error_s"], worst(states.get(machine["machine"], ["ok"]))))
    if not known:
        return None
    have = {name for name, *_rest in known}
    known.sort(key=lambda one: -abs(one[1]))
    limits = [(report["limits"][f"clock_{level}_s"], level) for level in ("warn", "fail")]
    scale = _Scale(max(limits[0][0], *(abs(offset) + error for _name, offset, error, _level in known)))
    warn_s, fail_s = (f"{limit:g} s" for limit, _level in limits)
    drawn = [Limit(scale.x(side * limit), level) for limit, level in limits if limit <= scale.most for side in (-1, 1)]
    many = len(known) > SINGLE_MOST
    own = [one for one in known if not many or one[3] != "ok"]
    lines = [Line(label(name, 60), level, scale.x(offset - error), scale.x(offset + error), [scale.x(offset)], signed(offset),
                  f"± {seconds(error)}") for name, offset, error, level in own[:LINES_MOST]]
    right = [one for one in known if many and one[3] == "ok"]
    if right:
        low, high = min(one[1] - one[2] for one in right), max(one[1] + one[2] for one in right)
        offsets = [one[1] for one in right]
        lines.append(Line(f"{count(len(right), 'other' if own else 'machine')}, all ok", "ok", scale.x(low), scale.x(high),
                          sorted({scale.x(offset) for offset in offsets}), f"{signed(min(offsets))} to {signed(max(offsets))}",
                          f"± {seconds(max(one[2] for one in right))} at most"))
    return Clocks(scale.ticks(), drawn, warn_s, fail_s, lines, max(0, len(own) - LINES_MOST),
                  names(machine["machine"] for machine in report["machines"] if machine["machine"] not in have))


def signed(offset: float) -> str:
    return f"{'+' if offset >= 0 else '-'}{seconds(abs(offset))}"


class _Scale:
    """Logarithmic to both sides of a linear middle."""

    def __init__(self, most: float) -> None:
        self.most = max(most, 10 * FINE_S) * 1.2

    def x(self, value: float) -> float:
        part = math.log1p(min(abs(value), self.most) / FINE_S) / math.log1p(self.most / FINE_S)
        return round(50 + math.copysign(49 * part, value), 2)

    def ticks(self) -> list[Tick]:
        """The powers of ten, from the outermost inwards, as far as their labels have room; and zero."""
        last, found = 100.0, [Tick(50, "0")]
        for power in range(math.floor(math.log10(self.most)), -4, -1):
            x = self.x(10.0**power)
            labelled = min(last, 100) - x >= LABELS_APART / (2 if last == 100 else 1) and x - 50 >= LABELS_APART
            label = (f"{10**power:,} s" if power >= 0 else f"{1000 * 10.0**power:g} ms") if labelled and power < 10 else ""
            last = x if labelled else last
            found += [Tick(x, f"+{label}" if label else ""), Tick(round(100 - x, 2), f"-{label}" if label else "")]
        return found
