from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import names
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok, warn

OWN = ok("looks up its own hostname")
OWN_LINE = "getent ahosts box >/dev/null || printf '\\n127.0.1.1 %s\\n' box >>/etc/hosts"


def looked_up(count=2, own=("127.0.1.1",), nobody=(), loopback=(), unanswered=()):
    return {"own": {"name": "box", "addresses": list(own) or None}, "looked_up": count, "nobody": [
        {"machine": machine, "address": address, "answered": answered}
        for answered, names in ((True, nobody), (False, unanswered)) for machine, address in names], "loopback": [
        {"machine": machine, "address": address, "to": to} for machine, address, to in loopback]}


@pytest.mark.parametrize(("section", "verdict"), [
    (looked_up(0), OWN),
    (looked_up(1), ok("looks up its own hostname and 1 other name")),
    (looked_up(2), ok("looks up its own hostname and 2 other names")),
    (looked_up(own=()), warn("its own hostname box leads nowhere", names.FIX_OWN, OWN_LINE)),
    ({**looked_up(), "own": {"name": "box", "addresses": None, "answered": True}},
     warn("its own hostname box leads nowhere", names.FIX_OWN, OWN_LINE)),
    ({**looked_up(), "own": {"name": "box", "addresses": None, "answered": False}},
     warn("no name server answers for its own hostname box", names.FIX_OWN, OWN_LINE)),
    (looked_up(loopback=[("db2", "db2.lan", "127.0.1.1")]),
     fail("db2.lan (db2) leads to 127.0.1.1, which is this machine itself", names.FIX)),
    (looked_up(nobody=[("db2", "db2"), ("db3", "db3")]), fail("db2 leads nowhere; db3 leads nowhere", names.FIX)),
    (looked_up(own=(), nobody=[("db3", "x.lan")], loopback=[("db2", "db2", "::1")]),
     fail("db2 leads to ::1, which is this machine itself; x.lan (db3) leads nowhere; its own hostname box leads nowhere",
          f"{names.FIX} {names.FIX_OWN}", OWN_LINE)),
    (looked_up(own=(), nobody=[("db3", "db3")], unanswered=[("db2", "db2"), ("db4", "x.lan")]),
     fail("db3 leads nowhere; no name server answers for db2, x.lan (db4); its own hostname box leads nowhere",
          f"{names.FIX} {names.FIX_OWN}", OWN_LINE)),
])
def test_levels(group, section, verdict):
    assert names.compare(group({"db1": {"names": section}, "db2": {}})) == [("db1", verdict), ("db2", OWN)]


def test_many_names_are_counted(group):
    section = looked_up(40, nobody=[(f"n{number}", f"n{number}") for number in range(40)])
    (machine, verdict), *dummy = names.compare(group({"db1": {"names": section}, "db2": {}}))
    assert verdict.detail.endswith("n7 leads nowhere and 32 more")


def test_one_machine_alone_is_left_out_but_not_one_of_several(group):
    assert names.compare(group({"db1": {}})) == []
    assert names.compare(group({"db1": {}}, others=["db2"])) == [("db1", OWN)]


@pytest.mark.parametrize("name", ["", "-x", "a b", "a\nb", "a;b", "$(x)", "x" * 65, "\u00e4"])
def test_what_is_no_hostname_is_not_put_into_a_file(group, name):
    section = {**looked_up(own=()), "own": {"name": name, "addresses": None}}
    assert names.compare(group({"db1": {"names": section}, "db2": {}}))[0] == (
        "db1", warn(f"its own hostname {name} leads nowhere", names.FIX_OWN))
