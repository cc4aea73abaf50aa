# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What no two machines have in common: machine-id, SSH host keys, hostname, IP and MAC addresses."""

import array
import base64
import binascii
import fcntl
import glob
import hashlib
import ipaddress
import os
import socket
import struct

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, text_of

MACHINE_ID = ("/etc/machine-id", "/var/lib/dbus/machine-id")  # machine-id(5); the second where there is no systemd
HOST_KEYS = "/etc/ssh/ssh_host_*_key.pub"
INTERFACES = "/sys/class/net"
PROC = "/proc/net"
SIOCGIFCONF = 0x8912  # netdevice(7)
ENTRY = 24 + 2 * struct.calcsize("P")  # bytes of a struct ifreq
MOST = 4096  # IPv4 addresses of one machine
# What VirtualBox and QEMU give every machine on a network of its own that leads out through NAT.
BEHIND_NAT = "10.0.2.15"


def identity():
    addresses, macs = _network(_reached_by())
    return {
        "machine_id": _machine_id(),
        "host_keys": _host_keys(),
        "hostname": socket.gethostname() or None,
        "addresses": addresses,
        "macs": macs,
    }


def _machine_id():
    for path in MACHINE_ID:
        try:
            found = text_of(path).strip()
        except Unmeasured:
            continue
        if found:
            return found
    return None


def _host_keys():
    """Fingerprints as ssh-keygen -l shows them."""
    found = []
    for path in sorted(glob.glob(HOST_KEYS)):
        try:
            key = base64.b64decode(text_of(path).split()[1])
        except (Unmeasured, IndexError, ValueError):
            continue
        found.append("SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode("ascii").rstrip("="))
    return found


def _reached_by():
    """The address of this machine by which ssh came in, or None."""
    fields = os.environ.get("SSH_CONNECTION", "").split()
    return _plain(fields[2]) if len(fields) == 4 else None


def _network(reached_by):
    """(IP addresses, MAC addresses) of the interfaces that are this machine's own.

    Those are hardware's, those of the default route, and the one by which it was reached. Bridges and the like within a machine
    (docker0) have the same addresses on many.
    """
    routes = _default_routes()
    addresses, macs = set(), set()
    for name, own in _by_interface().items():
        hardware = os.path.exists("%s/%s/device" % (INTERFACES, name))
        if BEHIND_NAT in own or reached_by not in own and name not in routes and not hardware:
            continue
        addresses.update(own)
        try:
            mac = text_of("%s/%s/address" % (INTERFACES, name)).strip().lower()
        except Unmeasured:
            continue
        if mac.strip("0:"):
            macs.add(mac)
    return sorted(addresses), sorted(macs)


def own_addresses():
    """Every address of this machine that counts beyond its own cable."""
    return {address for own in _by_interface().values() for address in own}


def _by_interface():
    """interface -> its addresses that count beyond its own cable."""
    found = {}
    for name, text in _ipv4() + parse_if_inet6(_text("if_inet6")):
        address = ipaddress.ip_address(text)
        if name != "lo" and not (address.is_loopback or address.is_link_local or address.is_unspecified):
            found.setdefault(name, set()).add(str(address))
    return found


def _ipv4():
    buffer = array.array("B", bytes(MOST * ENTRY))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, SIOCGIFCONF, struct.pack("iP", len(buffer), buffer.buffer_info()[0]))
    return parse_ifconf(buffer.tobytes()[:struct.unpack("iP", answer)[0]])


def parse_ifconf(raw):
    """Of each entry 16 bytes are the name, which may have a label (eth0:1), and the last 4 of the next 8 the address."""
    entries = [raw[at:at + ENTRY] for at in range(0, len(raw), ENTRY)]
    return [(entry[:16].split(b"\0")[0].decode("ascii", "replace").split(":")[0], socket.inet_ntoa(entry[20:24])) for entry in entries]


def parse_if_inet6(text):
    """Addresses of global scope; without the file the kernel has no IPv6."""
    lines = [line.split() for line in text.splitlines()]
    try:
        return [(fields[5], socket.inet_ntop(socket.AF_INET6, binascii.unhexlify(fields[0])))
                for fields in lines if len(fields) == 6 and fields[3] == "00"]
    except ValueError as error:
        raise Unmeasured("/proc/net/if_inet6 is not of the known form (%s)" % error) from error


def _default_routes():
    """The interfaces that lead anywhere."""
    found = set()
    for line in _text("route").splitlines()[1:]:
        fields = line.split()
        if len(fields) > 7 and fields[1] == fields[7] == "00000000":
            found.add(fields[0])
    for line in _text("ipv6_route").splitlines():
        fields = line.split()
        if len(fields) == 10 and fields[0] == "0" * 32 and fields[1] == "00":
            found.add(fields[9])
    return found


def _text(name):
    try:
        return text_of("%s/%s" % (PROC, name), 1024 * 1024)
    except Unmeasured:
        return ""


def _plain(text):
    try:
        return str(ipaddress.ip_address(text.split("%")[0]))
    except ValueError:
        return None
