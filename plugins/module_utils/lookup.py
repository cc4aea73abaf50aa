# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Looking up names without waiting for ever, and what addresses are."""

import ipaddress
import socket
import threading
import time


def look_up(wanted, limit_s):
    """name -> its addresses, none where a name server says that it has none; a name that is absent got no answer."""
    end, found, threads = time.monotonic() + limit_s, {}, []

    def ask(name):
        try:
            found[name] = sorted({entry[4][0] for entry in socket.getaddrinfo(name, None, 0, socket.SOCK_STREAM)})
        except (OSError, UnicodeError) as error:
            if getattr(error, "errno", None) != socket.EAI_AGAIN:
                found[name] = []

    for name in wanted:
        thread = threading.Thread(target=ask, args=(name,))
        thread.daemon = True
        thread.start()
        threads.append(thread)
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    return dict(found)


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
