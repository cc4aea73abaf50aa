# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which ports one machine is to try of the others, when all that are read at the same time have been. Pure."""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Mapping

from . import settings
from .checks.network import is_loopback
from .edges import Edges, place_of, together
from .left import stand_ins_of
from .model import Unmeasured, section

ETCD_PEERS = 2380  # the round trip to these counts, see checks/latency.py

Record = Mapping[str, t.Any]


def calls_of(
    name: str, plan: Mapping[str, t.Any], batch: t.Iterable[str], record_of: t.Callable[[str], Record | None],
) -> dict[str, t.Any] | None:
    """The arguments of what runs on the machine; None for one that was not read, or has nothing to try."""
    needs = settings.profile(plan["profile"]).needs
    edges = Edges(together(plan, batch), needs)
    read = functools.cache(record_of)  # hostvars are slow
    record = read(name) if name in edges.numbers else None
    if record is None:
        return None
    me = edges.machines[edges.numbers[name]]
    calls, elsewhere, round_trips = [], [], []
    for other, port in edges.calls(me):
        stand_ins, place = stand_ins_of(read(other["machine"])), place_of(other)
        if port in stand_ins.open | stand_ins.held:  # otherwise told of that machine
            calls.append({**place, "port": port, "number": edges.numbers[other["machine"]], "held": port in stand_ins.held,
                          "measured": port == ETCD_PEERS})
        elif port == ETCD_PEERS and read(other["machine"]) is not None:
            round_trips.append(place)
    passed_over = _out_of_reach(record)
    others = [other for other in plan["machines"] if other["machine"] not in edges.numbers]
    for other, port in Edges(others, needs).calls(me):
        if other["machine"] not in passed_over and not is_loopback(other["address"]):
            elsewhere.append({**place_of(other), "port": port})
            if port == ETCD_PEERS:
                round_trips.append(place_of(other))
    mine = stand_ins_of(record).open
    absent = {
        port: numbers for port, callers in edges.callers(me).items()
        if port in mine and (numbers := [edges.numbers[caller["machine"]] for caller in callers if read(caller["machine"]) is None])
    }
    if not (calls or absent or elsewhere or round_trips):
        return None
    return {"edges": calls, "elsewhere": elsewhere, "round_trips": round_trips, "absent": absent, "reach_s": plan["limits"]["reach_s"],
            "token": plan["run"], "me": edges.numbers[name]}


def _out_of_reach(record: Record) -> set[str]:
    """Those whose SSH ports it did not reach, as checks/network.py tells: their other ports would tell nothing more."""
    try:
        return {call["machine"] for call in section(record, "reach", {"not_open": [{"machine": str}]})["not_open"]}
    except Unmeasured:
        return set()
