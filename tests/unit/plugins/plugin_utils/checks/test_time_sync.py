from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import time_sync
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import ok, warn


@pytest.mark.parametrize(("section", "verdict"), [
    ({"synchronised": True, "by": "chrony"}, ok("synchronised (says chrony)")),
    ({"synchronised": True, "by": None}, ok("synchronised")),
    ({"synchronised": False, "by": "kernel"}, warn("not synchronised (says the kernel)", time_sync.FIX)),
    ({"synchronised": False, "by": None}, warn("not synchronised", time_sync.FIX)),
])
def test_levels(record, asked, section, verdict):
    assert time_sync.judge(record(time_sync=section), asked()) == verdict
