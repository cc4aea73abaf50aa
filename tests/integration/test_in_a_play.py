"""The ways in which a play can be run: none of them lets a machine slip out of the report, or a failure pass."""

from __future__ import annotations

import json
import re

import pytest

ROLE = {"ansible.builtin.import_role": {"name": "llmgw.preflight.preflight"}}
INCLUDED = {"ansible.builtin.include_role": {"name": "llmgw.preflight.preflight"}}
INSTALL = {"ansible.builtin.debug": {"msg": "INSTALLING"}}


def preflight(tasks=(ROLE,), **keywords):
    return {"hosts": "all", "gather_facts": False, "tasks": list(tasks), **keywords}


THEN_INSTALL = preflight([INSTALL])

# what is done -> (the play, arguments)
WITH_A_DEAD_ONE = {
    "facts gathered before": (preflight(gather_facts=True), ""),
    "facts gathered before and ignored": (preflight(gather_facts=True, ignore_unreachable=True), ""),
    "ignore_unreachable": (preflight(ignore_unreachable=True), ""),
    "ignore_errors": (preflight(ignore_errors=True), ""),
    "any_errors_fatal": (preflight(any_errors_fatal=True), ""),
    "max_fail_percentage": (preflight(max_fail_percentage=99), ""),
    "become without a password": (preflight(become=True), ""),
    "in a block": (preflight([{"block": [ROLE]}]), ""),
    "in a block that ignores": (preflight([{"block": [ROLE], "ignore_errors": True}]), ""),
    "check mode": (preflight(), "--check --diff"),
    "included": (preflight([INCLUDED]), ""),
    "by roles": ({"hosts": "all", "gather_facts": False, "roles": ["llmgw.preflight.preflight"]}, ""),
    "module defaults": (preflight(module_defaults={"llmgw.preflight.report": {"fail_on": "never"}}), ""),
}


@pytest.fixture(scope="module")
def lab(make_lab):
    return make_lab({"defaults": {"groups": ["node"], "cpus": 2}, "hosts": [
        {"name": "dead", "down": True}, {"name": "b"}, {"name": "c"}, {"name": "d"}]})


@pytest.fixture
def run(lab, play, tmp_path):
    """run(inventory, plays, ...): these plays, on the lab."""

    def run_plays(inventory, *plays, **options):
        playbook = tmp_path / "play.yml"
        playbook.write_text(json.dumps(plays))
        return play(inventory, lab, playbook=playbook, **options)

    return run_plays


@pytest.mark.core
@pytest.mark.parametrize("name", WITH_A_DEAD_ONE)
def test_a_dead_machine_is_told_and_nothing_is_installed(lab, run, name):
    keywords, arguments = WITH_A_DEAD_ONE[name]
    outcome = run(lab.inventory(), keywords, THEN_INSTALL, arguments=arguments)
    assert outcome.rc != 0
    assert "INSTALLING" not in outcome.output
    assert [machine["machine"] for machine in outcome.report["machines"]] == ["dead", "b", "c", "d"]
    assert {machine: finding["level"] for (machine, check), finding in outcome.findings("login").items()} == {
        "dead": "fail", "b": "ok", "c": "ok", "d": "ok"}
    assert "FAIL  login        dead: " in outcome.output


def healthy(lab):
    inventory = lab.inventory()
    inventory["all"]["hosts"].pop("dead")
    inventory["all"]["children"]["node"]["hosts"].pop("dead")
    return inventory


@pytest.mark.core
@pytest.mark.parametrize("keywords", [
    {}, {"become": True}, {"environment": {"http_proxy": ""}}, {"order": "reverse_inventory"}, {"gather_facts": True},
], ids=str)
def test_healthy_machines_pass_and_the_install_begins(lab, run, keywords):
    outcome = run(healthy(lab), preflight(**keywords), THEN_INSTALL)
    assert outcome.rc == 0, outcome.output
    assert outcome.output.count('"msg": "INSTALLING"') == 3
    assert outcome.report["worst"] == "ok"


@pytest.mark.core
def test_batches(lab, run):
    outcome = run(healthy(lab), preflight([ROLE, INSTALL], serial=1))
    assert outcome.rc == 0, outcome.output
    assert outcome.output.count("not examined yet, since their batch has not come: c, d") == 1
    assert outcome.output.count("not examined yet, since their batch has not come: d") == 1
    assert [machine["machine"] for machine in outcome.report["machines"]] == ["b", "c", "d"]
    assert outcome.report["not_examined"] == []
    assert {machine for machine, check in outcome.findings("network")} == {"b", "c", "d"}


def test_a_record_of_an_earlier_play_is_not_taken_for_this_ones(lab, run):
    lose_d = {"hosts": "d", "gather_facts": False, "tasks": [{"ansible.builtin.set_fact": {"ansible_port": 1}}]}
    outcome = run(healthy(lab), preflight(), lose_d, preflight(gather_facts=True), THEN_INSTALL)
    assert outcome.rc != 0
    assert "INSTALLING" not in outcome.output
    assert {machine: finding["level"] for (machine, check), finding in outcome.findings("login").items()} == {
        "b": "ok", "c": "ok", "d": "fail"}


@pytest.mark.core
def test_a_machine_lost_within_the_play_is_not_judged_by_what_was_read_before(lab, run):
    lose_d = [{"ansible.builtin.set_fact": {"ansible_port": 1}, "when": "inventory_hostname == 'd'"}, {"ansible.builtin.ping": {}}]
    outcome = run(healthy(lab), preflight([ROLE, *lose_d, ROLE]), THEN_INSTALL)
    assert outcome.rc != 0
    assert "INSTALLING" not in outcome.output
    assert {machine: finding["level"] for (machine, check), finding in outcome.findings("login").items()} == {
        "b": "ok", "c": "ok", "d": "fail"}


