# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Records that several runs have read, each a part of the machines, put together to be judged as one. Pure.

A part is what one run saves in preflight_records_dir: what was asked (settings), the machines that it knows of, and the records of those
that it examined.
"""

from __future__ import annotations

import datetime
import heapq
import itertools
import typing as t
from collections import Counter
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
    "settings": {"profile": dict, "limits": {"stale_s": (int, float)}, "custom_checks": list, "left_out": [str], "waivers": list},
    "machines": [{"machine": str, "address": str, "roles": [str], "examined": bool}],
    "records": [{"machine": str, "roles": [str]}],
    "elsewhere": [str],
}
AHEAD_S = 300  # of the clock here, that a part may be; clocks are not exact

NOT_READ = "no part holds a record of it; its name must be the same in all runs"
FIX_STALE = "Run the preflight on it again, or let the judge have a greater preflight_limits.stale_s."
FIX_AHEAD = "Set the clock of the controller right that read it, or of this one, and run the preflight on it again."
FIX_TWICE = "Take the older file away if it is no longer needed."
FIX_VERSION = "Run the preflight on these machines again with one version."
FIX_UNTRIED = "Name these machines in preflight_peers of the run that reads this one, the same list for all runs, and run it again."
FIX_ROLES = "Let preflight_peers give it the roles that it has for the run that reads it, and run the others again."
FIX_CONTROLLERS = "See on each controller that its clock is right and kept so (timedatectl), or read all machines from one."

Part = Mapping[str, t.Any]


class PartsError(ValueError):
    """The parts can't be judged together; the message lists every problem, a line each."""


class Whole(t.NamedTuple):
    settings: Mapping[str, t.Any]
    records: list[dict[str, t.Any]]  # one for each machine that any part knows of
    findings: list[Finding]  # about the parts themselves
    sampled: Mapping[str, t.Any] | None
    elsewhere: set[str]  # machines of the runs' inventories that no run is about


def part_of(
    plan: Mapping[str, t.Any], records: Sequence[Mapping[str, t.Any]], about: Mapping[str, t.Any], elsewhere: t.Iterable[str],
) -> dict[str, t.Any]:
    """What is saved of one run. For what is elsewhere only waivers ask."""
    return {
        "kind": KIND, "schema_version": SCHEMA_VERSION, "about": dict(about), "sampled": plan["sampled"],
        "settings": {name: plan[name] for name in SETTINGS}, "machines": list(plan["machines"]), "records": list(records),
        "elsewhere": sorted(elsewhere),
    }


