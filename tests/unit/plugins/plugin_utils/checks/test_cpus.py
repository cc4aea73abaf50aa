from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import cpus
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Level, Need, Unmeasured, fail, ok, warn

FIX = "Give the machine 2 CPUs, or move one of its roles to another machine."


@pytest.mark.parametrize(("have", "verdict"), [
    (3, ok("3 usable (needs 2)")),
    (2, ok("2 usable (needs 2)")),
    (1, warn("1 usable (needs 2)", FIX)),
    (0, fail("0 usable (needs 2)", FIX)),
])
def test_levels(record, asked, have, verdict):
    assert cpus.judge(record(cpus=have), asked("node")) == verdict


def test_both_are_told_when_not_all_can_be_used(record, asked):
    assert cpus.judge(record(cpus=2, cpus_online=16), asked("node")) == ok("2 usable of 16 (needs 2)")
    assert cpus.judge(record(cpus=2, cpus_online=2), asked("node")) == ok("2 usable (needs 2)")


def test_half_of_an_odd_need_is_rounded_for_nobody(record, asked):
    need = asked(need=Need(cpus=5))
    assert [cpus.judge(record(cpus=have), need).level for have in (2, 3)] == [Level.FAIL, Level.WARN]


def test_unread_is_no_pass_unless_nothing_is_needed(record, asked):
    unread = record(cpus=None, unmeasured={"cpus": "it would not say"})
    with pytest.raises(Unmeasured, match="^it would not say$"):
        cpus.judge(unread, asked("node"))
    assert cpus.judge(unread, asked()) == ok("none needed (not read: it would not say)")
