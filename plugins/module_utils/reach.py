# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which of the other machines does this one reach? All are tried at once, under one deadline."""

import contextlib
import errno
import resource
import selectors
import socket
import struct
import time

from ansible_collections.llmgw.preflight.plugins.module_utils.lookup import is_address, is_ones_own, look_up

OUTCOMES = {
    errno.ECONNREFUSED: "refused",
    errno.ECONNRESET: "refused",
    errno.EADDRNOTAVAIL: "no_route",
    errno.ENETUNREACH: "no_route",
    errno.EHOSTUNREACH: "no_route",
    errno.EACCES: "no_route",  # a firewall of this machine's own forbids it
    errno.EPERM: "no_route",
    errno.ETIMEDOUT: "timeout",
}
# The peer's SYN-ACK tells that the port is open. This machine's own answer to that is held back (TCP_QUICKACK) until it is known whether
# there is anything to say; if not, the connection ends by a reset. So the service there never comes to see it: an sshd does not fork for
# each machine that tries it, and logs nothing. HAProxy's TCP checks do the same. Should a kernel answer at once, all is as it would be.
AT_ONCE = struct.pack("ii", 1, 0)  # struct linger of socket(7): close by a reset


def reach(peers, limit_s):
    """Try TCP to each of ``peers`` (machine, address, port); return tried, open, seconds, not_open.

    Only what is not open is listed, so that what is kept does not grow with the square of the machines.
    """
    outcomes, round_trips = attempt(peers, limit_s)
    return summary(peers, outcomes, round_trips)


def summary(peers, outcomes, round_trips):
    not_open = [dict(peer, outcome=outcomes[number]) for number, peer in enumerate(peers) if outcomes[number] != "open"]
    return {"tried": len(peers), "open": len(peers) - len(not_open), "seconds": _summary(round_trips.values()), "not_open": not_open}


def attempt(peers, limit_s, words=()):
    """Try TCP to each of ``peers`` (address, port); return the outcome and the seconds of a round trip of each, by its place.

    ``words`` maps places to (what to say, what must be answered, what another run of this collection would answer), as bytes; such a
    peer is open only if it answers so. Names are looked up first, for ``limit_s`` at the most: a first name server that is dead costs
    each five seconds. Then every address of every peer is tried at once, so that one family that is dropped does not hide the other.
    """
    _allow_files(4 * len(peers) + 256)  # two addresses a peer, and room for whatever else runs
    places = _places(peers, limit_s)
    end = time.monotonic() + limit_s
    words, outcomes, round_trips, patience = dict(words), {}, {}, True
    waiting = selectors.DefaultSelector()
    for number in range(len(peers)):
        outcomes[number] = "no_name"  # unless there is more to tell
        for family, kind, protocol, _name, place in places[number]:
            _begin(waiting, outcomes, number, (family, kind, protocol), place)
    while waiting.get_map():
        left = end - time.monotonic()
        # Also once when the time is up: what the kernel has by then counts, however late this process comes to see it.
        ready = waiting.select(max(0, left))
        for key, _events in ready:
            number, said = key.data
            outcome = _connected(key.fileobj, number, words, round_trips) if said is None else _answered(key.fileobj, said, words[number])
            if isinstance(outcome, bytes):
                waiting.modify(key.fileobj, selectors.EVENT_READ, (number, outcome))
                outcomes[number] = outcomes[number] if outcomes[number] == "open" else "no_word"  # until it answers
                continue
            waiting.unregister(key.fileobj)
            key.fileobj.close()
            outcomes[number] = outcomes[number] if outcomes[number] == "open" else outcome
        if left <= 0 and not ready:
            if patience and any(key.data[1] is not None for key in waiting.get_map().values()):
                end, patience = end + 2 * limit_s, False  # who took the connection is there, and may only be busy
                continue
            break
        if all(outcomes[key.data[0]] == "open" for key in waiting.get_map().values()):
            break  # what is left are further addresses of peers that are reached
    for key in list(waiting.get_map().values()):
        if outcomes[key.data[0]] != "open" and key.data[1] is None:
            outcomes[key.data[0]] = "timeout"
        key.fileobj.close()
    waiting.close()
    return outcomes, round_trips


def _allow_files(number):
    """Let this process have so many files open, as far as it may; a login has 1,024 to begin with."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (number if hard == resource.RLIM_INFINITY else min(number, hard), hard))


def _connected(connection, number, words, round_trips):
    """The outcome of a connection that is made or has failed; bytes (none so far) where it still has to answer."""
    error = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error:
        return OUTCOMES.get(error, "timeout")
    round_trips.setdefault(number, _round_trip(connection))
    if number not in words:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
        return "open"
    try:
        connection.send(words[number][0])
    except OSError:
        return "wrong_answer"
    return b""


def _answered(connection, said, words):
    try:
        more = connection.recv(512)
    except OSError:
        more = b""
    said += more
    if more and b"\n" not in said and len(said) < 512:
        return said
    return "open" if said == words[1] else "other_run" if said.startswith(words[2]) else "wrong_answer"


def _round_trip(connection):
    """As the kernel measured it, in seconds: however late this process was to look. tcpi_rtt of struct tcp_info, linux/tcp.h."""
    return struct.unpack("I", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[68:72])[0] / 1e6


def _begin(waiting, outcomes, number, kinds, place):
    if is_ones_own(place[0]):
        outcomes[number] = "wrong_answer"  # whoever answers there is this machine itself
        return
    try:
        connection = socket.socket(*kinds)
    except OSError as error:
        if error.errno != errno.EAFNOSUPPORT:
            raise
        outcomes[number] = "no_route"
        return
    connection.setblocking(False)
    with contextlib.suppress(OSError):  # a container's kernel need not know it
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
    error = connection.connect_ex(place)
    if error in (0, errno.EINPROGRESS):
        waiting.register(connection, selectors.EVENT_WRITE, (number, None))
    else:
        connection.close()
        outcomes[number] = OUTCOMES.get(error, "timeout")


def _places(peers, limit_s):
    """For each peer what to connect to: family, kind, protocol, name and place of each of its addresses, as getaddrinfo gives them."""
    found = look_up({peer["address"] for peer in peers if not is_address(peer["address"])}, limit_s)
    return [
        [place for address in found.get(peer["address"], [peer["address"]] if is_address(peer["address"]) else [])
         for place in socket.getaddrinfo(address, peer["port"], 0, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST)]
        for peer in peers
    ]


def _summary(seconds):
    """Median and greatest, to a hundredth of a millisecond; null where nothing was open."""
    if not seconds:
        return {"median": None, "max": None}
    ordered = sorted(seconds)
    return {"median": round(ordered[len(ordered) // 2], 5), "max": round(ordered[-1], 5)}
