# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which programs run on this machine, by the short names that the kernel has for them; see proc(5), comm."""

import os
import threading

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, text_of

ROOT = "/proc"
_LOCK = threading.Lock()
_SEEN = {}  # folder -> what was found: more than one reader asks, and it takes some milliseconds


def pids_of(names):
    """name -> its processes' numbers, as texts, for each of these short names (15 characters at most) that runs here.

    What runs in a container is left out, since that is another machine's matter: it has a number in there too. Raises Unmeasured
    where this user may see its own processes only.
    """
    text_of(ROOT + "/1/comm")  # hidden from us where the others are
    with _LOCK:
        if ROOT not in _SEEN:
            _SEEN[ROOT] = _all()
        pids = _SEEN[ROOT]
    found = {}
    for name in names:
        own = [pid for pid in pids.get(name, ()) if not _is_contained(pid)]
        if own:
            found[name] = own
    return found


def _all():
    found = {}
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        for pid in os.listdir(ROOT):
            if pid.isdigit():
                found.setdefault(_name(pid, folder), []).append(pid)
    finally:
        os.close(folder)
    return found


def _name(pid, folder):
    try:
        file = os.open(pid + "/comm", os.O_RDONLY, dir_fd=folder)
    except OSError:  # gone by now
        return None
    try:
        return os.read(file, 64).decode("utf-8", "replace").rstrip("\n")
    except OSError:
        return None
    finally:
        os.close(file)


def _is_contained(pid):
    try:
        lines = text_of("%s/%s/status" % (ROOT, pid)).splitlines()
    except Unmeasured:
        return False
    return any(line.startswith("NSpid:") and len(line.split()) > 2 for line in lines)


def arguments_of(pid):
    """The words of its command line; none where it is gone."""
    try:
        return text_of("%s/%s/cmdline" % (ROOT, pid)).rstrip("\0").split("\0")
    except Unmeasured:
        return []
