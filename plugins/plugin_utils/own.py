# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Findings that tasks of the user's own left for a machine, in the variable preflight_own_findings. Pure.

Each is a mapping of check, level, detail and, unless it is ok, fix. What is none of this is a failure that says so: somebody meant to say
something and it must not be lost.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence

from .model import Finding, Level

ID = "own_findings"
SECTION = "own_findings"  # of a record
FIX = "Correct the task that sets it: a list of mappings with check, level (ok, warn or fail), detail, and fix unless it is ok."
LEVELS = {str(level): level for level in Level}
KEYS = {"check", "level", "detail", "fix"}


def findings_of(record: Mapping[str, t.Any], taken: t.Container[str]) -> list[Finding]:
    """Those of one machine; ``taken`` are the ids that other checks have."""
    given, machine = record.get(SECTION), str(record["machine"])
    if given is None:
        return []
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        return [Finding(machine, ID, Level.FAIL, f"preflight_{SECTION} is not a list", FIX)]
    found = []
    for number, told in enumerate(given):
        wrong = _wrong(told, taken)
        if wrong:
            found.append(Finding(machine, ID, Level.FAIL, f"preflight_{SECTION}[{number}] {wrong}", FIX))
        else:
            level = LEVELS[told["level"]]
            found.append(Finding(machine, str(told["check"]), level, str(told["detail"]), "" if level == Level.OK else str(told["fix"])))
    return found


def _wrong(told: t.Any, taken: t.Container[str]) -> str | None:
    if not isinstance(told, Mapping):
        return "is not a mapping"
    needed = KEYS if told.get("level") != str(Level.OK) else KEYS - {"fix"}
    absent = sorted(key for key in needed if not isinstance(told.get(key), str) or not told[key].strip())
    if absent:
        return f"has no {', '.join(absent)}"
    if set(told) - KEYS:
        return f"has a key {sorted(map(str, set(told) - KEYS))[0]!r} that is not known"
    if told["level"] not in LEVELS:
        return f"has the level {told['level']!r}"
    if told["check"] in taken or not told["check"].isidentifier():
        return f"has the check {told['check']!r}, which is taken or no id"
    return None
