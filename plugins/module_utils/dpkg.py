# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What dpkg has begun and not ended, and what it is told to hold. Its own files tell, see dpkg(1), Package states."""

import os

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

STATUS = "/var/lib/dpkg/status"
UPDATES = "/var/lib/dpkg/updates"  # changes of it that a dpkg that was interrupted has left; apt refuses to work then
WHOLE = ("installed", "config-files", "not-installed", "triggers-awaited", "triggers-pending")
MOST = 50  # packages
STATUS_MOST = 64 * 2**20  # bytes: some 40,000 packages


def dpkg():
    """interrupted; unfinished: the packages that are in no state to stay in, with that state; held: the names of those on hold."""
    try:
        with open(STATUS, "rb") as file:
            parts = (b"\n" + file.read(STATUS_MOST)).split(b"\nStatus: ")
        left = any(name.isdigit() for name in os.listdir(UPDATES)) if os.path.isdir(UPDATES) else False
    except OSError as error:
        raise Unmeasured("%s: %s" % (error.filename, error.strerror)) from error
    unfinished, held = [], []
    for before, part in zip(parts, parts[1:]):
        line = part.split(b"\n", 1)[0]
        if line == b"install ok installed":  # nearly all
            continue
        package = before.rpartition(b"\nPackage: ")[2].split(b"\n", 1)[0].decode("utf-8", "replace")
        want, flag, state = (line.decode("utf-8", "replace").split() + ["?"] * 3)[:3]
        if flag != "ok" or state not in WHOLE:
            unfinished.append({"package": package, "state": state if flag == "ok" else state + " " + flag})
        if want == "hold":
            held.append(package)
    return {"interrupted": left, "unfinished": unfinished[:MOST], "held": held}
