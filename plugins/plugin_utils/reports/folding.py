# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What makes many names and texts short for people, and any text harmless for a terminal."""

from __future__ import annotations

import re
import typing as t
import unicodedata
from collections.abc import Iterable, Sequence

NAMES_MOST = 8  # names or ranges of names in one line before the rest is only counted
TEXT_MOST = 400  # characters of one detail; what comes from a machine may be of any length
NAME_MOST = 255  # no host's name is longer; where a shorter one is cut, names that differ late look alike and are not folded
MARKS_MOST = 3  # on one letter
NO_WIDTH = ("Mn", "Me")  # what Unicode calls them: within the letter before, and around it

# Letters that are written from right to left take the figures beside them along, unless a mark ends the run.
RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
RUN = re.compile(f"[{RIGHT_TO_LEFT}](?: *[{RIGHT_TO_LEFT}])*")
LEFT_TO_RIGHT_MARK = "\u200e"
MARKED = re.compile(f"(?<=[{RIGHT_TO_LEFT}]){LEFT_TO_RIGHT_MARK}")

# A figure that may differ from machine to machine has a unit; a port, a process or part of an address has none.
UNITS = "[kKMGT]?i?B|bytes|[mµ]?s|min|minutes?|seconds?|hours?|days?|[KMG]?Hz|[kKMG]bit/s|CPUs?|cores?|usable"
BETWEEN_WORDS = re.compile(rf"(?<!\d) | (?!(?:{UNITS})(?!\w))")  # not between a figure and its unit
FIGURE = re.compile(rf"(?<![\w.,:/\u2212-])\d[\d,]*(?:\.\d+)?(?= ?%| (?:{UNITS})(?!\w))")

Problem = tuple[str, list[str]]  # a text, and the machines of which it is said


def clean(text: t.Any, most: int = TEXT_MOST) -> str:
    """Text of a machine made harmless for a terminal: one line, nothing that steers it, no more than ``most`` characters of it. What is
    so already, as are names that were put into it, stays as it is."""
    told = cut(str(text), most)
    if told.isascii() and told.isprintable():
        return told
    harmless, marks = "", 0
    for char in MARKED.sub("", told):
        marks = marks + 1 if unicodedata.category(char) in NO_WIDTH else 0
        harmless += char if char.isprintable() and marks <= MARKS_MOST else char.encode("unicode_escape").decode()
    return RUN.sub(rf"\g<0>{LEFT_TO_RIGHT_MARK}", harmless)


def cut(text: str, most: int) -> str:
    """Its beginning and its end: what is told of many often ends with how it went."""
    end = most // 4
    return text if len(text) <= most else f"{text[:most - end]} ... {text[len(text) - end:]}"


def label(name: t.Any, most: int) -> str:
    """A name where there is little room: cut in its middle, since names of one kind begin alike."""
    told, end = clean(name, NAME_MOST), (most - 3) * 2 // 3
    return told if len(told) <= most else f"{told[:most - 3 - end]}...{told[-end:]}"


