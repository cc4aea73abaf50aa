"""Whatever a machine's files and programs say: a section of the known form, which the checks can judge, or Unmeasured."""

from __future__ import annotations

import copy
import json
import re

import hypothesis
import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import (
    apt_configuration,
    apt_sources,
    candidates,
    confinement,
    cpu_level,
    disks,
    dpkg,
    firewall,
    gpus,
    identity,
    listening,
    locales,
    mirrors,
    package_locks,
    packet_rules,
    pending,
    processes,
    swap,
    system,
    time_sources,
    time_sync,
)
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured
from ansible_collections.llmgw.preflight.plugins.plugin_utils import checks, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Asked, together
from hypothesis import strategies as st
from unit import fuzz

pytestmark = pytest.mark.newest

RECORD = fuzz.machines()[0]
ASKED = Asked(together(settings.profile().needs.values()), settings.profile().systems, settings.profile().architectures, settings.LIMITS, 4)
# What stands in a file or an answer where something else is awaited.
JUDGED = set()
WORDS = ["", "\x00", "\ufffd", "\u0663", "\u00b2", "x", "-1", "0", "99999999999999999999", "0x1F", "1e999", "nan", '"', "'", "\\", "\\400",
         "\\x4", "\\N{", "{", "[]", "null", "a:b", "::", "%s", "\n", "\u2028", "!", "--", "x" * 300]

OS_RELEASE = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n# x\nHOME_URL=\'https://www.debian.org/\'\n'
MEMINFO = "MemTotal:        8140796 kB\nMemFree:          123456 kB\n"
CPUINFO = "processor\t: 0\nflags\t\t: fpu mmx cx8 cmov sse sse2 syscall fxsr cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3\n\n"
TCP = ("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
       "   0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0\n"
       "   1: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 0:0 00:0 0  0 0 4712 1 0\n")
MOUNTINFO = ("22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
             "36 22 0:42 / /mnt/a\\040b rw - nfs4 host:/x rw,addr=10.0.0.1\n37 22 0:5 / /var rw - btrfs /dev/sdb ro\n")
LOCKS = ("1: POSIX  ADVISORY  WRITE 714 08:01:131085 0 EOF\n1: -> POSIX  ADVISORY  WRITE 9 08:01:131085 0 EOF\n"
         "2: FLOCK ADVISORY READ -1 00:2a:77 0 EOF\n")
DPKG = ("Package: a\nStatus: install ok installed\nVersion: 1\n\nPackage: b\nStatus: hold ok half-configured\n\n"
        "Package: c\nStatus: install reinstreq unpacked\n")
URIS = ("'http://u:p@deb.debian.org/debian/dists/bookworm/InRelease' deb.debian.org_debian_dists_bookworm_InRelease 0 \n"
        "'file:/srv/x/Release' _srv_x_Release 0 \n"
        "'mirror+file:/etc/m/dists/a/InRelease' m 0\n'https://[::1]:8080/b/InRelease' b 0\n'cdrom://x/dists/y/Release' c 0\n")
APT_SAID = ("E: Malformed entry 1 in list file /etc/apt/sources.list (Suite)\nE: The list of sources could not be read.\n"
            "W: Unable to read /etc/apt/auth.conf - open (13: Permission denied)\n")
POLICY = ("patroni:\n  Installed: (none)\n  Candidate: 3.0.2-1\n  Version table:\n     3.0.2-1 500\n"
          "etcd:\n  Installed: 1\n  Candidate: (none)\n")
APT_CONFIG = ('Acquire::http::Proxy "http://u:p@proxy:3128/";\nAcquire::https::Verify-Peer "false";\n'
              'Acquire::http::Proxy::deb.debian.org "DIRECT";\n')
IPTABLES = ("*filter\n:INPUT DROP [0:0]\n:f2b - [0:0]\n-A INPUT -i lo -j ACCEPT\n"
            "-A INPUT -p tcp -m multiport --dports 22,2379:2380 -j ACCEPT\n"
            "-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n"
            '-A INPUT ! -s 10.0.0.0/8 -p tcp -m comment --comment "a b" -j f2b\n'
            "-A f2b -g INPUT\nCOMMIT\n*nat\n-A INPUT -j ACCEPT\n")
