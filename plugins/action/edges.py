# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Has one machine try every port that it will need of the others, where stand-ins or services listen.

Of machines that are read at another time it is only seen what keeps callers away from their ports, and how long the way to them takes.
"""

from __future__ import annotations

import functools
import math
import time
import typing as t

from ansible.errors import AnsibleActionFail
from ansible_collections.llmgw.preflight.plugins.action.probe import OLDEST, text_of
from ansible_collections.llmgw.preflight.plugins.action.probe import ActionModule as Probe
from ansible_collections.llmgw.preflight.plugins.plugin_utils import login, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks.network import is_loopback
from ansible_collections.llmgw.preflight.plugins.plugin_utils.edges import Edges, place_of, together
from ansible_collections.llmgw.preflight.plugins.plugin_utils.left import plan_of, read_now, stand_ins_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, section
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import edges_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.script import packed
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waiting import OutOfTime, deadline

CODE = packed("ways", OLDEST)
ETCD_PEERS = 2380  # the round trip to these counts, see checks/latency.py


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
            asked = self._what_to_try(plan)
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
            return {**self._result(), "reason": login.reason_of(text_of(problem)) or type(problem).__name__}

    def _what_to_try(self, plan: dict[str, t.Any]) -> dict[str, t.Any] | None:
        """The module's arguments; None for a machine that was not read, or has nothing to try."""
        hostvars, name = self._vars["hostvars"], self._record["machine"]
        needs = settings.profile(plan["profile"]).needs
        edges = Edges(together(plan, self._vars["ansible_play_batch"]), needs)
        record = read_now(hostvars, name, self._run) if name in edges.numbers else None
        if record is None:
            return None
        read = functools.cache(lambda other: read_now(hostvars, other, self._run))  # hostvars are slow
        me = edges.machines[edges.numbers[name]]
        calls, elsewhere, round_trips = [], [], []
        for other, port in edges.calls(me):
            stand_ins, place = stand_ins_of(read(other["machine"])), place_of(other)
            if port in stand_ins.open | stand_ins.held:  # otherwise told of that machine
                calls.append({**place, "port": port, "number": edges.numbers[other["machine"]], "held": port in stand_ins.held,
                              "measured": port == ETCD_PEERS})
            elif port == ETCD_PEERS and read(other["machine"]) is not None:
                round_trips.append(place)
        passed_over = out_of_reach(record)
        others = [other for other in plan["machines"] if other["machine"] not in edges.numbers]
        for other, port in Edges(others, needs).calls(me):
            if other["machine"] not in passed_over and not is_loopback(other["address"]):
                elsewhere.append({**place_of(other), "port": port})
                if port == ETCD_PEERS:
                    round_trips.append(place_of(other))
        mine = stand_ins_of(record).open
        absent = {
            port: numbers for port, callers in edges.callers(me).items()
            if port in mine and (numbers := [edges.numbers[caller["machine"]] for caller in callers if read(caller["machine"]) is None])
        }
        if not (calls or absent or elsewhere or round_trips):
            return None
        return {"edges": calls, "elsewhere": elsewhere, "round_trips": round_trips, "absent": absent, "reach_s": self._limits["reach_s"],
                "token": self._run, "me": edges.numbers[name]}


def out_of_reach(record: t.Mapping[str, t.Any]) -> set[str]:
    """Those whose SSH ports it did not reach, as checks/network.py tells: their other ports would tell nothing more."""
    try:
        return {call["machine"] for call in section(record, "reach", {"not_open": [{"machine": str}]})["not_open"]}
    except Unmeasured:
        return set()
