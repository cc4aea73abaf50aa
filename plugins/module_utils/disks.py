# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How much space is free, by path, and which mounts from elsewhere do not answer."""

import collections
import os
import re
import threading
import time

from ansible_collections.llmgw.preflight.plugins.module_utils.background import in_background
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, read_all, text_of

MOUNTINFO_MOST = 4 * 1024 * 1024  # bytes: some 40,000 mounts
# What the kernel puts among the options of a filesystem that takes nothing any more, which since Linux 6.12 does not show elsewhere.
BROKEN = ("emergency_ro", "shutdown")


def disks(paths, limit_s):
    """Of each path: what it is mounted from, which filesystem that is, the bytes free to a user, how many inodes there are and are free
    (both 0 where they are not counted), and whether nothing can be written; or free_bytes None and the reason."""
    mounted = mounts_by_path()
    read, unread = read_all({path: (_reader(path, mounted), limit_s) for path in paths}, limit_s)
    return [dict(read.get(path) or {"free_bytes": None, "reason": unread[path]}, path=path) for path in paths]


def _reader(path, mounted):
    def read():
        there, mount = place(path, mounted)
        space = os.statvfs(there)
        return {
            "mount": mount.path, "filesystem": mount.device, "free_bytes": space.f_bavail * space.f_frsize,
            "inodes": space.f_files, "inodes_free": space.f_favail, "read_only": is_read_only(space, mount)}
    return read


def is_read_only(space, mount):
    return bool(space.f_flag & os.ST_RDONLY) or any(option in BROKEN for option in mount.options.split(","))


def mounts_by_path():
    """path -> what is mounted there; of several on top of each other the uppermost."""
    return {mount.path: mount for mount in mounts(text_of("/proc/self/mountinfo", MOUNTINFO_MOST))}


def place(path, mounted):
    """The deepest folder of a path that is there, and the mount that it lies on. Raises Unmeasured."""
    path = there = os.path.realpath(path)
    while there != "/" and not os.path.isdir(there):
        there = os.path.dirname(there)
    if len(mount_of(path, mounted)) > len(there) and not os.access(there, os.X_OK):
        raise Unmeasured("something is mounted below %s, and this user may not look into that" % there)
    point = mount_of(there, mounted)
    return there, mounted.get(point) or Mount(point, "", "", str(os.stat(there).st_dev), "")


LOOKS_MOST = 200  # at mounts from elsewhere at the same time; a machine can have thousands of them
# Filesystems whose other end may be gone; whoever looks at one then waits for ever.
FROM_ELSEWHERE = ("nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "lustre", "9p", "afs", "fuse")


def silent_mounts(limit_s):
    """Mounts from elsewhere that do not say within ``limit_s`` how much space they have: path and source of each.

    Where as many as are looked at together keep silent, the others are not looked at.
    """
    looking, room, end = [], threading.Semaphore(LOOKS_MOST), time.monotonic() + limit_s
    for mount in mounts(text_of("/proc/self/mountinfo", MOUNTINFO_MOST)):
        if mount.kind.split(".")[0] in FROM_ELSEWHERE:
            if not room.acquire(timeout=max(0, end - time.monotonic())):
                break
            thread = in_background(end, _look_at, mount.path, room)
            source = re.sub(r"//\S*@", "//", mount.source)  # that of curlftpfs holds its password
            looking.append((thread, {"path": mount.path, "source": source}))
    for thread, _mount in looking:
        thread.join(max(0, end - time.monotonic()))
    return [mount for thread, mount in looking if thread.is_alive()]


def _look_at(path, room):
    try:
        os.statvfs(path)
    except OSError:  # an answer, too
        pass
    finally:
        room.release()


Mount = collections.namedtuple("Mount", "path kind source device options")


def mounts(text):
    """Each line of proc(5) mountinfo, with its octal escapes undone; device is major:minor, which the subvolumes of a filesystem share."""
    found = []
    for line in text.splitlines():
        head, sign, tail = line.partition(" - ")
        fields, kinds = head.split(" "), tail.split(" ")
        if len(fields) > 4 and len(kinds) > 1 and re.match(r"\d+:\d+$", fields[2]):
            found.append(Mount(_plain(fields[4]), kinds[0], _plain(kinds[1]), fields[2], "".join(kinds[2:])))
    return found


def _plain(field):
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), field)


def mount_of(path, points):
    while path not in points and path != "/":
        path = os.path.dirname(path)
    return path
