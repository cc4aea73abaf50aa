# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Records that several runs have read, each a part of the machines, put together to be judged as one. Pure.

A part is what one run saves in preflight_records_dir: what was asked (settings), the machines that it knows of, and the records of those
that it examined.
"""

from __future__ import annotations

import datetime
import typing as t
from collections.abc import Mapping, Sequence

from .model import Finding, Level, Unmeasured, seconds, section, several

ID = "parts"
FILE = "preflight-records-{}.json"  # in preflight_records_dir, one a play
KIND = "llmgw.preflight records"
SCHEMA_VERSION = 1  # of a part; it grows when an older collection could not judge it any more
SETTINGS = ("profile", "limits", "custom_checks", "left_out", "waivers")
SHAPE = {
    "kind": str,
    "schema_version": int,
    "about": {"at": str, "version": str},
    "settings": {"profile": dict, "limits": dict, "custom_checks": list, "left_out": [str], "waivers": list},
    "machines": [{"machine": str, "address": str, "roles": [str], "examined": bool}],
    "records": [{"machine": str}],
}
AHEAD_S = 300  # of the clock here, that a part may be; clocks are not exact

NOT_READ = "no part holds a record of it"
FIX_STALE = "Run the preflight on it again, or raise preflight_limits.stale_s."
FIX_AHEAD = "Set the clock of the controller right that read it, or of this one, and run the preflight on it again."
FIX_TWICE = "Take the older file away if it is no longer needed."
FIX_VERSION = "Run the preflight on these machines again with one version."

Part = Mapping[str, t.Any]


class PartsError(ValueError):
    """The parts can't be judged together; the message lists every problem, a line each."""


class Whole(t.NamedTuple):
    settings: Mapping[str, t.Any]
    records: list[dict[str, t.Any]]  # one for each machine that any part knows of
    findings: list[Finding]  # about the parts themselves
    sampled: Mapping[str, t.Any] | None


def part_of(plan: Mapping[str, t.Any], records: Sequence[Mapping[str, t.Any]], about: Mapping[str, t.Any]) -> dict[str, t.Any]:
    """What is saved of one run."""
    return {
        "kind": KIND, "schema_version": SCHEMA_VERSION, "about": dict(about), "sampled": plan["sampled"],
        "settings": {name: plan[name] for name in SETTINGS}, "machines": list(plan["machines"]), "records": list(records),
    }


def whole(parts: Mapping[str, t.Any], version: str, now: datetime.datetime) -> Whole:
    """All parts, by the names of their files, as one. Raises PartsError."""
    if not parts:
        raise PartsError("There is no part to judge, so there is nothing to call good.")
    problems = [f"{name}: {wrong}" for name, part in parts.items() if (wrong := _wrong(part))]
    if problems:
        raise PartsError("\n".join(problems))
    first, *others = parts
    for name in others:
        different = [key for key in SETTINGS if parts[name]["settings"][key] != parts[first]["settings"][key]]
        if different:
            problems.append(f"{name} was read with other settings than {first}: {', '.join(different)}. There is one judgement, so they "
                            "must be the same; read these machines again.")
    if problems:
        raise PartsError("\n".join(problems))
    settings = parts[first]["settings"]
    by_time = sorted(parts, key=lambda name: _time(parts[name]))
    chosen: dict[str, str] = {}  # machine -> the name of the part that is taken
    read_in: dict[str, list[str]] = {}
    for name in by_time:
        for record in parts[name]["records"]:
            chosen[record["machine"]] = name
            read_in.setdefault(record["machine"], []).append(name)
    known = {machine["machine"]: machine for name in by_time for machine in parts[name]["machines"]}
    order = {machine: None for part in parts.values() for machine in [*(each["machine"] for each in part["machines"])]}
    records, findings = [], []
    for machine in order:
        if machine not in chosen:
            absent = {key: known[machine][key] for key in ("machine", "address", "roles")}
            records.append({**absent, "login": {"ok": False, "reason": NOT_READ, "cause": "not_read"}})
            continue
        records.append(next(dict(record) for record in parts[chosen[machine]]["records"] if record["machine"] == machine))
        findings += _about(machine, {name: parts[name] for name in read_in[machine]}, settings["limits"]["stale_s"], version, now)
    return Whole(settings, records, findings, next((part["sampled"] for part in parts.values() if part.get("sampled")), None))


def _wrong(part: t.Any) -> str | None:
    if not isinstance(part, Mapping) or part.get("kind") != KIND:
        return "this is no file of preflight_records_dir."
    if part.get("schema_version") != SCHEMA_VERSION:
        form = str(part.get("schema_version"))[:20]
        return f"it is of another form ({form}, not {SCHEMA_VERSION}); read its machines again with one version."
    try:
        section({"part": part}, "part", SHAPE)
        _time(part)
    except Unmeasured as problem:
        return f"it is damaged: {problem}."
    except ValueError:
        return "it is damaged: about.at is no time with a zone."
    return None


def _time(part: Part) -> datetime.datetime:
    """When a part was read. Raises ValueError."""
    found = datetime.datetime.fromisoformat(part["about"]["at"])
    if found.tzinfo is None:
        raise ValueError(part["about"]["at"])
    return found


def _about(machine: str, parts: Mapping[str, Part], stale_s: float, version: str, now: datetime.datetime) -> list[Finding]:
    """What is to be said of where one machine's record is from; ``parts`` hold it, the oldest first, and the last is taken."""
    def finding(level: Level, detail: str, fix: str) -> Finding:
        return Finding(machine, ID, level, detail, fix)

    *older, taken = parts
    at, by, age_s = parts[taken]["about"]["at"], parts[taken]["about"]["version"], (now - _time(parts[taken])).total_seconds()
    told = []
    if age_s > stale_s:
        told.append(finding(Level.FAIL, f"was read {seconds(age_s)} ago ({at}; {stale_s:g} s is allowed)", FIX_STALE))
    elif age_s < -AHEAD_S:
        told.append(finding(Level.FAIL, f"was read {seconds(-age_s)} from now ({at}), so nobody can say how old it is", FIX_AHEAD))
    readings = {record.get("batch") for part in parts.values() for record in part["records"] if record["machine"] == machine}
    if len(readings) > 1:
        told.append(finding(Level.WARN, f"was read more than once: {taken} is taken, which is newer than {several(older)}", FIX_TWICE))
    if by != version:
        told.append(finding(Level.WARN, f"was read by version {by}, and is judged by {version}", FIX_VERSION))
    return told
