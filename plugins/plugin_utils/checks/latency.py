# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Are etcd's members near enough to each other?

By the slowest median round trip from each to another. etcd's members tell each other every 100 ms that they are alive, and are to do so no
more often than a round trip takes (heartbeat interval, https://etcd.io/docs/v3.6/tuning/): a longer one than that is a failure, since a
slow member is then taken for a lost one, and one longer than a tenth of it a warning. They are the machines whose roles listen on port
2380; left out where fewer than two of them were read, or where the ports between them were not tried. Where no stand-in listens there,
since the other is read at another time (another batch, another run), the way to its SSH port is measured instead. What could not be
measured is a warning, unless that the other is not reached is told by network or role_ports.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence

from ..model import Group, Level, Member, Told, Unmeasured, Verdict, fail, ok, readings, section, several, warn

ID = "latency"
WORST = Level.FAIL
FIX_UNREAD = "See how long a round trip from there to etcd's other members takes (ping)."

PORT = 2380
FIX = ("Use machines nearer to each other for etcd: its heartbeat is 100 ms and should be well above the round trip. Where they must be "
       "that far apart, raise etcd's heartbeat interval and election timeout.")


def compare(group: Group) -> list[Told]:
    members = [member for member in group.members if PORT in member.need.ports]
    if len(members) < 2:
        return []
    tried = [member for member in members if "edges" in member.record or _is_unmeasured(member.record.get("unmeasured"))]
    read, found = readings(tried, "edges", {"slowest": (Mapping, type(None))}, WORST, FIX_UNREAD)
    measured = [member._replace(record=edges) for member, edges in read if edges["slowest"] is not None]
    slowest, unread = readings(measured, "slowest", {"machine": str, "seconds": (int, float)}, WORST, FIX_UNREAD)
    to = {member.name: told["machine"] for member, told in slowest}
    verdicts = {member.name: _judge(told["machine"], told["seconds"], group) for member, told in slowest}
    told_already = {name for name, verdict in found + unread}
    for member in members:
        missing = [] if member.name in told_already else _missing(member, members, to.get(member.name))
        if missing:
            verdicts[member.name] = _with_missing(verdicts.get(member.name), missing)
    return found + unread + [(member.name, verdicts[member.name]) for member in members if member.name in verdicts]


def _missing(member: Member, members: Sequence[Member], slowest: str | None) -> list[str]:
    """The members that it needs, and to which nothing was measured; of a record that does not tell of ports at all none."""
    needed = [other.name for other in members if other is not member
              and any(role in other.roles and port == PORT for role, port in member.need.reaches)]
    if "edges" not in member.record and "stand_ins" not in member.record:
        return []
    measured = [*_of(member.record, "edges", {"measured": [str]}), slowest] if slowest else []
    closed = {call["machine"] for name, ports in (("reach", None), ("edges", PORT)) for call in _of(
        member.record, name, {"not_open": [{"machine": str, "port": int}]}) if ports in (None, call["port"])}
    return [name for name in needed if name not in measured and name not in closed]


def _of(record: Mapping[str, t.Any], name: str, shape: Mapping[str, t.Any]) -> t.Any:
    """What the section has under the shape's one key; nothing where it has it not, or otherwise."""
    try:
        return section(record, name, shape)[next(iter(shape))]
    except Unmeasured:
        return ()


def _with_missing(verdict: Verdict | None, missing: Sequence[str]) -> Verdict:
    detail = f"could not be measured to {several(missing)}"
    if verdict is None:
        return warn(detail, FIX_UNREAD)
    return Verdict(max(verdict.level, Level.WARN), f"{verdict.detail}; {detail}", f"{verdict.fix} {FIX_UNREAD}".strip())


def _is_unmeasured(unmeasured: object) -> bool:
    return isinstance(unmeasured, Mapping) and "edges" in unmeasured


def _judge(peer: str, seconds: float, group: Group) -> Verdict:
    warn_s, fail_s = group.limits["latency_warn_s"], group.limits["latency_fail_s"]
    detail = f"{1000 * seconds:.1f} ms to {peer} and back ({1000 * warn_s:g} ms is allowed)"
    if seconds > fail_s:
        return fail(detail, FIX)
    return ok(detail) if 0 <= seconds <= warn_s else warn(detail, FIX)  # not a number is not enough either
