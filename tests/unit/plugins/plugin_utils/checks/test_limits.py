from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import limits
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, fail, ok, warn

OK = ok("not held to less than the machine shows")


@pytest.mark.parametrize(("cpus", "memory_mb", "verdict"), [
    (None, None, OK),
    (4, 7950, OK),
    (3.5, None, warn("may use only 3.5 CPUs (shows 4, needs 2)", limits.FIX)),
    (2, None, warn("may use only 2 CPUs (shows 4, needs 2)", limits.FIX)),
    (1.99, None, fail("may use only 1.99 CPUs (shows 4, needs 2)", limits.FIX)),
    (None, 3500, warn("may use only 3500 MB of memory (shows 7950, needs 3500)", limits.FIX)),
    (3.0, 3499, fail("may use only 3 CPUs (shows 4, needs 2) and 3499 MB of memory (shows 7950, needs 3500)", limits.FIX)),
])
def test_levels(record, asked, cpus, memory_mb, verdict):
    assert limits.judge(record(confinement={"cpus": cpus, "memory_mb": memory_mb}), asked("node")) == verdict


def test_the_models_to_serve_need_memory_too(record, asked):
    held = record(confinement={"cpus": None, "memory_mb": 5000}, serves=[{"name": "m", "memory_mb": 2000}])
    assert limits.judge(held, asked("node")) == fail("may use only 5000 MB of memory (shows 7950, needs 5500)", limits.FIX)


def test_unread_is_no_pass_unless_nothing_is_needed(record, asked):
    unread = record(confinement=None, unmeasured={"confinement": "no groups"})
    assert limits.judge(unread, asked()) == ok("none needed (not read: no groups)")
    with pytest.raises(Unmeasured, match="^no groups$"):
        limits.judge(unread, asked("node"))


def test_what_the_machine_shows_need_not_be_known(record, asked):
    held = record(cpus=None, confinement={"cpus": 1, "memory_mb": None})
    assert limits.judge(held, asked()) == warn("may use only 1 CPUs (shows nothing, needs 0)", limits.FIX)


@pytest.mark.parametrize(("swap_mb", "overcommit", "verdict"), [
    (0, 0, OK),
    (2047, 2, OK),
    (2047, 0, warn("2047 MB of swap for PostgreSQL, with vm.overcommit_memory 0 (its manual asks for 2)", limits.FIX_SWAP)),
    (1, 1, warn("1 MB of swap for PostgreSQL, with vm.overcommit_memory 1 (its manual asks for 2)", limits.FIX_SWAP)),
])
def test_swap_where_postgresql_will_run(record, asked, swap_mb, overcommit, verdict):
    swapping = record(swap={"swap_mb": swap_mb, "overcommit_memory": overcommit})
    assert limits.judge(swapping, asked("database")) == verdict
    assert limits.judge(swapping, asked("node", "etcd_witness")) == OK


def test_swap_is_told_beside_what_is_worse(record, asked):
    swap = {"swap_mb": 5, "overcommit_memory": 0}
    assert limits.judge(record(confinement={"cpus": 1, "memory_mb": None}, swap=swap), asked("database")) == fail(
        "may use only 1 CPUs (shows 4, needs 2); 5 MB of swap for PostgreSQL, with vm.overcommit_memory 0 (its manual asks for 2)",
        f"{limits.FIX} {limits.FIX_SWAP}")


@pytest.mark.parametrize(("sections", "reason"), [
    ({"unmeasured": {"swap": "no answer"}}, "no answer"), ({}, "the record does not hold it"),
])
def test_swap_that_was_not_read_is_a_warning_and_no_more(record, asked, sections, reason):
    assert limits.judge(record(swap=None, **sections), asked("database")) == warn(
        f"whether there is swap could not be read: {reason}", limits.FIX_SWAP)
    assert limits.judge(record(swap=None, **sections), asked("node")) == OK
