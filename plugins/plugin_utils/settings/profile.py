# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Profiles: all that one kind of install asks of its machines, as one data file.

Those that ship are in the role's folder profiles; docs/profile.schema.json describes their form.
"""

from __future__ import annotations

import dataclasses
import functools
import typing as t
from collections.abc import Mapping
from pathlib import Path

import yaml

from ..model import Need
from .needs import architectures, as_given, needs, systems
from .values import Problems, SettingsError, urls

FOLDER = Path(__file__).parents[3] / "roles" / "preflight" / "profiles"
DEFAULT = "llmgw"
FIGURES = ("needs", "systems", "architectures", "internet_urls")  # every profile has each
WORDS = ("description", "source")


@dataclasses.dataclass(frozen=True)
class Profile:
    name: str
    needs: Mapping[str, Need]
    systems: Mapping[str, tuple[str, ...]]  # os-release ID -> the VERSION_IDs that were tested
    architectures: tuple[str, ...]
    internet_urls: tuple[str, ...]

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
        return _profile(given, str(given.get("name")), name)
    given = given or DEFAULT
    if given in shipped():
        return _shipped(str(given), name)
    return _read(given, name)


@functools.cache
def _shipped(given: str, name: str) -> Profile:
    return _read(given, name)


def _read(given: t.Any, name: str) -> Profile:
    problems = Problems()
    path = FOLDER / f"{given}.yml"
    if given not in shipped():
        path = Path(str(given)).expanduser()
        if not isinstance(given, str) or not (path.suffix or path.name != given):
            problems.add(name, given, f"it must be the path of a file, or one of {', '.join(shipped())}.")
            problems.stop()
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as problem:
        told = getattr(problem, "strerror", None) or " ".join(str(problem).split())
        problems.add(name, given, f"it can not be read: {told}.")
        problems.stop()
    return _profile(content, str(given), f"{name} {path}")


def _profile(content: t.Any, called: str, where: str) -> Profile:
    problems = Problems()
    if not isinstance(content, Mapping):
        raise SettingsError(f"{where} must be a mapping of {', '.join(FIGURES)}.")
    for key in set(content).difference(FIGURES, WORDS, ("name",)):
        problems.add(f"{where}, key", key, f"the known ones are {', '.join((*FIGURES, *WORDS))}.")
    problems += [f"{where}: {key} is not there." for key in FIGURES if not content.get(key) and key != "internet_urls"]
    problems.stop()
    found: dict[str, t.Any] = {}
    for key, check in (("needs", lambda given, place: needs(given, place, {})), ("systems", systems), ("architectures", architectures),
                       ("internet_urls", lambda given, place: urls(given or (), place))):
        try:
            found[key] = check(content.get(key), f"{where}: {key}")
        except SettingsError as problem:
            problems.append(str(problem))
    problems.stop()
    return Profile(called, **found)
