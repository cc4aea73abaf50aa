# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is there a UTF-8 locale where PostgreSQL will run?

Without one a new cluster gets the encoding SQL_ASCII, and another can only be asked for with a locale that goes with it (PostgreSQL
manual, Character Set Support). C.UTF-8 will do, which every Debian and Ubuntu has. Asked of the machines whose roles listen on port 5432.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from .. import commands
from ..model import POSTGRESQL, Asked, Level, Verdict, ok, section, several, warn

ID = "locale"
WORST = Level.WARN
FIX = "Make one: apt-get install locales, then localedef -i en_US -f UTF-8 en_US.UTF-8 (C.UTF-8 is of the package libc-bin)."
COMMANDS = (commands.install("locales"), "localedef -i en_US -f UTF-8 en_US.UTF-8")
FIX_UNREAD = "See with locale -a whether there is one whose name ends in UTF-8."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    if POSTGRESQL not in asked.need.ports:
        return None
    found = section(record, "locales", [str])
    if not found:
        return warn("there is no UTF-8 locale for PostgreSQL", FIX, *(COMMANDS if record.get("apt") is True else ()))
    return ok(f"{several(found, most=3)} for PostgreSQL")
