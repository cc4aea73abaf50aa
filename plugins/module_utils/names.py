# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where do the names of this machine and of the others lead, as this machine looks them up?"""

import socket

from ansible_collections.llmgw.preflight.plugins.module_utils.identity import own_addresses
from ansible_collections.llmgw.preflight.plugins.module_utils.lookup import is_address, is_ones_own, look_up


def names(peers, limit_s):
    """Look up this machine's hostname, and the address of each of ``peers`` (machine, address) that is a name.

    Only what leads to nobody, or to this machine itself, is kept, so that it does not grow with the square of the machines. answered is
    false where no name server said so: none answers, or not within ``limit_s``, which whoever looks it up there waits for too.
    """
    own = socket.gethostname()
    named = [peer for peer in peers if not is_address(peer["address"])]
    found = look_up({own} | {peer["address"] for peer in named}, limit_s)
    nobody, loopback, mine = [], [], own_addresses()
    for peer in named:
        addresses = found.get(peer["address"], ())
        ones_own = [address for address in addresses if is_ones_own(address) or address in mine]
        kept = {"machine": peer["machine"], "address": peer["address"]}
        if not addresses:
            nobody.append(dict(kept, answered=peer["address"] in found))
        elif ones_own:
            loopback.append(dict(kept, to=ones_own[0]))
    return {"own": {"name": own, "addresses": found.get(own) or None, "answered": own in found}, "looked_up": len(named),
            "nobody": nobody, "loopback": loopback}
