# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which machine would fit which role: machines of the same roles with the same room together."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence

from ..places import is_unread
from .words import clean, names


class Cell(t.NamedTuple):
    fits: str  # fits, short, no, or unread
    own: bool  # whether it is a role of these machines
    short: Sequence[str]


class Row(t.NamedTuple):
    who: str
    number: int
    cells: Sequence[Cell]


class Fit(t.NamedTuple):
    roles: Sequence[str]
    rows: Sequence[Row]
    moves: Sequence[Mapping[str, str]]


def fit(report: Mapping[str, t.Any]) -> Fit | None:
    """None where there are no roles."""
    own = {machine["machine"]: machine["roles"] for machine in report["machines"]}
    roles = list(report["needs"])
    found: dict[tuple[Cell, ...], list[str]] = {}
    for machine in report["fit"]["machines"]:
        name, fits = machine["machine"], machine["roles"]
        cells = (Cell("unread" if is_unread(fits[role]["short"]) else fits[role]["fits"], role in own.get(name, ()), tuple(
            f"{clean(short['check'], 40)}: {clean(short['detail'])}" for short in fits[role]["short"])) for role in roles if role in fits)
        found.setdefault(tuple(cells), []).append(name)
    if not roles:
        return None
    rows = [Row(names(machines), len(machines), cells) for cells, machines in found.items()]
    # First who does not fit its own roles.
    rows.sort(key=lambda row: min(("no", "unread", "short", "fits").index(cell.fits) for cell in row.cells if cell.own) if any(
        cell.own for cell in row.cells) else 4)
    moves: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for move in report["fit"]["moves"]:
        moves.setdefault((move["role"], tuple(move["to"])), []).append(move["machine"])
    return Fit([clean(role, 60) for role in roles], rows, [
        {"who": names(machines), "role": clean(role, 60), "to": names(to), "verb": "has" if len(machines) == 1 else "have"}
        for (role, to), machines in moves.items()])
