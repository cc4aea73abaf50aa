# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The waiver of a problem, for people to copy into preflight_waivers; only the reason is left to be filled in."""

from __future__ import annotations

import datetime
import re
import typing as t
from collections.abc import Mapping, Sequence

from ..model import CHECK_ID, NOT_WAIVED
from . import folding

DAYS = 30
YAML_WORDS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")  # that are no text where they stand without quotes


def can_be_waived(check: str) -> bool:
    return check not in NOT_WAIVED and CHECK_ID.fullmatch(check) is not None


def until(report: Mapping[str, t.Any]) -> str:
    """The day until which an offered waiver holds; "" where the report does not say when it was made."""
    try:
        day = datetime.date.fromisoformat(str(report["about"]["at"])[:10])
        return str(day + datetime.timedelta(DAYS))
    except (KeyError, TypeError, ValueError, OverflowError):
        return ""


def waiver(check: str, machines: Sequence[str], until: str) -> list[str]:
    """An entry of preflight_waivers for what this check says of these machines, or of all together where there are none; in words, since
    a line may break between them and within none."""
    of = [_yaml(pattern) for pattern in folding.patterns(machines)] if machines else ['"*"']
    if len(of) > 1:
        of = [f"[{of[0]}", *of[1:-1], f"{of[-1]}]"]
    return [f"- {{check: {check},", f"machine: {of[0]},", *(f"{one}," for one in of[1:]), 'reason: "",', f"until: {until}}}"]


def _yaml(text: str) -> str:
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*", text) and text.lower() not in YAML_WORDS:
        return text
    return '"' + "".join(char if char not in '"\\' and folding.clean(char) == char and folding.width(char) else
                         f"\\u{ord(char):04X}" if ord(char) < 0x10000 else f"\\U{ord(char):08X}" for char in text) + '"'
