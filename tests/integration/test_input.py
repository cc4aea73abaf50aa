"""What can't be used is told once, with its name, its value and what is allowed, before anything is read."""

from __future__ import annotations

import json
import textwrap

import pytest
from ansible.parsing.vault import VaultLib, VaultSecret

LIMITS = ("clock_warn_s, clock_fail_s, latency_warn_s, latency_fail_s, sync_warn_s, sync_fail_s, clock_s, command_s, internet_s, reach_s, "
          "stand_in_s, read_s, machine_s, stale_s, all_pairs")
ROLES = "control_plane, database, etcd_witness, node"
CASES = {
    "type": ({"preflight_needs": 5}, "preflight_needs is 5: it must be a mapping of role ids to what each needs."),
    "negative": ({"preflight_needs": {"node": {"disk_gb": -20}}},
                 "preflight_needs.node.disk_gb is -20: it must be a whole number, 0 or more, or a mapping of paths to such numbers."),
    "need": ({"preflight_needs": {"node": {"disk": 20}}},
             "preflight_needs.node key is 'disk': the known ones are cpus, cpu_level, "
             "memory_mb, gpus, gpu_memory_mb, disk_gb, ports, reaches, packages, writes."),
    "limit": ({"preflight_limits": {"clock": 2}}, f"preflight_limits key is 'clock': the known ones are {LIMITS}."),
    "role": ({"preflight_roles": ["databse"]}, f"preflight_roles is 'databse': the known role ids are {ROLES}. (localhost)"),
    "version": ({"preflight_systems": {"ubuntu": [22.04]}},
                'preflight_systems.ubuntu is [22.04]: it must be a list of versions in quotes, such as ["24.04"].'),
    "architecture": ({"preflight_architectures": "x86_64"}, "preflight_architectures is 'x86_64': it must be a list of texts."),
    "url": ({"preflight_internet_urls": ["deb.debian.org"]},
            "preflight_internet_urls is 'deb.debian.org': each must be the address of a web server without a password, "
            "such as http://deb.debian.org/. (localhost)"),
    "fail_on": ({"preflight_fail_on": "error"}, "preflight_fail_on is 'error': it must be one of fail, warn, never."),
    "format": ({"preflight_report_formats": ["pdf"]}, "preflight_report_formats is 'pdf': it must be one of json, "),
    "mode": ({"preflight_report_mode": 416}, "preflight_report_mode is 416: it must be one of 0600, 0640, 0644."),
    "folder": ({"preflight_report_dir": 5}, "preflight_report_dir is 5: it must be the path of a folder on the controller."),
    "folder of scripts": ({"preflight_fix_script": ["x"]},
                          "preflight_fix_script is ['x']: it must be the path of a folder on the controller."),
    "address": ({"preflight_address": "10.0.0.1:22"},
                "preflight_address is '10.0.0.1:22': it must be a host name or an IP address, without a port. (localhost)"),
    "models": ({"preflight_serves": [{"name": "m"}]},
               "preflight_serves[0] is {'name': 'm'}: each model needs a name and memory_mb, may have cpu_level, gpu_memory_mb, disk_gb, "
               "all whole numbers, and has nothing else. (localhost)"),
    "what is not": ({"preflight_profile": "", "preflight_fail_on": False, "preflight_port": 0},
                    "preflight_fail_on is False: it must be one of fail, warn, never.\n"
                    "preflight_port is 0: it must be a port number from 1 to 65535. (localhost)"),
    "template": ({"preflight_address": "{{ no_such_variable }}"}, "preflight_address can not be worked out: "),
    "several": ({"preflight_fail_on": "x", "preflight_limits": {"read_s": -1}},
                "preflight_limits.read_s is -1: it must be a number, more than 0 and at most 86400 (a day, in seconds).\n"
                "preflight_fail_on is 'x': it must be one of fail, warn, never."),
}


def message_of(outcome):
    (failed,) = [event["event_data"]["res"]["msg"] for event in outcome.events if event["event"] == "runner_on_failed"]
    return failed


@pytest.mark.parametrize("case", CASES)
def test_one_clear_error_and_nothing_is_read(play, case):
    variables, message = CASES[case]
    outcome = play(variables=variables)
    assert outcome.rc == 2
    assert f"Nothing was read, because:\n{message}" in message_of(outcome)
    assert outcome.report is None
    assert outcome.records() == {}


