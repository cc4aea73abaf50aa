# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How the controller waits for a machine: never without a deadline."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
import typing as t
from collections.abc import Sequence
from pathlib import Path

END_S = 2  # for a program to end when it is asked to, before it is made to
AGAIN_S = 1  # after which a deadline is told of again: a plugin that catches everything, or a finalizer, loses it


class OutOfTime(BaseException):
    """A deadline has passed. Not an Exception, since connection plugins catch those and try again."""


@contextlib.contextmanager
def deadline(seconds: float) -> t.Iterator[None]:
    """Raise OutOfTime in the block after so many seconds, and end the processes that it left running.

    Ansible waits without end for a machine that froze after the connection was opened. Not to be nested.
    """

    def expired(*_: t.Any) -> None:
        raise OutOfTime()

    before = _children()
    handler = signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, max(0.001, seconds), AGAIN_S)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except OutOfTime:
        for child in _children() - before:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGTERM)
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)  # once more: the block may have ended as its time did
        signal.signal(signal.SIGALRM, handler)


def _children() -> set[int]:
    """This process's children, where /proc tells; elsewhere one that hangs is left to end by itself."""
    with contextlib.suppress(OSError, ValueError):
        return {int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}
    return set()


class Conversation:
    """A program that answers each line it is sent with that line and more, such as a shell on a machine, by way of ssh."""

    def __init__(self, argv: Sequence[str | bytes]) -> None:
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                         bufsize=0)
        self._unread = b""
        self._asked = 0

    def ask(self, seconds: float) -> str | None:
        """Ask once more; the line that answers, or None when none comes in time or the program has ended.

        Whatever else is printed is passed over: start-up files may print anything, and an answer to an earlier question is none.
        """
        end = time.monotonic() + seconds
        self._asked += 1
        question = b"question-%d" % self._asked
        try:
            t.cast(t.IO[bytes], self._process.stdin).write(question + b"\n")
        except OSError:
            return None
        while (line := self._line(end)) is not None:
            if line.startswith(question + b" "):
                return line[len(question) + 1:].decode("utf-8", "replace")
        return None

    def _line(self, end: float) -> bytes | None:
        pipe = t.cast(t.IO[bytes], self._process.stdout)
        with selectors.DefaultSelector() as waiting:
            waiting.register(pipe, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                left = end - time.monotonic()
                if left <= 0 or not waiting.select(left):  # who talks without end is never waited for
                    return None
                some = os.read(pipe.fileno(), 4096)
                if not some:
                    return None
                self._unread = self._unread[-4096:] + some
        line, dummy, self._unread = self._unread.partition(b"\n")
        return line

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: t.Any) -> None:
        """End the program; it has done nothing that could be lost."""
        self._process.terminate()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                t.cast(t.IO[bytes], pipe).close()
