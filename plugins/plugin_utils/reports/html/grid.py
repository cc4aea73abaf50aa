# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Machines and checks: a row of cells for each machine, and all findings as data from which the page's code shows the details."""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Iterable, Mapping, Sequence

from ...model import FIX_MOST
from ..text import order
from .words import MOST, NAME_MOST, SEVERITY, TOGETHER, Finding, clean, state, unread, worst

STATES = list(SEVERITY)


class Row(t.NamedTuple):
    machine: str
    roles: str
    cells: Sequence[str]  # fail, warn, waived, ok, unread, or "" where the check does not apply


class Grid(t.NamedTuple):
    checks: Sequence[str]
    roles: Sequence[str]
    rows: Sequence[Row]
    data: Mapping[str, t.Any]
    places: Mapping[str | None, int]  # machine -> row

    def numbers(self, machines: Iterable[str]) -> list[int]:
        return [self.places[machine] for machine in machines if machine in self.places]


def grid(report: Mapping[str, t.Any]) -> Grid:
    """The worst machines come first."""
    checks, dead = order(report["findings"]), unread(report)
    found: dict[str | None, list[tuple[str, Finding]]] = {machine["machine"]: [] for machine in report["machines"]}
    for finding in report["findings"]:
        found.setdefault(finding["machine"], []).append((state(finding), finding))
    about = {machine["machine"]: machine for machine in report["machines"]}
    names = sorted(found, key=lambda name: (*(-n for n in _severity([its for its, _finding in found[name]])), name is None))
    own = {finding["check"] for finding in report["findings"] if finding["machine"] is not None}  # not only of all machines together
    numbers, texts = {check: column for column, check in enumerate(checks)}, dict[str, int]()

    @functools.cache
    def number(text: str, most: int) -> int:
        return texts.setdefault(clean(text, most), len(texts))

    rows: list[Row] = []
    data: list[tuple[str, str, list[str], list[list[int]]]] = []
    for name in names:
        machine = about.get(name, {"address": "", "roles": ()})
        by_check: dict[str, str] = {}
        for its, finding in found[name]:
            by_check[finding["check"]] = worst((its, by_check.get(finding["check"], its)))
        unknown = own if name in dead else ()
        shown, roles = TOGETHER if name is None else clean(name, NAME_MOST), [clean(role, 60) for role in machine["roles"]]
        rows.append(Row(shown, ", ".join(roles), [by_check.get(check, "unread" if check in unknown else "") for check in checks]))
        data.append((shown, clean(machine.get("address") or ""), roles, [
            [numbers[finding["check"]], STATES.index(its), *(number(*text) for text in _texts(finding))] for its, finding in found[name]]))
    all_roles = dict.fromkeys(role for _name, _address, its, _findings in data for role in its)
    return Grid([clean(check) for check in checks], list(all_roles), rows,
                {"states": STATES, "rows": data, "texts": list(texts)}, {name: row for row, name in enumerate(names)})


def _severity(states: Sequence[str]) -> tuple[int, int]:
    """(how bad the worst is, and how many are)."""
    return (SEVERITY[worst(states)], sum(one in ("fail", "warn") for one in states)) if states else (0, 0)


def _texts(finding: Finding) -> list[tuple[str, int]]:
    """Detail, fix and why it is waived, the last two only where there is something, with how many characters of each are shown."""
    why = finding.get("waived") or {}
    reason = f"{why['reason']}{f' (until {until})' if (until := why.get('until')) else ''}" if why else ""
    return [(finding["detail"], MOST), *([(finding["fix"], FIX_MOST)] if finding["fix"] or reason else []),
            *([(reason, MOST)] if reason else [])]
