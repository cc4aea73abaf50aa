"""The three ways to put the preflight before an install, what each guarantees, and where it can be passed over."""

from __future__ import annotations

import json

import pytest

ROLE = {"ansible.builtin.import_role": {"name": "llmgw.preflight.preflight"}}
IMPORTED = {"ansible.builtin.import_playbook": "llmgw.preflight.preflight"}
INSTALL = {"name": "Install", "ansible.builtin.debug": {"msg": "INSTALLING"}, "tags": ["install"]}
WAYS = ("a play before", "pre_task", "imported")


def plays(way, tags=("always",), **keywords):
    """An install of one play with these keywords, behind the preflight."""
    install = {"hosts": "all", "gather_facts": False, **keywords, "tasks": [INSTALL]}
    role = {**ROLE, "tags": list(tags)} if tags else ROLE
    return {
        "a play before": [{"hosts": "all", "gather_facts": False, "tasks": [role]}, install],
        "pre_task": [{**install, "pre_tasks": [role]}],
        "imported": [IMPORTED, install],
    }[way]


@pytest.fixture(scope="module")
def lab(make_lab):
    return make_lab({"defaults": {"cpus": 2, "groups": ["node"]}, "hosts": [
        {"name": "b"}, {"name": "c"}, {"name": "small", "mem_mb": 1024}]})


@pytest.fixture
def run(lab, play, tmp_path):
    """run(plays, arguments): (the outcome, the machines on which the install began)."""

    def run_plays(plays_, arguments=""):
        playbook = tmp_path / "play.yml"
        playbook.write_text(json.dumps(plays_))
        outcome = play(lab.inventory(), lab, playbook=playbook, arguments=arguments, variables={"preflight_role_ports": False})
        return outcome, {event["event_data"]["host"] for event in outcome.events
                         if event["event"] == "runner_on_start" and event["event_data"]["task"] == "Install"}

    return run_plays


@pytest.mark.parametrize("way", WAYS)
def test_one_that_is_not_ready_keeps_all_from_being_touched(run, way):
    outcome, installed = run(plays(way))
    assert (outcome.rc, installed) == (2, set())
    assert [machine["worst"] for machine in outcome.report["machines"]] == ["ok", "ok", "fail"]


@pytest.mark.parametrize("way", WAYS)
def test_with_a_limit_only_those_are_examined_and_touched_and_the_report_says_so(run, way):
    outcome, installed = run(plays(way), "--limit b,c")
    assert (outcome.rc, installed) == (0, {"b", "c"}), outcome.output
    assert outcome.report["not_examined"] == [{"machine": "small", "why": "limit"}]


@pytest.mark.parametrize("way", WAYS)
def test_the_tags_of_the_install_do_not_pass_over_it_where_it_is_tagged_always(run, way):
    outcome, installed = run(plays(way), "--tags install")
    assert (outcome.rc, installed) == (2, set())


@pytest.mark.parametrize(("way", "passed_over"), [("a play before", True), ("pre_task", True), ("imported", False)])
def test_without_the_tag_they_pass_over_it_but_where_it_is_imported(run, way, passed_over):
    outcome, installed = run(plays(way, tags=()), "--tags install")
    assert (outcome.report is None, installed) == ((True, {"b", "c", "small"}) if passed_over else (False, set()))


@pytest.mark.parametrize(("apply", "touched"), [({}, {"b", "c", "small"}), ({"apply": {"tags": ["always"]}}, set())],
                         ids=["include only", "its tasks too"])
def test_an_included_one_needs_the_tag_on_its_tasks_too(run, apply, touched):
    included = {"ansible.builtin.include_role": {"name": "llmgw.preflight.preflight", **apply}, "tags": ["always"]}
    outcome, installed = run([{"hosts": "all", "gather_facts": False, "pre_tasks": [included], "tasks": [INSTALL]}], "--tags install")
    assert (outcome.report is None, installed) == (bool(touched), touched)


@pytest.mark.parametrize(("way", "touched"), [("a play before", set()), ("pre_task", {"b", "c"}), ("imported", set())])
def test_with_serial_only_a_pre_task_is_asked_batch_by_batch(run, way, touched):
    outcome, installed = run(plays(way, serial=1))
    assert (outcome.rc, installed) == (2, touched)


@pytest.mark.parametrize(("way", "refused"), [("a play before", False), ("pre_task", True), ("imported", False)])
def test_with_strategy_free_a_pre_task_is_refused_and_the_others_do_not_mind(run, way, refused):
    outcome, installed = run(plays(way, strategy="free"), "--limit b,c")
    assert (outcome.rc, installed) == ((2, set()) if refused else (0, {"b", "c"})), outcome.output
    assert ("the strategy of this play is free: " in outcome.output) is refused
