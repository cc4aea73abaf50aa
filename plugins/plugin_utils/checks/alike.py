# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Are the machines that run PostgreSQL alike, as its replicas must be?

A replica is a copy of the files, which another architecture can not read: that fails. Another system or C library may sort text in
another order, and then the copied indexes are wrong (PostgreSQL wiki, Locale data changes): that is a warning. They are the machines
whose roles listen on port 5432; left out where fewer than two of them were read.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import POSTGRESQL, Group, Level, Member, Told, Unmeasured, Verdict, ok, section, several

ID = "alike"
WORST = Level.FAIL
FIX_UNREAD = "Compare it with the other database machines by hand (uname -m, /etc/os-release, getconf GNU_LIBC_VERSION)."

SECTIONS = {"architecture": str, "system": {"id": str, "version": (str, type(None))}, "libc": (str, type(None))}
LEVELS = {"architecture": Level.FAIL, "system": Level.WARN, "libc": Level.WARN}
FIX_ARCHITECTURE = "Use machines of one architecture for the database, since a replica is a copy of the files."
FIX_SORTING = ("Install the same release of the same system on all of the database's machines: another one may sort text in another order, "
               "which makes a replica's indexes wrong.")


def compare(group: Group) -> list[Told]:
    members = [member for member in group.members if POSTGRESQL in member.need.ports]
    if len(members) < 2:
        return []
    told: list[Told] = []
    machines: dict[str, dict[str, list[str]]] = {name: {} for name in SECTIONS}  # section -> value -> machines
    for member in members:
        problems = []
        for name, value in _values(member):
            if isinstance(value, Unmeasured):
                problems.append(f"{name}: {value}")
            else:
                machines[name].setdefault(value, []).append(member.name)
        if problems:
            told.append((member.name, Verdict(WORST, f"could not be read: {'; '.join(problems)}", FIX_UNREAD)))
    different = [name for name in SECTIONS if len(machines[name]) > 1]
    if different:
        level = max(LEVELS[name] for name in different)
        detail = "; ".join(f"not the same {name}: {_groups(machines[name])}" for name in different)
        fixes = [FIX_ARCHITECTURE] if "architecture" in different else []
        fixes += [FIX_SORTING] if different != ["architecture"] else []
        told.append((None, Verdict(level, f"the {len(members)} with PostgreSQL have {detail}", " ".join(fixes))))
    elif not told:
        common = ", ".join(value for name in SECTIONS for value in machines[name])
        told.append((None, ok(f"the {len(members)} with PostgreSQL all have {common}")))
    return told


def _values(member: Member) -> t.Iterable[tuple[str, str | Unmeasured]]:
    for name, shape in SECTIONS.items():
        try:
            value = section(member.record, name, shape)
        except Unmeasured as problem:
            yield name, problem
            continue
        if isinstance(value, Mapping):
            value = f"{value['id']} {value['version'] or 'without a version'}"
        yield name, value or "no glibc"


def _groups(machines: Mapping[str, list[str]]) -> str:
    return ", ".join(f"{value} ({several(names)})" for value, names in machines.items())
