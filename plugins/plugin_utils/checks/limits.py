# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is the install let have the CPUs and the memory that the machine shows?

A container or a slice can be held to less by a control group, which neither nproc nor MemTotal tells. Less than is shown is a
warning; less than the roles and the models to serve need is a failure.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Unmeasured, Verdict, fail, ok, section, warn

ID = "limits"
WORST = Level.FAIL
FIX_UNREAD = "See that /sys/fs/cgroup is mounted there and can be read."
FIX = ("Raise the limit of the container, or take away that of system.slice there (systemctl set-property "
       "system.slice CPUQuota= MemoryMax=).")


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    models = section(record, "serves", [{"memory_mb": int}]) if "serves" in record else []
    needs = {"cpus": asked.need.cpus, "memory_mb": asked.need.memory_mb + sum(model["memory_mb"] for model in models)}
    try:
        most = section(record, "confinement", {"cpus": (int, float, type(None)), "memory_mb": (int, type(None))})
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
