# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The problems of each machine as a shell script: those that commands alone mend with these commands, all with what to do about them.

A script runs nothing before all of it was read (it is one block), so that one that is cut short does nothing, nor do its commands read
the rest of it where it comes by standard input. What a machine says stands in comments only; in a command it is quoted by the check that
gives it.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import typing as t
from collections.abc import Iterable, Mapping, Sequence

from .folding import clean, count, wrap

ENDING = ".sh"
FIRST = "#!/bin/sh\n# Written by llmgw.preflight: "  # by which a script is known to be one of these
COLUMNS = 120  # of a comment
HANG = "   "
NAME_MOST = 200  # characters of a file's name
TEXT_MOST = 4000  # of a fix, which may be made of several
LEVELS = ("fail", "warn")

SCRIPT = """{first}commands for {machine}
#
# Made at {at} by version {version}. Nobody has run it.
#
# Read it before you do, take out what you do not want, and run it there as root: sh {name}
# It holds the problems that were found there, the worst first, with what to do about each, and commands where they do that without
# a decision of yours. What has no command below it is for you to do. A command that fails is told, and the others are run all the same.

[ "$(id -u)" -eq 0 ] || {{ echo "This is to be run as root." >&2; exit 1; }}

{{
failures=0
failed() {{
    failures=$((failures + 1))
    echo "FAILED with exit status $1: a command for $2" >&2
}}
{body}

if [ "$failures" -gt 0 ]; then
    echo "$failures of {commands} failed." >&2
    exit 1
fi
echo "Every command worked. Run the preflight again to see what is left."
}} </dev/null
"""

Finding = Mapping[str, t.Any]


def scripts(report: Mapping[str, t.Any]) -> Iterable[tuple[str, str | None]]:
    """The file's name and its text for each machine that was read; no text where no problem that counts has a command."""
    problems: dict[str, list[Finding]] = {}
    for level in LEVELS:
        for finding in report["findings"]:
            if finding["level"] == level and not finding.get("waived"):
                problems.setdefault(finding["machine"], []).append(finding)
    names = file_names(machine["machine"] for machine in report["machines"])
    for machine, name in names.items():
        of_it = problems.get(machine, ())
        if any(finding["check"] == "login" for finding in of_it):
            continue  # what was found there before may still be so
        yield name, _script(machine, name, of_it, report["about"]) if any(finding.get("commands") for finding in of_it) else None


def file_names(machines: Iterable[str]) -> dict[str, str]:
    """A name for each that any filesystem takes, none hidden, an option or of another folder, and no two alike, whatever their case."""
    found: dict[str, str] = {}
    taken = set()
    for machine in machines:
        raw = machine.encode("utf-8", "surrogatepass")
        name = re.sub(rb"[^A-Za-z0-9_.-]|^[.-]", lambda char: b"%%%02X" % char[0][0], raw).decode()
        if len(name) > NAME_MOST or name.lower() in taken:
            name = f"{name[:NAME_MOST]}%{hashlib.sha256(raw).hexdigest()[:16]}"
        taken.add(name.lower())
        found[machine] = name + ENDING
    return found


def _script(machine: str, name: str, problems: Sequence[Finding], about: Mapping[str, t.Any]) -> str:
    body: list[str] = []
    commands: list[str] = []  # one that mends several problems is run once
    for finding in problems:
        body += ["", *_comment(f"{finding['level'].upper()} {finding['check']}: {finding['detail']}"), *_comment(f"-> {finding['fix']}")]
        given = finding.get("commands") or ()
        new = [command for command in given if command not in commands]
        check = shlex.quote(clean(finding["check"]))
        body += [f"{command} || failed $? {check}" for command in new] or _comment("(done by what is above)")[:len(given)]
        commands += new
    return SCRIPT.format(first=FIRST, machine=clean(machine), at=clean(about["at"]), version=clean(about["version"]), name=name,
                         body="\n".join(body), commands=count(len(commands), "command"))


def _comment(text: str) -> list[str]:
    first, *rest = wrap(clean(text, TEXT_MOST), COLUMNS, hang=len(HANG))
    return [f"# {first}", *(f"# {HANG}{line}" for line in rest)]
