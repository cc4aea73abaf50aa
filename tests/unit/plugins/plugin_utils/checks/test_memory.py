from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import memory
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, fail, ok, warn

FIX = "Give the machine 3500 MB of memory, or move one of its roles to another machine."
MODELS = [{"name": "starter", "memory_mb": 2000}, {"name": "judges", "memory_mb": 4000}]
NEEDS = "needs 9500: 3500 for its roles, 6000 for starter, judges"


@pytest.mark.parametrize(("have", "verdict"), [
    (3500, ok("3500 MB (needs 3500)")),
    (3499, warn("3499 MB (needs 3500)", FIX)),
    (1750, warn("1750 MB (needs 3500)", FIX)),
    (1749, fail("1749 MB (needs 3500)", FIX)),
])
def test_levels(record, asked, have, verdict):
    assert memory.judge(record(memory_mb=have), asked("node")) == verdict


@pytest.mark.parametrize(("have", "verdict"), [
    (9500, ok(f"9500 MB ({NEEDS})")),
    (9499, fail(f"9499 MB ({NEEDS})", "Give the machine 9500 MB of memory, or serve starter, judges on another machine.")),
])
def test_short_of_what_models_need_never_only_warns(record, asked, have, verdict):
    assert memory.judge(record(memory_mb=have, serves=MODELS), asked("control_plane")) == verdict


def test_unread_is_no_pass_unless_nothing_is_needed(record, asked):
    unread = record(memory_mb=None, unmeasured={"memory_mb": "it would not say"})
    with pytest.raises(Unmeasured, match="^it would not say$"):
        memory.judge(unread, asked("node"))
    with pytest.raises(Unmeasured, match="^it would not say$"):
        memory.judge({**unread, "serves": MODELS}, asked())
    assert memory.judge(unread, asked()) == ok("none needed (not read: it would not say)")
