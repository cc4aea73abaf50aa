import errno
import socket
import threading

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import lookup, names

TABLE = {"box": ["127.0.1.1"],
         "db1": ["10.0.0.1", "fd00::1"], "db2": ["127.0.1.1"], "db3": ["10.0.0.3", "::1"], "db4": ["::ffff:127.0.0.1"]}
REAL = socket.getaddrinfo


@pytest.fixture(autouse=True)
def table(monkeypatch):
    """Names are looked up in TABLE; "stuck" never gets an answer, and for "again" no name server answers; for "no files" none is asked."""
    stuck, asked = threading.Event(), []

    def getaddrinfo(name, *rest):
        if len(rest) == 5:  # numbers only
            return REAL(name, *rest)
        asked.append(name)
        if name == "stuck":
            stuck.wait()
        if name == "no files":
            raise OSError(errno.EMFILE, "Too many open files")
        if name == "again":
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        if name not in TABLE:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in TABLE[name]]

    monkeypatch.setattr(lookup, "_ASKED", {})
    monkeypatch.setattr(names.socket, "gethostname", lambda: "box")
    monkeypatch.setattr(names.socket, "getaddrinfo", getaddrinfo)
    yield asked
    stuck.set()


def peer(address, machine=None):
    return {"machine": machine or address, "address": address, "port": 22}


OWN = {"name": "box", "addresses": ["127.0.1.1"], "answered": True}


def test_only_names_are_looked_up(table):
    found = names.names([peer("10.0.0.9"), peer("fd00::9"), peer("fe80::1%lo"), peer("127.1")], 20)
    assert found == {"own": OWN, "looked_up": 0, "nobody": [], "loopback": []}
    assert table == ["box"]


def test_what_leads_elsewhere_is_kept_and_nothing_else(table):
    peers = [peer(f"db{number}", f"m{number}") for number in range(1, 6)] + [peer("db1", "twice"), peer("." * 300, "odd")]
    assert names.names(peers, 20) == {
        "own": OWN, "looked_up": 7,
        "nobody": [{"machine": "m5", "address": "db5", "answered": True}, {"machine": "odd", "address": "." * 300, "answered": True}],
        "loopback": [{"machine": "m2", "address": "db2", "to": "127.0.1.1"}, {"machine": "m3", "address": "db3", "to": "::1"},
                     {"machine": "m4", "address": "db4", "to": "::ffff:127.0.0.1"}],
    }
    assert sorted(table) == sorted({"box", *(each["address"] for each in peers)})  # each once


@pytest.mark.parametrize("name", ["stuck", "again", "no files"])
def test_a_name_for_which_no_server_answers_is_told_apart_and_does_not_hide_the_others(name):
    assert names.names([peer(name, "m1"), peer("db2")], 0.2) == {
        "own": OWN, "looked_up": 2, "nobody": [{"machine": "m1", "address": name, "answered": False}],
        "loopback": [{"machine": "db2", "address": "db2", "to": "127.0.1.1"}]}


@pytest.mark.parametrize("own", ["stuck", "again", "nobody"])
def test_its_own_name_without_an_answer_has_no_address_and_does_not_hide_the_others(monkeypatch, own):
    monkeypatch.setattr(names.socket, "gethostname", lambda: own)
    assert names.names([peer("db1"), peer("db9")], 0.5) == {
        "own": {"name": own, "addresses": None, "answered": own == "nobody"}, "looked_up": 2,
        "nobody": [{"machine": "db9", "address": "db9", "answered": True}], "loopback": []}


def test_a_name_is_looked_up_once_whoever_asks_for_it_and_waited_for_once(table):
    peers = [peer("db1"), peer("stuck")]
    for _again in range(3):
        assert names.names(peers, 0.5)["nobody"] == [{"machine": "stuck", "address": "stuck", "answered": False}]
    assert lookup.look_up({"db1", "stuck"}, 600) == {"db1": ["10.0.0.1", "fd00::1"]}
    assert sorted(table) == ["box", "db1", "stuck"]
