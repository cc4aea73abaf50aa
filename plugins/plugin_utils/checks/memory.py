# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is there as much memory (MemTotal, in whole MB) as the roles need, and the models that the machine will serve?

Half of what the roles need is a warning. Short of what roles and models need together is always a failure: the
install would finish and then have nowhere to run the models.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Unmeasured, Verdict, fail, ok, section, warn

ID = "memory"
WORST = Level.FAIL
FIX_UNREAD = "See that MemTotal can be read in /proc/meminfo there."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    models = section(record, "serves", [{"name": str, "memory_mb": int}]) if record.get("serves", []) != [] else []
    of_models = sum([model["memory_mb"] for model in models])
    need = asked.need.memory_mb + of_models
    try:
        have = section(record, "memory_mb", int)
    except Unmeasured as problem:
        if need:
            raise
        return ok(f"none needed (not read: {problem})")
    if not of_models:
        detail = f"{have} MB (needs {need})"
        if have >= need:
            return ok(detail)
        fix = f"Give the machine {need} MB of memory, or move one of its roles to another machine."
        return warn(detail, fix) if 2 * have >= need else fail(detail, fix)
    names = ", ".join(model["name"] for model in models)
    detail = f"{have} MB (needs {need}: {asked.need.memory_mb} for its roles, {of_models} for {names})"
    if have >= need:
        return ok(detail)
    return fail(detail, f"Give the machine {need} MB of memory, or serve {names} on another machine.")
