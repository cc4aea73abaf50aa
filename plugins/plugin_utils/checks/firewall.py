# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is a firewall of the machine's own active that has no rule for the ports of its roles?

ufw where it is on (ENABLED in /etc/ufw/ufw.conf), firewalld where it runs, and rules of nftables or iptables that drop at last what comes
in (but for IPv6 alone). A rule counts whomever it lets in, so that this never warns of a port that is open to those that need it. ufw's
rules and the kernel's are for root to read; where they could not be read, that is said, and is no finding: role_ports tries the ports
themselves.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, ok, section, warn

ID = "firewall"
WORST = Level.WARN
FIX_UNREAD = "See as root whether a firewall there lets in the ports of its roles (ufw status; firewall-cmd --list-all; nft list ruleset)."
FIXES = {
    "ufw": "ufw allow proto tcp from ADDRESS to any port {ports}",
    "firewalld": "firewall-cmd --permanent {options}, then firewall-cmd --reload",
    "iptables": "iptables -I INPUT -p tcp -m multiport --dports {ports} -j ACCEPT, and save it for the next start",
    "nftables": "tcp dport {{ {ports} }} accept in the chain for input, in /etc/nftables.conf",
}


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    ports = asked.need.ports
    if not ports:
        return None
    found = section(record, "firewall", {"by": (str, type(None)), "open": (list, type(None)), "unread": (str, type(None))})
    by, unread = found["by"], found["unread"]
    if not by:
        return ok(f"none is known of (the rest was not read: {unread})" if unread else "none is active")
    if found["open"] is None:
        return ok(f"{by} is active; its rules were not read ({unread})")
    ranges = section(found, "open", [{"first": int, "last": int}])
    closed = [str(port) for port in ports if not any(one["first"] <= port <= one["last"] for one in ranges)]
    if not closed:
        return ok(f"{by} is active and has rules for {', '.join(map(str, ports))}")
    fix = FIXES.get(by, "a rule for {ports}").format(ports=",".join(closed), options=" ".join(f"--add-port={port}/tcp" for port in closed))
    return warn(f"{by} is active and has no rule for {', '.join(closed)}", f"Let in those that need it: {fix}.")
