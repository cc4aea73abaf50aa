# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What dpkg has begun and not ended, and what it is told to hold. Its own files tell, see dpkg(1), Package states."""

import os
import re

from ansible_collections.llmgw.preflight.plugins.module_utils.apt_caches import STATUS, without_writing
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find

UPDATES = "/var/lib/dpkg/updates"  # changes of it that a dpkg that was interrupted has left; apt refuses to work then
WHOLE = ("installed", "config-files", "not-installed", "triggers-awaited", "triggers-pending")
MOST = 50  # packages
STATUS_MOST = 64 * 2**20  # bytes: some 40,000 packages


def dpkg(limit_s=None):
    """interrupted; unfinished: the packages that are in no state to stay in, with that state; held: the names of those on hold.

    And unmet: what they depend on and do not have, of which apt is asked only where one is unpacked, as by dpkg without apt.
    """
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
    unpacked = limit_s and any(entry["state"] == "unpacked" for entry in unfinished)
    return {"interrupted": left, "unfinished": unfinished[:MOST], "held": held, "unmet": _unmet(limit_s) if unpacked else []}


def _unmet(limit_s):
    """apt-get(8), --simulate: it only says what it would do, and locks nothing."""
    path = find("apt-get")
    try:
        status, out, err = command([path, "--simulate"] + without_writing() + ["install"], limit_s) if path else (0, "", "")
    except Unmeasured:
        return []
    told = out.partition("have unmet dependencies:\n")[2] if status else ""
    return [line.strip() for line in re.findall(r"^ .*", told, re.M)][:MOST]
