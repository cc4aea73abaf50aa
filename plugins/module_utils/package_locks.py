# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Who holds the locks of dpkg and apt. They are never taken: the kernel's own table tells, see proc_locks(5)."""

import os

from ansible_collections.llmgw.preflight.plugins.module_utils.disks import mount_of, mounts_by_path
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, text_of

FILES = ("/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock", "/var/cache/apt/archives/lock",
         "/run/unattended-upgrades.lock")  # the last from its first step to its last, between which it holds none of the others
MOST = 4 * 1024 * 1024  # bytes of /proc/locks: some 60,000 locks


def package_locks():
    """path, pid and process of each lock that is held; process is None where it can't be known."""
    held, mounted = parse(text_of("/proc/locks", MOST)), mounts_by_path()
    found = []
    for path in FILES:
        for name in names_of(path, mounted):
            if name in held:
                found.append({"path": path, "pid": held[name], "process": _process(held[name])})
                break
    return found


def parse(text):
    """(major, minor, inode) -> pid of each lock that is held; those that wait for one ("->") hold nothing."""
    held = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) > 5 and fields[1] != "->" and fields[5].count(":") == 2:
            try:
                major, minor, inode = fields[5].split(":")
                held[int(major, 16), int(minor, 16), int(inode)] = int(fields[4])
            except ValueError as error:
                raise Unmeasured("/proc/locks is not of the known form (%s)" % error) from error
    return held


def names_of(path, mounted):
    """What the kernel may call this file there; none where there is no such file, so that nobody holds it.

    It calls it by the device of the filesystem. The file's own can be another: on btrfs each subvolume has one, on an overlay each
    layer, where the folder has the filesystem's.
    """
    try:
        inode = os.stat(path).st_ino
        devices = [os.stat(path).st_dev, os.stat(os.path.dirname(path)).st_dev]
    except FileNotFoundError:
        return []
    numbers = [(os.major(device), os.minor(device)) for device in devices]
    there = mounted.get(mount_of(os.path.realpath(path), mounted))
    if there:
        numbers.append(tuple(int(number) for number in there.device.split(":")))
    return [(major, minor, inode) for major, minor in numbers]


def _process(pid):
    try:
        return text_of("/proc/%d/comm" % pid).strip()
    except Unmeasured:  # gone by now, or of another container
        return None
