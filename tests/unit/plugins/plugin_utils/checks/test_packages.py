from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import packages
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok


@pytest.mark.parametrize(("there", "verdict"), [
    (True, ok("apt-get is there")),
    (False, fail("apt-get is not there", "Use a system with apt (Debian, Ubuntu), or put apt-get back on the PATH.")),
])
def test_levels(record, asked, there, verdict):
    assert packages.judge(record(apt=there), asked()) == verdict
