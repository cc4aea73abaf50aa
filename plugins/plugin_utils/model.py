# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The nouns of the rules: level, verdict, finding, need, and what is asked of a machine.

Pure: nothing here knows Ansible, and nothing here reads a machine.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import re
import typing as t
from collections.abc import Mapping, Sequence

from .plain import plain

GIB = 2**30
CHECK_ID = re.compile(r"[a-z][a-z0-9_]{0,59}")  # what a check may be called
CHECK_ID_IS = "an id consists of small letters, digits and underscores, a letter first, 60 at most"
FIX_MOST = 1000  # characters of a fix: one that is cut can't be done, so that reports show all of it
NOT_WAIVED = ("login", "waivers")  # a machine that was not read may be anything


class Level(enum.IntEnum):
    """How serious a finding is; a higher one is worse."""

    OK = 0
    WARN = 1
    FAIL = 2

    def __str__(self) -> str:
        return WORDS[self]


WORDS = ("ok", "warn", "fail")
_OK = Level.OK  # up to Python 3.11 to look it up in its class takes half as long as to make a verdict


class Verdict(t.NamedTuple):
    """What one check says of one machine. ``fix`` is empty only for ok; ``commands`` are for a root shell on that machine: as much
    of the fix as needs no decision, with every word of a machine quoted."""

    level: Level
    detail: str
    fix: str = ""
    commands: tuple[str, ...] = ()

    def of(self, machine: str | None, check: str) -> Finding:
        return Finding(machine, check, self.level, self.detail, self.fix, self.commands)


class Finding(t.NamedTuple):
    """A verdict with the machine and the check that it belongs to."""

    machine: str | None
    check: str
    level: Level
    detail: str
    fix: str
    commands: tuple[str, ...] = ()
    waived: Mapping[str, t.Any] | None = None  # reason and until, where somebody has decided to live with it

    def as_dict(self) -> dict[str, t.Any]:
        """In JSON's own types; see plain.py."""
        text = str.__str__
        machine, check, level, detail, fix, commands, waived = self
        told: dict[str, t.Any] = {
            "machine": None if machine is None else text(machine), "check": text(check), "level": WORDS[level], "detail": text(detail),
            "fix": text(fix)}
        if commands:
            told["commands"] = plain(commands)
        if waived:
            told["waived"] = plain(waived)
        return told


def ok(detail: str) -> Verdict:
    return Verdict(_OK, detail)


def warn(detail: str, fix: str, *commands: str) -> Verdict:
    return Verdict(Level.WARN, detail, fix, commands)


def fail(detail: str, fix: str, *commands: str) -> Verdict:
    return Verdict(Level.FAIL, detail, fix, commands)


@dataclasses.dataclass(frozen=True)
class Need:
    """What a role needs of its machine, and which ports of other roles' machines it must reach."""

    cpus: int = 0
    cpu_level: int = 0  # of x86-64, 1 to 4
    memory_mb: int = 0
    gpus: int = 0
    gpu_memory_mb: int = 0  # of all its GPUs together
    disk_gb: tuple[Mapping[str, int], ...] = ()  # of each role that needs any: path -> GB free there
    ports: tuple[int, ...] = ()
    reaches: tuple[tuple[str, int], ...] = ()  # (role, port)
    packages: tuple[str, ...] = ()  # names, or several for one thing, with " | " between them
    writes: tuple[str, ...] = ()  # folders in which it waits until a write is on the disk


FIGURES = ("cpus", "cpu_level", "memory_mb", "gpus", "gpu_memory_mb")


def together(needs: t.Iterable[Need]) -> Need:
    """What several roles need of one machine: the largest of each figure, each port once, first mention first.

    Of disk space all is kept: which paths share a filesystem only the machine knows.
    """
    needs = list(needs)
    return Need(
        **{figure: max((getattr(need, figure) for need in needs), default=0) for figure in FIGURES},
        disk_gb=tuple(paths for need in needs for paths in need.disk_gb),
        ports=tuple(dict.fromkeys(port for need in needs for port in need.ports)),
        reaches=tuple(dict.fromkeys(edge for need in needs for edge in need.reaches)),
        packages=tuple(dict.fromkeys(package for need in needs for package in need.packages)),
        writes=tuple(dict.fromkeys(path for need in needs for path in need.writes)),
    )


@dataclasses.dataclass(frozen=True)
class Asked:
    """All that a rule may know beside the machine's own record."""

    need: Need  # of this machine's roles together
    systems: Mapping[str, Sequence[str]]  # os-release ID -> the VERSION_IDs that were tested
    architectures: Sequence[str]
    limits: Mapping[str, float]  # see settings.LIMITS
    machines: int  # in the whole set
    unreached: t.Collection[str] = ()  # those of them to which the controller got no connection


