# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Bounds on how far a machine's clock is from the controller's. Pure.

A reading of the machine's clock that was taken between the sending of a question and the arrival of its answer bounds
the offset: it lies between (reading - received) and (reading - sent). The truth lies in all such intervals, so each
further exchange can only narrow it. Where in the exchange the reading was taken is never assumed: on a busy machine a
program may start many seconds after it was sent.
"""

from __future__ import annotations

import math
import re
import typing as t
from collections.abc import Mapping

# What the shell command below prints; a date without %N prints whole seconds, or the letter.
COMMAND = "date +%s.%N"
# The same for each line that comes in, behind that line, so that an answer is known by its question; sh, whatever the user's
# own shell is.
CONVERSATION = "/bin/sh -c 'while read -r question; do echo \"$question $(date +%s.%N)\"; done'"
READING = re.compile(r"(?:^|(?<= ))(\d{6,12})\.(\d{9})?N?\r?$", re.MULTILINE)


class Offset:
    """The machine's clock minus the controller's, in seconds, as an interval."""

    def __init__(self) -> None:
        self.low, self.high = -math.inf, math.inf

    def narrow(self, reading: float, sent: float, received: float, grain: float = 0.0) -> None:
        """Take one exchange into account; the machine's clock showed something in [reading, reading + grain]."""
        self.low = max(self.low, reading - received)
        self.high = min(self.high, reading + grain - sent)

    @property
    def contradicts_itself(self) -> bool:
        """No offset fits all exchanges: one of the clocks was set meanwhile. A millisecond is let pass as rounding."""
        return self.low > self.high + 0.001

    def is_decided(self, limits: Mapping[str, float]) -> bool:
        """Whether every offset within the bounds gives the same verdict, see checks/clock.py."""
        nearest = max(0.0, self.low, -self.high)
        farthest = max(abs(self.low), abs(self.high))
        return not any(nearest <= limits[name] < farthest for name in ("clock_warn_s", "clock_fail_s"))

    def as_section(self) -> dict[str, float]:
        return {"offset_s": round((self.low + self.high) / 2, 6), "error_s": round(max(0.0, self.high - self.low) / 2, 6)}


def reading_of(text: t.Any) -> tuple[float, float] | None:
    """(reading, grain) of what COMMAND printed, also amid the noise of a shell's start-up files; None if it is not there."""
    found = READING.findall(str(text))
    if not found:
        return None
    seconds, nanoseconds = found[-1]
    return (float(f"{seconds}.{nanoseconds}"), 1e-6) if nanoseconds else (float(seconds), 1.0)
