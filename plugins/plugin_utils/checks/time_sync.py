# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is the clock kept right by NTP? One that is right now drifts away otherwise.

A warning where neither the kernel (adjtimex(2): corrected within the last hours) nor chronyd, ntpd or systemd's timedatectl says yes.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from .. import commands
from ..model import Asked, Level, Verdict, ok, section, warn

ID = "time_sync"
WORST = Level.WARN
FIX = "Keep the clock right: timedatectl set-ntp true, or apt-get install chrony."
FIX_UNREAD = FIX


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    sync = section(record, "time_sync", {"synchronised": bool, "by": (str, type(None))})
    by = "the kernel" if sync["by"] == "kernel" else sync["by"]
    told = f" (says {by})" if by else ""
    if sync["synchronised"]:
        return ok(f"synchronised{told}")
    return warn(f"not synchronised{told}", FIX, *commands.clock_kept(record))
