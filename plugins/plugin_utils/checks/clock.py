# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Does the machine's clock agree with the controller's?

The offset is known within an error. With low = max(0, |offset| - error) and high = |offset| + error, a verdict is given
only where these bounds allow it: low over the limit for failing fails, low over the one for warning warns, high
within the latter is ok, and anything else is a warning that says how closely it could be told.

The limit for warning is 1 s, from which on etcd complains of a clock (high clock drift, etcd's rafthttp/probing_status.go); the one for
failing, 5 s, is of no document. Both are in preflight_limits.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from .. import commands
from ..model import Asked, Level, Verdict, fail, ok, seconds, section, warn

ID = "clock"
WORST = Level.FAIL
FIX_UNREAD = "Run date there and see why it does not answer."

FIX = "Set the clock right and keep it so: timedatectl set-ntp true, or apt-get install chrony."
FIX_UNSURE = "Run again when the connection and both machines are less busy; raise preflight_limits.clock_s to try longer."
SHAPE = {"offset_s": (int, float), "error_s": (int, float)}


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    clock = section(record, "clock", SHAPE)
    offset, error = clock["offset_s"], clock["error_s"]
    warn_s, fail_s = asked.limits["clock_warn_s"], asked.limits["clock_fail_s"]
    low, high = max(0.0, abs(offset) - error), abs(offset) + error
    if high <= warn_s:
        return ok(f"within {seconds(high)} of the controller's ({warn_s:g} s is allowed)")
    way = "ahead of" if offset > 0 else "behind"
    detail = f"{seconds(abs(offset))} {way} the controller's (give or take {seconds(error)}; {warn_s:g} s is allowed)"
    if low > fail_s:
        return fail(detail, FIX, *commands.clock_kept(record))
    if low > warn_s:
        return warn(detail, FIX, *commands.clock_kept(record))
    return warn(f"can not be told closely enough: {detail}", FIX_UNSURE)
