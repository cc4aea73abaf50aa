# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The plain values of settings, and the one error that lists all that is wrong with them. Pure."""

from __future__ import annotations

import difflib
import re
import typing as t
import urllib.parse
from collections.abc import Sequence
from keyword import iskeyword

CPU_LEVELS = 4  # of x86-64
DIGITS_MOST = 15  # of a figure; what has more is not the same number to every reader of JSON, and at last none to Python
HIGHEST = f"the highest level of x86-64 is {CPU_LEVELS}."
EMPTY = "it must not be empty."
PREFIX = "preflight_"  # of all variables of the role
ALIKE = 0.85  # as difflib has it: a letter more or less, or two that changed places


class SettingsError(ValueError):
    """Something that a user gave can't be used; the message lists every problem, a line each."""


class Problems(list[str]):
    def add(self, name: str, value: t.Any, allowed: str) -> None:
        # A key that was given may be part of the name.
        self.append(f"{name if name.isprintable() else repr(name)[1:-1]} is {shown(value)}: {allowed}")

    def stop(self) -> None:
        if self:
            raise SettingsError("\n".join(self))


def refuse(name: str, value: t.Any, allowed: str) -> t.NoReturn:
    """Where there is no use in looking for more problems."""
    problems = Problems()
    problems.add(name, value, allowed)
    raise SettingsError(*problems)


def shown(value: t.Any) -> str:
    """A value as it may be printed: what stands where an address has its password, and what follows its question mark, may be secret."""
    try:
        text = repr(str(value) if isinstance(value, str) else value)
    except (ValueError, RecursionError):  # a number of more than 4,300 digits, or lists in lists without end
        return "too large to be shown"
    # What a word begins with is looked at once, and not from each of its letters: a text may be of any length.
    text = re.sub(r"\?[^\s'\"]*", "?***", re.sub(r"(?<![^\s'\"/])[^\s'\"/]+@", "***@", text))
    return text if len(text) <= 80 else text[:77] + "..."


def whole(value: t.Any) -> int | None:
    """A whole number, 0 or more, also where a template made text of it; else None."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= DIGITS_MOST:
        return int(value)
    return int(value) if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**DIGITS_MOST else None


def is_list(value: t.Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def texts(given: t.Any, default: Sequence[str], name: str) -> tuple[str, ...]:
    """A list of texts, none of them empty, instead of ``default``."""
    if given is None:
        return tuple(default)
    if not is_list(given) or not all(isinstance(item, str) and item.strip() for item in given):
        refuse(name, given, "it must be a list of texts.")
    return tuple(str(item) for item in given)


def parted(given: t.Any) -> t.Any:
    """A text as a list, as Ansible has it for lists on its command line."""
    return [part.strip() for part in given.split(",") if part.strip()] if isinstance(given, str) else given


def choice(given: t.Any, allowed: Sequence[str], name: str) -> str:
    """One of these texts; the first where none is given."""
    if given is None or given == "":
        return allowed[0]
    if not isinstance(given, str) or given not in allowed:
        refuse(name, given, f"it must be one of {', '.join(allowed)}.")
    return str(given)


def choices(given: t.Any, allowed: Sequence[str], default: Sequence[str], name: str) -> list[str]:
    """Some of these texts, also parted by commas; ``default`` where none is given."""
    problems, found = Problems(), texts(parted(given), default, name) or tuple(default)
    for text in found:
        if text not in allowed:
            problems.add(name, text, f"it must be one of {', '.join(allowed)}.")
    problems.stop()
    return list(dict.fromkeys(found))


def yes_or_no(given: t.Any, default: bool, name: str) -> bool:
    """Also where a template or the command line made text of it."""
    known = {"true": True, "yes": True, "false": False, "no": False}
    found = default if given is None else known.get(given.strip().lower()) if isinstance(given, str) else given
    return found if isinstance(found, bool) else refuse(name, given, "it must be true or false.")


def folder(given: t.Any, name: str) -> str | None:
    if given is not None and (not isinstance(given, str) or "\0" in given):
        refuse(name, given, "it must be the path of a folder on the controller.")
    return str(given) if given else None


def urls(given: t.Any, name: str = "preflight_internet_urls") -> tuple[str, ...]:
    """Addresses of web servers, http or https."""
    problems = Problems()
    found = texts(given, (), name)
    for url in found:
        try:
            parts = urllib.parse.urlsplit(url)
            # No password: addresses are shown in reports.
            usable = (parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
                      and "@" not in parts.netloc and not any(char.isspace() or not char.isprintable() for char in url))
        except ValueError:
            usable = False
        if not usable:
            problems.add(name, url, "each must be the address of a web server without a password, such as http://deb.debian.org/.")
    problems.stop()
    return found


def misspelt(names: t.Iterable[str], known: t.Iterable[str]) -> list[str]:
    """What to say of variables that are none of the role's, but called nearly like one: nothing else would tell that they do nothing."""
    ours, others = ({name.removeprefix(PREFIX) for name in given if name.startswith(PREFIX)} for given in (known, names))
    near = {name: difflib.get_close_matches(name, ours, 1, ALIKE) for name in sorted(others - ours)}
    return [f"{PREFIX}{name} is no variable of the preflight, so nothing is done with it. Is {PREFIX}{like[0]} meant?"
            for name, like in near.items() if like]


def key(given: t.Any, name: str) -> str | None:
    """A name under which something is published, as Ansible has them for variables; None where nothing is."""
    if not given:
        return None
    if not isinstance(given, str) or not given.isascii() or not given.isidentifier():
        refuse(name, given, "it must consist of letters, digits and underscores.")
    if iskeyword(given) or iskeyword(given.capitalize()):  # true is one in templates
        refuse(name, given, "this word is no name to Ansible, since Python or Jinja has another use for it.")
    return str(given)
