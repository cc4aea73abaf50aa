# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which of the other machines does this one reach? All are tried at once, under one deadline."""

import errno
import selectors
import socket
import threading
import time

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


def reach(peers, limit_s):
    """Try TCP to each of ``peers`` (machine, address, port); return tried, open, seconds, not_open.

    Only what is not open is listed, so that what is kept does not grow with the square of the machines.
    """
    end = time.monotonic() + limit_s
    found = _look_up(peers, end)
    outcomes, seconds = {}, []
    waiting = selectors.DefaultSelector()
    for number in range(len(peers)):
        if not found.get(number):
            outcomes[number] = "no_name" if number in found else "timeout"
            continue
        _next(waiting, outcomes, number, list(found[number]))
    while waiting.get_map():
        left = end - time.monotonic()
        # Also once when the time is up: what the kernel has by then counts, however late this process comes to see it.
        ready = waiting.select(max(0, left))
        for key, _events in ready:
            waiting.unregister(key.fileobj)
            number, rest, begun = key.data
            error = key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            key.fileobj.close()
            if not error:
                outcomes[number] = "open"
                seconds.append(time.monotonic() - begun)
            else:
                outcomes[number] = OUTCOMES.get(error, "timeout")
                _next(waiting, outcomes, number, rest)
        if left <= 0 and not ready:
            break
    for key in list(waiting.get_map().values()):
        outcomes[key.data[0]] = "timeout"
        key.fileobj.close()
    waiting.close()
    not_open = [dict(peer, outcome=outcomes[number]) for number, peer in enumerate(peers) if outcomes[number] != "open"]
    return {"tried": len(peers), "open": len(peers) - len(not_open), "seconds": _summary(seconds), "not_open": not_open}


def _next(waiting, outcomes, number, addresses):
    """Begin with the first of the addresses that can be begun with; the outcome of the last one stands."""
    while addresses:
        family, kind, protocol, name, place = addresses.pop(0)
        try:
            attempt = socket.socket(family, kind, protocol)
        except OSError as error:
            if error.errno != errno.EAFNOSUPPORT:
                raise
            outcomes[number] = "no_route"
            continue
        attempt.setblocking(False)
        error = attempt.connect_ex(place)
        if error in (0, errno.EINPROGRESS):
            waiting.register(attempt, selectors.EVENT_WRITE, (number, addresses, time.monotonic()))
            return
        attempt.close()
        outcomes[number] = OUTCOMES.get(error, "timeout")


def _look_up(peers, end):
    """number -> addresses, [] where the name is not known; a number that is absent got no answer in time."""
    found, threads = {}, []

    def ask(number, peer):
        try:
            found[number] = socket.getaddrinfo(peer["address"], peer["port"], 0, socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            found[number] = []

    for number, peer in enumerate(peers):
        try:  # an address needs no thread
            found[number] = socket.getaddrinfo(peer["address"], peer["port"], 0, socket.SOCK_STREAM, 0,
                                               socket.AI_NUMERICHOST)
        except (OSError, UnicodeError):
            thread = threading.Thread(target=ask, args=(number, peer))
            thread.daemon = True
            thread.start()
            threads.append(thread)
    for thread in threads:
        thread.join(max(0, end - time.monotonic()))
    return dict(found)


def _summary(seconds):
    """Median and greatest, to a tenth of a millisecond; null where nothing was open."""
    if not seconds:
        return {"median": None, "max": None}
    ordered = sorted(seconds)
    return {"median": round(ordered[len(ordered) // 2], 4), "max": round(ordered[-1], 4)}