def width(text: str) -> int:
    """How many columns of a terminal it takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    if char == LEFT_TO_RIGHT_MARK or unicodedata.category(char) in NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def wrap(text: str, columns: int, hang: int = 0) -> list[str]:
    """Broken between words, and within one only where it is wider than a line. All lines but the first are narrower by ``hang``."""
    return fill([part for word in BETWEEN_WORDS.split(text) for part in _parts(word, columns - hang)], columns, hang)


def fill(words: Iterable[str], columns: int, hang: int = 0) -> list[str]:
    """As many words to a line as it takes."""
    lines: list[str] = []
    for word in words:
        if lines and width(f"{lines[-1]} {word}") <= columns - (hang if len(lines) > 1 else 0):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _parts(word: str, columns: int) -> Iterable[str]:
    """A word in pieces that are no wider than that, but of one letter at least; behind a comma, where there is one late enough."""
    while len(word) > 1 and width(word) > columns:
        used, end = _width(word[0]), 1
        while used + _width(word[end]) <= columns:
            used, end = used + _width(word[end]), end + 1
        comma = word.rfind(",", 0, end) + 1
        end = comma if 2 * comma > end else end
        yield word[:end]
        word = word[end:]
    yield word


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def several(things: Sequence[str], most: int = NAMES_MOST) -> str:
    """A few of them, cleaned, and how many more there are."""
    told = ", ".join(clean(thing, NAME_MOST) for thing in things[:most])
    return told if len(things) <= most else f"{told} and {len(things) - most} more"


# ---------------------------------------------------------------------------------------------- names of machines
Part = str | tuple[str, ...]  # of a name: text, or the numbers that stand there, as they are written
Item = tuple[list[Part], list[str]]  # the parts of one or several names, and these names
NUMBERS, DIGITS = "([0-9]+)", "([0-9])"


def names(machines: Iterable[str], most: int = NAMES_MOST) -> str:
    """Names in a line, from three on folded to ranges: db1, db2, node[01-17,19-40]. No more than ``most`` names and ranges, and how many
    more machines there are."""
    unique, shown, left = list(dict.fromkeys(machines)), 0, most
    told: list[str] = []
    for parts, folded in _folded(unique, NUMBERS) if len(unique) > 2 else [([], unique)]:
        ranges = [_ranges(part) if isinstance(part, tuple) else [] for part in parts]
        many = [of_part for of_part in ranges if len(of_part) > 1 or of_part and of_part[0][1] > 1]
        size = sum(map(len, many))
        if len(folded) < 3 or len(many) > 1 and size > left:  # nothing to fold, or a grid, which can't be cut short
            told += [_name(name) for name in folded[:left]]
            shown += len(folded[:left])
            left -= len(folded)
        else:
            told.append("".join(_bracketed(of_part[:left]) if of_part in many else part if isinstance(part, str) else part[0]
                                for part, of_part in zip(parts, ranges, strict=True)))
            shown += sum(number for text, number in many[0][:left]) if len(many) == 1 else len(folded)
            left -= size
        if left < 1:
            break
    return ", ".join(told) + (f" and {len(unique) - shown} more" if shown < len(unique) else "")


def patterns(machines: Iterable[str]) -> list[str]:
    """Patterns as fnmatch knows them, which match these names and no others."""
    def pattern(part: Part) -> str:
        if isinstance(part, str):
            return re.sub(r"([*?[])", r"[\1]", part)
        digits = "".join(text.replace("-", "") if number == 2 else text for text, number in _ranges(part))
        return digits if len(part) == 1 else f"[{digits}]"

    unique = list(dict.fromkeys(machines))
    items: Iterable[Item] = _folded(unique, DIGITS) if len(unique) > NAMES_MOST else [([name], [name]) for name in unique]
    return ["".join(map(pattern, parts)) for parts, folded in items]


def _name(name: str) -> str:
    """One that could be taken for several, or for part of the text around it, stands in quotes."""
    told = clean(name, NAME_MOST)
    return told if told and not re.search(r"[\s,;\[\]\"]", told) else f'"{told}"'


def _folded(machines: Sequence[str], numbers: str) -> list[Item]:
    """Names that differ in one number only, or that fill a grid of several, as one; in the order of the first of each."""
    items: list[Item] = []
    for name in machines:
        # The numbers of an IPv6 address are no decimal ones: people would count from 9 to 10 by a.
        is_whole = _name(name) != name or ":" in name and numbers == NUMBERS
        found = [name] if is_whole else re.split(numbers, name)
        items.append(([(part,) if at % 2 else part for at, part in enumerate(found)], [name]))
    for at in range(max(len(parts) for parts, folded in items) - 2, 0, -2):
        groups: dict[t.Any, list[Item]] = {}
        for number, item in enumerate(items):
            parts = item[0]
            key = (tuple(parts[:at]), tuple(parts[at + 1:])) if len(parts) > at else number
            groups.setdefault(key, []).append(item)
        items = [one for group in groups.values() for one in (_joined(group, at) if len(group) > 1 else group)]
    return items


def _joined(group: Sequence[Item], at: int) -> Iterable[Item]:
    """Items that differ in the number at one place; 7 and 07 are not of one kind."""
    padded = {len(parts[at][0]) for parts, folded in group if len(parts[at][0]) > 1 and parts[at][0].startswith("0")}
    kinds: dict[int, list[Item]] = {}
    for item in group:
        length = len(item[0][at][0])
        kinds.setdefault(length if length in padded else 0, []).append(item)
    for kind in kinds.values():
        kind.sort(key=lambda item: int(item[0][at][0]))
        parts = [*kind[0][0]]
        parts[at] = tuple(item[0][at][0] for item in kind)
        yield parts, [name for item in kind for name in item[1]]


def _ranges(numbers: Sequence[str]) -> list[tuple[str, int]]:
    """Sorted numbers as ranges, each with how many there are in it."""
    runs: list[list[str]] = []
    for number in numbers:
        if runs and int(number) == int(runs[-1][-1]) + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return [(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}", len(run)) for run in runs]


def _bracketed(ranges: Sequence[tuple[str, int]]) -> str:
    told = ",".join(text for text, number in ranges)
    return told if len(ranges) == 1 and ranges[0][1] == 1 else f"[{told}]"


# ------------------------------------------------------------------------------------------------------- texts
def shape(text: str) -> tuple[str, ...]:
    """What is around the figures of a text, and in common with others."""
    return tuple(FIGURE.split(text))


def alike(problems: Sequence[Problem], most: int) -> list[Problem]:
    """Each text once. Where there are more than ``most``: those that differ only in figures as one; if there still are, one for all that
    differ in other numbers; and at last the rest as one."""
    problems = _joined_by(str, problems, lambda kind: (kind[0][0], _machines(kind)))
    if len(problems) > most:
        problems = _joined_by(shape, problems, _merged)
    if len(problems) > most:
        problems = _joined_by(lambda text: re.sub("[0-9]+", "", text), problems, _first)
    if len(problems) <= most:
        return problems
    problems = sorted(problems, key=lambda problem: -len(problem[1]))
    rest = _machines(problems[most - 1:])
    return [*problems[:most - 1], ("the like, each in other words" if rest else f"{len(problems) - most + 1} more like these", rest)]


def _joined_by(
    key: t.Callable[[str], t.Any], problems: Sequence[Problem], joined: t.Callable[[Sequence[Problem]], Problem],
) -> list[Problem]:
    """Those of one key as one; what is about all machines together stays by itself."""
    kinds: dict[t.Any, list[Problem]] = {}
    for number, (text, machines) in enumerate(problems):
        kinds.setdefault(key(text) if machines else number, []).append((text, machines))
    return [joined(kind) if len(kind) > 1 else kind[0] for kind in kinds.values()]


def _first(kind: Sequence[Problem]) -> Problem:
    text, first = kind[0]
    machines = _machines(kind)
    return f"{text}; on {names(first, 3)}, and the like on the others" if set(machines) - set(first) else f"{text}, and the like", machines


def _machines(problems: Iterable[Problem]) -> list[str]:
    return [machine for text, machines in problems for machine in machines]


def _merged(kind: Sequence[Problem]) -> Problem:
    """One text with the range of each figure, and who has the ends of the first one that differs."""
    text = in_one([text for text, machines in kind])
    rows = [(list(map(_value, FIGURE.findall(text))), machines) for text, machines in kind]
    at = next((at for at, column in enumerate(zip(*(row for row, machines in rows), strict=True)) if len(set(column)) > 1), 0)
    least, most = (end(row[at] for row, machines in rows) for end in (min, max))
    low, high = (names([machine for row, machines in rows for machine in machines if row[at] == end], 3) for end in (least, most))
    return text if low == high else f"{text}; least on {low}, most on {high}", _machines(kind)


def in_one(texts: Sequence[str]) -> str:
    """Texts of one shape as one, with the range of each figure."""
    columns = zip(*(FIGURE.findall(text) for text in texts), strict=True)
    ranges = iter([(min(column, key=_value), max(column, key=_value)) for column in columns])
    return FIGURE.sub(lambda found: " to ".join(dict.fromkeys(next(ranges))), texts[0])


def _value(figure: str) -> float:
    return float(figure.replace(",", ""))
