# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Ends the stand-ins of one machine that still wait for callers, and tells whether they were there to be called until now."""

from __future__ import annotations

import time
import typing as t

from ansible_collections.llmgw.preflight.plugins.action.probe import ActionModule as Probe
from ansible_collections.llmgw.preflight.plugins.plugin_utils.left import read_now, stand_ins_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waiting import OutOfTime, deadline

# Only a process that is known by its name is ended; the number is one that the machine told us.
COMMAND = "/bin/sh -c 'if grep -qs \"(llmgw-preflight) [^Z]\" /proc/{pid}/stat; then kill {pid} && echo ended; else echo gone; fi'"


class ActionModule(Probe):
    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super(Probe, self).run(tmp, task_vars)
        self._vars = dict(task_vars or {})
        arguments = self.validate_argument_spec(argument_spec={
            "machine": {"type": "str", "required": True}, "plan": {"type": "dict", "required": True},
        })[1]
        plan = arguments["plan"]
        record = read_now(self._vars["hostvars"], arguments["machine"], plan["run"])
        pid = stand_ins_of(record).pid
        self._limits, self._end = plan["limits"], time.monotonic() + plan["limits"]["machine_s"]
        self._prepare_connection()
        said = ""
        if pid:
            try:
                with deadline(self._left(2 * self._limits["command_s"])):
                    said = self._low_level_execute_command(COMMAND.format(pid=pid), sudoable=False)["stdout"]
            except (Exception, OutOfTime) as problem:  # they end by themselves, later
                said = str(problem)
        alive = True if "ended" in said.split() else False if "gone" in said.split() else None
        return {"changed": False, "alive": alive, "_ansible_verbose_override": True}
