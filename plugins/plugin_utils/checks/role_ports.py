# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can every port that a role will listen on be reached from every machine that will need it?

Tried before anything is installed: on each free port a stand-in of this run answers, and a port that is held is tried as it is. What
needs what is data (reaches of the profile's roles). Several machines' failures with one cause are told once: of the
machine that lets nobody in on a port, or of the one that gets nowhere.
"""

from __future__ import annotations

import typing as t
from collections import Counter
from collections.abc import Mapping, Sequence

from ..model import OUTCOMES, Group, Level, Member, Told, Verdict, fail, ok, readings, several, warn

ID = "role_ports"
WORST = Level.FAIL
FIX_UNREAD = "Run again; if it stays, try the ports by hand (nc -vz ADDRESS PORT) while something listens on them."
FIX = "Open {ports} on {machine} for {callers} (firewall, security group, routes)."
FIX_ALONE = "See what keeps this machine from reaching the others (its own firewall, its routes, its network)."
FIX_UNTRIED = "Try it by hand from the machines that need it (nc -vz ADDRESS PORT) once the service runs, or run again."
FIX_LOST = "See whether the machine is up and can be reached, and run again when it is."

EDGES = {"tried": int, "open": int, "not_open": [{"machine": str, "port": int, "outcome": str}]}
STAND_INS = {"pid": (int, type(None)), "open": [int], "held": [int], "not_opened": [{"port": int, "reason": str}]}

Kind = tuple[str | None, tuple[tuple[str, int], ...]]  # of machines: the batch in which they were read, and what they reach
Read = tuple[Member, t.Any]  # a machine, and the section that it was asked for
Numbers = Mapping[str, Mapping[int, int]]  # machine -> port -> how many of the others need it there


def compare(group: Group) -> list[Told]:
    asked = [member for member in group.members if "stand_ins" in member.record or _is_unmeasured(member, "stand_ins")]
    callees, found = readings(asked, "stand_ins", STAND_INS, WORST, FIX_UNREAD)
    callers, unread = readings([member for member in group.members if "edges" in member.record], "edges", EDGES, WORST, FIX_UNREAD)
    kinds = Counter(map(_kind, group.members))  # there are few
    needed = {callee.name: _callers(callee, kinds, same_batch=True) for callee, _stand_ins in callees}
    blocked = _blocked(callers, needed)
    alone = _alone(callers, blocked, needed)
    found += [*unread, *_lost(asked), *_not_all_tried(asked, callers, callees, kinds), *alone.items()]
    for callee, stand_ins in callees:
        elsewhere = _callers(callee, kinds, same_batch=False)
        if needed[callee.name] or elsewhere:
            of_callee = {port: {caller: outcome for caller, outcome in by_caller.items() if caller not in alone}
                         for port, by_caller in blocked.get(callee.name, {}).items()}
            found.append((callee.name, _judge(callee, stand_ins, of_callee, needed[callee.name], elsewhere)))
    return _one_each(found)


def _lost(asked: Sequence[Member]) -> list[Told]:
    """Those that could be read, and did not try the ports after that: mostly since they could not be logged in to any more."""
    return [(member.name, fail(f"was read, but could not try the ports that it needs: {_reason(member)}", FIX_LOST))
            for member in asked if _is_unmeasured(member, "edges")]


def _not_all_tried(asked: Sequence[Member], callers: Sequence[Read], callees: Sequence[Read], kinds: Mapping[Kind, int]) -> list[Told]:
    """Those that do not tell of each port that they were to try."""
    to_try = {kind: sum(_tried_at(callee, stand_ins, kind) for callee, stand_ins in callees) for kind in kinds}  # its own among them
    own = {callee.name: _tried_at(callee, stand_ins, _kind(callee)) for callee, stand_ins in callees}
    expected = {member.name: to_try[_kind(member)] - own.get(member.name, 0) for member in [*asked, *(caller for caller, edges in callers)]}
    silent = [member.name for member in asked if "edges" not in member.record and not _is_unmeasured(member, "edges")]
    found: list[Told] = [(name, fail("could not be read: it does not tell which ports it tried", FIX_UNREAD))
                         for name in silent if expected[name] > 0]
    for caller, edges in callers:
        if not edges["tried"] == edges["open"] + len(edges["not_open"]) == expected[caller.name]:
            found.append((caller.name, fail(f"could not be read: of the {expected[caller.name]} ports that it was to try it tells "
                                            f"{edges['tried']}, {edges['open']} open and {len(edges['not_open'])} not", FIX_UNREAD)))
    return found


def _blocked(callers: Sequence[Read], needed: Numbers) -> dict[str, dict[int, dict[str, str]]]:
    """callee -> port -> caller -> outcome, of what is needed and not open."""
    blocked: dict[str, dict[int, dict[str, str]]] = {}
    for caller, edges in callers:
        for call in edges["not_open"]:
            if call["port"] in needed.get(call["machine"], ()):
                blocked.setdefault(call["machine"], {}).setdefault(call["port"], {})[caller.name] = call["outcome"]
    return blocked


def _alone(callers: Sequence[Read], blocked: Mapping[str, Mapping[int, Mapping[str, str]]], needed: Numbers) -> dict[str, Verdict]:
    """Those that get nowhere, not even where others do: told of them, not of each machine that they do not reach."""
    alone = {}
    for caller, edges in callers:
        others_get_there = any(len(blocked[call["machine"]][call["port"]]) < needed[call["machine"]][call["port"]]
                               for call in edges["not_open"] if call["port"] in needed.get(call["machine"], ()))
        if edges["tried"] > 1 and edges["open"] == 0 and others_get_there:
            told = sorted({(call["machine"], call["port"], OUTCOMES.get(call["outcome"], call["outcome"])) for call in edges["not_open"]})
            alone[caller.name] = fail("reaches none of the ports that it needs: " + several(
                [f"{machine} {port} ({words})" for machine, port, words in told]), FIX_ALONE)
    return alone


def _judge(callee: Member, stand_ins: t.Any, blocked: Mapping[int, Mapping[str, str]], needed: Mapping[int, int],
           elsewhere: Mapping[int, int]) -> Verdict:
    """What is to be said of one machine's ports.

    ``blocked`` is port -> caller -> outcome; ``needed`` and ``elsewhere`` are port -> number of callers in this machine's batch, and
    in others.
    """
    untried = [f"{entry['port']}: {entry['reason']}" for entry in stand_ins["not_opened"]]
    forgotten = set(needed).difference(stand_ins["open"], stand_ins["held"], (entry["port"] for entry in stand_ins["not_opened"]))
    if forgotten:
        untried.append(f"{_listed(sorted(forgotten))}: nothing was opened there to be tried")
    if elsewhere:
        number = max(elsewhere.values())
        untried.append(f"{_listed(sorted(elsewhere))} from {number} of other batches or runs, read at another time")
    problems: dict[tuple[str, tuple[str, ...], bool], list[int]] = {}  # outcome, callers, whether these are all -> ports
    for port, by_caller in sorted(blocked.items()):
        for outcome in sorted(set(by_caller.values())):
            callers = tuple(sorted(caller for caller, its in by_caller.items() if its == outcome))
            why = _untried(outcome, port, stand_ins)
            if why:
                untried.append(f"{port} from {several(callers)}: {why}")
            else:
                problems.setdefault((outcome, callers, len(callers) == needed.get(port)), []).append(port)
    if problems:
        told = [f"{'lets nobody in on' if everybody else 'is not reached on'} {_listed(ports)} "
                f"({'tried ' if everybody else ''}from {several(callers)}: {OUTCOMES.get(outcome, outcome)})"
                for (outcome, callers, everybody), ports in problems.items()]
        ports = sorted({port for same in problems.values() for port in same})
        everyone = sorted({caller for _outcome, some, _everybody in problems for caller in some})
        return fail("; ".join(told + untried), FIX.format(ports=_listed(ports), machine=callee.name, callers=several(everyone)))
    if untried:
        return warn(f"could not be tried: {'; '.join(untried)}", FIX_UNTRIED)
    most = max(needed.values())
    return ok(f"{_listed(sorted(needed))} can be reached from every machine that needs {'them' if len(needed) > 1 else 'it'} ({most})")


def _one_each(found: Sequence[Told]) -> list[Told]:
    """What is said of each machine in one, without what is ok where something is not."""
    by_machine: dict[str | None, list[Verdict]] = {}
    for machine, verdict in found:
        by_machine.setdefault(machine, []).append(verdict)
    told: list[Told] = []
    for machine, verdicts in by_machine.items():
        worst = max(verdict.level for verdict in verdicts)
        said = [verdict for verdict in verdicts if verdict.level != Level.OK] or verdicts
        told.append((machine, Verdict(worst, "; ".join(verdict.detail for verdict in said), " ".join(filter(None, (v.fix for v in said))))))
    return told


def _untried(outcome: str, port: int, stand_ins: t.Any) -> str | None:
    """Why a port that was not reached tells nothing about the way to it; None where it does."""
    if outcome in ("other_run", "no_word"):  # the machine itself lets the connection in; its stand-in may only be too busy to speak
        return OUTCOMES[outcome]
    if outcome == "refused" and port in stand_ins["held"]:
        return "what listens on it does so for some callers only"
    if outcome == "refused" and stand_ins.get("gone"):
        return "its stand-in had ended before it was called (logind's KillUserProcesses=yes does that, and stand_in_s)"
    return None


def _kind(member: Member) -> Kind:
    return str(member.record.get("batch") or ""), member.need.reaches


def _wanted(callee: Member, kind: Kind) -> set[int]:
    return {port for role, port in kind[1] if role in callee.roles}


def _callers(callee: Member, kinds: Mapping[Kind, int], same_batch: bool) -> dict[int, int]:
    """port -> how many of the others need it, of those in the same batch or of those in others."""
    own, found = _kind(callee), Counter[int]()
    for kind, number in kinds.items():
        if (kind[0] == own[0]) is same_batch:
            for port in _wanted(callee, kind):
                found[port] += number - (kind == own)
    return {port: number for port, number in found.items() if number}


def _tried_at(callee: Member, stand_ins: t.Any, kind: Kind) -> int:
    """How many ports of this machine one of that kind has to try."""
    there = {*stand_ins["open"], *stand_ins["held"]}
    return len(_wanted(callee, kind) & there) if _kind(callee)[0] == kind[0] else 0


def _is_unmeasured(member: Member, name: str) -> bool:
    told = member.record.get("unmeasured")
    return name not in member.record and isinstance(told, Mapping) and name in told


def _reason(member: Member) -> str:
    return str(member.record["unmeasured"]["edges"])


def _listed(ports: Sequence[int]) -> str:
    return ", ".join(map(str, ports))
