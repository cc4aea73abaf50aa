# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tries once more to read a machine where that may do, and else brings out what really keeps it from being read."""

from __future__ import annotations

import random
import re
import shlex
import time
import typing as t
from collections.abc import Mapping

from . import login
from .offset import COMMAND
from .result import NotRead

T = t.TypeVar("T")

PAUSES_S = (0.5, 1.0, 2.0, 4.0)  # before another login, give or take a half


def with_patience(
    read: t.Callable[[], T], look_closer: t.Callable[[Exception], None], may_do: t.Callable[[Exception], bool],
    left: t.Callable[[float], float],
) -> T:
    """Read, and again where it is worth another try: sshd drops logins at random when many come at once.

    ``look_closer`` raises what really was the matter, or returns; of what it raised ``may_do`` tells whether another try may do all the
    same. No pause is longer than what is ``left``.
    """
    for pause in PAUSES_S:
        try:
            try:
                return read()
            except Exception as problem:
                look_closer(problem)
        except Exception as problem:
            if login.told_by(problem)[1] != "dropped" and not may_do(problem):
                raise
        time.sleep(left(pause * random.uniform(0.5, 1.5)))
    return read()


def look_closer(problem: Exception, interpreter: str, run: t.Callable[[str], Mapping[str, t.Any]]) -> None:
    """Raise what really keeps the machine from being read; return when it is worth another try.

    Where ssh or Python ends before it has read the module, all that is left of the cause is a broken pipe. A tiny command,
    which ``run`` runs, brings out which it was.
    """
    told, cause = login.told_by(problem)
    if cause not in ("other", "python") or isinstance(problem, NotRead) and (cause == "other" or not interpreter):
        raise problem
    run(COMMAND)
    if interpreter:
        answer = run(f"{shlex.quote(interpreter)} -V")
        said = str(answer.get("stdout") or answer.get("stderr") or "")
        if answer.get("rc"):
            reason = login.reason_of(said) or f"exit status {answer['rc']}"
            raise NotRead(reason if interpreter in reason else f"{interpreter}: {reason}", "python")
        version = re.search(r"Python \d+\.\d+\.\d+", said)
        if cause == "python" and version:
            raise NotRead(f"{interpreter} is {version.group()}, which can not run this Ansible's modules: {told}")
    if isinstance(problem, NotRead):
        raise problem
