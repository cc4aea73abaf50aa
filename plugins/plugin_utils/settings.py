# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is asked of the machines by default, and how what a user gives instead is checked.

Pure. Every function takes what the user gave and returns it whole and of one type, or raises SettingsError, whose
message holds every problem found: the variable, its value, and what is allowed.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import math
import re
import typing as t
import urllib.parse
from collections.abc import Mapping, Sequence

from .model import Need

# llmgw's own requirements for each role.
NEEDS: dict[str, Need] = {
    "control_plane": Need(cpus=2, memory_mb=3500, disk_gb=15, ports=(7443, 8080), reaches=(("database", 5432),)),
    "database": Need(cpus=2, memory_mb=3500, disk_gb=30, ports=(5432, 8008, 2379, 2380), reaches=(
        ("database", 5432), ("database", 8008), ("database", 2379), ("database", 2380), ("etcd_witness", 2379), ("etcd_witness", 2380))),
    "etcd_witness": Need(cpus=1, memory_mb=900, disk_gb=5, ports=(2379, 2380), reaches=(
        ("database", 2379), ("database", 2380), ("etcd_witness", 2379), ("etcd_witness", 2380))),
    "node": Need(cpus=2, memory_mb=3500, disk_gb=20, reaches=(("control_plane", 7443),)),
}
SYSTEMS: dict[str, tuple[str, ...]] = {"ubuntu": ("22.04", "24.04"), "debian": ("12",)}
INTERNET_URLS: tuple[str, ...] = ("http://deb.debian.org/",)
ARCHITECTURES: tuple[str, ...] = ("x86_64", "aarch64")

# Thresholds and deadlines, in seconds but for the last. The deadlines are long enough for a machine that is busy with something else:
# they are waited for only where nothing answers.
LIMITS: dict[str, float] = {
    "clock_warn_s": 1,  # further apart than this is a warning
    "clock_fail_s": 5,  # and than this a failure
    "latency_warn_s": 0.01,  # a longer round trip between etcd's members is a warning
    "latency_fail_s": 0.1,  # and than this a failure
    "clock_s": 20,  # for narrowing down one machine's clock
    "command_s": 10,  # for each command that is run on a machine, and each disk that is looked at
    "internet_s": 10,  # for each URL: name, connection and answer
    "reach_s": 10,  # for all attempts of one machine to reach the others
    "stand_in_s": 900,  # after which a stand-in on a role's port ends by itself, should nothing else have ended it
    "read_s": 30,  # for everything that the module reads on one machine
    "machine_s": 90,  # for one machine as a whole, logging in included
    "all_pairs": 50,  # machines: where there are more, each tries those that it needs and some others, not all
}

NO_PLAN = ("There is no plan to go by, since the task that settles it did not run. Let the play begin with it or before "
           "(--start-at-task), and let no condition (when) keep the role from the first machine of the play: Ansible asks it there "
           "for all of them. On include_role it is asked for each machine by itself.")

DELEGATED = ("The preflight is delegated (delegate_to): then another machine would be read in place of this one. Take delegate_to away.")

LONGEST_S = 86400
# The worst level at which the play still goes on is the one below.
FAIL_ON = ("fail", "warn", "never")

ROLE_FIGURES = ("cpus", "memory_mb", "disk_gb")


class SettingsError(ValueError):
    """Something that a user gave can't be used; the message lists every problem, a line each."""


class _Problems(list[str]):
    def add(self, name: str, value: t.Any, allowed: str) -> None:
        self.append(f"{name} is {_shown(value)}: {allowed}")

    def stop(self) -> None:
        if self:
            raise SettingsError("\n".join(self))


def _shown(value: t.Any) -> str:
    """A value as it may be printed: what stands where an address has its password, and what follows its question mark, may be secret."""
    text = repr(str(value) if isinstance(value, str) else value)
    text = re.sub(r"\?[^\s'\"]*", "?***", re.sub(r"[^\s'\"/]+@", "***@", text))
    return text if len(text) <= 80 else text[:77] + "..."


