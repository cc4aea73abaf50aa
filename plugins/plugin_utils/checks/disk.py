# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is there as much disk space free as the roles need, where they need it, and as the models that the machine will serve need on /?

By filesystem: what the paths of one role need of the same one adds up, and of several roles the largest sum counts. A path that is not
there yet lies where the nearest folder above it does. Free is what an unprivileged user may use, in GiB, rounded up as df -BG does. Half of
what the roles need is a warning. Short of what roles and models need together is always a failure.

It is a failure, too, if nothing can be written there. A warning is where less than a tenth of the inodes is free, since each file takes
one (some filesystems do not count them), and a mount from elsewhere (NFS and the like) that does not answer, since whatever looks at it
hangs. Of / both are asked wherever a role needs anything.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence

from ..model import GIB, Asked, Level, Need, Unmeasured, Verdict, asked_by_models, fail, ok, section, warn

ID = "disk"
WORST = Level.FAIL
FIX_UNREAD = "Run df -BG there, as the user that logs in, and see what does not answer."
ROOT = "/"
INODES = 10  # percent
FIX_SILENT = "Mount it again or take it away (umount -l): whatever looks at it hangs, also Ansible when it gathers facts."
FIX_READ_ONLY = ("Mount {0} so that it can be written to (mount -o remount,rw {0}); if the kernel made it read-only, dmesg says which "
                 "error came before.")
FIX_INODES = ("Remove what consists of many small files (du -x --inodes {0} | sort -n shows where they are), or make the filesystem anew "
              "with more inodes.")

DISKS = [{"path": str, "free_bytes": (int, type(None))}]
SILENT = [{"path": str, "source": str}]

Disk = Mapping[str, t.Any]  # of the record


class Room(t.NamedTuple):
    """One filesystem, and what is needed there."""

    disk: Disk
    paths: Mapping[str, int]  # GB of each, for the role that needs most
    models: Sequence[tuple[str, int]] = ()


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    models = asked_by_models(record, "disk_gb")
    needs = [*asked.need.disk_gb, *([{ROOT: 0}] if models or not asked.need.disk_gb else ())]
    try:
        disks = {disk["path"]: disk for disk in section(record, "disks", DISKS)}
        rooms = _rooms(disks, needs, models)
    except Unmeasured as problem:
        if models or asked.need.disk_gb:
            raise
        return ok(f"none needed (not read: {problem})")
    space, rest = [_space(room) for room in rooms.values()], []
    if asked.need.disk_gb or models or asked.need != Need():
        used = {**({_filesystem(disks[ROOT]): disks[ROOT]} if ROOT in disks else {}), **{at: room.disk for at, room in rooms.items()}}
        rest = [verdict for disk in used.values() for verdict in (_read_only(disk), _inodes(disk)) if verdict]
    rest += _silent(record)
    told = "; ".join([verdict.detail for verdict in [one for one in space if one.level] or space])
    if not rest and not any(verdict.level for verdict in space):
        return ok(told)
    but = f", but {'; '.join(verdict.detail for verdict in rest)}" if rest else ""
    fixes = dict.fromkeys(verdict.fix for verdict in (*space, *rest) if verdict.fix)
    return Verdict(max(verdict.level for verdict in (*space, *rest)), told + but, " ".join(fixes))


def _filesystem(disk: Disk) -> str:
    return str(disk.get("filesystem") or _where(disk))


def _where(disk: Disk) -> str:
    return str(disk.get("mount") or disk["path"])


def _rooms(disks: Mapping[str, Disk], needs: Sequence[Mapping[str, int]], models: Sequence[tuple[str, int]]) -> dict[str, Room]:
    rooms: dict[str, Room] = {}
    for need in needs:
        together: dict[str, Room] = {}
        for path, size in need.items():
            disk = disks.get(path)
            if disk is None:
                raise Unmeasured(f"disks does not hold {path}")
            if disk["free_bytes"] is None:
                raise Unmeasured(f"{path}: {disk.get('reason')}")
            at = _filesystem(disk)
            together[at] = Room(together[at].disk, {**together[at].paths, path: size}) if at in together else Room(disk, {path: size})
        for at, room in together.items():
            if at not in rooms or sum(room.paths.values()) > sum(rooms[at].paths.values()):
                rooms[at] = room
    if models:
        at = _filesystem(disks[ROOT])
        rooms[at] = rooms[at]._replace(models=models)
    return rooms


def _space(room: Room) -> Verdict:
    have, where, need = -(-room.disk["free_bytes"] // GIB), _where(room.disk), sum(room.paths.values())
    if room.models:
        names, of_models = ", ".join([name for name, size in room.models]), sum([size for name, size in room.models])
        parts = f": {need} for its roles, {of_models} for {names}"
        need += of_models
    elif len(room.paths) > 1:
        parts = f": {', '.join(f'{path} {size}' for path, size in room.paths.items())}"
    else:
        parts = "".join([f" for {path}" for path in room.paths if path != where])
    detail = f"{have} GB free on {where} (needs {need}{parts})"
    if have >= need:
        return ok(detail)
    if room.models:
        return fail(detail, f"Free space on {where} or enlarge it, to {need} GB free, or serve {names} on another machine.")
    fix = f"Free space on {where} or enlarge it, to {need} GB free (du -xh {where} | sort -h shows what is large)."
    return warn(detail, fix) if 2 * have >= need else fail(detail, fix)


def _read_only(disk: Disk) -> Verdict | None:
    where = _where(disk)
    return fail(f"{where} is read-only", FIX_READ_ONLY.format(where)) if disk.get("read_only") is True else None


def _inodes(disk: Disk) -> Verdict | None:
    number, free = disk.get("inodes"), disk.get("inodes_free")
    if not isinstance(number, int) or not isinstance(free, int) or 100 * free >= INODES * number:  # an older record has neither
        return None
    percent = 100 * free // number
    return warn(f"only {percent} % of the inodes of {_where(disk)} are free", FIX_INODES.format(_where(disk)))


def _silent(record: Mapping[str, t.Any]) -> list[Verdict]:
    """Of mounts that do not answer; none where the record is older than this section."""
    try:
        mounts = section(record, "silent_mounts", SILENT)
    except Unmeasured:
        return []
    told = ", ".join(f"{mount['path']} ({mount['source']})" for mount in mounts)
    return [warn(f"a mount does not answer: {told}", FIX_SILENT)] if told else []
