# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Looking up names without waiting for ever, and what addresses are."""

import ipaddress
import socket
import threading
import time

from ansible_collections.llmgw.preflight.plugins.module_utils.background import in_background

_LOCK = threading.Lock()
_ASKED = {}  # name -> the thread that looks it up, until when it is waited for, and what came of it: its addresses, or nothing so far


def look_up(wanted, limit_s):
    """name -> its addresses, none where a name server says that it has none; a name that is absent got no answer.

    More than one reader asks, and more than once: each name is looked up once, and waited for so long from then on.
    """
    with _LOCK:
        for name in wanted:
            if name not in _ASKED:
                found, end = [], time.monotonic() + limit_s
                _ASKED[name] = (in_background(end, _ask, name, found), end, found)
    for name in wanted:
        thread, end, _found = _ASKED[name]
        thread.join(max(0, end - time.monotonic()))
    return {name: _ASKED[name][2][0] for name in wanted if _ASKED[name][2]}


def _ask(name, found):
    try:
        found.append(sorted({entry[4][0] for entry in socket.getaddrinfo(name, None, 0, socket.SOCK_STREAM)}))
    except (socket.gaierror, UnicodeError) as error:
        if getattr(error, "errno", None) != socket.EAI_AGAIN:
            found.append([])
    except OSError:  # with which no name server has to do, such as too many open files
        pass


def is_address(text):
    """Whether it needs no looking up; inet_aton(3) takes more than the ipaddress module does."""
    try:
        socket.getaddrinfo(text, None, 0, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return False
    return True


def is_ones_own(text):
    """Whether every machine takes this address for itself, also as IPv4 within IPv6."""
    address = ipaddress.ip_address(text.split("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified
