# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Do the machine's own package sources answer? An install begins with apt-get update, which asks each of them.

Each is asked for its release file by apt's own proxy settings. One that does not answer, or answers with an error, is told with how
far it got: name, connection, TLS, HTTP. It is a warning while another answers, since the install may not need it, and a failure when
none does. What only apt could try (a disc, Tor, a script that tells the proxy) is said at warn, as nothing is known of it; where
a name and a password are needed, it counts as an answer that they are asked for. No more than 8 of a host are asked, and 32 in all. Left
out where apt-get is not there, which the check packages tells.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, fail, ok, section, several, warn

ID = "mirrors"
WORST = Level.FAIL
FIX_UNREAD = "Run apt-get update there as root and see what it says."
FIX_DISC = "Take the disc out of /etc/apt/sources.list there (put # before its line, deb cdrom:), since apt-get update fails without it."
FIX_NONE = "Give the machine package sources (/etc/apt/sources.list, man sources.list has the forms)."

STAGES = {"dns": "name", "connect": "connection", "tls": "TLS", "http": "HTTP", "file": "file"}
FIXES = {
    "dns": "Give the machine a name server that knows this name (/etc/resolv.conf), or apt a proxy if only one leads out.",
    "connect": "Let the machine out to this address (firewall, default route), or give apt a proxy if only one leads out.",
    "tls": "Install ca-certificates, set the clock right, and see whether something in between answers instead.",
    "http": ("Correct the address and the suite in /etc/apt, or take a source away that is gone. See that the proxy lets this machine "
             "through, and that nobody must log in to the network first (captive portal)."),
    "file": "Put the folder or file back, or take the source away in /etc/apt.",
}
SHAPE = [{"source": str, "ok": (bool, type(None)), "via": str, "stage": (str, type(None)), "reason": (str, type(None))}]


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    if record.get("apt") is False:
        return None
    tried = section(record, "mirrors", SHAPE)
    if not tried:
        return fail("apt has no package sources", FIX_NONE)
    good = [f"{entry['source']}{_via(entry)}" for entry in tried if entry["ok"]]
    bad = [entry for entry in tried if entry["ok"] is False]
    untried = [entry for entry in tried if entry["ok"] is None]
    if not bad and not untried:
        return ok(f"answering: {several(good, '; ')}")
    details = [f"{entry['source']}{_via(entry)}: {STAGES.get(entry['stage'] or '', 'connection')}: {entry['reason'] or 'no answer'}"
               for entry in bad]
    details += [f"{entry['source']} could not be tried: {entry['reason']}" for entry in untried]
    fixes = [FIXES.get(entry["stage"] or "", FIXES["connect"]) for entry in bad] + [
        FIX_DISC if entry["source"].startswith("cdrom:") else FIX_UNREAD for entry in untried]
    level = warn if good or untried else fail
    return level(f"{several(details, '; ')} ({len(good)} of {len(tried)} answer)", " ".join(dict.fromkeys(fixes)))


def _via(entry: Mapping[str, t.Any]) -> str:
    return "" if entry["via"] == "direct" else f" by way of {entry['via']}"
