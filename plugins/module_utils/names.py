# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where do the names of this machine and of the others lead, as this machine looks them up?"""

import ipaddress
import socket
import threading
import time

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured


def names(peers, limit_s):
    """Look up this machine's hostname, and the address of each of ``peers`` (machine, address) that is a name.

    Only what leads to nobody, or to this machine itself, is kept, so that it does not grow with the square of the machines.
    """
    own = socket.gethostname()
    named = [peer for peer in peers if not _is_address(peer["address"])]
    found = _look_up({own} | {peer["address"] for peer in named}, limit_s)
    late = sorted({peer["address"] for peer in named} - set(found))
    if late:
        raise Unmeasured("%s could not be looked up within %g s" % (", ".join(late[:8]), limit_s))
    nobody, loopback = [], []
    for peer in named:
        addresses = found[peer["address"]]
        ones_own = [address for address in addresses if _is_ones_own(address)]
        kept = {"machine": peer["machine"], "address": peer["address"]}
        if not addresses:
            nobody.append(kept)
        elif ones_own:
            loopback.append(dict(kept, to=ones_own[0]))
    # No answer in time is none: whoever looks up the hostname there waits as long.
    return {"own": {"name": own, "addresses": found.get(own) or None}, "looked_up": len(named), "nobody": nobody, "loopback": loopback}


def _look_up(wanted, limit_s):
    """name -> its addresses, none where it has none; a name that is absent got no answer in time."""
    end, found, threads = time.monotonic() + limit_s, {}, []

    def ask(name):
        try:
            found[name] = sorted({entry[4][0] for entry in socket.getaddrinfo(name, None, 0, socket.SOCK_STREAM)})
        except (OSError, UnicodeError):
            found[name] = []

    for name in wanted:
        thread = threading.Thread(target=ask, args=(name,))
        thread.daemon = True
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    return dict(found)


def _is_address(text):
    try:
        socket.getaddrinfo(text, None, 0, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return False
    return True


def _is_ones_own(text):
    """Whether every machine takes this address for itself, also as IPv4 within IPv6."""
    address = ipaddress.ip_address(text.split("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified
