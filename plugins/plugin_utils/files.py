# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Writing files on the controller."""

from __future__ import annotations

import os
import select
import stat
import tempfile
from pathlib import Path


def folder_of(given: str) -> Path:
    """A relative one is taken from the folder in which Ansible was started."""
    return Path(os.path.expanduser(given)).absolute()


def in_the_way(given: str) -> Path | None:
    """What is no folder where this one is to be, or one of those above it."""
    folder = folder_of(given)
    there = next(path for path in (folder, *folder.parents) if os.path.lexists(path))
    return None if os.path.isdir(there) else there


def is_left(path: str) -> bool:
    """Whether this is a pipe that nobody reads any more; False where that can not be told."""
    try:
        if not stat.S_ISFIFO(os.stat(path).st_mode):
            return False
        with open(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wb") as pipe:
            waiting = select.poll()
            waiting.register(pipe, 0)  # an error is told of in any case
            return bool(waiting.poll(0))
    except OSError:
        return False


MODES = ("0600", "0640", "0644")  # of a report's files: for their owner only, for their group too, for all


def write_whole(path: Path, content: str, mode: str = MODES[0]) -> None:
    """All of the file or none of it, with that mode, whatever lay there; its folder is made when it is not there. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(content)
            os.fchmod(file.fileno(), int(mode, 8))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
