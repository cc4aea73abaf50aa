# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A picture of who reaches whom: each pair while there are few machines, and machines of the same roles together when there are many."""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ...model import OUTCOMES
from ..folding import width
from .words import NAME_MOST, clean, label, names, unread

PAIRS_MOST = 60  # machines that are drawn one by one
KINDS_MOST = 12
LISTED_MOST = 400  # lines of the list
NAME = 18  # characters of a name beside the picture
LETTER, LINE = 6.7, 11  # width and height of one there
# Of a port of a role: somebody lets the connection in, so that nothing is told of the way; role_ports warns of the machine that was called.
LET_IN = ("other_run", "no_word")

Pair = tuple[str, str]
Call = Mapping[str, t.Any]


class Mark(t.NamedTuple):
    x: float
    y: float
    kind: str  # ssh, ports, both, or unsure: a warning
    title: str


class Label(t.NamedTuple):
    at: float
    name: str


class Matrix(t.NamedTuple):
    """Rows reach columns; all in pixels."""

    width: float
    height: float
    left: float  # of the field
    top: float
    cell: float
    size: float  # of the field
    rows: Sequence[Label]
    columns: Sequence[Label]
    needs: str  # path of the marks of the pairs that will need a port
    unsure: str  # of those of them where not all ports could be tried
    unread: Sequence[float]  # tops of the rows of which nothing is known
    own: str  # path of the pairs of a machine with itself
    marks: Sequence[Mark]


class Listed(t.NamedTuple):
    callers: str
    peers: str
    ports: str
    outcome: str


class Kinds(t.NamedTuple):
    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[int, int]]]]  # name, and of each other kind the pairs that fail on SSH and on roles' ports


class Reach(t.NamedTuple):
    matrix: Matrix | None
    kinds: Kinds | None
    listed: Sequence[Listed]
    more: int  # lines that are left out
    pairs: int  # that are not reached
    unsure: str  # machines of which not all ports could be tried
    without: Sequence[str]  # network, role_ports: those of them that were not tried at all
    unknown: str
    sampled: Mapping[str, t.Any] | None


def reach(report: Mapping[str, t.Any]) -> Reach | None:
    """None where there is nobody to reach, or nothing was tried."""
    checks = {finding["check"] for finding in report["findings"]}
    without = [check for check in ("network", "role_ports") if check not in checks]
    machines = [machine["machine"] for machine in report["machines"]]
    others = [entry["machine"] for entry in report["not_examined"]]
    if len(without) == 2 or len(machines) + len(others) < 2:
        return None
    calls, silent, levels = report["not_reached"], _silent(report), _levels(report)
    few = len(machines) <= PAIRS_MOST and len(machines) + len(others) <= 1.5 * PAIRS_MOST
    listed, failed = _listed(calls, levels), [call for call in calls if _is_failure(call, levels)]
    return Reach(
        _matrix(report, silent, levels) if few else None, None if few else _kinds(report, failed),
        listed[:LISTED_MOST], max(0, len(listed) - LISTED_MOST),
        len({(call["machine"], call["peer"]) for call in failed}), names(name for name in machines if levels.get(name) == "warn"),
        without, names(name for name in machines if name in silent),
        report["sampled"] and {**report["sampled"], "seed": clean(report["sampled"]["seed"])})


def _silent(report: Mapping[str, t.Any]) -> set[str]:
    """The machines of which it is not known whom they reach: not read, or what they tried could not be told."""
    told = {call["machine"] for call in report["not_reached"]}
    return unread(report) | {finding["machine"] for finding in report["findings"] if finding["check"] == "network"
                             and finding["level"] == "fail" and finding["machine"] not in told}


def _levels(report: Mapping[str, t.Any]) -> dict[str, str]:
    """What is said of each machine's ports."""
    return {finding["machine"]: finding["level"] for finding in report["findings"] if finding["check"] == "role_ports"}


def _is_failure(call: Call, levels: Mapping[str, str]) -> bool:
    """Not where role_ports only warns: what was refused may have nothing that listens yet, or listens for some only."""
    if call["of"] == "reach":
        return True
    if call["outcome"] in LET_IN:
        return call["peer"] not in levels
    return not (call["outcome"] == "refused" and levels.get(call["peer"]) == "warn" and levels.get(call["machine"]) != "fail")


