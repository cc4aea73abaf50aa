# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is the operating system one that the install supports?

By ID and VERSION_ID of os-release(5). A supported system in a version that was not tested is a warning.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, fail, ok, section, warn

ID = "system"
WORST = Level.FAIL
FIX_UNREAD = "See that /etc/os-release can be read there and holds ID and VERSION_ID."
SHAPE = {"id": str, "version": (str, type(None)), "name": str}


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    system = section(record, "system", SHAPE)
    told = system["name"] or system["id"]
    if system["version"] in asked.systems.get(system["id"], ()):
        return ok(told)
    supported = "; ".join(f"{name} {', '.join(versions)}" for name, versions in asked.systems.items())
    if system["id"] not in asked.systems:
        return fail(f"{told} is not supported (supported: {supported})", f"Install one of these: {supported}.")
    version = f"version {system['version']}" if system["version"] else "no version in os-release"
    return warn(f"{told} was not tested ({version}; tested: {supported})",
                f"It may work. To be safe, use one of these: {supported}.")
