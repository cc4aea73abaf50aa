import json
import os
import shutil
import subprocess

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils.packet_rules import ends, iptables, nftables, ports_of

ALL = (0, 65535)


def iptables_lets_in(*lines, policy="DROP"):
    rules, drops = iptables("\n".join(("*nat", "-A INPUT -j ACCEPT", "COMMIT", "*filter", f":INPUT {policy} [0:0]", ":FORWARD DROP [0:0]",
                                       *lines, "COMMIT")))
    assert drops == {"INPUT": policy == "DROP"}
    return ports_of(rules, ["INPUT"])


@pytest.mark.parametrize(("lines", "ports"), [
    ([], []),
    (["-A INPUT -j ACCEPT"], [ALL]),
    (["-A INPUT -i lo -j ACCEPT", "-A INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT", "-A INPUT -p icmp -j ACCEPT",
      "-A INPUT -p udp -m udp --dport 53 -j ACCEPT", "-A INPUT -m state --state ESTABLISHED -j ACCEPT"], []),
    (["-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT", "-A INPUT -p tcp -m multiport --dports 80,443,8000:8010 -j ACCEPT"],
     [(22, 22), (80, 80), (443, 443), (8000, 8010)]),
    (["-A INPUT -s 10.0.0.0/8 -j ACCEPT"], [ALL]),
    (["-A INPUT ! -i lo -p tcp -m tcp --dport 22 -m conntrack --ctstate NEW -j ACCEPT"], [(22, 22)]),
    (["-A INPUT -p tcp -m tcp ! --dport 22 -j ACCEPT"], [ALL]),
    (["-A INPUT -p tcp -m tcp --dport 22 --syn -j ACCEPT"], [(22, 22)]),
    (['-A INPUT -p tcp -m comment --comment "a b" -m tcp --dport 22 -j ACCEPT'], [(22, 22)]),
    (["-A INPUT -p tcp --dport 22 -j SSH", "-A SSH -s 10.0.0.1/32 -j ACCEPT", "-A INPUT -p tcp --dport 23 -j LOG"], [(22, 22)]),
    (["-A INPUT -j A", "-A A -j B", "-A B -j A", "-A B -p tcp --dport 7 -j ACCEPT"], [(7, 7)]),
    (["-A OUTPUT -j ACCEPT", "-A FORWARD -j ACCEPT", "-A OTHER -j ACCEPT"], []),
    (["-A INPUT -p tcp -m recent --update --seconds 30 --name X --rsource -j DROP", "-A INPUT -p tcp --dport 5 -j ACCEPT"], [(5, 5)]),
    (["-A INPUT -p tcp --dport 5 -j NFQUEUE --queue-num 0"], [(5, 5)]),
    (["-A INPUT -j A", "-A A -p tcp --dport 5 -j RETURN", "-A A -j DROP"], []),  # and the policy drops it then
    (["-A INPUT -j A", "-A INPUT -p tcp --dport 6 -j ACCEPT", "-A A -p tcp --dport 5 -j RETURN", "-A A -j DROP"], [(6, 6)]),
])
def test_what_iptables_lets_in(lines, ports):
    assert iptables_lets_in(*lines) == ports


@pytest.mark.parametrize(("lines", "ports"), [
    (["-A INPUT -p tcp --dport 5 -j RETURN", "-A INPUT -j DROP"], [(5, 5)]),
    (["-A INPUT -j A", "-A A -s 10.0.0.0/8 -j RETURN", "-A A -p tcp --dport 5 -j RETURN", "-A A -j DROP"], [(0, 65535), (5, 5)]),
    (["-A INPUT -j A", "-A A -j B", "-A A -j REJECT", "-A B -p tcp --dport 5 -j RETURN", "-A B -j DROP"], []),
    (["-A INPUT -j A", "-A INPUT -j REST", "-A A -p tcp --dport 5 -j RETURN", "-A A -j DROP", "-A REST -j DROP"], []),
    (["-A INPUT -p tcp --dport 5 -j ACCEPT", "-A INPUT -j DROP"], [(5, 5)]),
])
def test_what_a_rule_lets_in_that_returns_where_the_policy_is_to_accept(lines, ports):
    rules, drops = iptables("\n".join([":INPUT ACCEPT [0:0]", *lines]))
    assert ends("INPUT", rules)
    assert ports_of(rules, ["INPUT"], [chain for chain, dropped in drops.items() if not dropped]) == ports


