# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can programs put files into /tmp and /var/tmp, and run them there? Nothing is left there to find out."""

import os
import stat
import tempfile

FOLDERS = ("/tmp", "/var/tmp")
OPEN_TO_ALL = stat.S_IWOTH | stat.S_IXOTH


def temp():
    """Of each folder: problem (why nothing can be put there, or None), noexec, and the bytes free to a user."""
    return [_look_at(folder) for folder in FOLDERS]


def _look_at(folder):
    try:
        mode = os.stat(folder).st_mode
        space = os.statvfs(folder)
    except OSError as error:
        return {"path": folder, "problem": "can not be looked at (%s)" % error.strerror, "noexec": False, "free_bytes": 0}
    free = space.f_bavail * space.f_frsize
    if not stat.S_ISDIR(mode):
        problem = "is no folder"
    elif space.f_flag & os.ST_RDONLY:
        problem = "is mounted read-only"
    elif mode & OPEN_TO_ALL != OPEN_TO_ALL:  # root may, but apt fetches as its own user
        problem = "is not open to all users (mode %o)" % stat.S_IMODE(mode)
    elif not os.access(folder, os.W_OK | os.X_OK):
        problem = "can not be written to by this user"
    elif not free:
        problem = "is full"
    elif space.f_files and not space.f_favail:  # some filesystems do not count them
        problem = "has no inode left"
    else:
        problem = _refusal(folder)
    return {"path": folder, "problem": problem, "noexec": bool(space.f_flag & os.ST_NOEXEC), "free_bytes": free}


def _refusal(folder):
    """What keeps an empty file without a name from being made there: a quota or a security module shows in no other way."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return "takes no file, though it looks as if it would (%s)" % error.strerror
