# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is there as much disk space free on / as the roles need?

What an unprivileged user may use, in GiB, rounded up as df -BG does. Half of the need is a warning.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import GIB, Asked, Level, Unmeasured, Verdict, fail, ok, section, warn

ID = "disk"
WORST = Level.FAIL
FIX_UNREAD = "Run df -BG / there and see why it does not answer."
PATH = "/"


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    need = asked.need.disk_gb
    try:
        disks = section(record, "disks", [{"path": str, "free_bytes": int}])
        free = next((disk["free_bytes"] for disk in disks if disk["path"] == PATH), None)
        if free is None:
            raise Unmeasured(f"disks does not hold {PATH}")
    except Unmeasured as problem:
        if need:
            raise
        return ok(f"none needed (not read: {problem})")
    have = -(-free // GIB)
    detail = f"{have} GB free on {PATH} (needs {need})"
    if have >= need:
        return ok(detail)
    fix = f"Free space on {PATH} or enlarge it, to {need} GB free (du -xh {PATH} | sort -h shows what is large)."
    return warn(detail, fix) if 2 * have >= need else fail(detail, fix)