def test_a_chain_for_ipv6_alone_keeps_nobody_out():
    chain = "table {0} t {{\n chain in {{ type filter hook input priority 0; policy drop;\n tcp dport 22 accept\n }}\n}}\n"
    assert told(chain.format("ip6"))[1] == {}
    assert told(chain.format("inet"))[1] == {("inet", "t", "in"): True}


@pytest.mark.parametrize(("lines", "closed"), [
    ([], False),
    (["-A INPUT -j REJECT --reject-with icmp-port-unreachable"], True),
    (['-A INPUT -m comment --comment "the rest" -j DROP'], True),
    (["-A INPUT -s 10.0.0.1/32 -j DROP", "-A INPUT -m conntrack --ctstate INVALID -j DROP"], False),
    (["-A INPUT -j REST", "-A REST -j LOG", "-A REST -j DROP"], True),
    (["-A INPUT -j A", "-A A -j A", "-A A -j B"], False),
    (["-A FORWARD -j DROP"], False),
])
def test_whether_what_is_left_is_dropped(lines, closed):
    rules, drops = iptables("\n".join(lines))
    assert ends("INPUT", rules) is closed


@pytest.mark.parametrize("text", ["-A \n", "-A INPUT -p tcp --dport ssh -j ACCEPT\n", '-A INPUT -m comment --comment "x\n'])
def test_what_iptables_save_does_not_write_is_an_error(text):
    with pytest.raises((ValueError, IndexError)):
        iptables(text)


# What nft 1.0.6 tells of a table as firewalld makes it, and of one with what else there is.
FIREWALLD = """
table inet firewalld {
  chain filter_INPUT { type filter hook input priority filter + 10; policy accept;
    ct state { established, related } accept
    ct status dnat accept
    iifname "lo" accept
    ct state invalid drop
    jump filter_INPUT_ZONES
    reject with icmpx admin-prohibited
  }
  chain filter_INPUT_ZONES { iifname "eth0" goto filter_IN_public
    goto filter_IN_public
  }
  chain filter_IN_public { jump filter_IN_public_allow
    meta l4proto { icmp, ipv6-icmp } accept
    reject with icmpx admin-prohibited
  }
  chain filter_IN_public_allow { tcp dport 22 accept
    ip6 daddr fe80::/64 udp dport 546 accept
    tcp dport 8000-8100 ct state new,untracked accept
    tcp dport { 80, 443, 9000-9005 } accept
  }
}
"""
HANDWRITTEN = """
table inet own {
  set ports { type inet_service; flags interval; elements = { 1-3, 7 } }
  map verdicts { type inet_service : verdict; elements = { 11 : accept, 12 : drop } }
  chain in { type filter hook input priority 0; policy drop;
    tcp dport vmap { 22 : accept, 23 : drop, 2379-2380 : jump other }
    tcp dport vmap @verdicts
    ct state vmap { established : accept, related : accept, invalid : drop }
    tcp dport @ports accept
    meta l4proto tcp th dport 99 accept
    ip protocol icmp accept
    icmp type echo-request limit rate 5/second accept
    tcp flags syn tcp dport 77 counter log accept
    iif lo accept
    udp dport 68 accept
    tcp dport 66 drop
  }
  chain other { ip saddr 10.0.0.0/8 accept
  }
  chain out { type filter hook output priority 0; policy accept;
    accept
  }
}
"""


def told(text):
    if os.geteuid() or not shutil.which("nft") or not shutil.which("unshare"):
        pytest.skip("a network namespace and nft are needed")
    done = subprocess.run(["unshare", "-n", "sh", "-c", "ip link set lo up; nft -f - && nft -j list ruleset"], input=text, text=True,
                          capture_output=True, check=False)
    assert not done.returncode, done.stderr
    return nftables(done.stdout)


