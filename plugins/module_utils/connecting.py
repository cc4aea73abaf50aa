# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A connection to a host that may have several addresses, of which some may never answer."""

import errno
import os
import selectors
import socket
import time

FURTHER_S = 0.25  # after which another address of a host is tried besides, as RFC 8305 has it


def connect_to_any(addresses, port, limit_s):
    """A connection to the first address of a host that takes one. As apt does: also where one of them, mostly IPv6, never answers."""
    end, problem, addresses = time.monotonic() + limit_s, None, list(addresses)
    with selectors.DefaultSelector() as waiting:
        try:
            while addresses or waiting.get_map():
                if addresses:
                    try:
                        _begin(waiting, addresses.pop(0), port)
                    except OSError as error:
                        problem = error
                        continue
                left = end - time.monotonic()
                ready = waiting.select(max(0, min(left, FURTHER_S) if addresses else left))
                if left <= 0 and not ready:
                    raise socket.timeout("timed out")
                for key, _events in ready:
                    waiting.unregister(key.fileobj)
                    number = key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                    if not number:
                        key.fileobj.settimeout(limit_s)
                        return key.fileobj
                    key.fileobj.close()
                    problem = OSError(number, os.strerror(number))
        finally:
            for key in list(waiting.get_map().values()):
                key.fileobj.close()
    raise problem or OSError("it has no address")


def _begin(waiting, address, port):
    family, kind, protocol, _name, where = address
    connection = socket.socket(family, kind, protocol)
    connection.setblocking(False)
    number = connection.connect_ex((where[0], port) + where[2:])
    if number not in (0, errno.EINPROGRESS):
        connection.close()
        raise OSError(number, os.strerror(number))
    waiting.register(connection, selectors.EVENT_WRITE)
