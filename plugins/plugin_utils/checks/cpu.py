# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Do the CPUs have the level of x86-64 that the roles and the models to serve ask for?

Programs built for a level end with "illegal instruction" on a CPU without it. Which flags make a level is in the x86-64 psABI
(Micro-Architecture Levels, https://gitlab.com/x86-psABIs/x86-64-ABI). A virtual machine can have less than its host: the CPU types
qemu64 and kvm64 are of the first level. Another architecture has no such levels, and no finding. How fast the CPU is, and whether other
virtual machines take of it, is not judged.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, asked_by_models, fail, ok, section

ID = "cpu"
WORST = Level.FAIL
FIX_UNREAD = "See which level the CPU has (/lib64/ld-linux-x86-64.so.2 --help names those that are supported)."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    models = asked_by_models(record, "cpu_level")
    need = max([asked.need.cpu_level, *(level for name, level in models)])
    if not need:
        return None
    have = section(record, "cpu_level", (int, type(None)))
    if have is None:
        return None
    asking = [name for name, level in models if level == need and need > asked.need.cpu_level]
    detail = f"x86-64-v{have} (needs v{need}{' for ' + ', '.join(asking) if asking else ''})"
    if have >= need:
        return ok(detail)
    return fail(detail,
                f"Give the virtual machine the CPU of its host (CPU type host, or x86-64-v{need}), or use a machine with a newer CPU.")
