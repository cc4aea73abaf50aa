"""Situations that machines get into, from public bug reports; a row each: what is done, and what must be reported.

A is ansible/ansible. Whatever a row does not name must be ok. What is done is fields of the lab, and `background`, a command that root
runs on the machine meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import time

import pytest
from lab.spec import PASSWORD

pytestmark = pytest.mark.newest
SUDO = "/usr/bin/sudo"
PYTHON = "/usr/bin/python3"


def program(path, *lines):
    return {path: {"content": "\n".join(("#!/bin/sh", *lines, "")), "mode": "0755"}}


def os_release(text):
    return {"files": {"/etc/os-release": text}}


JSON_NOISE = 'echo "{\\"sections\\": {\\"login\\": {\\"ok\\": true}}, \\"cpus\\": 99}"'
IDLE = {f"pressure/{kind}": "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n" for kind in ("cpu", "memory", "io")}
HOLD = "import fcntl, time; file = open('/var/lib/dpkg/lock-frontend', 'w'); fcntl.lockf(file, fcntl.LOCK_EX); time.sleep(999)"
HOLD_UPGRADE = HOLD.replace("/var/lib/dpkg/lock-frontend", "/run/unattended-upgrades.lock")
DEBIAN = "deb http://deb.debian.org/debian bookworm main\n"
BAD_ARCHIVES = "".join(f"deb {url} bookworm main\n" for url in (
    "http://nobody.example/debian", "http://10.77.0.1:81/debian", "https://deb.debian.org:80/debian", "http://deb.debian.org/503/debian"))
DEB822 = "Types: deb\nURIs: {}\nSuites: bookworm\nComponents: main\nEnabled: {}\n"
HOSTILE = "{{ lookup('pipe','id') }}<b>\x1b[2J"
TESTED = r"tested: ubuntu 22\.04, 24\.04; debian 12"
SUPPORTED = r"supported: ubuntu 22\.04, 24\.04; debian 12"


def daemons(*names):
    """Processes that are called so; each has a port of UDP, since the lab makes those that listen."""
    return [{"port": 123 + number, "udp": True, "name": name} for number, name in enumerate(names)]


# As root, by the key that the usual user has too.
ROOT = {"vars": {"ansible_user": "root"}, "sshd": ["PermitRootLogin prohibit-password", "StrictModes no"]}
ROOTS_KEY = {"/root/.ssh/authorized_keys": {"link": "/home/ops/.ssh/authorized_keys"}}
UFW = {"/etc/ufw/ufw.conf": "ENABLED=yes\n", "/etc/ufw/user.rules": {
    "content": "*filter\n-A ufw-user-input -p tcp --dport 22 -j ACCEPT\n-A ufw-user-input -p tcp --dport 2379 -s 10.77.0.0/16 -j ACCEPT\n",
    "mode": "0640"}}
NFT = """nft -f - <<END; sleep 99
table inet own { chain in { type filter hook input priority 0; policy drop;
  ct state established,related accept
  iifname lo accept
  tcp dport { 22, 2380 } accept
  icmp type echo-request accept
 }
}
END"""
NO_LOCALES = dict.fromkeys(("/usr/lib/locale/C.utf8", "/usr/lib/locale/C.UTF-8", "/usr/lib/locale/locale-archive"))
SWAPS = "Filename\tType\tSize\tUsed\tPriority\n/swap.img\tfile\t2097148\t0\t-2\n"
KVM64 = "processor\t: 0\nflags\t\t: fpu cx8 cmov mmx fxsr sse sse2 syscall nx lm pni cx16 hypervisor\n\nprocessor\t: 1\n"
PCI = ("cd /sys/bus/pci/devices; mount -t tmpfs gpu .; cd .; mkdir 0000:01:00.0; cd 0000:01:00.0; "
       "echo 0x030200 > class; echo 0x10de > vendor; sleep 99")
MODEL = {"name": "big", "memory_mb": 100, "gpu_memory_mb": 24000, "disk_gb": 10}
NEEDS_GPU = "needs 1 with 24000 MB: 0 for its roles, 24000 for big"

# A machine that says that it does nothing else, however busy the box is, and one that says the opposite.
ALONE = {"proc": {"stat": "cpu  0 0 0 0 0 0 0 0\n", "diskstats": "\n"}}
BUSY = {**ALONE, "background": ["python3", "-c", (
    "import os, time\nfile = os.open('/proc/stat', os.O_WRONLY)\nfor ticks in range(10 ** 6):\n"
    "    os.pwrite(file, b'cpu  %09d 0 0 0 0 0 0 0\\n' % ticks, 0)\n    time.sleep(0.01)")]}
LOG = {"preflight_roles": ["log"]}  # a role that waits for its writes in /var/lib/etcd
WRITE = r"a small write to /var/lib/etcd is on the disk within {} \(10 ms is allowed\)"

# name -> (what is done to the machine, check -> (level, the whole detail as a pattern))
ROWS = {
    # A#48312, A#25046, A#82661: whoever looks at a dead NFS mount hangs
    "dead mount": ({"hang_mount": "/nfs"}, {
        "disk": ("warn", r"60 GB free on / \(needs 20\), but a mount does not answer: /nfs \(.+\)")}),
    # RedHatSatellite/satellite-clone#286: what is needed elsewhere is no matter of /
    "its own mount": ({"mounts": {"/var": 18}, "vars": {"preflight_roles": ["store"]}}, {
        "disk": ("warn", r"18 GB free on /var \(needs 30: /var/lib/store 25, /var/log 5\)")}),
    # gravitational/teleport#67444: the path is not there yet, and what it will lie on is
    "a mount above a path": ({"mounts": {"/data": 4}, "vars": {"preflight_roles": ["archive", "store"]}}, {
        "disk": ("fail", r"4 GB free on /data \(needs 10 for /data/not/yet\)")}),
    "a read-only mount": ({"mounts": {"/data": {"gb": 50, "ro": True}}, "vars": {"preflight_roles": ["archive"]}}, {
        "disk": ("fail", r"50 GB free on /data \(needs 10 for /data/not/yet\), but /data is read-only")}),
    "hardly an inode": ({"mounts": {"/data": {"gb": 50, "free_inodes": 9}}, "vars": {"preflight_roles": ["archive"]}}, {
        "disk": ("warn", r"50 GB free on /data \(needs 10 for /data/not/yet\), but only 9 % of the inodes of /data are free")}),
    "a fast disk": ({"vars": LOG, **ALONE}, {"disk_speed": ("ok", WRITE.format(r"\d\.\d ms"))}),
    "a slow disk": ({"vars": LOG, "sync_ms": 30, **ALONE}, {"disk_speed": ("warn", WRITE.format(r"\d\d\.\d ms"))}),
    "a slower disk": ({"vars": LOG, "sync_ms": 300, **ALONE}, {"disk_speed": ("fail", WRITE.format(r"\d{3}\.\d ms"))}),
    "a disk that never answers": ({"vars": LOG, "sync_ms": 999000, **ALONE}, {
        "disk_speed": ("fail", r"a small write to /var/lib/etcd was not on the disk after \d+\.\d s \(10 ms is allowed\)")}),
    "a busy machine": ({"vars": LOG, "sync_ms": 300, **BUSY}, {
        "disk_speed": ("ok", r"could not be told of /var/lib/etcd: its CPUs were busy with something else, and a small write took "
                             r"\d{3}\.\d ms meanwhile \(10 ms is allowed\)")}),
    "a disk of its own": ({"vars": LOG, "mounts": {"/var/lib/etcd": 9}, **ALONE}, {
        "disk_speed": ("warn", r"could not be tried on /var/lib/etcd: this user may not write to it")}),
    "a disk of its own and root": ({"vars": {**LOG, **ROOT["vars"]}, "sshd": ROOT["sshd"], "files": ROOTS_KEY,
                                    "mounts": {"/var/lib/etcd": 9}, **ALONE}, {"disk_speed": ("ok", WRITE.format(r"\d\.\d ms"))}),
    "a full disk": ({"vars": LOG, "mounts": {"/var": {"gb": 2, "free_gb": 0.05}}, **ALONE}, {
        "disk_speed": ("warn", r"could not be tried on /var/lib/etcd: only \d\d MB are free")}),
    "a disk that may not be written to": ({"vars": LOG, "mounts": {"/var/lib/etcd": {"gb": 9, "ro": True}}, **ALONE}, {
        "disk_speed": ("fail", r"/var/lib/etcd can not be written to: it is mounted read-only")}),
    # A#51504, lxc/lxcfs#181
    # FootprintAI/Containarium#1019
    "a quota of CPU": ({"cgroup": {"cpu.max": "150000 100000\n"}}, {
        "limits": ("fail", r"may use only 1\.5 CPUs \(shows 2, needs 2\)")}),
    "a slice with little memory": ({"cgroup": {"system.slice/memory.max": "4294967296\n"}}, {
        "limits": ("warn", r"may use only 4096 MB of memory \(shows 8192, needs 3500\)")}),
    "one cpu of them": ({"cpus": 1}, {"cpus": ("warn", r"1 usable \(needs 2\)")}),
    # redhat-cop/automate-tower#7
    "a 4 GB machine": ({"mem_mb": 3800}, {}),
    # A#1609
    "noexec temp": ({"tmp_noexec": True}, {"temp": ("warn", r"/tmp is mounted noexec")}),
    "a small temp, an old CPU": ({"mounts": {"/tmp": 0.05}, "arch": "x86_64", "proc": {"cpuinfo": KVM64}}, {
        "temp": ("warn", r"5[01] MB free in /tmp \(needs 100\)"), "cpu": ("fail", r"x86-64-v1 \(needs v2\)")}),
    "a full temp, two that set the clock": ({
        "mounts": {"/tmp": 0.01}, "background": ["sh", "-c", "cat /dev/zero > /tmp/full; sleep 99"], "listen": daemons(
            "chronyd", "systemd-timesyncd")}, {
                "temp": ("warn", r"/tmp is full"),
                "time_source": ("warn", r"set by 2 programs at once: chrony and systemd-timesyncd")}),
    "a temp for root alone, an underscore in its name": ({"background": [
        "python3", "-c", "import os, socket, time; os.chmod('/tmp', 0o755); socket.sethostname('my_node'); time.sleep(99)"]}, {
            "temp": ("warn", r"/tmp is not open to all users \(mode 755\)"),
            "hostname": ("warn", r"its hostname my_node is not valid in DNS"), "names": ("warn", r".*my_node.*")}),
    "no temp": ({"background": ["sh", "-c", "mount -o bind,ro /tmp /tmp; mount -o bind,ro /var/tmp /var/tmp; sleep 99"]}, {
        "temp": ("fail", r"/tmp is mounted read-only; /var/tmp is mounted read-only")}),
    "chrony and PTP, firewalld": ({"listen": daemons("chronyd", "ptp4l", "phc2sys", "firewalld"), "groups": ["etcd_witness"]}, {
        "time_source": ("ok", r"set by chrony and phc2sys and ptp4l"),
        "firewall": ("ok", r"firewalld is active; its rules were not read \(only root may read the kernel's rules\)")}),
    "ufw": ({"files": UFW, "groups": ["etcd_witness"]}, {
        "firewall": ("ok", r"ufw is active; its rules were not read \(/etc/ufw/user\.rules: Permission denied\)")}),
    "ufw as root": ({**ROOT, "files": {**UFW, **ROOTS_KEY}, "groups": ["etcd_witness"]}, {
        "firewall": ("warn", r"ufw is active and has no rule for 2380")}),
    "nftables as root": ({**ROOT, "files": ROOTS_KEY, "groups": ["etcd_witness"], "background": ["sh", "-c", NFT]}, {
        "firewall": ("warn", r"nftables is active and has no rule for 2379"),
        "role_ports": ("fail", r"(is not reached|lets nobody in) on 2379 .+")}),
    "swap and no locale for PostgreSQL": ({"files": NO_LOCALES, "proc": {"swaps": SWAPS}, "groups": ["database"]}, {
        "locale": ("warn", r"there is no UTF-8 locale for PostgreSQL"),
        "limits": ("warn", r"2047 MB of swap for PostgreSQL, with vm\.overcommit_memory [01] \(its manual asks for 2\)")}),
    "swap and no locale where there is none": ({"files": NO_LOCALES, "proc": {"swaps": SWAPS}}, {}),
    "no GPU for its model": ({"vars": {"preflight_serves": [MODEL]}}, {
        "gpu": ("fail", rf"there is no GPU of NVIDIA or AMD \({NEEDS_GPU}\)"),
        "disk": ("ok", r"60 GB free on / \(needs 30: 20 for its roles, 10 for big\)")}),
    "a GPU that is too small": ({"files": program("/usr/bin/nvidia-smi", "echo 'NVIDIA L4, 23034, 00000000:01:00.0'"),
                                 "vars": {"preflight_serves": [{**MODEL, "disk_gb": 41}]}}, {
        "gpu": ("fail", rf"1 GPU with 23034 MB \({NEEDS_GPU}\)"),
        "disk": ("fail", r"60 GB free on / \(needs 61: 20 for its roles, 41 for big\)")}),
    "a GPU without a driver": ({
        "files": program("/usr/bin/nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9"), "background": ["sh", "-c", PCI],
        "vars": {"preflight_serves": [MODEL]}}, {
            "gpu": ("warn", rf"0 GPUs with 0 MB \({NEEDS_GPU}\); the driver does not answer for NVIDIA 0000:01:00\.0 "
                            r"\(nvidia-smi: NVIDIA-SMI has failed\)"),
            "disk": ("ok", r"60 GB free on / \(needs 30: 20 for its roles, 10 for big\)")}),
    # A#79054, A#14309
    "dash": ({"login_shell": "/bin/dash"}, {}),
    "fish": ({"login_shell": "/usr/bin/fish"}, {}),
    "tcsh": ({"login_shell": "/usr/bin/tcsh"}, {}),
    "csh": ({"login_shell": "/bin/csh"}, {}),
    # A#51663
    "upgrading itself": ({"background": ["python3", "-c", HOLD]}, {
        "apt_ready": ("warn", r"/var/lib/dpkg/lock-frontend is held by python3(\.\d+)? \(process \d+\)")}),
    "an unattended upgrade": ({"background": ["python3", "-c", HOLD_UPGRADE]}, {
        "apt_ready": ("warn", r"/run/unattended-upgrades.lock is held by python3(\.\d+)? \(process \d+\)")}),
    "a reboot to come": ({"files": {"/run/reboot-required": "", "/run/reboot-required.pkgs": "linux-base\n"}}, {
        "apt_ready": ("warn", r"a reboot is pending for linux-base")}),
    "cloud-init at it": ({"files": {"/run/cloud-init/status.json": '{"v1": {"stage": "modules-final"}}'}}, {
        "apt_ready": ("warn", r"cloud-init has not finished \(it is at modules-final\)")}),
    "cloud-init done": ({"files": {"/run/cloud-init/status.json": '{"v1": {"stage": null}}', "/run/cloud-init/result.json": "{}"}}, {}),
    "old package lists": ({"background": ["touch", "-d", "-40 days", "/var/lib/apt/lists", "/var/lib/apt/lists/partial"]}, {
        "apt_ready": ("warn", r"the package lists are 40 days old")}),
    "no package lists": ({"files": {"/var/lib/apt/lists": None}}, {}),
    "no package lists yet": ({"files": {"/var/lib/apt/lists": None}, "groups": ["etcd_witness"]}, {
        "apt_ready": ("warn", r"whether apt has etcd-server or etcd can not be told before apt-get update, without package lists")}),
    "a source without a list": ({"groups": ["etcd_witness"], "files": {
        "/etc/apt/preferences": "Package: etcd-server\nPin: release *\nPin-Priority: -1\n",
        "/etc/apt/sources.list": f"{DEBIAN}deb http://deb.debian.org/more bookworm main\n"}}, {
        "apt_ready": ("warn", r"apt has no etcd-server or etcd, but no list yet of http://deb\.debian\.org/more bookworm")}),
    "a package that is pinned away": ({"groups": ["etcd_witness"], "files": {
        "/etc/apt/preferences": "Package: etcd-server\nPin: release *\nPin-Priority: -1\n"}}, {
        "apt_ready": ("fail", r"apt has no etcd-server or etcd")}),
    "a package on hold": ({"groups": ["etcd_witness"], "files": {
        "/var/lib/dpkg/status": "Package: etcd-server\nStatus: hold ok not-installed\nArchitecture: all\n"}}, {
        "apt_ready": ("fail", r"etcd-server is on hold, so that it is not installed")}),
    "a package that is there": ({"groups": ["etcd_witness"], "files": {
        "/var/lib/apt/lists": None, "/var/lib/dpkg/status":
            "Package: etcd-server\nStatus: hold ok installed\nVersion: 3.3-1\nArchitecture: all\nMaintainer: x\nDescription: x\n"}}, {}),
    "half-configured": ({"files": {"/var/lib/dpkg/status": "Package: openssl\nStatus: install ok half-configured\nVersion: 3\n"}}, {
        "apt_ready": ("fail", r"half-configured: openssl")}),
    "unpacked without what it needs": ({"files": {"/var/lib/dpkg/status": "Package: own\nStatus: install ok unpacked\nVersion: 1\n"
                                                  "Architecture: all\nMaintainer: o\nDescription: o\nDepends: nosuch\n"}}, {
        "apt_ready": ("fail", r"unpacked: own; what is depended on is not there: own : Depends: nosuch but it is not installable")}),
    "dpkg interrupted": ({"files": {"/var/lib/dpkg/updates/0001": ""}}, {
        "apt_ready": ("fail", r"dpkg was interrupted, and has not taken in what it did")}),
    "a source without a suite": ({"files": {"/etc/apt/sources.list": "deb http://deb.debian.org/debian\n"}}, {
        "apt_ready": ("fail", r"apt can not make out its sources: Malformed entry 1 in list file /etc/apt/sources\.list \(Suite\)"),
        "mirrors": ("fail", r"could not be read: apt can not make out its sources: Malformed entry 1 in list file .+")}),
    "a deb822 source of no known type": ({"files": {"/etc/apt/sources.list.d/x.sources": DEB822.format("http://x/", "yes")[3:]}}, {
        "apt_ready": ("fail", r"apt can not make out its sources: Malformed stanza 1 in source list /etc/apt/.+/x\.sources.+"),
        "mirrors": ("fail", r"could not be read: apt can not make out its sources: .+")}),
    "deb822 sources": ({"files": {
        "/etc/apt/sources.list": None, "/etc/apt/sources.list.d/debian.sources": DEB822.format("http://deb.debian.org/debian", "yes"),
        "/etc/apt/sources.list.d/off.sources": DEB822.format("http://nobody.example/", "no")}}, {}),
    "sources for the eyes of root": ({"files": {"/etc/apt/sources.list.d/own.list": {"content": DEBIAN, "mode": "0600"}}}, {
        "apt_ready": ("warn", r"this user can not read /etc/apt/sources\.list\.d/own\.list")}),
    "no source": ({"files": {"/etc/apt/sources.list": "# none\n"}}, {"mirrors": ("fail", r"apt has no package sources")}),
    "archives that do not answer": ({"files": {"/etc/apt/sources.list": f"{DEBIAN}{BAD_ARCHIVES}"}}, {
        "mirrors": ("warn", r"(?=.*http://nobody\.example/debian bookworm: name: its name can not be resolved \(.+\))"
                            r"(?=.*http://10\.77\.0\.1:81/debian bookworm: connection: Connection refused)"
                            r"(?=.*https://deb\.debian\.org:80/debian bookworm: TLS: )"
                            r"(?=.*http://deb\.debian\.org/503/debian bookworm: HTTP: it answers 503 Service Unavailable)"
                            r".* \(1 of 5 answer\)")}),
    "a captive portal": ({"files": {"/etc/apt/sources.list": "deb http://deb.debian.org/302/debian bookworm main\n"}}, {
        "mirrors": ("fail", r"http://deb\.debian\.org/302/debian bookworm: HTTP: something in between sends every caller to "
                            r"login\.hotel\.invalid \(0 of 1 answer\)")}),
    "a proxy of apt": ({"internet": False, "files": {"/etc/apt/apt.conf.d/p": 'Acquire::http::Proxy "http://10.77.255.253:80";\n'}}, {}),
    "a proxy that a script tells": ({"files": {"/etc/apt/apt.conf.d/proxy": 'Acquire::http::Proxy-Auto-Detect "/bin/false";\n'}}, {
        "mirrors": ("warn", r".+ could not be tried: a script tells apt the proxy \(Proxy-Auto-Detect\), and .+ \(0 of 2 answer\)")}),
    # As on Debian's images for clouds.
    "a list of mirrors": ({"files": {
        "/etc/apt/mirrors/debian.list": "http://nobody.example/debian\nhttp://deb.debian.org/debian\n", "/etc/apt/sources.list": None,
        "/etc/apt/sources.list.d/debian.sources": DEB822.format("mirror+file:///etc/apt/mirrors/debian.list", "yes")}}, {}),
    # A#33699; the machine says that it is idle, however busy the box is
    "slow sudo": ({"files": program("/usr/local/bin/sudo", "sleep 9", f"exec {SUDO} \"$@\""), "proc": IDLE}, {
        "sudo": ("warn", r"sudo without a password, but it waits for \d+\.\d s each time")}),
    "sudo that lies": ({"files": program("/usr/local/bin/sudo", "exit 0")}, {
        "sudo": ("warn", r"could not be read: sudo -k -n id -u: exit status 0")}),
    "sudo-rs": ({"files": program("/usr/local/bin/sudo", "echo 'sudo: interactive authentication is required' >&2; exit 1")}, {
        "sudo": ("warn", r"sudo asks for a password and none is given")}),
    "sudo for one command": ({"sudo": "denied", "files": {"/etc/sudoers.d/one": "ops ALL=(root) NOPASSWD: /usr/bin/apt-get\n"}}, {
        "sudo": ("warn", r"sudo asks for a password and none is given")}),
    "sudo that says nothing": ({"files": program("/usr/local/bin/sudo", "exit 1")}, {
        "sudo": ("warn", r"could not be read: sudo -k -n id -u: exit status 1")}),
    "sudo that lectures": ({"sudo": "password", "files": {"/etc/sudoers.d/zz": "Defaults lecture=always\n"}}, {}),
    "sudo that repeats the password": ({"sudo": "password", "files": program(
        "/usr/local/bin/sudo", "while [ $# -gt 0 ]; do case $1 in", "-n) echo 'sudo: a password is required' >&2; exit 1;;",
        "-p) prompt=$2; shift;;", "esac; shift; done", 'printf %s "$prompt" >&2; read -r line; echo "wrong password $line" >&2; exit 1')}, {
            "sudo": ("warn", r"sudo is denied to this user: wrong password \*\*\*")}),
    "no sudo": ({"sudo": "missing"}, {"sudo": ("warn", r"sudo is not installed and the user is not root")}),
    "no rule for sudo": ({"sudo": "denied"}, {"sudo": ("warn", r"sudo asks for a password and none is given")}),
    # NixOS/nixpkgs#48917, balena-os/meta-balena#1852
    "chrony alone": ({"ntp": "chrony-synced"}, {}),
    "chrony unsynchronised": ({"ntp": "chrony-unsynced"}, {"time_sync": ("warn", r"not synchronised \(says chrony\)")}),
    # sexibytes/sexigraf#173
    "nothing keeps the clock": ({"ntp": "none"}, {"time_sync": ("warn", r"not synchronised \(says the kernel\)")}),
    # llm-d/llm-d-benchmark#1755
    "no ss, no ip": ({"no_bin": ["ss", "netstat", "ip", "lsof"], "listen": [2379], "groups": ["etcd_witness"]}, {
        "ports": ("warn", r"in use: 2379 by user root on 0\.0\.0\.0, ::")}),
    "one address": ({"listen": ["127.0.0.1:2379"], "groups": ["etcd_witness"]}, {
        "ports": ("warn", r"in use: 2379 by user root on 127\.0\.0\.1"),
        "role_ports": (
            "warn", r"could not be tried: 2379 from .+: what listens on it does so for some callers only, or has ended by now")}),
    "ipv6 only": ({"listen": ["[::1]:2380"], "groups": ["etcd_witness"]}, {
        "ports": ("warn", r"in use: 2380 by user root on ::1"),
        "role_ports": (
            "warn", r"could not be tried: 2380 from .+: what listens on it does so for some callers only, or has ended by now")}),
    # learningequality/kolibri#6434, apprenda/kismatic#928: our own service, named where it can be
    "its own service": ({**ROOT, "listen": [{"port": 8080, "name": "llmgw"}], "groups": ["control_plane"], "files": ROOTS_KEY}, {
        "ports": ("warn", r"in use: 8080 by llmgw on 0\.0\.0\.0, ::")}),
    # kubernetes/kubernetes#34893
    "a port that only root may open": ({"vars": {"preflight_roles": ["proxy"]}}, {}),
    # manala/ansible-roles#406
    "another name of an architecture": ({"arch": "arm64"}, {}),
    "an unknown architecture": ({"arch": "riscv64"}, {
        "architecture": ("fail", r"riscv64 is not supported \(supported: x86_64, aarch64\)")}),
    "udp only": ({"listen": ["udp:2380"], "groups": ["etcd_witness"]}, {}),
    # rocknsm/rock#458
    "no default route": ({"gateway": False, "internet": True}, {}),
    "no internet": ({"internet": False}, {
        "internet": ("fail", r"http://deb\.debian\.org/: its name can not be resolved \(.+\)"),
        "mirrors": ("fail", r"http://\w+\.debian\.org/.+: name: its name can not be resolved \(.+\) \(0 of 2 answer\)")}),
    "internet that swallows": ({"internet": "drop"}, {
        "internet": ("fail", r"http://deb\.debian\.org/: no answer within 6 s"),
        "mirrors": ("fail", r"http://\w+\.debian\.org/.+: connection: no answer within 6 s \(0 of 2 answer\)")}),
    "no apt": ({"no_apt": True}, {"packages": ("fail", r"apt-get is not there")}),
    "no os-release": (os_release(None), {}),
    "empty os-release": (os_release("\n"), {"system": ("fail", r"could not be read: os-release holds no ID")}),
    "derivative": (os_release('ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID="22"\nPRETTY_NAME="Linux Mint 22"\n'), {
        "system": ("fail", rf"Linux Mint 22 is not supported \({SUPPORTED}\)")}),
    "rolling": (os_release("ID=debian\nPRETTY_NAME='Debian GNU/Linux trixie/sid'\n"), {
        "system": ("warn", rf"Debian GNU/Linux trixie/sid was not tested \(no version in os-release; {TESTED}\)")}),
    "hostile os-release": (os_release(f'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="{HOSTILE}{"x" * 9999}"\n'), {}),
    "noise": ({"motd_noise": True, "vars": {"ansible_python_interpreter": PYTHON}}, {}),
    "noise like JSON": ({"vars": {"ansible_python_interpreter": PYTHON},
                         "files": {"/home/ops/.bashrc": f"{JSON_NOISE}\necho '[1, 2'\nprintf '\\377\\376\\n'\n"}}, {}),
    "escape sequences around the result": ({
        "vars": {"ansible_python_interpreter": "/usr/bin/hostile"},
        "files": program("/usr/bin/hostile", "printf '\\033[2Jbefore\\n'", f'{PYTHON} "$@"', "printf '\\033[2Jafter\\n'",
                         "printf '\\033[2Jerror\\n' >&2")}, {}),
    "escape sequences in the result": ({
        "vars": {"ansible_python_interpreter": "/usr/bin/hostile"},
        "files": program("/usr/bin/hostile", f"{PYTHON} \"$@\" | sed 's/{{\"/{{\"warnings\": [\"\\\\u001b[2J\"], \"/'")}, {}),
    "slow link": ({"latency_ms": 400}, {}),
    "clock ahead": ({"clock_offset_s": 3600}, {
        "clock": ("fail", r"3,600 s ahead of the controller's \(give or take 0\.\d+ s; 1 s is allowed\)"),
        "clocks": ("fail", r"3,600 s ahead of the middle of the \d+ that agree \(give or take 0\.\d+ s; 1 s is allowed\)")}),
    "another port": ({"ssh_port": 2222}, {}),
}


@pytest.fixture(scope="module")
def outcome(make_lab, play):
    names = {name.replace(" ", "-").replace(",", ""): name for name in ROWS}
    background = {short: ROWS[name][0]["background"] for short, name in names.items() if "background" in ROWS[name][0]}
    lab = make_lab({"defaults": {"groups": ["node"], "cpus": 2}, "hosts": [
        {"name": short, **{key: value for key, value in ROWS[name][0].items() if key != "background"}} for short, name in names.items()]})
    variables = {"preflight_limits": {"internet_s": 6, "read_s": 40}, "preflight_needs": {
        "proxy": {"ports": [443]}, "log": {"writes": ["/var/lib/etcd"]}, "archive": {"disk_gb": {"/data/not/yet": 10}},
        "store": {"disk_gb": {"/var/lib/store": 25, "/var/log": 5}}}}
    with contextlib.ExitStack() as stack:
        for short, command in background.items():
            process = stack.enter_context(subprocess.Popen(lab.exec_command(short, command)))
            stack.callback(process.kill)
        time.sleep(1 if background else 0)
        result = play(lab.inventory(), lab, arguments="-f 15", variables=variables)
    return result, {v: k for k, v in names.items()}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_reported(outcome, name):
    result, shorts = outcome
    expected = ROWS[name][1]
    found = {check: finding for (machine, check), finding in result.findings().items() if machine == shorts[name]}
    assert {check: finding["level"] for check, finding in found.items() if finding["level"] != "ok" or check in expected} == {
        check: level for check, (level, detail) in expected.items()}, found
    assert {check for check, (level, detail) in expected.items() if not re.fullmatch(detail, found[check]["detail"])} == set(), found
    assert {"login", "system", "architecture", "hostname", "sudo", "packages", "cpus", "memory", "limits", "disk", "temp", "clock",
            "time_sync", "time_source", "internet", "network"} <= set(found)


def test_nothing_of_a_machine_is_run_or_reaches_the_screen_raw(outcome):
    result, shorts = outcome
    assert "uid=" not in result.output
    assert PASSWORD not in result.output
    assert PASSWORD not in json.dumps(result.report)
    assert "\x1b" not in result.output
    assert max(map(len, result.output.splitlines())) < 2000
    name = result.records()[shorts["hostile os-release"]]["system"]["name"]
    assert name == (HOSTILE.replace("\x1b", "\\u001b") + "x" * 9999)[:1000]
