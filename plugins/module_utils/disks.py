# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How much space is free, by path, and which mounts from elsewhere do not answer."""

import collections
import os
import threading
import time

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import text_of

MOUNTINFO_MOST = 4 * 1024 * 1024  # bytes: some 40,000 mounts


def disks(paths):
    """For each path: the deepest folder of it that is there, what it is mounted from, and the bytes free to a user."""
    points = {mount.path for mount in mounts(text_of("/proc/self/mountinfo", MOUNTINFO_MOST))}
    found = []
    for path in paths:
        there = os.path.realpath(path)
        while not os.path.isdir(there):
            there = os.path.dirname(there)
        space = os.statvfs(there)
        found.append({"path": path, "mount": mount_of(there, points), "free_bytes": space.f_bavail * space.f_frsize})
    return found


# Filesystems whose other end may be gone; whoever looks at one then waits for ever.
FROM_ELSEWHERE = ("nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "lustre", "9p", "afs", "fuse")


def silent_mounts(limit_s):
    """Mounts from elsewhere that do not say within ``limit_s`` how much space they have: path and source of each."""
    looking = []
    for mount in mounts(text_of("/proc/self/mountinfo", MOUNTINFO_MOST)):
        if mount.kind.split(".")[0] in FROM_ELSEWHERE:
            thread = threading.Thread(target=_look_at, args=(mount.path,))
            thread.daemon = True  # it can't be ended, and must not keep this process alive
            thread.start()
            looking.append((thread, {"path": mount.path, "source": mount.source}))
    end = time.monotonic() + limit_s
    for thread, _mount in looking:
        thread.join(max(0, end - time.monotonic()))
    return [mount for thread, mount in looking if thread.is_alive()]


def _look_at(path):
    try:
        os.statvfs(path)
    except OSError:  # an answer, too
        pass


Mount = collections.namedtuple("Mount", "path kind source device")


def mounts(text):
    """Each line of proc(5) mountinfo, with its octal escapes undone; device is major:minor."""
    found = []
    for line in text.splitlines():
        head, sign, tail = line.partition(" - ")
        fields, kinds = head.split(" "), tail.split(" ")
        if len(fields) > 4 and len(kinds) > 1:
            found.append(Mount(_plain(fields[4]), kinds[0], _plain(kinds[1]), fields[2]))
    return found


def _plain(field):
    return field.encode("ascii", "backslashreplace").decode("unicode_escape")


def mount_of(path, points):
    while path not in points and path != "/":
        path = os.path.dirname(path)
    return path
