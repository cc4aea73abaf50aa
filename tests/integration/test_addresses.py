"""The ways in which machines can be addressed, and by which they get out: each machine is judged by the right address and port."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks.internet import FIXES
from lab.api import SSH_OPTIONS
from lab.spec import DROP_IP, GATEWAY, WEB_IP

ROLE = {"ansible.builtin.import_role": {"name": "llmgw.preflight.preflight"}}

CONTROLLER6 = "fd77::1"
OTHER_PYTHON = "/opt/other/python"
SECRET = "pr0xy-s3cret"


def closed_to(*addresses):
    return {"block": [{"dir": "in", "from": address, "port": 22, "how": "reject"} for address in addresses]}


MACHINES = {
    "a": {}, "b": {}, "c": {},
    "moved": {"ssh_port": 2222}, "moved2": {"ssh_port": 2222},
    # With a management network, as it were, on which the others do not reach it.
    "split": closed_to(*(f"fd77::{peer:x}" for peer in range(256, 261))),
    "bastion": {}, "inner1": closed_to(GATEWAY, CONTROLLER6), "inner2": closed_to(GATEWAY, CONTROLLER6),
    "python": {"files": {OTHER_PYTHON: {
        "content": "#!/bin/sh\ntouch /tmp/other-python-ran\nexec /usr/bin/python3 \"$@\"\n", "mode": "0755"}}},
    "misled": {"files": {
        "/etc/hosts": "127.0.0.1 localhost\n127.0.1.1 misled a\n10.77.1.2 b\n10.77.255.253 deb.debian.org security.debian.org\n"}},
    **dict.fromkeys(("by-proxy", "refused", "nameless", "mute", "cut-off"), {"internet": False}),
}
IP = {name: f"10.77.1.{number}" for number, name in enumerate(MACHINES, 1)}
IP6 = {name: f"fd77::{number:x}" for number, name in enumerate(MACHINES, 256)}

JUMP = f"-F {{{{ ssh_config }}}} -o ProxyJump={IP['bastion']}"
COMMAND = f"-F {{{{ ssh_config }}}} -o ProxyCommand='ssh -F {{{{ ssh_config }}}} -W %h:%p {IP['bastion']}'"


def by(**addresses):
    return {machine: {"ansible_host": address} for machine, address in addresses.items()}


# name -> (the machines' variables, machine -> (address, port) for the others, keywords of the play, settings)
ROWS = {
    "ipv6": (by(a=IP6["a"], b=IP6["b"]), {"a": (IP6["a"], 22), "b": (IP6["b"], 22)}),
    "ipv6 and ipv4": (by(a=IP6["a"], b=IP["b"], c="fd77:0:0:0:0:0:0:102"), {
        "a": (IP6["a"], 22), "b": (IP["b"], 22), "c": ("fd77:0:0:0:0:0:0:102", 22)}),
    "ipv6 as the inventory's name": ({IP6["a"]: {}, "b": {"ansible_host": IP6["b"]}}, {IP6["a"]: (IP6["a"], 22), "b": (IP6["b"], 22)}),
    "ipv6 in brackets for the others": (
        {machine: {"ansible_host": IP[machine], "preflight_address": f"[{IP6[machine]}]"} for machine in ("a", "b")},
        {"a": (IP6["a"], 22), "b": (IP6["b"], 22)}),
    "names": ({"a": {}, "b": {"ansible_host": "b"}, "c": {"ansible_host": IP["c"], "preflight_address": "c"}}, {
        "a": ("a", 22), "b": ("b", 22), "c": ("c", 22)}),
    "names of an ssh config, with addresses for the others": (
        {f"alias-{machine}": {"preflight_address": IP[machine]} for machine in ("a", "b")},
        {"alias-a": (IP["a"], 22), "alias-b": (IP["b"], 22)}),
    "a port of an ssh config, told for the others": (
        {"alias-moved": {"preflight_address": IP["moved"], "preflight_port": 2222}, "a": {"ansible_host": IP["a"]}},
        {"alias-moved": (IP["moved"], 2222), "a": (IP["a"], 22)}),
    "variables": (
        {"a": {"ansible_host": "{{ mgmt_ip }}", "mgmt_ip": IP["a"]},
         "b": {"ansible_ssh_host": "{{ network.ip }}", "network": {"ip": IP["b"]}},
         "moved": {"ansible_host": IP["moved"], "ansible_port": "{{ base_port + 22 }}", "base_port": 2200}},
        {"a": (IP["a"], 22), "b": (IP["b"], 22), "moved": (IP["moved"], 2222)}),
    "other ports": (
        {"a": {"ansible_host": IP["a"]}, "moved": {"ansible_host": IP["moved"], "ansible_port": 2222},
         "moved2": {"ansible_host": IP6["moved2"], "ansible_ssh_port": "2222"}},
        {"a": (IP["a"], 22), "moved": (IP["moved"], 2222), "moved2": (IP6["moved2"], 2222)}),
    "the play's port": (
        {**by(moved=IP["moved"], moved2=IP["moved2"]), "a": {"ansible_host": IP["a"], "ansible_port": 22}},
        {"moved": (IP["moved"], 2222), "moved2": (IP["moved2"], 2222), "a": (IP["a"], 22)}, {"port": 2222}),
    "the configuration's port": (
        by(moved=IP["moved"], moved2=IP["moved2"]), {"moved": (IP["moved"], 2222), "moved2": (IP["moved2"], 2222)},
        {}, {"ANSIBLE_REMOTE_PORT": "2222"}),
    "another address for the others": (
        {**by(a=IP["a"], b=IP["b"]), "split": {"ansible_host": IP6["split"], "preflight_address": IP["split"]}},
        {"a": (IP["a"], 22), "b": (IP["b"], 22), "split": (IP["split"], 22)}),
    "ProxyJump": (
        {"bastion": {"ansible_host": IP["bastion"]},
         "inner1": {"ansible_host": IP["inner1"], "ansible_ssh_common_args": JUMP},
         # As only the bastion and its neighbours can look it up.
         "inner2": {"ansible_host": "inner2", "ansible_ssh_common_args": JUMP}},
        {"bastion": (IP["bastion"], 22), "inner1": (IP["inner1"], 22), "inner2": ("inner2", 22)}),
    "ProxyCommand": (
        {machine: {"ansible_host": IP[machine], "ansible_ssh_common_args": COMMAND} for machine in ("inner1", "inner2")},
        {"inner1": (IP["inner1"], 22), "inner2": (IP["inner2"], 22)}),
}


@pytest.fixture(scope="module")
def lab(make_lab):
    made = make_lab({"defaults": {"groups": ["node"], "cpus": 2}, "hosts": [
        {"name": name, "ip": IP[name], **fields} for name, fields in MACHINES.items()]})
    assert {host["name"]: host["ip6"] for host in made.hosts()} == IP6
    return made


@pytest.fixture(scope="module")
def ssh_config(lab, tmp_path_factory):
    """A user's ssh_config, with names that only it knows."""
    file = tmp_path_factory.mktemp("ssh") / "config"
    lines = [f"Host {machine} alias-{machine}\n  HostName {IP[machine]}" for machine in ("a", "b", "c")]
    lines += [f"Host alias-moved\n  HostName {IP['moved']}\n  Port 2222"]
    common = [option.replace("=", " ", 1) for option in SSH_OPTIONS if "=" in option]
    lines += ["\n  ".join(["Host *", "User ops", f"IdentityFile {lab.key}", *common])]
    file.write_text("\n".join([*lines, ""]))
    return file


