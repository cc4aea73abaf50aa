"""Cables, addresses, firewalls, and the few services outside the hosts: delay lines and the lab's web server.

All hosts hang on one bridge in the controller's network namespace, which has no way out.  So whatever a host or
the controller sends, it cannot leave the machine.
"""
import collections
import fcntl
import http.server
import os
import random
import re
import select
import socket
import struct
import time

from .spec import DROP_IP, GATEWAY, NETWORK, NETWORK6, WEB_IP
from .system import NEWNET, daemon, run, unshare

TUNSETIFF, IFF_TAP, IFF_NO_PI, IFF_VNET_HDR = 0x400454CA, 0x2, 0x1000, 0x4000
SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING, PACKET_MR_PROMISC = 263, 1, 15, 23, 1
ETH_P_ALL = 3
# The kernel asks three times for an address that nobody has.  Half a second between makes "No route to host" come
# after 1.5 seconds, and not after 3, which is just when many programs give up by themselves.
ARP_MS = 500


# ------------------------------------------------------------------------------------- the controller's side
class _Web(http.server.BaseHTTPRequestHandler):
    """Any path is there, but what begins with a status has that: /503/x. Who is sent elsewhere is sent to a place to log in."""

    def do_GET(self):
        body = b"lab\n"
        status = re.match(r"(?:http://[^/]*)?/([2-5]\d\d)/", self.path)
        self.send_response(int(status[1]) if status else 200)
        if status and status[1].startswith("3"):
            self.send_header("Location", "http://login.hotel.invalid/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *args):
        """Standard error leads nowhere."""


def make_controller():
    """Move the calling process into a new namespace with the bridge; return the web server, not started yet."""
    unshare(NEWNET)
    run(["ip", "-batch", "-"],
        f"link set lo up\nlink add br0 address {_mac(0xffff)} type bridge mcast_snooping 0\n"
        f"addr add {GATEWAY}/16 brd + dev br0\naddr add {WEB_IP}/16 dev br0\naddr add {DROP_IP}/16 dev br0\n"
        "addr add fd77::1/64 dev br0 nodad\nlink set br0 up\n")
    run(["nft", "-f", "-"], "table inet lab { chain in { type filter hook input priority 0; "
        f"ip daddr {DROP_IP} drop; }}; }}")
    for name in ("ipv4/ip_forward", "ipv6/conf/all/forwarding", "bridge/bridge-nf-call-iptables",
                 "bridge/bridge-nf-call-ip6tables"):
        _setting(name, 0)
    _setting("ipv4/neigh/br0/retrans_time_ms", ARP_MS)
    return http.server.ThreadingHTTPServer((WEB_IP, 80), _Web)


def plug_in(hosts):
    """Connect hosts to the bridge."""
    run(["ip", "-batch", "-"], "".join(f"link set v{host['n']} master br0 up\n" for host in hosts))


# ------------------------------------------------------------------------------------------- a host's side
def make_host(host, hosts, controller):
    """Move the calling process from the controller's namespace (a path) into a new one, with HOST's network."""
    n, delay, loss = host["n"], host["latency_ms"] / 2000, host["loss_pct"]
    if delay or loss:
        run(["ip", "-batch", "-"], f"link add v{n} type veth peer name w{n}\nlink set w{n} up\n")
        wire = _open_wire(f"w{n}")
        unshare(NEWNET)
        tap = _open_tap("eth0")
        daemon(f"lab-delay {host['name']}", _delay_line, tap, wire, delay, loss)
        os.close(tap)
        os.close(wire)
        link = ""
    else:
        unshare(NEWNET)
        link = f"link add eth0 type veth peer name v{n} netns {controller}\n"
    route = f"route add default via {GATEWAY}\n" if host["gateway"] else ""
    run(["ip", "-batch", "-"],
        f"{link}link set eth0 address {_mac(n)}\nlink set lo up\naddr add {host['ip']}/16 brd + dev eth0\n"
        f"addr add {host['ip6']}/64 dev eth0 nodad\nlink set eth0 up\n{route}")
    _setting("ipv4/neigh/eth0/retrans_time_ms", ARP_MS)
    run(["nft", "-f", "-"], _firewall(host, hosts))


def _setting(name, value):
    """A network setting of this namespace, where there is one: the bridge filter is a module that may not be loaded."""
    if os.path.exists(f"/proc/sys/net/{name}"):
        with open(f"/proc/sys/net/{name}", "w") as fh:
            fh.write(f"{value}\n")


def _mac(n):
    return f"02:4c:41:42:{n >> 8:02x}:{n & 255:02x}"


def _firewall(host, hosts):
    """Rules of HOST.  They also answer for the rest of the world: refused at once, or silence."""
    no = "drop" if host["internet"] == "drop" else "reject with icmpx admin-prohibited"
    chains = {"in": [], "out": [
        f'oifname "eth0" ip daddr != {{ {NETWORK}, 224.0.0.0/4 }} {no}',
        f'oifname "eth0" ip6 daddr != {{ {NETWORK6}, fe80::/10, ff00::/8 }} {no}']}
    for rule in host["block"]:
        chains[rule.get("dir", "out")][:0] = _block(rule, hosts)
    if host["blackhole"]:
        chains["in"].insert(0, 'iifname "eth0" drop')
        chains["out"].insert(0, 'oifname "eth0" drop')
    text = "".join(f" chain {name} {{ type filter hook {name}put priority 0;\n  " + "\n  ".join(lines) + "\n }\n"
                   for name, lines in chains.items())
    return f"table inet lab {{\n{text}}}\n"


def _block(rule, hosts):
    """One entry of the field `block` as nft rules."""
    peer = rule.get("to", rule.get("from", "any"))
    addresses = next(([h["ip"], h["ip6"]] for h in hosts if h["name"] == peer), [peer])
    if peer == "internet":
        addresses = [WEB_IP]
    port, proto = rule.get("port"), rule.get("proto", "tcp")
    verdict = rule.get("how", "drop")
    if verdict == "reject" and port and proto == "tcp":
        verdict = "reject with tcp reset"
    field = "saddr" if rule.get("dir") == "in" else "daddr"
    for address in addresses:
        where = "" if address == "any" else f"ip{'6' if ':' in address else ''} {field} {address} "
        yield f"{where}{f'{proto} dport {port} ' if port else ''}{verdict}"


# --------------------------------------------------------------------------------------------- delay lines
def _open_tap(name):
    fd = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI | IFF_VNET_HDR))
    return fd


def _open_wire(name):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    sock.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    sock.bind((name, 0))
    sock.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP,
                    struct.pack("iHH8x", socket.if_nametoindex(name), PACKET_MR_PROMISC, 0))
    return sock.detach()


def _delay_line(tap, wire, delay, loss):
    """Carry frames between two descriptors, each way DELAY seconds late, and lose LOSS percent of them.

    In user space, since not every kernel has netem."""
    todo = {tap: (wire, collections.deque()), wire: (tap, collections.deque())}
    while True:
        due = [queue[0][0] for where, queue in todo.values() if queue]
        wait = max(0.0, min(due) - time.monotonic()) if due else None
        for src in select.select([tap, wire], [], [], wait)[0]:
            frame = os.read(src, 70000)
            if random.random() * 100 >= loss:
                todo[src][1].append((time.monotonic() + delay, frame))
        now = time.monotonic()
        for dst, queue in todo.values():
            while queue and queue[0][0] <= now:
                try:
                    os.write(dst, queue.popleft()[1])
                except OSError:
                    pass  # the other end is down: a lost frame
