# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judges what several runs have read and saved, as if it were one."""

from __future__ import annotations

import datetime
import fnmatch
import json
import os
import typing as t
from pathlib import Path

from ansible import __version__ as ansible_version
from ansible.plugins.action import ActionBase
from ansible_collections.llmgw.preflight.plugins.action.judge import as_result
from ansible_collections.llmgw.preflight.plugins.action.plan import KNOWN, OF_REPORT
from ansible_collections.llmgw.preflight.plugins.plugin_utils import collector, parts, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.about import about, version
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import RecordsError, evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.vaulted import secrets_in, untold, without

EACH = parts.FILE.format("*")
# What the role has of it.
OF_JUDGING = ("preflight_records", "preflight_limits", "preflight_waivers", *(f"preflight_{name}" for name in OF_REPORT))
MOST_MB = 500  # of one file; a machine has some 10 kB


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    @collector.waits()
    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        arguments = self.validate_argument_spec(argument_spec={
            "paths": {"type": "list", "elements": "str", "required": True},
            **dict.fromkeys(("limits", "waivers", *OF_REPORT), {"type": "raw"}),
        })[1]
        task_vars = task_vars or {}
        now = datetime.datetime.now().astimezone()
        secrets = secrets_in(task_vars)  # of which the limits and waivers may be made
        given_here = task_vars["hostvars"]._variable_manager.extra_vars  # others may be the inventory's, for the runs that read
        warnings = settings.misspelt(task_vars, KNOWN) + [
            f"{name} has no effect here: what the runs were told that read the machines counts."
            for name in sorted(KNOWN.difference(OF_JUDGING).intersection(given_here))]

        def refused(why: str) -> dict[str, t.Any]:
            """As in plan.py not raised."""
            return {"failed": True, "changed": False, "msg": without(why, secrets), "warnings": warnings}

        settle = settings.Settle()
        fail_on = {name: settle(check, arguments[name], *given, f"preflight_{name}")
                   for name, (check, *given) in OF_REPORT.items()}["fail_on"]
        # With those of the parts they are looked at once more.
        limits = settle(settings.limits, arguments["limits"], "preflight_limits", {})
        waivers = None if arguments["waivers"] is None else settle(settings.waivers, arguments["waivers"])
        paths = settle(files, arguments["paths"])
        found = None if paths is None else settle(read, paths)
        whole = None if found is None else settle(parts.whole, found, version(), now, limits, waivers)
        if settle.problems:
            return refused("\n".join(["Nothing was judged, because:", *settle.problems]))
        asked = whole.settings
        try:
            report = evaluate(
                whole.records, limits=asked["limits"], profile=asked["profile"], custom_checks=asked["custom_checks"],
                skip=asked["left_out"], waived=asked["waivers"], today=now.date(), elsewhere=whole.elsewhere, told=whole.findings)
        except (RecordsError, settings.SettingsError) as problem:
            return refused(f"What the files hold can not be judged: {problem}")
        if secrets:
            report = {**report, **{part: untold(report[part], secrets) for part in ("findings", "waivers")}}
        made = about(now, ansible_version, asked["profile"].get("name"))
        return {**as_result(report, made, [], whole.sampled, fail_on), "warnings": warnings}


def files(paths: t.Iterable[str]) -> list[Path]:
    """These files, and those of preflight_records_dir in these folders. Raises PartsError."""
    found: list[Path] = []
    problems: list[str] = []
    for path in (Path(os.path.expanduser(given)) for given in paths if given):
        try:
            there = sorted(path / name for name in os.listdir(path) if fnmatch.fnmatch(name, EACH)) if os.path.isdir(path) else [path]
            if there and path.exists():
                found += there
            else:
                problems.append(f"preflight_records is {str(path)!r}: there is no such file, or no {EACH} in it.")
        except OSError as problem:
            problems.append(f"preflight_records is {str(path)!r}: it can not be read: {problem.strerror}.")
    if problems:
        raise parts.PartsError("\n".join(problems))
    return found


def read(paths: t.Iterable[Path]) -> dict[str, t.Any]:
    """path -> what it holds. Raises PartsError."""
    found, problems = {}, []
    for path in paths:
        try:
            if path.exists() and not path.is_file():
                problems.append(f"{path}: it is no file.")
            elif path.stat().st_size > MOST_MB * 2**20:
                problems.append(f"{path}: it is of more than {MOST_MB} MB, which no run saves.")
            else:
                found[str(path)] = json.loads(path.read_text(encoding="utf-8"))
        except OSError as problem:
            problems.append(f"{path}: it can not be read: {problem.strerror}.")
        except (ValueError, RecursionError):
            problems.append(f"{path}: it is no JSON, or cut short.")
    if problems:
        raise parts.PartsError("\n".join(problems))
    return found
