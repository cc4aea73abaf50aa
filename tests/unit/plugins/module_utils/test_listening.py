import os
import socket
import struct
import types

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import listening
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"


def line(local, state="0A", uid=0, inode=77):
    return f"   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 {uid:>5}        0 {inode} 1 0 100 0\n"


@pytest.mark.parametrize(("local", "address", "port"), [
    ("0100007F:1538", "127.0.0.1", 5432),
    ("00000000:0016", "0.0.0.0", 22),
    ("00000000000000000000000000000000:0016", "::", 22),
    ("B80D0120000000000000000001000000:0050", "2001:db8::1", 80),
])
def test_addresses(monkeypatch, local, address, port):
    # Written as a little-endian kernel does, whatever this one is.
    little = types.SimpleNamespace(pack=lambda form, *words: struct.pack(form.replace("=", "<"), *words))
    monkeypatch.setattr(listening, "struct", little)
    found = listening.parse(HEAD + line(local))
    assert [(entry["address"], entry["port"]) for entry in found] == [(address, port)]


def test_only_listening_sockets_count():
    assert listening.parse(HEAD + line("0100007F:1538", state="01") + "junk\n" + line("0100007F:0016", uid=5, inode=9)) == [
        {"port": 22, "address": "127.0.0.1", "uid": 5, "inode": "9"}]
    assert listening.parse("") == []


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_real_listener_with_its_process(family, address):
    low = os.open("/dev/null", os.O_RDONLY)  # a number below the listener's, taken by whoever lists the descriptors
    with socket.socket(family, socket.SOCK_STREAM) as server:
        os.close(low)
        server.bind((address, 0))
        server.listen()
        port = server.getsockname()[1]
        found = [entry for entry in listening.listening(60) if entry["port"] == port]
    with open("/proc/self/comm") as comm:
        assert found == [{"port": port, "address": address, "process": comm.read().strip(),
                          "user": listening._user(os.getuid())}]


def test_who_holds_them_is_looked_for_no_longer_than_that():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert [entry["process"] for entry in listening.listening(-1) if entry["port"] == port] == [None]


def test_a_socket_that_the_kernel_tells_twice_is_one(monkeypatch):
    text = HEAD + line("0100007F:1538", inode=5) + line("0100007F:0016", inode=6) + line("0100007F:1538", inode=5)
    monkeypatch.setattr(listening, "text_of", lambda path, most: text)
    assert [entry["port"] for entry in listening.listening(60)] == [22, 5432]


def test_what_looks_like_a_port_elsewhere_is_none(monkeypatch):
    """A Unix socket's line can hold any number (NethServer/dev#7921); only TCP is read, by field."""
    asked = []
    monkeypatch.setattr(listening, "text_of", lambda path, most: asked.append(path) or HEAD)
    assert listening.listening(60) == []
    assert asked == ["/proc/net/tcp", "/proc/net/tcp6"]
    assert [entry["port"] for entry in listening.parse(HEAD + line("0100007F:0016", uid=5432, inode=5432))] == [22]


def test_without_ipv6_nothing_is_missed_and_without_ipv4_nothing_is_known(monkeypatch):
    def text_of(missing):
        def read(path, most):
            if path in missing:
                raise Unmeasured(f"{path}: No such file or directory")
            return HEAD
        return read

    monkeypatch.setattr(listening, "text_of", text_of(["/proc/net/tcp6"]))
    assert listening.listening(60) == []
    for missing in (["/proc/net/tcp"], ["/proc/net/tcp", "/proc/net/tcp6"]):
        monkeypatch.setattr(listening, "text_of", text_of(missing))
        with pytest.raises(Unmeasured, match="^/proc/net/tcp: No such file or directory"):
            listening.listening(60)


@pytest.mark.parametrize("local", ["0100007F", "0100007F:x", "junk:0016", "F00000000:0016"])
def test_a_table_of_another_form(monkeypatch, local):
    monkeypatch.setattr(listening, "text_of", lambda path, most: HEAD + line(local))
    with pytest.raises(Unmeasured, match="^/proc/net/tcp is not of the known form "):
        listening.listening(60)
