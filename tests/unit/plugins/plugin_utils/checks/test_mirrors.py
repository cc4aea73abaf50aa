from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import mirrors
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok, warn


def tried(source="http://a/debian x", ok=True, via="direct", stage=None, reason=None):
    return {"source": source, "ok": ok, "via": via, "stage": stage, "reason": reason, "seconds": 0.1}


def bad(source="http://b/debian x", stage="connect", reason="Connection refused", **more):
    return tried(source, False, stage=stage, reason=reason, **more)


SCRIPT = "a script tells apt the proxy (Proxy-Auto-Detect), and is not run"


@pytest.mark.parametrize(("section", "verdict"), [
    ([tried(), tried("http://a/debian y", via="http://p:3128")],
     ok("answering: http://a/debian x; http://a/debian y by way of http://p:3128")),
    ([tried(), bad()], warn("http://b/debian x: connection: Connection refused (1 of 2 answer)", mirrors.FIXES["connect"])),
    ([bad()], fail("http://b/debian x: connection: Connection refused (0 of 1 answer)", mirrors.FIXES["connect"])),
    ([bad(stage="dns", reason="its name can not be resolved (x)"), bad("http://c/ y", stage="http", reason="it answers 404 Not Found"),
      bad("https://d/ z", stage="tls", reason="certificate has expired", via="http://p"), bad("file:/srv", stage="file", reason=None)],
     fail("http://b/debian x: name: its name can not be resolved (x); http://c/ y: HTTP: it answers 404 Not Found; "
          "https://d/ z by way of http://p: TLS: certificate has expired; file:/srv: file: no answer (0 of 4 answer)",
          " ".join(mirrors.FIXES[stage] for stage in ("dns", "http", "tls", "file")))),
    ([bad(stage=None), bad("http://c/ y")], fail(
        "http://b/debian x: connection: Connection refused; http://c/ y: connection: Connection refused (0 of 2 answer)",
        mirrors.FIXES["connect"])),
    # What only apt could try stops nothing.
    ([tried(ok=None, reason=SCRIPT)], warn(f"http://a/debian x could not be tried: {SCRIPT} (0 of 1 answer)", mirrors.FIX_UNREAD)),
    ([tried("cdrom://[Debian] x", ok=None, reason="it is a disc"), tried(ok=None, reason=SCRIPT), bad()],
     warn("http://b/debian x: connection: Connection refused; cdrom://[Debian] x could not be tried: it is a disc; "
          f"http://a/debian x could not be tried: {SCRIPT} (0 of 3 answer)",
          f"{mirrors.FIXES['connect']} {mirrors.FIX_DISC} {mirrors.FIX_UNREAD}")),
    ([], fail("apt has no package sources", mirrors.FIX_NONE)),
])
def test_levels(record, asked, section, verdict):
    assert mirrors.judge(record(mirrors=section), asked()) == verdict


def test_of_many_some_are_named(record, asked):
    found = mirrors.judge(record(mirrors=[bad(f"http://{number}/ x") for number in range(20)]), asked())
    assert found.detail.count("http://") == 8
    assert found.detail.endswith(" and 12 more (0 of 20 answer)")


def test_without_apt_the_check_packages_tells_it(record, asked):
    assert mirrors.judge(record(apt=False, mirrors=None), asked()) is None
