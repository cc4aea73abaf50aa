from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import quorum
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import ok, warn


@pytest.mark.parametrize(("read", "others", "verdict"), [
    (["db1", "n1"], [], ok("1 etcd member (db1): its loss stops everything")),
    (["db1", "db2", "n1"], [],
     warn("2 etcd members (db1, db2): the loss of either stops everything, so they are no safer than one", quorum.FIX)),
    (["db1", "db2"], ["w1"], ok("3 etcd members (db1, db2, w1): 1 may be lost")),
    (["db1", "db2", "cp1"], ["w1", "w2"],
     warn("4 etcd members (db1, db2, w1, w2): 1 may be lost, as with 3, and the loss of 2 stops everything", quorum.FIX)),
    ([f"w{number}" for number in range(1, 6)], [], ok("5 etcd members (w1, w2, w3, w4, w5): 2 may be lost")),
    ([f"w{number}" for number in range(1, 11)], [], warn(
        "10 etcd members (w1, w2, w3, w4, w5, w6, w7, w8 and 2 more): 4 may be lost, as with 9, and the loss of 5 stops everything",
        quorum.FIX)),
    ([], ["db1", "db2"], warn("2 etcd members (db1, db2): the loss of either stops everything, so they are no safer than one", quorum.FIX)),
])
def test_levels(group, read, others, verdict):
    assert quorum.compare(group({name: {} for name in read}, others)) == [(None, verdict)]


@pytest.mark.parametrize(("read", "others"), [(["db1"], []), (["n1", "cp1"], ["n2"])])
def test_left_out(group, read, others):
    assert quorum.compare(group({name: {} for name in read}, others)) == []
