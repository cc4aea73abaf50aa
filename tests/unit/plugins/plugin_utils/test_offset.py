from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.offset import Offset, reading_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.settings import LIMITS


def offset(*exchanges):
    made = Offset()
    for exchange in exchanges:
        made.narrow(*exchange)
    return made


def test_one_exchange_bounds_the_offset():
    assert offset((105, 99, 101)).as_section() == {"offset_s": 5, "error_s": 1}


def test_the_truth_lies_in_all_intervals():
    # The module started 12 s after it was sent: a midpoint would have said 6 s ahead.
    late_start = (112, 100, 112.5)
    assert offset(late_start).as_section() == {"offset_s": 5.75, "error_s": 6.25}
    assert offset(late_start, (113.01, 113, 113.02)).as_section() == {"offset_s": 0, "error_s": 0.01}


def test_a_clock_that_is_set_meanwhile_contradicts_itself():
    assert not offset((100, 99, 101), (200, 199, 201)).contradicts_itself
    assert offset((100, 99, 101), (260, 199, 201)).contradicts_itself


@pytest.mark.parametrize(("low", "high", "decided"), [
    (-1, 1, True),
    (-1.01, 0.5, False),
    (0.5, 1.5, False),
    (1.5, 2, True),
    (-5, -1.5, True),
    (-5.5, -1.5, False),
    (4, 6, False),
    (5.1, 900, True),
    (-900, -5.1, True),
    (-9, 9, False),
])
def test_when_no_further_question_is_needed(low, high, decided):
    made = Offset()
    made.low, made.high = low, high
    assert made.is_decided(LIMITS) is decided


def test_nothing_asked_is_nothing_decided():
    assert not Offset().is_decided(LIMITS)


@pytest.mark.parametrize(("text", "reading"), [
    ("1700000000.123456789\n", (1700000000.123456789, 1e-6)),
    ("*** welcome 1.5 ***\n1700000000.5\n1700000000.000000001\r\nbye\n", (1700000000.000000001, 1e-6)),
    ("1700000000.N\n", (1700000000.0, 1.0)),
    ("1700000000.\n", (1700000000.0, 1.0)),
    ("", None),
    ("Mon Nov 30\n", None),
    (None, None),
])
def test_what_date_prints(text, reading):
    assert reading_of(text) == reading
