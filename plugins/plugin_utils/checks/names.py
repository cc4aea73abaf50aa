# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Does each machine look up itself, and the others where they are told by name?

A name of another machine that leads to this machine itself (127.0.1.1 in /etc/hosts, left by an image), or to nobody, fails.
Its own name may well lead to 127.0.1.1, as Debian has it; where it leads nowhere, or nobody answers in time, that is a warning. Left out
for one machine alone.
"""

from __future__ import annotations

import re
import shlex
import typing as t
from collections.abc import Mapping

from ..model import Group, Level, Told, Verdict, fail, ok, readings, several, warn

ID = "names"
WORST = Level.FAIL
FIX_UNREAD = "Look the names up there by hand (getent ahosts NAME) and see whether its name server answers (/etc/resolv.conf)."

FIX = ("Correct /etc/hosts or DNS (/etc/resolv.conf) there, so that each name leads to its machine, or set preflight_address of those "
       "machines to their IP addresses.")
FIX_OWN = "Put a line with 127.0.1.1 and its hostname into /etc/hosts there."
HOSTNAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}")  # that does no harm in /etc/hosts

SHAPE = {
    "own": {"name": str, "addresses": (list, type(None))},
    "looked_up": int,
    "nobody": [{"machine": str, "address": str, "answered": bool}],
    "loopback": [{"machine": str, "address": str, "to": str}],
}


def compare(group: Group) -> list[Told]:
    if len(group.members) + len(group.others) < 2:
        return []
    read, found = readings(group.members, ID, SHAPE, WORST, FIX_UNREAD)
    return found + [(member.name, _judge(names)) for member, names in read]


def _judge(names: Mapping[str, t.Any]) -> Verdict:
    wrong = [f"{_named(peer)} leads to {peer['to']}, which is this machine itself" for peer in names["loopback"]]
    wrong += [f"{_named(peer)} leads nowhere" for peer in names["nobody"] if peer["answered"]]
    unanswered = [_named(peer) for peer in names["nobody"] if not peer["answered"]]
    wrong += [f"no name server answers for {several(unanswered)}"] if unanswered else []
    own = [] if names["own"]["addresses"] else [
        f"its own hostname {names['own']['name']} leads nowhere" if names["own"].get("answered", True) is True else
        f"no name server answers for its own hostname {names['own']['name']}"]
    if wrong:
        return fail("; ".join([several(wrong, "; "), *own]), f"{FIX} {FIX_OWN}" if own else FIX, *_commands(names))
    if own:
        return warn(own[0], FIX_OWN, *_commands(names))
    others = f" and {names['looked_up']} other names" if names["looked_up"] > 1 else " and 1 other name" if names["looked_up"] else ""
    return ok(f"looks up its own hostname{others}")


def _commands(names: Mapping[str, t.Any]) -> tuple[str, ...]:
    """The line for its own name; the last one there may have no end."""
    name = names["own"]["name"]
    if names["own"]["addresses"] or not HOSTNAME.fullmatch(name):
        return ()
    return (f"getent ahosts {shlex.quote(name)} >/dev/null || printf '\\n127.0.1.1 %s\\n' {shlex.quote(name)} >>/etc/hosts",)


def _named(peer: Mapping[str, str]) -> str:
    return peer["address"] if peer["address"] == peer["machine"] else f"{peer['address']} ({peer['machine']})"
