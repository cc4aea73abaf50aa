# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can programs put files into /tmp and /var/tmp, and run them there, and Ansible into its own folder? Nothing is left to find out."""

import errno
import os
import re
import stat

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

FOLDERS = ("/tmp", "/var/tmp")
OPEN_TO_ALL = stat.S_IWOTH | stat.S_IXOTH
NO_SUCH_FILES = (errno.EISDIR, errno.EOPNOTSUPP, errno.EINVAL)  # of a filesystem or a kernel that knows none


def temp():
    """Of each folder: problem (why nothing can be put there, or None), noexec, and the bytes free to a user."""
    return [_look_at(folder) for folder in FOLDERS]


def remote_tmp(given):
    """Of the folder where Ansible puts its modules for this user: its path, and problem as above; it is made there where it is not yet."""
    if not given.strip():
        return {"path": "", "problem": "(remote_tmp) has no name"}
    if re.search(r"[`;|&<>('\"\\*?[]", given):
        raise Unmeasured("%s is worked out by a shell" % given[:200])
    # As the shell does that makes it: a variable that is not set is nothing.
    path = os.path.abspath(re.sub(r"\$(\w+|\{\w+\})", "", os.path.expandvars(os.path.expanduser(given))))
    folder = path
    while folder != "/" and not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    problem = _look_at(folder, for_all=False)["problem"]
    if not problem and max(len(os.fsencode(name)) for name in path.split("/")) > os.statvfs(folder).f_namemax:
        problem = "takes no name as long as that"
    if problem and folder != path:
        problem = "can not be made: %s %s" % (folder, problem)
    return {"path": path, "problem": problem}


def _look_at(folder, for_all=True):
    try:
        mode = os.stat(folder).st_mode
        space = os.statvfs(folder)
    except OSError as error:
        return {"path": folder, "problem": "can not be looked at (%s)" % error.strerror, "noexec": False, "free_bytes": 0}
    reserved = not for_all and os.geteuid() == 0  # for root, who may use it
    free = (space.f_bfree if reserved else space.f_bavail) * space.f_frsize
    if not stat.S_ISDIR(mode):
        problem = "is no folder"
    elif space.f_flag & os.ST_RDONLY:
        problem = "is mounted read-only"
    elif for_all and mode & OPEN_TO_ALL != OPEN_TO_ALL:  # root may, but apt fetches as its own user
        problem = "is not open to all users (mode %o)" % stat.S_IMODE(mode)
    elif not os.access(folder, os.W_OK | os.X_OK):
        problem = "can not be written to by this user"
    elif not free:
        problem = "is full"
    elif space.f_files and not (space.f_ffree if reserved else space.f_favail):  # some filesystems do not count them
        problem = "has no inode left"
    else:
        problem = _refusal(folder)
    return {"path": folder, "problem": problem, "noexec": bool(space.f_flag & os.ST_NOEXEC), "free_bytes": free}


def _refusal(folder):
    """What keeps an empty file without a name from being made there: a quota or a security module shows in no other way."""
    try:
        os.close(os.open(folder, os.O_RDWR | os.O_TMPFILE, 0o600))
    except OSError as error:
        if error.errno not in NO_SUCH_FILES:
            return "takes no file, though it looks as if it would (%s)" % error.strerror
    return None
