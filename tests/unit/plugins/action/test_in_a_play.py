"""The role's actions in one play on this machine itself, under three names, and what they say to nonsense; more is in tests/integration."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ansible import __version__ as ansible_version
from ansible.plugins.loader import connection_loader
from ansible_collections.llmgw.preflight.plugins.action import judge, plan
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import IDS
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import SECTIONS

COLLECTIONS = Path(judge.__file__).parents[5]
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
HOSTS = {"all": {"vars": LOCAL, "children": {
    "database": {"hosts": {"db1": {"preflight_address": "127.0.0.1"}, "db2": {"preflight_serves": [{"name": "m", "memory_mb": 1}]}}},
    "node": {"hosts": {"n1": {"preflight_port": 2222, "preflight_internet_urls": [], "preflight_custom_check": []}}}}}}
FAST = {"command_s": 5, "internet_s": 2, "reach_s": 1, "clock_s": 1}
FINDING = {"check": "raid", "level": "warn", "detail": "a disk is out", "fix": "Replace it."}
# What is asked wrongly: name -> an action with what it is given.
WRONG = {
    "plan": {"plan": {"limits": {"clock_s": "soon"}, "only": ["disks"], "fit": "perhaps", "report_formats": ["pdf"]}},
    "profile": {"plan": {"profile": "none", "fail_on": "error", "skip": ["disks"], "architectures": "x86_64"}},
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
           "ignore_errors": True, **({"vars": {"preflight_port": "x"}} if name == "profile" else {})} for name, what in WRONG.items()),
        {"name": "Nothing", "llmgw.preflight.plan": {}, "register": "of_nothing"},
        {"name": "Parts", "llmgw.preflight.parts": {"paths": ["{{ preflight_records_dir }}"]}, "register": "of_whole"},
        {"name": "Alone", "llmgw.preflight.probe": {"skip": [name for name in SECTIONS if name not in ("login", "cpus", "clock")]},
         "register": "of_alone"},
        {"name": "Filter", "ansible.builtin.set_fact": {"of_filter": "{{ [of_alone.record] | llmgw.preflight.evaluate(only=['cpus']) }}"}},
        {"name": "Keep", "ansible.builtin.copy": {"dest": "{{ out }}/out.json", "mode": "0600", "content": "{{ {" + ", ".join(
            f"'{name}': of_{name}" for name in (*WRONG, "nothing", "whole", "alone", "filter")) + "} | to_json }}"}},
    ]},
]


def played(folder, hosts, plays, *options, **given):
    """What ansible-playbook said; what it left is in the folder."""
    given = {"preflight_report_dir": str(folder / "reports"), "preflight_records_dir": str(folder / "records"), "out": str(folder), **given}
    for name, content in (("hosts.json", hosts), ("play.json", plays), ("vars.json", given)):
        (folder / name).write_text(json.dumps(content))
    routing = folder / "ansible_collections" / "community" / "docker" / "meta" / "runtime.yml"  # where Ansible looks for the short name
    routing.parent.mkdir(parents=True)
    routing.write_text("plugin_routing: {connection: {docker: {redirect: ansible.builtin.local}, "
                       "gone: {tombstone: {removal_version: 1.0.0, warning_text: it is gone}}}}")
    broken = folder / "connection_plugins" / "broken.py"
    broken.parent.mkdir()
    broken.write_text("import of_nobody\n")
    settings = {"ANSIBLE_COLLECTIONS_PATH": f"{COLLECTIONS}:{folder}", "ANSIBLE_HOME": str(folder / "home"), "ANSIBLE_NOCOLOR": "1",
                "ANSIBLE_DEPRECATION_WARNINGS": "0", "LC_ALL": "C.UTF-8", "ANSIBLE_FORCE_COLOR": "0"}
    ran = subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", "-i", "hosts.json", "-e", "@vars.json", *options, "play.json"], cwd=folder,
        env={**os.environ, **settings}, check=False, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """(what the play said, its report, the results of the second play)."""
    folder = tmp_path_factory.mktemp("play")
    said = played(folder, HOSTS, PLAYS, preflight_fix_script=str(folder / "scripts"))
    return said, json.loads((folder / "reports" / "preflight.json").read_text()), json.loads((folder / "out.json").read_text())


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
    assert "preflight_custom_check is no variable of the preflight, so nothing is done with it. Is preflight_custom_checks meant?" in (
        " ".join(said.split()))


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


def test_no_variable_of_the_role_and_its_playbooks_is_called_unknown():
    said = "".join(path.read_text() for folder in ("roles/preflight/meta", "roles/preflight/tasks", "roles/preflight/defaults", "playbooks")
                   for path in (COLLECTIONS / "ansible_collections/llmgw/preflight" / folder).glob("*.yml"))
    assert set(re.findall(r"\bpreflight_[a-z_]*[a-z]\b", said)) <= plan.KNOWN


def test_a_plan_of_nothing_is_one_of_defaults(done):
    found = done[2]["nothing"]
    assert (found["profile"]["name"], found["fail_on"], found["report_formats"]) == ("llmgw", "fail", ["json"])
    assert (found["waivers"], found["left_out"], found["gather_subset"], found["report_dir"]) == ([], [], [], None)


@pytest.mark.parametrize(("name", "words"), [
    ("plan", ["preflight_limits.clock_s is 'soon'", "preflight_only is 'disks'", "preflight_fit is 'perhaps'",
              "preflight_report_formats is 'pdf'"]),
    ("profile", ["preflight_profile is 'none'", "preflight_fail_on is 'error'", "preflight_architectures is 'x86_64'",
                 "preflight_skip is 'disks'", "preflight_port is 'x'"]),
    ("probe", ["There is no plan to go by"]),
    ("limits", ["limits.clock_s is 0"]),
    ("edges", ["There is no plan to go by"]),
    ("judge", ["There is no plan to go by"]),
    ("report", ["This is not a report: it has no machines, findings."]),
    ("parts", ["preflight_records is '/no/such/file': there is no such file"]),
])
def test_nonsense_is_told(done, name, words):
    result = done[2][name]
    if name == "profile":  # and what is misspelt is told with it
        assert [told for told in result["warnings"] if "Is preflight_custom_checks meant?" in told]
    assert result["failed"] and [word for word in words if word not in result["msg"]] == []


# What is unlike itself from machine to machine, and plays of other forms.
NOTHING = "{{ nothing_of_this_name }}"
OMITTED = "{{ nothing_of_this_name | default(omit) }}"
OMITTING = {"preflight_address": OMITTED, "preflight_port": OMITTED, "preflight_internet_urls": [OMITTED], "preflight_serves": OMITTED}
GOOD = {**OMITTING,
        "ansible_connection": "docker", "ansible_port": " 22 ", "preflight_port": None,
        "ansible_become": "no", "ansible_become_method": "llmgw.none.such", "ansible_timeout": "{{ 5 + 5 }}", "ansible_pipelining": "yes",
        "ansible_shell_type": "", "ansible_of_my_own": NOTHING}
SSH = {"ansible_connection": "ssh", "ansible_ssh_retries": "few", "ansible_ssh_use_tty": "no", "ansible_ssh_transfer_method": "pigeon"}
ODD_HOSTS = {"all": {
    "vars": {**LOCAL, "preflight_skip": "{{ own_skip | default([]) }}", "preflight_records_dir": OMITTED,
             "preflight_packages": "{{ own_packages }}", "own_packages": {}},
    "children": {
        "batch": {"vars": {"preflight_roles": ["etcd_witness"]},
                  "hosts": {"s1": OMITTING,
                            "s2": {"preflight_own_findings": "{{ nothing_of_this_name if later | default(false) else [] }}"},
                            "beyond": {"ansible_connection": "llmgw.none.such", "ansible_timeout": NOTHING}}},
        "wrong": {"hosts": {"good": GOOD, "w1": {"ansible_connection": "llmgw.none.such"},
                            "w2": {"preflight_address": NOTHING}, "w3": {"preflight_only": ["login"]}, "w4": {"own_skip": ["temp"]},
                            "w5": {"own_packages": NOTHING}, "w6": {"ansible_become": True, "ansible_become_method": "llmgw.none.such"},
                            "w7": {"ansible_shell_type": "none"}, "w8": {"ansible_timeout": "soon"}, "w9": SSH,
                            "w11": {"ansible_connection": "broken"}, "w12": {"ansible_timeout": 7.5},
                            "w13": {"ansible_connection": "community.docker.gone"},
                            "w14": {"ansible_become": OMITTED, "ansible_connection": OMITTED, "ansible_become_method": OMITTED},
                            "w15": {"ansible_connection": "ssh", "ansible_ssh_retries": OMITTED, "ansible_host": OMITTED},
                            "alias": {"ansible_connection": "paramiko"},
                            "w10": {"ansible_password": {"__ansible_vault": "$ANSIBLE_VAULT;1.1;AES256\n6261640a6261640a626164"}}}}}}}


def keep(name, what):
    given = {"dest": f"{{{{ out }}}}/{name}.json", "mode": "0600", "content": f"{{{{ {what} | to_json }}}}"}
    return {"name": "Keep", "ansible.builtin.copy": given}


def judged(name, **changed):
    return {"name": name, "llmgw.preflight.judge": {"plan": f"{{{{ preflight_plan | combine({changed}) }}}}"}, "register": f"of_{name}",
            "ignore_errors": True, "run_once": True}


ODD_PLAYS = [
    {"name": "Batches", "hosts": "batch", "gather_facts": False, "serial": 1, "vars": {
        "preflight_limits": {**FAST, "clock_s": 1}, "preflight_only": ["login", "role_ports", "own_findings"], "preflight_fail_on": "never",
    }, "roles": ["llmgw.preflight.preflight"], "post_tasks": [keep("of_{{ inventory_hostname }}", "preflight_report")]},
    {"name": "Judged again", "hosts": "batch", "gather_facts": False, "vars": {"later": True}, "tasks": [
        judged("again", records_dir=""), judged("no_room", records_dir="/proc/none"), judged("no_profile", profile={"name": "x"}),
        {**keep("judged", "{'again': of_again, 'no_room': of_no_room, 'no_profile': of_no_profile}"), "run_once": True}]},
    {"name": "Unlike", "hosts": "wrong", "gather_facts": False, "tasks": [
        {"name": "Plan", "llmgw.preflight.plan": {}, "register": "found", "ignore_errors": True, "run_once": True},
        {**keep("unlike", "found"), "run_once": True}]},
    {"name": "Each by itself", "hosts": "good", "gather_facts": False, "strategy": "free", "tasks": [
        {"name": "Plan", "llmgw.preflight.plan": {}, "register": "found", "ignore_errors": True},
        keep("free", "found")]},
]


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """odd(name): what was kept by that name."""
    folder = tmp_path_factory.mktemp("odd")
    played(folder, ODD_HOSTS, ODD_PLAYS, "--limit", "all,!beyond")
    return lambda name: json.loads((folder / f"{name}.json").read_text())


def unread(report):
    return {entry["machine"]: entry["why"] for entry in report["not_examined"]}


def test_a_batch_knows_of_those_before_it_and_of_those_that_are_left_out(odd):
    first, second = odd("of_s1"), odd("of_s2")
    assert (unread(first), unread(second)) == ({"s2": "batch", "beyond": "limit"}, {"beyond": "limit"})
    assert [machine["machine"] for machine in first["machines"]] == ["s1"]
    assert [machine["machine"] for machine in second["machines"]] == ["s1", "s2"]
    assert {finding["level"] for finding in second["findings"] if finding["check"] == "login"} == {"ok"}


def test_own_findings_that_can_not_be_worked_out_are_no_pass(odd):
    own, = [finding for finding in odd("judged")["again"]["findings"] if finding["check"] == "own_findings"]
    assert (own["machine"], own["level"]) == ("s2", "fail") and "nothing_of_this_name" in own["detail"]


def test_what_another_run_has_read_is_not_judged_in_this_one(odd):
    again = odd("judged")["again"]
    reasons = {finding["machine"]: finding["detail"] for finding in again["findings"] if finding["check"] == "login"}
    assert judge.NOT_READ in reasons["s2"] and judge.NOT_READ not in reasons["s1"]


def test_what_the_judge_can_not_do_is_told(odd):
    no_profile, no_room = (odd("judged")[name] for name in ("no_profile", "no_room"))
    assert no_profile["failed"] and "needs is not there" in no_profile["msg"]
    assert not no_room["failed"] and no_room["findings"]  # the report is shown first
    assert no_room["saved"]["path"].startswith("/proc/none/preflight-records-")
    assert no_room["saved"]["problem"] == "No such file or directory"


@pytest.mark.parametrize(("words", "machines"), [
    ("ansible_connection is 'llmgw.none.such': there is no such connection plugin.", "w1"),
    ("ansible_connection is 'community.docker.gone': there is no such connection plugin.", "w13"),
    ("preflight_address can not be worked out: ", "w2"), ("preflight_only is not the same for all machines", "w3"),
    ("preflight_skip is not the same for all machines", "w4"), ("preflight_packages is not the same for all machines", "w5"),
    ("ansible_become_method is 'llmgw.none.such': there is no such become plugin.", "w6"),
    ("ansible_password can not be worked out: ", "w10"), ("ansible_shell_type is 'none': there is no such shell plugin.", "w7"),
    ("ansible_timeout is 'soon': it must be a number of seconds.", "w8"),
    ("ansible_connection is 'broken': this connection plugin can not be loaded: No module named 'of_nobody'.", "w11"),
    ("ansible_ssh_retries is not as the connection plugin ssh takes it: it must be of type integer.", "w9"),
    ("ansible_ssh_transfer_method is not as the connection plugin ssh takes it: it must be one of sftp, scp, piped, smart.", "w9")])
def test_what_is_wrong_with_one_machine_is_told_of_that_one(odd, words, machines):
    told = [line for line in odd("unlike")["msg"].splitlines() if line.startswith(words)]
    assert len(told) == 1 and told[0].endswith(f" ({machines})")
    assert "good" not in odd("unlike")["msg"]
    assert ("(alias)" in odd("unlike")["msg"]) != ("paramiko" in connection_loader.aliases)  # which has_plugin does not know


def test_a_number_of_seconds_is_what_this_ansible_takes_for_one(odd):
    half = "ansible_timeout is 7.5: it must be a number of seconds. (w12)" in odd("unlike")["msg"].splitlines()
    assert half == (not ansible_version.startswith("2.16."))  # which cuts the half off


@pytest.mark.parametrize("name", ["become", "become_method", "connection"])
def test_what_is_left_out_by_omit_where_it_breaks_a_task_is_told(odd, name):
    assert (f"ansible_{name} gives nothing, as with default(omit), which Ansible does not take here: give it another default, or take "
            "it away. (w14)") in odd("unlike")["msg"].splitlines()


def test_and_before_2_19_it_breaks_a_task_for_each(odd):
    told = [line.partition(" ")[0] for line in odd("unlike")["msg"].splitlines() if line.endswith("(w15)")]
    assert sorted(told) == (["ansible_host", "ansible_ssh_retries"] if ansible_version.startswith("2.16.") else [])


def test_what_is_left_out_by_omit_is_not_set(odd):
    first, = odd("of_s1")["machines"]
    assert (first["machine"], first["address"]) == ("s1", "s1")
    assert "omit" not in json.dumps(odd("of_s1")) and "omit_place" not in odd("unlike")["msg"]


def test_a_play_in_which_the_machines_can_not_be_judged_together(odd):
    assert "the strategy of this play is free" in odd("free")["msg"]


def test_whoever_reads_it_may_leave(tmp_path):
    """As head does when it has its lines: to show the report then ended the thread that takes results, and the play waited for ever."""
    for name, content in (("hosts.json", {"node": {"hosts": {"n1": LOCAL}}}), ("play.json", [{**PLAYS[0], "hosts": "n1"}])):
        (tmp_path / name).write_text(json.dumps(content))
    settings = {"ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS), "ANSIBLE_HOME": str(tmp_path / "home"), "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-m", "ansible", "playbook", "-i", "hosts.json", "-e", f"preflight_report_dir={tmp_path}", "play.json"]
    with subprocess.Popen(command, cwd=tmp_path, env={**os.environ, **settings}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as play:
        play.stdout.readline()
        play.stdout.close()
        try:
            play.wait(120)
        finally:
            play.kill()
    assert (tmp_path / "preflight.json").exists()
