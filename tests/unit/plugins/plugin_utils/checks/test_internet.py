from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import internet
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok, warn


def tried(url="http://a/", ok=False, via="direct", stage="connect", reason="no answer within 10 s"):
    return {"url": url, "ok": ok, "via": via, "stage": None if ok else stage, "reason": None if ok else reason}


@pytest.mark.parametrize(("section", "verdict"), [
    ([tried(ok=True)], ok("http://a/ answers")),
    ([tried(ok=True), tried("https://b/", ok=True, via="http://proxy:3128")],
     ok("http://a/ answers; https://b/ answers by way of http://proxy:3128")),
    ([tried(ok=True), tried("http://b/", stage="dns", reason="its name can not be resolved")],
     fail("http://b/: its name can not be resolved", internet.FIXES["dns"])),
    ([tried(), tried("http://b/")],
     fail("http://a/: no answer within 10 s; http://b/: no answer within 10 s", internet.FIXES["connect"])),
    ([tried(ok=True), {**tried("http://b/", reason="it is not tried by way of socks5h"), "ok": None, "stage": None}],
     warn("http://b/ could not be tried: it is not tried by way of socks5h", internet.FIX_UNTRIED)),
    ([tried(), {**tried("http://b/", reason="x"), "ok": None, "stage": None}],
     fail("http://a/: no answer within 10 s; http://b/ could not be tried: x", f"{internet.FIXES['connect']} {internet.FIX_UNTRIED}")),
    ([tried(via="http://proxy:3128", stage="http", reason="the proxy answers 407"), tried("http://b/", stage="tls", reason=None)],
     fail("http://a/ by way of http://proxy:3128: the proxy answers 407; http://b/: no answer",
          f"{internet.FIXES['http']} {internet.FIXES['tls']}")),
])
def test_levels(record, asked, section, verdict):
    assert internet.judge(record(internet=section), asked()) == verdict


def test_left_out_when_no_url_is_asked_for(record, asked):
    assert internet.judge(record(internet=[]), asked()) is None
