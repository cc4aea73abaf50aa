# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Records in, report out. Pure: no machine, no Ansible, no clock."""

from __future__ import annotations

import dataclasses
import datetime
import typing as t
from collections import Counter
from collections.abc import Mapping, Sequence

from . import checks, collector, custom, own, parts, settings, waivers
from .asked import asked_besides
from .checks import clock, login, network
from .fit import fit
from .model import Asked, Finding, Group, Level, Member, Need, Unmeasured, section, together
from .plain import plain

SCHEMA_VERSION = 1  # of a report; it grows when a program that reads one must change
CALLS = {"not_open": [{"machine": str, "port": int, "outcome": str}]}
LEVELS = [(level, str(level)) for level in Level]


class RecordsError(ValueError):
    """What was given to be judged is not a list of records; the message says what it is."""


@collector.waits()
def evaluate(
    records: t.Any,
    needs: t.Any = None,
    systems: t.Any = None,
    architectures: t.Any = None,
    limits: t.Any = None,
    others: t.Any = None,
    *,
    profile: t.Any = None,
    custom_checks: t.Any = None,
    only: t.Any = None,
    skip: t.Any = None,
    waived: t.Any = None,
    today: datetime.date | None = None,
    elsewhere: t.Collection[str] = (),
    told: Sequence[Finding] = (),
) -> dict[str, t.Any]:
    """Judge all records together.

    ``records`` is a list of mappings, each with at least ``machine``. ``others`` are the machines of the same set of which there is
    no record, each with ``machine`` and ``roles``; one that has a record is judged by that. ``only`` and ``skip`` are ids of checks.
    ``waived`` are the waivers; without ``today`` those that hold until some day do not hold. ``elsewhere`` are machines of no interest
    that waivers may name, ``told`` findings that are already made. The other arguments are as the role's variables of these names:
    ``needs`` is put over the profile's, and what is not given is as the profile has it, which is llmgw's where none is given.
    Returns plain JSON types, see docs/report.schema.json. A finding about the whole set has no machine.
    Raises RecordsError or settings.SettingsError.
    """
    base = settings.profile(profile, "profile")
    known = settings.needs(needs, "needs", base.needs)
    own_checks = settings.custom_checks(custom_checks, known, checks.IDS, "custom_checks")
    ids = known_ids(own_checks)
    left_out = skipped(ids, settings.check_ids(only, ids, "only"), settings.check_ids(skip, ids, "skip"))
    common = Asked(
        need=Need(),
        systems=base.systems if systems is None else settings.systems(systems, "systems"),
        architectures=base.architectures if architectures is None else settings.architectures(architectures, "architectures"),
        limits=settings.limits(limits, "limits"),
        machines=len(_checked(records)),
        unreached=frozenset(record["machine"] for record in records if login.is_unreached(record)),
    )

    kinds: dict[str, tuple[tuple[str, ...], Asked]] = {}  # what a machine's roles are and ask for, which many have the same

    def member(record: Mapping[str, t.Any]) -> Member:
        name, given = str(record["machine"]), record.get("roles")
        if (kind := repr(given)) not in kinds:
            roles = settings.roles(given, (), known, f"roles of {name}")
            kinds[kind] = roles, dataclasses.replace(common, need=together(known[role] for role in roles))
        roles, asked[name] = kinds[kind]
        return Member(name, roles, asked[name].need, record)

    asked: dict[str, Asked] = {}
    members = [member(record) for record in records]
    rest = [member(other) for other in (_checked(others) if others else ()) if other["machine"] not in asked]
    by_machine: dict[str | None, list[Finding]] = {
        one.name: checks.judge(one.record, asked[one.name], left_out) for one in members}
    read = [one for one in members if by_machine[one.name][0].level != Level.FAIL]
    unread = [one for one in members if by_machine[one.name][0].level == Level.FAIL] + rest
    for finding in (*checks.compare(Group(read, unread, common.limits), left_out), *_own(own_checks, members, read, rest, left_out)):
        by_machine.setdefault(finding.machine, []).append(finding)
    if own.ID not in left_out:
        for one in members:
            by_machine[one.name] += own.findings_of(one.record, (*ids, waivers.ID, parts.ID))
    looked_at = waivers.LookedAt(
        checks=ids, between=(network.ID, *(check.ID for check in checks.BETWEEN)), left_out=left_out,
        read=[one.name for one in read], absent=[one.name for one in unread], elsewhere=elsewhere)
    for finding in told:
        by_machine.setdefault(finding.machine, []).append(finding)
    findings, states, of_waivers = waivers.apply(
        [finding for found in by_machine.values() for finding in found], settings.waivers(waived, "waived"), looked_at,
        today or datetime.date.max)
    findings += [verdict.of(machine, waivers.ID) for machine, verdict in of_waivers]
    by_machine = {one.name: [] for one in members}
    for finding in findings:
        by_machine.setdefault(finding.machine, []).append(finding)
    clocks = {one.name: _section(one, "clock", clock.SHAPE) for one in read}
    report = {
        "schema_version": SCHEMA_VERSION,
        **_sum(findings),
        "machines": [{
            "machine": one.name, "address": str(one.record.get("address") or one.name), "roles": list(one.roles),
            **_sum(by_machine[one.name]), "clock": clocks.get(one.name)} for one in members],
        "skipped": left_out,
        "waivers": states,
        "limits": common.limits,
        "needs": {role: settings.as_given(need) for role, need in known.items()},
        "asked": asked_besides(common, own_checks, members, read),
        "not_reached": [
            {"machine": one.name, "peer": call["machine"], "port": call["port"], "outcome": call["outcome"], "of": of}
            for one in read for of in ("reach", "edges") for call in _not_open(one.record, of)
            if 1 <= call["port"] <= 65535],
    }
    return {
        **plain(report),  # names and texts may still be of Ansible's own kinds; below they are no more, since these are most of it
        "findings": [finding.as_dict() for found in by_machine.values() for finding in found],
        "fit": fit(read, known, common),
    }


