# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What an install asks of its machines, role by role. Pure.

Where ``of_profile`` is set, what is given is of a profile and must be as docs/profile.schema.json says: figures are numbers and versions
are texts, since no template made them, and ``source`` says where they are from. Of the rest nothing may be taken that a profile could not
hold: the plan is one.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t
from collections.abc import Mapping, Sequence

from ..model import FIGURES, Need
from .values import CPU_LEVELS, EMPTY, HIGHEST, Problems, is_list, refuse, texts, whole

ROLE_KEYS = (*FIGURES, "disk_gb", "ports", "reaches", "packages", "writes")
ROLE_ID = "a role id consists of letters, digits and underscores."
PATH = re.compile(r"/[^\x00-\x1f\x7f]*")
SYSTEM_ID = re.compile(r"[a-z0-9._-]+")
PACKAGE = "[a-z0-9][a-z0-9+.-]+"  # a name, see deb-control(5)
PACKAGES = re.compile(rf"{PACKAGE}( *\| *{PACKAGE})*")


def needs(given: t.Any, name: str, default: Mapping[str, Need], of_profile: bool = False) -> dict[str, Need]:
    """The ``default`` needs with the ``given`` figures put over them: role id -> figure -> value.

    A role that is not among the defaults becomes known by being named; figures it does not name are 0.
    """
    problems = Problems()
    known = dict(default)
    keys = (*ROLE_KEYS, "source") if of_profile else ROLE_KEYS
    if given is None:
        return known
    if not isinstance(given, Mapping):
        refuse(name, given, "it must be a mapping of role ids to what each needs.")
    for role, figures in given.items():
        where = f"{name}.{role}"
        if not _is_role(role):
            problems.add(f"{name} key", role, ROLE_ID)
            continue
        if not isinstance(figures, Mapping):
            problems.add(where, figures, f"it must be a mapping with some of {', '.join(keys)}.")
            continue
        changed: dict[str, t.Any] = {}
        for key, value in figures.items():
            if key in FIGURES:
                changed[key] = _number(value, of_profile)
                if changed[key] is None:
                    problems.add(f"{where}.{key}", value, "it must be a whole number, 0 or more.")
                elif key == "cpu_level" and changed[key] > CPU_LEVELS:
                    problems.add(f"{where}.{key}", value, HIGHEST)
            elif key == "ports":
                changed["ports"] = _ports(value, f"{where}.ports", of_profile, problems)
            elif key == "reaches" and isinstance(value, Mapping):
                changed["reaches"] = tuple((str(other), port) for other, ports in value.items()
                                           for port in _ports(ports, f"{where}.reaches.{other}", of_profile, problems))
                for other in value:
                    if not _is_role(other):
                        problems.add(f"{where}.reaches key", other, ROLE_ID)
            elif key == "disk_gb":
                changed["disk_gb"] = _disk_gb(value, f"{where}.disk_gb", of_profile, problems)
            elif key == "writes":
                changed["writes"] = _paths(value, f"{where}.writes", problems)
            elif key == "packages":
                changed["packages"] = _packages(value, f"{where}.packages", problems)
            elif key == "reaches":
                problems.add(f"{where}.reaches", value, "it must be a mapping of role ids to lists of their ports.")
            elif key in keys:
                check_source(value, f"{where}.source", ROLE_KEYS, problems)
            else:
                problems.add(f"{where} key", key, f"the known ones are {', '.join(keys)}.")
        if not problems:
            known[str(role)] = Need(**{**known.get(role, Need()).__dict__, **changed})
    problems.stop()
    listening = {role: need.ports for role, need in known.items()}
    for role, need in known.items():
        for other, ports in given.get(role, {}).get("reaches", {}).items():
            there = listening.get(other, ())
            absent = [port for port in ports if _number(port, of_profile) not in there]
            if other not in known:
                problems.add(f"{name}.{role}.reaches.{other}", ports, f"there is no such role; the known ones are {', '.join(known)}.")
            elif absent:
                problems.add(f"{name}.{role}.reaches.{other}", absent, f"that role listens on {', '.join(map(str, there)) or 'no port'}.")
        # A default one goes with the port that it is about.
        reaches = tuple((other, port) for other, port in need.reaches if port in listening.get(other, ()))
        known[role] = dataclasses.replace(need, reaches=reaches)
    problems.stop()
    return known


def check_source(given: t.Any, name: str, keys: Sequence[str], problems: Problems) -> None:
    """Where figures are from: one text for all of them, or one for each of these keys."""
    if isinstance(given, Mapping):
        for key, value in given.items():
            if key not in keys:
                problems.add(f"{name} key", key, f"the known ones are {', '.join(keys)}.")
            elif not is_text(value):
                problems.add(f"{name}.{key}", value, "it must be a text.")
    elif not is_text(given):
        problems.add(name, given, f"it must be a text, or a mapping of some of {', '.join(keys)} to texts.")


def is_text(given: t.Any) -> bool:
    return isinstance(given, str) and bool(given.strip())