def whole(parts: Mapping[str, t.Any], version: str, now: datetime.datetime, limits: Mapping[str, float] | None = None,
          waivers: Sequence[t.Any] | None = None) -> Whole:
    """All parts, by the names of their files, as one; ``limits`` are put over those of the parts, and ``waivers`` stand in for theirs.

    Raises PartsError.
    """
    if not parts:
        raise PartsError("There is no part to judge, so there is nothing to call good: let preflight_records name files or folders.")
    problems = [f"{name}: {wrong}" for name, part in parts.items() if (wrong := _wrong(part))]
    if problems:
        raise PartsError("\n".join(problems))
    first, *others = parts
    for name in others:
        different = [key for key in SETTINGS if parts[name]["settings"][key] != parts[first]["settings"][key]
                     and not (key == "waivers" and waivers is not None)]
        if different:
            problems.append(f"{name} was read with other settings than {first}: {', '.join(different)}. There is one judgement, so they "
                            "must be the same; read these machines again.")
    if problems:
        raise PartsError("\n".join(problems))
    settings = {**parts[first]["settings"], **({} if waivers is None else {"waivers": waivers})}
    settings["limits"] = {**settings["limits"], **(limits or {})}
    by_time = sorted(parts, key=lambda name: (_saved(parts[name]), name))
    read_in: dict[str, dict[str, dict[str, t.Any]]] = {}  # machine -> the names of the parts that hold it, the oldest first -> record
    for read, name, number in sorted((_read(record, part), name, number)
                                     for name, part in parts.items() for number, record in enumerate(part["records"])):
        record = parts[name]["records"][number]
        # Clocks of controllers that can not be told apart must not be taken for one.
        read_in.setdefault(record["machine"], {})[name] = {
            **record, "controller": str(record.get("controller") or name), "at": read.isoformat(timespec="seconds")}
    order = _in_order([[machine["machine"] for machine in parts[name]["machines"] if (machine.get("why") == "peer") is peers]
                       for name in by_time for peers in (False, True)])
    told_by = {name: {machine["machine"]: machine for machine in parts[name]["machines"]} for name in by_time}
    unknown = {name: [machine for machine in order if machine not in told_by[name]] for name in by_time}
    records, findings = [], []
    for machine in order:
        told = {name: told_by[name][machine] for name in by_time if machine in told_by[name]}
        if machine in read_in:
            taken = [*read_in[machine]][-1]
            records.append(_with_stand_ins(read_in[machine][taken]))
            findings += _about(machine, parts, read_in[machine], settings["limits"]["stale_s"], version, now)
            if "network" not in settings["left_out"]:
                findings += _untried(machine, unknown[taken])
        else:
            last = told[[*told][-1]]
            records.append({**{key: last[key] for key in ("machine", "address", "roles")},
                            "login": {"ok": False, "reason": NOT_READ, "cause": "no_part"}})
        findings += _roles(machine, records[-1]["roles"], told)
    if "clocks" not in settings["left_out"]:
        findings += _controllers([record for record in records if "clock" in record])
    sampled = next((part["sampled"] for part in (parts[name] for name in by_time) if part.get("sampled")), None)
    return Whole(settings, records, findings,
                 sampled and {"machines": len(order), "others": max(0, sampled["others"]), "seed": sampled["seed"]},
                 {machine for part in parts.values() for machine in part["elsewhere"]}.difference(order))


def _in_order(lists: Sequence[Sequence[str]]) -> list[str]:
    """Each machine once, in an order that fits all the lists: a slice's may hold every third one. Where they say nothing, as first told."""
    number = {machine: at for at, machine in enumerate(dict.fromkeys(itertools.chain(*lists)))}
    after: dict[str, list[str]] = {machine: [] for machine in number}
    waits_for: Counter[str] = Counter()
    for machines in lists:
        for machine, follower in itertools.pairwise(machines):
            after[machine].append(follower)
            waits_for[follower] += 1
    ready, found = [(at, machine) for machine, at in number.items() if not waits_for[machine]], dict[str, None]()
    while ready:
        machine = heapq.heappop(ready)[1]
        found[machine] = None
        for follower in after[machine]:
            waits_for[follower] -= 1
            if not waits_for[follower]:
                heapq.heappush(ready, (number[follower], follower))
    return list({**found, **dict.fromkeys(number)})  # the latter where the lists contradict each other


def _wrong(part: t.Any) -> str | None:
    if not isinstance(part, Mapping) or part.get("kind") != KIND:
        return "this is no file of preflight_records_dir."
    if part.get("schema_version") != SCHEMA_VERSION:
        form = str(part.get("schema_version"))[:20]
        return f"it is of another form ({form!r}, not {SCHEMA_VERSION}); read its machines again with one version."
    try:
        section({"part": part}, "part", SHAPE)
        if part.get("sampled") is not None:
            section(part, "sampled", {"others": int, "seed": str})
    except Unmeasured as problem:
        return f"it is damaged: {problem}."
    for where, holders in (("about.at", [part["about"]]), ("at of a record", [record for record in part["records"] if "at" in record])):
        if any(_time(holder["at"]) is None for holder in holders):
            return f"it is damaged: {where} is no time with a zone."
    machines, records = ([each["machine"] for each in part[of]] for of in ("machines", "records"))
    if not all(machines):
        return "it is damaged: a machine has no name."
    for names in (machines, records):
        twice = [machine for machine, times in Counter(names).items() if times > 1]
        if twice:
            return f"it is damaged: it tells more than once of {several(list(map(repr, twice)))}."
    known = set(machines)
    strange = [repr(machine) for machine in records if machine not in known]
    if strange:
        return f"it is damaged: it holds records of machines that it does not know of ({several(strange)})."
    return None


