# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How much space is free, by path. No other mount is touched: a dead one would hang whoever looks at it."""

import os

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import text_of


def disks(paths):
    """For each path: the deepest folder of it that is there, what it is mounted from, and the bytes free to a user."""
    mounts = mount_points(text_of("/proc/self/mountinfo", 4 * 1024 * 1024))
    found = []
    for path in paths:
        there = os.path.realpath(path)
        while not os.path.isdir(there):
            there = os.path.dirname(there)
        space = os.statvfs(there)
        found.append({"path": path, "mount": mount_of(there, mounts), "free_bytes": space.f_bavail * space.f_frsize})
    return found


def mount_points(text):
    """The fifth field of each line of proc(5) mountinfo, with its octal escapes undone."""
    points = set()
    for line in text.splitlines():
        fields = line.split(" ")
        if len(fields) > 4:
            points.add(fields[4].encode("ascii", "backslashreplace").decode("unicode_escape"))
    return points


def mount_of(path, points):
    while path not in points and path != "/":
        path = os.path.dirname(path)
    return path
