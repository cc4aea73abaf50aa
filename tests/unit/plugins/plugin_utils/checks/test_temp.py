from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import temp as module_utils_temp
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import temp
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, fail, ok, warn

OK = ok("/tmp and /var/tmp take files")
SMALL = "99 MB free in /tmp (needs 100)"
NOEXEC = "/tmp is mounted noexec"
CLOSED = "is not open to all users (mode 755)"


def folder(path, problem=None, noexec=False, free_mb=1000):
    return {"path": path, "problem": problem, "noexec": noexec, "free_bytes": free_mb * 2**20}


@pytest.mark.parametrize(("tmp", "var_tmp", "verdict"), [
    ({}, {}, OK),
    ({"free_mb": 100}, {}, OK),
    ({"free_mb": 99.99}, {}, warn(SMALL, temp.FIX_SMALL)),
    ({"noexec": True}, {}, warn(NOEXEC, temp.FIX_NOEXEC, temp.REMOUNT)),
    ({"noexec": True, "free_mb": 99}, {}, warn(f"{SMALL}; {NOEXEC}", f"{temp.FIX_SMALL} {temp.FIX_NOEXEC}", temp.REMOUNT)),
    ({}, {"noexec": True, "free_mb": 1}, OK),
    ({"problem": "is full", "free_mb": 0}, {}, warn("/tmp is full", temp.FIX_USE)),
    ({"noexec": True}, {"problem": "is mounted read-only"}, warn("/var/tmp is mounted read-only", temp.FIX_USE)),
    ({}, {"problem": CLOSED}, warn(f"/var/tmp {CLOSED}", temp.FIX_USE, "chmod 1777 /var/tmp")),
    ({"problem": CLOSED}, {"problem": CLOSED},
     fail(f"/tmp {CLOSED}; /var/tmp {CLOSED}", temp.FIX_USE, "chmod 1777 /tmp", "chmod 1777 /var/tmp")),
    ({"problem": "is full"}, {"problem": CLOSED}, fail(f"/tmp is full; /var/tmp {CLOSED}", temp.FIX_USE, "chmod 1777 /var/tmp")),
    ({"problem": "is full"}, {"problem": "is mounted read-only"}, fail("/tmp is full; /var/tmp is mounted read-only", temp.FIX_USE)),
])
def test_levels(record, asked, tmp, var_tmp, verdict):
    tmp, var_tmp = folder("/tmp", **tmp), folder("/var/tmp", **var_tmp)
    tmp["free_bytes"] = int(tmp["free_bytes"])
    assert temp.judge(record(temp=[tmp, var_tmp]), asked()) == verdict


def test_a_folder_that_is_not_told_of_is_unread(record, asked):
    with pytest.raises(Unmeasured, match="^temp does not hold /var/tmp$"):
        temp.judge(record(temp=[folder("/tmp")]), asked())


def test_a_folder_that_is_not_open_is_known_by_what_the_machine_says(tmp_path):
    tmp_path.chmod(0o755)
    assert module_utils_temp._look_at(str(tmp_path))["problem"].startswith(temp.OPEN)
