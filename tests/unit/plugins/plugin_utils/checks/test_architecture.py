from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import architecture
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok


@pytest.mark.parametrize("name", ["x86_64", "aarch64"])
def test_supported(record, asked, name):
    assert architecture.judge(record(architecture=name), asked()) == ok(name)


@pytest.mark.parametrize("name", ["armv7l", "i686", "arm64", ""])
def test_not_supported(record, asked, name):
    assert architecture.judge(record(architecture=name), asked()) == fail(
        f"{name} is not supported (supported: x86_64, aarch64)", "Use a machine of one of these: x86_64, aarch64.")
