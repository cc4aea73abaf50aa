import json

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import firewall
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

# The parts of what ufw 0.36 writes for `ufw allow 22/tcp`, `ufw limit 80/tcp`, `ufw allow from 10.0.0.0/8 to any port 2379:2380 proto tcp`.
USER = """*filter
:ufw-user-input - [0:0]
### RULES ###

### tuple ### allow tcp 22 0.0.0.0/0 any 0.0.0.0/0 in
-A ufw-user-input -p tcp --dport 22 -j ACCEPT

### tuple ### limit tcp 80 0.0.0.0/0 any 0.0.0.0/0 in
-A ufw-user-input -p tcp --dport 80 -m conntrack --ctstate NEW -m recent --set
-A ufw-user-input -p tcp --dport 80 -m conntrack --ctstate NEW -m recent --update --seconds 30 --hitcount 6 -j ufw-user-limit
-A ufw-user-input -p tcp --dport 80 -j ufw-user-limit-accept

### tuple ### allow tcp 2379:2380 0.0.0.0/0 any 10.0.0.0/8 in
-A ufw-user-input -p tcp -d 0.0.0.0/0 --dport 2379:2380 -s 10.0.0.0/8 -j ACCEPT

### tuple ### deny tcp 25 0.0.0.0/0 any 0.0.0.0/0 in
-A ufw-user-input -p tcp --dport 25 -j DROP

### END RULES ###
-A ufw-user-limit -m limit --limit 3/minute -j LOG --log-prefix "[UFW LIMIT BLOCK] "
-A ufw-user-limit -j REJECT
-A ufw-user-limit-accept -j ACCEPT
COMMIT
"""
BEFORE = """*filter
-A ufw-before-input -i lo -j ACCEPT
-A ufw-before-output -o lo -j ACCEPT
-A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A ufw-before-input -p icmp --icmp-type echo-request -j ACCEPT
-A ufw-before-input -p udp --sport 67 --dport 68 -j ACCEPT
-A ufw-before-input -j ufw-not-local
-A ufw-not-local -m addrtype --dst-type LOCAL -j RETURN
-A ufw-not-local -j DROP
-A ufw-before-input -p tcp --dport 9100 -j ACCEPT
COMMIT
"""
OPEN = [(22, 22), (80, 80), (2379, 2380), (9100, 9100)]


def found(by=None, ports=None, unread=None):
    return {"by": by, "open": ports and [{"first": first, "last": last} for first, last in ports], "unread": unread}


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """machine(files, uid, running, programs): firewall() where /etc/ufw and /etc/default/ufw hold these, and these programs answer."""

    def look(files=(), uid=0, running=(), hidden=False, programs=(), legacy=False, modern=True):
        for name, text in dict(files).items():
            (tmp_path / name).write_text(text)

        def pids_of(names):
            if hidden:
                raise Unmeasured("/proc/1/comm: No such file or directory")
            return {name: ["7"] for name in names if name in running}

        answers = dict(programs)
        monkeypatch.setattr(firewall, "UFW", str(tmp_path))
        monkeypatch.setattr(firewall, "UFW_POLICY", str(tmp_path / "default"))
        monkeypatch.setattr(firewall.os, "geteuid", lambda: uid)
        monkeypatch.setattr(firewall, "pids_of", pids_of)
        monkeypatch.setattr(firewall, "find", lambda name: f"/usr/sbin/{name}" if name in answers else None)
        monkeypatch.setattr(firewall, "command", lambda argv, limit_s: answers[argv[0][10:]])
        (tmp_path / "ip_tables_names").write_text("filter\n" if legacy else "")
        monkeypatch.setattr(firewall, "LEGACY", str(tmp_path / "ip_tables_names"))
        monkeypatch.setattr(firewall, "_is_there", lambda module: modern)
        return firewall.firewall(5)

    return look


ON = {"ufw.conf": "# a comment\nENABLED=yes\nLOGLEVEL=low\n", "default": 'IPV6=yes\nDEFAULT_INPUT_POLICY="DROP"\n'}
RULES = {"user.rules": USER, "before.rules": BEFORE}


@pytest.mark.parametrize("uid", [0, 1000])
def test_ufw(machine, uid):
    assert machine({**ON, **RULES}, uid) == found("ufw", OPEN)


def test_ufw_with_no_rule(machine):
    assert machine({**ON, "user.rules": "*filter\nCOMMIT\n"}) == found("ufw", [])


@pytest.mark.parametrize("changed", [
    {"ufw.conf": "ENABLED=no\n"}, {"ufw.conf": "#ENABLED=yes\n"}, {"default": 'DEFAULT_INPUT_POLICY="ACCEPT"\n'},
])
def test_ufw_that_is_off_or_lets_in_all(machine, changed):
    assert machine({**ON, **RULES, **changed}, modern=False) == found()


