# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is there as much disk space free on / as the roles need, and the models that the machine will serve?

A mount from elsewhere (NFS and the like) that does not answer is a warning, since whatever looks at it hangs.
What an unprivileged user may use, in GiB, rounded up as df -BG does. Half of what the roles need is a warning. Short of what roles and
models need together is always a failure.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import GIB, Asked, Level, Unmeasured, Verdict, asked_by_models, fail, ok, section, warn

ID = "disk"
WORST = Level.FAIL
FIX_UNREAD = "Run df -BG / there and see why it does not answer."
PATH = "/"
FIX_SILENT = "Mount it again or take it away (umount -l): whatever looks at it hangs, also Ansible when it gathers facts."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    models = asked_by_models(record, "disk_gb")
    of_models = sum(size for name, size in models)
    need = asked.need.disk_gb + of_models
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
    names = ", ".join(name for name, size in models)
    parts = f": {asked.need.disk_gb} for its roles, {of_models} for {names}" if models else ""
    detail = f"{have} GB free on {PATH} (needs {need}{parts})"
    silent = _silent(record)
    if have >= need:
        if silent:
            return warn(f"{detail}, but a mount does not answer: {silent}", FIX_SILENT)
        return ok(detail)
    if models:
        return fail(detail, f"Free space on {PATH} or enlarge it, to {need} GB free, or serve {names} on another machine.")
    fix = f"Free space on {PATH} or enlarge it, to {need} GB free (du -xh {PATH} | sort -h shows what is large)."
    return warn(detail, fix) if 2 * have >= need else fail(detail, fix)


def _silent(record: Mapping[str, t.Any]) -> str:
    """Mounts that do not answer; "" where there are none, or the record is older than this section."""
    try:
        mounts = section(record, "silent_mounts", [{"path": str, "source": str}])
    except Unmeasured:
        return ""
    return ", ".join(f"{mount['path']} ({mount['source']})" for mount in mounts)
