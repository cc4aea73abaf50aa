# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Machines and checks: a row of cells for each machine, and all findings as data from which the page's code shows the details."""

from __future__ import annotations

import typing as t
from collections.abc import Iterable, Mapping, Sequence

from ...model import FIX_MOST
from .words import NAME_MOST, SEVERITY, TOGETHER, Finding, clean, order, state, unread, worst


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
    found: dict[str | None, list[Finding]] = {machine["machine"]: [] for machine in report["machines"]}
    for finding in report["findings"]:
        found.setdefault(finding["machine"], []).append(finding)
    about = {machine["machine"]: machine for machine in report["machines"]}
    names = sorted(found, key=lambda name: (*(-n for n in _severity(found[name])), name is None))
    own = {finding["check"] for finding in report["findings"] if finding["machine"] is not None}  # not only of all machines together
    texts: dict[str, int] = {}
    rows: list[Row] = []
    data: list[tuple[str, str, list[str], list[list[int]]]] = []
    for name in names:
        machine = about.get(name, {"address": "", "roles": ()})
        by_check: dict[str, list[str]] = {}
        for finding in found[name]:
            by_check.setdefault(finding["check"], []).append(state(finding))
        unknown = own if name in dead else ()
        shown, roles = TOGETHER if name is None else clean(name, NAME_MOST), [clean(role, 60) for role in machine["roles"]]
        rows.append(Row(shown, ", ".join(roles), [
            worst(by_check[check]) if check in by_check else "unread" if check in unknown else "" for check in checks]))
        data.append((shown, clean(machine.get("address") or ""), roles,
                     [_compact(finding, checks, texts) for finding in found[name]]))
    all_roles = dict.fromkeys(role for _name, _address, its, _findings in data for role in its)
    return Grid([clean(check, 40) for check in checks], list(all_roles), rows,
                {"states": list(SEVERITY), "rows": data, "texts": list(texts)}, {name: number for number, name in enumerate(names)})


def _severity(findings: Sequence[Finding]) -> tuple[int, int]:
    """(how bad the worst is, and how many are)."""
    states = [state(finding) for finding in findings]
    return (SEVERITY[worst(states)], sum(one in ("fail", "warn") for one in states)) if states else (0, 0)


def _compact(finding: Finding, checks: Sequence[str], texts: dict[str, int]) -> list[int]:
    """[check, state, detail, fix, why it is waived], the last two only where there is something; each text is kept once."""
    why = finding.get("waived") or {}
    reason = f"{why['reason']}{f' (until {until})' if (until := why.get('until')) else ''}" if why else ""
    told = [clean(finding["detail"]), *([clean(finding["fix"], FIX_MOST)] if finding["fix"] or reason else []),
            *([clean(reason)] if reason else [])]
    numbers = [texts.setdefault(text, len(texts)) for text in told]
    return [checks.index(finding["check"]), list(SEVERITY).index(state(finding)), *numbers]
