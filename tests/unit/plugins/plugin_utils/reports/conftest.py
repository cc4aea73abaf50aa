"""Reports of made-up machines, as the report action has them when it writes its files."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.changes import changes
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports.text import CHANGES

EVERY_LEVEL = Path(__file__).parents[4] / "integration" / "every_level.json"
ABOUT = {"at": "2026-11-30T14:05:09+01:00", "version": "0.1.0", "ansible": "2.19.3", "profile": "llmgw"}
TODAY = datetime.date(2026, 11, 30)
FULL = {"path": "/", "mount": "/", "free_bytes": 12 * 2**30}
# Sections of a record that something is wrong with; each makes a finding above ok.
FAULTS = [
    {"login": {"ok": False, "reason": "Connection refused", "cause": "refused"}},
    {"system": {"id": "debian", "version": "11", "name": "Debian 11"}},
    {"system": {"id": "plan9", "version": None, "name": "Plan 9"}},
    {"architecture": "riscv64"},
    {"sudo": {"how": "password"}},
    {"sudo": {"how": "missing"}},
    {"apt": False},
    {"package_locks": [{"path": "/var/lib/dpkg/lock", "pid": 4, "process": "apt"}]},
    {"cpus": 1},
    {"memory_mb": 100},
    {"serves": [{"name": "m", "memory_mb": 90000}]},
    {"confinement": {"cpus": {"value": 0.5, "path": "system.slice"}, "memory_mb": None}},
    {"disks": [FULL]},
    {"clock": {"offset_s": -3.0, "error_s": 0.01}},
    {"clock": {"offset_s": 300.0, "error_s": 0.01}},
    {"time_sync": {"synchronised": False, "by": None}},
    {"listening": [{"port": 5432, "address": "::", "process": "postgres", "user": "postgres"}]},
    {"internet": [{"url": "http://deb.debian.org/", "ok": False, "via": "direct", "stage": "connect", "reason": "no", "seconds": 1.0}]},
    {"reach": {"tried": 2, "open": 1, "seconds": None, "not_open": [{"machine": "w1", "address": "w1", "port": 22, "outcome": "refused"}]}},
    {"own_findings": [{"check": "raid", "level": "fail", "detail": "a disk is out", "fix": "Replace it."}, 5]},
]
SECTIONS = ("system", "architecture", "sudo", "apt", "package_locks", "cpus", "memory_mb", "confinement", "disks", "clock", "time_sync",
            "listening", "internet", "reach", "names", "identity", "libc")
# What comes from machines may be of any content: it must steer nothing.
EVIL = [
    "\x1b[2J\x1b]0;title\x07\x00\x7f\x9b31m", "\ud800 \udfff \udc80", "\ufffe\uffff\U0001fffe", "a\r\nb\u2028c\u0085d",
    "\u202ereversed \u05d0\u05d1", "e" + "\u0301" * 50, " ", "", "x" * 5000,
    "]]> <![CDATA[ <!-- --> -->", "<script>alert(1)</script><img src=x onerror=alert(1)>&lt;&#64;", "</details></summary><details open>",
    "@team/all @everyone ops@example.org", "#1 GH-1 org/repo#1 !1 ~label %1 $1 &1 ^alert#1 ABC-123 1b9449f6 deadbeefdeadbeef 1234567",
    "[link](http://x.example/) ![image](http://x.example/i.png)", "http://x.example/ https://x.example www.x.example ftp://x.example",
    "<http://x.example/>", "[ref]: http://x.example/", "[[_TOC_]] [^1] :smile: ::include", "a | b \\| c \\\\| d | `e | f`",
    "`tick` ``two`` ```three", "` `` ``` ````", "*em* __strong__ ~~struck~~ $`x`$ $$y$$ {+ in +} [- out -] ==mark==",
    "# heading", "- item", "1. item", "> quote", "/close", "    code", "---", "```", "~~~", "\\", "\\` \\[x\\](y)",
]


def complete(report, earlier=None, **parts):
    """As the report action makes one whole."""
    whole = {**report, "about": ABOUT, "not_examined": [], "sampled": None, **parts}
    return {**whole, "changes": changes(earlier, whole) if earlier else None}


@pytest.fixture(scope="session")
def every_level():
    """What a real run told, with something in place of the figures that vary."""
    report = json.loads(EVERY_LEVEL.read_text())
    machines = [{**machine, "clock": {"offset_s": 0.5, "error_s": 0.01} if machine["clock"] else None} for machine in report["machines"]]
    assert sorted(ABOUT) == report["about"]
    return {**report, "machines": machines, "about": ABOUT}


MADE = {}  # once for all tests, which let them be


@pytest.fixture
def reports(record, every_level):
    """name -> a report; with every kind of fault, and of everything that a report can hold."""
    if not MADE:
        MADE.update(make_reports(record, every_level))
    return MADE


def make_reports(record, every_level):
    def three(**sections):
        own = {"machine_id": None, "host_keys": [], "addresses": [], "macs": []}
        return [record(**sections), *(record(machine=name, address=name, roles=[role], identity={**own, "hostname": name})
                                      for name, role in (("db2", "database"), ("w1", "etcd_witness")))]

    healthy = complete(evaluate(three()))
    made = {"healthy": healthy, "one machine": complete(evaluate([record()])), "every level": every_level}
    for fault in FAULTS:
        (section, value), = fault.items()
        made[f"{section}: {value}"] = complete(evaluate(three(**fault)), healthy)
    for section in SECTIONS:
        made[f"no {section}"] = complete(evaluate(three(**{section: None, "unmeasured": {section: "it took too long"}})))
    bad = three(cpus=1, disks=[FULL], memory_mb=100)
    custom = [{"check": "kernel", "expect": "cpus > `9`", "detail": "has {cpus}", "fix": "Buy {cpus} more.", "level": "warn"},
              {"check": "alone", "expect": "length(@) == `1`", "fix": "Part them.", "scope": "all"}]
    waivers = [{"check": "disk", "machine": "db*", "reason": "it is coming", "until": "2027-01-31"},
               {"check": "cpus", "machine": ["w1", "db1"], "reason": "they are fast"},
               {"check": "memory", "reason": "old", "until": "2026-01-31"}, {"check": "clock", "reason": "just in case"},
               {"check": "no_such", "reason": "a slip"}, {"check": "ports", "reason": "skipped"}]
    made["waived, skipped, of one's own"] = complete(
        evaluate(bad, custom_checks=custom, skip=["ports", "sudo"], waived=waivers, today=TODAY), healthy,
        not_examined=[{"machine": "n1", "why": "limit"}, {"machine": "n9", "why": "batch"}],
        sampled={"machines": 60, "others": 5, "seed": "abc123"})
    made["as it was before"] = complete(evaluate(three()), made["waived, skipped, of one's own"])
    return made


@pytest.fixture
def evil(record):
    """A report in which machines say whatever they please, wherever they can."""
    machines = [record(machine=f"m{number}{text}", address=text or "a", roles=["node"],
                       own_findings=[{"check": "own", "level": level, "detail": text or "-", "fix": text or "-"}
                                     for level in ("warn", "fail")])
                for number, text in enumerate(EVIL)]
    report = evaluate(machines, waived=[{"check": "own", "machine": f"m{number}*", "reason": text if text.strip() else "-"}
                                        for number, text in enumerate(EVIL) if number % 3 == 0], today=TODAY)
    findings = [{**finding, "machine": None, "detail": text, "fix": text} for finding, text in zip(report["findings"], EVIL, strict=False)]
    report["findings"] += [{**finding, "level": "fail"} for finding in findings]
    report["skipped"] = EVIL
    report["not_reached"] = [{"machine": text, "peer": text, "port": 22, "outcome": text, "of": "reach"} for text in EVIL]
    report["needs"] = dict(zip(EVIL, report["needs"].values(), strict=False))
    changed = {kind: [{"machine": text, "check": text} for text in EVIL] for kind in CHANGES}
    return {**complete(report, not_examined=[{"machine": text, "why": "limit"} for text in EVIL]),
            "about": {**ABOUT, **dict.fromkeys(("version", "ansible", "profile"), " ".join(EVIL[:12]))},
            "changes": {"since": ABOUT["at"], "remains": 3, **changed}}
