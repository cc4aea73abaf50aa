"""More ways in which a play can be run; see also test_in_a_play.py. Wherever the install begins, the machines were found good.

Where Ansible itself lets somebody pass over the preflight, that is pinned down, so that the README tells the truth about it.
"""

from __future__ import annotations

import json
import re

import pytest
from lab.spec import USER

PREFLIGHT = {"name": "llmgw.preflight.preflight"}
ROLE = {"ansible.builtin.import_role": PREFLIGHT}
INCLUDED = {"ansible.builtin.include_role": PREFLIGHT}
INSTALL = {"name": "Install", "ansible.builtin.debug": {"msg": "INSTALLING"}}
IMPORTED = {"ansible.builtin.import_playbook": "llmgw.preflight.preflight"}

NOT_READ = "it was not read: it had left the play, or was passed over, when the preflight came to it"


def preflight(tasks=(ROLE,), **keywords):
    return {"hosts": "all", "gather_facts": False, "tasks": list(tasks), **keywords}


def included(**keywords):
    return {"ansible.builtin.include_role": {**PREFLIGHT, "apply": keywords}}


def block(*tasks, **keywords):
    return {"block": list(tasks), **keywords}


THEN_INSTALL = preflight([INSTALL])


@pytest.fixture(scope="module")
def lab(make_lab):
    return make_lab({"defaults": {"cpus": 2}, "hosts": [
        {"name": "b"}, {"name": "c"}, {"name": "d"}, {"name": "small", "mem_mb": 1024},
        {"name": "dead", "down": True}, {"name": "dead2", "down": True},
        {"name": "locked", "auth": "none"},  # the others reach it
    ]})


@pytest.fixture
def run(lab, play, tmp_path):
    """run(machines, plays, ...): these plays with these machines in this order, on the lab."""

    def run_plays(machines, *plays, without=(), **options):
        inventory = lab.inventory()["all"]
        common = {name: value for name, value in inventory["vars"].items() if name not in without}
        playbook = tmp_path / "play.yml"
        playbook.write_text(json.dumps(plays))
        return play({"node": {"vars": common, "hosts": {machine: inventory["hosts"][machine] for machine in machines.split()}}},
                    lab, playbook=playbook, **options)

    return run_plays


def installed(outcome):
    """The machines on which the install began."""
    return {event["event_data"]["host"] for event in outcome.events
            if event["event"] == "runner_on_start" and event["event_data"]["task"] == "Install"}


def messages(outcome):
    return {event["event_data"]["res"].get("msg") for event in outcome.events if event["event"] == "runner_on_failed"}


def logins(outcome):
    """machine -> level of its login."""
    return {machine: finding["level"] for (machine, check), finding in outcome.findings("login").items()}


def assert_nothing_is_called_good(outcome):
    assert outcome.report is None
    assert not re.search(r"\d machines?, \d+ checks", outcome.output)


# ------------------------------------------------------------------------------------------- begun in the middle
@pytest.mark.core
@pytest.mark.parametrize("keywords", [{}, {"ignore_errors": True}], ids=str)
@pytest.mark.parametrize("task", ["Read each machine*", "Judge all machines", "llmgw.preflight.preflight : Show*"])
def test_begun_within_the_preflight(run, task, keywords):
    outcome = run("b c", preflight(**keywords), THEN_INSTALL, arguments=f"--start-at-task '{task}'")
    assert outcome.rc == 2
    assert outcome.report is None
    assert installed(outcome) == set()
    (message,) = messages(outcome)
    assert "--start-at-task" in message


@pytest.mark.parametrize("plays", [[preflight(), THEN_INSTALL], [preflight([ROLE, INSTALL])], [IMPORTED, THEN_INSTALL]],
                         ids=["own play", "same play", "imported"])
def test_begun_after_the_preflight_it_is_passed_over(run, plays):
    """By Ansible itself, which runs none of it."""
    outcome = run("dead b", *plays, arguments="--start-at-task Install")
    assert installed(outcome) >= {"b"}
    assert_nothing_is_called_good(outcome)


# ------------------------------------------------------------------------------- not on each machine, or elsewhere
DELEGATED = {
    "imported": {**ROLE, "delegate_to": "localhost"},
    "included": included(delegate_to="localhost"),
    "in a block": block(ROLE, delegate_to="{{ groups.all | first }}"),
}


@pytest.mark.parametrize("name", DELEGATED)
def test_delegated_it_is_refused(run, name):
    outcome = run("b c", preflight([DELEGATED[name]]), THEN_INSTALL)
    assert outcome.rc == 2
    assert installed(outcome) == set()
    (message,) = messages(outcome)
    assert "(delegate_to)" in message
    assert outcome.records() == {}


PASSED_OVER = {
    "run_once": (block(ROLE, run_once=True), {"c", "d"}),
    "run_once, included": (included(run_once=True), {"c", "d"}),
    "end_host": (block({"ansible.builtin.meta": "end_host", "when": "inventory_hostname == 'b'"}, ROLE), {"b"}),
    "a condition, included": ({**INCLUDED, "when": "inventory_hostname != 'b'"}, {"b"}),
}