def _matrix(report: Mapping[str, t.Any], silent: set[str], levels: Mapping[str, str]) -> Matrix:
    roles = {machine["machine"]: tuple(machine["roles"]) for machine in report["machines"]}
    first = {role: number for number, role in enumerate(report["needs"])}
    callers = sorted(roles, key=lambda name: [first.get(role, 0) for role in roles[name]])
    callees = [*callers, *(entry["machine"] for entry in report["not_examined"])]
    cell = 20 if len(callees) <= 24 else 16 if len(callees) <= 40 else 13
    left, top = (8 + LETTER * max(width(label(name, NAME)) for name in its) for its in (callers, callees))
    rows = {name: top + cell * number for number, name in enumerate(callers)}
    columns = {name: left + cell * number for number, name in enumerate(callees)}
    failed: dict[Pair, list[Call]] = {}
    for call in report["not_reached"]:
        if call["machine"] in rows and call["peer"] in columns:
            failed.setdefault((call["machine"], call["peer"]), []).append(call)
    dot = cell * 0.2
    needy = [(caller, callee) for caller in callers if caller not in silent for callee in callers
             if caller != callee and (caller, callee) not in failed and _needs(report["needs"], roles[caller], roles[callee])]
    needs, unsure = ("".join(
        f"M{columns[callee] + (cell - size) / 2:g} {rows[caller] + (cell - size) / 2:g}h{size:g}v{size:g}h-{size:g}z"
        for caller, callee in needy if (levels.get(callee) == "warn") is warns) for warns, size in ((False, dot), (True, 2 * dot)))
    return Matrix(
        left + cell * len(callees) + 1, top + cell * len(callers) + 1, left, top, cell, cell * len(callees),
        [Label(round(y + cell / 2 + LINE / 3, 1), label(name, NAME)) for name, y in rows.items()],
        [Label(round(x + cell / 2 + LINE / 3, 1), label(name, NAME)) for name, x in columns.items()],
        needs, unsure, [rows[name] for name in callers if name in silent],
        "".join(f"M{columns[name]:g} {rows[name]:g}h{cell}v{cell}h-{cell}z" for name in callers),
        [Mark(columns[callee], rows[caller], _kind(its, levels), _title(caller, callee, its, levels))
         for (caller, callee), its in failed.items()])


def _needs(needs: Mapping[str, t.Any], callers: Sequence[str], callees: Sequence[str]) -> bool:
    return any(ports and callee in callees for caller in callers for callee, ports in needs.get(caller, {}).get("reaches", {}).items())


def _kind(calls: Sequence[Call], levels: Mapping[str, str]) -> str:
    kinds = {"ssh" if call["of"] == "reach" else "ports" for call in calls if _is_failure(call, levels)}
    return "both" if len(kinds) > 1 else kinds.pop() if kinds else "unsure"


def _title(caller: str, callee: str, calls: Sequence[Call], levels: Mapping[str, str]) -> str:
    told = ", ".join(f"{_port(call)}: {_outcome(call, levels)}" for call in calls)
    return f"{clean(caller, NAME_MOST)} does not reach {clean(callee, NAME_MOST)} ({clean(told)})"


def _port(call: Call) -> str:
    return f"{call['port']}{' (SSH)' if call['of'] == 'reach' else ''}"


def _outcome(call: Call, levels: Mapping[str, str]) -> str:
    return f"{OUTCOMES.get(call['outcome'], call['outcome'])}{'' if _is_failure(call, levels) else ' (a warning, not a failure)'}"


def _kinds(report: Mapping[str, t.Any], calls: Iterable[Call]) -> Kinds:
    roles = {machine["machine"]: " + ".join(machine["roles"]) or "no role" for machine in report["machines"]}
    roles.update((entry["machine"], "not examined") for entry in report["not_examined"])
    common = Counter(roles.values()).most_common()
    kept = {kind for kind, _number in common[:KINDS_MOST]}
    kind_of = {name: kind if kind in kept else "other roles" for name, kind in roles.items()}
    sizes = Counter(kind_of.values())
    failed: dict[tuple[str, str], tuple[set[Pair], set[Pair]]] = {}
    for call in calls:
        pair = (str(call["machine"]), str(call["peer"]))
        kinds = (kind_of.get(pair[0], "other roles"), kind_of.get(pair[1], "other roles"))
        failed.setdefault(kinds, (set(), set()))[call["of"] != "reach"].add(pair)

    def numbers(one: str, other: str) -> tuple[int, int]:
        ssh, ports = failed.get((one, other), ((), ()))
        return len(ssh), len(ports)

    told = {kind: f"{clean(kind, 60)} ({size})" for kind, size in sizes.items()}
    return Kinds(list(told.values()), [(told[one], [numbers(one, other) for other in told]) for one in told if one != "not examined"])


def _listed(calls: Iterable[Call], levels: Mapping[str, str]) -> list[Listed]:
    """Who does not reach whom, with the callers of one port together, then the ports of one machine, then the machines."""
    by_caller: dict[tuple[str, str, str], list[str]] = {}
    for call in calls:
        by_caller.setdefault((call["peer"], _port(call), _outcome(call, levels)), []).append(call["machine"])
    by_port: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (peer, port, outcome), callers in by_caller.items():
        by_port.setdefault((peer, outcome, tuple(callers)), []).append(port)
    by_peer: dict[tuple[tuple[str, ...], str, tuple[str, ...]], list[str]] = {}
    for (peer, outcome, some), ports in by_port.items():
        by_peer.setdefault((tuple(ports), outcome, some), []).append(peer)
    return [Listed(names(some), names(peers), clean(", ".join(ports)), clean(outcome, 80))
            for (ports, outcome, some), peers in by_peer.items()]
