# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The columns of a terminal, narrow or wide."""

from __future__ import annotations

import itertools
import typing as t
from collections.abc import Iterable, Sequence

from . import folding

NARROWEST, WIDEST = 60, 200  # columns that are made use of; a line must stay within what AWX shows of an event, 1,024 bytes
READABLE = 120  # columns of running text
SIDE_BY_SIDE = 140  # columns from which on there is room for the fix beside the problem
LEVEL_WIDTH, HANG, GAP = 6, 2, 2
CHECK_WIDTHS = (13, 25)  # the longest id of ours (architecture) and a space; ids longer than the other have a line of their own
NOTE = f"{'note':<{LEVEL_WIDTH}}"

Line = tuple[str | None, str, str]  # the level whose colour it takes, the text that takes it, and what follows without colour


class Layout:
    def __init__(self, width: int, texts: Sequence[tuple[str, str]], side_by_side: bool = True) -> None:
        """``texts`` are all checks, each with what is said of it, by which the columns are made."""
        least, most = CHECK_WIDTHS
        self.width = max(NARROWEST, min(width, WIDEST))
        self.readable = min(self.width, READABLE)
        self.check_width = max([least, *(size for check, text in texts if (size := folding.width(check) + 1) <= most)])
        self.beside = 0  # the column at which the fix stands, where it is beside the problem
        if side_by_side and width >= SIDE_BY_SIDE:
            head = LEVEL_WIDTH + self.check_width
            widest = max((folding.width(text) for check, text in texts), default=0)
            self.beside = head + min(widest, (self.width - head) * 9 // 20) + GAP

    def plain(self, head: str, text: str) -> Iterable[Line]:
        for number, line in enumerate(folding.wrap(text, self.readable - len(head)) if text else ()):
            yield None, ((" " * len(head) if number else head) + line).rstrip(), ""

    def block(
        self, head: str, level: str | None, check: str, problems: Iterable[tuple[str, Sequence[str]]], fix: str, arrow: str = "",
    ) -> Iterable[Line]:
        """The problems of one check, each with the words of what can be copied, and what mends them: below, or beside them."""
        if folding.width(check) >= self.check_width:
            yield level, head + check, ""
            head, check = " " * len(head), ""
        head += folding.pad(check, self.check_width)
        indent, left = " " * folding.width(head), []
        room = (self.beside - GAP if self.beside else self.readable) - len(indent)
        for text, words in problems:
            for number, told in enumerate(folding.wrap(text, room, HANG)):
                left.append((level, (head + (" " * HANG if number else "") + told).rstrip(), ""))
                head = indent
            left += [(None, indent + (" " * HANG if number else "") + told, "")
                     for number, told in enumerate(folding.fill(words, self.readable - len(indent), HANG))]
        start = self.beside or len(indent)
        lines = folding.wrap(fix, (self.width if self.beside else self.readable) - start - len(arrow)) if fix else []
        right = [((" " * len(arrow) if number else arrow) + told).rstrip() for number, told in enumerate(lines)]
        if not self.beside:
            yield from left
            yield from ((None, indent + told, "") for told in right)
            return
        for line, beside in itertools.zip_longest(left, right, fillvalue=None):
            text = line[1] if line else ""
            yield level, text, " " * (start - folding.width(text)) + str(beside) if beside else ""

    def table(self, rows: Iterable[Sequence[str]], widths: Sequence[int]) -> Iterable[Line]:
        """Rows of cells below a note, each broken within its column, and a space between the columns."""
        for cells in rows:
            broken: t.Any = [folding.wrap(cell, width) for cell, width in zip(cells, widths, strict=True)]
            for told in itertools.zip_longest(*broken, fillvalue=""):
                line = " ".join(folding.pad(text, width) for text, width in zip(told, widths, strict=True))
                yield None, f"{' ' * LEVEL_WIDTH}{line}".rstrip(), ""
