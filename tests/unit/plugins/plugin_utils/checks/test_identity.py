from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import identity
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import fail, ok, warn

OK = ok("nothing of it is another machine's too")


def own(number, **other):
    return {"identity": {
        "machine_id": f"{number:032x}", "host_keys": [f"SHA256:{number}", f"SHA256:{number}b"], "hostname": f"host{number}",
        "addresses": [f"10.0.0.{number}", f"fd00::{number}"], "macs": [f"52:54:00:00:00:{number:02x}"], **other}}


def fixes(*kinds):
    return " ".join(identity.FIXES[kind] for kind in kinds)


FIRST = own(1)["identity"]


@pytest.mark.parametrize(("second", "verdict"), [
    ({}, OK),
    ({"machine_id": FIRST["machine_id"].upper()}, fail("has the same machine-id as db1", fixes("machine_id"))),
    ({"hostname": "HOST1"}, warn("has the same hostname host1 as db1", fixes("hostname"))),
    ({"host_keys": ["SHA256:9", "SHA256:1b"]}, warn("has the same SSH host key as db1", fixes("host_keys"))),
    ({"macs": FIRST["macs"]}, warn("has the same MAC address 52:54:00:00:00:01 as db1", fixes("macs"))),
    ({"addresses": ["fd00::1"]}, warn("has the same address fd00::1 as db1", fixes("addresses"))),
    ({"addresses": ["10.0.0.1"]}, fail("has the same address 10.0.0.1 as db1", fixes("addresses"))),
    # a copy of an image in all
    ({**FIRST, "addresses": ["10.0.0.2"], "macs": ["52:54:00:00:00:02"]},
     fail("has the same machine-id, SSH host key and hostname host1 as db1", fixes("machine_id", "host_keys", "hostname"))),
    (FIRST, fail("db1 and db2 are one machine, under two names", identity.FIX_ONE)),
    ({**FIRST, "addresses": [], "macs": []}, fail("db1 and db2 are one machine, under two names", identity.FIX_ONE)),
    # nothing to compare is not the same
    ({"machine_id": None, "hostname": None, "host_keys": [], "addresses": [], "macs": []}, OK),
])
def test_what_two_machines_have_in_common(group, second, verdict):
    assert identity.compare(group({"db1": own(1), "db2": own(2, **second), "n1": own(3)})) == [("db1", OK), ("db2", verdict), ("n1", OK)]


@pytest.mark.parametrize("text", ["", "uninitialized", None])
def test_a_machine_id_that_is_still_to_be_made_is_nobodys(group, text):
    found = identity.compare(group({f"n{number}": own(number, machine_id=text, host_keys=[]) for number in (1, 2)}))
    assert found == [("n1", OK), ("n2", OK)]


@pytest.mark.parametrize("address", ["db2.lan", "10.0.0.1", None])
def test_an_address_by_which_one_may_be_reached_is_no_other_machines(group, address):
    found = identity.compare(group({"db1": own(1), "db2": {**own(2, addresses=["10.0.0.1"]), "address": address}}))
    assert found[1] == ("db2", fail("has the same address 10.0.0.1 as db1", fixes("addresses")))


def test_many_copies_are_told_in_the_same_words_and_once_each(group):
    found = identity.compare(group({f"n{number}": own(number, machine_id="a" * 32) for number in range(1, 6)}))
    copy = fail("has the same machine-id as n1", fixes("machine_id"))
    assert found == [("n1", OK), *[(f"n{number}", copy) for number in range(2, 6)]]


def test_different_things_of_different_machines(group):
    found = identity.compare(group({"n1": own(1), "n2": own(2), "n3": own(3, macs=own(1)["identity"]["macs"], hostname="host2")}))
    assert found[2] == ("n3", warn("has the same hostname host2 as n2; has the same MAC address 52:54:00:00:00:01 as n1",
                                   fixes("hostname", "macs")))


def test_a_machine_of_which_it_could_not_be_read_does_not_hide_the_others(group):
    unread = {"identity": None, "unmeasured": {"identity": "no answer"}}
    assert identity.compare(group({"n1": own(1), "n2": unread, "n3": own(3, hostname="host1")})) == [
        ("n2", fail("could not be read: no answer", identity.FIX_UNREAD)), ("n1", OK),
        ("n3", warn("has the same hostname host1 as n1", fixes("hostname")))]


def test_one_machine_alone_is_left_out(group):
    assert identity.compare(group({"n1": {}}, others=["n2"])) == []
