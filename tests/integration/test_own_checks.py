"""Waivers, checks of one's own, findings of one's own, and checks that are left out, in plays."""

from __future__ import annotations

import base64
import datetime
import json
import re
import textwrap
from pathlib import Path

import pytest
import yaml
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import LOOKED_AT_BY
from ansible_collections.llmgw.preflight.plugins.plugin_utils.own import FIX as OWN_FIX
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waivers import FIX_UNMATCHED

DOCUMENT = Path(__file__).parents[2] / "docs" / "own-checks.md"
ROLE = {"ansible.builtin.import_role": {"name": "llmgw.preflight.preflight"}}
INSTALL = {"ansible.builtin.debug": {"msg": "INSTALLING"}}
HOSTILE = "{{ 7*6 }} {cpus} <b>\x1b[31m"
STEADY = "ansible_facts | dict2items | rejectattr('key', 'match', 'date_time|uptime|mem|discovered|proc_|loadavg') | to_json | hash"
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}


@pytest.fixture(scope="module")
def lab(make_lab):
    return make_lab({"defaults": {"cpus": 2, "groups": ["node"]}, "hosts": [
        {"name": "db1", "groups": ["database"], "disk_free_gb": 12, "files": {
            "/etc/app/licence": "x",
            "/etc/ansible/facts.d/own.fact": {"content": "#!/bin/sh\ntouch /tmp/ran\necho '{}'\n", "mode": "0755"}},
         "os_release": {"ID": "debian", "VERSION_ID": "12", "PRETTY_NAME": HOSTILE}},
        {"name": "n1"}, {"name": "dead", "down": True}, {
            "name": "hung", "hang_mount": "/mnt/share",  # for which setup waits 10 s itself, but not for a program
            "files": {"/usr/bin/lspci": {"content": "#!/bin/sh\nexec sleep 600\n", "mode": "0755"}}}]})


@pytest.fixture
def run(play, tmp_path):
    """run(inventory, play, lab, variables of all machines, ...): all of it in YAML, as people write it."""

    def run_play(inventory, keywords, lab=None, of_all=None, **options):
        inventory["all"]["vars"] = {**inventory["all"].get("vars", {}), **(of_all or {})}
        (tmp_path / "hosts.yml").write_text(yaml.safe_dump(inventory, sort_keys=False))
        whole = {"hosts": "all", "gather_facts": False, "tasks": [ROLE, INSTALL], **keywords}
        (tmp_path / "play.yml").write_text(yaml.safe_dump([whole]))
        return play(tmp_path / "hosts.yml", lab, playbook=tmp_path / "play.yml", **options)

    return run_play


def told(outcome, *checks):
    """(machine, check) -> level and detail of the findings of these checks."""
    return {(f["machine"], f["check"]): (f["level"], f["detail"]) for f in outcome.report["findings"] if f["check"] in checks}


def message_of(outcome):
    (failed,) = [event["event_data"]["res"]["msg"] for event in outcome.events if event["event"] == "runner_on_failed"]
    return failed


