"""Reports of machines that do not exist, of any number, with a fault of every kind; evaluate() judges them as it does real ones."""

from __future__ import annotations

import copy
import datetime
import random

from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.changes import changes
from ansible_collections.llmgw.preflight.plugins.plugin_utils.edges import Edges
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from unit.conftest import HEALTHY

GIB = 2**30
OUTCOMES = ("timeout", "refused", "no_route")
DAY = datetime.date(2026, 3, 1)
ABOUT = {"at": f"{DAY}T02:13:45+01:00", "version": "0.1.0", "ansible": "2.19.3", "profile": "llmgw"}
WAIVERS = [
    {"check": "time_sync", "machine": "n*", "reason": "the hypervisor keeps these clocks right", "until": "2026-12-31"},
    {"check": "apt_ready", "machine": "*", "reason": "the nightly upgrade is over before the install begins"},
    {"check": "latency", "machine": "db1", "reason": "moves to the same rack", "until": "2026-02-01"},
    {"check": "disk", "machine": "backup*", "reason": "left over from the last install"},
]
# What can be wrong with one machine: sections of its record.
FAULTS = (
    {"login": {"ok": False, "reason": "ssh: connect to host 10.0.0.9 port 22: Connection refused", "cause": "refused"}},
    {"disks": [{"path": "/", "mount": "/", "free_bytes": 9 * GIB}]},
    {"disks": [{"path": "/", "mount": "/", "free_bytes": 13 * GIB}]},
    {"memory_mb": 3000},
    {"memory_mb": 1500, "cpus": 1},
    {"system": {"id": "fedora", "version": "40", "name": "Fedora Linux 40"}, "apt": False, "libc": "glibc 2.39"},
    {"system": {"id": "ubuntu", "version": "23.10", "name": "Ubuntu 23.10"}, "libc": "glibc 2.38"},
    {"clock": {"offset_s": -31.4, "error_s": 0.02}},
    {"clock": {"offset_s": 3.029, "error_s": 0.049}},
    {"time_sync": {"synchronised": False, "by": None}},
    {"sudo": {"how": "password"}},
    {"package_locks": [{"path": "/var/lib/dpkg/lock-frontend", "pid": 4711, "process": "unattended-upgr"}]},
    {"internet": [{"url": "http://deb.debian.org/", "ok": False, "via": "direct", "stage": "name", "reason": "Temporary failure",
                   "seconds": 10.0}]},
    {"confinement": {"cpus": 0.5, "memory_mb": None}},
    {"cpus": None, "unmeasured": {"cpus": "/proc/cpuinfo could not be read"}},
    {"names": {"own": {"name": "localhost", "addresses": []}, "looked_up": 2, "nobody": [], "loopback": []}},
)


def machines(number):
    """(name, roles): three databases, two control planes, a witness, and nodes."""
    first = [("db1", ["database"]), ("db2", ["database"]), ("db3", ["database"]), ("cp1", ["control_plane"]), ("w1", ["etcd_witness"]),
             ("cp2", ["control_plane", "node"])]
    digits = len(str(number))
    return [*first[:number], *((f"n{count:0{digits}}", ["node"]) for count in range(1, number - len(first) + 1))]


