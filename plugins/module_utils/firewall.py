# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is a firewall of the machine's own active, and which TCP ports does it let in?

Only what this user may read: ufw's settings where it is on, and the kernel's own rules as root. sudo is never asked.
"""

import os
import re

from ansible_collections.llmgw.preflight.plugins.module_utils.packet_rules import ends, iptables, nftables, ports_of
from ansible_collections.llmgw.preflight.plugins.module_utils.processes import pids_of
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find, first_line, text_of

LEGACY = "/proc/net/ip_tables_names"  # the tables of the older iptables
UFW = "/etc/ufw"
UFW_POLICY = "/etc/default/ufw"
UFW_RULES = ("user.rules", "before.rules", "after.rules", "user6.rules", "before6.rules", "after6.rules")
UFW_CHAINS = ("ufw-before-input", "ufw-user-input", "ufw-after-input", "ufw6-before-input", "ufw6-user-input", "ufw6-after-input")
MOST = 4 * 1024 * 1024  # bytes of one file of rules


def firewall(limit_s):
    """by (ufw, firewalld, iptables, nftables; None where none is known of), open (first and last of each range of ports that a rule
    lets in; None where that could not be read) and unread (why not)."""
    if _ufw_is_on():
        try:
            return _found("ufw", ports_of(_ufw_rules(), UFW_CHAINS))
        except Unmeasured as problem:
            return _found("ufw", None, str(problem))
    by, unread = _firewalld()
    if os.geteuid():
        return _found(by, None, unread or "only root may read the kernel's rules")
    problems = []
    for name, argv, parse in _programs(problems):
        try:
            rules, drops = _asked(argv, parse, limit_s)
        except Unmeasured as problem:
            problems.append(str(problem))
            continue
        closed = [chain for chain, dropped in drops.items() if dropped or ends(chain, rules)]
        if closed:
            return _found(by or name, ports_of(rules, closed, [chain for chain in closed if not drops[chain]]))
    # By what the kernel has, nothing is kept out, whatever runs.
    return _found(by, None, "; ".join(problems)) if problems else _found(None, None)


def _found(by, ports, unread=None):
    ranges = None if ports is None else [{"first": first, "last": last} for first, last in ports]
    return {"by": by, "open": ranges, "unread": unread}


def _firewalld():
    try:
        return ("firewalld" if pids_of(["firewalld"]) else None), None
    except Unmeasured as problem:
        return None, str(problem)


def _programs(problems):
    """Those that tell the kernel's rules, where it can have any: to ask it for them would make it load the module."""
    legacy, modern = os.path.exists(LEGACY) and text_of(LEGACY).strip(), _is_there("nf_tables")
    found = []
    for name, argv, parse, needed, tried in (
            # Where both are installed, iptables-save is commonly that of nf_tables, which does not show the rules of the older one.
            ("iptables", ["iptables-legacy-save"], iptables, False, legacy),
            ("iptables", ["iptables-save"], iptables, legacy, legacy or modern),
            ("nftables", ["nft", "-j", "list", "ruleset"], nftables, modern, modern)):
        path = find(argv[0]) if tried else None
        if path:
            found.append((name, [path] + argv[1:], parse))
        elif needed:
            problems.append("%s is not there" % argv[0])
    return found


def _is_there(module):
    """Whether the kernel has it now, built in or loaded."""
    if os.path.isdir("/sys/module/" + module):
        return True
    try:
        return "/%s.ko" % module in text_of("/lib/modules/%s/modules.builtin" % os.uname().release, MOST)
    except Unmeasured:  # a kernel without modules, or a container
        return True


def _asked(argv, parse, limit_s):
    status, out, err = command(argv, limit_s)
    if status:
        raise Unmeasured("%s: %s" % (argv[0], first_line(err) or "exit status %d" % status))
    try:
        return parse(out)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Unmeasured("%s: an answer of another form (%s)" % (argv[0], error)) from error


def _ufw_is_on():
    """ufw(8): ENABLED in ufw.conf, which anybody may read; and what comes in is let in where the policy is to accept it."""
    settings = {}
    for path in (UFW + "/ufw.conf", UFW_POLICY):
        try:
            text = text_of(path)
        except Unmeasured:
            continue
        settings.update(re.findall(r"^\s*(ENABLED|DEFAULT_INPUT_POLICY)=[\"']?(\w+)", text, re.M))
    return settings.get("ENABLED", "no").lower() == "yes" and settings.get("DEFAULT_INPUT_POLICY", "DROP").upper() != "ACCEPT"


def _ufw_rules():
    rules = []
    for name in UFW_RULES:
        path = os.path.join(UFW, name)
        if os.path.exists(path) or name == UFW_RULES[0]:
            text = text_of(path, MOST)
            try:
                rules += iptables(text)[0]
            except (LookupError, ValueError) as error:  # written by hand
                raise Unmeasured("%s: %s" % (path, error)) from error
    return rules
