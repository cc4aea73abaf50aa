# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Who has to reach whom: pairs of machines and ports, from their roles. Pure."""

from __future__ import annotations

import random
import typing as t
from collections.abc import Mapping, Sequence

from . import model
from .model import Need

Machine = Mapping[str, t.Any]  # with machine and roles


class Edges:
    """The machines that are read together, and what each needs of the others; nothing of the size of machines² is kept."""

    def __init__(self, machines: Sequence[Machine], needs: Mapping[str, Need]) -> None:
        self.machines = machines
        self.numbers = {machine["machine"]: number for number, machine in enumerate(machines)}
        self._needs = needs
        self._ports: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[int, ...]] = {}  # of each pair of kinds of machines

    def ports(self, caller: Machine, callee: Machine) -> tuple[int, ...]:
        """The ports of ``callee`` that ``caller`` must reach."""
        kinds = (tuple(caller["roles"]), tuple(callee["roles"]))
        if kinds not in self._ports:
            reaches = model.together(self._needs[role] for role in kinds[0]).reaches
            self._ports[kinds] = tuple(sorted({port for role, port in reaches if role in kinds[1]}))
        return self._ports[kinds]

    def calls(self, me: Machine) -> t.Iterator[tuple[Machine, int]]:
        """The machines that this one must reach, with each port."""
        return ((other, port) for other in self._others(me) for port in self.ports(me, other))

    def callers(self, me: Machine) -> dict[int, list[Machine]]:
        """port -> the machines that must reach it here."""
        found: dict[int, list[Machine]] = {}
        for other in self._others(me):
            for port in self.ports(other, me):
                found.setdefault(port, []).append(other)
        return found

    def any(self, callers: t.Collection[str]) -> bool:
        """Whether any of these has anything to try at all."""
        kinds: dict[tuple[tuple[str, ...], bool], list[Machine]] = {}
        for machine in self.machines:
            kinds.setdefault((tuple(machine["roles"]), machine["machine"] in callers), []).append(machine)
        firsts = {kind: same[:2] for kind, same in kinds.items()}
        return any(self.ports(one, other) for (_roles, calls), ones in firsts.items() if calls
                   for one in ones for others in firsts.values() for other in others if one is not other)

    def _others(self, me: Machine) -> t.Iterator[Machine]:
        return (machine for machine in self.machines if machine["machine"] != me["machine"])


def together(plan: Mapping[str, t.Any], batch: t.Iterable[str]) -> list[Machine]:
    """The machines of a plan that are read at the same time: of this batch, and not left out by --limit."""
    names = set(batch)
    return [machine for machine in plan["machines"] if machine["examined"] and machine["machine"] in names]


def place_of(machine: Machine) -> dict[str, t.Any]:
    """Where it is logged in to, from the other machines."""
    return {key: machine[key] for key in ("machine", "address", "port")}


def some_of(peers: Sequence[Machine], needed: t.Container[str], number: int, seed: str, me: str) -> list[Machine]:
    """Those of ``peers`` that are needed, and so many others, by lot; the same ones for the same seed."""
    others = [peer for peer in peers if peer["machine"] not in needed]
    drawn = {peer["machine"] for peer in random.Random(f"{seed} {me}").sample(others, min(number, len(others)))}
    return [peer for peer in peers if peer["machine"] in needed or peer["machine"] in drawn]
