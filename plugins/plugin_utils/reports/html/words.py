# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How texts and names are put on the page."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Mapping

from .. import folding

MOST = 500  # characters of one text; what comes from a machine may be of any length
SEVERITY = {"fail": 3, "warn": 2, "waived": 1, "ok": 0}
TOGETHER = "all together"  # what stands for a machine where a finding is about all of them

Finding = Mapping[str, t.Any]
NAME_MOST, label = folding.NAME_MOST, folding.label


def clean(value: t.Any, most: int = MOST) -> str:
    return folding.clean(value, most)


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def state(finding: Finding) -> str:
    """Its level, or waived."""
    return "waived" if finding.get("waived") else str(finding["level"])


def worst(states: Iterable[str]) -> str:
    return max(states, key=SEVERITY.__getitem__)


def unread(report: Mapping[str, t.Any]) -> set[str]:
    """The machines that could not be logged in to, of which nothing else is known."""
    return {finding["machine"] for finding in report["findings"] if finding["check"] == "login" and finding["level"] == "fail"}


def names(machines: Iterable[str | None]) -> str:
    """All of them, folded to ranges."""
    told = list(machines)
    named = folding.names([name for name in told if name is not None], most=len(told))
    return ", ".join(filter(None, (named, TOGETHER if None in told else "")))
