# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Findings that tasks of the user's own left for a machine, in the variable preflight_own_findings. Pure.

Each is a mapping of check, level, detail and, unless it is ok, fix. What is none of this is a failure that says so: somebody meant to say
something and it must not be lost.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence

from .model import CHECK_ID, CHECK_ID_IS, FIX_MOST, Finding, Level

ID = "own_findings"
SECTION = "own_findings"  # of a record
VARIABLE = f"preflight_{SECTION}"
FIX = "Correct the task that sets it: a list of mappings with check, level (ok, warn or fail), detail, and fix unless it is ok."
LEVELS = {str(level): level for level in Level}
KEYS = ("check", "level", "detail", "fix")
KINDS: dict[t.Any, str] = {str: "a text", bool: "true or false", (int, float): "a number", Mapping: "a mapping", Sequence: "a list"}
BEGINNING_MOST = 60  # characters of what is none of these findings
TEXT_MOST = FIX_MOST  # characters of one text, as of all that comes from a machine
CUT = " ..."  # the sign that there was more


def findings_of(record: Mapping[str, t.Any], taken: t.Container[str]) -> list[Finding]:
    """Those of one machine; ``taken`` are the ids that other checks have."""
    given, machine, unmeasured = record.get(SECTION), str(record["machine"]), record.get("unmeasured")

    def wrong(what: str) -> Finding:
        return Finding(machine, ID, Level.FAIL, one_line(f"{VARIABLE}{what}"), FIX)

    if isinstance(unmeasured, Mapping) and SECTION in unmeasured:
        return [wrong(f" can not be worked out: {unmeasured[SECTION]}")]
    if given is None or isinstance(given, str) and not given.strip():  # a template may make text of nothing
        return []
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        return [wrong(f" is {_kind(given)}, not a list")]
    found = []
    for number, told in enumerate(given):
        problem = _problem(told, taken)
        if problem:
            found.append(wrong(f"[{number}] {problem}"))
        else:
            level = LEVELS[told["level"]]
            fix = "" if level == Level.OK else one_line(told["fix"])
            found.append(Finding(machine, str(told["check"]), level, one_line(told["detail"]), fix))
    return found


def one_line(text: str) -> str:
    """What YAML's | and > leave of several lines: a report has one for each text, and would show what breaks it as \\n."""
    told = " ".join(str(text).split())
    return told if len(told) <= TEXT_MOST else f"{told[:TEXT_MOST - len(CUT)]}{CUT}"


def kind_of(given: t.Any) -> str:
    return next((name for of, name in KINDS.items() if isinstance(given, of)), "nothing")


def _kind(given: t.Any) -> str:
    """What it is instead, and how it begins."""
    begins = repr(given)
    return f"{kind_of(given)} ({begins if len(begins) <= BEGINNING_MOST else begins[:BEGINNING_MOST] + '...'})"


def _problem(told: t.Any, taken: t.Container[str]) -> str | None:
    if not isinstance(told, Mapping):
        return f"is {_kind(told)}, not a mapping"
    level = told.get("level")
    needed = [key for key in KEYS if key != "fix" or not isinstance(level, str) or LEVELS.get(level, Level.OK) > Level.OK]
    absent = [key for key in needed if not isinstance(told.get(key), str) or not told[key].strip()]
    if absent:
        return f"has no text under {', '.join(absent)}"
    unknown = sorted(str(key) for key in set(told).difference(KEYS))
    if unknown:
        return f"has {unknown[0]!r}, which is not known"
    if told["level"] not in LEVELS:
        return f"has the level {told['level']!r}"
    if not CHECK_ID.fullmatch(told["check"]):
        return f"has the check {told['check']!r}, and {CHECK_ID_IS}"
    if told["check"] in taken:
        return f"has the check {told['check']!r}, which another check is called"
    return None
