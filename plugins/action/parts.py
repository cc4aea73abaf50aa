# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judges what several runs have read and saved, as if it were one."""

from __future__ import annotations

import datetime
import json
import os
import typing as t
from pathlib import Path

from ansible import __version__ as ansible_version
from ansible.plugins.action import ActionBase
from ansible_collections.llmgw.preflight.plugins.action.judge import as_result
from ansible_collections.llmgw.preflight.plugins.plugin_utils import parts
from ansible_collections.llmgw.preflight.plugins.plugin_utils.about import about, version
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import RecordsError, evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.settings import SettingsError


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        paths = self.validate_argument_spec(argument_spec={"paths": {"type": "list", "elements": "str", "required": True}})[1]["paths"]
        now = datetime.datetime.now().astimezone()
        try:
            whole = parts.whole(read(files(paths)), version(), now)
            settings = whole.settings
            report = evaluate(
                whole.records, limits=settings["limits"], profile=settings["profile"], custom_checks=settings["custom_checks"],
                skip=settings["left_out"], waived=settings["waivers"], today=now.date(), elsewhere=whole.elsewhere,
                told=whole.findings)
        except (parts.PartsError, RecordsError, SettingsError) as problem:
            return {"failed": True, "changed": False, "msg": str(problem)}  # not raised: see refused in plan.py
        return as_result(report, about(now, ansible_version, settings["profile"].get("name")), [], whole.sampled)


def files(paths: t.Iterable[str]) -> list[Path]:
    """These files, and those of preflight_records_dir in these folders. Raises PartsError."""
    found: list[Path] = []
    for given in paths:
        path = Path(os.path.expanduser(given))
        try:
            there = sorted(path.glob(parts.FILE.format("*"))) if path.is_dir() else [path] if path.is_file() else []
        except OSError as problem:
            raise parts.PartsError(f"{path}: it can not be read: {problem.strerror}.") from problem
        if not there:
            raise parts.PartsError(f"{path}: there is no such file, or no {parts.FILE.format('*')} in it.")
        found += there
    return found


def read(paths: t.Iterable[Path]) -> dict[str, t.Any]:
    """path -> what it holds. Raises PartsError."""
    found, problems = {}, []
    for path in paths:
        try:
            found[str(path)] = json.loads(path.read_text(encoding="utf-8"))
        except OSError as problem:
            problems.append(f"{path}: it can not be read: {problem.strerror}.")
        except (ValueError, RecursionError):
            problems.append(f"{path}: it is no JSON, or cut short.")
    if problems:
        raise parts.PartsError("\n".join(problems))
    return found
