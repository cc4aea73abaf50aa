from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import login
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok


def test_logged_in(record, asked):
    assert login.judge(record(), asked()) == ok("logged in as ops")


@pytest.mark.parametrize("cause", [*login.FIXES, "other", None])
def test_not_logged_in_is_told_with_the_fix_for_its_cause(record, asked, cause):
    found = login.judge(record(login={"ok": False, "reason": "\n Connection refused \nand more", "cause": cause}), asked())
    assert found == fail("Connection refused", login.FIXES.get(cause, login.FIX_OTHER))


@pytest.mark.parametrize(("section", "why"), [
    (None, "the record does not hold it"),
    ({}, "login.ok is not in the record"),
    ({"ok": "yes"}, "login.ok is 'yes' in the record, which is not of its type"),
    ({"ok": True}, "login.user is not in the record"),
    ({"ok": False}, "login.reason is not in the record"),
])
def test_a_login_that_is_not_known_never_passes(record, asked, section, why):
    assert login.judge(record(login=section), asked()) == fail(f"not known whether the login worked: {why}", login.FIX_OTHER)
