# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Settings checked one after the other, so that all that is wrong with them is told at once. Pure."""

from __future__ import annotations

import typing as t

from ..parts import PartsError
from .values import SettingsError


class Settle:
    """Calls what checks a setting, and gives what that gives; None where it can't be used, and then why is among the problems."""

    def __init__(self) -> None:
        self.problems: dict[str, list[str]] = {}  # what is wrong -> the machines with which it is, if it is with one

    def __call__(self, check: t.Callable[..., t.Any], *given: t.Any, machine: str | None = None) -> t.Any:
        try:
            return check(*given)
        except (SettingsError, PartsError) as problem:
            self.wrong(str(problem), machine)
            return None

    def wrong(self, problem: str, machine: str | None = None) -> None:
        self.problems.setdefault(problem, []).extend([machine] if machine else [])
