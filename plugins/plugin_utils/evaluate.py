# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Records in, report out. Pure: no machine, no Ansible, no clock."""

from __future__ import annotations

import dataclasses
import json
import typing as t
from collections import Counter
from collections.abc import Mapping, Sequence

from . import checks, settings
from .model import Asked, Finding, Group, Level, Member, Need, together


class RecordsError(ValueError):
    """What was given to be judged is not a list of records; the message says what it is."""


def evaluate(
    records: t.Any,
    needs: t.Any = None,
    systems: t.Any = None,
    architectures: t.Any = None,
    limits: t.Any = None,
    others: t.Any = None,
) -> dict[str, t.Any]:
    """Judge all records together.

    ``records`` is a list of mappings, each with at least ``machine``. ``others`` are the machines of the same set of which there is
    no record, each with ``machine`` and ``roles``. The other arguments are as the role's variables of these names and default to
    llmgw's figures. Returns plain JSON types: worst, counts, machines, findings. A finding about the whole set has no machine.
    Raises RecordsError or settings.SettingsError.
    """
    known = settings.needs(needs, "needs")
    common = Asked(
        need=Need(),
        systems=settings.systems(systems, "systems"),
        architectures=settings.architectures(architectures, "architectures"),
        limits=settings.limits(limits, "limits"),
        machines=len(_checked(records)),
    )

    def member(record: Mapping[str, t.Any]) -> Member:
        name = str(record["machine"])
        roles = settings.roles(record.get("roles"), (), known, f"roles of {name}")
        return Member(name, roles, together(known[role] for role in roles), record)

    members = [member(record) for record in records]
    by_machine: dict[str | None, list[Finding]] = {
        one.name: checks.judge(one.record, dataclasses.replace(common, need=one.need)) for one in members}
    read = [one for one in members if by_machine[one.name][0].level != Level.FAIL]
    unread = [one for one in members if by_machine[one.name][0].level == Level.FAIL]
    unread += [member(other) for other in (_checked(others) if others else ())]
    for finding in checks.compare(Group(read, unread, common.limits)):
        by_machine.setdefault(finding.machine, []).append(finding)
    machines = [
        {"machine": one.name, "address": str(one.record.get("address") or one.name), "roles": list(one.roles), **_sum(by_machine[one.name])}
        for one in members
    ]
    findings = [finding for found in by_machine.values() for finding in found]
    report = {**_sum(findings), "machines": machines, "findings": [finding.as_dict() for finding in findings]}
    # Names and texts may still be of Ansible's own kinds of text; a report is plain.
    plain: dict[str, t.Any] = json.loads(json.dumps(report))
    return plain


def _sum(findings: Sequence[Finding]) -> dict[str, t.Any]:
    counts = Counter(finding.level for finding in findings)
    return {"worst": str(max(counts, default=Level.OK)), "counts": {str(level): counts[level] for level in Level}}


def _checked(records: t.Any) -> Sequence[Mapping[str, t.Any]]:
    if isinstance(records, (str, bytes)) or not isinstance(records, Sequence):
        raise RecordsError(f"a list of records is needed, not {type(records).__name__}")
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
