from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import time_sync
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import ok, warn

SWITCH = "timedatectl set-ntp true"


@pytest.mark.parametrize(("section", "verdict"), [
    ({"synchronised": True, "by": "chrony"}, ok("synchronised (says chrony)")),
    ({"synchronised": True, "by": None}, ok("synchronised")),
    ({"synchronised": False, "by": "kernel"}, warn("not synchronised (says the kernel)", time_sync.FIX)),
    ({"synchronised": False, "by": None}, warn("not synchronised", time_sync.FIX)),  # though chrony is there
])
def test_levels(record, asked, section, verdict):
    assert time_sync.judge(record(time_sync=section), asked()) == verdict


@pytest.mark.parametrize(("apt", "command"), [
    (True, f"{SWITCH} || {{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get -y install chrony; }}"),
    (False, SWITCH), (None, SWITCH)])
def test_where_nothing_keeps_it_a_command_does(record, asked, apt, command):
    found = time_sync.judge(record(time_sync={"synchronised": False, "by": "kernel"}, time_sources=[], apt=apt), asked())
    assert found == warn("not synchronised (says the kernel)", time_sync.FIX, command)
