"""The Linux calls that the lab needs, and processes that can be found again after a crash.

The lab must be able to clean up when it was killed half-way, and may never hit a stranger.  So a process that
others must find writes its number and its start time to a file first of all, and is only touched while both match.
"""
import contextlib
import ctypes
import os
import select
import signal
import subprocess

from .needs import PATH

NEWNS, NEWUTS, NEWIPC, NEWPID, NEWNET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG, PR_SET_NAME, PR_CAPBSET_DROP = 1, 15, 24
MNT_DETACH = 2
# Root in a host may not load modules, reach the disks, set the clock or make device nodes: these are the VM's.
LOST_CAPABILITIES = {"sys_module": 16, "sys_rawio": 17, "sys_time": 25, "mknod": 27}
PIVOT_ROOT = 155 if os.uname().machine == "x86_64" else 41  # its number; glibc has no function for it

libc = ctypes.CDLL(None, use_errno=True)


class LabError(Exception):
    """What went wrong, in words for whoever runs the lab."""


def _check(rc, what):
    if rc < 0:
        err = ctypes.get_errno()
        raise OSError(err, f"{what}: {os.strerror(err)}")


def _b(text):
    return None if text is None else os.fsencode(text)


def mount(src, dst, fs=None, flags=0, data=None):
    """mount(2)."""
    _check(libc.mount(_b(src), _b(dst), _b(fs), ctypes.c_ulong(flags), _b(data)), f"mount {fs or src} on {dst}")


def unshare(flags):
    """Put the calling process into new namespaces."""
    _check(libc.unshare(flags), "unshare")


def pivot_root(root):
    """Make ROOT the root of this mount namespace and let go of the old one."""
    os.chdir(root)
    _check(libc.syscall(PIVOT_ROOT, b".", b"."), "pivot_root")
    _check(libc.umount2(b".", MNT_DETACH), "umount of the old root")
    os.chdir("/")


def drop_capabilities():
    """Neither this process nor a set-uid program that it starts can have these capabilities any more."""
    for number in LOST_CAPABILITIES.values():
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)


def die_with_parent(yes=True):
    """Whether the death of the parent kills this process: nothing half-made may outlive a killed `up`."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL if yes else 0, 0, 0, 0)


@contextlib.contextmanager
def inside(netns):
    """The calling thread, and all that it starts, is in the network namespace (a path) meanwhile."""
    with open("/proc/thread-self/ns/net") as home, open(netns) as there:
        _check(libc.setns(there.fileno(), NEWNET), f"setns {netns}")
        try:
            yield
        finally:
            _check(libc.setns(home.fileno(), NEWNET), "setns back")


def run(cmd, text=None):
    """Run CMD, with TEXT on its standard input; an error carries what it said."""
    done = subprocess.run(cmd, input=text or "", text=True, capture_output=True, check=False,
                          env={**os.environ, "PATH": PATH, "LC_ALL": "C"})
    if done.returncode:
        raise LabError(f"{' '.join(cmd)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def read(path, default=""):
    """A file's text, or DEFAULT when there is none."""
    try:
        with open(path) as fh:
            return fh.read()
    except OSError:
        return default


# ------------------------------------------------------------------------------------------- processes
def _stat(pid):
    return read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def born(pid):
    """Start time in clock ticks since boot; None when the process is gone or a zombie."""
    fields = _stat(pid)
    return int(fields[19]) if fields and fields[0] not in "ZX" else None


def record(path):
    """Note the calling process in PATH.  /proc tells the number that the VM knows it by, in any namespace."""
    pid = os.readlink("/proc/self")
    with open(path, "w") as fh:
        fh.write(f"{pid} {born(pid)}\n")


def recorded(path):
    """The process noted in PATH, or None when it has ended."""
    try:
        pid, start = map(int, read(path).split())
    except ValueError:
        return None
    return pid if born(pid) == start else None


def kill_recorded(path, patience=20):
    """Kill the process noted in PATH and wait until it is gone.

    The first process of a pid namespace takes all others of it along before it is gone itself."""
    if not recorded(path):
        return
    with contextlib.suppress(ProcessLookupError):
        fd = os.pidfd_open(int(read(path).split()[0]))
        if recorded(path):  # asked again, so that the descriptor is of this very process
            signal.pidfd_send_signal(fd, signal.SIGKILL)
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        gone = poll.poll(patience * 1000)
        os.close(fd)
        if not gone:
            raise LabError(f"the process of {path} cannot be killed; it waits inside the kernel")


def members(pid):
    """All processes in the pid namespace of PID."""
    wanted, found = os.readlink(f"/proc/{pid}/ns/pid"), []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{entry}/ns/pid") == wanted:
                found.append(int(entry))
    return found


def signal_members(pid, number):
    """Send a signal to every process in the pid namespace of PID, also to those born meanwhile."""
    told = set()
    while new := set(members(pid)) - told:
        for each in new:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, number)
        told |= new


def command_name(pid):
    """A process's short name."""
    return read(f"/proc/{pid}/comm").strip()


def retitle(name):
    """Show NAME in ps and ss, not the lab's own command line."""
    libc.prctl(PR_SET_NAME, _b(name), 0, 0, 0)
    start, end = map(int, _stat("self")[45:47])
    ctypes.memmove(start, _b(name).ljust(end - start, b"\0")[:end - start], end - start)


def detach(name):
    """Show NAME in ps, and hold on to nothing of whoever started this."""
    os.setsid()
    retitle(name)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


def daemon(name, work, *args, close=None):
    """Fork a process that shows up as NAME and never returns; CLOSE is a descriptor that it must not keep open."""
    if os.fork():
        return
    try:
        if close is not None:
            os.close(close)
        detach(name)
        work(*args)
    finally:
        os._exit(1)
