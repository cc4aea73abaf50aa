# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which TCP ports are listened on, on which address, and by whom where that can be known."""

import os
import pwd
import re
import socket
import struct
import time

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, text_of

LISTEN = "0A"  # include/net/tcp_states.h
MOST = 16 * 1024 * 1024  # bytes of /proc/net/tcp: some 100,000 sockets


def listening(limit_s):
    """The kernel's own tables of this network namespace; no program is needed to read them.

    So long at most it is looked for who holds them: a machine can have millions of open files.
    """
    by_inode, missing = {}, []
    for path in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            # By inode: while connections come and go the kernel tells some sockets twice.
            by_inode.update((entry["inode"], entry) for entry in parse(text_of(path, MOST)))
        except Unmeasured as problem:
            missing.append(str(problem))
        except (ValueError, struct.error) as error:
            raise Unmeasured("%s is not of the known form (%s)" % (path, error)) from error
    if len(missing) == 2 or missing and "/proc/net/tcp:" in missing[0]:
        raise Unmeasured("; ".join(missing))  # without tcp6 the kernel has no IPv6, and nothing is missed
    holders = _holders(by_inode, limit_s)
    return [
        {"port": entry["port"], "address": entry["address"], "process": holders.get(entry["inode"]), "user": _user(entry["uid"])}
        for entry in sorted(by_inode.values(), key=lambda entry: (entry["port"], entry["address"]))
    ]


def parse(text):
    """Listening sockets of /proc/net/tcp or tcp6: port, address, uid and inode of each."""
    found = []
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) < 10 or fields[3] != LISTEN:
            continue
        raw, sign, port = fields[1].partition(":")
        found.append({"port": int(port, 16), "address": address(raw), "uid": int(fields[7]), "inode": fields[9]})
    return found


def address(raw):
    """Words of 32 bits in the byte order of the machine, as hexadecimal digits."""
    words = [int(raw[at:at + 8], 16) for at in range(0, len(raw), 8)]
    packed = struct.pack("=%dI" % len(words), *words)
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, packed)


def _holders(inodes, limit_s):
    """inode -> name of a process that holds it: all as root, and our own processes otherwise."""
    found, me, end = {}, os.geteuid(), time.monotonic() + limit_s
    for pid in os.listdir("/proc"):
        folder = "/proc/%s/fd" % pid
        try:
            if not pid.isdigit() or me and os.stat(folder).st_uid != me:
                continue
            for descriptor in os.listdir(folder):
                if time.monotonic() > end:
                    return found
                socket_of = re.match(r"socket:\[(\d+)\]$", _link("%s/%s" % (folder, descriptor)))
                if socket_of and socket_of.group(1) in inodes:
                    found.setdefault(socket_of.group(1), text_of("/proc/%s/comm" % pid).strip())
        except (OSError, Unmeasured):  # gone by now, or not ours to see
            continue
    return found


def _link(path):
    try:
        return os.readlink(path)
    except OSError:  # closed by now, which does not concern the others
        return ""


def _user(uid):
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
