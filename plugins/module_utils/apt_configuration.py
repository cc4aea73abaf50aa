# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How apt is set to fetch: its proxies, and whom it trusts."""

import glob
import os
import re
from collections import namedtuple

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find, text_of

DIRECT = "DIRECT"
# Words of apt's configuration that say how it reaches a mirror.
OF_THE_WAY = re.compile("proxy|verify-|cainfo|capath|sslcert|crlfile", re.I)

# What apt's configuration holds under Acquire, by the names of the options in small letters; and what keeps some of it from
# being known: files that this user may not read, or why apt does not tell.
Configuration = namedtuple("Configuration", "options unread")


def apt_configuration(limit_s):
    """apt's configuration of how it fetches. It is asked for it only where its files mention a proxy, or how to trust a server."""
    path, options, unread, told = find("apt-config"), {}, [], False
    for name in ["/etc/apt/apt.conf"] + sorted(glob.glob("/etc/apt/apt.conf.d/*")):
        try:
            told = bool(OF_THE_WAY.search(text_of(name))) or told
        except Unmeasured:
            if os.path.exists(name):
                unread.append(name)
    if path and told:
        try:
            out = command([path, "dump", "Acquire"], limit_s)[1]
            options = dict((name.lower(), value) for name, value in re.findall(r'^(\S+) "(.*)";', out, re.M) if value)
        except Unmeasured as problem:
            unread.append(str(problem))
    return Configuration(options, unread)


def apt_proxy(options, scheme, host):
    """apt's own proxy for this host: its address, DIRECT, or None where apt says nothing. See apt-transport-http(1), and for https
    apt-transport-https(1): what is not said of it is as for http."""
    for option in ("acquire::%s::proxy::" + str(host), "acquire::%s::proxy"):
        for kind in (scheme, "http"):
            if option % kind in options:
                found = options[option % kind]
                return DIRECT if found in ("DIRECT", "false") else found
    return None
