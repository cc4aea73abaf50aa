# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can Ansible put its modules and files onto the machine?

Into a folder of the user that logs in: ansible_remote_tmp, or remote_tmp of ansible.cfg, else ~/.ansible/tmp (ansible.builtin.sh, the shell
plugin). Where it can't be made, or takes no file, the first task that carries a file fails, with become too, and without pipelining every
task: "Failed to create temporary directory". Modes, mount flags, free blocks and inodes tell, and whether an empty file without a name can
be made there, or in the nearest folder above it that exists.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, fail, ok, section

ID = "remote_tmp"
WORST = Level.FAIL
FIX_UNREAD = "See why it does not answer there (df, ls -ld), or set ansible_remote_tmp to another folder."
FIX = ("Let the user that logs in write there and see that there is space, or set ansible_remote_tmp to a folder where that is so, such as "
       "/var/tmp/.ansible-$USER.")
SHAPE = {"path": str, "problem": (str, type(None))}


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    found = section(record, "remote_tmp", SHAPE)
    if found["problem"] is None:
        return ok(f"{found['path']} takes files")
    return fail(f"Ansible's folder {found['path']} {found['problem']}", FIX)
