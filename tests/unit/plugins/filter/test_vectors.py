"""840 verdicts of the preflight that these rules come from, through the filter as Ansible calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

try:
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19 every text was a template

    def trust_as_template(text):
        return text


VECTORS = [json.loads(line) for line in (Path(__file__).parent / "vectors.jsonl").read_text().splitlines()]
EXPLICIT = {"packages", "time_sync"}  # an ok, where the original said nothing
LATER = {  # not of the original
    "apt_ready", "cpu", "disk_speed", "firewall", "hostname", "limits", "locale", "mirrors", "remote_tmp", "temp", "time_source"}


def record_of(vector):
    facts, unmeasured = vector["facts"], {}
    record = {
        "machine": "m1",
        "address": "10.0.0.1",
        "roles": [role.replace(" ", "_") for role in vector["roles"]],
        "local": vector["local"],
        "serves": [{"name": vector["serves"], "memory_mb": vector["serves_mb"]}] if vector["serves_mb"] else [],
        "login": {"ok": True, "user": "ops", "uid": 1000},
        "clock": {"offset_s": vector["skew_s"], "error_s": 0},
        "listening": [{"port": int(p), "address": "0.0.0.0", "process": None} for p in facts["listening"].split()],
        "unmeasured": unmeasured,
    }

    def put(section, known, value):
        if known:
            record[section] = value()
        else:
            unmeasured[section] = "the original could not read it"

    yes_no = {"yes": True, "no": False}
    put("system", facts["os"], lambda: {"id": facts["os"], "version": facts["version"] or None, "name": facts["pretty"]})
    put("architecture", facts["arch"], lambda: facts["arch"])
    put("sudo", facts["sudo"], lambda: {"how": {"yes": "nopasswd", "no": "password"}[facts["sudo"]]})
    put("apt", facts["apt"], lambda: yes_no[facts["apt"]])
    put("time_sync", facts["ntp"], lambda: {"synchronised": yes_no[facts["ntp"]], "by": None})
    put("cpus", facts["cpus"].isdigit(), lambda: int(facts["cpus"]))
    put("memory_mb", facts["mem_mb"].isdigit(), lambda: int(facts["mem_mb"]))
    put("disks", facts["disk_gb"].isdigit(),
        lambda: [{"path": "/", "mount": "/", "free_bytes": int(facts["disk_gb"]) * 2**30}])
    put("internet", facts["internet"], lambda: [{
        "url": "http://deb.debian.org/", "ok": yes_no[facts["internet"]], "via": "direct",
        "stage": None if yes_no[facts["internet"]] else "connect", "reason": None, "seconds": 0.1}])
    return record


@pytest.fixture(scope="module")
def judged():
    """The findings on each vector."""
    def findings(vector):
        templar = Templar(loader=DataLoader(), variables={"records": [record_of(vector)]})
        return templar.template(trust_as_template("{{ records | llmgw.preflight.evaluate }}"))["findings"]

    return [findings(vector) for vector in VECTORS]


def test_every_vector_agrees(judged):
    assert len(VECTORS) == 840
    wrong = []
    for number, (vector, findings) in enumerate(zip(VECTORS, judged, strict=True), 1):
        got = [[f["check"], f["level"]] for f in findings
               if f["check"] not in LATER and not (f["check"] in EXPLICIT and f["level"] == "ok")]
        if got != vector["expect"]:
            wrong.append((number, got, vector["expect"]))
    assert wrong == []


def test_a_finding_above_ok_always_has_a_fix(judged):
    for finding in (finding for findings in judged for finding in findings):
        assert bool(finding["fix"]) == (finding["level"] != "ok"), finding
        assert finding["detail"]
