# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can every port that a role will listen on be reached from every machine that will need it?

Tried before anything is installed: on each free port a stand-in of this run answers, and a port that is held is tried as it is. What
needs what is data (reaches of the profile's roles). Several machines' failures with one cause are told once: of the
machine that lets nobody in on a port, or of the one that gets nowhere.

Between machines that are read at different times (other batches with serial, beyond --limit, other runs with preflight_peers) there are
no stand-ins. These ports are connected to all the same: what gets no answer where the SSH port did is a failure, and what is open is
reached. What is refused may only have nothing that listens yet, or meet a firewall that refuses: that is a warning, of the machine
that was to be reached, once it is read too.
"""

from __future__ import annotations

import functools
import ipaddress
import shlex
import typing as t
from collections import Counter
from collections.abc import Mapping, Sequence

from ..model import OUTCOMES, Group, Level, Member, Told, Unmeasured, Verdict, fail, ok, readings, section, several, warn

ID = "role_ports"
WORST = Level.FAIL
FIX_UNREAD = "Run again; if it stays, try the ports by hand (nc -vz ADDRESS PORT) while something listens on them."
FIX = "Open {ports} on {machine} for {callers} (firewall, security group, routes)."
FIX_NAME = "Correct preflight_address of {machine}, or what the name server of {callers} knows (/etc/resolv.conf, /etc/hosts)."
FIX_ALONE = "See what keeps this machine from reaching the others (its own firewall, its routes, its network)."
FIX_UNTRIED = "Try it by hand from the machines that need it (nc -vz ADDRESS PORT) once the service runs, or run again."
FIX_BEYOND = "Open these ports there for {machine} (firewall, security group, routes)."
FIX_LOST = "See whether the machine is up and can be reached, and run again when it is."

EDGES = {"tried": int, "open": int, "not_open": [{"machine": str, "port": int, "outcome": str}],
         "elsewhere": [{"port": int, "outcome": str, "machines": [str]}]}
STAND_INS = {"pid": (int, type(None)), "open": [int], "held": [int], "not_opened": [{"port": int, "reason": str}]}

Kind = tuple[str | None, tuple[tuple[str, int], ...]]  # of machines: the batch in which they were read, and what they reach
Read = tuple[Member, t.Any]  # a machine, and the section that it was asked for
Numbers = Mapping[str, Mapping[int, int]]  # machine -> port -> how many of the others need it there
Outcomes = dict[str, dict[int, dict[str, str]]]  # of calls: callee -> port -> caller -> outcome


def compare(group: Group) -> list[Told]:
    asked = [member for member in group.members if "stand_ins" in member.record or _is_unmeasured(member, "stand_ins")]
    callees, found = readings(asked, "stand_ins", STAND_INS, WORST, FIX_UNREAD)
    callers, unread = readings(
        [_with_elsewhere(member) for member in group.members if "edges" in member.record], "edges", EDGES, WORST, FIX_UNREAD)
    kind_of, members = {member.name: _kind(member) for member in group.members}, {member.name: member for member in group.members}
    kinds = Counter(kind_of.values())  # there are few

    @functools.cache
    def who_calls(roles: tuple[str, ...], kind: Kind) -> tuple[Counter[int], ...]:
        here, elsewhere = (_callers(roles, kind, kinds, same_batch) for same_batch in (True, False))
        return here + elsewhere, here, elsewhere

    numbers = [(callee.name, who_calls(callee.roles, kind_of[callee.name])) for callee, _stand_ins in callees]
    needed, here, elsewhere = ({name: its[which] for name, its in numbers} for which in range(3))
    blocked, at_another_time = _blocked(callers, needed), _at_another_time(callers)
    alone = _alone(callers, blocked, needed)
    found += [*unread, *_lost(asked), *_not_all_tried(asked, callers, callees, kind_of), *_beyond(callers, needed, alone), *alone.items()]
    for callee, stand_ins in callees:
        if needed[callee.name]:
            of_callee = {port: {caller: outcome for caller, outcome in by_caller.items() if caller not in alone}
                         for port, by_caller in blocked.get(callee.name, {}).items()}
            far = {port: _of_far(callee, port, number, at_another_time, blocked, kind_of)
                   for port, number in elsewhere[callee.name].items()}
            verdict = _judge(callee, stand_ins, of_callee, needed[callee.name], here[callee.name], far)
            rules = _rules(callee, of_callee, members) if verdict.level == Level.FAIL else ()
            found.append((callee.name, verdict._replace(commands=rules)))
    return _one_each(found)


def _lost(asked: Sequence[Member]) -> list[Told]:
    """Those that could be read, and did not try the ports after that: mostly since they could not be logged in to any more."""
    return [(member.name, fail(f"was read, but could not try the ports that it needs: {_reason(member)}", FIX_LOST))
            for member in asked if _is_unmeasured(member, "edges")]


def _not_all_tried(
    asked: Sequence[Member], callers: Sequence[Read], callees: Sequence[Read], kind_of: Mapping[str, Kind],
) -> list[Told]:
    """Those that do not tell of each port that they were to try."""
    there = {callee.name: (callee.roles, frozenset((*stand_ins["open"], *stand_ins["held"])), kind_of[callee.name][0])
             for callee, stand_ins in callees}
    alike = Counter(there.values())
    to_try = {kind: sum(number * _tried_at(*its, kind) for its, number in alike.items()) for kind in {*kind_of.values()}}
    own = {name: _tried_at(*its, kind_of[name]) for name, its in there.items() if its[1]}  # which it does not call
    expected = {member.name: to_try[kind_of[member.name]] - own.get(member.name, 0)
                for member in [*asked, *(caller for caller, edges in callers)]}
    silent = [member.name for member in asked if "edges" not in member.record and not _is_unmeasured(member, "edges")]
    found: list[Told] = [(name, fail("could not be read: it does not tell which ports it tried", FIX_UNREAD))
                         for name in silent if expected[name] > 0]
    for caller, edges in callers:
        number = edges["asked"] if isinstance(edges.get("asked"), int) else expected[caller.name]  # the former by the controller
        closed = len(edges["not_open"]) + sum(len(same["machines"]) for same in edges["elsewhere"] if same["outcome"] != "open")
        if not edges["tried"] == edges["open"] + closed == number:
            found.append((caller.name, fail(f"could not be read: of the {number} ports that it was to try it tells "
                                            f"{edges['tried']}, {edges['open']} open and {closed} not", FIX_UNREAD)))
    return found


def _with_elsewhere(member: Member) -> Member:
    """An older record has none."""
    edges = member.record["edges"]
    if not isinstance(edges, Mapping) or "elsewhere" in edges:
        return member
    return member._replace(record={**member.record, "edges": {"elsewhere": [], **edges}})


def _at_another_time(callers: Sequence[Read]) -> Outcomes:
    """What of machines that have no stand-in then is open or refused."""
    found: Outcomes = {}
    for caller, edges in callers:
        for same in edges["elsewhere"]:
            for callee in same["machines"]:
                found.setdefault(callee, {}).setdefault(same["port"], {})[caller.name] = same["outcome"]
    return found


def _of_far(callee: Member, port: int, number: int, at_another_time: Outcomes, blocked: Outcomes,
            kind_of: Mapping[str, Kind]) -> Counter[str]:
    """How it went for those that are not of this machine's batch, of whom so many need this port; "" where it is not known."""
    tried = {**at_another_time.get(callee.name, {}).get(port, {}), **blocked.get(callee.name, {}).get(port, {})}
    found = Counter(outcome for caller, outcome in tried.items()
                    if kind_of[caller][0] != kind_of[callee.name][0] and port in _wanted(callee.roles, kind_of[caller]))
    return found + Counter({"": number - found.total()})


def _beyond(callers: Sequence[Read], needed: Numbers, alone: t.Container[str]) -> list[Told]:
    """Who does not get through to machines of which nothing is known here: told of the caller."""
    found: list[Told] = []
    for caller, edges in callers:
        ports: dict[tuple[str, str], list[str]] = {}
        for call in edges["not_open"]:
            if call["machine"] not in needed and caller.name not in alone:
                words = OUTCOMES.get(call["outcome"], call["outcome"])
                ports.setdefault((call["machine"], words), []).append(str(call["port"]))
        if ports:
            told = several([f"{machine} on {', '.join(its)} ({words})" for (machine, words), its in ports.items()])
            found.append((caller.name, fail(f"does not reach {told}", FIX_BEYOND.format(machine=caller.name))))
    return found


def _blocked(callers: Sequence[Read], needed: Numbers) -> Outcomes:
    """What is needed and not open."""
    blocked: Outcomes = {}
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
        if len(edges["not_open"]) == edges["tried"] > 1 and others_get_there:
            told = sorted({(call["machine"], call["port"], OUTCOMES.get(call["outcome"], call["outcome"])) for call in edges["not_open"]})
            alone[caller.name] = fail("reaches none of the ports that it needs: " + several(
                [f"{machine} {port} ({words})" for machine, port, words in told]), FIX_ALONE)
    return alone


def _judge(callee: Member, stand_ins: t.Any, blocked: Mapping[int, Mapping[str, str]], needed: Mapping[int, int],
           here: t.Collection[int], far: Mapping[int, Counter[str]]) -> Verdict:
    """What is to be said of one machine's ports.

    ``blocked`` is port -> caller -> outcome; ``needed`` is port -> number of callers, and ``here`` are the ports that some of this
    machine's batch need; ``far`` is port -> outcome -> number, of callers that are not in it.
    """
    untried = [f"{entry['port']}: {entry['reason']}" for entry in stand_ins["not_opened"]]
    forgotten = set(here).difference(stand_ins["open"], stand_ins["held"], (entry["port"] for entry in stand_ins["not_opened"]))
    if forgotten:
        untried.append(f"{_listed(sorted(forgotten))}: nothing was opened there to be tried")
    for outcome, words in (("refused", "refused, since nothing listens there yet, or by a firewall"), ("", "read at another time")):
        ports = sorted(port for port, outcomes in far.items() if outcomes[outcome] > 0)
        if ports:
            number = max(far[port][outcome] for port in ports)
            untried.append(f"{_listed(ports)} from {number} of other batches or runs{':' if outcome else ','} {words}")
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
        fixes = []
        for text, of_name in ((FIX, False), (FIX_NAME, True)):
            of = [key for key in problems if (key[0] == "no_name") is of_name]
            ports, everyone = sorted({port for key in of for port in problems[key]}), sorted({caller for key in of for caller in key[1]})
            fixes += [text.format(ports=_listed(ports), machine=callee.name, callers=several(everyone))] if of else []
        return fail("; ".join(told + untried), " ".join(fixes))
    if untried:
        return warn(f"could not be tried: {'; '.join(untried)}", FIX_UNTRIED)
    most = max(needed.values())
    return ok(f"{_listed(sorted(needed))} can be reached from every machine that needs {'them' if len(needed) > 1 else 'it'} ({most})")


def _rules(callee: Member, blocked: Mapping[int, Mapping[str, str]], members: Mapping[str, Member]) -> tuple[str, ...]:
    """What lets them in through the machine's own ufw, where that is known to have no rule for these ports, nor is any caller's address
    in doubt. Of firewalld it is not known which zone they come by."""
    try:
        wall = section(callee.record, "firewall", {"by": str, "open": [{"first": int, "last": int}]})
        closed = [port for port in sorted(blocked) if not any(one["first"] <= port <= one["last"] for one in wall["open"])]
        callers = {caller: ",".join(str(port) for port in closed if caller in blocked[port])
                   for caller in sorted({caller for port in closed for caller in blocked[port]})}
        return tuple(f"ufw allow proto tcp from {_address(members[caller])} to any port {ports}"
                     for caller, ports in callers.items()) if wall["by"] == "ufw" else ()
    except (Unmeasured, ValueError):
        return ()


def _address(member: Member) -> str:
    """By which the others reach it, which must be one of its own, so that it calls them from there too. Raises Unmeasured or ValueError."""
    address = section(member.record, "address", str)
    if address not in section(member.record, "identity", {"addresses": [str]})["addresses"] or "%" in address:
        raise Unmeasured("something in between, or of one link only, which ufw does not know")
    return shlex.quote(str(ipaddress.ip_address(address)))


def _one_each(found: Sequence[Told]) -> list[Told]:
    """What is said of each machine in one, without what is ok where something is not."""
    by_machine: dict[str | None, list[Verdict]] = {}
    for machine, verdict in found:
        by_machine.setdefault(machine, []).append(verdict)
    told: list[Told] = []
    for machine, verdicts in by_machine.items():
        worst = max(verdict.level for verdict in verdicts)
        said = [verdict for verdict in verdicts if verdict.level != Level.OK] or verdicts
        told.append((machine, Verdict(worst, "; ".join(verdict.detail for verdict in said), " ".join(filter(None, (v.fix for v in said))),
                                      tuple(command for verdict in said for command in verdict.commands))))
    return told


def _untried(outcome: str, port: int, stand_ins: t.Any) -> str | None:
    """Why a port that was not reached tells nothing about the way to it; None where it does."""
    if outcome in ("other_run", "no_word"):  # the machine itself lets the connection in; its stand-in may only be too busy to speak
        return OUTCOMES[outcome]
    if outcome == "refused" and port in stand_ins["held"]:
        return "what listens on it does so for some callers only, or has ended by now"
    if outcome == "refused" and stand_ins.get("gone"):
        return "its stand-in had ended before it was called (logind's KillUserProcesses=yes does that, and stand_in_s)"
    return None


def _kind(member: Member) -> Kind:
    return str(member.record.get("batch") or ""), member.need.reaches


def _wanted(roles: t.Container[str], kind: Kind) -> set[int]:
    return {port for role, port in kind[1] if role in roles}


def _callers(roles: t.Container[str], own: Kind, kinds: Mapping[Kind, int], same_batch: bool) -> Counter[int]:
    """port -> how many of the others need it of one with these roles, of those in the same batch or of those in others."""
    found = Counter[int]()
    for kind, number in kinds.items():
        if (kind[0] == own[0]) is same_batch:
            for port in _wanted(roles, kind):
                found[port] += number - (kind == own)
    return +found  # without those that nobody needs


def _tried_at(roles: t.Container[str], there: t.AbstractSet[int], batch: str | None, kind: Kind) -> int:
    """How many ports one of that kind has to try of a machine with these roles, where something is there on these ports."""
    return len(_wanted(roles, kind) & there) if batch == kind[0] else 0


def _is_unmeasured(member: Member, name: str) -> bool:
    told = member.record.get("unmeasured")
    return name not in member.record and isinstance(told, Mapping) and name in told


def _reason(member: Member) -> str:
    return str(member.record["unmeasured"]["edges"])


def _listed(ports: Sequence[int]) -> str:
    return ", ".join(map(str, ports))
