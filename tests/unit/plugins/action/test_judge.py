from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.action import judge


@pytest.mark.parametrize(("left", "gone"), [
    ({}, {}),
    ({"preflight_report": None}, {}),
    ({"preflight_report": {"play": "p1", "gone": {"db1": "r1"}}}, {"db1": "r1"}),  # of the batch before
    ({"preflight_report": {"play": "p0", "gone": {"db1": "r1"}}}, {}),
    ({"preflight_report": {"play": "p1"}}, {}),
])
def test_stand_ins_that_had_ended_are_remembered_for_the_batches_to_come(left, gone):
    assert judge.gone_before(left, {"play": "p1"}) == gone


@pytest.mark.parametrize(("left", "gone"), [
    ({}, set()),
    ({"preflight_closed": {"skipped": True}}, set()),
    ({"preflight_closed": {"results": [{"item": "a", "alive": False}, {"item": "b", "alive": True}, {"item": "c", "alive": None}]}}, {"a"}),
])
def test_only_a_stand_in_that_is_known_to_have_ended_counts(left, gone):
    assert judge.gone_by_now(left) == gone


class Names(list):
    """Those of Ansible; one by one they take as long as there are many."""

    def __contains__(self, name):
        raise AssertionError(f"{name} is looked for in a list")


def test_who_is_read_in_another_batch():
    given = {"ansible_play_hosts": Names(["a", "b", "c", "d"]), "ansible_play_batch": Names(["b"])}  # Ansible has dropped e
    assert [name in judge.of_other_batches(given, {"batches": True}) for name in "abcde"] == [True, False, True, True, False]
    assert judge.of_other_batches({}, {"batches": False}) == set()
