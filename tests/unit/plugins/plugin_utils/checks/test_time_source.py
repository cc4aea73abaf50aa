from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import time_source
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import ok, warn


@pytest.mark.parametrize(("found", "verdict"), [
    ([], ok("no program of this machine's own sets the clock")),
    (["chrony"], ok("set by chrony")),
    (["chrony", "phc2sys", "ptp4l"], ok("set by chrony and phc2sys and ptp4l")),
    (["phc2sys", "ptp4l"], ok("set by phc2sys and ptp4l")),
    (["chrony", "systemd-timesyncd"], warn(
        "set by 2 programs at once: chrony and systemd-timesyncd",
        "Keep one of them, for instance chrony: systemctl disable --now systemd-timesyncd.",
        "systemctl disable --now systemd-timesyncd")),
    (["ntpsec", "openntpd", "ptp4l", "systemd-timesyncd"], warn(
        "set by 3 programs at once: ntpsec and openntpd and systemd-timesyncd and ptp4l",
        "Keep one of them, for instance ntpsec: systemctl disable --now openntpd systemd-timesyncd.")),
    (["chrony", "ntpd"], warn("set by 2 programs at once: chrony and ntpd",
                              "Keep one of them, for instance chrony: systemctl disable --now ntp.")),
])
def test_levels(record, asked, found, verdict):
    assert time_source.judge(record(time_sources=found), asked()) == verdict
