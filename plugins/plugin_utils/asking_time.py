# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Compares a machine's clock with the controller's: asks that machine for the time until the verdict is certain."""

from __future__ import annotations

import contextlib
import time
import typing as t
from collections.abc import Mapping

from .offset import COMMAND, CONVERSATION, Offset, reading_of
from .waiting import Conversation, deadline

ENOUGH = 2  # answers: the first also holds the start of what asks

Ask = t.Callable[[float], str | None]  # asks within so many seconds; what was printed, or None


class Clocks:
    """The controller's, and what is known of the machine's beside it."""

    def __init__(self) -> None:
        # By the monotonic clock, so that a step of the controller's own clock meanwhile is not taken for the machine's.
        self._epoch = time.time() - time.monotonic()
        self.offset = Offset()

    def now(self) -> float:
        return self._epoch + time.monotonic()

    def narrow(self, ask: Ask, limits: Mapping[str, float], seconds: float) -> None:
        """Ask until every offset that is still possible gives the same verdict, or so many seconds are over."""
        end = time.monotonic() + seconds
        answers, pause = 0, 0.01
        while (left := end - time.monotonic()) > 0 and not (answers >= ENOUGH and self.offset.is_decided(limits)):
            sent = self.now()
            text = ask(left)
            received = self.now()
            reading = reading_of(text)
            if reading is None:
                break
            self.offset.narrow(reading[0], sent, received, reading[1])
            answers += 1
            if answers >= ENOUGH:  # what kept the answers back may pass, and asking at once again would add to it
                time.sleep(min(pause, left))
                pause = min(2 * pause, 1.0)


@contextlib.contextmanager
def asking(connection: t.Any, password: t.Any, run: t.Callable[[str], Mapping[str, t.Any]]) -> t.Iterator[Ask]:
    """What asks the machine for the time.

    Over ssh in one conversation: then a question costs one round trip and nothing starts but date, which is told from
    a wrong clock even where a round trip takes most of a second. Elsewhere a command for each, which ``run`` runs.
    """
    build = getattr(connection, "_build_command", None)
    # A password would have to be typed, unless a connection is still open, which can't be known.
    if connection.transport == "ssh" and build and not (connection.get_option("password") or password):
        argv = build(connection.get_option("ssh_executable"), "ssh", "-o", "BatchMode=yes", connection.host, CONVERSATION)
        with Conversation(argv) as conversation:
            yield conversation.ask
    else:
        def ask(seconds: float) -> str:
            with deadline(seconds):
                return str(run(COMMAND).get("stdout", ""))

        yield ask