def known_ids(own_checks: t.Iterable[custom.Check]) -> tuple[str, ...]:
    """The ids of all checks; one stands for the findings that tasks of the user's own left, whatever these are called."""
    return (*checks.IDS, *(check["check"] for check in own_checks), own.ID)


def skipped(ids: Sequence[str], only: t.Collection[str], skip: t.Collection[str]) -> list[str]:
    """Those of the checks that are left out; the login is always looked at, since without it nothing is known."""
    return [check for check in ids if check != login.ID and (check in skip or only and check not in only)]


def _own(
    own_checks: Sequence[custom.Check], members: Sequence[Member], read: Sequence[Member], rest: Sequence[Member],
    left_out: t.Container[str],
) -> list[Finding]:
    """What the user's own checks say: of each machine that was read, and of all together, also those that were not."""
    made = [check for check in own_checks if check["check"] not in left_out]
    seen = {one.name: custom.seen(one.record) for one in members} if made else {}
    seen.update({one.name: custom.unseen(one.record) for one in rest} if made else {})
    found = []
    for check in made:
        if check["scope"] == "all":
            asked = [one for one in (*members, *rest) if custom.is_about(check, one.roles)]
            machine, verdict = custom.compare(check, [seen[one.name] for one in asked])
            found.append(verdict.of(machine, check["check"]))
        else:
            asked = [one for one in read if custom.is_about(check, one.roles)]
            found += [custom.judge(check, seen[one.name]).of(one.name, check["check"]) for one in asked]
    return found


def _section(one: Member, name: str, shape: t.Any) -> t.Any:
    """A section for a picture; None where there is none to draw."""
    try:
        found = section(one.record, name, shape)
    except Unmeasured:
        return None
    return {key: found[key] for key in shape}


def _not_open(record: Mapping[str, t.Any], of: str) -> Sequence[t.Any]:
    try:
        found: Sequence[t.Any] = section(record, of, CALLS)["not_open"]
        return found
    except Unmeasured:
        return ()


def _sum(findings: Sequence[Finding]) -> dict[str, t.Any]:
    """What counts, and how many do not, since they are waived."""
    counting = [finding.level for finding in findings if not finding.waived]
    counts = {word: counting.count(level) for level, word in LEVELS}
    return {"worst": str(max(counting, default=Level.OK)), "counts": counts, "waived": len(findings) - len(counting)}


def _checked(records: t.Any) -> Sequence[Mapping[str, t.Any]]:
    if isinstance(records, (str, bytes)) or not isinstance(records, Sequence):
        hint = "; of a file of preflight_records_dir, that is what it has under records" if isinstance(records, Mapping) else ""
        raise RecordsError(f"a list of records is needed, not {own.kind_of(records)}{hint}")
    if not records:
        raise RecordsError("there is no record to judge, so there is nothing to call good")
    seen: Counter[str] = Counter()
    for number, record in enumerate(records, 1):
        name = record.get("machine") if isinstance(record, Mapping) else None
        if not isinstance(name, str) or not name:
            raise RecordsError(f"record {number} is not a mapping with the machine's name under machine")
        seen[name] += 1
    twice = [name for name, times in seen.items() if times > 1]
    if twice:
        raise RecordsError(f"more than one record is about {', '.join(twice)}")
    return records
