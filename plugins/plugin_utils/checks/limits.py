# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is the install let have the CPUs and the memory that the machine shows, and will PostgreSQL keep what it was given?

A container or a slice can be held to less by a control group, which neither nproc nor MemTotal tells. Less than is shown is a
warning; less than the roles and the models to serve need is a failure.

Swap on a machine that will run PostgreSQL (its roles listen on port 5432) is a warning where vm.overcommit_memory is not 2: the kernel
then promises more memory than it has, and where both memory and swap are used up it ends PostgreSQL's main process (PostgreSQL
manual, Linux Memory Overcommit, which asks for 2).
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import POSTGRESQL, Asked, Level, Unmeasured, Verdict, fail, ok, section, warn

ID = "limits"
WORST = Level.FAIL
FIX_UNREAD = "See that /sys/fs/cgroup is mounted there and can be read."
FIX = ("Raise the limit of the container, or take away that of system.slice there (systemctl set-property "
       "system.slice CPUQuota= MemoryMax=).")
SHAPE = {"cpus": (int, float, type(None)), "memory_mb": (int, type(None))}
OVERCOMMIT = 2
FIX_SWAP = ("Have the kernel promise no more than it has: vm.overcommit_memory = 2 in a file of /etc/sysctl.d, with a vm.overcommit_ratio "
            "that fits (see Linux Memory Overcommit in PostgreSQL's manual), then sysctl --system; or do without swap: swapoff -a, and "
            "take it out of /etc/fstab.")


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    held, swap = _held(record, asked), _swap(record, asked)
    if not swap:
        return held
    if held.level == Level.OK:
        return swap
    return Verdict(held.level, f"{held.detail}; {swap.detail}", f"{held.fix} {swap.fix}")


def _held(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    models = section(record, "serves", [{"memory_mb": int}]) if record.get("serves", []) != [] else []
    needs = {"cpus": asked.need.cpus, "memory_mb": asked.need.memory_mb + sum([model["memory_mb"] for model in models])}
    try:
        most = section(record, "confinement", SHAPE)
    except Unmeasured as problem:
        if any(needs.values()):
            raise
        return ok(f"none needed (not read: {problem})")
    told, short = [], False
    for name, unit in (("cpus", "CPUs"), ("memory_mb", "MB of memory")):
        shown = record.get(name, "nothing")
        if most[name] is None or isinstance(shown, int) and most[name] >= shown:
            continue
        told.append(f"{most[name]:.10g} {unit} (shows {shown}, needs {needs[name]})")
        short = short or most[name] < needs[name]
    if not told:
        return ok("not held to less than the machine shows")
    return (fail if short else warn)(f"may use only {' and '.join(told)}", FIX)


def _swap(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    """What to warn of; None where there is nothing."""
    if POSTGRESQL not in asked.need.ports:
        return None
    try:
        found = section(record, "swap", {"swap_mb": int, "overcommit_memory": int})
    except Unmeasured as problem:
        return warn(f"whether there is swap could not be read: {problem}", FIX_SWAP)
    if not found["swap_mb"] or found["overcommit_memory"] == OVERCOMMIT:
        return None
    return warn(f"{found['swap_mb']} MB of swap for PostgreSQL, with vm.overcommit_memory {found['overcommit_memory']} "
                f"(its manual asks for {OVERCOMMIT})", FIX_SWAP)
