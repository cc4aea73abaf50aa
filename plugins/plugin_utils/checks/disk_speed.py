# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is a small write on the disk soon enough, where etcd or PostgreSQL will write?

Both wait for each write (fdatasync), and etcd's members take one whose disk is slow for a lost one. The 99th percentile is to be below
10 ms, as etcd's FAQ has it for wal_fsync_duration_seconds (https://etcd.io/docs/v3.6/faq/); more is a warning. More than 100 ms, within
which a leader must be heard of again (heartbeat interval, https://etcd.io/docs/v3.6/tuning/), is a failure. Left out where no role names a
folder for it (writes).

A figure that is too large says nothing of the disk while something else is at work: then this is ok and says so, since a machine may be
busy when it is looked at. That this user could not write to the filesystem at all is a warning: nothing is wrong that is known of, and yet
nobody should think that it had been tried.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence

from ..model import Asked, Level, Unmeasured, Verdict, fail, ok, section, warn

ID = "disk_speed"
WORST = Level.FAIL
BY_HAND = "fio --name=sync --rw=write --ioengine=sync --fdatasync=1 --bs=2300 --size=22m --directory={}"
FIX_UNREAD = f"Measure it by hand ({BY_HAND.format('FOLDER')}): 99 of 100 writes are to take 10 ms or less."

FIX_SLOW = "Put {} on a faster disk (an SSD, not shared with much else): etcd and PostgreSQL wait for each write. {} measures it longer."
FIX_ERROR = "See in dmesg there what became of the disk, and mount it so that it can be written to."
FIX_NOT_TRIED = "Measure it by hand, as root ({}), or log in as root for the preflight."
BUSY = {"disk": "its disks", "cpu": "its CPUs"}


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    if not asked.need.writes:
        return None
    found = {one["path"]: one for one in section(record, ID, [{"path": str}])}
    missing = [path for path in asked.need.writes if path not in found]
    if missing:
        raise Unmeasured(f"{ID} does not hold {missing[0]}")
    alike: dict[t.Any, list[str]] = {}  # paths on the same filesystem
    for path in asked.need.writes:
        alike.setdefault(tuple((key, str(value)) for key, value in found[path].items() if key != "path"), []).append(path)
    verdicts = [_judge(paths, found[paths[0]], asked) for paths in alike.values()]
    told = [verdict for verdict in verdicts if verdict.level] or verdicts
    return Verdict(max(verdict.level for verdict in told), "; ".join(verdict.detail for verdict in told),
                   " ".join(dict.fromkeys(verdict.fix for verdict in told if verdict.fix)))


def _judge(paths: Sequence[str], found: Mapping[str, t.Any], asked: Asked) -> Verdict:
    names = ", ".join(paths)
    if isinstance(found.get("error"), str):
        return fail(f"{names} can not be written to: {found['error']}", FIX_ERROR)
    if isinstance(found.get("reason"), str):
        return warn(f"could not be tried on {names}: {found['reason']}", FIX_NOT_TRIED.format(BY_HAND.format(paths[0])))
    seconds = section({ID: found}, ID, {"p99_s": (int, float)})["p99_s"]
    warn_s, fail_s = asked.limits["sync_warn_s"], asked.limits["sync_fail_s"]
    allowed = f"({1000 * warn_s:g} ms is allowed)"
    took, meanwhile = f"is on the disk within {1000 * seconds:.1f} ms", f"took {1000 * seconds:.1f} ms meanwhile"
    if found.get("writes") == 0:
        took = meanwhile = f"was not on the disk after {seconds:.1f} s"
    took = f"a small write to {names} {took}"
    if 0 <= seconds <= warn_s:
        return ok(f"{took} {allowed}")
    if found.get("busy") in BUSY:
        return ok(f"could not be told of {names}: {BUSY[found['busy']]} were busy with something else, and a small write {meanwhile} "
                  f"{allowed}")
    fix = FIX_SLOW.format(names, BY_HAND.format(paths[0]))
    return warn(f"{took} {allowed}", fix) if seconds <= fail_s else fail(f"{took} {allowed}", fix)
