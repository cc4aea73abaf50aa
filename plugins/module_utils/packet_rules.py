# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which TCP ports rules of iptables and nftables let in.

A rule counts as letting in what it may let in, from wherever; what is not understood of one is taken for no condition. So nobody is
warned of a port that is open.
"""

import collections
import json
import shlex

ALL = [[0, 65535]]
NONE = []  # nothing of what calls anew from elsewhere by TCP

# One rule of a chain: accept, drop, return or the name of another chain; for which ports; and whether it is so for everything that comes.
Rule = collections.namedtuple("Rule", "chain verdict ports always")


def ends(chain, rules):
    """Whether everything that no rule before lets in is dropped at last in this chain, or in one to which everything goes."""
    return _ends(chain, _by_chain(rules), {})


def _ends(chain, by_chain, known):
    """``known``: what was found of other chains, since many may lead to the same; no chain leads back to itself."""
    if chain not in known:
        known[chain] = False
        known[chain] = any(rule.always and (rule.verdict == "drop" or _ends(rule.verdict, by_chain, known)) for rule in by_chain[chain])
    return known[chain]


def _by_chain(rules):
    by_chain = collections.defaultdict(list)
    for rule in rules:
        by_chain[rule.chain].append(rule)
    return by_chain


def ports_of(rules, chains, passing=()):
    """The ranges that a rule of these chains lets in, or of those to which they lead.

    Of a chain that is among ``passing``, what no rule decides on is let in too, where it comes to that.
    """
    by_chain, found, known, ends = _by_chain(rules), set(), {}, {}
    for chain in chains:
        found |= _let_in(chain, by_chain, known, ends, chain in passing)
    return sorted(found)


def _let_in(chain, by_chain, known, ends, passes):
    """``passes``: whether what leaves the chain without a verdict, as by a rule that returns, is let in."""
    at = (chain, passes)
    if at in known:
        return known[at]
    found, returned, known[at] = set(), passes, set()
    for rule in reversed(by_chain[chain]):
        if rule.verdict in ("accept", "return"):
            inner = ALL if rule.verdict == "accept" or returned else NONE
        else:
            inner = _let_in(rule.verdict, by_chain, known, ends, passes)
        found.update(tuple(ports) for ports in (inner if rule.ports is ALL else rule.ports if inner else NONE))
        if rule.always and (rule.verdict == "drop" or _ends(rule.verdict, by_chain, ends)):
            passes = False  # what comes back from a rule before this one
    known[at] = found
    return found


def iptables(text):
    """(rules, chain -> whether its policy is to drop) of the table filter, as iptables-save(8) and ufw's files have it."""
    rules, drops, table = [], {}, "filter"
    for line in text.splitlines():
        if line.startswith("*"):
            table = line[1:].strip()
        elif table == "filter" and line.startswith(":INPUT "):
            drops["INPUT"] = line.split()[1] == "DROP"
        elif table == "filter" and line.startswith("-A "):
            rules.append(_iptables_rule(shlex.split(line) if '"' in line else line.split()))
    return rules, drops


VERDICTS = {"ACCEPT": "accept", "DROP": "drop", "REJECT": "drop", "RETURN": "return",
            "NFQUEUE": "accept"}  # to a program that decides
WITH_A_VALUE = ("-m", "--match", "--comment", "-j", "--jump", "-g", "--goto", "--reject-with", "-c")  # and no condition


def _iptables_rule(words):
    ports, always, verdict = ALL, True, ""
    at = 2
    while at < len(words):
        word, value = words[at], words[at + 1] if at + 1 < len(words) else ""
        negated = words[at - 1] == "!"
        if word in ("-j", "--jump", "-g", "--goto"):
            verdict = VERDICTS.get(value, value)
        elif negated or word == "!":
            pass
        elif word in ("-i", "--in-interface") and value == "lo" or word in ("-p", "--protocol") and value not in ("tcp", "6", "all", "0"):
            ports = NONE
        elif word in ("--ctstate", "--state") and not {"NEW", "UNTRACKED"} & set(value.split(",")):
            ports = NONE
        elif word in ("--dport", "--dports", "--destination-port", "--destination-ports") and ports is ALL:
            ports = [[int(end) for end in (part.split(":") * 2)[:2]] for part in value.split(",")]
        always = always and word in WITH_A_VALUE
        at += 2 if word.startswith("-") and value[:1] not in ("-", "!") else 1
    return Rule(words[1], verdict, ports, always)


