"""The examples of docs/own-checks.md, as they stand there."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import jinja2
import pytest
import yaml
from ansible_collections.llmgw.preflight.plugins.plugin_utils import custom, own, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import ON_REQUEST, SECTIONS

DOCUMENT = (Path(__file__).parents[4] / "docs" / "own-checks.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT, re.M | re.S)
CHECKS, RECORD, PLAY, WAIVERS = (yaml.safe_load(jinja2.Template(example).render()) for example in EXAMPLES)
NAMES = [check["check"] for check in CHECKS["preflight_custom_checks"]]


def judged(*records, **given):
    """(machine, check) -> level, detail, fix."""
    report = evaluate(records, custom_checks=CHECKS["preflight_custom_checks"], **given)
    return {(f["machine"], f["check"]): (f["level"], f["detail"], f["fix"]) for f in report["findings"]}


def test_the_record_is_one_that_is_well_in_every_section():
    assert set(RECORD) <= {"machine", "address", "roles", "local", "serves", *SECTIONS, *ON_REQUEST, "facts", "unmeasured"}
    problems = [told for told in judged(RECORD, skip=["role_ports"]).values() if told[0] != "ok"]
    assert [told for told in problems if "the record does not hold it" not in told[1]] == []  # it is shortened


def test_each_check_holds_where_all_is_well():
    assert len(NAMES) == 5
    found = judged({**RECORD, "roles": ["node", "database"]})
    assert {at: told[0] for at, told in found.items() if at[1] in NAMES} == {
        (None if name == "same_memory" else "db1", name): "ok" for name in NAMES}


LISTENS = [{"port": 9100, "address": "::", "process": None, "user": "root"}]


@pytest.mark.parametrize(("check", "sections", "level", "detail", "fix"), [
    ("no_swap", {"facts": {"swaptotal_mb": 2048}, "roles": ["node"]}, "fail", "has 2048 MB of swap", "Take it away with swapoff -a"),
    ("data_on_a_known_filesystem", {"facts": {"mounts": [{"mount": "/data", "fstype": "xfs"}, {"mount": "/", "fstype": "btrfs"}]}}, "fail",
     "/ is btrfs, not ext4 or xfs", "Put the database's machines on ext4"),
    ("exporter_port", {"listening": LISTENS}, "warn", "9100 is in use by root", "before the exporter is installed."),
    ("exporter_port", {"listening": [{**LISTENS[0], "process": "x"}]}, "warn", "9100 is in use by x", "before the exporter is installed."),
    ("deploy_user", {"login": {"ok": True, "user": "root", "uid": 0}, "sudo": {"how": "root"}}, "fail",
     "logged in as root, sudo: root", "as the user that will install."),
])
def test_what_each_check_finds(check, sections, level, detail, fix):
    found = judged({**RECORD, **sections})["db1", check]
    assert found[:2] == (level, detail) and fix in found[2]


def test_what_the_check_of_all_finds():
    found = judged(RECORD, {**RECORD, "machine": "db2", "memory_mb": 4000}, {**RECORD, "machine": "n1", "roles": ["node"], "memory_mb": 1})
    assert found[None, "same_memory"] == (
        "warn", "from 4000 MB on db2 to 7950 MB", "Give all machines of the database the same memory, since each may become the primary.")


def test_what_is_said_of_the_language():
    def yields(expression, **sections):
        return custom.compiled(expression).search(custom.seen({**RECORD, **sections}))

    absent = {"facts": None, "unmeasured": {"facts": "no answer"}}
    gone = {key: value for key, value in RECORD.items() if key != "facts"}
    assert "`unmeasured.facts != null || facts.swaptotal_mb == ...`" in DOCUMENT
    assert yields("unmeasured.facts != null || facts.swaptotal_mb == `1`", **absent) is True
    with pytest.raises(custom._Absent):
        custom.compiled("facts.swaptotal_mb != `1`").search(custom.seen(gone))
    for expression in ("to_number(system.version) >= `12`", "contains(['11', '12'], system.version)"):
        assert expression in DOCUMENT and yields(expression) is True
    with pytest.raises(custom.ExpressionError):
        custom.compiled("system.version >= '12'")
    assert custom.parts("{'{'}{ {a: cpus}.a }") == ((True, "'{'"), (True, " {a: cpus}.a "))
    assert "`{'{'}` is a brace" in DOCUMENT and "`{ {a: cpus}.a }`" in DOCUMENT


def test_the_keys_are_all_told():
    assert set(re.findall(r"^\| `(\w+)` \|", DOCUMENT, re.M)) == set(settings.judging.CUSTOM)


def test_the_finding_of_the_task_is_one():
    task = next(task for task in PLAY[0]["tasks"] if "ansible.builtin.set_fact" in task)
    left = task["ansible.builtin.set_fact"]["preflight_own_findings"]
    assert [finding[:3] for finding in own.findings_of({**RECORD, own.SECTION: left}, ())] == [("db1", "licence", 2)]


def test_the_waivers_are_such(record):
    left = [{"check": "licence", "level": "fail", "detail": "x", "fix": "x"}]
    report = evaluate([{**RECORD, "listening": LISTENS, "disks": [{"path": "/", "mount": "/", "free_bytes": 1}]},
                       {**RECORD, "machine": "n1", "roles": ["node"], "own_findings": left}],
                      custom_checks=CHECKS["preflight_custom_checks"], waived=WAIVERS["preflight_waivers"], today=datetime.date(2027, 1, 1))
    assert [waiver["state"] for waiver in report["waivers"]] == ["used", "used", "used"]
    assert report["waivers"][0]["until"] == "2999-03-31"
