# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What an install asks of its machines, role by role. Pure."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Mapping

from ..model import Need
from .values import Problems, is_list, texts, whole

ROLE_FIGURES = ("cpus", "memory_mb", "disk_gb")


def needs(given: t.Any, name: str, default: Mapping[str, Need]) -> dict[str, Need]:
    """The ``default`` needs with the ``given`` figures put over them: role id -> figure -> value.

    A role that is not among the defaults becomes known by being named; figures it does not name are 0.
    """
    problems = Problems()
    known = dict(default)
    if given is None:
        return known
    if not isinstance(given, Mapping):
        problems.add(name, given, "it must be a mapping of role ids to what each needs.")
        problems.stop()
    for role, figures in given.items():
        where = f"{name}.{role}"
        if not isinstance(role, str) or not role.isidentifier():
            problems.add(f"{name} key", role, "a role id consists of letters, digits and underscores.")
            continue
        if not isinstance(figures, Mapping):
            problems.add(where, figures, f"it must be a mapping with some of {', '.join(ROLE_FIGURES)}, ports, reaches.")
            continue
        changed: dict[str, t.Any] = {}
        for key, value in figures.items():
            if key in ROLE_FIGURES:
                changed[key] = whole(value)
                if changed[key] is None:
                    problems.add(f"{where}.{key}", value, "it must be a whole number, 0 or more.")
            elif key == "ports":
                changed["ports"] = _ports(value, f"{where}.ports", problems)
            elif key == "reaches" and isinstance(value, Mapping):
                changed["reaches"] = tuple(
                    (str(other), port) for other, ports in value.items() for port in _ports(ports, f"{where}.reaches.{other}", problems))
            elif key == "reaches":
                problems.add(f"{where}.reaches", value, "it must be a mapping of role ids to lists of their ports.")
            else:
                problems.add(f"{where} key", key, f"the known ones are {', '.join(ROLE_FIGURES)}, ports, reaches.")
        if not problems:
            known[str(role)] = Need(**{**known.get(role, Need()).__dict__, **changed})
    problems.stop()
    for role, need in known.items():
        there = tuple((other, port) for other, port in need.reaches if other in known and port in known[other].ports)
        if "reaches" in given.get(role, {}):
            for other, port in set(need.reaches).difference(there):
                problems.add(f"{name}.{role}.reaches.{other}", [port], "that role does not listen on it.")
        known[role] = dataclasses.replace(need, reaches=there)  # a default one goes with the port that it is about
    problems.stop()
    return known


def _ports(given: t.Any, name: str, problems: Problems) -> tuple[int, ...]:
    ports = [whole(port) for port in given] if is_list(given) else [None]
    found = tuple(port for port in ports if port is not None and 1 <= port <= 65535)
    if len(found) < len(ports):
        problems.add(name, given, "it must be a list of port numbers from 1 to 65535.")
    return found


def as_given(need: Need) -> dict[str, t.Any]:
    """A need in the form in which a user gives one."""
    reaches: dict[str, list[int]] = {}
    for role, port in need.reaches:
        reaches.setdefault(role, []).append(port)
    return {**{name: getattr(need, name) for name in ROLE_FIGURES}, "ports": list(need.ports), "reaches": reaches}


def systems(given: t.Any, name: str = "preflight_systems") -> dict[str, tuple[str, ...]]:
    """os-release IDs, each with the VERSION_IDs that were tested."""
    problems = Problems()
    if not isinstance(given, Mapping):
        problems.add(name, given, "it must be a mapping of os-release IDs to lists of VERSION_IDs.")
        problems.stop()
    for system, versions in given.items():
        # A bare 22.10 is the number 22.1 to YAML.
        if not is_list(versions) or not all(isinstance(v, (str, int)) and not isinstance(v, bool) for v in versions):
            problems.add(f"{name}.{system}", versions, 'it must be a list of versions in quotes, such as ["24.04"].')
    problems.stop()
    return {str(system): tuple(str(v) for v in versions) for system, versions in given.items()}


def architectures(given: t.Any, name: str = "preflight_architectures") -> tuple[str, ...]:
    return texts(given, (), name)