@pytest.mark.core
@pytest.mark.parametrize("name", PASSED_OVER)
def test_machines_that_are_passed_over_are_told(run, name):
    task, passed_over = PASSED_OVER[name]
    outcome = run("b c d", preflight([task]), THEN_INSTALL)
    assert outcome.rc == 2
    assert installed(outcome) == set()
    assert outcome.report, outcome.output
    assert {machine: finding["detail"] for (machine, check), finding in outcome.findings().items() if finding["level"] != "ok"} == (
        dict.fromkeys(passed_over, NOT_READ))


NOT_ON_THE_FIRST = {
    "imported": {**ROLE, "when": "inventory_hostname != 'b'"},
    "in a block": block(ROLE, when="inventory_hostname != 'b'"),
}


@pytest.mark.core
@pytest.mark.parametrize("keywords", [{}, {"ignore_errors": True}], ids=str)
@pytest.mark.parametrize("name", NOT_ON_THE_FIRST)
def test_a_condition_that_does_not_hold_on_the_first_machine(run, name, keywords):
    """Ansible asks the condition of what runs once on that machine alone, so all of it is skipped."""
    outcome = run("b c d", preflight([NOT_ON_THE_FIRST[name]], **keywords), THEN_INSTALL)
    assert outcome.rc == 2
    assert installed(outcome) == set()
    (message,) = messages(outcome)
    assert "(when)" in message


# ------------------------------------------------------------------------------------------------- dead machines
@pytest.mark.parametrize("keywords", [{}, {"gather_facts": True, "ignore_unreachable": True}], ids=str)
def test_all_are_dead(run, keywords):
    outcome = run("dead dead2", preflight(**keywords), THEN_INSTALL)
    assert outcome.rc == 2
    assert installed(outcome) == set()
    assert logins(outcome) == {"dead": "fail", "dead2": "fail"}


def test_all_are_dead_when_facts_are_gathered_before(run):
    """Then Ansible itself ends the play before the role."""
    outcome = run("dead dead2", preflight(gather_facts=True), THEN_INSTALL)
    assert outcome.rc != 0
    assert installed(outcome) == set()
    assert outcome.report is None


def test_the_first_is_dead_and_the_install_runs_once(run):
    outcome = run("dead b c", preflight([ROLE, block(INSTALL, run_once=True)]))
    assert outcome.rc == 2
    assert installed(outcome) == set()
    assert logins(outcome) == {"dead": "fail", "b": "ok", "c": "ok"}


# machines in order -> those of the batches before that in which the failure is found
BATCHES = {"b locked c d": {"b"}, "b dead c d": set()}


@pytest.mark.parametrize("keywords", [
    {"any_errors_fatal": True}, {"max_fail_percentage": 0}, {"max_fail_percentage": 100}, {"ignore_errors": True}, {"serial": [1, 3]},
], ids=str)
@pytest.mark.parametrize("machines", BATCHES)
def test_batches_after_a_failure_are_not_touched(run, machines, keywords):
    """That the others do not reach a machine is found in the first batch, that one can not log in to it in its own."""
    outcome = run(machines, preflight([ROLE, INSTALL], **{"serial": 1, **keywords}))
    assert outcome.rc == 2
    assert installed(outcome) == BATCHES[machines]


@pytest.mark.parametrize("machines", BATCHES)
def test_after_a_play_in_batches_of_which_one_failed_nothing_is_installed(run, machines):
    outcome = run(machines, preflight(serial=1), THEN_INSTALL)
    assert outcome.rc == 2
    assert installed(outcome) == set()


# ------------------------------------------------------------------------------------ tags, and what a user may do
@pytest.mark.parametrize("plays", [[IMPORTED], [preflight(tags=["always"])]], ids=["imported", "tagged always"])
@pytest.mark.parametrize(("machines", "rc"), [("b c", 0), ("dead b", 2)])
def test_tags_of_the_install(run, plays, machines, rc):
    outcome = run(machines, *plays, {**THEN_INSTALL, "tags": ["install"]}, arguments="--tags install")
    assert outcome.rc == rc
    assert [machine["machine"] for machine in outcome.report["machines"]] == machines.split()
    assert installed(outcome) == (set() if rc else set(machines.split()))


@pytest.mark.parametrize(("plays", "arguments"), [
    ([IMPORTED], "--skip-tags always"), ([preflight(tags=["always"])], "--skip-tags always"), ([preflight()], "--tags install"),
], ids=["imported", "tagged always", "not tagged"])
def test_tags_that_pass_over_the_preflight(run, plays, arguments):
    outcome = run("dead b", *plays, {**THEN_INSTALL, "tags": ["install"]}, arguments=arguments)
    assert installed(outcome) == {"dead", "b"}
    assert_nothing_is_called_good(outcome)


ONCE = {"when": "preflight_report is not defined"}


