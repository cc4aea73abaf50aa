# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is each machine one of its own?

Copies of one image can have one machine-id, SSH host key, hostname or MAC address, and a machine can be in the inventory under two names.
One machine-id or one address for two machines fails, since what is installed then takes them for one; the rest alone is a warning. It is
told once, of the later machine. An address by which neither is reached is a warning too: behind NAT two networks may well use the same.

Product UUIDs are not compared: only root can read them, and containers have that of their host. Nor are boot ids, which are the kernel's.
"""

from __future__ import annotations

import ipaddress
import re
import typing as t
from collections.abc import Iterable, Mapping

from ..model import Group, Level, Member, Told, Verdict, ok, readings

ID = "identity"
WORST = Level.FAIL
FIX_UNREAD = "See that /etc/machine-id, /etc/ssh/ssh_host_*_key.pub and /proc/net can be read there."

FIX_ONE = "Take one of the two names out of the inventory, or correct its ansible_host."
WORDS = {  # in the order in which they are told
    "machine_id": "machine-id", "addresses": "address", "host_keys": "SSH host key", "hostname": "hostname", "macs": "MAC address",
}
MACHINE_ID = re.compile("[0-9a-f]{32}")
SHOWN = ("addresses", "hostname", "macs")  # the others are long, and nobody knows them by heart
FIXES = {
    "machine_id": "Give it a machine-id of its own (as root there: rm -f /etc/machine-id /var/lib/dbus/machine-id, then "
                  "systemd-machine-id-setup) and restart it.",
    "addresses": "If they are in one network, take the address away from one of the two machines.",
    "host_keys": "Give it SSH host keys of its own (as root there: rm /etc/ssh/ssh_host_*, then ssh-keygen -A), restart its SSH server, "
                 "and take its old key out of known_hosts (ssh-keygen -R).",
    "hostname": "Give it a hostname of its own (hostnamectl set-hostname NAME).",
    "macs": "Give its network interface a MAC address of its own, where the virtual machine is set up.",
}
SHAPE = {
    "machine_id": (str, type(None)), "host_keys": [str], "hostname": (str, type(None)), "addresses": [str], "macs": [str],
}


def compare(group: Group) -> list[Told]:
    if len(group.members) < 2:
        return []
    read, found = readings(group.members, ID, SHAPE, WORST, FIX_UNREAD)
    holders: dict[tuple[str, str], tuple[Member, t.Any]] = {}  # the first machine with each value
    for member, own in read:
        shared: dict[str, tuple[Member, t.Any, dict[str, str]]] = {}  # that machine -> what this one has of it
        for kind, value in _values(own):
            holder, its = holders.setdefault((kind, value), (member, own))
            if holder is not member:
                shared.setdefault(holder.name, (holder, its, {}))[2].setdefault(kind, value)
        found.append((member.name, _told(member, own, list(shared.values()))))
    return found


def _values(own: Mapping[str, t.Any]) -> list[tuple[str, str]]:
    machine_id, name = (own["machine_id"] or "").lower(), (own["hostname"] or "").lower()
    return [
        *([("machine_id", machine_id)] if MACHINE_ID.fullmatch(machine_id) else []),  # not one that is still to be made
        *[("addresses", address) for address in own["addresses"]],
        *[("host_keys", key) for key in own["host_keys"]],
        *([("hostname", name)] if name else []),
        *[("macs", mac.lower()) for mac in own["macs"]],
    ]


def _told(member: Member, own: t.Any, shared: list[tuple[Member, t.Any, dict[str, str]]]) -> Verdict:
    if not shared:
        return ok("nothing of it is another machine's too")
    level, details, fixes = Level.WARN, [], []
    for holder, its, common in shared:
        if _are_one(own, its, common):
            level = Level.FAIL
            details.append(f"{holder.name} and {member.name} are one machine, under two names")
            fixes.append(FIX_ONE)
            continue
        kinds = [kind for kind in WORDS if kind in common]
        if "machine_id" in common or "addresses" in common and not _is_beside(common["addresses"], (member, holder)):
            level = Level.FAIL
        words = [f"{WORDS[kind]} {common[kind]}" if kind in SHOWN else WORDS[kind] for kind in kinds]
        *most, last = words
        details.append(f"has the same {', '.join(most)}{' and ' if most else ''}{last} as {holder.name}")
        fixes += [FIXES[kind] for kind in kinds]
    return Verdict(level, "; ".join(details), " ".join(dict.fromkeys(fixes)))


def _are_one(own: Mapping[str, t.Any], its: Mapping[str, t.Any], common: Mapping[str, str]) -> bool:
    """A copy has an address of its own, whatever else it has of its original."""
    return ("machine_id" in common and own["hostname"] == its["hostname"] and set(own["host_keys"]) == set(its["host_keys"])
            and ("addresses" in common or not own["addresses"] or not its["addresses"]))


def _is_beside(address: str, members: Iterable[Member]) -> bool:
    """Whether each of them is reached by another address."""
    for member in members:
        try:
            if str(ipaddress.ip_address(str(member.record.get("address")))) == address:
                return False
        except ValueError:  # a name; two that lead to one address lead to one machine, which is told as that
            continue
    return True
