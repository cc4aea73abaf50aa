# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Finds the machines whose stand-ins still wait, since not all that must reach them did."""

from __future__ import annotations

import typing as t

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.edges import Edges, together
from ansible_collections.llmgw.preflight.plugins.plugin_utils.left import CALLS, left_by, not_reached, read_now, stand_ins_of


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        task_vars = task_vars or {}
        plan = self.validate_argument_spec(argument_spec={"plan": {"type": "dict", "required": True}})[1]["plan"]
        if "run" not in plan:
            raise AnsibleActionFail(settings.NO_PLAN)
        hostvars, uncalled = task_vars["hostvars"], set()
        edges = Edges(together(plan, task_vars["ansible_play_batch"]), settings.profile(plan["profile"]).needs)
        read = {machine["machine"]: read_now(hostvars, machine["machine"], plan["run"]) for machine in edges.machines}
        for machine in edges.machines:
            if read[machine["machine"]] is None:
                continue  # its calls are not waited for
            missed = not_reached(left_by(CALLS, hostvars, machine["machine"]), plan["run"])
            if missed is None:  # nor has it told its own stand-in whom not to wait for
                missed = {machine["machine"], *(other["machine"] for other, _port in edges.calls(machine))}
            uncalled |= missed
        waiting = [name for name, record in read.items() if name in uncalled and stand_ins_of(record).pid]
        return {"changed": False, "machines": waiting, "_ansible_verbose_override": True}
