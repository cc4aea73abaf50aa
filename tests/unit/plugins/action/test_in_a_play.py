"""The role's actions in one play on this machine itself, under three names, and what they say to nonsense; more is in tests/integration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.llmgw.preflight.plugins.action import judge
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import IDS
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import SECTIONS

COLLECTIONS = Path(judge.__file__).parents[5]
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
HOSTS = {"all": {"vars": LOCAL, "children": {
    "database": {"hosts": {"db1": {"preflight_address": "127.0.0.1"}, "db2": {"preflight_serves": [{"name": "m", "memory_mb": 1}]}}},
    "node": {"hosts": {"n1": {"preflight_port": 2222, "preflight_internet_urls": []}}}}}}
FAST = {"command_s": 5, "internet_s": 2, "reach_s": 1, "clock_s": 1}
FINDING = {"check": "raid", "level": "warn", "detail": "a disk is out", "fix": "Replace it."}
# What is asked wrongly: name -> an action with what it is given.
WRONG = {
    "plan": {"plan": {"limits": {"clock_s": "soon"}, "only": ["disks"], "fit": "perhaps", "report_formats": ["pdf"]}},
    "profile": {"plan": {"profile": "none"}},
    "probe": {"probe": {"plan": {"of": "nobody"}}},
    "limits": {"probe": {"limits": {"clock_s": 0}}},
    "edges": {"edges": {"plan": {"of": "nobody"}}},
    "uncalled": {"uncalled": {"plan": {}}},
    "judge": {"judge": {"plan": {}}},
    "report": {"report": {"report": {"worst": "ok", "counts": {}}}},
    "parts": {"parts": {"paths": ["/no/such/file"]}},
}
PLAYS = [
    {"name": "All", "hosts": "all", "gather_facts": False, "vars": {
        "preflight_limits": FAST, "preflight_own_findings": [FINDING], "preflight_gather_subset": ["!all", "!min", "distribution"],
        "preflight_skip": ["disk_speed", "time_sync"], "preflight_fail_on": "never", "preflight_report_formats": ["json", "md"],
        "preflight_waivers": [{"check": "raid", "machine": "db*", "reason": "so be it"}],
        "preflight_custom_checks": [{"check": "mine", "expect": "facts.distribution != ''", "fix": "f"}],
    }, "roles": ["llmgw.preflight.preflight"]},
    {"name": "Nonsense", "hosts": "n1", "gather_facts": False, "vars": {"found": {}}, "tasks": [
        *({"name": name, **{f"llmgw.preflight.{action}": given for action, given in what.items()}, "register": f"of_{name}",
           "ignore_errors": True} for name, what in WRONG.items()),
        {"name": "Parts", "llmgw.preflight.parts": {"paths": ["{{ preflight_records_dir }}"]}, "register": "of_whole"},
        {"name": "Alone", "llmgw.preflight.probe": {"skip": [name for name in SECTIONS if name not in ("login", "cpus", "clock")]},
         "register": "of_alone"},
        {"name": "Filter", "ansible.builtin.set_fact": {"of_filter": "{{ [of_alone.record] | llmgw.preflight.evaluate(only=['cpus']) }}"}},
        {"name": "Keep", "ansible.builtin.copy": {"dest": "{{ out }}", "mode": "0600", "content": "{{ {" + ", ".join(
            f"'{name}': of_{name}" for name in (*WRONG, "whole", "alone", "filter")) + "} | to_json }}"}},
    ]},
]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """(what the play said, its report, the results of the second play)."""
    folder = tmp_path_factory.mktemp("play")
    given = {"preflight_report_dir": str(folder / "reports"), "preflight_records_dir": str(folder / "records"),
             "preflight_fix_script": str(folder / "scripts"), "out": str(folder / "out.json")}
    for name, content in (("hosts.json", HOSTS), ("play.json", PLAYS), ("vars.json", given)):
        (folder / name).write_text(json.dumps(content))
    settings = {"ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS), "ANSIBLE_HOME": str(folder / "home"), "ANSIBLE_NOCOLOR": "1",
                "ANSIBLE_DEPRECATION_WARNINGS": "0", "LC_ALL": "C.UTF-8", "ANSIBLE_FORCE_COLOR": "0"}
    ran = subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", "-i", "hosts.json", "-e", "@vars.json", "play.json"], cwd=folder,
        env={**os.environ, **settings}, check=False, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout, json.loads((folder / "reports" / "preflight.json").read_text()), json.loads((folder / "out.json").read_text())


def test_the_machines_are_judged(done):
    said, report, _results = done
    assert [(machine["machine"], machine["address"], machine["roles"]) for machine in report["machines"]] == [
        ("db1", "127.0.0.1", ["database"]), ("db2", "db2", ["database"]), ("n1", "n1", ["node"])]
    assert {finding["check"] for finding in report["findings"]} >= {"login", "system", "cpus", "disk", "raid", "mine", "names", "quorum"}
    assert [(finding["machine"], bool(finding.get("waived"))) for finding in report["findings"] if finding["check"] == "raid"] == [
        ("db1", True), ("db2", True), ("n1", False)]
    assert {finding["level"] for finding in report["findings"] if finding["check"] == "mine"} == {"ok"}
    assert set(report["skipped"]) == {"disk_speed", "time_sync"} and report["about"]["profile"] == "llmgw"
    assert "waived for good: so be it" in said


def test_what_was_saved_says_the_same(done):
    _said, report, results = done
    assert {machine["machine"] for machine in results["whole"]["machines"]} == {"db1", "db2", "n1"}
    without = [finding for finding in results["whole"]["findings"] if finding["check"] != "parts"]
    assert without == report["findings"]


def test_a_machine_is_read_without_a_plan(done):
    record = done[2]["alone"]["record"]
    assert {name for name in record if name in SECTIONS} == {"login", "cpus", "clock"}
    assert record["unmeasured"] == dict.fromkeys([name for name in SECTIONS if name not in record], "it was not asked for")
    assert {finding["check"] for finding in done[2]["filter"]["findings"]} == {"login", "cpus"}
    assert done[2]["filter"]["skipped"] == [check for check in (*IDS, "own_findings") if check not in ("login", "cpus")]


@pytest.mark.parametrize(("name", "words"), [
    ("plan", ["preflight_limits.clock_s is 'soon'", "preflight_only is 'disks'", "preflight_fit is 'perhaps'",
              "preflight_report_formats is 'pdf'"]),
    ("profile", ["preflight_profile is 'none'"]),
    ("probe", ["There is no plan to go by"]),
    ("limits", ["limits.clock_s is 0"]),
    ("edges", ["There is no plan to go by"]),
    ("judge", ["There is no plan to go by"]),
    ("report", ["This is not a report: it has no machines, findings."]),
    ("parts", ["/no/such/file: there is no such file"]),
])
def test_nonsense_is_told(done, name, words):
    result = done[2][name]
    assert result["failed"] and [word for word in words if word not in result["msg"]] == []
