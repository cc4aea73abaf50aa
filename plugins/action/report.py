# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Shows a report, writes its files, and fails the play when it must."""

from __future__ import annotations

import contextlib
import datetime
import os
import stat
import typing as t
from pathlib import Path

from ansible import __version__ as ansible_version
from ansible import constants as C
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.color import stringc
from ansible.utils.display import Display
from ansible_collections.llmgw.preflight.plugins.plugin_utils import collector, earlier
from ansible_collections.llmgw.preflight.plugins.plugin_utils.about import about
from ansible_collections.llmgw.preflight.plugins.plugin_utils.changes import NotComparable, changes
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import SCHEMA_VERSION
from ansible_collections.llmgw.preflight.plugins.plugin_utils.files import MODES, folder_of, is_left, write_whole
from ansible_collections.llmgw.preflight.plugins.plugin_utils.plain import plain
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import FILES, script, text
from ansible_collections.llmgw.preflight.plugins.plugin_utils.settings import FAIL_ON, LIMITS, NO_PLAN

display = Display()

REPORT = "preflight_report"  # what the role registers

# The order of the file: what is looked for first comes first.
PARTS = ("schema_version", "about", "worst", "counts", "waived", "machines", "findings", "skipped", "waivers", "limits", "needs",
         "asked", "fit", "not_reached", "not_examined", "sampled")
# What a report must hold, and what stands for what it does not hold, where a filter made it.
MUST = ("worst", "counts", "machines", "findings")
MAY: dict[str, t.Any] = {"schema_version": SCHEMA_VERSION, "waived": 0, "skipped": [], "waivers": [], "limits": LIMITS,
                         "needs": {}, "fit": {"machines": [], "moves": []}, "not_reached": [], "not_examined": [], "sampled": None}
COLOURS = {"fail": C.COLOR_ERROR, "warn": C.COLOR_WARN, "ok": C.COLOR_OK}
LEVELS = ("ok", "warn", "fail")


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    @collector.waits()
    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        arguments = self.validate_argument_spec(argument_spec={
            "report": {"type": "dict"},
            "fit": {"type": "bool", "default": False},
            "fail_on": {"type": "str", "choices": list(FAIL_ON), "default": "fail"},
            "dir": {"type": "str"},
            "formats": {"type": "list", "elements": "str", "choices": list(FILES), "default": ["json"]},
            "mode": {"type": "str", "choices": list(MODES), "default": MODES[0]},
            "fix_script": {"type": "str"},
        })[1]
        # An argument of this size Ansible works out as a template for longer than it takes to judge.
        registered = (task_vars or {}).get(REPORT)
        given = arguments["report"] if arguments["report"] is not None else plain(registered) if isinstance(registered, dict) else {}
        if "left_out" in given:  # as the judge calls it
            given = {**given, "skipped": given["left_out"]}
        # A registered one also holds what Ansible puts beside it.
        report = {part: given.get(part, MAY.get(part)) for part in PARTS}
        missing = [part for part in MUST if part not in given]
        if len(missing) == len(MUST):
            raise AnsibleActionFail(NO_PLAN)
        if missing:
            raise AnsibleActionFail(f"This is not a report: it has no {', '.join(missing)}.")
        report["about"] = {**about(datetime.datetime.now().astimezone(), ansible_version, None), **(report.get("about") or {})}
        folder = folder_of(arguments["dir"]) if arguments["dir"] else None
        waiting = any(entry["why"] == "batch" for entry in report["not_examined"])
        report["changes"] = since(earlier.to_compare(folder, given.get("play"), waiting), report) if folder else None
        lines = text.lines(report, display.columns, everything=display.verbosity > 0, fit=arguments["fit"])
        show("\n".join((stringc(line, COLOURS[level]) if level and line else line) + rest for level, line, rest in lines))
        if folder:
            self._write(report, folder, arguments["formats"], arguments["mode"])
        if arguments["fix_script"]:
            self._write_scripts(report, folder_of(arguments["fix_script"]))
        if given.get("saved"):
            told_of(given["saved"])
        fails = must_fail(report["worst"], arguments["fail_on"])
        if folder and (fails or not waiting):
            earlier.forget(folder, given.get("play"))
        if fails:
            return {"failed": True, "changed": False, "msg": text.verdict(report, arguments["fail_on"])}
        return {"changed": False, "_ansible_verbose_override": True}

    def _write(self, report: dict[str, t.Any], folder: Path, formats: t.Iterable[str], mode: str) -> None:
        for name in formats:
            path, content = folder / f"preflight.{name}", FILES[name](report)
            try:
                write_whole(path, content, mode)
            except (OSError, ValueError) as problem:
                why = getattr(problem, "strerror", None) or problem
                raise AnsibleActionFail(f"The report could not be written to {path}: {why}. Give a folder that can be "
                                        "written as preflight_report_dir. The report itself is above.") from problem
            show(f"Report written to {path}")

    def _write_scripts(self, report: dict[str, t.Any], folder: Path) -> None:
        """What lies there for a machine of an earlier report is replaced, or taken away where this one has no command for it."""
        written = 0
        try:
            for name, content in script.scripts(report):
                if content:
                    write_whole(folder / name, content)
                    written += 1
                elif is_script(folder / name):
                    os.unlink(folder / name)
        except (OSError, ValueError) as problem:
            why = getattr(problem, "strerror", None) or problem
            raise AnsibleActionFail(f"The scripts of fixes could not be written to {folder}: {why}. Give a folder that can be written as "
                                    "preflight_fix_script. The report itself is above.") from problem
        show(f"{written} script{'s' if written > 1 else ''} of fixes written to {folder}" if written else
             f"No script of fixes written to {folder}: there is no problem that commands alone mend")


def told_of(saved: dict[str, str]) -> None:
    """Of the records, which the judge saves; see preflight_records_dir."""
    if "problem" in saved:
        raise AnsibleActionFail(f"The records could not be written to {saved['path']}: {saved['problem']}. Give a folder that can be "
                                "written as preflight_records_dir. The report itself is above.")
    show(f"Records written to {saved['path']}")


def show(told: str, stream: int = 1) -> None:
    """On the screen, unless that is a pipe whose reader has gone (head has its lines, less was left). What an action shows Ansible's main
    process writes, in the thread that takes results: an error there ends that thread, and the play waits for ever."""
    if not is_left(f"/proc/{os.getppid()}/fd/{stream}"):
        (display.display if stream == 1 else display.warning)(told)


def is_script(path: Path) -> bool:
    """Whether what lies there is a script that was written here, and not something else by that name."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if stat.S_ISREG(os.lstat(path).st_mode):
            with path.open(encoding="utf-8", errors="replace") as file:
                return file.read(len(script.FIRST)) == script.FIRST
    return False


def since(path: Path, report: dict[str, t.Any]) -> dict[str, t.Any] | None:
    """What changed since the report that lies there; None where there is none that can be compared."""
    try:
        found = earlier.read(path)
        return None if found is None else changes(found, report)
    except NotComparable as problem:
        show(f"What changed is not told, since the earlier report {path} can not be compared with this one: {problem}.", 2)
        return None


def must_fail(worst: str, fail_on: str) -> bool:
    return fail_on != "never" and LEVELS.index(worst) >= LEVELS.index(fail_on)
