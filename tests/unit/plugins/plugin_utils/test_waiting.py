from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import waiting
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waiting import Conversation, OutOfTime, deadline

SH = ["/bin/sh", "-c"]


def test_a_deadline_ends_the_block_and_what_it_left_running():
    handler = signal.getsignal(signal.SIGALRM)
    before = subprocess.Popen(["sleep", "60"])
    started = []
    with pytest.raises(OutOfTime):
        with deadline(0.3):
            started.append(subprocess.Popen(["sleep", "60"]))
            started[0].wait()
    assert started[0].wait(10) == -signal.SIGTERM
    assert before.poll() is None
    before.kill()
    before.wait()
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_block_that_ends_in_time_is_let_be():
    with deadline(0.2):
        pass
    time.sleep(0.4)


def test_no_handler_of_exceptions_gets_in_the_way():
    with pytest.raises(OutOfTime):
        with deadline(0.1):
            try:
                time.sleep(5)
            except Exception:
                pytest.fail("a connection plugin would try again here")


def test_who_catches_everything_is_told_again():
    with pytest.raises(OutOfTime):
        with deadline(0.1):
            with contextlib.suppress(BaseException):
                time.sleep(30)
            time.sleep(30)


ECHO = 'while read -r question; do echo "$question answer"; done'


def test_a_conversation():
    with Conversation([*SH, ECHO]) as conversation:
        assert [conversation.ask(20) for number in range(3)] == ["answer", "answer", "answer"]
        process = conversation._process
    assert process.returncode is not None


def test_what_else_is_printed_is_no_answer():
    noisy = "seq 2000; echo question-1; echo 'question-2 early'; " + ECHO.replace("; done", "; echo noise; done")
    with Conversation([*SH, noisy]) as conversation:
        assert [conversation.ask(20) for number in range(3)] == ["answer", "answer", "answer"]


@pytest.mark.parametrize("program", ["exit 0", "sleep 60", "while read -r line; do printf x; done"])
def test_no_answer(program):
    with Conversation([*SH, program]) as conversation:
        assert conversation.ask(0.5) is None
        process = conversation._process
    assert process.returncode is not None


def test_an_answer_without_end_is_not_kept():
    with Conversation([sys.executable, "-c", "while True: print('x' * 4096, end='')"]) as conversation:
        assert conversation.ask(0.5) is None
        assert len(conversation._unread) <= 8192


def test_one_that_talks_without_end_is_not_listened_to_for_longer():
    with deadline(20), Conversation(["yes"]) as conversation:
        assert conversation.ask(0.5) is None


def test_one_that_will_not_end_is_ended():
    with Conversation([*SH, "trap '' TERM; read -r question; echo $question ready; while :; do sleep 0.1; done"]) as conversation:
        assert conversation.ask(20) == "ready"
        pid = conversation._process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_program_that_falls_silent_has_ended():
    with Conversation([*SH, "exec >&-; read line; sleep 60"]) as conversation:
        assert conversation.ask(30) is None


def test_where_nobody_tells_of_processes_what_hangs_is_left(monkeypatch, tmp_path):
    monkeypatch.setattr(waiting, "Path", lambda path: tmp_path / "none")
    with subprocess.Popen(["sleep", "60"]) as left:
        with pytest.raises(OutOfTime):
            with deadline(0.1):
                time.sleep(60)
        assert left.poll() is None
        left.kill()


def test_a_program_that_has_ended_is_asked_in_vain():
    with Conversation([*SH, "exit"]) as conversation:
        conversation._process.wait()
        assert conversation.ask(30) is None
