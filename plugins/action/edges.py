# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Has one machine try every port that it will need of the others, where stand-ins or services listen.

Of machines that are read at another time it is only seen what keeps callers away from their ports, and how long the way to them takes.
"""

from __future__ import annotations

import math
import time
import typing as t

from ansible.errors import AnsibleActionFail
from ansible_collections.llmgw.preflight.plugins.action.probe import OLDEST
from ansible_collections.llmgw.preflight.plugins.action.probe import ActionModule as Probe
from ansible_collections.llmgw.preflight.plugins.plugin_utils import login, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.calls import calls_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.left import plan_of, read_now
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import edges_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.script import packed
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waiting import OutOfTime, deadline

CODE = packed("ways", OLDEST)


class ActionModule(Probe):
    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super(Probe, self).run(tmp, task_vars)
        self._vars = dict(task_vars or {})
        given = self.validate_argument_spec(argument_spec={"plan": {"type": "dict", "required": True}})[1]["plan"]
        plan = plan_of(given, self._vars)
        if "run" not in plan:
            raise AnsibleActionFail(settings.NO_PLAN)
        self._run, self._limits = plan["run"], plan["limits"]
        self._record = {"machine": str(self._vars["inventory_hostname"])}
        self._end = time.monotonic() + self._limits["machine_s"]
        try:
            asked = calls_of(self._record["machine"], plan, self._vars["ansible_play_batch"],
                             lambda machine: read_now(self._vars["hostvars"], machine, self._run))
            if asked is None:
                return self._result()
            self._prepare_connection()
            with deadline(self._left(math.inf)):
                result = self._run_there("llmgw.preflight.edges", CODE, asked)
            # How much it was to try is not for the machine to tell.
            return {**self._result(), "edges": {**edges_of(result), "asked": len(asked["edges"]) + len(asked["elsewhere"])}}
        except OutOfTime:
            return {**self._result(), "reason": f"no answer within {self._limits['machine_s']:g} s"}
        except Exception as problem:  # as in the first task: a result for every machine
            return {**self._result(), "reason": login.told_by(problem)[0]}
