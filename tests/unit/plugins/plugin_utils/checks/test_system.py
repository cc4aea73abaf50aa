from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import system
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok, warn

SUPPORTED = "ubuntu 22.04, 24.04; debian 12"
UNTESTED = f"It may work. To be safe, use one of these: {SUPPORTED}."


@pytest.mark.parametrize(("section", "verdict"), [
    ({"id": "debian", "version": "12", "name": "Debian 12"}, ok("Debian 12")),
    ({"id": "ubuntu", "version": "24.04", "name": ""}, ok("ubuntu")),
    ({"id": "ubuntu", "version": "23.10", "name": "Ubuntu 23.10"},
     warn(f"Ubuntu 23.10 was not tested (version 23.10; tested: {SUPPORTED})", UNTESTED)),
    ({"id": "debian", "version": None, "name": "Debian sid"},
     warn(f"Debian sid was not tested (no version in os-release; tested: {SUPPORTED})", UNTESTED)),
    ({"id": "fedora", "version": "40", "name": "Fedora 40"},
     fail(f"Fedora 40 is not supported (supported: {SUPPORTED})", f"Install one of these: {SUPPORTED}.")),
])
def test_levels(record, asked, section, verdict):
    assert system.judge(record(system=section), asked()) == verdict


def test_what_is_supported_can_be_given(record, asked):
    rocky = record(system={"id": "rocky", "version": "9", "name": "Rocky 9"})
    assert system.judge(rocky, asked(systems={"rocky": ("9",)})) == ok("Rocky 9")
