# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Are there as many CPUs as the roles need? Counted are those that we may use, not those that are built in.

Half of the need is a warning: it runs, but is short of what the role is sized for.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Unmeasured, Verdict, fail, ok, section, warn

ID = "cpus"
WORST = Level.FAIL
FIX_UNREAD = "Run nproc there and see why it does not answer."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    need = asked.need.cpus
    try:
        have = section(record, "cpus", int)
    except Unmeasured as problem:
        if need:
            raise
        return ok(f"none needed (not read: {problem})")
    online = record.get("cpus_online")
    of_online = f" of {online}" if isinstance(online, int) and online != have else ""
    detail = f"{have} usable{of_online} (needs {need})"
    if have >= need:
        return ok(detail)
    fix = f"Give the machine {need} CPUs, or move one of its roles to another machine."
    return warn(detail, fix) if 2 * have >= need else fail(detail, fix)