FOREVER, OVER = datetime.date(2999, 12, 31), datetime.date(2020, 1, 1)
CHECKS = [
    {"check": "many", "expect": "cpus >= `{{ 1 + few }}`", "level": "warn", "detail": "{cpus} of {{ few + 1 }}, {system.name}",
     "fix": "See {machine}."},
    {"check": "user", "expect": "facts.user_id == login.user && facts.distribution == 'Debian'", "roles": ["node"], "fix": "x"},
    {"check": "no_network", "expect": "!contains(keys(facts), 'interfaces') && length(keys(facts)) > `9`", "fix": "x"},
    {"check": "together", "scope": "all", "expect": "length(@) == `2` && sum([].cpus) == `4`", "fix": "x"},
    {"check": "kept_in_one", "scope": "all", "roles": "{{ ['database'] }}", "expect": "length(@) == `2`", "fix": "x",
     "detail": "only {[].machine}"},
]
WAIVERS = [
    {"check": "disk", "machine": ["db*", "x"], "reason": "grows in {{ month }}", "until": FOREVER},
    {"check": "kept_in_one", "reason": "one will do"},
    {"check": "smart", "machine": ["n?", "db1"], "reason": "none here"},
    {"check": "many", "machine": "db1", "reason": "was so", "until": OVER},
    {"check": "dsik", "reason": "a slip"},
    {"check": "cpus", "machine": "n1", "reason": "not needed", "until": "2999-12-31"},
    {"check": "disk", "machine": "hung", "reason": "of another play"},
]
OWN = [
    {"ansible.builtin.command": "cat /etc/os-release", "register": "out", "changed_when": False},
    {"ansible.builtin.set_fact": {"preflight_own_findings": [
        {"check": "smart", "level": "fail", "detail": "{{ out.stdout_lines | last }}", "fix": "See {{ inventory_hostname }}."},
        {"check": "raid", "level": "ok", "detail": "whole"}]}},
    {"ansible.builtin.set_fact": {"before": f"{{{{ {STEADY} }}}}"}},
]
AFTER = {"ansible.builtin.assert": {"that": "before == after"}, "vars": {"after": f"{{{{ {STEADY} }}}}"}}


@pytest.mark.core
def test_all_of_it_together(lab, run):
    of_all = {"preflight_custom_checks": CHECKS, "preflight_waivers": WAIVERS, "preflight_gather_subset": ["!all"],
              "preflight_skip": "alike,latency", "few": 2, "month": "March"}
    whole = {"hosts": "db1,n1", "gather_facts": True, "pre_tasks": OWN, "tasks": [ROLE, AFTER, INSTALL]}
    outcome = run(lab.inventory(), whole, lab, of_all, arguments="-v")
    assert outcome.rc == 0, outcome.output
    assert outcome.output.count('"msg": "INSTALLING"') == 2
    found = told(outcome, "many", "user", "no_network", "together", "kept_in_one", "smart", "raid", "disk")
    last = {name: lab.exec(name, "tail -n 1 /etc/os-release").stdout.strip() for name in ("db1", "n1")}
    assert "{{ 7*6 }}" in last["db1"]
    assert found == {
        ("db1", "many"): ("warn", "2 of 3, " + HOSTILE.replace("\x1b", "\\u001b")),
        ("n1", "many"): ("warn", "2 of 3, Debian GNU/Linux 12 (bookworm)"),
        ("n1", "user"): ("ok", "holds: facts.user_id == login.user && facts.distribution == 'Debian'"),
        ("db1", "no_network"): ("ok", f"holds: {CHECKS[2]['expect']}"), ("n1", "no_network"): ("ok", f"holds: {CHECKS[2]['expect']}"),
        (None, "together"): ("ok", f"holds: {CHECKS[3]['expect']}"), (None, "kept_in_one"): ("fail", 'only ["db1"]'),
        ("db1", "smart"): ("fail", last["db1"]), ("n1", "smart"): ("fail", last["n1"]),
        ("db1", "raid"): ("ok", "whole"), ("n1", "raid"): ("ok", "whole"),
        ("db1", "disk"): ("fail", "12 GB free on / (needs 30)"), ("n1", "disk"): ("ok", "60 GB free on / (needs 20)"),
    }
    waived = {(finding["machine"], finding["check"]): finding["waived"] for finding in outcome.report["findings"] if "waived" in finding}
    assert waived == {
        ("db1", "disk"): {"reason": "grows in March", "until": "2999-12-31"},
        (None, "kept_in_one"): {"reason": "one will do", "until": None},
        ("db1", "smart"): {"reason": "none here", "until": None}, ("n1", "smart"): {"reason": "none here", "until": None},
    }
    assert outcome.report["skipped"] == ["alike", "latency"]
    assert outcome.report["worst"] == "warn"
    assert (outcome.report["counts"]["fail"], outcome.report["waived"]) == (0, 4)
    assert [waiver["state"] for waiver in outcome.report["waivers"]] == [
        "used", "used", "used", "expired", "unmatched", "unneeded", "waiting"]
    assert [finding["detail"] for finding in outcome.report["findings"] if finding["check"] == "waivers"] == [
        "disk on x: no machine that is known is called so (grows in March)",
        "many on db1 ran out on 2020-01-01 and holds no longer (was so)",
        "dsik on * matches nothing: there is no such check, and no task left a finding of that name (a slip)"]
    # Facts are in the records only, and these on no screen.
    facts = outcome.records()["n1"]["facts"]
    assert facts["distribution"] == "Debian" and "interfaces" not in facts
    assert all(name not in outcome.output for name in facts if len(name) > 12)


