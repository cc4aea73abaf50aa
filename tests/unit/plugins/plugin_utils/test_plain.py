from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import json
import typing as t

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.plain import plain


def itself(text):
    return text


class Text(str):
    """As Ansible's: what is made of it is of its kind too."""

    __str__ = itself


class Number(enum.IntEnum):
    TWO = 2


class Float(float):
    pass


def kinds(value):
    """All types that occur in it."""
    inner = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return {type(value)}.union(*map(kinds, inner))


def test_what_is_of_another_kind_becomes_plain():
    given = {Text("a"): (Text("b"), Number.TWO, Float(0.5)), "c": collections.UserDict({"d": collections.UserList([True, None])})}
    made = plain(given)
    assert made == {"a": ["b", 2, 0.5], "c": {"d": [True, None]}}
    assert kinds(made) == {dict, list, str, int, float, bool, type(None)}


@pytest.mark.parametrize("given", [{"a": {"b": [1, 2.5, True, None, "\ud800"], "": {}}}, [], "text", 0, None, [[{"a": "b"}]], {"a": []}])
def test_the_same_as_by_way_of_json(given):
    assert plain(given) == json.loads(json.dumps(given))


def test_a_mapping_that_is_so_already_is_not_copied():
    inner = {"a": 1, "b": "c"}
    assert plain([inner])[0] is inner


def test_warnings_of_ansible_beside_a_result_are_no_reason_to_break():
    @dataclasses.dataclass(frozen=True)
    class Event:
        msg: str
        chain: t.Any = None

    @dataclasses.dataclass(frozen=True)
    class Summary:
        event: Event

    assert plain({"run": "x", "warnings": [Summary(Event(Text("deprecated")))]}) == {
        "run": "x", "warnings": [{"event": {"msg": "deprecated", "chain": None}}]}
    with pytest.raises(TypeError):
        plain(Summary)


@pytest.mark.parametrize("given", [{1}, b"bytes", datetime.date(2026, 3, 1), object(), {"a": [{"b": object()}]}, {1: 2}])
def test_what_has_no_form_in_json(given):
    with pytest.raises(TypeError):
        plain(given)