NFT = json.dumps({"nftables": [
    {"metainfo": {"version": "1.0.6"}}, {"table": {"family": "inet", "name": "filter", "handle": 1}},
    {"chain": {"family": "inet", "table": "filter", "name": "input", "type": "filter", "hook": "input", "prio": 0, "policy": "drop"}},
    {"set": {"family": "inet", "table": "filter", "name": "ports", "type": "inet_service", "elem": [22, {"range": [2379, 2380]}]}},
    {"rule": {"family": "inet", "table": "filter", "chain": "input", "expr": [
        {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": "@ports"}},
        {"counter": None}, {"accept": None}]}},
    {"rule": {"family": "inet", "table": "filter", "chain": "input", "expr": [
        {"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": ["established", "related"]}}, {"accept": None}]}},
    {"rule": {"family": "inet", "table": "filter", "chain": "input", "expr": [
        {"vmap": {"key": {"payload": {"protocol": "tcp", "field": "dport"}}, "data": {"set": [
            [{"elem": {"val": 80}}, {"accept": None}], [5, {"jump": {"target": "x"}}]]}}}]}}]})
SMI = "NVIDIA L4, 23034, 00000000:00:04.0\nTesla, a, [N/A], 00000000:81:00.0\n"
UFW_CONF = "ENABLED=yes\nLOGLEVEL=low\nDEFAULT_INPUT_POLICY=\"DROP\"\n"
PRESSURE = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"
CHRONY = "D8EF2302,time1.example.com,3,1700000000.1,-0.0001,0.0002,0.0003,-1.2,0.001,0.02,0.01,0.001,64.2,Normal\n"
ROUTE = ("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
         "eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n")
IF_INET6 = "20010db8000000000000000000000001 02 40 00 80     eth0\nfe80000000000000505400fffe000001 02 40 20 80     eth0\n"


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """machine(name): a function that gives what the reader of that name makes of what the machine says."""
    said = {"text": ""}
    status = tmp_path / "status"
    (tmp_path / "cgroup.controllers").touch()
    (tmp_path / "status.json").touch()

    def answers(*modules, program=None, of_errors=False):
        for module in modules:
            monkeypatch.setattr(module, "text_of", lambda path, most=0: said["text"], raising=False)
            monkeypatch.setattr(module, "find", lambda name: f"/bin/{name}" if program in (None, name) else None, raising=False)
            monkeypatch.setattr(module, "command", lambda argv, limit_s: (0, "", said["text"]) if of_errors else (0, said["text"], ""),
                                raising=False)

    def no_kernel(limit_s):
        raise Unmeasured("adjtimex: error 1")

    def set_up(name):
        answers(apt_configuration, apt_sources, candidates, confinement, cpu_level, disks, firewall, gpus, identity, listening, locales,
                mirrors, package_locks, pending, processes, swap, system)
        monkeypatch.setattr(system, "pressure_s", system.pressure_s if name == "pressure" else lambda: None)
        monkeypatch.setattr(system.os, "getuid", lambda: 1000)
        monkeypatch.setattr(cpu_level, "ALIASES", {system.os.uname().machine: "x86_64"})
        monkeypatch.setattr(listening, "_holders", lambda inodes, limit_s: {})
        monkeypatch.setattr(time_sync, "_kernel", no_kernel)
        monkeypatch.setattr(dpkg, "STATUS", str(status))
        monkeypatch.setattr(confinement, "ROOT", str(tmp_path))
        monkeypatch.setattr(pending, "CLOUD_INIT", str(tmp_path))
        monkeypatch.setattr(locales, "_is_there", lambda name: False)
        monkeypatch.setattr(mirrors, "try_all", lambda tries, limit_s: None)
        monkeypatch.setattr(apt_configuration.glob, "glob", lambda pattern: ["x"])
        if name in ("chrony", "ntpq", "timedatectl"):
            answers(time_sync, program={"chrony": "chronyc"}.get(name, name))
        if name == "apt_said":
            answers(apt_configuration, apt_sources, of_errors=True)
        if name == "sudo_said":
            monkeypatch.setattr(system, "command", lambda argv, limit_s: (1, "", said["text"]))
        if name.startswith("cgroup"):
            monkeypatch.setattr(confinement, "_content", lambda *parts: said["text"].strip() if parts[-1] == name.split()[1] else None)
        monkeypatch.setattr(swap, "text_of", lambda path: said["text"] if path == swap.SWAPS else "0\n")
        read = READERS[name][0]

        def given(text):
            # As it comes from the machine: bytes, of which the reader takes what is no UTF-8 for a sign of its own.
            said["text"] = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            if name == "dpkg":
                status.write_bytes(text.encode("utf-8", "surrogateescape"))
            return read(said["text"])

        return given

    return set_up


