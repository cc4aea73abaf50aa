# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can the user become root? A password that is asked for is a warning, since one can be given.

Left out for the controller itself. Root needs no sudo.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Unmeasured, Verdict, ok, section, warn

ID = "sudo"
WORST = Level.WARN
FIX_UNREAD = "Run sudo -k -n true there as the same user and see what it says."

FIX_PASSWORD = "Run with --ask-become-pass, set ansible_become_password, or allow the user sudo without a password."
FIX_DENIED = "Allow the user sudo (usermod -aG sudo USER, as root), or give the right password as ansible_become_password."
FIX_MISSING = "Install sudo there as root (apt-get install sudo) and allow the user to use it, or log in as root."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    if record.get("local") is True:
        return None
    sudo = section(record, "sudo", {"how": str})
    why = f": {sudo['reason']}" if isinstance(sudo.get("reason"), str) and sudo["reason"] else ""
    verdicts = {
        "root": ok("logged in as root, sudo is not needed"),
        "nopasswd": ok("sudo without a password"),
        "password_given": ok("sudo asks for a password, and the one given works"),
        "password": warn("sudo asks for a password and none is given", FIX_PASSWORD),
        "denied": warn(f"sudo is denied to this user{why}", FIX_DENIED),
        "missing": warn("sudo is not installed and the user is not root", FIX_MISSING),
    }
    if sudo["how"] not in verdicts:
        raise Unmeasured(f"sudo.how is {sudo['how'][:40]!r} in the record, which is not known")
    return verdicts[sudo["how"]]