@pytest.fixture
def run(lab, ssh_config, play, tmp_path):
    """run(machine -> variables, keywords of the play, ...): the preflight of these machines, on the lab."""

    def run_play(machines, keywords=None, **options):
        inventory = lab.inventory()
        common = {**inventory["all"]["vars"], "ssh_config": str(ssh_config), "ansible_ssh_common_args": "-F {{ ssh_config }}"}
        if keywords:
            options["playbook"] = tmp_path / "play.yml"
            options["playbook"].write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": [ROLE], **keywords}]))
        return play({"node": {"vars": common, "hosts": machines}}, lab, **options)

    return run_play


def addresses(outcome):
    """machine -> (address, port) that the others were told to try."""
    (plan,) = [event["event_data"]["res"] for event in outcome.events
               if event["event"] == "runner_on_ok" and event["event_data"]["task_action"].endswith("plan")]
    return {machine["machine"]: (machine["address"], machine["port"]) for machine in plan["machines"]}


def problems(outcome):
    """(machine, check) -> detail of whatever is not ok."""
    return {of: finding["detail"] for of, finding in outcome.findings().items() if finding["level"] != "ok"}


@pytest.mark.parametrize("name", ROWS)
def test_healthy_machines_are_reached(run, name):
    machines, expected, keywords, settings = (*ROWS[name], {}, {})[:4]
    outcome = run(machines, keywords, settings=settings)
    assert outcome.report, outcome.output
    assert problems(outcome) == {}
    assert outcome.rc == 0
    assert addresses(outcome) == expected
    assert {machine: record["address"] for machine, record in outcome.records().items()} == {
        machine: address for machine, (address, port) in expected.items()}
    others = len(machines) - 1
    assert {machine: {key: record["reach"][key] for key in ("tried", "open", "not_open")}
            for machine, record in outcome.records().items()} == dict.fromkeys(
        machines, {"tried": others, "open": others, "not_open": []})
    assert {(machine, finding["detail"]) for (machine, check), finding in outcome.findings("network").items()} == {
        (machine, f"reaches {others} of {others} other machines on their SSH port") for machine in machines}


