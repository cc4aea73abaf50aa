import os
import socket
import time

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import machine
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import OF_THE_MODULE


@pytest.mark.parametrize(("section", "name", "seconds"), [
    ("gpus", "gpus", 20),  # nvidia-smi takes seconds for each GPU that nothing keeps awake
    ("candidates", "candidates", 20), ("locales", "locales", 10), ("firewall", "firewall", 10), ("listening", "listening", 5),
])
def test_a_reader_may_take_longer_than_the_program_that_it_waits_for(monkeypatch, section, name, seconds):
    given, readers = [], {}

    def read_all(found, whole_s):
        readers.update(found)
        return {}, {}

    monkeypatch.setattr(machine, "read_all", read_all)
    monkeypatch.setattr(machine, name, lambda *arguments: given.append(arguments[-1]))
    machine.main({"peers": [], "limits": settings.LIMITS, "skip": ["disk_speed"], "writes": [], "packages": [], "paths": [],
                  "internet_urls": [], "stand_ins": None}, 0)
    reader, limit_s = readers[section]
    reader()
    assert given == [seconds] and limit_s > seconds


STAND_INS = {"ports": {"5432": 2}, "token": "t", "me": 3, "lifetime_s": 60, "within_s": 30}


@pytest.fixture
def read(monkeypatch):
    """read(sections, unmeasured, begun, open_stand_ins, ...): what the module returns when its readers find this."""
    def make(sections, unmeasured=(), begun=None, open_stand_ins=None, **asked):
        monkeypatch.setattr(machine, "read_all", lambda readers, whole_s: (dict(sections), dict(unmeasured)))
        monkeypatch.setattr(machine, "open_stand_ins", open_stand_ins)
        return machine.main({"peers": [], "limits": settings.LIMITS, "skip": [], "writes": [], "packages": [], "paths": [],
                             "internet_urls": [], "stand_ins": None, **asked}, time.time() if begun is None else begun)

    return make


def test_what_is_returned(read):
    begun = time.time()
    found = read({"cpus": 4}, {"temp": "t"}, begun)
    assert begun <= found.pop("ended")
    assert found == {"sections": {"cpus": 4}, "unmeasured": {"temp": "t"}, "started": begun}


def test_a_name_that_can_not_be_looked_up_is_no_failed_login(read):
    found = read({}, {"login": "no answer within 10 s"})
    assert found["sections"] == {"login": {"ok": True, "user": str(os.getuid()), "uid": os.getuid()}} and found["unmeasured"] == {}


def test_stand_ins_are_opened_last_and_make_room_for_themselves(read):
    given = []
    listening = [{"port": 5432, "process": machine.NAME}, {"port": 8008, "process": "patroni"}]
    found = read({"listening": listening}, stand_ins=STAND_INS, open_stand_ins=lambda *wanted: given.append(wanted) or "opened")
    assert given == [({5432: 2}, "t", 3, 60, [5432])]
    assert found["sections"]["stand_ins"] == "opened"


@pytest.mark.parametrize(("late_s", "told"), [
    (31, "Unmeasured: it was too late when everything else was read"), (0, "OSError: [Errno 24] Too many open files")])
def test_stand_ins_that_can_not_be_opened_cost_that_section_only(read, late_s, told):
    def refuse(*wanted):
        raise OSError(24, "Too many open files")

    found = read({"cpus": 4}, begun=time.time() - late_s, stand_ins=STAND_INS, open_stand_ins=refuse)
    assert (found["sections"], found["unmeasured"]) == ({"cpus": 4}, {"stand_ins": told})


def test_no_stand_in_is_opened_where_nobody_is_there_to_be_told(read, monkeypatch):
    monkeypatch.setattr(machine, "is_left", lambda: True)
    found = read({"cpus": 4}, stand_ins=STAND_INS, open_stand_ins=None)
    assert found["unmeasured"] == {"stand_ins": "Unmeasured: nobody was there any more to be told"}


@pytest.mark.parametrize("kind", ["pipe", "sockets"])  # sshd has either
def test_who_reads_what_is_printed_may_have_left(kind):
    if kind == "pipe":
        reader, writer = (open(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
    else:
        reader, writer = socket.socketpair()
    with writer, reader:
        assert not machine.is_left(writer.fileno())
        reader.close()
        assert machine.is_left(writer.fileno())


def test_a_file_and_a_terminal_are_not_left(tmp_path):
    terminal = os.openpty()
    with open(tmp_path / "out", "w") as file, open(terminal[0], "rb"), open(terminal[1], "wb") as end:
        assert not machine.is_left(file.fileno()) and not machine.is_left(end.fileno())


def test_what_is_to_be_skipped_is_not_read(monkeypatch):
    asked_for = []
    monkeypatch.setattr(machine, "read_all", lambda readers, whole_s: asked_for.extend(readers) or ({}, {}))
    machine.main({"peers": [], "limits": settings.LIMITS, "skip": [name for name in OF_THE_MODULE if name != "cpus"], "writes": ["/x"],
                  "packages": [], "paths": [], "internet_urls": [], "stand_ins": None}, 0)
    assert asked_for == ["cpus"]
