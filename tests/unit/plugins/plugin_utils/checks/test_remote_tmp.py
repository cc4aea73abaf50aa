from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import remote_tmp
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok


@pytest.mark.parametrize(("problem", "verdict"), [
    (None, ok("/srv/tmp takes files")),
    ("is full", fail("Ansible's folder /srv/tmp is full", remote_tmp.FIX)),
    ("can not be made: / can not be written to by this user",
     fail("Ansible's folder /srv/tmp can not be made: / can not be written to by this user", remote_tmp.FIX)),
])
@pytest.mark.parametrize("local", [False, True])
def test_levels(record, asked, problem, verdict, local):
    assert remote_tmp.judge(record(local=local, remote_tmp={"path": "/srv/tmp", "problem": problem}), asked()) == verdict
