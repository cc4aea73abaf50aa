from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import sudo
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, ok, warn


@pytest.mark.parametrize(("section", "verdict"), [
    ({"how": "root"}, ok("logged in as root, sudo is not needed")),
    ({"how": "nopasswd"}, ok("sudo without a password")),
    ({"how": "password_given"}, ok("sudo asks for a password, and the one given works")),
    ({"how": "password"}, warn("sudo asks for a password and none is given", sudo.FIX_PASSWORD)),
    ({"how": "denied"}, warn("sudo is denied to this user", sudo.FIX_DENIED)),
    ({"how": "denied", "reason": "wrong password"}, warn("sudo is denied to this user: wrong password", sudo.FIX_DENIED)),
    ({"how": "missing"}, warn("sudo is not installed and the user is not root", sudo.FIX_MISSING)),
    ({"how": "become", "by": "su", "user": "app"}, ok("can become app by su")),
    ({"how": "no_become", "by": "su", "user": "root", "reason": "Incorrect su password"},
     warn("can not become root by su: Incorrect su password", sudo.FIX_BECOME)),
    ({"how": "no_become", "by": "", "user": "", "reason": "there is no become plugin x"},
     warn("can not become another user: there is no become plugin x", sudo.FIX_BECOME)),
])
def test_levels(record, asked, section, verdict):
    assert sudo.judge(record(sudo=section), asked()) == verdict


@pytest.mark.parametrize(("section", "verdict"), [
    ({"how": "nopasswd", "waited_s": 3.0}, ok("sudo without a password")),
    ({"how": "nopasswd", "waited_s": 9.3}, warn("sudo without a password, but it waits for 9.3 s each time", sudo.FIX_SLOW)),
    ({"how": "password", "waited_s": 9.3}, warn("sudo asks for a password and none is given", sudo.FIX_PASSWORD)),
])
def test_a_sudo_that_waits(record, asked, section, verdict):
    assert sudo.judge(record(sudo=section), asked()) == verdict


def test_an_unknown_way_is_not_measured(record, asked):
    with pytest.raises(Unmeasured, match="sudo.how is 'magic' in the record, which is not known"):
        sudo.judge(record(sudo={"how": "magic"}), asked())


@pytest.mark.parametrize("section", [{"how": "become", "user": "app"}, {"how": "no_become", "by": "su", "user": "root"}])
def test_a_way_of_which_half_is_told_is_not_measured(record, asked, section):
    with pytest.raises(Unmeasured, match="is not in the record"):
        sudo.judge(record(sudo=section), asked())


def test_left_out_on_the_controller_itself(record, asked):
    assert sudo.judge(record(local=True, sudo=None), asked()) is None
