# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Are etcd's members near enough to each other?

By the slowest median round trip from each to another. etcd's members tell each other every 100 ms that they are alive; where that takes
most of the time on the way, it takes a slow member for a lost one. They are the machines whose roles listen on port 2380; left out where
fewer than two of them were read, or where the ports between them were not tried.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..model import Group, Level, Told, Verdict, fail, ok, readings, warn

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
    read, unread = readings(measured, "slowest", {"machine": str, "seconds": (int, float)}, WORST, FIX_UNREAD)
    return found + unread + [(member.name, _judge(slowest["machine"], slowest["seconds"], group)) for member, slowest in read]


def _is_unmeasured(unmeasured: object) -> bool:
    return isinstance(unmeasured, Mapping) and "edges" in unmeasured


def _judge(peer: str, seconds: float, group: Group) -> Verdict:
    warn_s, fail_s = group.limits["latency_warn_s"], group.limits["latency_fail_s"]
    detail = f"{1000 * seconds:.1f} ms to {peer} and back ({1000 * warn_s:g} ms is allowed)"
    if seconds > fail_s:
        return fail(detail, FIX)
    return ok(detail) if seconds <= warn_s else warn(detail, FIX)  # not a number is not enough either
