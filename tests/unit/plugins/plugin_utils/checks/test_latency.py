from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import latency
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok, warn


def slowest(seconds, machine="w1"):
    return {"edges": {"slowest": {"machine": machine, "seconds": seconds}}}


@pytest.mark.parametrize(("seconds", "verdict"), [
    (0.00042, ok("0.4 ms to w1 and back (10 ms is allowed)")),
    (0.01, ok("10.0 ms to w1 and back (10 ms is allowed)")),
    (0.0101, warn("10.1 ms to w1 and back (10 ms is allowed)", latency.FIX)),
    (0.1, warn("100.0 ms to w1 and back (10 ms is allowed)", latency.FIX)),
    (0.1001, fail("100.1 ms to w1 and back (10 ms is allowed)", latency.FIX)),
])
def test_levels(group, seconds, verdict):
    near = ok("0.1 ms to db1 and back (10 ms is allowed)")
    found = latency.compare(group({"db1": slowest(seconds), "w1": slowest(0.0001, "db1"), "n1": slowest(9)}))
    assert found == [("db1", verdict), ("w1", near)]


def test_limits_of_the_users(group):
    found = latency.compare(group({"db1": slowest(0.3), "w1": {}}, latency_warn_s=0.25, latency_fail_s=0.5))
    assert found == [("db1", warn("300.0 ms to w1 and back (250 ms is allowed)", latency.FIX))]


def test_nothing_was_tried(group):
    assert latency.compare(group({"db1": {}, "w1": {}})) == []


CLOSED = {"machine": "w1", "address": "10.0.0.2", "outcome": "timeout"}


@pytest.mark.parametrize(("sections", "verdict"), [
    ({"edges": {"slowest": None}}, warn("could not be measured to db2, w1", latency.FIX_UNREAD)),
    ({"stand_ins": {}}, warn("could not be measured to db2, w1", latency.FIX_UNREAD)),  # nobody of its own run to try
    (slowest(0.001), warn("1.0 ms to w1 and back (10 ms is allowed); could not be measured to db2", latency.FIX_UNREAD)),
    (slowest(0.02), warn("20.0 ms to w1 and back (10 ms is allowed); could not be measured to db2", f"{latency.FIX} {latency.FIX_UNREAD}")),
    (slowest(0.2), fail("200.0 ms to w1 and back (10 ms is allowed); could not be measured to db2", f"{latency.FIX} {latency.FIX_UNREAD}")),
    ({"edges": {"slowest": {"machine": "w1", "seconds": 0.001}, "measured": ["db2", "w1"]}},
     ok("1.0 ms to w1 and back (10 ms is allowed)")),
    ({"edges": {"slowest": {"machine": "db2", "seconds": 0.001}, "measured": ["db2"], "not_open": [{**CLOSED, "port": 2379}]}},
     warn("1.0 ms to db2 and back (10 ms is allowed); could not be measured to w1", latency.FIX_UNREAD)),
])
def test_what_could_not_be_measured_is_no_pass(group, sections, verdict):
    assert dict(latency.compare(group({"db1": sections, "db2": {}, "w1": {}, "n1": {"stand_ins": {}}})))["db1"] == verdict


@pytest.mark.parametrize("sections", [
    {"edges": {"slowest": None, "measured": [], "not_open": [{**CLOSED, "port": 2380}]}},
    {"stand_ins": {}, "reach": {"tried": 1, "open": 0, "not_open": [{**CLOSED, "port": 22}]}},
], ids=["role_ports", "network"])
def test_of_what_is_not_reached_other_checks_tell(group, sections):
    assert latency.compare(group({"db1": sections, "w1": {}})) == []


@pytest.mark.parametrize(("sections", "reason"), [
    ({"unmeasured": {"edges": "no answer"}}, "no answer"),
    ({"edges": 5}, "edges is not a mapping in the record"),
    ({"edges": {}}, "edges.slowest is not in the record"),
    ({"edges": {"slowest": {"machine": "w1", "seconds": "fast"}}}, "slowest.seconds is 'fast' in the record, which is not of its type"),
])
def test_what_was_tried_and_could_not_be_read(group, sections, reason):
    assert latency.compare(group({"db1": sections, "w1": slowest(0.02, "db1")})) == [
        ("db1", fail(f"could not be read: {reason}", latency.FIX_UNREAD)),
        ("w1", warn("20.0 ms to db1 and back (10 ms is allowed)", latency.FIX))]


@pytest.mark.parametrize(("read", "others"), [(["db1"], ["w1"]), (["db1", "n1"], [])])
def test_left_out_where_there_are_no_two(group, read, others):
    assert latency.compare(group({name: slowest(9) for name in read}, others)) == []


def test_a_figure_that_is_none_is_no_pass(group):
    """Also where the machine says to whom it measured."""
    told = {"edges": {"slowest": None, "measured": ["w1"]}}
    assert latency.compare(group({"db1": told, "w1": {}})) == [("db1", warn("could not be measured to w1", latency.FIX_UNREAD))]
    assert latency.compare(group({"db1": slowest(-1), "w1": {}})) == [
        ("db1", warn("-1000.0 ms to w1 and back (10 ms is allowed)", latency.FIX))]
