"""Processor time of the controller and of the hosts, counted apart by the kernel.

This is the only use of cgroups here.  Version 2 counts processor time in every group, without any controller
enabled; version 1 needs cpuacct.  Where there is neither (or it may not be written to), only measuring fails.
"""
import contextlib
import os
import time

from .system import LabError, read

CONTROLLER, HOSTS, SERVICES = "ctl", "hosts", "services"


class Usage:
    """Seconds, filled in when the measured block has ended."""

    wall = controller = hosts = 0.0
    other = 0.0  # everything else on the machine; much of it means a disturbed measurement


class Meter:
    """The cgroups of one lab, all named after it."""

    def __init__(self, name, version=None):
        """VERSION 1 or 2 insists on that kind of cgroup; otherwise the first that there is."""
        self.name = name
        self.version, self.top = next(
            (pair for pair in _hierarchies() if version in (None, pair[0])), (None, None))

    def make(self):
        """Make the groups; True when they are usable."""
        try:
            for group in (CONTROLLER, HOSTS, SERVICES):
                os.makedirs(self._path(group), exist_ok=True)
                self.seconds(group)
        except (OSError, LabError):
            self.remove()
            return False
        return True

    def remove(self):
        """Remove the groups.  One that still has a process in it (no host's, those are gone) stays."""
        for group in (CONTROLLER, HOSTS, SERVICES, ""):
            for _attempt in range(50):
                if not self.top or not os.path.isdir(self._path(group)):
                    break
                try:
                    os.rmdir(self._path(group))
                except OSError:
                    time.sleep(0.02)  # the kernel takes a moment to forget dead processes

    def join(self, group):
        """Count the calling process and its later children in GROUP, if the groups are there."""
        with open(self.members_file(group), "w") as fh:
            fh.write("0")

    def members_file(self, group):
        """The file to write a process number to; a harmless one when there are no groups."""
        path = self._path(group) + "/cgroup.procs" if self.top else ""
        return path if os.path.exists(path) else "/dev/null"

    def seconds(self, group):
        """Processor seconds that GROUP has used."""
        if self.version == 2:
            for line in read(self._path(group) + "/cpu.stat").splitlines():
                if line.startswith("usage_usec "):
                    return int(line.split()[1]) / 1e6
        elif used := read(self._path(group) + "/cpuacct.usage"):
            return int(used) / 1e9
        raise LabError("cannot measure: no usable cgroup (version 2, or version 1 with cpuacct) on this machine")

    @contextlib.contextmanager
    def measure(self):
        """Count what the block uses: the calling process, with all its threads, is the controller meanwhile."""
        before = self._now()
        usage, home = Usage(), self._home()
        _enter(self._path(CONTROLLER))
        try:
            yield usage
        finally:
            try:
                _enter(home)
            except OSError:  # it was removed meanwhile
                _enter(self.top)
            wall, controller, hosts, services, busy = (b - a for a, b in zip(before, self._now(), strict=True))
            usage.wall, usage.controller, usage.hosts = wall, controller, hosts
            usage.other = max(0.0, busy - controller - hosts - services)

    def _now(self):
        return (time.monotonic(), self.seconds(CONTROLLER), self.seconds(HOSTS), self.seconds(SERVICES), _busy())

    def _path(self, group):
        if not self.top:
            raise LabError("cannot measure: no cgroup file system is mounted")
        return os.path.join(self.top, self.name, group).rstrip("/")

    def _home(self):
        """The group that the calling process is in now."""
        for line in read("/proc/self/cgroup").splitlines():
            number, controllers, path = line.split(":", 2)
            if ("cpuacct" in controllers.split(",")) if self.version == 1 else number == "0":
                return self.top + path.rstrip("/")
        return self.top


def _hierarchies():
    for line in read("/proc/self/mounts").splitlines():
        dummy, where, kind, options = line.split()[:4]
        if kind == "cgroup2":
            yield 2, where
        elif kind == "cgroup" and "cpuacct" in options.split(","):
            yield 1, where


def _enter(path):
    with open(path + "/cgroup.procs", "w") as fh:
        fh.write("0")


def _busy():
    """Processor seconds that the whole machine has used."""
    user, nice, system, _idle, _wait, irq, soft = map(int, read("/proc/stat").split("\n")[0].split()[1:8])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")
