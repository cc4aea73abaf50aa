# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the tasks of the role left in the play's variables. Pure."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from .model import Unmeasured, section
from .plain import plain

PLAN, PROBE, CALLS, CLOSED = "preflight_plan", "preflight_probe", "preflight_calls", "preflight_closed"  # what the role registers


def plan_of(given: Mapping[str, t.Any], variables: Mapping[str, t.Any]) -> Mapping[str, t.Any]:
    """The plan that is given; in place of an empty one that which is registered. It holds all machines, and as an argument each of them
    would have Ansible work out all of it as a template."""
    registered = variables.get(PLAN)
    found: Mapping[str, t.Any] = given or (plain(registered) if isinstance(registered, Mapping) else {})
    return found


def left_by(task: str, hostvars: Mapping[str, t.Any], machine: str) -> Mapping[str, t.Any] | None:
    """What the role's own task registered for this machine, in this run or an earlier one, or None."""
    # As it is: what is asked of hostvars itself Ansible goes through for templates, which takes longer than to judge it.
    of_machine = getattr(hostvars, "raw_get", hostvars.__getitem__)(machine)
    result = of_machine[task] if task in of_machine else None
    # What runs once is registered on every machine.
    return result if isinstance(result, Mapping) and result.get("machine") == machine and {"run", "play"} <= set(result) else None


def read_now(hostvars: Mapping[str, t.Any], machine: str, run: str) -> Mapping[str, t.Any] | None:
    """The record that this run has of a machine that could be logged in to, or None."""
    result = left_by(PROBE, hostvars, machine)
    if result is None or result["run"] != run or not isinstance(result.get("record"), Mapping):
        return None
    record: Mapping[str, t.Any] = result["record"]
    login = record.get("login")
    return record if isinstance(login, Mapping) and login.get("ok") is True else None


class StandIns(t.NamedTuple):
    """What one machine has of them: the number of their process, their ports, and the ports that a service holds instead."""

    pid: int | None = None
    open: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()


def stand_ins_of(record: Mapping[str, t.Any] | None) -> StandIns:
    """None of any kind where the machine was not read, or tells nonsense."""
    try:
        told = section(record or {}, "stand_ins", {"pid": (int, type(None)), "open": [int], "held": [int]})
    except Unmeasured:
        return StandIns()
    return StandIns(told["pid"], frozenset(told["open"]), frozenset(told["held"]))


def not_reached(result: Mapping[str, t.Any] | None, run: str) -> set[str] | None:
    """The machines that this one could not reach on some port, by what the second task left; None where that is not known."""
    if not result or result["run"] != run or "reason" in result:
        return None
    if "edges" not in result:
        return set()
    try:
        return {call["machine"] for call in section(result, "edges", {"not_open": [{"machine": str}]})["not_open"]}
    except Unmeasured:
        return None
