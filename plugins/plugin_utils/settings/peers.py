# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What one of several runs knows of the machines of the others. Pure."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Mapping

from .machine import address, port, roles
from .values import Problems, SettingsError, is_list, refuse

PEER = ("machine", "address", "port", "roles")


def peers(given: t.Any, known: t.Iterable[str], name: str = "preflight_peers") -> list[dict[str, t.Any]]:
    """Machines that other runs read: a list of machine, address, and, if need be, port and roles."""
    problems, known, found = Problems(), list(known), []
    if given is not None and not is_list(given):
        refuse(name, given, "it must be a list of machine, address and, if need be, port and roles.")
    for number, peer in enumerate(given or ()):
        where = f"{name}[{number}]"
        if not isinstance(peer, Mapping) or not isinstance(peer.get("machine"), str) or not set(peer) <= set(PEER):
            problems.add(where, peer, f"it must be a mapping of {', '.join(PEER)}.")
            continue
        if not peer["machine"].strip() or not peer["machine"].isprintable():
            problems.add(f"{where}.machine", peer["machine"], "it must be the machine's name in the inventory of the run that reads it.")
            continue
        settled: dict[str, t.Any] = {"machine": str(peer["machine"]).strip()}
        checks: dict[str, tuple[t.Callable[..., t.Any], tuple[t.Any, ...]]] = {
            "address": (address, (peer.get("address") or peer["machine"],)), "port": (port, (peer.get("port"),)),
            "roles": (roles, (peer.get("roles") or (), (), known))}
        for key, (check, values) in checks.items():
            try:
                settled[key] = check(*values, f"{where}.{key}")
            except SettingsError as problem:
                problems.append(str(problem))
        found.append({**settled, "roles": list(settled.get("roles", ())), "serves": [], "internet_urls": []})
    for machine, times in Counter(peer["machine"] for peer in found).items():
        if times > 1:
            problems.add(name, machine, "each machine must be there once.")
    problems.stop()
    return found
