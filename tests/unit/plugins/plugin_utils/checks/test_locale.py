from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import locale
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, ok, warn


@pytest.mark.parametrize(("found", "verdict"), [
    (["C.UTF-8"], ok("C.UTF-8 for PostgreSQL")),
    (["a.utf8", "b.utf8", "c.utf8", "d.utf8"], ok("a.utf8, b.utf8, c.utf8 and 1 more for PostgreSQL")),
    ([], warn("there is no UTF-8 locale for PostgreSQL", locale.FIX, *locale.COMMANDS)),
])
def test_levels(record, asked, found, verdict):
    assert locale.judge(record(locales=found), asked("database")) == verdict


def test_only_postgresql_is_asked_about(record, asked):
    unread = record(locales=None, unmeasured={"locales": "no answer"})
    assert locale.judge(unread, asked("node", "etcd_witness")) is None
    with pytest.raises(Unmeasured, match="^no answer$"):
        locale.judge(unread, asked("etcd_witness", "database"))


def test_without_apt_there_is_no_command(record, asked):
    assert locale.judge(record(locales=[], apt=False), asked("database")) == warn("there is no UTF-8 locale for PostgreSQL", locale.FIX)