def test_firewalld_as_nft_tells_it():
    rules, drops = told(FIREWALLD)
    first = ("inet", "firewalld", "filter_INPUT")
    assert drops == {first: False}
    assert ends(first, rules)
    assert ports_of(rules, [first]) == [(22, 22), (80, 80), (443, 443), (8000, 8100), (9000, 9005)]


def test_a_zone_that_lets_in_all():
    rules, drops = told(FIREWALLD.replace("jump filter_IN_public_allow\n", "accept\n"))
    assert ports_of(rules, list(drops)) == [ALL]


def test_what_a_rule_of_nft_returns():
    rules, _drops = told("table ip t {\n chain rest { tcp dport 22 return\n drop\n }\n"
                         " chain in { type filter hook input priority 0; policy accept;\n jump rest\n }\n}\n")
    chain = ("ip", "t", "in")
    assert ends(chain, rules)
    assert ports_of(rules, [chain], [chain]) == [(22, 22)]
    assert ports_of(rules, [chain]) == []


def test_what_is_written_by_hand_as_nft_tells_it():
    rules, drops = told(HANDWRITTEN)
    assert drops == {("inet", "own", "in"): True}
    assert ports_of(rules, list(drops)) == [(1, 3), (7, 7), (11, 11), (22, 22), (77, 77), (99, 99), (2379, 2380)]


@pytest.mark.parametrize(("rule", "ports"), [
    ("ip saddr . tcp dport { 10.0.0.1 . 5432 } accept", [ALL]),  # not taken apart
    ("tcp dport != 22 accept", [ALL]),
    ("ip saddr 10.0.0.0/8 accept", [ALL]),
    ("tcp sport 1-1023 accept", [ALL]),
    ("meta l4proto { tcp, udp } th dport 53 accept", [(53, 53)]),
    ("iifname { lo, eth0 } accept", [ALL]),
    ("ct state new tcp dport 22 accept", [(22, 22)]),
    ("sctp dport 22 accept", []),
    ("return", []),
])
def test_single_rules(rule, ports):
    rules, drops = told(f"table ip t {{\n chain in {{ type filter hook input priority 0; policy drop;\n {rule}\n }}\n}}\n")
    assert ports_of(rules, list(drops)) == ports


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"nftables": 5}', '{"nftables": [5]}', '{"nftables": [{"rule": {}}]}'])
def test_what_nft_does_not_tell_is_an_error(text):
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        nftables(text)


@pytest.mark.parametrize("verdict", ["accept", "queue"])  # a queue leads to a program that decides
def test_elements_with_a_comment_or_a_time(verdict):
    rule = {"family": "ip", "table": "t", "chain": "in", "expr": [
        {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": "@p"}}, {verdict: None}]}
    entries = [{"set": {"family": "ip", "table": "t", "name": "p", "elem": [{"elem": {"val": 22, "comment": "x"}}, 23]}}, {"rule": rule}]
    rules, drops = nftables(json.dumps({"nftables": entries}))
    assert ports_of(rules, [("ip", "t", "in")]) == [(22, 22), (23, 23)]


def test_chains_that_branch_and_meet_again_are_looked_at_once():
    """With two ways a level, thirty levels have a thousand million."""
    lines = ["-A INPUT -j L0"]
    for level in range(30):
        lines += [f"-A L{level} -s 10.0.0.0/8 -j L{level + 1}", f"-A L{level} -j L{level + 1}"]
    lines += ["-A L30 -p tcp --dport 22 -j ACCEPT", "-A L30 -j L0", "-A L30 -j DROP"]
    assert iptables_lets_in(*lines) == [(22, 22)]
    rules, _drops = iptables("\n".join(("*filter", *lines, "COMMIT")))
    assert ends("INPUT", rules)
    assert not ends("INPUT", [rule for rule in rules if rule.verdict != "drop"])


@pytest.mark.parametrize("ends", [["ssh", 80], [22], [22, 80, 81], [22, None]])
def test_a_range_that_is_none_is_no_condition(ends):
    match = {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": {"range": ends}}}
    rule = {"rule": {"family": "inet", "table": "t", "chain": "c", "expr": [match, {"accept": None}]}}
    assert ports_of(nftables(json.dumps({"nftables": [rule]}))[0], [("inet", "t", "c")]) == [ALL]