SKIP = [*dict.fromkeys(check for looking in LOOKED_AT_BY.values() for check in looking), "role_ports", "mine"]


def test_what_is_skipped_is_not_tried_and_what_is_not_read_does_not_pass(lab, run):
    left = {
        "db1": "just a text", "n1": "{{ no_such_variable }}",  # for which Ansible itself drops it
        "dead": [{"check": "smart", "level": "warn", "detail": "seen from elsewhere", "fix": "Look."}, 5]}
    of_all = {
        "preflight_skip": SKIP, "preflight_gather_subset": ["!all", "!min", "hardware"],
        "preflight_limits": {"command_s": 2, "read_s": 20},
        "preflight_custom_checks": [
            {"check": "mine", "expect": "`false`", "fix": "x"},
            {"check": "swap", "expect": "facts.swaptotal_mb != `-1`", "fix": "x"},
            {"check": "online", "expect": "!contains(to_string(internet), 'nothing')", "fix": "x", "level": "warn"},
            {"check": "all_fast", "scope": "all", "expect": "!([?cpus < `2`])", "fix": "x"}],
        "preflight_waivers": [{"check": check, "machine": "db1", "reason": "x"} for check in ("sudo", "latency", "clocks", "mine")]}
    inventory = lab.inventory()
    for name, given in left.items():
        inventory["all"]["hosts"][name]["preflight_own_findings"] = given
    outcome = run(inventory, {}, lab, of_all)
    assert outcome.rc == 2
    assert "INSTALLING" not in outcome.output
    records = outcome.records()
    for name in ("db1", "hung"):
        unmeasured = records[name]["unmeasured"]
        assert isinstance(records[name]["internet"], list)  # for which the check online asks
        assert {section: unmeasured.get(section) for section in LOOKED_AT_BY if section != "internet"} == {
            section: "it was not asked for" for section in LOOKED_AT_BY if section != "internet"}
        assert "stand_ins" not in {**records[name], **unmeasured}
    assert set(outcome.report["skipped"]) == {*SKIP, "latency"}
    assert [waiver["state"] for waiver in outcome.report["waivers"]] == ["waiting"] * 4
    broken = "this check is broken here: "
    found = told(outcome, "swap", "online", "all_fast", "smart", "own_findings")
    reason = found.pop(("n1", "own_findings"))
    assert reason[0] == "fail" and reason[1].startswith("preflight_own_findings can not be worked out: ")
    assert "no_such_variable" in reason[1]
    holds = "holds: facts.swaptotal_mb != `-1`"
    assert found == {
        ("db1", "swap"): ("ok", holds),
        ("hung", "swap"): ("fail", f"{broken}facts.swaptotal_mb != `-1` asks for facts, but that was not read: no answer within 20 s"),
        **{(name, "online"): ("ok", "holds: !contains(to_string(internet), 'nothing')") for name in ("db1", "hung")},
        (None, "all_fast"): ("fail", f"{broken}!([?cpus < `2`]) asks for cpus of n1, but that machine could not be read"),
        ("dead", "smart"): ("warn", "seen from elsewhere"),
        ("dead", "own_findings"): ("fail", "preflight_own_findings[1] is a number (5), not a mapping"),
        ("db1", "own_findings"): ("fail", "preflight_own_findings is a text ('just a text'), not a list"),
    }
    assert {machine: level for (machine, check), (level, detail) in told(outcome, "login").items()} == {
        "db1": "ok", "n1": "fail", "dead": "fail", "hung": "ok"}


