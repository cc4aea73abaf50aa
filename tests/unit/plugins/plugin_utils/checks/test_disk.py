from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import disk
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import GIB, Level, Unmeasured, fail, ok, warn

FIX = "Free space on / or enlarge it, to 20 GB free (du -xh / | sort -h shows what is large)."


def root(free_bytes):
    return [{"path": "/var", "mount": "/var", "free_bytes": 0}, {"path": "/", "mount": "/", "free_bytes": free_bytes}]


@pytest.mark.parametrize(("free_bytes", "verdict"), [
    (20 * GIB, ok("20 GB free on / (needs 20)")),
    (19 * GIB + 1, ok("20 GB free on / (needs 20)")),
    (19 * GIB, warn("19 GB free on / (needs 20)", FIX)),
    (9 * GIB + 1, warn("10 GB free on / (needs 20)", FIX)),
    (9 * GIB, fail("9 GB free on / (needs 20)", FIX)),
    (0, fail("0 GB free on / (needs 20)", FIX)),
])
def test_levels_and_rounding_up(record, asked, free_bytes, verdict):
    assert disk.judge(record(disks=root(free_bytes)), asked("node")) == verdict


def test_without_the_path_it_is_not_measured(record, asked):
    with pytest.raises(Unmeasured, match="^disks does not hold /$"):
        disk.judge(record(disks=root(0)[:1]), asked("node"))
    assert disk.judge(record(disks=[]), asked()) == ok("none needed (not read: disks does not hold /)")


def test_a_mount_that_does_not_answer(record, asked):
    silent = [{"path": "/nfs", "source": "nas:/export"}]
    assert disk.judge(record(disks=root(20 * GIB), silent_mounts=silent), asked("node")) == warn(
        "20 GB free on / (needs 20), but a mount does not answer: /nfs (nas:/export)", disk.FIX_SILENT)
    assert disk.judge(record(disks=root(9 * GIB), silent_mounts=silent), asked("node")).level == Level.FAIL
    assert disk.judge(record(disks=root(20 * GIB), silent_mounts="junk"), asked("node")) == ok("20 GB free on / (needs 20)")


MODELS = [{"name": "starter", "memory_mb": 1, "disk_gb": 10}, {"name": "in memory", "memory_mb": 1},
          {"name": "judges", "memory_mb": 1, "disk_gb": 30}]
NEEDS = "needs 60: 20 for its roles, 40 for starter, judges"


@pytest.mark.parametrize(("free", "verdict"), [
    (60, ok(f"60 GB free on / ({NEEDS})")),
    (59, fail(f"59 GB free on / ({NEEDS})",
              "Free space on / or enlarge it, to 60 GB free, or serve starter, judges on another machine.")),
])
def test_short_of_what_models_need_never_only_warns(record, asked, free, verdict):
    assert disk.judge(record(disks=root(free * GIB), serves=MODELS), asked("node")) == verdict


def test_models_without_a_figure_change_nothing(record, asked):
    assert disk.judge(record(disks=root(20 * GIB), serves=MODELS[1:2]), asked("node")) == ok("20 GB free on / (needs 20)")
    with pytest.raises(Unmeasured, match="^disk_gb is 'x' in the record, which is not of its type$"):
        disk.judge(record(disks=root(20 * GIB), serves=[{"name": "m", "disk_gb": "x"}]), asked("node"))
