# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The report as one HTML page, for people: whole in one file, which fetches nothing and runs no code but its own.

All that is in it can be read without that code, but for what is ok. Texts of machines are cleaned as for a terminal, cut, and escaped.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import typing as t
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from ...model import FIX_MOST
from ..folding import cut
from ..text import with_names_folded
from . import clocks, fit, grid, reach, rest, todo
from .words import MOST, Finding, clean, count, names

HERE = Path(__file__).parent
# Characters of all texts together, as the page has them and as its data have them.
DETAILS_BOUND = 800_000
FIXES_BOUND = 1_200_000
WHOLE_MOST = 200  # of what one machine does not reach, before the names of these are folded
TOO_LONG = "There is no room for it here beside so many others; the report as JSON holds it."
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True)
TEMPLATES.filters.update(count=count, breakable=lambda names: Markup(re.sub(",(?! )", ",<wbr>", str(escape(names)))))


def write(report: Mapping[str, t.Any]) -> str:
    style, script = (one_line((HERE / name).read_text(encoding="utf-8")) for name in ("page.css", "page.js"))
    report = {**report, "findings": within_bounds(list(with_names_folded(report, longer=WHOLE_MOST)))}
    whole, jobs = grid.grid(report), todo.jobs(report)
    data = inert({**whole.data, "copies": [whole.numbers(part.machines) for job in jobs for part in job.parts]})
    return TEMPLATES.get_template("page.html.j2").render(
        policy=policy([style], [data, script]),
        style=Markup(style),
        script=Markup(script),
        data=Markup(data),
        title=rest.verdict(report),
        counts={**report["counts"], "waived": report["waived"]},
        shares=rest.shares(report),
        changes=rest.changes(report),
        jobs=jobs,
        grid=whole,
        reach=reach.reach(report),
        clocks=clocks.clocks(report),
        fit=fit.fit(report),
        waived=todo.waived(report),
        waivers=rest.waivers(report),
        notes=rest.notes(report),
        skipped=[clean(check) for check in report["skipped"]],
        about={name: clean(value or "") for name, value in report["about"].items()},
        machines=len(report["machines"]),
        names=names(machine["machine"] for machine in report["machines"]),
    )


def within_bounds(findings: Sequence[Finding]) -> Sequence[Finding]:
    """The same, with shorter details where they are so long and so many that nobody could open the page, and without the last of the
    fixes where these alone are; a fix that is cut can't be done."""
    room, fixes = FIXES_BOUND, {"": ""}
    for level in ("fail", "warn", "ok"):
        for fix in (finding["fix"] for finding in findings if finding["level"] == level and finding["fix"] not in fixes):
            room -= weight(clean(fix, FIX_MOST))
            fixes[fix] = fix if room >= 0 else TOO_LONG
    of_details = sum(weight(clean(detail)) for detail in {finding["detail"] for finding in findings})
    most = MOST * DETAILS_BOUND // max(DETAILS_BOUND, of_details)
    return [{**finding, "detail": cut(finding["detail"], most), "fix": fixes[finding["fix"]]} if most < MOST or room < 0 else finding
            for finding in findings]


def weight(told: str) -> int:
    return len(inert(told)) + len(escape(told))


def one_line(text: str) -> str:
    """Without comments and line breaks, with which not every checker works out a policy's hashes rightly."""
    lines = (line.strip() for line in text.splitlines())
    return " ".join(line for line in lines if line and not line.startswith(("//", "/*")))


def policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """A Content-Security-Policy that lets in these texts and nothing else. Data is no code to a browser, but is to some checkers."""
    return "; ".join((
        "default-src 'none'", f"style-src {hashes(styles)}", f"script-src {hashes(scripts)}",
        "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"))


def hashes(texts: Iterable[str]) -> str:
    return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts)


def inert(data: t.Any) -> str:
    """JSON that can stand in a script element: nothing in it ends that element or begins another."""
    text = json.dumps(data, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
