from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import firewall
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, ok, warn

UNREAD = "only root may read the kernel's rules"


def ranges(*of):
    return [{"first": first, "last": last} for first, last in of]


def judged(record, asked, by, ports, unread=None, roles=("etcd_witness",)):
    return firewall.judge(record(firewall={"by": by, "open": ports, "unread": unread}), asked(*roles))


@pytest.mark.parametrize(("by", "ports", "unread", "verdict"), [
    (None, None, None, ok("none is active")),
    (None, None, UNREAD, ok(f"none is known of (the rest was not read: {UNREAD})")),
    ("ufw", None, "/etc/ufw/user.rules: Permission denied", ok(
        "ufw is active; its rules were not read (/etc/ufw/user.rules: Permission denied)")),
    ("ufw", ranges((0, 65535)), None, ok("ufw is active and has rules for 2379, 2380")),
    ("ufw", ranges((22, 22), (2379, 2380)), None, ok("ufw is active and has rules for 2379, 2380")),
    ("ufw", ranges((22, 22), (2380, 2400)), None, warn(
        "ufw is active and has no rule for 2379",
        "Let in those that need it: ufw allow proto tcp from ADDRESS to any port 2379.")),
    ("ufw", [], None, warn(
        "ufw is active and has no rule for 2379, 2380",
        "Let in those that need it: ufw allow proto tcp from ADDRESS to any port 2379,2380.")),
    ("firewalld", ranges((22, 22)), None, warn(
        "firewalld is active and has no rule for 2379, 2380",
        "Let in those that need it: firewall-cmd --permanent --add-port=2379/tcp --add-port=2380/tcp, then firewall-cmd --reload.")),
    ("nftables", ranges((2379, 2379)), None, warn(
        "nftables is active and has no rule for 2380",
        "Let in those that need it: tcp dport { 2380 } accept in the chain for input, in /etc/nftables.conf.")),
    ("iptables", ranges((2379, 2379)), None, warn(
        "iptables is active and has no rule for 2380",
        "Let in those that need it: iptables -I INPUT -p tcp -m multiport --dports 2380 -j ACCEPT, and save it for the next start.")),
])
def test_levels(record, asked, by, ports, unread, verdict):
    assert judged(record, asked, by, ports, unread) == verdict


def test_a_machine_that_listens_on_nothing_is_not_asked(record, asked):
    assert judged(record, asked, "ufw", [], roles=("node",)) is None


def test_ranges_of_another_form_are_unread(record, asked):
    with pytest.raises(Unmeasured, match="^open is not a mapping in the record$"):
        judged(record, asked, "ufw", [[22, 22]])