def nftables(text):
    """The same of all base chains for what comes in, as libnftables-json(5) has it; a chain is (family, table, name)."""
    rules, drops, sets = [], {}, {}
    for entry in json.loads(text)["nftables"]:
        for kind, value in entry.items():
            place = (value.get("family"), value.get("table"))
            if kind in ("set", "map"):
                sets[place + ("@" + value["name"],)] = value.get("elem", [])
            # A chain for IPv6 alone keeps nobody out who comes by IPv4.
            elif kind == "chain" and value.get("hook") == "input" and value.get("type") == "filter" and value.get("family") != "ip6":
                drops[place + (value["name"],)] = value.get("policy") == "drop"
            elif kind == "rule":
                rules += _nft_rules(place, value["chain"], value["expr"], sets)
    return rules, drops


def _nft_rules(place, chain, statements, sets):
    """One statement can have a verdict for each value."""
    ports, always = ALL, True
    for statement in statements:
        (kind, value), = statement.items()
        if kind == "match":
            always = False
            if value["op"] != "!=":
                ports = _narrowed(ports, value["left"], _values(value["right"], place, sets))
        elif kind == "vmap":
            found = []
            for one, verdict in _values(value["data"], place, sets):
                of_value = _narrowed(ports, value["key"], _values(one, place, sets))
                found += [rule._replace(ports=of_value, always=False) for rule in _nft_rules(place, chain, [verdict], sets)]
            return found
        elif kind in ("accept", "drop", "reject", "return"):
            return [Rule(place + (chain,), "drop" if kind == "reject" else kind, ports, always)]
        elif kind in ("jump", "goto"):
            return [Rule(place + (chain,), place + (value["target"],), ports, always)]
        elif kind == "queue":  # to a program that decides
            return [Rule(place + (chain,), "accept", ports, always)]
        elif kind not in ("counter", "log"):
            always = False
    return []


def _values(value, place, sets):
    """A list of what a match asks for."""
    if isinstance(value, dict) and "set" in value:
        value = value["set"]
    elif isinstance(value, str) and value.startswith("@"):
        value = sets.get(place + (value,), [])
    return value if isinstance(value, list) else [value]


def _narrowed(ports, left, values):
    """For which ports a rule still is, when what is on the left must have one of these values."""
    (kind, of), = left.items()
    of = of if isinstance(of, dict) else {}
    key = of.get("key") or of.get("field")
    if kind == "meta" and key in ("iif", "iifname") and values == ["lo"]:
        return NONE
    if kind == "ct" and key == "state" and not {"new", "untracked"} & set(map(str, values)):
        return NONE
    if kind == "ct" and key == "status" and values == ["dnat"]:
        return NONE
    if key in ("l4proto", "protocol", "nexthdr") and not {"tcp", "6"} & set(map(str, values)):
        return NONE
    if kind != "payload" or of.get("protocol") in ("ip", "ip6", "ether", "arp", "vlan"):
        return ports
    if of.get("protocol") not in ("tcp", "th"):  # udp, icmp and the like
        return NONE
    if key != "dport" or ports is not ALL:
        return ports
    ranges = [_range(value) for value in values]
    return ALL if None in ranges else ranges


def _range(value):
    if isinstance(value, dict) and "elem" in value:
        value = value["elem"].get("val")
    ends = value["range"] if isinstance(value, dict) and "range" in value else [value, value]
    return ends if len(ends) == 2 and all(isinstance(end, int) for end in ends) else None
