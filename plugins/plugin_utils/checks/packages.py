# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is apt-get there? The install brings everything with it.

A failure where it is not: nothing could be installed.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, fail, ok, section

ID = "packages"
WORST = Level.FAIL
FIX_UNREAD = "Run apt-get --version there and see what it says."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    if section(record, "apt", bool):
        return ok("apt-get is there")
    return fail("apt-get is not there", "Use a system with apt (Debian, Ubuntu), or put apt-get back on the PATH.")