def _time(text: t.Any) -> datetime.datetime | None:
    try:
        found = datetime.datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else None


def _saved(part: Part) -> datetime.datetime:
    return t.cast(datetime.datetime, _time(part["about"]["at"]))


def _read(record: Mapping[str, t.Any], part: Part) -> datetime.datetime:
    """When this machine was, by the clock of its controller: with serial long before the part was saved. A machine that had left the
    play has no time of its own."""
    return _time(record.get("at")) or _saved(part)


def _about(
    machine: str, parts: Mapping[str, Part], read_in: Mapping[str, t.Any], stale_s: float, version: str, now: datetime.datetime,
) -> list[Finding]:
    """What is to be said of where one machine's record is from; of the parts that hold one, the oldest first, the last is taken."""
    *older, taken = read_in
    read, by = _read(read_in[taken], parts[taken]), parts[taken]["about"]["version"]
    at, age_s = read.isoformat(timespec="seconds"), (now - read).total_seconds()
    told = []
    if age_s > stale_s:
        told.append(_finding(machine, Level.FAIL, f"was read {seconds(age_s)} ago ({at}; {stale_s:g} s is allowed)", FIX_STALE))
    elif age_s < -AHEAD_S:
        told.append(_finding(
            machine, Level.FAIL, f"was read {seconds(-age_s)} from now ({at}), so nobody can say how old it is", FIX_AHEAD))
    others = [name for name in older if read_in[name] != read_in[taken]]  # not a copy of the file
    if others:
        told.append(_finding(
            machine, Level.WARN, f"was read more than once: {taken}, of {at}, is taken, and not {several(others)}", FIX_TWICE))
    if by != version:
        told.append(_finding(machine, Level.WARN, f"was read by version {by}, and is judged by {version}", FIX_VERSION))
    return told


def _with_stand_ins(record: dict[str, t.Any]) -> dict[str, t.Any]:
    """A run in which nobody needs a port of another opens none; others may need them, and checks/role_ports.py is to say so."""
    unmeasured = record.get("unmeasured")
    told = "stand_ins" in record or isinstance(unmeasured, Mapping) and "stand_ins" in unmeasured
    return record if told else {**record, "stand_ins": {"pid": None, "open": [], "held": [], "not_opened": []}}


def _untried(machine: str, unknown: Sequence[str]) -> list[Finding]:
    """A run tries to reach those machines only that it knows of."""
    return [_finding(machine, Level.WARN, "could not be tried whether it reaches machines that its run did not know of: "
                     f"{several(unknown)}", FIX_UNTRIED)] if unknown else []


def _roles(machine: str, roles: Sequence[str], told: Mapping[str, t.Any]) -> list[Finding]:
    """Peers whose roles are not given are no contradiction."""
    own = {*roles}
    others = sorted({", ".join(sorted(each["roles"])) for each in told.values() if each["roles"] and {*each["roles"]} != own})
    return [_finding(machine, Level.WARN, f"has the roles {', '.join(sorted(own)) or 'none'}, and in other runs "
                     f"{several(others, ' or ')}, by which these chose what to try", FIX_ROLES)] if others else []


def _controllers(records: Sequence[Mapping[str, t.Any]]) -> list[Finding]:
    """checks/clocks.py compares those only that were read from one."""
    numbers = Counter(record["controller"] for record in records)
    return [_finding(None, Level.WARN, f"the machines were read from {len(numbers)} controllers, so it is not known whether the clocks of "
                     "those of one agree with those of another", FIX_CONTROLLERS)] if len(numbers) > 1 else []


def _finding(machine: str | None, level: Level, detail: str, fix: str) -> Finding:
    return Finding(machine, ID, level, detail, fix)
