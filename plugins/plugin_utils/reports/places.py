# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What would fit where, for a terminal: machines x roles, machines that are alike in one row, and who could take which role."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Iterable, Mapping, Sequence

from . import columns, folding

WORDS = {"cpus": "(CPUs)", "cpu_level": "(CPU level)", "memory_mb": "(MB memory)", "gpus": "(GPUs)", "gpu_memory_mb": "(MB of GPUs)",
         "disk_gb": "(GB disk)"}
NEEDED = re.compile(  # of a detail, what the table's head has: all but that of models, which are no paths
    r" \(needs (?![^()]* for (?!/))[^()]*\)|, needs [0-9]+(?=\))|needs [^():]*: [0-9]+ for its roles, ")
UNREAD = "could not be read"
CELL = len("unread*")
ROWS_MOST = 12
NAMES_LEAST, SHORT_LEAST = 16, 10  # columns
ROLE_MOST = 24

Report = Mapping[str, t.Any]
Row = tuple[tuple[str, ...], list[t.Any]]  # its cells, and the machines


def is_short(report: Report) -> bool:
    """Whether a machine fails for want of room for a role of its own."""
    own = {machine["machine"]: machine["roles"] for machine in report["machines"]}
    failing = {(finding["machine"], finding["check"]) for finding in report["findings"]
               if finding["level"] == "fail" and not finding.get("waived")}
    return any(not is_unread([lack]) and (machine["machine"], lack["check"]) in failing
               for machine in _found(report)["machines"] for role in own[machine["machine"]] for lack in machine["roles"][role]["short"])


def lines(report: Report, layout: columns.Layout, figures: bool) -> Iterable[columns.Line]:
    """The table and what follows from it; with ``figures`` also what each role needs, and what the machines have of it."""
    found, needs = _found(report), report.get("needs", {})
    machines = found["machines"]
    if not machines:
        yield from layout.plain(columns.NOTE, "what would fit where: not known of any machine, since none could be read")
        return
    asked = list(dict.fromkeys(figure for need in needs.values() for figure, value in need.items() if _figure(value)))
    roles = [role for role in machines[0]["roles"] if role not in needs or any(_figure(needs[role].get(figure)) for figure in asked)]
    if not roles:
        yield from layout.plain(columns.NOTE, "what would fit where: no role asks for room")
        return
    own = {machine["machine"]: machine["roles"] for machine in report["machines"]}
    rows = _rows(machines, roles, own, figures)
    head = [(WORDS.get(figure, f"({figure})"), {role: _figure(needs.get(role, {}).get(figure)) or "0" for role in roles})
            for figure in asked]
    yield from layout.plain(columns.NOTE, "what would fit where (* its own role):")
    for some in _tables(roles, layout.width):
        yield from _table(some, roles, rows[:ROWS_MOST], head if figures else None, layout)
    indent = " " * columns.LEVEL_WIDTH
    if len(rows) > ROWS_MOST:
        left = sum(len(alike) for cells, alike in rows[ROWS_MOST:])
        yield from layout.plain(indent, f"and {left} more in {folding.count(len(rows) - ROWS_MOST, 'other row')}")
    for number, role in enumerate(roles):
        to = [one["machine"] for one in machines if one["roles"][role]["fits"] == "fits" and role not in own[one["machine"]]]
        lacking = [move["machine"] for move in found["moves"] if move["role"] == role]
        if lacking:
            yield from layout.plain(indent, f"{folding.names(lacking)} {'lacks' if len(lacking) == 1 else 'lack'} room for {_head(role)}: "
                                            f"{folding.names(to)} {'has' if len(to) == 1 else 'have'} it")
        elif not to and len(machines) > 1 and any(cells[number] == "no*" for cells, alike in rows):
            yield from layout.plain(indent, f"no machine without this role has room for {_head(role)}")


def _figure(value: t.Any) -> str:
    """What a role needs of something that machines have: a number, or of several filesystems the sum; nothing of what is no figure."""
    if isinstance(value, Mapping) and all(isinstance(part, int) for part in value.values()):
        return "+".join(str(part) for part in value.values() if part)
    return str(value) if isinstance(value, int) and value else ""


def _found(report: Report) -> t.Any:
    return report.get("fit") or {"machines": [], "moves": []}