@pytest.mark.core
def test_what_came_out_of_a_vault_is_not_shown(play, tmp_path):
    secret, password = "correct horse", tmp_path / "password"
    password.write_text("of the vault")
    encrypted = VaultLib([]).encrypt(secret, VaultSecret(password.read_bytes())).decode()
    (tmp_path / "vault.yml").write_text("hidden: !vault |\n" + textwrap.indent(encrypted, "  "))
    (tmp_path / "play.yml").write_text(json.dumps([{
        "hosts": "all", "gather_facts": False, "vars_files": ["vault.yml"],
        "vars": {"preflight_fail_on": "{{ hidden }}", "preflight_needs": {"node": {"cpus": "{{ hidden }}"}},
                 "preflight_address": "a:{{ hidden }}"},
        "tasks": [{"ansible.builtin.import_role": {"name": "llmgw.preflight.preflight", "rolespec_validate": False}}]}]))
    outcome = play(playbook=tmp_path / "play.yml", arguments=f"--vault-password-file {password}")
    assert "preflight_fail_on is '***': it must be one of" in message_of(outcome)
    assert "preflight_address is 'a:***': it must be a host name" in message_of(outcome)
    assert secret not in outcome.output


@pytest.mark.core
@pytest.mark.parametrize(("text", "variables", "pattern"), [
    ("all: {hosts: {a: {}, ", {}, "all"),
    ("all: {hosts: {}}", {}, "all"),
    ("all: {hosts: {a: {ansible_connection: local}}}", {"preflight_hosts": "b:c"}, "b:c"),
])
def test_no_machine_to_check_is_no_success(play, tmp_path, text, variables, pattern):
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(text)
    outcome = play(inventory, variables=variables)
    assert outcome.rc == 2
    assert message_of(outcome) == (
        f"There is no machine to check: nothing in the inventory ({inventory}) matches {pattern}. "
        "If the inventory could not be read, Ansible says why above.")
    assert outcome.report is None


@pytest.mark.core
def test_an_inventory_that_is_read_in_part_is_told_before_it_loses_a_machine(play, tmp_path):
    folder = tmp_path / "inventory"
    (folder / "group_vars").mkdir(parents=True)
    (folder / "group_vars" / "all.yml").write_text("x: 1\n")
    here = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    (folder / "good.json").write_text(json.dumps({"all": {"hosts": {"a": here}}}))
    (folder / "README.md").write_text("Ours.\n")  # which Ansible does not take for one
    assert play(folder, variables={"preflight_only": ["cpus"]}).rc == 0
    (folder / "range.yml").write_text('all: {hosts: {b: {ansible_connection: local}, "web[1-3]": {}}}\n')
    outcome = play(folder, arguments=f"-i {tmp_path / 'none'} -i a,c")
    assert (outcome.rc, outcome.report) == (2, None)
    assert message_of(outcome).splitlines()[0] == "Nothing was read, because:"
    assert set(message_of(outcome).splitlines()[1:]) == {
        f"the inventory {source} could not be read, or not to its end, so machines may be missing; Ansible says above what is wrong with "
        "it. Correct it, or leave it out." for source in (folder / "range.yml", tmp_path / "none")}


@pytest.mark.parametrize("wanted", [["a", "b"], ["a:b", "!c"]])
def test_machines_may_be_named_by_a_list(play, wanted):
    inventory = {"all": {"hosts": dict.fromkeys("abc", {"ansible_connection": "local"})}}
    outcome = play(inventory, variables={"preflight_hosts": wanted, "preflight_only": ["cpus"]})
    assert [machine["machine"] for machine in outcome.report["machines"]] == ["a", "b"]
    outcome = play(inventory, variables={"preflight_hosts": ["x", "y"]})
    assert "matches x,y." in message_of(outcome) and outcome.report is None


def test_hosts_and_a_limit_that_have_nothing_in_common_are_no_success(play):
    inventory = {"all": {"hosts": dict.fromkeys(("a", "b"), {"ansible_connection": "local"})}}
    outcome = play(inventory, variables={"preflight_hosts": "a"}, arguments="--limit b")
    assert outcome.rc == 2
    assert "matches a within --limit b." in message_of(outcome)
    assert outcome.report is None


def test_a_controller_that_stands_for_several_machines_is_no_success(play):
    here = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}
    inventory = {"all": {"hosts": {"a": here, "b": here}}}
    outcome = play(inventory, variables={"preflight_internet_urls": []})
    assert outcome.rc == 2
    assert outcome.findings()["b", "identity"]["level"] == "fail"
    assert outcome.findings()["b", "identity"]["detail"] == "a and b are one machine, under two names"


def test_tags_do_not_switch_the_gate_off(play):
    outcome = play(arguments="--tags install", variables={"preflight_internet_urls": []})
    assert outcome.report["machines"][0]["machine"] == "localhost"


