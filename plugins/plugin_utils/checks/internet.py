# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Do the package mirrors answer? The install fetches its packages from them.

Each URL that was tried must have answered; one that did not is told with how far it got: name, connection, TLS or HTTP. Where apt goes a
way of its own that can not be tried (a proxy that is none for HTTP or that a script tells, settings for TLS, settings that this user may
not read), one that does not answer is a warning. Left out when no URL is asked for.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, fail, ok, section, warn

ID = "internet"
WORST = Level.FAIL
FIX_UNREAD = "Run curl -I with the URL there and see what it says."

FIX_UNTRIED = "Run apt-get update there as root and see what it says."
FIXES = {
    "dns": "Give the machine a name server that answers (/etc/resolv.conf), or set http_proxy if only a proxy leads out.",
    "connect": "Let the machine out to this address (firewall, default route), or set http_proxy if only a proxy leads out.",
    "tls": "Install ca-certificates, set the clock right, and see whether something in between answers instead.",
    "http": ("See that the proxy lets this machine through, or that nobody must log in to the network first (captive portal), or name "
             "in preflight_internet_urls what answers by itself: other mirrors, or where this one sends its callers."),
}
SHAPE = [{"url": str, "ok": (bool, type(None)), "via": str, "stage": (str, type(None)), "reason": (str, type(None))}]


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    tried = section(record, "internet", SHAPE)
    if not tried:
        return None
    bad = [entry for entry in tried if not entry["ok"]]
    if not bad:
        return ok("; ".join(f"{entry['url']} answers{_via(entry)}" for entry in tried))
    detail = "; ".join(f"{entry['url']}{' could not be tried' if entry['ok'] is None else _via(entry)}: {entry['reason'] or 'no answer'}"
                       for entry in bad)
    fixes = dict.fromkeys(FIX_UNTRIED if entry["ok"] is None else FIXES.get(entry["stage"] or "", FIXES["connect"]) for entry in bad)
    return (warn if all(entry["ok"] is None for entry in bad) else fail)(detail, " ".join(fixes))


def _via(entry: Mapping[str, t.Any]) -> str:
    return "" if entry["via"] == "direct" else f" by way of {entry['via']}"
