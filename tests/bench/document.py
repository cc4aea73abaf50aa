"""Puts the tables of a run into docs/performance.md, each between the two comments that have the name of its part."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

from .measure import Goal, Table

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"


def fill(found: t.Mapping[str, t.Any], page: Path = PAGE) -> None:
    text = page.read_text(encoding="utf-8")
    box = found["box"]
    text = between(text, "box", f"Made with {box['ansible']}, Python {box['python']}, Linux {box['kernel']}, {box['cpus']} CPUs.")
    for name, part in found["parts"].items():
        goals = [Goal(goal["what"], goal["most"], goal["found"]) for goal in part["goals"]]
        text = between(text, name, markdown(Table(**{**part, "goals": goals})))
    page.write_text(text, encoding="utf-8")


def between(text: str, name: str, told: str) -> str:
    """Raises KeyError where the page has no such place."""
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if not place.search(text):
        raise KeyError(name)
    return place.sub(lambda found: f"{found[1]}{told}\n{found[2]}", text)


def markdown(table: Table) -> str:
    head, *rows = table.cells()
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---", *["---:"] * (len(head) - 1)], *rows)]
    goals = [f"- {goal.what}: **{goal.found:.3g}** (goal: {goal.most:g} or less){'' if goal.met else ', missed'}" for goal in table.goals]
    blocks = [table.title + ":", "\n".join(lines), table.note, "\n".join(goals)]
    return "\n\n".join(block for block in blocks if block)
