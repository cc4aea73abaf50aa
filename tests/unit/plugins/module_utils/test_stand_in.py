"""Stand-ins as real processes, called over loopback."""

import errno
import os
import selectors
import signal
import socket
import time

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import calls, reach, stand_in

TOKEN = "5a5a"


@pytest.fixture(autouse=True)
def loopback_is_a_network(monkeypatch):
    monkeypatch.setattr(reach, "is_ones_own", lambda place: False)


@pytest.fixture
def free_ports():
    held = [socket.create_server(("127.0.0.1", 0)) for _number in range(3)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


@pytest.fixture
def opened():
    """opened(ports, ...): open_stand_ins, ended after the test."""
    pids = []

    def open_them(ports, token=TOKEN, me=7, lifetime_s=60, ours=()):
        found = stand_in.open_stand_ins(ports, token, me, lifetime_s, ours)
        pids.append(found["pid"])
        return found

    yield open_them
    for pid in filter(None, pids):
        if alive(pid):
            os.kill(pid, signal.SIGKILL)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            told = stat.read()
            return f"({stand_in.NAME}) " in told and ") Z" not in told
    except OSError:
        return False


def ended(pid):
    for _attempt in range(300):
        if not alive(pid):
            return True
        time.sleep(0.05)
    return False


def edge(port, number=7, **changed):
    return {"machine": f"m{number}", "address": "127.0.0.1", "port": port, "number": number, "held": False, "measured": False, **changed}


def test_it_ends_when_all_have_called_and_not_before(free_ports, opened):
    a, b, _c = free_ports
    found = opened({a: 2, b: 1})
    assert found == {"pid": found["pid"], "open": sorted([a, b]), "held": [], "not_opened": []}
    assert alive(found["pid"])
    for me in (1, 1, 2):
        told = calls.call([edge(a)], 5, TOKEN, me)
        assert {**told, "seconds": None} == {"tried": 1, "open": 1, "seconds": None, "not_open": [], "slowest": None, "measured": []}
    assert alive(found["pid"])  # nobody has called at b
    assert calls.call([edge(b)], 5, TOKEN, 3)["open"] == 1
    assert ended(found["pid"])
    assert calls.call([edge(b)], 5, TOKEN, 3)["not_open"] == [{"machine": "m7", "address": "127.0.0.1", "port": b, "outcome": "refused"}]


def test_who_can_not_come_is_not_waited_for(free_ports, opened):
    a, b, _c = free_ports
    found = opened({a: 3, b: 1})
    calls.call([edge(a)], 5, TOKEN, 1)
    calls.excuse({str(a): [2, 3], str(b): [3]}, TOKEN)
    assert ended(found["pid"])
    calls.excuse({str(a): [2]}, TOKEN)  # it is gone, and that is no error


def test_it_ends_by_itself(free_ports, opened):
    assert ended(opened({free_ports[0]: 1}, lifetime_s=1)["pid"])


def test_a_port_that_is_held_is_left_alone(free_ports, opened):
    with socket.create_server(("127.0.0.1", free_ports[0])) as service:
        found = opened({free_ports[0]: 1})
        assert found == {"pid": None, "open": [], "held": [free_ports[0]], "not_opened": []}
        assert calls.call([edge(free_ports[0], held=True)], 5, TOKEN, 1)["open"] == 1
        service.setblocking(False)
        with pytest.raises(BlockingIOError):  # it was not even woken
            service.accept()


def test_only_root_may_listen_there(opened, monkeypatch):
    def refuse(port):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(stand_in, "listen", refuse)
    assert opened({443: 1}) == {"pid": None, "open": [], "held": [], "not_opened": [
        {"port": 443, "reason": "only root may listen on it"}]}


def test_a_stranger_is_not_taken_for_it(free_ports, opened):
    a, b, c = free_ports
    opened({a: 1}, token="another")
    opened({b: 1}, me=8)
    with socket.create_server(("127.0.0.1", c)) as stranger:
        stranger.settimeout(10)
        edges = [edge(a), edge(b), edge(c)]
        found = calls.call(edges, 1, TOKEN, 1)
        assert stranger.accept()[0].recv(100) == b"5a5a 1\n"
    assert {entry["port"]: entry["outcome"] for entry in found["not_open"]} == {a: "other_run", b: "wrong_answer", c: "no_word"}


def test_a_stranger_does_not_count_or_hang_it(free_ports, opened):
    found = opened({free_ports[0]: 1})
    place = ("127.0.0.1", free_ports[0])
    with socket.create_connection(place), socket.create_connection(place) as rude:
        rude.sendall(b"x" * 100_000)
        for line in (b"GET / HTTP/1.1\r\n", b"another 1\n", b"5a5a name\n", b"\xff\n"):
            with socket.create_connection(place) as call:
                call.sendall(line)
                assert call.recv(100) == f"llmgw-preflight - 7 {free_ports[0]}\n".encode()
        assert alive(found["pid"])
        assert calls.call([edge(free_ports[0])], 5, TOKEN, 1)["open"] == 1


def test_round_trips_are_measured_before_the_call(free_ports, opened):
    opened({free_ports[0]: 1})
    found = calls.call([edge(free_ports[0], measured=True)], 5, TOKEN, 1)
    assert found["open"] == 1
    assert found["slowest"]["machine"] == "m7"
    assert 0 < found["slowest"]["seconds"] < 1


def test_one_of_this_run_makes_room_and_one_of_another_is_tried_as_a_service_is(free_ports, opened):
    port = free_ports[0]
    first = opened({port: 1})
    second = opened({port: 1}, ours=[port])
    assert second["open"] == [port] and second["pid"] not in (None, first["pid"])
    assert ended(first["pid"])
    assert opened({port: 1}, token="another", ours=[port]) == {"pid": None, "open": [], "held": [port], "not_opened": []}
    assert calls.call([edge(port, held=True)], 5, "another", 1)["open"] == 1
    assert alive(second["pid"])


def test_what_is_shut_is_not_waited_for_again_when_the_way_is_measured(free_ports):
    found = calls.call([edge(free_ports[0], measured=True)], 5, TOKEN, 1)
    assert found["not_open"] == [{"machine": "m7", "address": "127.0.0.1", "port": free_ports[0], "outcome": "refused"}]
    assert (found["tried"], found["open"], found["slowest"]) == (1, 0, None)


def test_words_may_come_in_pieces(free_ports, opened):
    port = free_ports[0]
    found = opened({port: 1})
    with socket.create_connection(("127.0.0.1", port)) as call:
        for piece in (b"5a", b"5a ", b"3\n"):
            call.sendall(piece)
            time.sleep(0.1)
        assert call.recv(100) == f"llmgw-preflight 5a5a 7 {port}\n".encode()
    assert ended(found["pid"])


@pytest.mark.parametrize(("most", "seconds"), [(500, 0.1), (1, 3600)])
def test_who_says_nothing_does_not_keep_others_from_being_heard(free_ports, opened, monkeypatch, most, seconds):
    monkeypatch.setattr(stand_in, "CALLS_MOST", most)
    monkeypatch.setattr(stand_in, "CALL_S", seconds)
    found = opened({free_ports[0]: 1})
    with socket.create_connection(("127.0.0.1", free_ports[0])) as silent:
        if most == 1:
            assert calls.call([edge(free_ports[0])], 5, "another", 1)["open"] == 0
        silent.settimeout(60)
        assert silent.recv(100) == b""  # it is not waited for
    assert calls.call([edge(free_ports[0])], 5, TOKEN, 1)["open"] == 1
    assert ended(found["pid"])


def test_one_that_makes_room_for_another_as_it_speaks_does_not_end_it(free_ports, opened, monkeypatch):
    class AllAtOnce(selectors.DefaultSelector):
        def select(self, timeout=None):
            for _attempt in range(100):
                found = super().select(0)
                if len(found) == len(self.get_map()):
                    break
                time.sleep(0.01)
            return sorted(found, key=lambda event: event[0].data is None)  # whoever calls before whoever speaks

    monkeypatch.setattr(stand_in.selectors, "DefaultSelector", AllAtOnce)
    monkeypatch.setattr(stand_in, "CALLS_MOST", 1)
    found = opened({free_ports[0]: 1})
    monkeypatch.undo()
    monkeypatch.setattr(reach, "is_ones_own", lambda place: False)
    with socket.create_connection(("127.0.0.1", free_ports[0])) as first:
        first.sendall(b"another 1\n")
        assert calls.call([edge(free_ports[0])], 5, TOKEN, 1)["open"] == 1
    assert ended(found["pid"])


def test_one_that_is_in_the_way_and_does_not_end_holds_the_port(free_ports, opened, monkeypatch):
    monkeypatch.setattr(stand_in, "ASK_S", 0.1)
    monkeypatch.setattr(stand_in.time, "sleep", lambda seconds: None)
    with socket.create_server(("127.0.0.1", free_ports[0])):
        assert opened({free_ports[0]: 1}, ours=[free_ports[0]]) == {"pid": None, "open": [], "held": [free_ports[0]], "not_opened": []}
    assert opened({free_ports[0]: 1}, ours=[free_ports[0]])["open"] == [free_ports[0]]  # it has just ended


@pytest.mark.parametrize(("error", "found"), [
    (errno.EAFNOSUPPORT, {"open": True, "not_opened": None}), (errno.EMFILE, {"open": False, "not_opened": "Too many open files"})])
def test_a_kernel_without_ipv6_and_one_that_gives_nothing(free_ports, opened, monkeypatch, error, found):
    given = socket.socket

    def refuse(family=socket.AF_INET, *more, **named):
        if family == socket.AF_INET6:
            raise OSError(error, os.strerror(error))
        return given(family, *more, **named)

    monkeypatch.setattr(stand_in.socket, "socket", refuse)
    told = opened({free_ports[0]: 1})
    assert told["open"] == ([free_ports[0]] if found["open"] else [])
    assert told["not_opened"] == ([{"port": free_ports[0], "reason": found["not_opened"]}] if found["not_opened"] else [])
    monkeypatch.undo()
    monkeypatch.setattr(reach, "is_ones_own", lambda place: False)
    assert calls.call([edge(free_ports[0])], 5, TOKEN, 1)["open"] == found["open"]
