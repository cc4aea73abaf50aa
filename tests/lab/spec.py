"""What a lab consists of: reads a spec, checks it, and fills in what a healthy host has."""
import ipaddress
import json
import re

from .system import LabError

NETWORK, NETWORK6 = "10.77.0.0/16", "fd77::/64"
GATEWAY, WEB_IP, DROP_IP = "10.77.0.1", "10.77.255.253", "10.77.255.254"
USER, PASSWORD, UID = "ops", "ops-lab-pw", 1500
INTERNET_NAMES = ["deb.debian.org", "security.debian.org", "archive.ubuntu.com"]
MAX_HOSTS = 1000  # a bridge takes 1023 ports

DEBIAN_12 = {
    "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)", "NAME": "Debian GNU/Linux", "VERSION_ID": "12",
    "VERSION": "12 (bookworm)", "VERSION_CODENAME": "bookworm", "ID": "debian",
    "HOME_URL": "https://www.debian.org/"}

# Every field but the name, with the value of a healthy host.  README.md says what they do.
HEALTHY = {
    "count": 1, "groups": [], "vars": {}, "ip": None,
    "os_release": DEBIAN_12, "arch": None, "cpus": None, "mem_mb": 8192, "cgroup": {}, "proc": {},
    "disk_gb": 60, "disk_free_gb": None, "mounts": {}, "hang_mount": None, "tmp_noexec": False, "sync_ms": 0,
    "clock_offset_s": 0, "ntp": True,
    "sudo": "nopasswd", "auth": "key", "login_shell": "/bin/bash", "motd_noise": False, "ssh_port": 22, "sshd": [],
    "no_apt": False, "no_python": False, "python": None, "no_bin": [], "files": {},
    "down": False, "absent": False, "blackhole": False,
    "listen": [], "block": [], "internet": True, "gateway": True, "latency_ms": 0, "loss_pct": 0,
}
CHOICES = {
    "sudo": ["nopasswd", "password", "denied", "missing"],
    "auth": ["key", "password", "none"],
    "ntp": [True, False, "none", "chrony-synced", "chrony-unsynced"],
}


def load(source):
    """The hosts of a spec (a dict, or the path of a JSON file) as a list of complete dicts."""
    if not isinstance(source, dict):
        try:
            with open(source) as fh:
                source = json.load(fh)
        except (OSError, ValueError) as exc:
            raise LabError(f"{source}: {exc}") from None
    unknown = set(source) - {"defaults", "hosts"}
    if unknown or not source.get("hosts"):
        raise LabError(f"a spec has 'hosts' and perhaps 'defaults'; this one has: {', '.join(sorted(source))}")
    hosts = []
    for entry in source["hosts"]:
        entry = {**source.get("defaults", {}), **entry}
        _check_fields(entry)
        for k in range(1, entry.get("count", 1) + 1):
            hosts.append(_complete(entry, k, len(hosts)))
    _check_together(hosts)
    return hosts


def _check_fields(entry):
    name = str(entry.get("name"))
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9.-]|%0?\d*d)*", name):
        raise LabError(f"{name}: not a host name")
    unknown = sorted(set(entry) - set(HEALTHY) - {"name"})
    if unknown:
        raise LabError(f"{name}: unknown field {', '.join(unknown)}; known are name, {', '.join(sorted(HEALTHY))}")
    for field, values in CHOICES.items():
        if entry.get(field, values[0]) not in values:
            raise LabError(f"{name}: {field} is one of {', '.join(map(str, values))}; not {entry[field]}")


def _complete(entry, k, n):
    host = {**HEALTHY, **entry, "n": n, "ip6": f"fd77::{n + 256:x}"}
    host["name"] = entry["name"] % k if "%" in entry["name"] else entry["name"]
    host["ip"] = host["ip"] or f"10.77.{1 + n // 250}.{1 + n % 250}"
    return host


def _check_together(hosts):
    if len(hosts) > MAX_HOSTS:
        raise LabError(f"{len(hosts)} hosts; at most {MAX_HOSTS} fit")
    for field in ("name", "ip"):
        if len({host[field] for host in hosts}) < len(hosts):
            raise LabError(f"two hosts have the same {field}")
    for host in hosts:
        try:
            good = ipaddress.ip_address(host["ip"]) in ipaddress.ip_network(NETWORK)
        except ValueError:
            good = False
        if not good or host["ip"] in (GATEWAY, WEB_IP, DROP_IP):
            raise LabError(f"{host['name']}: {host['ip']} is not a free address in {NETWORK}")