def rules_of(parse):
    def read(text):
        rules, drops = firewall._asked(["x"], parse, 1)
        for chain in drops:
            packet_rules.ends(chain, rules)
        return {"by": "nftables", "unread": None, "open": [
            {"first": first, "last": last} for first, last in packet_rules.ports_of(rules, list(drops))]}
    return read


def of_ufw(text):
    return {"by": "ufw", "unread": None, "open": [
        {"first": first, "last": last} for first, last in packet_rules.ports_of(firewall._ufw_rules(), ["INPUT"])]}


def of_network(text):
    identity._default_routes()
    identity._host_keys()
    addresses = [address for _name, address in identity.parse_if_inet6(text)]
    return {"machine_id": identity._machine_id(), "host_keys": [], "hostname": None, "addresses": addresses, "macs": []}


def of_apt_configuration(text):
    apt_configuration.apt_proxy(apt_configuration.apt_configuration(1).options, "http", "x")


def of_places(text):
    for path in ("/", "/var/lib/x", "/mnt/a b"):
        disks.place(path, disks.mounts_by_path())


def of_locks(text):
    held = package_locks.parse(text)
    return [{"path": "x", "pid": pid, "process": None} for pid in held.values()]


# name -> the reader, the section that it gives (None: it gives none that is judged), and what it may be told.
READERS = {
    "os_release": (lambda text: system.system(), "system", [OS_RELEASE]),
    "meminfo": (lambda text: system.memory_mb(), "memory_mb", [MEMINFO]),
    "pressure": (lambda text: system.pressure_s() and None, None, [PRESSURE]),
    "sudo": (lambda text: system.sudo(1), "sudo", ["0\n"]),
    "sudo_said": (lambda text: system.sudo(1), "sudo", ["sudo: a password is required\n", "x is not in the sudoers file.\n"]),
    "cpuinfo": (lambda text: cpu_level.cpu_level(), "cpu_level", [CPUINFO]),
    "tcp": (lambda text: listening.listening(60), "listening", [TCP]),
    "mountinfo": (of_places, None, [MOUNTINFO]),
    "locks": (of_locks, "package_locks", [LOCKS]),
    "names_of": (lambda text: package_locks.names_of("/", disks.mounts_by_path()) and None, None, [MOUNTINFO]),
    "dpkg": (lambda text: dpkg.dpkg(), "dpkg", [DPKG]),
    "apt_uris": (lambda text: apt_sources.apt_sources(lambda: apt_sources.ask_apt(1)), "apt_sources", [URIS]),
    "apt_said": (lambda text: apt_sources.apt_sources(lambda: apt_sources.ask_apt(1)), "apt_sources", [APT_SAID]),
    "mirrors": (lambda text: mirrors.mirrors(lambda: apt_sources.ask_apt(1), 1, lambda: None), "mirrors", [URIS]),
    "apt_policy": (lambda text: candidates.candidates(["patroni", "etcd"], 1), "candidates", [POLICY]),
    "apt_config": (of_apt_configuration, None, [APT_CONFIG]),
    "iptables": (rules_of(packet_rules.iptables), "firewall", [IPTABLES]),
    "nft": (rules_of(packet_rules.nftables), "firewall", [NFT]),
    "ufw": (of_ufw, "firewall", [IPTABLES]),
    "ufw_conf": (lambda text: firewall._ufw_is_on() and None, None, [UFW_CONF]),
    "nvidia_smi": (lambda text: gpus.gpus(1), "gpus", [SMI]),
    "locale": (lambda text: locales.locales(1), "locales", ["C\nC.utf8\nPOSIX\nde_DE.UTF-8@euro\n"]),
    "cgroup cpu.max": (lambda text: confinement.confinement(), "confinement", ["max 100000\n", "150000 100000\n"]),
    "cgroup memory.max": (lambda text: confinement.confinement(), "confinement", ["max\n", "4294967296\n"]),
    "swap": (lambda text: swap.swap(), "swap", ["Filename Type Size Used Priority\n/dev/sda2 partition 1048572 0 -2\n"]),
    "cloud_init": (lambda text: pending.pending(), "pending", ['{"v1": {"stage": "modules-final", "datasource": null}}']),
    "network": (of_network, "identity", [IF_INET6, ROUTE, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ x@y\n", "0" * 32 + "\n"]),
    "processes": (lambda text: processes.arguments_of("1") + [processes._is_contained("1")] and None, None, ["Name:\tx\nNSpid:\t1\t2\n"]),
    "ntpd": (lambda text: [time_sources._ntpd([processes.arguments_of("1")])], "time_sources", ["/usr/sbin/ntpd\0-u\0ntpsec:ntpsec\0"]),
    "chrony": (lambda text: time_sync.time_sync(1), "time_sync", [CHRONY]),
    "ntpq": (lambda text: time_sync.time_sync(1), "time_sync", ["leap=00, stratum=3\n"]),
    "timedatectl": (lambda text: time_sync.time_sync(1), "time_sync", ["yes\n", "no\n"]),
}
samples = [pytest.param(name, sample, id=f"{name}-{number}") for name, (_read, _section, them) in READERS.items()
           for number, sample in enumerate(them)]


def assert_read(name, given, text):
    try:
        found = given(text)
    except Unmeasured as problem:
        assert str(problem) and len(str(problem)) < 5000
        return False
    section = READERS[name][1]
    if section is None:
        return True
    told = json.dumps(found)
    assert len(told) < 6 * len(text) + 5000
    assert json.loads(told) == found
    if (section, told) not in JUDGED:  # most odd words give the same
        JUDGED.add((section, told))
        for finding in checks.judge({**RECORD, section: copy.deepcopy(found)}, ASKED):
            assert "rule itself broke" not in finding.detail and "in the record" not in finding.detail, finding
    return True


@pytest.mark.parametrize(("name", "sample"), samples)
def test_what_is_as_it_should_be_is_read(name, sample, machine):
    assert assert_read(name, machine(name), sample)


@pytest.mark.parametrize(("name", "sample"), samples)
def test_each_odd_word_in_each_place(name, sample, machine):
    given = machine(name)
    for word in re.finditer(r"[^\s:=,/()\"\[\]]+|[:=,/()\"\[\]]", sample):
        for other in WORDS if fuzz.LONG else WORDS[::3]:
            assert_read(name, given, sample[:word.start()] + other + sample[word.end():])
    for end in range(0, len(sample), 1 if fuzz.LONG else 5):
        assert_read(name, given, sample[:end])


@pytest.mark.parametrize("name", READERS)
@fuzz.fuzz(10)
@hypothesis.given(data=st.data())
def test_anything(name, data, machine):
    sample = data.draw(st.sampled_from(READERS[name][2]))
    cut = st.integers(0, len(sample))
    text = data.draw(st.binary(max_size=200).map(lambda raw: raw.decode("utf-8", "surrogateescape")) | fuzz.texts.map(
        lambda text: text.encode("utf-8", "replace").decode()) | st.tuples(cut, cut, st.sampled_from(WORDS), cut, cut).map(
            lambda cuts: sample[:cuts[0]] + sample[cuts[1]:] + cuts[2] + sample[cuts[3]:cuts[4]]))
    assert_read(name, machine(name), text)
