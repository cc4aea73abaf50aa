from __future__ import annotations

import random

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import clocks
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Level, fail, ok, warn


def clock(offset, error=0.01):
    return {"clock": {"offset_s": offset, "error_s": error}}


def compare(group, *offsets, error=0.01):
    given = [offset if isinstance(offset, tuple) else (offset, error) for offset in offsets]
    return clocks.compare(group({f"n{number}": clock(*each) for number, each in enumerate(given, 1)}))


def test_all_agree(group):
    assert compare(group, 0, -0.25, (0.75, 0.2)) == [
        (None, ok("3 clocks are within 1.000 s of each other (give or take 0.210 s; 1 s is allowed)"))]


def test_those_that_could_not_be_read_are_left_out_and_counted(group):
    unread = {"clock": None, "unmeasured": {"clock": "no"}}
    assert clocks.compare(group({"n1": clock(0), "n2": unread, "n3": clock(0.5)})) == [
        (None, ok("2 of 3 clocks are within 0.500 s of each other (give or take 0.020 s; 1 s is allowed)"))]
    assert clocks.compare(group({"n1": clock(30), "n2": unread})) == []
    assert clocks.compare(group({"n1": clock(30)}, others=["n2"])) == []


@pytest.mark.parametrize(("odd", "verdict"), [
    (-29.995, fail("30.000 s behind the middle of the 4 that agree (give or take 0.020 s; 1 s is allowed)", clocks.FIX)),
    (5.026, fail("5.021 s ahead of the middle of the 4 that agree (give or take 0.020 s; 1 s is allowed)", clocks.FIX)),
    (5.024, warn("5.019 s ahead of the middle of the 4 that agree (give or take 0.020 s; 1 s is allowed)", clocks.FIX)),
    (1.03, warn("1.025 s ahead of the middle of the 4 that agree (give or take 0.020 s; 1 s is allowed)", clocks.FIX)),
    (1.015, warn("can not be told closely enough: 1.015 s ahead of n1's (give or take 0.020 s; 1 s is allowed)", clocks.FIX_UNSURE)),
    ((3, 2.5), warn("can not be told closely enough: 3.000 s ahead of n1's (give or take 2.510 s; 1 s is allowed)", clocks.FIX_UNSURE)),
    (3605, fail("3,605 s ahead of the middle of the 4 that agree (give or take 0.020 s; 1 s is allowed)", clocks.FIX)),
])
def test_one_of_five_is_odd(group, odd, verdict):
    assert compare(group, 0, 0, 0.01, 0.01, odd) == [("n5", verdict)]


def test_the_more_are_right_wherever_the_controller_is(group):
    """Which way its clock is wrong can't be told here: n4 and n5 go with it."""
    found = compare(group, 30, 30, 30, 0, 0)
    assert [(machine, verdict.level) for machine, verdict in found] == [("n4", Level.FAIL), ("n5", Level.FAIL)]


@pytest.mark.parametrize(("offsets", "told"), [
    ((30, 0), [("n1", "30.000 s ahead of n2's (give or take 0.020 s; 1 s is allowed)")]),  # of two, the farther from the controller's
    ((0, -30), [("n2", "30.000 s behind n1's (give or take 0.020 s; 1 s is allowed)")]),
    ((-3, 0, 3), [("n1", "3.000 s behind n2's (give or take 0.020 s; 1 s is allowed)"),
                  ("n3", "3.000 s ahead of n2's (give or take 0.020 s; 1 s is allowed)")]),
    # within the limit of the middle, and yet too far from one
    ((-0.6, 0, 0.6), [("n3", "1.200 s ahead of n1's (give or take 0.020 s; 1 s is allowed)")]),
    # taken off first, and then no farther from those that are left than is allowed
    ((0, 0.9, 0.95, 1.1, 1.9), [("n1", "1.025 s behind the middle of the 4 that agree (give or take 0.020 s; 1 s is allowed)")]),
])
def test_which_are_odd(group, offsets, told):
    found = compare(group, *offsets)
    assert [(machine, verdict.detail) for machine, verdict in found] == told
    assert {verdict.level for dummy, verdict in found} <= {Level.WARN, Level.FAIL}


def test_busy_machines_whose_clocks_agree_alarm_nobody(group):
    """However the truth lies within what is known of each offset."""
    rng = random.Random(1)
    for dummy in range(300):
        bounds = [(-rng.uniform(0, 0.5), rng.uniform(0, 0.5)) for dummy in range(6)]
        (machine, verdict), *more = compare(group, *[((low + high) / 2, (high - low) / 2) for low, high in bounds])
        assert (machine, verdict.level, more) == (None, Level.OK, []), bounds


