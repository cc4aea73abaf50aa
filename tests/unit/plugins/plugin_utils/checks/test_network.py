from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import network
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, fail, ok


def closed(machine, outcome):
    return {"machine": machine, "address": f"10.0.0.{machine[-1]}", "port": 22, "outcome": outcome}


def reach(*not_open, tried=3):
    return {"tried": tried, "open": tried - len(not_open), "seconds": {"median": None, "max": None}, "not_open": list(not_open)}


def test_reaches_all(record, asked):
    assert network.judge(record(reach=reach()), asked()) == ok("reaches 3 of 3 other machines on their SSH port")


def test_each_that_is_not_reached_is_named(record, asked):
    closed_ones = [closed(f"m{at}", outcome) for at, outcome in enumerate(("refused", "timeout", "no_route", "no_name", "wrong_answer"), 1)]
    assert network.judge(record(reach=reach(*closed_ones, tried=9)), asked()) == fail(
        "does not reach m1 (10.0.0.1 port 22: refused), m2 (10.0.0.2 port 22: no answer), m3 (10.0.0.3 port 22: no route), "
        "m4 (10.0.0.4 port 22: its name can not be looked up), "
        "m5 (10.0.0.5 port 22: something else answers there)", network.FIX)


def test_of_machines_that_the_controller_does_not_reach_either_their_login_comes_first(record, asked):
    both = reach(closed("m1", "timeout"), closed("m2", "refused"))
    assert network.judge(record(reach=both), asked(unreached={"m1", "m2", "m7"})).fix == network.FIX_DOWN
    assert network.judge(record(reach=both), asked(unreached={"m1"})).fix == network.FIX
    other = reach(closed("m7", "timeout"))  # by lot; so that a report has one fix for all, and not one for each machine
    assert network.judge(record(reach=other), asked(unreached={"m1", "m2", "m7"})).fix == network.FIX_DOWN


def test_attempts_that_are_not_accounted_for_are_not_measured(record, asked):
    with pytest.raises(Unmeasured, match="^of 3 attempts only 2 are accounted for$"):
        network.judge(record(reach={**reach(), "open": 2}), asked())


@pytest.mark.parametrize("address", [
    "localhost", "LOCALHOST.", "127.0.0.1", "127.9.9.9", "127.1", "::1", "0.0.0.0", "::", "::ffff:127.0.0.1",
])
def test_an_address_that_leads_each_machine_to_itself(record, asked, address):
    assert network.judge(record(address=address), asked()) == fail(
        f"its address for the others is {address}, which leads each of them to itself", network.FIX_LOOPBACK)


def test_left_out_for_one_machine_alone(record, asked):
    assert network.judge(record(address="localhost", reach=None), asked(machines=1)) is None
    assert network.judge(record(reach=reach(tried=0)), asked(machines=1)) is None


def test_a_batch_of_one_is_judged_for_what_it_tried(record, asked):
    assert network.judge(record(reach=reach(closed("m1", "timeout"))), asked(machines=1)) == fail(
        "does not reach m1 (10.0.0.1 port 22: no answer)", network.FIX)