def test_the_document_with_its_variables_and_its_tasks(lab, run):
    checks, record, (keywords,), waivers = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```$", DOCUMENT.read_text(), re.M | re.S))
    outcome = run(lab.inventory(), {**keywords, "hosts": "db1,n1,dead"}, lab, {**checks, **waivers})
    assert outcome.rc == 2
    found = told(outcome, *(check["check"] for check in checks["preflight_custom_checks"]))
    assert set(found) == {("n1", "no_swap"), ("db1", "data_on_a_known_filesystem"), ("db1", "exporter_port"), ("n1", "exporter_port"),
                          ("db1", "deploy_user"), ("n1", "deploy_user"), (None, "same_memory")}
    assert [detail for level, detail in found.values() if "broken" in detail] == []
    assert found["n1", "deploy_user"][0] == found[None, "same_memory"][0] == found["db1", "exporter_port"][0] == "ok"
    assert {at: finding["level"] for at, finding in outcome.findings("licence").items()} == {("n1", "licence"): "fail"}
    assert {at for at, finding in outcome.findings().items() if "waived" in finding} == {("db1", "disk"), ("n1", "licence")}
    assert [waiver["state"] for waiver in outcome.report["waivers"]] == ["used", "unneeded", "used"]
    assert told(outcome, "login")["dead", "login"][0] == "fail"


def test_batches_and_the_findings_of_the_plays_variables(lab, run):
    of_all = {
        "preflight_custom_checks": [
            {"check": "same", "scope": "all", "expect": "max([].cpus) == min([].cpus)", "fix": "x"},
            {"check": "two", "scope": "all", "expect": "length(@) == `2`", "fix": "x"}],
        "preflight_waivers": [{"check": "disk", "machine": "db1", "reason": "x"}, {"check": "cpus", "machine": "n1", "reason": "x"},
                              {"check": "same", "reason": "x"}]}
    smart = {"ansible.builtin.set_fact": {"smart": "{{ inventory_hostname }}"}}
    keywords = {"hosts": "db1,n1", "serial": 1, "tasks": [smart, ROLE, INSTALL], "vars": {
        "preflight_own_findings": [{"check": "smart", "level": "warn", "detail": "of {{ hostvars[smart].smart }}", "fix": "x"}]}}
    outcome = run(lab.inventory(), keywords, lab, of_all)
    assert outcome.rc == 0, outcome.output
    assert outcome.output.count('"msg": "INSTALLING"') == 2
    first = "can not be told yet: max([].cpus) == min([].cpus) asks for cpus of n1, but that machine was not examined"
    assert " ".join(outcome.output.split()).count(first) == 1
    assert "matches nothing" not in outcome.output
    assert told(outcome, "same", "two", "smart") == {
        (None, "same"): ("ok", "holds: max([].cpus) == min([].cpus)"), (None, "two"): ("ok", "holds: length(@) == `2`"),
        ("db1", "smart"): ("warn", "of db1"), ("n1", "smart"): ("warn", "of n1")}
    assert [waiver["state"] for waiver in outcome.report["waivers"]] == ["used", "unneeded", "unneeded"]


@pytest.mark.core
def test_one_error_tells_all_that_can_not_be_used_before_anything_is_read(run):
    of_all = {
        "preflight_custom_checks": [{"check": "cpus", "expect": "cpus >=", "fix": "{"}, {"check": "mine", "expect": "nope(a)", "fix": "x"}],
        "preflight_waivers": [{"check": "login", "reason": "x", "until": "soon"}],
        "preflight_only": ["mine", "dsik"], "preflight_skip": "own_findings,login", "preflight_gather_subset": ["netwrok"]}
    outcome = run({"all": {"hosts": {"here": LOCAL}}}, {}, None, of_all)
    assert outcome.rc == 2
    assert outcome.records() == {}
    lines = message_of(outcome).splitlines()
    beginnings = [
        "Nothing was read, because:",
        "preflight_gather_subset is 'netwrok': the known subsets are all, ",
        "preflight_waivers[0].check is 'login': this one can not be waived.",
        "preflight_waivers[0].until is 'soon': it must be a day such as 2027-01-31, the last on which the waiver holds.",
        "preflight_custom_checks[0].check is 'cpus': another check has this id.",
        "preflight_custom_checks[0].expect is 'cpus >=': it ends before it is complete.",
        "preflight_custom_checks[0].fix is '{': the brace at character 1 is not closed; a brace itself is {'{'}.",
        "preflight_custom_checks[1].expect is 'nope(a)': there is no function nope(); there are abs, ",
        "preflight_only is 'dsik': the known checks are login, system, ",
        "preflight_skip is 'login': this one can not be skipped.",
    ]
    assert [line[:len(beginning)] for line, beginning in zip(lines, beginnings, strict=True)] == beginnings


def test_there_is_one_judgement_for_all_machines(run):
    differs = {
        "preflight_custom_checks": [{"check": "mine", "expect": "cpus > `{{ least }}`", "fix": "x"}],
        "preflight_waivers": [{"check": "disk", "reason": "{{ why | default('x') }}", "until": FOREVER}],
        "preflight_only": "{{ ['disk', which] }}", "preflight_skip": ["{{ which }}"], "preflight_gather_subset": "{{ facts }}"}
    one, two = {**LOCAL, "least": 1, "which": "disk", "facts": ["min"]}, {**LOCAL, "least": 2, "which": "cpus", "facts": [], "why": "y"}
    names = ("custom_checks", "gather_subset", "only", "skip", "waivers")
    outcome = run({"all": {"hosts": {"one": one, "two": two}}}, {"vars": differs}, None)
    assert message_of(outcome).splitlines()[1:] == [
        f"preflight_{name} is not the same for all machines, as it must be: there is one judgement for the play. "
        "Set it for the play, or for the group all. (two)" for name in names]
    assert outcome.records() == {}


def test_facts_that_there_are_not_cost_a_probe_by_itself_the_facts_only(run):
    probe = {"llmgw.preflight.probe": {"skip": ["clock", "internet"], "gather_subset": ["netwrok"]}, "register": "read"}
    checks = [{"check": "mine", "expect": "facts.interfaces != 'x'", "fix": "x"}]
    judged = f"{{{{ [read.record] | llmgw.preflight.evaluate(only=['mine'], custom_checks={checks!r}) }}}}"
    outcome = run({"all": {"hosts": {"here": LOCAL}}}, {"tasks": [probe, {"ansible.builtin.debug": {"msg": judged}}]})
    assert outcome.rc == 0, outcome.output
    record = outcome.records()["here"]
    assert record["cpus"] and not {"clock", "internet", "facts"} & set(record)
    assert record["unmeasured"]["facts"].startswith("Bad subset 'netwrok' given to Ansible.")
    assert "asks for facts, but that was not read: Bad subset" in outcome.output


def test_programs_of_the_machines_own_are_not_run_for_facts(lab, run):
    def probe(**arguments):
        return {"llmgw.preflight.probe": {"skip": ["internet", "mirrors", "apt_sources"], **arguments}, "register": "read"}

    lab.exec("db1", "rm -f /tmp/ran")
    for tasks, runs in (([probe(gather_subset=["local", "user"])], 0), ([{"ansible.builtin.setup": {"gather_subset": ["local"]}}], 1)):
        outcome = run(lab.inventory(), {"hosts": "db1", "tasks": tasks}, lab)
        assert outcome.rc == 0, outcome.output
        assert lab.exec("db1", "ls /tmp/ran | wc -l").stdout.strip() == str(runs)
        assert runs or outcome.records()["db1"]["facts"]["user_id"] == "ops"


def test_jmespath_that_is_missing_is_told(run, tmp_path):
    (tmp_path / "hidden" / "jmespath").mkdir(parents=True)
    (tmp_path / "hidden" / "jmespath" / "__init__.py").write_text("raise ImportError('hidden')\n")
    settings = {"PYTHONPATH": str(tmp_path / "hidden")}
    checks = [{"check": name, "expect": "cpus > `1`", "fix": "{cpus}"} for name in ("one", "other")]
    outcome = run({"all": {"hosts": {"here": LOCAL}}}, {}, None, {"preflight_custom_checks": checks}, settings=settings)
    assert outcome.rc == 2
    (line,) = message_of(outcome).splitlines()[1:]
    assert line.startswith("preflight_custom_checks: the Python package jmespath is needed on the controller for them (/")
    assert outcome.records() == {}


@pytest.mark.core
def test_what_came_out_of_a_vault_is_in_no_report_and_no_record(run, tmp_path):
    secret, password = "correct horse battery", tmp_path / "password"
    password.write_text("of the vault")
    encrypted = VaultLib([]).encrypt(f"{secret}\n", VaultSecret(password.read_bytes())).decode()
    (tmp_path / "vault.yml").write_text("hidden: !vault |\n" + textwrap.indent(encrypted, "  "))
    shown = "{{ hidden | trim }}"
    of_all = {
        "preflight_only": ["told", "held", "formed", "own_findings"], "preflight_report_formats": ["json", "html", "xml", "md"],
        "preflight_custom_checks": [
            {"check": "told", "expect": f"login.user == '{shown}'", "detail": "{login.user}, not {{ hidden }}", "fix": f"Be {shown}."},
            {"check": "held", "expect": f"login.user != '{shown}'", "fix": "x"},
            {"check": "formed", "expect": "login.user != '{{ hidden | trim | b64encode }}'", "fix": "{{ hidden | upper }}"},
            {"check": "open", "expect": "login.ok", "fix": "x"}],
        "preflight_own_findings": [{"check": "mine", "level": "warn", "detail": f"is {shown}", "fix": f"Not {shown}"}, f"{shown}"],
        "preflight_waivers": [{"check": "told", "reason": f"since {shown}"}, {"check": "nope", "reason": shown}]}
    whole, arguments = {"vars_files": ["vault.yml"], "tasks": [ROLE]}, f"-v --vault-password-file {password}"
    inventory = {"all": {"hosts": {"here": LOCAL}}}
    outcome = run(inventory, whole, None, of_all, arguments=arguments)
    assert outcome.rc == 2
    found = [finding for finding in outcome.report["findings"] if finding["check"] != "login"]
    assert [(finding["check"], finding["detail"], finding["fix"]) for finding in found] == [
        ("told", "root, not ***", "Be ***."), ("held", "holds: login.user != '***'", ""),
        ("formed", "holds: login.user != '***'", ""), ("mine", "is ***", "Not ***"),
        ("own_findings", "preflight_own_findings[1] is a text ('***'), not a mapping", OWN_FIX),
        ("waivers", "nope on * matches nothing: there is no such check, and no task left a finding of that name (***)", FIX_UNMATCHED)]
    assert [waiver["reason"] for waiver in outcome.report["waivers"]] == ["since ***", "***"]
    assert list(outcome.report["asked"]["custom_checks"]) == ["open"]  # by a digest of the others the secret could be guessed
    encoded = base64.b64encode(secret.encode()).decode()
    assert secret not in outcome.output and encoded not in outcome.output
    files = [file.read_text() for file in (outcome.folder / "reports").iterdir()]
    assert len(files) == 4 and not [text for text in files if secret in text or encoded in text]

    of_all["preflight_records_dir"] = str(tmp_path / "records")
    outcome = run(inventory, whole, None, of_all, arguments=arguments)
    assert message_of(outcome).splitlines()[1:] == [
        f"preflight_custom_checks{place} holds a text of a vault, and would be saved in preflight_records_dir as it is. Leave it out of "
        "the check, or the check out of runs that save what they read."
        for place in ("[0].expect", "[0].detail", "[0].fix", "[1].expect", "[2].expect", "[2].fix")]
    of_all.update(preflight_custom_checks=[], preflight_only=["own_findings"])
    run(inventory, whole, None, of_all, arguments=arguments)
    (file,) = (tmp_path / "records").iterdir()
    assert "since ***" in file.read_text() and secret not in file.read_text()
    # Where docs/own-checks.md says that records are.
    assert file.match("preflight-records-*.json")
    assert [record["machine"] for record in json.loads(file.read_text())["records"]] == ["here"]
