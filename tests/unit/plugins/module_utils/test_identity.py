import socket
import struct

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import identity
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILGWpAMKHNJLZI2fbdLIoBFJQ3RA1vpA/yFbC0E2sRSI root@x\n"
KEY_PRINT = "SHA256:9MvGzwTwlOS5E+Av05OZpiT6UmQ6lQyhF7hzEqkTFXM"  # as ssh-keygen -l says
ROUTE = """Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
bond0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
docker0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0
"""
ROUTE6 = (f"{'0' * 32} 00 {'0' * 32} 00 fe80{'0' * 27}1 00000400 00000001 00000000 00000003     br6\n"
          f"{'0' * 32} 00 {'0' * 32} 00 {'0' * 32} ffffffff 00000001 00000000 00200200       lo\n"
          f"fd00{'0' * 28} 40 {'0' * 32} 00 {'0' * 32} 00000100 00000001 00000000 00000001    eth9\n")
INET6 = ("fe8000000000000000fc00fffe000001 04 40 20 80     eth0\n"
         "fd000000000000000000000000000002 04 40 00 82     eth0\n"
         "00000000000000000000000000000001 01 80 10 80       lo\n"
         "20010db8000000000000000000000001 05 40 00 80      br6\n")


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine whose files lie in a folder: machine(interface -> (is it hardware, IPv4 addresses)) and then identity()."""
    for name in ("sys", "proc", "ssh"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(identity, "MACHINE_ID", (str(tmp_path / "machine-id"), str(tmp_path / "dbus")))
    monkeypatch.setattr(identity, "HOST_KEYS", str(tmp_path / "ssh" / "ssh_host_*_key.pub"))
    monkeypatch.setattr(identity, "INTERFACES", str(tmp_path / "sys"))
    monkeypatch.setattr(identity, "PROC", str(tmp_path / "proc"))
    monkeypatch.setattr(identity.socket, "gethostname", lambda: "box")
    monkeypatch.delenv("SSH_CONNECTION", raising=False)

    def make(interfaces):
        for number, (name, (hardware, _dummy)) in enumerate(interfaces.items()):
            (tmp_path / "sys" / name / ("device" if hardware else "")).mkdir(parents=True)
            (tmp_path / "sys" / name / "address").write_text(f"52:54:00:00:00:0{number}\n")
        found = [(name, address) for name, (dummy, addresses) in interfaces.items() for address in addresses]
        monkeypatch.setattr(identity, "_ipv4", lambda: found)
        return tmp_path

    return make


def test_a_machine_with_all(machine):
    folder = machine({"eth0": (True, ["10.0.0.5", "10.0.0.6"])})
    (folder / "machine-id").write_text("a" * 32 + "\n")
    (folder / "proc" / "if_inet6").write_text(INET6)
    (folder / "ssh" / "ssh_host_ed25519_key.pub").write_text(KEY)
    (folder / "ssh" / "ssh_host_rsa_key.pub").write_text("junk")
    assert identity.identity() == {"machine_id": "a" * 32, "host_keys": [KEY_PRINT], "hostname": "box",
                                   "addresses": ["10.0.0.5", "10.0.0.6", "fd00::2"], "macs": ["52:54:00:00:00:00"]}


def test_a_machine_with_nothing(machine):
    machine({})
    assert identity.identity() == {"machine_id": None, "host_keys": [], "hostname": "box", "addresses": [], "macs": []}


def test_the_second_place_of_the_machine_id(machine):
    folder = machine({})
    (folder / "machine-id").write_text("\n")
    (folder / "dbus").write_text("b" * 32)
    assert identity.identity()["machine_id"] == "b" * 32


@pytest.mark.parametrize(("interfaces", "reached_by", "addresses"), [
    ({"lo": (False, ["127.0.0.1"]), "eth0": (True, ["10.0.0.5", "169.254.1.1"]), "docker0": (False, ["172.17.0.1"])}, None, ["10.0.0.5"]),
    ({"bond0": (False, ["10.0.0.5"]), "docker0": (False, ["172.17.0.1"]), "tun0": (False, ["10.8.0.1"])}, None, ["10.0.0.5"]),
    ({"br0": (False, ["10.0.0.5", "10.0.0.6"]), "docker0": (False, ["172.17.0.1"])}, "10.0.0.6", ["10.0.0.5", "10.0.0.6"]),
    ({"br6": (False, [])}, None, ["2001:db8::1"]),
    ({"eth0": (True, ["10.0.2.15"]), "eth1": (True, ["192.168.56.10"])}, "192.168.56.10", ["192.168.56.10"]),
    ({"eth0": (True, ["10.0.2.15"])}, "10.0.2.15", []),
])
def test_which_interfaces_are_the_machines_own(machine, monkeypatch, interfaces, reached_by, addresses):
    folder = machine(interfaces)
    (folder / "proc" / "route").write_text(ROUTE)
    (folder / "proc" / "ipv6_route").write_text(ROUTE6)
    if "br6" in interfaces:
        (folder / "proc" / "if_inet6").write_text(INET6.replace("eth0", "docker0"))
    if reached_by:
        monkeypatch.setenv("SSH_CONNECTION", f"10.9.9.9 50000 {reached_by} 22")
    found = identity.identity()
    assert found["addresses"] == addresses
    assert len(found["macs"]) == len(addresses[:1])


def test_an_interface_without_a_mac_address(machine):
    folder = machine({"eth0": (True, ["10.0.0.5"])})
    (folder / "sys" / "eth0" / "address").write_text("00:00:00:00:00:00\n")
    assert identity.identity()["macs"] == []
    (folder / "sys" / "eth0" / "address").unlink()
    assert (identity.identity()["macs"], identity.identity()["addresses"]) == ([], ["10.0.0.5"])


def test_what_the_kernel_tells_of_addresses():
    def entry(name, address):
        body = struct.pack("=16sHH4s", name, socket.AF_INET, 0, socket.inet_aton(address))
        return body.ljust(identity.ENTRY, b"\0")

    assert identity.parse_ifconf(entry(b"eth0", "10.0.0.5") + entry(b"eth0:1", "10.0.0.6")) == [("eth0", "10.0.0.5"), ("eth0", "10.0.0.6")]
    assert ("lo", "127.0.0.1") in identity._ipv4()  # of this machine


def test_without_a_network_nothing_is_guessed(machine, monkeypatch):
    def refused():
        raise Unmeasured("no")

    machine({})
    monkeypatch.setattr(identity, "_ipv4", refused)
    with pytest.raises(Unmeasured):
        identity.identity()


@pytest.mark.parametrize("address", ["abc", "0102", "xx" * 16, "\ufffd"])
def test_a_table_of_addresses_of_another_form(address):
    with pytest.raises(Unmeasured, match="^/proc/net/if_inet6 is not of the known form "):
        identity.parse_if_inet6(f"{address} 02 40 00 80 eth0")


def test_a_host_key_of_another_form_is_passed_over(monkeypatch, tmp_path):
    (tmp_path / "ssh_host_a_key.pub").write_text("ssh-ed25519 \u00e9\n")
    (tmp_path / "ssh_host_b_key.pub").write_text("ssh-ed25519 AAAA\n")
    monkeypatch.setattr(identity, "HOST_KEYS", str(tmp_path / "*.pub"))
    assert identity._host_keys() == ["SHA256:cJ6AyISHokEeHuTfufIqhhSS0gxHZRUMDHlKvXD4FHw"]
