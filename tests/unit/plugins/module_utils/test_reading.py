import sys
import threading
import time

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import reading
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import (
    Unmeasured,
    command,
    find,
    first_line,
    once,
    read_all,
    text_of,
)


def test_each_reader_costs_only_its_own_section():
    stuck = threading.Event()

    def refuses():
        raise Unmeasured("it would not say")

    def breaks():
        return {}["nothing"]

    begun = time.monotonic()
    sections, unmeasured = read_all({
        "fine": (lambda: 5, 60), "refuses": (refuses, 60), "breaks": (breaks, 60), "hangs": (stuck.wait, 0.2),
        "hangs_too": (stuck.wait, 60),
    }, 0.5)
    waited = time.monotonic() - begun
    stuck.set()
    assert sections == {"fine": 5}
    assert unmeasured == {
        "refuses": "it would not say", "breaks": "KeyError: 'nothing'", "hangs": "no answer within 0.2 s",
        "hangs_too": "no answer within 0.5 s",
    }
    assert waited >= 0.5


def test_where_no_more_threads_can_be_started_what_was_begun_is_read(monkeypatch):
    real = reading.in_background

    def in_background(end, function, reader, box):
        if reader is None:
            raise RuntimeError("can't start new thread")
        return real(end, function, reader, box)

    monkeypatch.setattr(reading, "in_background", in_background)
    assert read_all({"one too many": (None, 60), "another": (lambda: 6, 60)}, 60) == (
        {"another": 6}, {"one too many": "can't start new thread"})


def test_a_program_that_hangs_is_ended_with_what_it_started(tmp_path):
    alive = tmp_path / "alive"
    script = f"(while :; do echo . >>{alive}; sleep 0.05; done) & sleep 60"
    with pytest.raises(Unmeasured, match="gave no answer within 2 s$"):
        command(["/bin/sh", "-c", script], 2)
    size = alive.stat().st_size
    assert size
    time.sleep(0.5)
    assert alive.stat().st_size <= size + 2


@pytest.mark.parametrize("where", ["", ">&2"])
def test_a_program_that_prints_without_end_is_ended(where, monkeypatch):
    monkeypatch.setattr(reading, "OUTPUT_MOST", 2**20)
    with pytest.raises(Unmeasured, match="^/bin/sh -c .* printed more than 1 MB$"):
        command(["/bin/sh", "-c", f"exec yes {where}"], 600)


def test_a_program_that_prints_on_and_on_is_ended_in_time():
    with pytest.raises(Unmeasured, match="gave no answer within 1 s$"):
        command(["/bin/sh", "-c", "while :; do echo x; sleep 0.01; done"], 1)


def test_a_program_that_closes_its_output_is_waited_for():
    assert command(["/bin/sh", "-c", "echo a; echo b >&2; exec >&- 2>&-; sleep 0.2; exit 3"], 60) == (3, "a\n", "b\n")


def test_a_program_that_prints_a_lot_is_read_to_its_end():
    assert len(command([sys.executable, "-c", "print('x' * 3000000)"], 60)[1]) == 3000001


def test_a_program_runs_in_english_without_input():
    script = "import os, sys; print(os.environ['LC_ALL'], repr(sys.stdin.read())); sys.stderr.write('e'); sys.exit(3)"
    assert command([sys.executable, "-c", script], 60) == (3, "C ''\n", "e")


def test_a_program_that_is_not_there():
    with pytest.raises(Unmeasured, match="^/no/such: No such file or directory$"):
        command(["/no/such"], 5)
    assert find("no-such-program") is None
    assert find("sh").endswith("/sh")


def test_programs_of_the_system_are_found_without_a_path(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert find("sh") in ("/usr/bin/sh", "/bin/sh")


def test_texts(tmp_path):
    (tmp_path / "f").write_bytes(b"abc\xff")
    assert text_of(str(tmp_path / "f")) == "abc\ufffd"
    assert text_of(str(tmp_path / "f"), 2) == "ab"
    with pytest.raises(Unmeasured, match="/g: No such file or directory$"):
        text_of(str(tmp_path / "g"))
    assert first_line("\n  one \ntwo") == "one"
    assert first_line("\n") == ""


@pytest.mark.parametrize("refuses", [False, True])
def test_what_several_readers_need_is_read_once(refuses):
    begun, calls = threading.Event(), []

    def reader():
        begun.wait(10)
        calls.append(1)
        if refuses:
            raise Unmeasured("it would not say")
        return len(calls)

    shared = once(reader)
    sides = {name: (shared, 60) for name in ("one", "other")}
    threading.Timer(0.1, begun.set).start()
    sections, unmeasured = read_all(sides, 60)
    assert calls == [1]
    assert (sections, unmeasured) == (({}, dict.fromkeys(sides, "it would not say")) if refuses else (dict.fromkeys(sides, 1), {}))