# How an attempt to reach a machine can end, in words.
OUTCOMES = {
    "refused": "refused",
    "timeout": "no answer",
    "no_route": "no route",
    "no_name": "its name can not be looked up",
    "wrong_answer": "something else answers there",
    "no_word": "the connection is made, but nothing answers on it",
    "other_run": "another preflight is at it",
}


class Member(t.NamedTuple):
    """One machine that was read, as the checks between the machines see it."""

    name: str
    roles: tuple[str, ...]
    need: Need  # of its roles together
    record: Mapping[str, t.Any]


@dataclasses.dataclass(frozen=True)
class Group:
    """All that a rule between machines may know."""

    members: Sequence[Member]  # those that were read; a machine that could not be logged in to has nothing to compare
    others: Sequence[Member]  # of the same set, but not read (not reached, outside --limit, of another batch): name and roles only
    limits: Mapping[str, float]


class Unmeasured(Exception):
    """A section of a record is absent or not of its type; the message is the reason, for people."""


def section(record: Mapping[str, t.Any], name: str, shape: t.Any) -> t.Any:
    """The section ``name`` of ``record``, which must have ``shape``.

    A shape is a type, a tuple of types, ``{key: shape}`` (further keys are let be), or ``[shape]``.
    Raises Unmeasured with the record's own reason, or with what is wrong with the section.
    """
    if name not in record:
        told = record.get("unmeasured")
        reason = told.get(name) if isinstance(told, Mapping) else None
        raise Unmeasured(str(reason) if reason else "the record does not hold it")
    value = record[name]
    kind = type(value)
    wrong = None if kind is shape and kind is not float or value == [] and isinstance(shape, list) else _misfit(value, shape)
    if wrong:
        raise Unmeasured(f"{name}{wrong}")
    return value


def _misfit(value: t.Any, shape: t.Any) -> str | None:
    """What is wrong, to be put behind the section's name. This is asked of all that is read, and nearly always the answer is None: so
    Python's own types are looked at first, and words are made only where something is wrong."""
    kind, of = type(value), type(shape)
    if of is dict:
        if kind is not dict and not isinstance(value, Mapping):
            return " is not a mapping in the record"
        for key, inner in shape.items():
            if key not in value:
                return f".{key} is not in the record"
            its = value[key]
            its_kind = type(its)
            if (its_kind is inner or isinstance(inner, tuple) and its_kind in inner) and (its_kind is not float or math.isfinite(its)):
                continue
            if its_kind is list and not its and isinstance(inner, list):
                continue
            wrong = _misfit(its, inner)
            if wrong:
                return f".{key}{wrong}"
        return None
    if of is list:
        if kind is not list and (isinstance(value, (str, bytes)) or not isinstance(value, Sequence)):
            return " is not a list in the record"
        inner = shape[0]
        for item in value:
            its_kind = type(item)
            wrong = None if its_kind is inner and its_kind is str else _misfit(item, inner)
            if wrong:
                return wrong
        return None
    # True is an int to Python, and not a figure to anybody else.
    if kind is bool and not (shape is bool or of is tuple and bool in shape):
        return f" is {value} in the record, not a figure"
    if not isinstance(value, shape):
        return f" is {str(value)[:40]!r} in the record, which is not of its type"
    if isinstance(value, float) and not math.isfinite(value):  # JSON has no such number, but Python reads it as one
        return f" is {value} in the record, not a figure"
    return None


POSTGRESQL = 5432  # a role that listens on this port runs it


def asked_by_models(record: Mapping[str, t.Any], figure: str) -> list[tuple[str, int]]:
    """Name and figure of each of the models to serve that asks for it."""
    if record.get("serves", []) == []:  # of nearly all
        return []
    return [(model["name"], section(model, figure, int)) for model in section(record, "serves", [{"name": str}]) if model.get(figure)]


Told = tuple[str | None, Verdict]  # the machine, None for the whole set, and what is said of it


def readings(members: t.Iterable[Member], name: str, shape: t.Any, worst: Level, fix: str) -> tuple[list[tuple[Member, t.Any]], list[Told]]:
    """The section ``name`` of each member that has it, and what to say of those of which it could not be read."""
    read: list[tuple[Member, t.Any]] = []
    unread: list[Told] = []
    for member in members:
        try:
            read.append((member, section(member.record, name, shape)))
        except Unmeasured as problem:
            unread.append((member.name, Verdict(worst, f"could not be read: {problem}", fix)))
    return read, unread


def seconds(value: float) -> str:
    """To a millisecond, and from a hundred seconds on to a second."""
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3f} s"


def several(things: Sequence[str], between: str = ", ", most: int = 8) -> str:
    """A few of them by name, and how many more there are."""
    told = between.join(things[:most])
    return told if len(things) <= most else f"{told} and {len(things) - most} more"
