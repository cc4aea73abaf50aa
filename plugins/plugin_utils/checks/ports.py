# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Are the ports free that the roles will listen on?

A port in use is a warning only, since a second run finds the install's own services. Left out where no role listens.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, ok, section, warn

ID = "ports"
WORST = Level.WARN
STAND_IN = "llmgw-preflight"  # see module_utils/stand_in.py
FIX_STAND_IN = ("These are of another preflight, which is at it now or was stopped before its end. They end by themselves within "
                "preflight_limits.stand_in_s, or by pkill -x llmgw-preflight there.")
FIX_UNREAD = "See that /proc/net/tcp can be read there."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    if not asked.need.ports:
        return None
    listening = section(record, "listening", [{"port": int, "address": str, "process": (str, type(None))}])
    busy = [_told(port, listening) for port in asked.need.ports if any(entry["port"] == port for entry in listening)]
    if not busy:
        return ok(f"free: {', '.join(map(str, asked.need.ports))}")
    if {entry["process"] for entry in listening if entry["port"] in asked.need.ports} == {STAND_IN}:
        return warn(f"in use: {'; '.join(busy)}", FIX_STAND_IN)
    return warn(f"in use: {'; '.join(busy)}",
                "If this is not an earlier install of the same role, stop what listens there (sudo ss -ltnp shows it).")


def _told(port: int, listening: list[dict[str, t.Any]]) -> str:
    entries = [entry for entry in listening if entry["port"] == port]
    holders = {entry["process"] or (f"user {entry['user']}" if entry.get("user") else "") for entry in entries} - {""}
    addresses = sorted({entry["address"] for entry in entries})
    return f"{port}{' by ' + ', '.join(sorted(holders)) if holders else ''} on {', '.join(addresses)}"
