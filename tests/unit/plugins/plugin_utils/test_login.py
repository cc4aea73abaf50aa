from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks.login import FIXES
from ansible_collections.llmgw.preflight.plugins.plugin_utils.login import CAUSES, cause_of, reason_of, told_by
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import NotRead


def test_each_cause_has_a_fix():
    assert {cause for cause, words in CAUSES} <= set(FIXES)


@pytest.mark.parametrize(("said", "cause", "reason"), [
    ("Failed to connect to the host via ssh: ssh: connect to host 10.0.0.1 port 22: Connection refused", "refused",
     "ssh: connect to host 10.0.0.1 port 22: Connection refused"),
    ("Task failed: Failed to connect to the host via ssh: ssh: connect to host m port 22: No route to host", "no_route",
     "ssh: connect to host m port 22: No route to host"),
    ('Data could not be sent to remote host "m". Make sure this host can be reached over ssh: ops@m: Permission denied (publickey).',
     "denied", "ops@m: Permission denied (publickey)."),
    ("Warning: Permanently added 'm'.\nwelcome\nops@m: Permission denied (publickey).\nbye", "denied",
     "ops@m: Permission denied (publickey)."),
    ("ssh: Could not resolve hostname nosuch: Name or service not known", "no_name",
     "ssh: Could not resolve hostname nosuch: Name or service not known"),
    ("command-line: line 0: Bad configuration option: nosuchoption", "options",
     "command-line: line 0: Bad configuration option: nosuchoption"),
    ("unknown option -- Q\nusage: ssh [-46AaCfGgKkMNnqsTtVvXxYy] [-B bind_interface]", "options", "unknown option -- Q"),
    ("Connection timed out during banner exchange", "timeout", "Connection timed out during banner exchange"),
    ("@@@\nWARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\n@@@\nHost key verification failed.", "host_key",
     "Host key verification failed."),
    ("MODULE FAILURE\n/bin/sh: 1: /usr/bin/python3: not found\n", "python", "/bin/sh: 1: /usr/bin/python3: not found"),
    ("Ansible requires Python 3.9 or newer on the target. Current version: 3.8.18", "python",
     "Ansible requires Python 3.9 or newer on the target. Current version: 3.8.18"),
    ("OSError: [Errno 28] No space left on device: '/tmp/x'", "no_room", "OSError: [Errno 28] No space left on device: '/tmp/x'"),
    ("kex_exchange_identification: read: Connection reset by peer", "dropped",
     "kex_exchange_identification: read: Connection reset by peer"),
    ("to use the 'ssh' connection type with passwords, you must install the sshpass program", "controller",
     "to use the 'ssh' connection type with passwords, you must install the sshpass program"),
    ("winrm or requests is not installed: No module named 'winrm'", "controller",
     "winrm or requests is not installed: No module named 'winrm'"),
    ("Unable to execute ssh command line on a controller: [Errno 2] No such file or directory: b'/x'", "controller",
     "Unable to execute ssh command line on a controller: [Errno 2] No such file or directory: b'/x'"),
    ("Segmentation fault", "other", "Segmentation fault"),
    ("", "other", ""),
])
def test_what_was_said(said, cause, reason):
    assert cause_of(said) == cause
    assert reason_of(said) == reason


class Told(Exception):
    message = "Connection refused"


@pytest.mark.parametrize(("problem", "told"), [
    (Told("Task failed: Connection refused"), ("Connection refused", "refused")),
    (RuntimeError("No route to host"), ("No route to host", "no_route")),
    (KeyError(), ("KeyError", "other")),
    (NotRead("sh: 1: /opt/python: Permission denied", "python"), ("sh: 1: /opt/python: Permission denied", "python")),
    (NotRead("Connection refused"), ("Connection refused", "refused")),
])
def test_what_an_exception_says(problem, told):
    assert told_by(problem) == told