def _whole(value: t.Any) -> int | None:
    """A whole number, 0 or more, also where a template made text of it; else None."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _is_list(value: t.Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def needs(given: t.Any, name: str = "preflight_needs") -> dict[str, Need]:
    """The default needs with the ``given`` figures put over them: role id -> figure -> value.

    A role that is not among the defaults becomes known by being named; figures it does not name are 0.
    """
    problems = _Problems()
    known = dict(NEEDS)
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
                changed[key] = _whole(value)
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


def _ports(given: t.Any, name: str, problems: _Problems) -> tuple[int, ...]:
    ports = [_whole(port) for port in given] if _is_list(given) else [None]
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


def yes_or_no(given: t.Any, default: bool, name: str) -> bool:
    """Also where a template or the command line made text of it."""
    known = {"true": True, "yes": True, "false": False, "no": False}
    found = default if given is None else known.get(given.strip().lower()) if isinstance(given, str) else given
    if not isinstance(found, bool):
        problems = _Problems()
        problems.add(name, given, "it must be true or false.")
        problems.stop()
    return t.cast(bool, found)


def systems(given: t.Any, name: str = "preflight_systems") -> dict[str, tuple[str, ...]]:
    """os-release IDs, each with the VERSION_IDs that were tested, instead of the defaults."""
    problems = _Problems()
    if given is None:
        return dict(SYSTEMS)
    if not isinstance(given, Mapping):
        problems.add(name, given, "it must be a mapping of os-release IDs to lists of VERSION_IDs.")
        problems.stop()
    for system, versions in given.items():
        # A bare 22.10 is the number 22.1 to YAML.
        if not _is_list(versions) or not all(isinstance(v, (str, int)) and not isinstance(v, bool) for v in versions):
            problems.add(f"{name}.{system}", versions, 'it must be a list of versions in quotes, such as ["24.04"].')
    problems.stop()
    return {str(system): tuple(str(v) for v in versions) for system, versions in given.items()}


def texts(given: t.Any, default: Sequence[str], name: str) -> tuple[str, ...]:
    """A list of texts, none of them empty, instead of ``default``."""
    if given is None:
        return tuple(default)
    if not _is_list(given) or not all(isinstance(item, str) and item.strip() for item in given):
        problems = _Problems()
        problems.add(name, given, "it must be a list of texts.")
        problems.stop()
    return tuple(str(item) for item in given)


def architectures(given: t.Any, name: str = "preflight_architectures") -> tuple[str, ...]:
    return texts(given, ARCHITECTURES, name)


def limits(given: t.Any, name: str = "preflight_limits") -> dict[str, float]:
    """The default limits with the ``given`` ones put over them; all in seconds, more than 0."""
    problems = _Problems()
    merged = dict(LIMITS)
    if given is None:
        return merged
    if not isinstance(given, Mapping):
        problems.add(name, given, f"it must be a mapping with some of {', '.join(LIMITS)}.")
        problems.stop()
    for key, value in given.items():
        if key not in LIMITS:
            problems.add(f"{name} key", key, f"the known ones are {', '.join(LIMITS)}.")
            continue
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not 0 < number <= LONGEST_S:
            problems.add(f"{name}.{key}", value, f"it must be a number, more than 0 and at most {LONGEST_S} (a day, in seconds).")
        merged[str(key)] = number
    usable = not problems
    for kind in ("clock", "latency"):
        if usable and merged[f"{kind}_warn_s"] > merged[f"{kind}_fail_s"]:
            problems.add(f"{name}.{kind}_warn_s", merged[f"{kind}_warn_s"], f"it must not be more than {kind}_fail_s "
                         f"({merged[f'{kind}_fail_s']:g}).")
    problems.stop()
    return merged


def urls(given: t.Any, name: str = "preflight_internet_urls") -> tuple[str, ...]:
    """Addresses of web servers, http or https."""
    problems = _Problems()
    found = texts(given, INTERNET_URLS, name)
    for url in found:
        try:
            parts = urllib.parse.urlsplit(url)
            # No password: addresses are shown in reports.
            usable = (parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
                      and "@" not in parts.netloc and not any(char.isspace() for char in url))
        except ValueError:
            usable = False
        if not usable:
            problems.add(name, url, "each must be the address of a web server without a password, such as http://deb.debian.org/.")
    problems.stop()
    return found


def roles(given: t.Any, groups: t.Iterable[str], known: t.Iterable[str], name: str) -> tuple[str, ...]:
    """One machine's role ids: the ``given`` ones, or else those of its ``groups`` that are role ids."""
    known = list(known)
    if given is None:
        return tuple(role for role in known if role in set(groups))
    given = [given] if isinstance(given, str) and given.strip() else given
    problems = _Problems()
    allowed = f"the known role ids are {', '.join(known)}."
    if not _is_list(given):
        problems.add(name, given, f"it must be a list of role ids; {allowed}")
        problems.stop()
    for role in given:
        if role not in known:
            problems.add(name, role, allowed)
    problems.stop()
    return tuple(dict.fromkeys(str(role) for role in given))


def serves(given: t.Any, name: str) -> list[dict[str, t.Any]]:
    """The models that one machine will serve: a list of name and memory_mb."""
    problems = _Problems()
    allowed = "each model needs a name and memory_mb, a whole number, and nothing else."
    if given is None:
        return []
    if not _is_list(given):
        problems.add(name, given, f"it must be a list; {allowed}")
        problems.stop()
    models = []
    for model in given:
        if (not isinstance(model, Mapping) or set(model) != {"name", "memory_mb"} or _whole(model["memory_mb"]) is None
                or not isinstance(model["name"], str) or not model["name"].strip()):
            known = ("name", "memory_mb")
            shown = {key: value if key in known else "***" for key, value in model.items()} if isinstance(model, Mapping) else model
            problems.add(name, shown, allowed)
        else:
            models.append({"name": str(model["name"]), "memory_mb": _whole(model["memory_mb"])})
    problems.stop()
    return models


def address(given: t.Any, name: str) -> str:
    """How the other machines reach this one: a name or an IP address, without brackets and port."""
    problems = _Problems()
    text = str(given).strip() if isinstance(given, str) else ""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if not text or any(c.isspace() or c in "/@[]" for c in text) or ":" in text and not _is_ip(text):
        problems.add(name, given, "it must be a host name or an IP address, without a port.")
        problems.stop()
    return text


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text.split("%", 1)[0])
    except ValueError:
        return False
    return True


def choice(given: t.Any, allowed: Sequence[str], name: str) -> str:
    if not isinstance(given, str) or given not in allowed:
        problems = _Problems()
        problems.add(name, given, f"it must be one of {', '.join(allowed)}.")
        problems.stop()
    return str(given)


def port(given: t.Any, name: str) -> int:
    """A machine's SSH port; 22 where none is given."""
    if given is None:
        return 22
    number = _whole(given)
    if number is None or not 1 <= number <= 65535:
        problems = _Problems()
        problems.add(name, given, "it must be a port number from 1 to 65535.")
        problems.stop()
    return t.cast(int, number)


def folder(given: t.Any, name: str) -> str | None:
    if given is not None and (not isinstance(given, str) or "\0" in given):
        problems = _Problems()
        problems.add(name, given, "it must be the path of a folder on the controller.")
        problems.stop()
    return str(given) if given else None
