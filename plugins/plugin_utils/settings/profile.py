# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Profiles: all that one kind of install asks of its machines, as one data file.

Those that ship are in the role's folder profiles; docs/profile.schema.json describes their form. A profile is data: nothing in it is a
template, and no tag of YAML makes more of it.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import typing as t
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml

from ..model import Need
from .needs import architectures, as_given, check_source, is_text, needs, systems
from .values import EMPTY, Problems, SettingsError, refuse, shown, urls

FOLDER = Path(__file__).parents[3] / "roles" / "preflight" / "profiles"
DEFAULT = "llmgw"
MOST_BYTES = 100_000  # some thirty times what one that ships has; YAML of any size would take any time

# What a profile holds: key -> how it is checked.
FIGURES: dict[str, Callable[[t.Any, str], t.Any]] = {
    "needs": lambda given, name: needs(given, name, {}, of_profile=True),
    "systems": lambda given, name: systems(given, name, of_profile=True),
    "architectures": architectures,
    "internet_urls": urls,
}
OPTIONAL = ("internet_urls",)
KEYS = ("description", "source", *FIGURES)


@dataclasses.dataclass(frozen=True)
class Profile:
    name: str
    needs: Mapping[str, Need]
    systems: Mapping[str, tuple[str, ...]]  # os-release ID -> the VERSION_IDs that were tested
    architectures: tuple[str, ...]
    internet_urls: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, t.Any]:
        return {
            "name": self.name,
            "needs": {role: as_given(need) for role, need in self.needs.items()},
            "systems": {system: list(versions) for system, versions in self.systems.items()},
            "architectures": list(self.architectures),
            "internet_urls": list(self.internet_urls),
        }


def shipped() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.yml"))


def profile(given: t.Any = None, name: str = "preflight_profile") -> Profile:
    """The profile of that name or in that file, or that which ``given`` itself is (see Profile.as_dict); llmgw's where none is given."""
    if isinstance(given, Mapping):
        return _profile({key: value for key, value in given.items() if key != "name"}, str(given.get("name")), name)
    return profile_file(given, name)


def profile_file(given: t.Any = None, name: str = "preflight_profile", folders: Sequence[str] = (".",)) -> Profile:
    """The profile of that name, or in the file at that path, which is looked for in each of these folders; llmgw's where none is given."""
    given = DEFAULT if given is None or given == "" else given
    return _shipped(str(given), name) if isinstance(given, str) and given in shipped() else _read(_path(given, name, folders), given, name)


@functools.cache
def _shipped(given: str, name: str) -> Profile:
    return _read(FOLDER / f"{given}.yml", given, name)


def _path(given: t.Any, name: str, folders: Sequence[str]) -> Path:
    if not isinstance(given, str) or "\0" in given or not (os.path.dirname(given) or os.path.splitext(given)[1]):
        refuse(name, given, f"it must be one of {', '.join(shipped())}, or the path of a file, such as ./profile.yml.")
    path = os.path.expanduser(given)
    tried = dict.fromkeys(os.path.abspath(os.path.join(folder, path)) for folder in folders)
    there = next(filter(os.path.exists, tried), None)
    return Path(there or refuse(name, given, f"there is no {' and no '.join(tried)}."))


class _Loader(yaml.SafeLoader):
    """Of YAML only what JSON has too, and no key twice: the later one would stand, and nobody would see it.

    To YAML 1.1 010 is eight, 22:22 a number of minutes and seconds, a day a date, yes true, and << the keys of others; here they are texts.
    """

    yaml_implicit_resolvers: dict[t.Any, t.Any] = {}

    def compose_node(self, parent: t.Any, index: t.Any) -> t.Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # PyYAML's stubs have no types for it
        if isinstance(event, yaml.AliasEvent):  # a few lines of them make a structure of any size
            raise _not_json(f"there is an alias (*{event.anchor}), and a profile has none", event)
        if getattr(event, "tag", None) is not None:
            raise _not_json(f"there is a tag ({event.tag}), and a profile has none", event)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: t.Any, deep: bool = False) -> t.Any:
        keys = set()
        for key, _value in node.value:
            if not isinstance(key, yaml.ScalarNode):  # as the braces of a template are to YAML
                raise _not_json("a key is no text (a profile is data: it has no templates)", key)
            if key.value in keys:
                raise _not_json(f"the key {shown(key.value)} is there twice", key)
            keys.add(key.value)
        return super().construct_mapping(node, deep)


for kind, begins, form in (  # what is no text without quotes
        ("null", ["", "~", "n"], "|~|null"), ("bool", ["t", "f"], "true|false"), ("int", list("-0123456789"), "-?(0|[1-9][0-9]*)"),
        ("float", list("-0123456789"), r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(rf"(?:{form})\Z"), begins)


def _not_json(problem: str, place: t.Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=place.start_mark)


def _read(path: Path, given: t.Any, name: str) -> Profile:
    where = f"{name} {path}"
    if not path.is_file():  # to read from a pipe or a device may take for ever
        raise SettingsError(f"{where} is {'a folder' if path.is_dir() else 'no file'}: it must be a file.")
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
        content = yaml.load(text, _Loader) if len(text) <= MOST_BYTES else None  # a SafeLoader, and stricter
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as problem:
        raise SettingsError(f"{where} can not be read: {_told(problem)}.") from problem
    if len(text) > MOST_BYTES:
        raise SettingsError(f"{where} is larger than {MOST_BYTES // 1000} kB, which no profile is.")
    return _profile(content, str(given), where)


def _told(problem: Exception) -> str:
    """In one line, and without the lines of the file that YAML's own errors show: they may be of anything."""
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    mark = getattr(problem, "problem_mark", None)
    if mark and getattr(problem, "problem", None) == "but found another document":
        return f"line {mark.line + 1}: a second document begins there, and a profile is one"
    told = next((text for kind in ("problem", "reason", "strerror") if (text := getattr(problem, kind, None))), problem)
    return f"line {mark.line + 1}: {told}" if mark else str(told)


def _profile(content: t.Any, called: str, where: str) -> Profile:
    if not isinstance(content, Mapping):
        raise SettingsError(f"{where} {'is empty' if content is None else 'holds no mapping'}: it must be a mapping of {', '.join(KEYS)}.")
    problems, found = Problems(), {}
    for key in content:
        if key not in KEYS:
            problems.add(f"{where}: key", key, f"the known ones are {', '.join(KEYS)}.")
    if not is_text(content.get("description", "none")):
        problems.add(f"{where}: description", content["description"], "it must be a text.")
    if "source" in content:
        check_source(content["source"], f"{where}: source", tuple(FIGURES), problems)
    for key, check in FIGURES.items():
        if key not in content:
            if key not in OPTIONAL:
                problems.append(f"{where}: {key} is not there, and must be.")
            continue
        try:
            found[key] = check(content[key], f"{where}: {key}")
            if content[key] is None or not found[key] and key not in OPTIONAL:
                problems.add(f"{where}: {key}", content[key], EMPTY)
        except SettingsError as problem:
            problems.append(str(problem))
    problems.stop()
    return Profile(called, **found)
