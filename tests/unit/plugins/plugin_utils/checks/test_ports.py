from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import ports
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import ok, warn

FIX = "If this is not an earlier install of the same role, stop what listens there (sudo ss -ltnp shows it)."


def held(port, address="0.0.0.0", process=None, **more):
    return {"port": port, "address": address, "process": process, **more}


@pytest.mark.parametrize(("listening", "verdict"), [
    ([], ok("free: 2379, 2380")),
    ([held(22), held(23790)], ok("free: 2379, 2380")),
    ([held(2380)], warn("in use: 2380 on 0.0.0.0", FIX)),
    ([held(2380, user="etcd")], warn("in use: 2380 by user etcd on 0.0.0.0", FIX)),
    ([held(2380, "::", "etcd", user="root"), held(2379, "127.0.0.1", "etcd"), held(2379, "::1", "etcd")],
     warn("in use: 2379 by etcd on 127.0.0.1, ::1; 2380 by etcd on ::", FIX)),
])
def test_levels(record, asked, listening, verdict):
    assert ports.judge(record(listening=listening), asked("etcd_witness")) == verdict


def test_left_out_where_no_role_listens(record, asked):
    assert ports.judge(record(listening=None), asked("node")) is None


def test_what_another_preflight_left_has_a_fix_of_its_own(record, asked):
    left = [{"port": 5432, "address": "::", "process": "llmgw-preflight"}]
    assert ports.judge(record(listening=left), asked("database")) == warn("in use: 5432 by llmgw-preflight on ::", ports.FIX_STAND_IN)
    both = [*left, {"port": 8008, "address": "::", "process": "patroni"}]
    assert ports.judge(record(listening=both), asked("database")).fix != ports.FIX_STAND_IN