def test_ufw_whose_rules_are_not_read(machine, tmp_path):
    assert machine(ON) == found("ufw", unread=f"{tmp_path}/user.rules: No such file or directory")
    assert machine({**ON, "user.rules": "-A ufw-user-input -p tcp --dport ssh -j ACCEPT\n"}) == found(
        "ufw", unread=f"{tmp_path}/user.rules: invalid literal for int() with base 10: 'ssh'")


ONLY_ROOT = "only root may read the kernel's rules"


@pytest.mark.parametrize(("arguments", "expected"), [
    ({}, found(unread=ONLY_ROOT)),
    ({"running": ["firewalld"]}, found("firewalld", unread=ONLY_ROOT)),
    ({"hidden": True}, found(unread="/proc/1/comm: No such file or directory")),
])
def test_as_another_user_than_root_no_program_is_asked(machine, arguments, expected):
    assert machine(uid=1000, **arguments) == expected


DROPS = (0, "*filter\n:INPUT DROP [0:0]\n-A INPUT -p tcp -m tcp --dport 22 -j ACCEPT\nCOMMIT\n", "")
LETS = (0, "*filter\n:INPUT ACCEPT [0:0]\n:FORWARD DROP [0:0]\nCOMMIT\n", "")
RETURNS = (0, "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -j B\n-A B -p tcp -m tcp --dport 22 -j RETURN\n-A B -j DROP\nCOMMIT\n", "")


def nft(policy):
    chain = {"family": "inet", "table": "t", "name": "in", "type": "filter", "hook": "input", "policy": policy}
    dport = {"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 80}}
    rule = {"family": "inet", "table": "t", "chain": "in", "expr": [dport, {"accept": None}]}
    return 0, json.dumps({"nftables": [{"metainfo": {}}, {"chain": chain}, {"rule": rule}]}), ""


@pytest.mark.parametrize(("arguments", "expected"), [
    ({"programs": {"iptables-save": DROPS, "nft": nft("accept")}}, found("iptables", [(22, 22)])),
    ({"programs": {"iptables-save": LETS, "nft": nft("drop")}}, found("nftables", [(80, 80)])),
    ({"programs": {"nft": nft("drop")}, "running": ["firewalld"]}, found("firewalld", [(80, 80)])),
    ({"programs": {"iptables-save": LETS, "nft": nft("accept")}}, found()),
    ({"programs": {"nft": nft("accept")}, "running": ["firewalld"]}, found()),
    ({"modern": False}, found()),
    ({"modern": False, "programs": {"iptables-save": DROPS, "nft": nft("drop")}}, found()),  # never asked: it would load the module
    ({"modern": False, "legacy": True, "programs": {"iptables-save": DROPS}}, found("iptables", [(22, 22)])),
    ({"modern": False, "legacy": True}, found(unread="iptables-save is not there")),
    ({"legacy": True, "programs": {"iptables-legacy-save": DROPS, "iptables-save": LETS, "nft": nft("accept")}},
     found("iptables", [(22, 22)])),
    ({"programs": {"iptables-legacy-save": DROPS, "iptables-save": LETS, "nft": nft("accept")}}, found()),
    ({"programs": {"iptables-save": RETURNS}}, found("iptables", [(22, 22)])),
    ({}, found(unread="nft is not there")),
    ({"running": ["firewalld"]}, found("firewalld", unread="nft is not there")),
    ({"programs": {"nft": (1, "", "Operation not permitted\n")}}, found(unread="/usr/sbin/nft: Operation not permitted")),
    ({"programs": {"nft": (3, "", "")}}, found(unread="/usr/sbin/nft: exit status 3")),
    ({"programs": {"nft": (0, "{}", "")}}, found(unread="/usr/sbin/nft: an answer of another form ('nftables')")),
])
def test_the_kernels_own_rules(machine, arguments, expected):
    assert machine(**arguments) == expected


def test_a_module_that_the_kernel_has_or_not(monkeypatch):
    monkeypatch.setattr(firewall.os.path, "isdir", lambda path: path == "/sys/module/loaded")
    monkeypatch.setattr(firewall, "text_of", lambda path, most: "kernel/net/netfilter/built_in.ko\n")
    assert [firewall._is_there(name) for name in ("loaded", "built_in", "in")] == [True, True, False]

    def none(path, most):
        raise Unmeasured("no such file")

    monkeypatch.setattr(firewall, "text_of", none)
    assert firewall._is_there("in")
