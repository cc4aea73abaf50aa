import errno
import resource
import socket
import threading
import time

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import lookup, reach


def peer(port, address="127.0.0.1", machine="m"):
    return {"machine": machine, "address": address, "port": port}


@pytest.fixture(autouse=True)
def loopback_is_a_network(request, monkeypatch):
    """These tests keep to loopback, which would otherwise be the machine itself."""
    monkeypatch.setattr(lookup, "_ASKED", {})
    if "ones_own" not in request.function.__name__:
        monkeypatch.setattr(reach, "is_ones_own", lambda place: False)


@pytest.fixture
def server():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        made.listen()
        yield made.getsockname()[1]


@pytest.fixture
def closed_port():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        yield made.getsockname()[1]


def test_more_peers_than_files_that_a_login_may_have_open(server):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, before[1]))
    try:
        assert reach.reach([peer(server)] * 100, 20)["open"] == 100
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_service_never_comes_to_see_who_only_tries_it():
    with socket.socket() as service:
        service.bind(("127.0.0.1", 0))
        service.listen()
        service.setblocking(False)
        found = reach.reach([peer(service.getsockname()[1])], 20)
        assert found["open"] == 1
        assert found["seconds"]["max"] > 0
        with pytest.raises(BlockingIOError):
            service.accept()


def test_nobody_to_reach():
    assert reach.reach([], 5) == {"tried": 0, "open": 0, "seconds": {"median": None, "max": None}, "not_open": []}


def test_open_refused_and_unknown(server, closed_port, monkeypatch):
    peers = [peer(server), peer(closed_port, machine="c"), peer(22, "no.such.name.invalid", "n"), peer(server, "localhost")]
    found = reach.reach(peers, 20)
    assert found["seconds"].keys() == {"median", "max"}
    assert 0 <= found["seconds"]["median"] <= found["seconds"]["max"] < 20
    assert {**found, "seconds": None} == {
        "tried": 4, "open": 2, "seconds": None,
        "not_open": [{**peers[1], "outcome": "refused"}, {**peers[2], "outcome": "no_name"}],
    }


def test_one_that_does_not_answer_does_not_hide_the_others(server):
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        fillers = []
        for _dummy in range(4):  # a full queue drops what comes then, like a firewall
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
            fillers.append(filler)
        found = reach.reach([peer(port, machine="silent"), *[peer(server)] * 50], 1)
        for filler in fillers:
            filler.close()
    assert (found["tried"], found["open"]) == (51, 50)
    assert found["not_open"] == [{**peer(port, machine="silent"), "outcome": "timeout"}]


def test_a_second_address_of_a_name_is_tried(server, closed_port, monkeypatch):
    kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    monkeypatch.setattr(reach.socket, "getaddrinfo", lambda *_: [(*kind, ("127.0.0.1", closed_port)), (*kind, ("127.0.0.1", server))])
    assert reach.reach([peer(server)], 10)["open"] == 1


@pytest.mark.parametrize("address", ["127.0.0.1", "127.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "localhost"])
def test_an_address_of_ones_own_reaches_nobody_else(server, address):
    found = reach.reach([peer(server, address)], 5)
    assert found["not_open"] == [{**peer(server, address), "outcome": "wrong_answer"}]


def test_a_name_that_is_looked_up_for_ever_does_not_hide_the_others(server, monkeypatch):
    stuck, real = threading.Event(), socket.getaddrinfo
    monkeypatch.setattr(reach.socket, "getaddrinfo",
                        lambda name, *rest: (stuck.wait() and []) if name == "stuck" and len(rest) == 3 else real(name, *rest))
    found = reach.reach([peer(22, "stuck", "stuck"), peer(server)], 1)
    stuck.set()
    assert (found["open"], found["not_open"]) == (1, [{**peer(22, "stuck", "stuck"), "outcome": "no_name"}])


def test_a_name_server_that_answers_late_is_waited_for_and_may_have_files_open(server, monkeypatch):
    """Where the first of two is dead, each name takes five seconds: half of the time that there is."""
    real, allowed = socket.getaddrinfo, []

    def getaddrinfo(name, *rest):
        if name == "late" and len(rest) == 3:
            allowed.append(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
            time.sleep(2)
        return real("127.0.0.1" if name == "late" and len(rest) == 3 else name, *rest)

    monkeypatch.setattr(reach.socket, "getaddrinfo", getaddrinfo)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, before[1]))
    try:
        assert reach.reach([peer(server, "late")], 3)["open"] == 1
        assert allowed == [260]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.fixture
def service():
    """service(answer): a port on which each caller who says something is answered piece by piece; without an answer it is hung up on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        def start(*pieces):
            def serve():
                call = listening.accept()[0]
                call.recv(100)
                if not pieces:
                    call.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reach.AT_ONCE)
                for piece in pieces:
                    call.sendall(piece)
                    time.sleep(0.05)
                call.close()

            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            return listening.getsockname()[1]

        yield start


@pytest.mark.parametrize(("pieces", "outcome"), [
    ([b"it", b" is ", b"me\n"], "open"), ([b"another\n"], "other_run"), ([b"HTTP/1.1 400"], "wrong_answer"), ([b"x" * 600], "wrong_answer"),
    ([], "wrong_answer"),
])
def test_what_is_answered(service, pieces, outcome):
    found = reach.attempt([peer(service(*pieces))], 20, {0: (b"who?\n", b"it is me\n", b"another")})[0]
    assert found == {0: outcome}


def test_a_family_that_the_kernel_does_not_know_is_no_way(monkeypatch, server):
    given = socket.socket

    def refuse(family=socket.AF_INET, *more, **named):
        if family == socket.AF_INET6:
            raise OSError(errno.EAFNOSUPPORT, "Address family not supported by protocol")
        return given(family, *more, **named)

    monkeypatch.setattr(reach.socket, "socket", refuse)
    assert reach.attempt([peer(22, "2001:db8::1"), peer(server)], 20)[0] == {0: "no_route", 1: "open"}


@pytest.mark.parametrize(("error", "outcome"), [(errno.ENETUNREACH, "no_route"), (errno.EPERM, "no_route"), (errno.EINVAL, "timeout")])
def test_a_call_that_fails_at_once(monkeypatch, error, outcome):
    class Socket(socket.socket):
        def connect_ex(self, place):
            return error

    monkeypatch.setattr(reach.socket, "socket", Socket)
    assert reach.attempt([peer(22)], 20)[0] == {0: outcome}
