from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import hostname
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, ok, warn


def judged(record, asked, name):
    return hostname.judge(record(identity={"hostname": name}), asked())


@pytest.mark.parametrize("name", [
    "db1", "DB1", "1", "a-b", "db1.example.com", "x" * 63, "localhost-1", "ip-10-0-0-1.eu-central-1.compute.internal"])
def test_names_that_others_can_use(record, asked, name):
    assert judged(record, asked, name) == ok(name)


@pytest.mark.parametrize(("name", "detail"), [
    ("localhost", "it is called localhost, as a machine without a name"),
    ("localhost.localdomain", "it is called localhost.localdomain, as a machine without a name"),
    ("LocalHost", "it is called LocalHost, as a machine without a name"),
    ("x" * 64, f"its hostname has 64 characters (63 are allowed): {'x' * 64}"),
    (f"db1.{'example' * 10}", f"its hostname has 74 characters (63 are allowed): db1.{'example' * 10}"),
    ("my_db", "its hostname my_db is not valid in DNS"),
    ("db1.my_site.example", "its hostname db1.my_site.example is not valid in DNS (my_site)"),
    ("-db", "its hostname -db is not valid in DNS"),
    ("db-.example", "its hostname db-.example is not valid in DNS (db-)"),
    ("db1.", "its hostname db1. is not valid in DNS"),
    ("dü", "its hostname dü is not valid in DNS"),
    ("db\n", "its hostname db\n is not valid in DNS"),
    ("(none)", "its hostname (none) is not valid in DNS"),
])
def test_names_that_warn(record, asked, name, detail):
    assert judged(record, asked, name) == warn(detail, hostname.FIX)


@pytest.mark.parametrize("name", [None, ""])
def test_no_name_is_unread(record, asked, name):
    with pytest.raises(Unmeasured, match="^the machine does not say how it is called$"):
        judged(record, asked, name)
