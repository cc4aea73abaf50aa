# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can the user become root? A password that is asked for is a warning, since one can be given.

So is one that is denied or not there, and a sudo that lets every task of the install wait, for more than 3 s, mostly for a name or a
directory server (ansible/ansible#33699). Left out for the controller itself. Root needs no sudo.

Where Ansible is told to become another user than root, or in another way (ansible_become_method, ansible_become_exe, ansible_become_user,
ansible_become_flags, their keywords and those of ansible.cfg), that is tried instead, with Ansible's own plugin: a warning where it does
not work. Not tried is whether one user without rights may read what another put there (acl, see "Risks of becoming an unprivileged user"
in Ansible's manual).
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Unmeasured, Verdict, ok, section, warn

ID = "sudo"
WORST = Level.WARN
FIX_UNREAD = ("Run sudo -k -n id -u there as the same user, or what ansible_become_method names in place of sudo, and see what it "
              "says.")
FIX_PASSWORD = "Run with --ask-become-pass, set ansible_become_password, or allow the user sudo without a password."
FIX_DENIED = "Allow the user sudo (usermod -aG sudo USER, as root), or give the right password as ansible_become_password."
FIX_SLOW = ("See what sudo waits for there: often the machine's own name, which belongs into /etc/hosts, or a directory server (LDAP, "
            "SSSD) that does not answer.")
FIX_MISSING = "Install sudo there as root (apt-get install sudo) and allow the user to use it, or log in as root."
FIX_BECOME = ("See with ansible MACHINE -b -m ansible.builtin.raw -a id what it says, and correct ansible_become_method, "
              "ansible_become_exe, ansible_become_user, ansible_become_flags or ansible_become_password, or allow it to the user that logs "
              "in.")
SLOW_S = 3  # every task of an install waits for it anew

SUDO = {"how": str}
BECOME = {"by": str, "user": str}
VERDICTS = {
    "root": ok("logged in as root, sudo is not needed"),
    "nopasswd": ok("sudo without a password"),
    "password_given": ok("sudo asks for a password, and the one given works"),
    "password": warn("sudo asks for a password and none is given", FIX_PASSWORD),
    "denied": warn("sudo is denied to this user", FIX_DENIED),
    "missing": warn("sudo is not installed and the user is not root", FIX_MISSING),
}


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    if record.get("local") is True:
        return None
    sudo = section(record, "sudo", SUDO)
    if sudo["how"] == "become":
        return ok(f"can {_told(section(record, 'sudo', BECOME))}")
    if sudo["how"] == "no_become":
        tried = section(record, "sudo", {**BECOME, "reason": str})
        return warn(f"can not {_told(tried)}: {tried['reason']}", FIX_BECOME)
    if sudo["how"] not in VERDICTS:
        raise Unmeasured(f"sudo.how is {sudo['how'][:40]!r} in the record, which is not known")
    verdict, waited = VERDICTS[sudo["how"]], sudo.get("waited_s")
    if sudo["how"] == "denied" and isinstance(sudo.get("reason"), str) and sudo["reason"]:
        return verdict._replace(detail=f"{verdict.detail}: {sudo['reason']}")
    if verdict.level == Level.OK and isinstance(waited, (int, float)) and waited > SLOW_S:
        return warn(f"{verdict.detail}, but it waits for {waited:.1f} s each time", FIX_SLOW)
    return verdict


def _told(tried: Mapping[str, str]) -> str:
    return f"become {tried['user']} by {tried['by']}" if tried["by"] else "become another user"
