# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How long it takes until a small write is on the disk, where etcd or PostgreSQL will write.

Small writes one after the other, each waited for, as etcd's documentation has it measured with fio (--fdatasync=1, 2300 bytes each), but
some hundred of them at most. They go into a file without a name, so that nothing is left whatever happens, and are made by a process of
its own: a disk that does not answer holds whoever waits for it, and the other readers would hold up this one.
"""

import errno
import json
import math
import os
import random
import select
import signal
import tempfile
import time

from ansible_collections.llmgw.preflight.plugins.module_utils.disks import is_read_only, mount_of, mounts_by_path, place
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, text_of
from ansible_collections.llmgw.preflight.plugins.module_utils.stand_in import let_go

BLOCK = b"llmgw-preflight\n" * 144  # 2304 bytes
FILE = 2**20  # bytes; more than all writes together. etcd and PostgreSQL write into files whose space they have taken before, too
SPARE = 64 * 2**20  # bytes that must be free before anything is written
WARM_UP = 5  # writes that do not count: the first ones wait for what later ones do not
ROUND, ENOUGH = 100, 50  # writes; and as many will do where each of them takes half of what is allowed, or less
ROUNDS = 4  # where one is too slow there is another, after a pause by lot, since it may have met with something else
ROUND_S, PAUSE_S, WHOLE_S = 0.4, (0.05, 0.15), 2
STUCK_S = 4  # after which the disk is no longer waited for

# What else went on during a round. That much of it can be the writes' own doing: an ext4 makes 3 requests of 10 kB of each, a btrfs 11
# of 140 kB, and there are 2 at a time. The rest per second is what an idle machine does.
REQUESTS, KB, AT_A_TIME = 16, 256, 3
REQUESTS_PER_S, KB_PER_S = 80, 4096
IDLE = 0.25  # share of the processors' time: with less, the kernel's own threads that take part in a write wait for them
STOLEN = 0.05  # by a host that gives a virtual machine less than it shows
BUSY_DISK, BUSY_CPU = "disk", "cpu"


def disk_speed(paths, allowed_s):
    """Begin to try these paths, and return a reader of what comes of it. To be called before there are threads, since it forks.

    Of each path: mount, and p99_s (the time in which 99 of 100 writes are on the disk; with fewer writes, all; with none, the time after
    which not one was), of how many writes, and busy (disk or cpu, where something else was at work, so that p99_s says little; else None).
    Or error, where it takes no write; or reason, where none was tried.
    """
    if not paths:
        return lambda: []
    told, tell = os.pipe()
    try:
        child = os.fork()
    except OSError as error:  # there are as many processes as this user, or this container, may have
        reason = "no process can be started for it (%s)" % error.strerror
        return lambda: [{"path": path, "reason": reason} for path in paths]
    if not child:
        try:  # from here on nothing may return: the module's own end is the parent's
            os.setsid()
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(STUCK_S * len(paths))
            let_go({tell})
            try_all(paths, allowed_s, lambda **found: os.write(tell, json.dumps(found).encode() + b"\n"))
        finally:
            os._exit(0)
    os.close(tell)
    load = Load()
    return lambda: _collect(paths, told, child, load)


def _collect(paths, told, child, load):
    end = time.monotonic() + STUCK_S * len(paths)
    text, more = b"", True
    while more and select.select([told], [], [], max(0, end - time.monotonic()))[0]:
        more = os.read(told, 65536)
        text += more
    os.close(told)
    if more:
        os.kill(child, signal.SIGKILL)  # where the disk holds it, that is when the disk lets go of it
    else:
        os.waitpid(child, 0)
    untold = "what was tried before did not end" if more else "the process that was to try it has ended"
    found = {}
    for line in text.decode().splitlines():
        one = json.loads(line)
        found[one["path"]] = one
    return [_finished(found.get(path) or {"path": path, "reason": untold}, load) for path in paths]


def _finished(found, load):
    begun = found.pop("begun", None)
    if begun is None:
        return found
    if "mount" not in found:
        return dict(found, reason="no answer within %g s" % STUCK_S)
    # No processor is ever that busy.
    return dict(found, writes=0, p99_s=round(time.monotonic() - begun, 1), busy=BUSY_DISK if load.seen(1) == BUSY_DISK else None)


def try_all(paths, allowed_s, tell):
    """Each path, and each filesystem once."""
    mounted, known = mounts_by_path(), {}
    for path in paths:
        tell(path=path, begun=time.monotonic())
        try:
            there, mount = place(path, mounted)
            if mount.device not in known:
                tell(path=path, mount=mount.path, begun=time.monotonic())
                known[mount.device] = try_one(there, mount, mounted, allowed_s)
            tell(path=path, mount=mount.path, **known[mount.device])
        except Unmeasured as problem:
            tell(path=path, reason=str(problem))
        except Exception as error:  # whatever a machine brings up
            tell(path=path, reason="%s: %s" % (type(error).__name__, error))


def try_one(there, mount, mounted, allowed_s):
    space = os.statvfs(there)
    free = space.f_bavail * space.f_frsize
    if is_read_only(space, mount):
        return {"error": "it is mounted read-only"}
    if free < SPARE:
        return {"reason": "only %d MB are free" % (free // 2**20)}
    for folder in dict.fromkeys((there, os.path.expanduser("~"), "/var/tmp", "/tmp")):
        folder = os.path.realpath(folder)
        if mounted.get(mount_of(folder, mounted), mount).device != mount.device or not os.access(folder, os.W_OK | os.X_OK):
            continue
        try:
            with tempfile.TemporaryFile(dir=folder, buffering=0, prefix=".llmgw-preflight-") as file:
                return time_writes(file.fileno(), allowed_s)
        except OSError as error:
            if error.errno in (errno.EIO, errno.EROFS):
                return {"error": error.strerror}
            if error.errno not in (errno.EACCES, errno.EPERM):
                return {"reason": error.strerror}
    return {"reason": "this user may not write to it"}


def time_writes(descriptor, allowed_s):
    try:
        os.posix_fallocate(descriptor, 0, FILE)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise
    waited = cpu_wait()

    def write():
        """Seconds until a write was on the disk, but for those in which this process waited for a processor."""
        before, begun = waited(), time.monotonic()
        os.write(descriptor, BLOCK)
        os.fdatasync(descriptor)
        return max(0.0, time.monotonic() - begun - (waited() - before))

    return rounds(write, allowed_s)


def rounds(write, allowed_s):
    """The best of a few rounds, of those that nothing else disturbed if there is one."""
    begun = time.monotonic()
    for _number in range(WARM_UP):
        if time.monotonic() < begun + ROUND_S:
            write()
    found = []
    while True:
        load, times, until = Load(), [], time.monotonic() + ROUND_S
        while len(times) < ROUND and (not times or time.monotonic() < until):
            times.append(write())
            if len(times) == ENOUGH and max(times) <= allowed_s / 2:
                break
        p99_s = sorted(times)[math.ceil(0.99 * len(times)) - 1]
        last = p99_s <= allowed_s or len(found) + 1 == ROUNDS or time.monotonic() > begun + WHOLE_S - ROUND_S - PAUSE_S[1]
        if not last:
            time.sleep(random.uniform(*PAUSE_S))  # in which what is done on a disk is others' doing
        found.append({"writes": len(times), "p99_s": round(p99_s, 6), "busy": load.seen(len(times))})
        if last:
            break
    return min(found, key=lambda one: (one["p99_s"] > allowed_s and one["busy"] is not None, one["p99_s"]))


class Load:
    """What the machine does from here on."""

    def __init__(self):
        self._begun, self._cpu, self._disks = time.monotonic(), _cpu(), _disks()

    def seen(self, writes):
        """What else was busy, if anything, beside so many writes."""
        seconds = max(time.monotonic() - self._begun, 0.001)
        idle, stolen, whole = (now - before for now, before in zip(_cpu(), self._cpu))
        for disk, now in _disks().items():
            requests, kb, queue_ms = (new - old for new, old in zip(now, self._disks.get(disk, now)))
            if (requests > REQUESTS * writes + REQUESTS_PER_S * seconds or kb > KB * writes + KB_PER_S * seconds
                    or queue_ms > 1000 * AT_A_TIME * seconds):
                return BUSY_DISK
        if whole > 0 and (idle < IDLE * whole or stolen > STOLEN * whole):
            return BUSY_CPU
        return None


def _cpu():
    """Ticks of the processors: idle, stolen, and all; see proc_stat(5)."""
    try:
        ticks = [int(field) for field in text_of("/proc/stat").split("\n", 1)[0].split()[1:9]]
        return ticks[3] + ticks[4], ticks[7], sum(ticks)
    except (Unmeasured, ValueError, IndexError):
        return 0, 0, 0


def _disks():
    """Of each disk: requests, kB and the milliseconds that requests took, added up; see iostats.rst of the kernel."""
    try:
        lines = [line.split() for line in text_of("/proc/diskstats", 2**20).splitlines()]
        return {line[2]: (int(line[3]) + int(line[7]), (int(line[5]) + int(line[9])) // 2, int(line[13])) for line in lines}
    except (Unmeasured, ValueError, IndexError):
        return {}


def cpu_wait():
    """A function that gives the seconds for which this process has waited for a processor; see sched-stats.rst of the kernel."""
    try:
        descriptor = os.open("/proc/self/schedstat", os.O_RDONLY)
        return lambda: int(os.pread(descriptor, 100, 0).split()[1]) / 1e9
    except OSError:
        return lambda: 0.0