def test_the_lab_is_as_the_rows_need_it(lab):
    """Or they would show nothing: what is reached by a bastion, or by another address, is not reached otherwise."""
    with lab.network():
        for machine in ("inner1", "inner2"):
            for address in (IP[machine], IP6[machine]):
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection((address, 22), 5)
        with pytest.raises(OSError, match="resol|known"):
            socket.getaddrinfo("inner2", 22)


def test_an_address_that_only_the_controller_reaches_is_told(run):
    machines = {**by(a=IP["a"], b=IP["b"]), "split": {"ansible_host": IP6["split"]}}
    told = f"does not reach split ({IP6['split']} port 22: refused)"
    assert problems(run(machines)) == {("a", "network"): told, ("b", "network"): told}


def test_a_name_that_only_the_controller_knows_is_told(run):
    assert problems(run({"alias-a": {}, **by(b=IP["b"], c=IP["c"])})) == {
        **dict.fromkeys([("b", "network"), ("c", "network")], "does not reach alias-a (alias-a port 22: its name can not be looked up)"),
        **dict.fromkeys([("b", "names"), ("c", "names")], "no name server answers for alias-a")}


def test_a_port_that_only_the_controller_knows_is_told(run):
    assert problems(run({"alias-moved": {"preflight_address": IP["moved"]}, **by(a=IP["a"])})) == {
        ("a", "network"): f"does not reach alias-moved ({IP['moved']} port 22: refused)"}


def test_a_peers_name_that_leads_to_the_machine_itself_is_told_on_that_machine_only(run):
    outcome = run({"a": {}, "b": {}, "misled": {"ansible_host": IP["misled"]}})
    assert problems(outcome) == {("misled", "network"): "does not reach a (a port 22: something else answers there)",
                                 ("misled", "names"): "a leads to 127.0.1.1, which is this machine itself"}
    assert outcome.records()["misled"]["reach"]["open"] == 1
    assert outcome.rc == 2


