from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import left

NONE = (None, set(), set())
OK = {"login": {"ok": True}}
RESULT = {"machine": "a", "run": "r", "play": "p", "record": OK}


@pytest.mark.parametrize(("registered", "found"), [
    ({"preflight_probe": RESULT}, RESULT),
    ({}, None),
    ({"preflight_probe": {"skipped": True}}, None),
    ({"preflight_probe": 5}, None),
    ({"preflight_probe": {**RESULT, "machine": "b"}}, None),  # registered on every machine, since it ran once
])
def test_what_a_task_left_of_a_machine(registered, found):
    assert left.left_by(left.PROBE, {"a": registered}, "a") == found


def test_nothing_is_gone_through_for_templates():
    class HostVars(dict):
        """As Ansible's: what is asked for by its name is worked out."""

        def raw_get(self, machine):
            return {"preflight_probe": RESULT} if machine == "a" else {}

    assert left.left_by(left.PROBE, HostVars(), "a") is RESULT
    assert left.left_by(left.PROBE, HostVars(), "b") is None


@pytest.mark.parametrize(("result", "record"), [
    (RESULT, OK), ({**RESULT, "run": "earlier"}, None), ({**RESULT, "record": {"login": {"ok": False}}}, None),
    ({**RESULT, "record": {"login": 5}}, None), ({**RESULT, "record": None}, None),
])
def test_only_who_was_read_in_this_run_counts(result, record):
    assert left.read_now({"a": {"preflight_probe": result}}, "a", "r") == record


@pytest.mark.parametrize(("told", "found"), [
    ({"pid": 7, "open": [5432], "held": [], "not_opened": []}, (7, {5432}, set())),
    ({"pid": None, "open": [], "held": [5432]}, (None, set(), {5432})),
    ({"pid": "7; reboot", "open": [], "held": []}, NONE), ({"pid": True, "open": [], "held": []}, NONE),
    ({"pid": 7, "open": ["x"], "held": []}, NONE), ({"pid": 7}, NONE), ([], NONE), (None, NONE),
])
def test_stand_ins_are_believed_only_whole(told, found):
    assert left.stand_ins_of({"stand_ins": told}) == found


def test_no_record_has_no_stand_ins():
    assert left.stand_ins_of(None) == left.stand_ins_of({}) == NONE


@pytest.mark.parametrize(("result", "found"), [
    ({"run": "r", "edges": {"not_open": [{"machine": "b"}, {"machine": "c"}]}}, {"b", "c"}),
    ({"run": "r", "edges": {"not_open": []}}, set()),
    ({"run": "r"}, set()),  # it had nobody to call
    ({"run": "r", "reason": "timed out"}, None), ({"run": "other", "edges": {"not_open": []}}, None), (None, None),
    ({"run": "r", "edges": {"not_open": [5]}}, None), ({"run": "r", "edges": 5}, None),
])
def test_whom_a_machine_could_not_reach(result, found):
    assert left.not_reached(result, "r") == found


def test_the_plan_that_is_given_or_else_the_one_that_is_registered():
    class Text(str):
        pass

    registered = {"preflight_plan": {"run": Text("r1"), "machines": [{"machine": Text("n1")}]}}
    assert left.plan_of({"run": "r2"}, registered) == {"run": "r2"}
    found = left.plan_of({}, registered)
    assert found == {"run": "r1", "machines": [{"machine": "n1"}]}
    assert {type(found["run"]), type(found["machines"][0]["machine"])} == {str}
    assert left.plan_of({}, {}) == left.plan_of({}, {"preflight_plan": "{{ what }}"}) == {}
