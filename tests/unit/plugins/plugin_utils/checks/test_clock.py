from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import commands
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import clock
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Level, fail, ok, warn


@pytest.mark.parametrize(("offset", "error", "verdict"), [
    (0.003, 0.008, ok("within 0.011 s of the controller's (1 s is allowed)")),
    (-1, 0, ok("within 1.000 s of the controller's (1 s is allowed)")),
    (1.5, 0.25, warn("1.500 s ahead of the controller's (give or take 0.250 s; 1 s is allowed)", clock.FIX)),
    (-5, 0, warn("5.000 s behind the controller's (give or take 0.000 s; 1 s is allowed)", clock.FIX)),
    (-6, 0.5, fail("6.000 s behind the controller's (give or take 0.500 s; 1 s is allowed)", clock.FIX)),
    (86400, 0, fail("86,400 s ahead of the controller's (give or take 0.000 s; 1 s is allowed)", clock.FIX)),
])
def test_levels(record, asked, offset, error, verdict):
    assert clock.judge(record(clock={"offset_s": offset, "error_s": error}), asked()) == verdict


@pytest.mark.parametrize(("offset", "error"), [(0, 1.1), (0.8, 0.3), (1.5, 0.5), (-3, 20)])
def test_bounds_that_allow_no_verdict_say_so(record, asked, offset, error):
    found = clock.judge(record(clock={"offset_s": offset, "error_s": error}), asked())
    assert found.level == Level.WARN
    assert found.detail.startswith("can not be told closely enough: ")
    assert f"give or take {error:.3f} s" in found.detail
    assert found.fix == clock.FIX_UNSURE


def test_bounds_that_only_leave_warn_or_fail_open_warn(record, asked):
    assert clock.judge(record(clock={"offset_s": 4, "error_s": 2}), asked()) == warn(
        "4.000 s ahead of the controller's (give or take 2.000 s; 1 s is allowed)", clock.FIX)


def test_limits_can_be_given(record, asked):
    limits = {"clock_warn_s": 60, "clock_fail_s": 600}
    assert clock.judge(record(clock={"offset_s": 59, "error_s": 0}), asked(limits=limits)) == ok(
        "within 59.000 s of the controller's (60 s is allowed)")


@pytest.mark.parametrize(("offset", "level"), [(3, Level.WARN), (-9, Level.FAIL)])
def test_where_nothing_keeps_it_right_there_are_commands(record, asked, offset, level):
    wrong = {"clock": {"offset_s": offset, "error_s": 0}, "time_sources": [], "time_sync": {"synchronised": False, "by": "kernel"}}
    found = clock.judge(record(**wrong), asked())
    assert (found.level, found.commands) == (level, commands.clock_kept(record(**wrong)))
    assert found.commands
    unsure = clock.judge(record(**{**wrong, "clock": {"offset_s": 0, "error_s": 9}}), asked())
    assert (unsure.fix, unsure.commands) == (clock.FIX_UNSURE, ())