@pytest.fixture
def forwarded(lab, ssh_config):
    """The machine b as seen through a port of the controller's own, as Vagrant and tunnels have it."""
    with lab.network():
        tunnel = subprocess.Popen(["ssh", "-F", ssh_config, "-N", "-o", "ExitOnForwardFailure=yes", "-L", f"2200:{IP['b']}:22", IP["a"]])
        try:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", 2200)).close()
                    break
                except ConnectionRefusedError:
                    assert tunnel.poll() is None
                    time.sleep(0.05)
            yield {"ansible_host": "127.0.0.1", "ansible_port": 2200}
        finally:
            tunnel.terminate()
            tunnel.wait()


def test_a_port_forwarded_from_the_controller(run, forwarded):
    c = by(c=IP["c"])
    assert problems(run({"b": forwarded, **c})) == {
        ("b", "network"): "its address for the others is 127.0.0.1, which leads each of them to itself"}
    outcome = run({"b": {**forwarded, "preflight_address": IP["b"], "preflight_port": 22}, **c})
    assert problems(outcome) == {}
    assert addresses(outcome) == {"b": (IP["b"], 22), "c": (IP["c"], 22)}


def test_the_controller_itself_among_the_machines(run):
    machines = {**by(a=IP["a"], b=IP["b"]), "here": {
        "ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "preflight_address": GATEWAY, "preflight_internet_urls": []}}
    outcome = run(machines)
    told = f"does not reach here ({GATEWAY} port 22: refused)"
    assert {machine: detail for (machine, check), detail in problems(outcome).items() if machine != "here"} == {"a": told, "b": told}
    own = {check: finding for (machine, check), finding in outcome.findings().items() if machine == "here"}
    assert "sudo" not in own
    assert (own["login"]["level"], own["network"]["level"], own["clock"]["level"]) == ("ok", "ok", "ok")
    assert outcome.findings()["a", "sudo"]["level"] == "ok"
    assert outcome.rc == 2


def test_another_python(lab, run):
    outcome = run({"python": {"ansible_host": IP["python"], "ansible_python_interpreter": OTHER_PYTHON}, **by(a=IP["a"])})
    assert problems(outcome) == {}
    assert lab.exec("python", "ls /tmp/other-python-ran").returncode == 0


# machine without a way out of its own -> (its proxy, the rest of what must be reported, how far it got)
PROXIES = {
    "by-proxy": (f"{WEB_IP}:80", "", None),
    "refused": (f"{GATEWAY}:3128", "Connection refused", "connect"),
    "nameless": ("proxy.invalid:3128", r"its name can not be resolved \(.+\)", "dns"),
    "mute": (f"{DROP_IP}:3128", "no answer within 3 s", "connect"),
}


def test_proxies_of_the_plays_environment_and_their_passwords_are_shown_nowhere(run):
    machines = {machine: {"ansible_host": IP[machine], "proxy": f"http://ann:{SECRET}@{proxy}"}
                for machine, (proxy, said, stage) in PROXIES.items()}
    outcome = run({**machines, "cut-off": {"ansible_host": IP["cut-off"], "proxy": ""}},
                  {"environment": {"http_proxy": "{{ proxy }}"}}, variables={"preflight_limits": {"internet_s": 3}}, arguments="-vv")
    found = {machine: finding for (machine, check), finding in outcome.findings("internet").items()}
    assert found.pop("cut-off")["level"] == "fail"  # so it is by the proxy alone that one of the others gets out
    for machine, (proxy, said, stage) in PROXIES.items():
        detail = rf"by way of http://{re.escape(proxy)}: {said}" if stage else f"answers by way of http://{re.escape(proxy)}"
        assert re.fullmatch(rf"http://deb\.debian\.org/ {detail}", found[machine]["detail"]), found[machine]
        assert (found[machine]["level"], found[machine]["fix"]) == (("fail", FIXES[stage]) if stage else ("ok", ""))
    assert {check for machine, check in problems(outcome)} == {"internet", "mirrors"}
    assert outcome.findings()["by-proxy", "mirrors"]["detail"].count(f" by way of http://{WEB_IP}:80") == 2
    for text in (outcome.output, json.dumps(outcome.report), json.dumps(outcome.records())):
        assert SECRET not in text
