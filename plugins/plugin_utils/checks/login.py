# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Could we log in to the machine, and run Python there?

Fails with the first line of the reason. Nothing else is reported for such a machine, since nothing else is known.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Unmeasured, Verdict, fail, ok, section

ID = "login"

# What to do about it, by what the probe found to be the cause.
FIXES = {
    "refused": "Start the SSH server there, or correct ansible_host and ansible_port in the inventory.",
    "timeout": "Check that the machine is on, that its address is right, and that no firewall drops the connection.",
    "no_route": "Check that the machine is on and that its address (ansible_host) is right.",
    "no_name": "Correct the machine's name in the inventory, or give its address as ansible_host.",
    "options": ("Correct the options that the controller gives to ssh: ansible_ssh_common_args, ansible_ssh_extra_args, ansible_ssh_args, "
                "ssh_args in ansible.cfg, or ~/.ssh/config."),
    "controller": "Install on the controller what is named (a program, or a Python package beside Ansible), or connect in another way.",
    "denied": "Check ansible_user and the key or password, and that the key is in ~/.ssh/authorized_keys there.",
    "host_key": "If the machine was reinstalled, remove its old key with ssh-keygen -R; otherwise find out why its key changed.",
    "dropped": "sshd may turn logins away when many come at once: raise MaxStartups in its sshd_config, or run with fewer forks (-f).",
    "no_room": "Make room in /tmp there, or let the user write to it (df -h /tmp, df -i /tmp, mount | grep ' /tmp ').",
    "python": "Set ansible_python_interpreter to a Python that runs there, or install one (apt-get install python3).",
    "silent": "Log in by hand and see what hangs; preflight_limits.machine_s says how long is waited.",
    "not_read": "Look for this machine's own message above, or for a condition (when, run_once) that passes it over, and mend that.",
    "no_part": "Run the preflight on it too with preflight_records_dir, under the same name, and give its file as well.",
}
UNREACHED = ("refused", "timeout", "no_route")
FIX_OTHER = "Log in by hand as the same user, run python3 there, and mend what is reported."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    try:
        login = section(record, "login", {"ok": bool})
        if login["ok"]:
            login = section(record, "login", {"user": str, "uid": int})
            return ok(f"logged in as {login['user']}")
        reason = section(record, "login", {"reason": str})["reason"]
    except Unmeasured as problem:
        return fail(f"not known whether the login worked: {problem}", FIX_OTHER)
    first = next((line.strip() for line in reason.splitlines() if line.strip()), "no reason was given")
    return fail(first, FIXES.get(str(login.get("cause")), FIX_OTHER))


def is_unreached(record: Mapping[str, t.Any]) -> bool:
    """Whether the controller got no connection to it, so that it may be down for the others too."""
    login = record.get("login")
    return isinstance(login, Mapping) and login.get("ok") is False and login.get("cause") in UNREACHED