def test_a_machine_that_a_condition_passes_over_is_not_passed(lab, run):
    outcome = run(healthy(lab), preflight([{**INCLUDED, "when": "inventory_hostname != 'd'"}]), THEN_INSTALL)
    assert outcome.rc != 0
    assert "INSTALLING" not in outcome.output
    assert outcome.findings()["d", "login"]["level"] == "fail"


def test_delegated_on_one_machine_only(lab, run):
    inventory = healthy(lab)
    inventory["all"]["hosts"]["c"] |= {"jump": "b", "ansible_user": "nobody-there"}
    outcome = run(inventory, preflight([{**ROLE, "delegate_to": "{{ jump | default(omit) }}"}]), THEN_INSTALL)
    assert outcome.rc != 0
    assert "INSTALLING" not in outcome.output
    assert "another machine would be read in place of this one" in outcome.output


@pytest.mark.parametrize("broken", [
    {"ansible_user": "{{ no_such_variable }}"}, {"ansible_connection": "no_such_plugin"}, {"ansible_become_password": "{{ vault_pw }}"},
], ids=str)
def test_a_connection_that_can_not_be_made_up_is_told_before_anything_is_read(lab, play, broken):
    inventory = lab.inventory()
    inventory["all"]["hosts"]["d"] |= broken
    outcome = play(inventory, lab)
    assert outcome.rc == 2
    (told,) = [event["event_data"]["res"]["msg"] for event in outcome.events if event["event"] == "runner_on_failed"]
    assert re.fullmatch(rf"Nothing was read, because:\n{next(iter(broken))} (is|can not be worked out).+ \(d\)", told)
    assert outcome.records() == {}


@pytest.mark.parametrize(("variable", "of_c"), [("preflight_fail_on", "never"), ("preflight_needs", {"node": {"cpus": 1}})])
def test_what_must_be_the_same_for_all_is_so_also_behind_a_template(lab, run, variable, of_c):
    inventory = healthy(lab)
    inventory["all"]["hosts"]["c"]["of_c"] = of_c
    default = "fail" if isinstance(of_c, str) else {}
    outcome = run(inventory, preflight(vars={variable: f"{{{{ of_c | default({default!r}) }}}}"}), THEN_INSTALL)
    assert outcome.rc != 0
    assert f"{variable} is not the same for all machines" in outcome.output
    assert "INSTALLING" not in outcome.output


def test_two_plays_with_different_machines(lab, run):
    outcome = run(healthy(lab), preflight(hosts="b,c"), preflight(hosts="c,d"))
    assert outcome.rc == 0, outcome.output
    assert [machine["machine"] for machine in outcome.report["machines"]] == ["c", "d"]


def test_a_limit_examines_those_machines_only_but_tries_to_reach_the_others(lab, run):
    outcome = run(lab.inventory(), preflight(), arguments="--limit b,c")
    assert outcome.rc == 2
    assert [machine["machine"] for machine in outcome.report["machines"]] == ["b", "c"]
    assert outcome.report["not_examined"] == [{"machine": "dead", "why": "limit"}, {"machine": "d", "why": "limit"}]
    told = f"does not reach dead ({lab.host('dead')['ip']} port 22: refused)"
    assert {at: finding["detail"] for at, finding in outcome.findings().items() if finding["level"] != "ok"} == {
        ("b", "network"): told, ("c", "network"): told}
    assert outcome.records()["b"]["reach"]["tried"] == 3
    assert "not examined, since --limit leaves them out; only tried: dead, d" in outcome.output


def test_a_limit_within_the_machines_of_the_play(lab, run):
    """What this play is not about is not tried, whatever the limit."""
    outcome = run(lab.inventory(), preflight(hosts="b,c,d"), arguments="--limit b,c")
    assert outcome.rc == 0, outcome.output
    assert outcome.report["not_examined"] == [{"machine": "d", "why": "limit"}]
    assert outcome.records()["b"]["reach"]["tried"] == 2


def test_twice_in_one_play(lab, run):
    outcome = run(healthy(lab), preflight([ROLE, ROLE]))
    assert outcome.rc == 0, outcome.output
    number = outcome.report["counts"]["ok"]
    assert outcome.output.count(f"3 machines, {number} checks: 0 fail, 0 warn, {number} ok.") == 2


@pytest.mark.core
def test_as_a_pre_task_it_changes_nothing_and_leaves_facts_alone(lab, run):
    steady = "date_time|uptime|mem|discovered|proc_|loadavg"
    facts = f"{{{{ ansible_facts | dict2items | rejectattr('key', 'match', '{steady}') | to_json | hash }}}}"
    outcome = run(healthy(lab), {
        "hosts": "all",
        "pre_tasks": [
            {"ansible.builtin.set_fact": {"before": facts}},
            ROLE,
            {"ansible.builtin.assert": {"that": "before == after"}, "vars": {"after": facts}},
        ],
        "tasks": [INSTALL],
    })
    assert outcome.rc == 0, outcome.output
    assert outcome.output.count("changed=0") == 3
    cached = list(outcome.folder.glob("artifacts/*/fact_cache/*"))  # ansible-runner always caches facts
    assert {file.name.removeprefix("s1_") for file in cached} == {"b", "c", "d"}
    assert [key for file in cached for key in json.loads(file.read_text()) if "preflight" in key] == []
