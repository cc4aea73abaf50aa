# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judges all machines of the play together, once. The rules are in plugin_utils/checks."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import RecordsError, evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.settings import SettingsError

NOT_READ = "it was not read: Ansible dropped it from the play before the preflight came to it"


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        task_vars = task_vars or {}
        plan = self.validate_argument_spec(argument_spec={"plan": {"type": "dict", "required": True}})[1]["plan"]
        records, waiting = [], []
        for machine in plan["machines"]:
            record = probed(task_vars["hostvars"], machine["machine"])
            if record is not None:
                records.append(record)
            elif is_waiting(machine["machine"], task_vars):
                waiting.append(machine["machine"])
            else:
                records.append({**machine, "login": {"ok": False, "reason": NOT_READ, "cause": "not_read"}})
        try:
            report = evaluate(records, plan["needs"], plan["systems"], plan["architectures"], plan["limits"])
        except (RecordsError, SettingsError) as problem:
            raise AnsibleActionFail(str(problem)) from problem
        return {**report, "not_examined": waiting, "changed": False, "_ansible_verbose_override": True}


def probed(hostvars: Mapping[str, t.Any], name: str) -> Mapping[str, t.Any] | None:
    """The record that the role's own probe left, or None."""
    of_machine = hostvars[name]
    result = of_machine["preflight_probe"] if "preflight_probe" in of_machine else None
    return result.get("record") if isinstance(result, Mapping) else None


def is_waiting(name: str, task_vars: Mapping[str, t.Any]) -> bool:
    """With ``serial``: its batch has not come yet. One that Ansible dropped is in neither list."""
    return name in task_vars["ansible_play_hosts"] and name not in task_vars["ansible_play_batch"]