def records(number, faulty=0.3, seed=1, unreached=3):
    """Records of ``number`` machines. This part of them has a fault; so many do not reach some of the others."""
    chance, own = random.Random(seed), machines(number)
    needs = settings.profile().needs
    edges = Edges([{"machine": name, "roles": roles} for name, roles in own], needs)
    cut_off = {name for name, _roles in chance.sample(own, min(unreached, number - 1))}
    made = []
    for place, (name, roles) in enumerate(own):
        record, address = copy.deepcopy(HEALTHY), f"10.0.{place // 250}.{place % 250 + 1}"
        ports = [port for role in roles for port in needs[role].ports]
        record.update(
            machine=name, address=address, roles=roles, cpus=chance.choice((4, 8, 16)),
            memory_mb=chance.choice((7950, 15900, 32100)),
            disks=[{"path": "/", "mount": "/", "free_bytes": chance.randint(31, 400) * GIB}],
            clock={"offset_s": round(chance.gauss(0, 0.01), 6), "error_s": round(chance.uniform(0.004, 0.06), 6)},
            identity={"machine_id": f"{place:032x}", "host_keys": [f"SHA256:{place}"], "hostname": name, "addresses": [address],
                      "macs": [f"52:54:00:00:{place // 250:02x}:{place % 250:02x}"]},
            names={"own": {"name": name, "addresses": ["127.0.1.1"]}, "looked_up": 0, "nobody": [], "loopback": []},
            stand_ins={"pid": 1, "open": ports, "held": [], "not_opened": []})
        if chance.random() < faulty:
            record.update(copy.deepcopy(chance.choice(FAULTS)))
        others = [other for other, _roles in own if other != name]
        far = chance.sample(others, min(len(others), chance.randint(1, 12))) if name in cut_off else []
        record["reach"] = {
            "tried": len(others), "open": len(others) - len(far), "seconds": {"median": 0.0004, "max": 0.012},
            "not_open": [{"machine": other, "address": f"{other}.example", "port": 22, "outcome": chance.choice(OUTCOMES)}
                         for other in far]}
        calls = [(peer["machine"], port) for peer, port in edges.calls(edges.machines[place])]
        lost = {own[-1][0]: 7443} if cut_off else {}
        closed = [(peer, port) for peer, port in calls if peer in far or lost.get(name) == port]
        measured = sorted({peer for peer, port in calls if port == 2380} - {peer for peer, _port in closed})
        record["edges"] = {
            "tried": len(calls), "open": len(calls) - len(closed), "measured": measured,
            "slowest": {"machine": measured[-1], "seconds": 0.0012} if measured else None,
            "not_open": [{"machine": peer, "port": port, "outcome": chance.choice(OUTCOMES)} for peer, port in closed]}
        made.append({section: value for section, value in record.items() if value is not None})
    return made


def report(number=60, read=None, **options):
    """A whole report, as the judge and the report's task make it. ``read`` are the records, where they are not to be made up."""
    given = {"waived": settings.waivers(WAIVERS, "waivers"), "skip": ["alike"], "today": DAY, **options}
    rest = {"about": ABOUT, "sampled": None, "not_examined": [{"machine": f"n90{place}", "why": "limit"} for place in (1, 2)]}
    if number > settings.LIMITS["all_pairs"]:
        rest["sampled"] = {"machines": number, "others": 5, "seed": "4f2a9c"}
    earlier = {**evaluate(records(number, seed=2), **given), **rest, "about": {**ABOUT, "at": "2026-02-28T22:40:00+01:00"}}
    whole = {**evaluate(read or records(number), **given), **rest}
    return {**whole, "changes": changes(earlier, whole)}


def healthy(number=3):
    """Nothing is wrong, nothing was left out, and there is no earlier report."""
    judged = evaluate(records(number, faulty=0, unreached=0))
    return {**judged, "about": ABOUT, "sampled": None, "not_examined": [], "changes": None}


HOSTILE = (
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "]]> --> <!-- \" ' ` {{ 7*7 }} {% raw %}", "&lt;b&gt;&amp;&#60;",
    "a\u202egnp.exe\u202c\u2066", "\x00\x1b]0;title\x07\x7f\x9b31m\r\n", "\u2028\u2029\ufeff\ud800\U000e0001", "x" * 2_000_000, "]" * 700,
    "\u05e9\u05dc\u05d5\u05dd 123 \u0645\u0631\u062d\u0628\u0627", "javascript:alert(1)", "' onmouseover='alert(1)' x='", "\U0001f600" * 30,
)


def hostile(number=13):
    """A report in which all that a machine or an inventory can choose is hostile."""
    made = copy.deepcopy(report(number, read=records(number, faulty=1)))
    for place, finding in enumerate(made["findings"]):
        finding["detail"] = HOSTILE[place % len(HOSTILE)]
        finding["fix"] = HOSTILE[(3 * place + 1) % len(HOSTILE)] if finding["level"] != "ok" else ""
    renamed = {machine["machine"]: f"{HOSTILE[place % len(HOSTILE)][:100]} {place}" for place, machine in enumerate(made["machines"])}
    renamed |= {role: f"{HOSTILE[place]} {place}" for place, role in enumerate(made["needs"])}
    renamed |= {finding["check"]: f"{HOSTILE[place]} {place}" for place, finding in enumerate(made["findings"][1:6])}
    renamed |= {text: HOSTILE[place % len(HOSTILE)] for place, text in enumerate((
        *(waiver["reason"] for waiver in WAIVERS), *OUTCOMES, *ABOUT.values(), "n901"))}

    def rename(part):
        if isinstance(part, dict):
            return {renamed.get(key, key): rename(value) for key, value in part.items()}
        if isinstance(part, list):
            return [rename(value) for value in part]
        return renamed.get(part, part) if isinstance(part, str) else part

    return rename(made)