def is_unread(lacks: Sequence[Mapping[str, t.Any]]) -> bool:
    """Whether all that it is short of could only not be read."""
    return bool(lacks) and all(str(lack["detail"]).startswith(UNREAD) for lack in lacks)


def _rows(machines: Iterable[t.Any], roles: Sequence[str], own: Mapping[str, t.Container[str]], figures: bool) -> list[Row]:
    """Those first that do not fit a role of their own; and of these those of most machines."""
    rows: dict[t.Any, Row] = {}
    for machine in machines:
        cells = tuple(_cell(machine["roles"][role], role in own[machine["machine"]]) for role in roles)
        key = (cells, tuple(sorted(_short([machine], roles))) if figures else ())
        rows.setdefault(key, (cells, []))[1].append(machine)
    return sorted(rows.values(), key=lambda row: ([word not in row[0] for word in ("no*", "unread*", "short*")], -len(row[1])))


def _cell(role: Mapping[str, t.Any], own: bool) -> str:
    return ("unread" if is_unread(role["short"]) else str(role["fits"])) + ("*" if own and role["short"] else "")


def _short(machines: Iterable[t.Any], roles: Iterable[str]) -> set[str]:
    return {lack["check"] for machine in machines for role in roles for lack in machine["roles"][role]["short"]}


def _tables(roles: Sequence[str], width: int) -> list[list[str]]:
    """The roles in as many tables as are needed for the width."""
    tables: list[list[str]] = [[]]
    for role in roles:
        if tables[-1] and _rest([*tables[-1], role], width) < NAMES_LEAST + SHORT_LEAST:
            tables.append([])
        tables[-1].append(role)
    return tables


def _rest(roles: Iterable[str], width: int) -> int:
    """The columns that these roles leave to the machines and to what is short of."""
    return width - columns.LEVEL_WIDTH - sum(_columns(role) + 1 for role in roles) - 1


def _head(role: str) -> str:
    return folding.wrap(folding.clean(role, ROLE_MOST), ROLE_MOST)[0]


def _columns(role: str) -> int:
    return max(folding.width(_head(role)), CELL)


def _table(
    some: Sequence[str], roles: Sequence[str], rows: Sequence[Row], figures: t.Any, layout: columns.Layout,
) -> Iterable[columns.Line]:
    at = [roles.index(role) for role in some]
    rest = _rest(some, layout.width)
    shorts = [sorted(_short(alike, some)) for cells, alike in rows]
    most = max(NAMES_LEAST, rest - max(SHORT_LEAST, *(len(", ".join(short)) for short in shorts))) - 1  # names hold spaces: one more
    who = [_names_in([machine["machine"] for machine in alike], most) for cells, alike in rows]
    names_width = min(most, max(map(folding.width, [*who, *WORDS.values()]))) + 1
    widths = [names_width, *map(_columns, some), max(SHORT_LEAST, rest - names_width)]
    head = [["machine", *map(_head, some), "short of"], *([words, *(of[role] for role in some), ""] for words, of in figures or ())]
    yield from layout.table(head, widths)
    for names, short, (cells, alike) in zip(who, shorts, rows, strict=True):
        yield from layout.table([[names, *(cells[number] for number in at), ", ".join(short)]], widths)
        if figures and short:
            yield from layout.plain(" " * (columns.LEVEL_WIDTH + columns.GAP), _figures(alike, some))


def _names_in(machines: Sequence[str], most: int) -> str:
    """As many names as fit into these columns, but one at least, and the number of the others."""
    told = [re.sub(r" and ([0-9]+) more$", r" +\1", folding.names(machines, number)) for number in range(folding.NAMES_MOST, 0, -1)]
    return next((names for names in told if folding.width(names) <= most), told[-1])


def _figures(alike: Iterable[t.Any], roles: Sequence[str]) -> str:
    """What these machines have of that which they are short of; what is needed stands in the table's head."""
    found: dict[str, dict[str, list[str]]] = {}
    for machine in alike:
        for check, detail in dict.fromkeys((lack["check"], NEEDED.sub("", lack["detail"])) for role in roles
                                           for lack in machine["roles"][role]["short"]):
            found.setdefault(check, {}).setdefault(detail, []).append(machine["machine"])
    return "; ".join(folding.clean(text) for details in found.values() for text, machines in folding.alike(list(details.items()), 1))
