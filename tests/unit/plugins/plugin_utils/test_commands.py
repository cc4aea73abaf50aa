from __future__ import annotations

import subprocess

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import commands
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import apt_ready, locale, temp

UNKEPT = {"time_sync": {"synchronised": False, "by": "kernel"}, "time_sources": []}


def test_each_is_one_line_that_a_shell_takes_and_asks_nothing(record):
    given = [*apt_ready.COMMANDS_DPKG, *locale.COMMANDS, temp.REMOUNT, commands.UPDATE,
             *commands.clock_kept(record(**UNKEPT)), *commands.clock_kept(record(apt=False, **UNKEPT))]
    assert len(given) == 8
    for command in given:
        assert subprocess.run(["sh", "-n"], input=command.encode(), check=False).returncode == 0, command
        assert "\n" not in command and "sudo" not in command
        assert all(words.startswith((" -y ", " update")) for words in command.split("apt-get")[1:])


@pytest.mark.parametrize("sections", [
    {"time_sources": ["chrony"]}, {"time_sources": ["ptp4l"]}, {"time_sources": None}, {"time_sources": "x"},
    {"time_sync": {"synchronised": True, "by": "kernel"}}, {"time_sync": None}, {"time_sync": 5}, {"time_sync": {}},
])
def test_a_clock_that_is_kept_or_may_be_has_none(record, sections):
    assert commands.clock_kept(record(**UNKEPT))
    assert commands.clock_kept(record(**{**UNKEPT, **sections})) == ()
