# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The report that lies in the folder already, when the next one is to be written there."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import typing as t
from pathlib import Path

from .changes import NotComparable
from .files import write_whole

NAME = "preflight.json"
LARGEST = 64 * 2**20  # bytes; a report on ten thousand machines has some 30 MB


def read(path: Path) -> t.Any:
    """What it holds; None where there is no such file. Raises NotComparable.

    A link is not followed, and what is no plain file is not read: it may be anybody's, and have no end.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise NotComparable("it is no plain file")
            if found.st_size > LARGEST:
                raise NotComparable(f"it has more than {LARGEST >> 20} MB")
            with open(handle, "rb", closefd=False) as file:
                return json.loads(file.read(LARGEST))
        finally:
            os.close(handle)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        why = "is a link" if problem.errno == errno.ELOOP else f"can not be read ({problem.strerror})"
        raise NotComparable(f"it {why}") from problem
    except (ValueError, RecursionError) as problem:
        raise problem if isinstance(problem, NotComparable) else NotComparable("it is no report") from problem


def to_compare(folder: Path, play: t.Any, waiting: bool) -> Path:
    """Where the report lies with which this one is to be compared.

    With serial each batch writes the report on all that is read so far. So while machines are ``waiting`` for their batch, the report from
    before this play is kept aside.
    """
    latest, kept = folder / NAME, _kept(folder, play)
    if kept and waiting and not os.path.exists(kept):  # unlike Path.exists false also where that can not be seen
        with contextlib.suppress(OSError):  # then it is compared with that of the batch before
            try:
                os.link(latest, kept, follow_symlinks=False)
            except FileNotFoundError:
                write_whole(kept, "null\n")
    return kept if kept and os.path.exists(kept) else latest


def forget(folder: Path, play: t.Any) -> None:
    """After the last batch."""
    kept = _kept(folder, play)
    if kept:
        with contextlib.suppress(OSError):
            kept.unlink()


def _kept(folder: Path, play: t.Any) -> Path | None:
    return folder / f".preflight.{play}.json" if isinstance(play, str) and re.fullmatch(r"[0-9A-Za-z-]+", play) else None