def test_a_condition_on_what_it_sets_itself(run):
    """Ansible asks that of import_role again before each task, and so skips the one that fails; that of include_role it asks once."""
    assert installed(run("small b", preflight([{**ROLE, **ONCE}]), THEN_INSTALL)) == {"small", "b"}
    outcome = run("small b", preflight([{**INCLUDED, **ONCE}, {**INCLUDED, **ONCE}]), THEN_INSTALL)
    assert outcome.rc == 2
    assert installed(outcome) == set()
    assert outcome.report["worst"] == "fail"


def test_a_rescue_takes_the_failure(run):
    """As it takes any: the report is there, and what comes after runs."""
    outcome = run("small b", preflight([block(ROLE, rescue=[{"ansible.builtin.debug": {"msg": "rescued"}}]), INSTALL]))
    assert outcome.report["worst"] == "fail"
    assert messages(outcome) == {"Preflight: 1 of 2 machines not ready: small."}
    assert installed(outcome) == {"small", "b"}


def test_a_rescue_that_fails_stops_it(run):
    rescue = [{"ansible.builtin.fail": {"msg": "see the report"}}]
    outcome = run("small b", preflight([block(ROLE, rescue=rescue), INSTALL]), THEN_INSTALL)
    assert outcome.rc == 2
    assert outcome.report["worst"] == "fail"
    assert installed(outcome) == set()


# -------------------------------------------------------------------------- keywords and settings that change nothing
HARMLESS = {
    "become_user": ({"become": True, "become_user": "nobody"}, {}),
    "throttle": ({"throttle": 1}, {}),
    "no_log": ({"no_log": True}, {}),
    "timeout": ({"timeout": 60}, {}),
    "settings": ({}, {"ANSIBLE_JINJA2_NATIVE": "1", "ANSIBLE_HASH_BEHAVIOUR": "merge", "ANSIBLE_PRIVATE_ROLE_VARS": "1",
                      "ANSIBLE_INJECT_FACT_VARS": "0", "ANSIBLE_PIPELINING": "1", "ANSIBLE_FORKS": "1"}),
    "settings of the connection": ({}, {"ANSIBLE_SSH_ARGS": "-o ControlMaster=no", "ANSIBLE_SSH_USETTY": "1", "ANSIBLE_BECOME": "1",
                                        "ANSIBLE_BECOME_USER": "nobody", "ANSIBLE_KEEP_REMOTE_FILES": "1"}),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_it_says_the_same(run, name):
    keywords, settings = HARMLESS[name]
    outcome = run("small b c", preflight(**keywords), THEN_INSTALL, settings=settings)
    assert outcome.rc == 2
    assert installed(outcome) == set()
    assert {of: finding["level"] for of, finding in outcome.findings().items() if finding["level"] != "ok"} == {("small", "memory"): "fail"}
    assert "FAIL  memory       small: " in outcome.output


def test_the_plays_user(run):
    outcome = run("b c", preflight(remote_user=USER), without=["ansible_user"])
    assert outcome.rc == 0, outcome.output
    assert {finding["detail"] for finding in outcome.findings("login").values()} == {f"logged in as {USER}"}
    wrong = run("b c", preflight(remote_user="nobody"), without=["ansible_user"])
    assert logins(wrong) == {"b": "fail", "c": "fail"}


def test_a_strategy_of_the_configuration_is_refused_too(run):
    outcome = run("b c", preflight(), THEN_INSTALL, settings={"ANSIBLE_STRATEGY": "free"})
    assert outcome.rc == 2
    assert installed(outcome) == set()
    assert all("the strategy of this play is free" in message for message in messages(outcome))


FACTS = {"b": {"memtotal_mb": 1, "processor_nproc": 1, "distribution": "Plan9", "os_family": "Plan9", "architecture": "vax"},
         "small": {"memtotal_mb": 999999, "processor_nproc": 64, "distribution": "Debian", "distribution_version": "12"}}


@pytest.mark.core
def test_facts_from_a_cache_count_for_nothing(run):
    """Wrong ones, in the cache of which ansible-runner makes use; neither a good machine suffers from it nor does a bad one pass."""
    remember = [{"ansible.builtin.set_fact": {"cacheable": True, **{f"ansible_{name}": value for name, value in FACTS[machine].items()}},
                 "when": f"inventory_hostname == '{machine}'"} for machine in FACTS]
    seen = {"ansible.builtin.assert": {"that": "ansible_facts.memtotal_mb in [1, 999999]"}}
    cached = run("b small", preflight(remember), preflight([seen, ROLE], gather_facts=False))
    files = [file.read_text() for file in cached.folder.glob("artifacts/*/fact_cache/*")]
    assert len(files) == 2 and sum("Plan9" in text for text in files) == 1
    assert cached.report, cached.output
    assert {of for of, finding in cached.findings().items() if finding["level"] != "ok"} == {("small", "memory")}
    assert cached.steady() == run("b small", preflight()).steady()
