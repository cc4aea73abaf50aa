# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can etcd lose a member and go on?

It goes on while more than half of its members do, so an even number stands the loss of no more than the odd one below it
(https://etcd.io/docs/v3.6/faq/#why-an-odd-number-of-cluster-members): that is a warning. Members are the machines whose roles listen on
etcd's port 2380, also those that could not be read. Left out for one machine alone.
"""

from __future__ import annotations

from ..model import Group, Level, Told, ok, several, warn

ID = "quorum"
WORST = Level.WARN
FIX_UNREAD = "Give each machine its role."  # nothing is read for it

FIX = "Add an etcd member on one more machine, or take one away, so that their number is odd."
PORT = 2380


def compare(group: Group) -> list[Told]:
    everyone = [*group.members, *group.others]
    members = [member.name for member in everyone if PORT in member.need.ports]
    if len(everyone) < 2 or not members:
        return []
    number, may_be_lost = len(members), (len(members) - 1) // 2
    named = f"({several(members)})"
    if number == 1:
        return [(None, ok(f"1 etcd member {named}: its loss stops everything"))]
    if number % 2:
        return [(None, ok(f"{number} etcd members {named}: {may_be_lost} may be lost"))]
    if number == 2:
        return [(None, warn(f"2 etcd members {named}: the loss of either stops everything, so they are no safer than one", FIX))]
    return [(None, warn(f"{number} etcd members {named}: {may_be_lost} may be lost, as with {number - 1}, and the loss of "
                        f"{may_be_lost + 1} stops everything", FIX))]
