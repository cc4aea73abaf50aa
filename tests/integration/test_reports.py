"""Files of all formats, from plays on this machine: they are of their forms, and tell the same."""

from __future__ import annotations

import json
import re
from pathlib import Path

import cmarkgfm
import jsonschema
import junitparser
import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import FILES
from cmarkgfm.cmark import Options
from lxml import etree, html

ROOT = Path(__file__).parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "report.schema.json").read_text()))
JUNIT = etree.XMLSchema(etree.parse(ROOT / "tests" / "unit" / "plugins" / "plugin_utils" / "reports" / "junit.xsd"))
ALL = {"preflight_report_formats": list(FILES), "preflight_fail_on": "never", "preflight_internet_urls": []}
HERE = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}


def files_of(folder):
    """(the report, what became of each test, what the Markdown shows) of the files in a folder, each of which is of its form."""
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"preflight.{name}" for name in FILES)
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    report = json.loads((folder / "preflight.json").read_text())
    assert [error.message for error in SCHEMA.iter_errors(report)] == []
    root = etree.parse(folder / "preflight.xml")
    assert JUNIT.validate(root), JUNIT.error_log
    cases = {(case.classname, case.name): {"Failure": "fail", "Skipped": "skipped"}[type(case.result[0]).__name__] if case.result
             else "warn" if case.system_out else "ok"
             for suite in junitparser.JUnitXml.fromstring(etree.tostring(root)) for case in suite}
    shown = html.fromstring(cmarkgfm.github_flavored_markdown_to_html((folder / "preflight.md").read_text(), Options.CMARK_OPT_UNSAFE))
    return report, cases, " ".join(shown.text_content().split())


def told(report):
    """What became of each check, as JUnit has it."""
    order, worst = ("ok", "warn", "skipped", "fail"), {}
    for finding in report["findings"]:
        at = (finding["machine"] or "all machines", finding["check"])
        level = "skipped" if finding.get("waived") else finding["level"]
        worst[at] = max(level, worst.get(at, "ok"), key=order.index)
    return {**worst, **{("all machines", check): "skipped" for check in report["skipped"]}}


@pytest.mark.core
def test_all_formats_tell_the_same_and_what_changed(play, tmp_path):
    variables = {**ALL, "preflight_report_dir": str(tmp_path), "preflight_skip": ["sudo"]}
    short = {"node": {"cpus": 4096, "memory_mb": 10**9}}
    waiver = {"check": "memory", "reason": "it is coming", "until": "2999-12-31"}
    first = play(variables={**variables, "preflight_needs": short, "preflight_waivers": [waiver]})
    assert first.rc == 0, first.output
    report, cases, shown = files_of(tmp_path)
    assert cases == told(report)
    assert [cases["localhost", check] for check in ("login", "cpus", "memory")] == ["ok", "fail", "skipped"]
    assert cases["all machines", "sudo"] == "skipped"
    assert report["changes"] is None
    findings = {finding["check"]: finding for finding in report["findings"]}
    for expected in ("1 of 1 machine not ready", f"cpus: {findings['cpus']['fix']}", f"localhost: {findings['cpus']['detail']}",
                     "memory on * until 2999-12-31 (used): it is coming", "left out: sudo", report["about"]["at"]):
        assert expected in shown

    second = play(variables=variables)
    assert second.rc == 0, second.output
    now, cases, shown = files_of(tmp_path)
    assert cases == told(now)
    problems = {(finding["machine"], finding["check"]) for finding in now["findings"] if finding["level"] != "ok"}
    assert now["changes"] == {
        "since": report["about"]["at"], "new": [], "worse": [], "better": [], "hidden": [], "uncovered": [],
        "counting": [], "waived": [], "remains": len(problems), "fixed": [],
        "eased": [{"machine": "localhost", "check": "cpus"}, {"machine": "localhost", "check": "memory"}]}
    assert f"Since {report['about']['at']}: 2 eased by a change in what is asked, {len(problems)} as before." in shown
    assert report["about"]["at"].replace("T", " ") in second.output


PLAY = """
- hosts: localhost
  gather_facts: false
  tasks:
    - llmgw.preflight.report:
        report: "{{ records | llmgw.preflight.evaluate }}"
        dir: "{{ preflight_report_dir }}"
        formats: "{{ preflight_report_formats }}"
        fail_on: never
"""


def test_all_formats_of_what_the_filter_made(play, tmp_path):
    (tmp_path / "play.yml").write_text(PLAY)
    records = [{"machine": f"m{number}", "roles": ["node"], "unmeasured": {}, "cpus": number} for number in range(3)]
    outcome = play(playbook=tmp_path / "play.yml", variables={**ALL, "records": records, "preflight_report_dir": str(tmp_path / "reports")})
    assert outcome.rc == 0, outcome.output
    report, cases, shown = files_of(tmp_path / "reports")
    assert cases == told(report)
    assert "3 of 3 machines not ready" in shown


def test_with_serial_each_batch_is_compared_with_what_was_before(play, tmp_path):
    play_of_two = [{"hosts": "all", "gather_facts": False, "serial": 1,
                    "tasks": [{"ansible.builtin.import_role": {"name": "llmgw.preflight.preflight"}}]}]
    (tmp_path / "play.yml").write_text(json.dumps(play_of_two))
    inventory = {"node": {"hosts": {"a": HERE, "b": {**HERE, "preflight_roles": "{{ roles_of_b }}"}}}}
    variables = {**ALL, "preflight_report_dir": str(tmp_path / "reports"), "preflight_needs": {"huge": {"cpus": 4096}},
                 "preflight_only": ["cpus"]}
    outcomes = [play(inventory, playbook=tmp_path / "play.yml", variables={**variables, "roles_of_b": [role]}) for role in ("node", "huge")]
    assert [outcome.rc for outcome in outcomes] == [0, 0]
    report, cases, shown = files_of(tmp_path / "reports")
    assert report["changes"]["new"] == [{"machine": "b", "check": "cpus"}]
    since = re.findall(r"since the report of (\S+ [^\s;]+)", outcomes[1].output)
    assert len(set(since)) == 1 and len(since) == 2
    assert since[0].replace(" ", "T") == report["changes"]["since"]
    assert "since the report" not in outcomes[0].output
