# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The report as Markdown, for the summary of a CI job or a comment on a merge request, on GitHub and GitLab.

It is cut to MOST bytes, worst first, since a comment on GitHub has no more than 65,536 characters (a job's summary has 1 MiB). What it is
about is not cut: when and of which machines it was made, what was not looked at, and the waivers.

What comes from a machine stands as plain text only where it is nothing but words and numbers, and as code else: in code there are no links,
images, HTML, mentions, references to issues or anything else that these sites make of a text.
"""

from __future__ import annotations

import dataclasses
import re
import typing as t
from collections.abc import Iterable, Sequence

from ..model import FIX_MOST
from . import text
from .folding import NAMES_MOST, TEXT_MOST
from .text import clean, count

MOST = 60_000  # bytes
CODE_MOST = 1000  # characters of one name or list of names
HOSTS_SHARE = 0.2  # of MOST, for the names of the machines; only thousands of names that can't be folded take more
WAIVERS_MOST = 40  # that are told one by one
SHOWN = 10  # different problems of one check before those that are alike are told together
SIGNS = {"fail": "\u274c", "warn": "\u26a0\ufe0f", "ok": "\u2705"}
LEVELS = {"fail": "Fail", "warn": "Warn"}

WORD = re.compile(r"""(?P<before>["'(]*)(?P<core>.*?)(?P<after>["'.,;:!?)]*)""", re.DOTALL)
PLAIN = re.compile(r"[^\W\d_]+([-'][^\W\d_]+)*|\d+([.,]\d+){0,2}|")
LINKED = re.compile(r"[0-9a-f]{7,}|www", re.IGNORECASE)  # what looks like a commit, and what begins an address also without the rest

Report = dict[str, t.Any]
Line = tuple[str, int]  # and how many problems (or machines) it tells of


@dataclasses.dataclass
class _Part:
    """Lines that stand together. ``rank`` says which part has room first, and ``of`` what each tells of, by which the rest is counted."""

    rank: int
    lines: Sequence[Line]
    most: int = 10**9  # lines
    title: str = ""
    of: str = ""
    summary: str = ""  # what to click at, where the part is folded
    taken: int = 0

    def __str__(self) -> str:
        told = [line for line, number in self.lines[:self.taken]]
        if self.left:
            told.append(f"- and {count(self.left, f'more {self.of}')}")
        before, after = (f"<details><summary>{self.summary}</summary>\n\n", "\n\n</details>") if self.summary else ("", "")
        title = f"### {self.title}\n\n" if self.title else ""
        return f"{title}{before}{chr(10).join(told).strip(chr(10))}{after}\n\n"

    @property
    def left(self) -> int:
        return sum(number for line, number in self.lines[self.taken:])


def write(report: Report, most: int = MOST) -> str:
    counting = [finding for finding in text.with_names_folded(report) if not finding.get("waived")]
    parts = [*(part for rank, level in enumerate(LEVELS) for part in _of_level(counting, level, rank)),
             _waivers(report), _waived(report), _changed(report), _moves(report), _notes(report), _machines(report)]
    made_by, head = _about(report, int(most * HOSTS_SHARE)), _head(report)
    room = most - _size(head) - _size(made_by) - _size(_cut(most, 10**9))
    for part in sorted((part for part in parts if part.lines), key=lambda part: part.rank):
        room -= _size(str(dataclasses.replace(part, taken=0)))
        while part.taken < min(part.most, len(part.lines)) and (size := _size(part.lines[part.taken][0]) + 1) <= room:
            room -= size
            part.taken += 1
    left = sum(part.left for part in parts if part.title)
    body = "".join(str(part) for part in parts if part.taken)
    return f"{head}{_cut(most, left) if left else ''}{body}{made_by}"


def _size(told: str) -> int:
    return len(told.encode())


def _cut(most: int, left: int) -> str:
    told = f"{count(left, 'problem')} {'is' if left == 1 else 'are'} left out"
    return f"This is cut short to stay below {most:,} bytes: {told}. The other files of the report have them all.\n\n"


# ------------------------------------------------------------------------------------------------------- what it says
def _head(report: Report) -> str:
    machines, worst = report["machines"], report["worst"]
    bad = sum(machine["worst"] == "fail" for machine in machines)
    number = count(len(machines), "machine")
    told = {"ok": f"{number} ready", "warn": f"{number}, with warnings",
            "fail": f"{bad} of {number} not ready" if bad else f"{number} not ready{text.together_of(report)}"}[worst]
    return f"## {SIGNS[worst]} Preflight: {told}\n\n{text.totals(report)}\n\n{_since(report.get('changes'))}"


def _since(changes: t.Any) -> str:
    if not changes:
        return ""
    numbers = [f"{len(changes[kind])} {words}" for kind, words in text.CHANGES.items() if changes.get(kind)]
    return f"Since {code(changes['since'])}: {', '.join([*numbers, str(changes['remains'])])} as before.\n\n"


def _of_level(findings: Sequence[t.Any], level: str, rank: int) -> Iterable[_Part]:
    """Its problems, those that are alike together; and each by itself, to unfold."""
    some, each = (text.grouped(findings, level, number) for number in (SHOWN, len(findings)))
    yield _Part(rank, list(_blocks(some)), title=f"{SIGNS[level]} {LEVELS[level]}", of="problem")
    if some != each:
        lines = list(_blocks(each))
        yield _Part(rank + 10, lines, of="problem", summary=f"Each of the {sum(number for line, number in lines)}")


def _blocks(blocks: Iterable[text.Block]) -> Iterable[Line]:
    for check, fix, problems in blocks:
        head = f"\n**{code(check)}**{': ' if fix else ''}{prose(fix, FIX_MOST)}\n\n"
        for detail, machines in problems:
            yield f"{head}- {'' if check == text.NAMELESS else f'{who(machines)}: '}{prose(detail)}", len(machines) or 1
            head = ""


def _waivers(report: Report) -> _Part:
    lines = []
    for waiver in report["waivers"]:
        until = f" until {code(waiver['until'])}" if waiver["until"] else ""
        lines.append((f"- {code(waiver['check'])} on {who(waiver['machine'])}{until} ({prose(waiver['state'])}): "
                      f"{prose(waiver['reason'])}", 1))
    return _Part(-1, lines, most=WAIVERS_MOST, of="waiver", summary=count(len(lines), "waiver"))


def _waived(report: Report) -> _Part:
    lines: list[Line] = []
    waived = [finding for finding in report["findings"] if finding.get("waived")]
    for level in LEVELS:
        lines += [(f"- {level} {code(check)}, {who(machines)}: {prose(detail)}", len(machines) or 1)
                  for check, fix, problems in text.grouped(waived, level, len(waived)) for detail, machines in problems]
    return _Part(4, lines, of="problem", summary=f"{len(waived)} waived")


def _changed(report: Report) -> _Part:
    changes = report.get("changes") or {}
    lines = [(f"- {words}: {code(check)}, {who(machines)}", len(machines) or 1)
             for kind, words in text.CHANGES.items() for check, machines in text.by_check(changes.get(kind, ()))]
    return _Part(3, lines, of="problem", summary="What changed")


def _moves(report: Report) -> _Part:
    moves: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for move in report["fit"]["moves"]:
        moves.setdefault((move["role"], tuple(move["to"])), []).append(move["machine"])
    return _Part(5, [(f"- {code(role)} of {who(machines)}: there is room on {who(to)}", len(machines))
                     for (role, to), machines in moves.items()], of="machine", summary="Room elsewhere")


def _notes(report: Report) -> _Part:
    notes, waiting = [], dict[str, list[str]]()
    for entry in report["not_examined"]:
        waiting.setdefault(text.NOT_EXAMINED.get(entry["why"], "not examined"), []).append(entry["machine"])
    notes += [f"{words}: {who(machines)}" for words, machines in waiting.items()]
    if report["skipped"]:
        notes.append(f"Checks that were left out: {code(', '.join(report['skipped']))}")
    if report["sampled"]:
        notes.append(f"Each of the {int(report['sampled']['machines'])} machines tried those that it needs, and "
                     f"{int(report['sampled']['others'])} others by lot")
    without = [machine["machine"] for machine in report["machines"] if not machine["roles"]]
    if without:
        notes.append(f"No role, so nothing is asked of CPUs, memory, disk and ports: {who(without)}")
    return _Part(-2, [(f"- {note[0].upper()}{note[1:]}", 1) for note in notes], of="note")


def _machines(report: Report) -> _Part:
    lines = []
    for machine in report["machines"]:
        numbers = {**machine["counts"], "waived": machine.get("waived", 0)}
        roles = f" ({code(', '.join(machine['roles']))})" if machine["roles"] else ""
        lines.append((f"- {SIGNS[machine['worst']]} {code(machine['machine'])}{roles}: "
                      f"{', '.join(f'{numbers[kind]} {kind}' for kind in ('fail', 'warn', 'ok', 'waived') if numbers[kind])}", 1))
    return _Part(6, lines, of="machine", summary="All machines")


def _about(report: Report, most: int) -> str:
    about, machines = report["about"], [machine["machine"] for machine in report["machines"]]
    profile = f", profile {code(about['profile'])}" if about.get("profile") else ""
    number = len(machines)
    while _size(who(machines, number)) > most and number > 1:
        number //= 2
    return (f"Made {code(about['at'])} by llmgw.preflight {code(about['version'])}, ansible-core {code(about['ansible'])}{profile}, "
            f"of {who(machines, number)}.\n")


# ---------------------------------------------------------------------------------------------------- harmless texts
def who(machines: Sequence[str], most: int = NAMES_MOST) -> str:
    return _fenced(text.names(machines, most)) if machines else "all machines"


def code(told: t.Any) -> str:
    return _fenced(clean(told, CODE_MOST) or '""')


def _fenced(told: str) -> str:
    """As code, which ends only where it shall."""
    fence = "`" * (max(map(len, re.findall("`+", told)), default=0) + 1)
    space = " " if told[0] in "` " or told[-1] in "` " else ""
    return f"{fence}{space}{told}{space}{fence}"


def prose(told: t.Any, most: int = TEXT_MOST) -> str:
    """Words and numbers as they are, and the rest as code."""
    words = [t.cast("re.Match[str]", WORD.fullmatch(word)).groups() for word in clean(told, most).split(" ") if word]
    is_code = [not PLAIN.fullmatch(core) or bool(LINKED.fullmatch(core)) for before, core, after in words]
    for at in range(len(words) - 1):  # the name of a program, before its first option: (df -h / | sort -n)
        starts = words[at][0].endswith("(") or at and is_code[at - 1] and not words[at - 1][2]
        is_code[at] |= bool(starts and words[at + 1][1].startswith("-") and not words[at][2])
    parts: list[str] = []
    run: list[str] = []  # of code without anything between
    for (before, core, after), coded in zip(words, is_code, strict=True):
        if run and (before or not coded):
            parts[-1] += _fenced(" ".join(run))
            run = []
        if not run:
            parts.append(before)
        if not coded:
            parts[-1] += core + after
            continue
        run.append(core)
        if after:
            parts[-1] += _fenced(" ".join(run)) + after
            run = []
    return " ".join(parts) + (_fenced(" ".join(run)) if run else "")
