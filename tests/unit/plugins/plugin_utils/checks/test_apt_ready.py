from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import apt_ready
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, ok, warn


def lock(path="/var/lib/dpkg/lock", process="unattended-upgr"):
    return {"path": path, "pid": 812, "process": process}


@pytest.mark.parametrize(("locks", "verdict"), [
    ([], ok("no program holds the locks of dpkg and apt")),
    ([lock()], warn("/var/lib/dpkg/lock is held by unattended-upgr (process 812)", apt_ready.FIX)),
    ([lock(process=None), lock("/b")],
     warn("/var/lib/dpkg/lock is held by a program (process 812); /b is held by unattended-upgr (process 812)", apt_ready.FIX)),
])
def test_levels(record, asked, locks, verdict):
    assert apt_ready.judge(record(package_locks=locks), asked("node")) == verdict


def test_without_apt_the_check_packages_tells_it(record, asked):
    assert apt_ready.judge(record(apt=False), asked("node")) is None
    with pytest.raises(Unmeasured):
        apt_ready.judge(record(apt=None, package_locks=None), asked("node"))
