from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.controller import variables

OMIT = "__omit_place_holder__1"  # as ansible-core before 2.19 has it, one for each run


class Vaulted:
    def __str__(self):
        return "out of a vault"


@pytest.mark.parametrize(("value", "found"), [
    (None, None), ("", ""), (5, 5), (0.5, 0.5), (True, True), (Vaulted(), "out of a vault"),
    (OMIT, None), ([1, OMIT, "x"], [1, "x"]), ({"a": OMIT, "b": [OMIT, {"c": OMIT, "d": 1}]}, {"b": [{"d": 1}]}),
    (f"{OMIT}0", f"{OMIT}0"), ((1, 2), (1, 2)),
])
def test_what_a_variable_is(value, found):
    assert variables.worked_out(lambda given: given, value, {"omit": OMIT}) == found


def test_one_that_is_left_out_since_2_19(monkeypatch):
    monkeypatch.setattr(variables, "OMITTED", ZeroDivisionError)
    assert variables.worked_out(lambda given: 1 / 0, "x", {}) is None
    assert variables.worked_out(lambda given: given, [OMIT], {}) == [OMIT]  # no text stands for it then
    with pytest.raises(KeyError):
        variables.worked_out(lambda given: {}[given], "x", {})


@pytest.mark.parametrize(("value", "is_one"), [
    ("{{ x }}", True), ("a {% if x %}", True), (["{{ x }}"], True), ({"a": ["{{ x }}"]}, True), ("{ {", False), (5, False), (None, False)])
def test_what_holds_a_template(value, is_one):
    assert variables.is_template(value) is is_one
