# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can packages be installed now, or is another program at it?

Left out where apt-get is not there, which the check packages tells. See ansible/ansible#51663: an install that meets the lock of
an unattended upgrade waits, or fails.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, ok, section, warn

ID = "apt_ready"
WORST = Level.WARN
FIX_UNREAD = "See that /proc/locks can be read there."
FIX = "Wait until that program has finished (ps -fp shows it by its number), or stop it: the install would wait for the lock or fail."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    if record.get("apt") is False:
        return None
    held = section(record, "package_locks", [{"path": str, "pid": int, "process": (str, type(None))}])
    if not held:
        return ok("no program holds the locks of dpkg and apt")
    return warn("; ".join(f"{lock['path']} is held by {lock['process'] or 'a program'} (process {lock['pid']})" for lock in held), FIX)