@pytest.mark.parametrize(("of", "told"), [
    ("report", "The report could not be written to /proc/none/preflight.json: No such file or directory."),
    ("records", "The records could not be written to /proc/none/preflight-records-")])
def test_a_folder_that_can_not_be_written_still_shows_the_report(play, of, told):
    outcome = play(variables={f"preflight_{of}_dir": "/proc/none"})
    assert outcome.rc == 2
    assert "1 machine, " in outcome.output
    assert message_of(outcome).startswith(told)


def test_what_is_no_folder_is_told_before_anything_is_read(play):
    outcome = play(variables={f"preflight_{name}": "/dev/null/reports" for name in ("report_dir", "records_dir", "fix_script")})
    assert outcome.rc == 2
    assert message_of(outcome).splitlines() == ["Nothing was read, because:", *(
        f"preflight_{name} is '/dev/null/reports': /dev/null is no folder. Take it away, or name another folder."
        for name in ("records_dir", "report_dir", "fix_script"))]


@pytest.mark.core
@pytest.mark.parametrize("way", ['roles: [llmgw.preflight.preflight]', 'tasks: [{include_role: {name: llmgw.preflight.preflight}}]'])
def test_used_as_a_role_it_is_told_once_too_and_with_its_place(play, tmp_path, way):
    """Ansible looks at the variables of a role before its first task, on each machine by itself."""
    (tmp_path / "play.yml").write_text(f"- hosts: all\n  gather_facts: false\n  {way}\n")
    wrong = {
        "preflight_needs": 5, "preflight_fit": "maybe", "preflight_fail_on": "error", "preflight_report_formats": ["pdf"],
        "preflight_waivers": [{"check": "disk", "reason": "x"}, {"chek": "disk", "reason": "x"}],
        "preflight_custom_checks": [5], "preflight_serves": ["m"], "preflight_port": "x"}
    hosts = dict.fromkeys(("a", "b"), {"ansible_connection": "local"})
    outcome = play({"all": {"hosts": hosts}}, playbook=tmp_path / "play.yml", variables=wrong)
    assert outcome.rc == 2
    assert [line.partition(":")[0] for line in message_of(outcome).splitlines()] == [
        "Nothing was read, because", "preflight_waivers[1] key is 'chek'", "preflight_waivers[1].check is None", "preflight_fit is 'maybe'",
        "preflight_fail_on is 'error'", "preflight_report_formats is 'pdf'", "preflight_needs is 5", "preflight_custom_checks[0] is 5",
        "preflight_port is 'x'", "preflight_serves[0] is 'm'"]
    assert outcome.records() == {}


@pytest.mark.core
@pytest.mark.parametrize("strategy", ["free", "ansible.builtin.host_pinned"])
def test_a_strategy_that_judges_before_all_are_read_is_refused(play, tmp_path, strategy):
    playbook = tmp_path / "play.yml"
    playbook.write_text(f"- hosts: all\n  gather_facts: false\n  strategy: {strategy}\n  roles: [llmgw.preflight.preflight]\n")
    outcome = play(playbook=playbook)
    assert outcome.rc == 2
    assert f"the strategy of this play is {strategy}: " in message_of(outcome)
    assert outcome.records() == {}


def test_one_wrong_value_for_many_machines_is_told_once(play):
    hosts = {f"m{number}": {"ansible_connection": "local"} for number in range(1, 41)}
    outcome = play({"all": {"hosts": hosts, "vars": {"preflight_roles": ["databse"]}}})
    assert message_of(outcome) == (
        f"Nothing was read, because:\npreflight_roles is 'databse': the known role ids are {ROLES}. "
        "(m[1-40])")


def test_one_judgement_has_one_set_of_figures(play):
    hosts = {"one": {"ansible_connection": "local"}, "two": {"ansible_connection": "local", "preflight_fail_on": "never"}}
    assert message_of(play({"all": {"hosts": hosts}})) == (
        "Nothing was read, because:\npreflight_fail_on is not the same for all machines, as it must be: there is one judgement for the "
        "play. Set it for the play, or for the group all. (two)")


@pytest.mark.parametrize("name", ["preflight_fail_on", "preflight_report_formats", "preflight_internet_urls", "preflight_needs",
                                  "preflight_systems", "preflight_roles", "preflight_serves", "preflight_report_dir",
                                  "preflight_fix_script"])
def test_nothing_given_is_the_default(play, name):
    outcome = play(variables={name: None})
    assert outcome.rc == 0, outcome.output
    assert "1 machine, " in outcome.output