def _is_role(given: t.Any) -> bool:
    return isinstance(given, str) and given.isidentifier() and given.isascii()


def _number(given: t.Any, of_profile: bool) -> int | None:
    if of_profile and isinstance(given, str):
        return None
    return whole(int(given) if isinstance(given, float) and given.is_integer() else given)


def _ports(given: t.Any, name: str, of_profile: bool, problems: Problems) -> tuple[int, ...]:
    ports = [_number(port, of_profile) for port in given] if is_list(given) else [None]
    found = tuple(port for port in ports if port is not None and 1 <= port <= 65535)
    if len(found) < len(ports):
        problems.add(name, given, "it must be a list of port numbers from 1 to 65535.")
    return found


def _disk_gb(given: t.Any, name: str, of_profile: bool, problems: Problems) -> tuple[Mapping[str, int], ...]:
    """A number is of what is free on /."""
    found: dict[str, int] = {}
    for path, value in given.items() if isinstance(given, Mapping) else [("/", given)]:
        size = _number(value, of_profile)
        if not _is_path(path):
            problems.add(f"{name} key", path, "it must be the path of a folder, from / on.")
        elif size is None and isinstance(given, Mapping):
            problems.add(f"{name}.{path}", value, "it must be a whole number, 0 or more.")
        elif size is None:
            problems.add(name, value, "it must be a whole number, 0 or more, or a mapping of paths to such numbers.")
        elif size:
            found[str(path)] = size
    return (found,) if found else ()


def _paths(given: t.Any, name: str, problems: Problems) -> tuple[str, ...]:
    if not is_list(given) or not all(_is_path(path) for path in given):
        problems.add(name, given, "it must be a list of paths of folders, from / on.")
        return ()
    return tuple(dict.fromkeys(str(path) for path in given))


def _is_path(given: t.Any) -> bool:
    return isinstance(given, str) and bool(PATH.fullmatch(given))


def _packages(given: t.Any, name: str, problems: Problems) -> tuple[str, ...]:
    if not is_list(given) or not all(isinstance(entry, str) and PACKAGES.fullmatch(entry) for entry in given):
        problems.add(name, given, "it must be a list of names of packages, or of several for one thing, such as etcd-server | etcd.")
        return ()
    return tuple(" | ".join(part.strip() for part in str(entry).split("|")) for entry in given)


def packages(given: t.Any, known: Mapping[str, Need], name: str = "preflight_packages") -> dict[str, Need]:
    """The ``known`` needs with other packages for the roles that are ``given``: role id -> packages."""
    problems, found = Problems(), dict(known)
    if given is not None and not isinstance(given, Mapping):
        refuse(name, given, "it must be a mapping of role ids to lists of packages.")
    for role, listed in (given or {}).items():
        if role not in known:
            problems.add(f"{name} key", role, f"the known role ids are {', '.join(known)}.")
        else:
            found[str(role)] = dataclasses.replace(known[role], packages=_packages(listed, f"{name}.{role}", problems))
    problems.stop()
    return found


def as_given(need: Need) -> dict[str, t.Any]:
    """A need in the form in which a user gives one."""
    reaches: dict[str, list[int]] = {}
    for role, port in need.reaches:
        reaches.setdefault(role, []).append(port)
    paths = need.disk_gb[0] if need.disk_gb else {"/": 0}
    return {**{name: getattr(need, name) for name in FIGURES}, "disk_gb": paths["/"] if list(paths) == ["/"] else dict(paths),
            "ports": list(need.ports), "reaches": reaches, "packages": list(need.packages), "writes": list(need.writes)}


def systems(given: t.Any, name: str = "preflight_systems", of_profile: bool = False) -> dict[str, tuple[str, ...]]:
    """os-release IDs, each with the VERSION_IDs that were tested."""
    problems = Problems()
    if not isinstance(given, Mapping):
        refuse(name, given, "it must be a mapping of os-release IDs to lists of VERSION_IDs.")
    if not given:
        refuse(name, given, EMPTY)
    kinds = (str,) if of_profile else (str, int)
    for system, versions in given.items():
        if not isinstance(system, str) or not SYSTEM_ID.fullmatch(system if of_profile else system.strip()):
            problems.add(f"{name} key", system, "an os-release ID consists of small letters, digits, dots, underscores and hyphens.")
        # A bare 22.10 is the number 22.1 to YAML.
        if not is_list(versions) or not all(isinstance(v, kinds) and not isinstance(v, bool) for v in versions):
            problems.add(f"{name}.{system}", versions, 'it must be a list of versions in quotes, such as ["24.04"].')
    problems.stop()
    return {str(system).strip(): tuple(str(v).strip() for v in versions) for system, versions in given.items()}


def architectures(given: t.Any, name: str = "preflight_architectures") -> tuple[str, ...]:
    found = tuple(text.strip() for text in texts(given, (), name))
    return found or refuse(name, given, EMPTY)