def test_no_difference_passes_that_is_certainly_over_the_limit(group):
    rng, passed = random.Random(2), 0
    for dummy in range(500):
        known = [(rng.uniform(-2, 2), rng.uniform(0, 0.6)) for dummy in range(rng.randint(2, 5))]
        found = compare(group, *known)
        certain = max(abs(a - b) - e - f for a, e in known for b, f in known)
        worst = max(verdict.level for machine, verdict in found)
        assert worst > Level.OK or certain <= 1, known
        passed += worst == Level.OK
    assert 0 < passed < 500


BEHIND = "the controller's clock is about 30.000 s behind that of "


@pytest.mark.parametrize(("offsets", "told"), [
    ((30, 30, 30), [(None, warn(f"{BEHIND}all 3 machines", clocks.FIX_CONTROLLER))]),
    ((-30, -30.2, -29.9), [(None, warn(
        "the controller's clock is about 30.000 s ahead of that of all 3 machines", clocks.FIX_CONTROLLER))]),
    ((30, 30, 30, 30, 0), [
        ("n5", fail("30.000 s behind the middle of the 4 that agree (give or take 0.020 s; 1 s is allowed)", clocks.FIX)),
        (None, warn(f"{BEHIND}4 of 5 machines, which agree with each other", clocks.FIX_CONTROLLER))]),
    ((30, 30), [(None, ok("2 clocks are within 0.000 s of each other (give or take 0.020 s; 1 s is allowed)"))]),  # two may both be wrong
    ((1.2, 0.99, 1.3), [(None, ok("3 clocks are within 0.310 s of each other (give or take 0.020 s; 1 s is allowed)"))]),
    (((1.2, 0.3), (1.2, 0.3), (1.2, 0.3)),
     [(None, ok("3 clocks are within 0.000 s of each other (give or take 0.600 s; 1 s is allowed)"))]),
])
def test_the_controllers_own_clock(group, offsets, told):
    assert compare(group, *offsets) == told


# -------------------------------------------------------------------------------------------- read from several controllers
def from_controllers(group, **offsets):
    """Of machines by the controllers from which they were read, all in one group."""
    given = [(controller, offset) for controller, known in offsets.items() for offset in known]
    return clocks.compare(group({f"n{number}": {**clock(offset), "controller": controller}
                                 for number, (controller, offset) in enumerate(given, 1)}))


def test_offsets_from_different_controllers_are_not_compared(group):
    assert {verdict.level for machine, verdict in from_controllers(group, a=(0, 0.1), b=(30, 30.1))} == {Level.OK}
    assert from_controllers(group, a=(0,), b=(30,)) == []  # nothing to compare it with


def test_each_controllers_machines_are_compared_with_each_other(group):
    found = from_controllers(group, a=(0, 0, 30), b=(60, 60, 0.5))
    assert {machine: verdict.level for machine, verdict in found} == {"n3": Level.FAIL, "n6": Level.FAIL}


def test_the_controller_that_is_wrong_is_judged_by_its_own_machines(group):
    found = from_controllers(group, a=(0, 0, 0), b=(30, 30, 30))
    assert [verdict.level for machine, verdict in found] == [Level.OK, Level.WARN]
    assert "30.000 s behind that of all 3 machines" in found[1][1].detail


@pytest.mark.parametrize("nothing", ["", None])
def test_without_a_word_of_the_controller_it_is_one(group, nothing):
    assert [verdict.level for machine, verdict in from_controllers(group, **{"": (0, 0)})] == [Level.OK]
    records = {"n1": {**clock(0), "controller": nothing}, "n2": clock(30)}
    assert [machine for machine, verdict in clocks.compare(group(records))] == ["n2"]


@pytest.mark.parametrize(("offset", "level"), [(3, Level.WARN), (9, Level.FAIL), (1.2, Level.WARN)])
def test_where_nothing_keeps_the_odd_one_right_there_are_commands(group, offset, level):
    unkept = {"time_sources": [], "time_sync": {"synchronised": False, "by": "kernel"}, "apt": False}
    machines = {"n1": {**clock(0), **unkept}, "n2": clock(0), "n3": {**clock(offset), **unkept}}
    ((machine, verdict),) = clocks.compare(group(machines))
    assert (machine, verdict.level, verdict.commands) == ("n3", level, ("timedatectl set-ntp true",))
    ((machine, verdict),) = clocks.compare(group({**machines, "n3": clock(offset)}))
    assert (machine, verdict.level, verdict.commands) == ("n3", level, ())
