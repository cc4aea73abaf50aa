# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the probe module printed, as far as it can be believed. Pure.

It comes from a machine, so it may be anything: another result, one amid other output, or one that claims to be about
another machine. Only sections that the module reads are taken, and nothing else of it counts.
"""

from __future__ import annotations

import contextlib
import json
import re
import typing as t

OF_THE_MODULE = (
    "login", "system", "architecture", "sudo", "apt", "package_locks", "pending", "dpkg", "apt_sources", "candidates", "mirrors",
    "cpus", "cpus_online", "cpu_level", "memory_mb", "swap",
    "gpus", "confinement", "disks", "silent_mounts", "disk_speed", "temp", "remote_tmp", "locales", "time_sync", "time_sources",
    "listening", "firewall", "internet", "reach", "libc", "identity", "names",
)
SECTIONS = (*OF_THE_MODULE, "clock")  # every section of a record that is either there or unmeasured
ON_REQUEST = ("stand_ins",)

OF_FACTS = "ansible_"  # before the name of each, as the module setup tells them
DISCOVERED = "discovered_interpreter_"  # what Ansible adds to them
BY_ANSIBLE = ("changed", "failed", "warnings", "deprecations", "exception")  # put into any result, depending on the version

TEXT_MOST = 1000  # characters of one text
DEPTH_MOST = 12  # lists and mappings within each other; what a reader returns has four
LATEST = 1e12  # seconds of a clock; no number is not below it either
NO_PROGRAM = (126, 127)  # exit statuses of a shell that can not run what it is told to, in whatever language it says so
OUTPUT_MOST = 8 * 1024 * 1024  # characters that are looked through

# What steers a terminal: as it is, and as JSON has it (an escaped backslash is taken along, so that what follows it stays text).
STEERING = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
STEERING_IN_JSON = re.compile(r"\\(?:\\|[bf]|u00(?:0[0-8bcef]|1[0-9a-f]|7f|[89][0-9a-f]))", re.IGNORECASE)

Parts = tuple[dict[str, t.Any], dict[str, str], tuple[float, float]]


class NotRead(Exception):
    """The module gave no result; the message is what it gave instead. The cause is told where words alone would not tell it."""

    def __init__(self, message: str, cause: str | None = None) -> None:
        super().__init__(message)
        self.cause = cause


def harmless(output: str) -> str:
    """What a machine printed, with nothing in it that steers a terminal: Ansible shows some of it by itself, as it is."""
    output = STEERING.sub("\ufffd", output)
    return STEERING_IN_JSON.sub(lambda found: found.group() if found.group() == r"\\" else "\\" + found.group(), output)


def parts_of(result: dict[str, t.Any]) -> Parts:
    """(sections, unmeasured, readings of the clock) of what Ansible made of the module's output. Raises NotRead."""
    whole = _whole(result, "sections", _is_whole)
    known = (*OF_THE_MODULE, *ON_REQUEST)
    sections = {name: _cut(whole["sections"][name]) for name in known if name in whole["sections"]}
    unmeasured = {name: _cut(str(whole["unmeasured"][name])) for name in known if name in whole["unmeasured"]}
    return sections, unmeasured, (float(whole["started"]), float(whole["ended"]))


def facts_of(result: dict[str, t.Any]) -> dict[str, t.Any]:
    """What Ansible's module setup found, by the names that ansible_facts has. Raises NotRead."""
    facts: dict[str, t.Any] = _cut(_whole(result, "ansible_facts", _has_facts)["ansible_facts"])
    return {name[len(OF_FACTS):] if name.startswith(OF_FACTS) else name: value
            for name, value in facts.items() if not name.startswith(DISCOVERED)}


def _has_facts(result: t.Any) -> bool:
    return isinstance(result, dict) and not result.get("failed") and isinstance(result.get("ansible_facts"), dict)


def edges_of(result: dict[str, t.Any]) -> dict[str, t.Any]:
    """What the edges module found, as Ansible made it out. Raises NotRead."""
    edges: dict[str, t.Any] = _cut(_whole(result, "edges", _has_edges)["edges"])
    return edges


def _has_edges(result: t.Any) -> bool:
    return isinstance(result, dict) and isinstance(result.get("edges"), dict)


def _is_whole(result: t.Any) -> bool:
    return (
        isinstance(result, dict)
        and isinstance(result.get("sections"), dict)
        and isinstance(result["sections"].get("login"), dict)
        and result["sections"]["login"].get("ok") is True
        and isinstance(result.get("unmeasured"), dict)
        and all(isinstance(result.get(key), (int, float)) and abs(result[key]) < LATEST for key in ("started", "ended"))
    )


def _cut(value: t.Any, depth: int = DEPTH_MOST) -> t.Any:
    """The value with every text in it cut to a length that a report can hold, and no deeper than Ansible can take."""
    if isinstance(value, (dict, list)) and not depth:
        return "..."
    if isinstance(value, dict):
        return {_valid(str(key)[:TEXT_MOST]): _cut(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item, depth - 1) for item in value]
    return _valid(value[:TEXT_MOST]) if isinstance(value, str) else value


def _valid(text: str) -> str:
    """The text without halves of characters, which no file could hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _whole(result: dict[str, t.Any], key: str, is_whole: t.Callable[[t.Any], bool]) -> dict[str, t.Any]:
    """The module's result, which holds ``key``, also amid what a shell's start-up files or an exit handler printed around it."""
    if is_whole(result):
        return result
    for line in str(result.get("module_stdout") or "")[-OUTPUT_MOST:].splitlines():
        at = line.find('{"')
        if at >= 0 and f'"{key}"' in line:
            with contextlib.suppress(ValueError):
                found: dict[str, t.Any] = json.JSONDecoder().raw_decode(line[at:])[0]
                if is_whole(found):
                    return found
    raise NotRead(_valid(_said(result)), "python" if result.get("rc") in NO_PROGRAM else None)


def _said(result: dict[str, t.Any]) -> str:
    if "module_stdout" in result or "module_stderr" in result:
        # Not Ansible's own words for it, which only say that something failed, and differ from version to version.
        return "\n".join(str(result.get(key) or "") for key in ("module_stdout", "module_stderr")).strip() or "Python printed nothing"
    if result.get("failed") and result.get("msg"):
        return str(result["msg"])
    own = {key: value for key, value in result.items() if not key.startswith("_") and key not in BY_ANSIBLE}
    return f"Python printed another result: {json.dumps(own, default=str)}"
