# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What may differ from machine to machine. Pure."""

from __future__ import annotations

import ipaddress
import typing as t
from collections.abc import Mapping

from .values import CPU_LEVELS, HIGHEST, Problems, is_list, parted, refuse, whole

MAY_ASK = ("cpu_level", "gpu_memory_mb", "disk_gb")


def roles(given: t.Any, groups: t.Iterable[str], known: t.Iterable[str], name: str) -> tuple[str, ...]:
    """One machine's role ids: the ``given`` ones, or else those of its ``groups`` that are role ids."""
    known = list(known)
    if given is None:
        return tuple(role for role in known if role in set(groups))
    given = parted(given) or given
    problems = Problems()
    allowed = f"the known role ids are {', '.join(known)}."
    if not is_list(given):
        refuse(name, given, f"it must be a list of role ids; {allowed}")
    for role in given:
        if role not in known:
            problems.add(name, role, allowed)
    problems.stop()
    return tuple(dict.fromkeys(str(role) for role in given))


def serves(given: t.Any, name: str) -> list[dict[str, t.Any]]:
    """The models that one machine will serve: of each its name, memory_mb, and what else it asks for."""
    problems = Problems()
    allowed = f"each model needs a name and memory_mb, may have {', '.join(MAY_ASK)}, all whole numbers, and has nothing else."
    if given is None:
        return []
    if not is_list(given):
        refuse(name, given, f"it must be a list; {allowed}")
    models = []
    for number, model in enumerate(given):
        figures = {key: whole(value) for key, value in model.items() if key != "name"} if isinstance(model, Mapping) else {}
        if ("memory_mb" not in figures or not figures.keys() <= {"memory_mb", *MAY_ASK} or None in figures.values()
                or not isinstance(model.get("name"), str) or not model["name"].strip()):
            known = ("name", "memory_mb", *MAY_ASK)
            shown = {key: value if key in known else "***" for key, value in model.items()} if isinstance(model, Mapping) else model
            problems.add(f"{name}[{number}]", shown, allowed)
        elif (figures.get("cpu_level") or 0) > CPU_LEVELS:
            problems.add(f"{name}[{number}].cpu_level", model["cpu_level"], HIGHEST)
        else:
            models.append({"name": str(model["name"]).strip(), **figures})
    problems.stop()
    return models


def address(given: t.Any, name: str) -> str:
    """How the other machines reach this one: a name or an IP address, without brackets and port."""
    text = str(given).strip() if isinstance(given, str) else ""
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    if not text or any(c.isspace() or c in "/@[]" for c in text) or ":" in text and not _is_ip(text):
        refuse(name, given, "it must be a host name or an IP address, without a port.")
    return text


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text.split("%", 1)[0])
    except ValueError:
        return False
    return True


def port(given: t.Any, name: str) -> int:
    """A machine's SSH port; 22 where none is given. Ansible takes 22.0 and " 22 " for it too."""
    if given is None:
        return 22
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    number = whole(given.strip() if isinstance(given, str) else given)
    if number is None or not 1 <= number <= 65535:
        refuse(name, given, "it must be a port number from 1 to 65535.")
    return number
