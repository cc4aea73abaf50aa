# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Judges all machines of the play together, once. The rules are in plugin_utils/checks."""

from __future__ import annotations

import datetime
import json
import typing as t

from ansible import __version__ as ansible_version
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase
from ansible_collections.llmgw.preflight.plugins.plugin_utils import own, parts
from ansible_collections.llmgw.preflight.plugins.plugin_utils.about import about
from ansible_collections.llmgw.preflight.plugins.plugin_utils.artifact import artifact
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import RecordsError, evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.files import folder_of, write_whole
from ansible_collections.llmgw.preflight.plugins.plugin_utils.left import CALLS, CLOSED, PROBE, left_by
from ansible_collections.llmgw.preflight.plugins.plugin_utils.settings import NO_PLAN, SettingsError
from ansible_collections.llmgw.preflight.plugins.plugin_utils.vaulted import secrets_in, untold, without

NOT_READ = "it was not read: it had left the play, or was passed over, when the preflight came to it"


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        task_vars = task_vars or {}
        plan = self.validate_argument_spec(argument_spec={"plan": {"type": "dict", "required": True}})[1]["plan"]
        if "run" not in plan:
            raise AnsibleActionFail(NO_PLAN)
        now = datetime.datetime.now().astimezone()
        secrets = secrets_in(task_vars)  # of which checks and findings of the user's own may be made
        records, waiting, others = [], [], []
        other_batches = of_other_batches(task_vars, plan)
        gone = {**gone_before(task_vars, plan), **dict.fromkeys(gone_by_now(task_vars), plan["run"])}
        for machine in plan["machines"]:
            name = machine["machine"]
            if not machine["examined"]:
                waiting.append({"machine": name, "why": machine["why"]})
                others.append(machine)
                continue
            result = left_by(PROBE, task_vars["hostvars"], name)
            other_batch = name in other_batches
            of_other_batch = other_batch and result and result["play"] == plan["play"] and result["run"] not in plan["superseded"]
            if result and (result["run"] == plan["run"] or of_other_batch):
                records.append(self._with_own_findings(self._whole_record(result, task_vars, name), task_vars, secrets))
            elif other_batch:
                waiting.append({"machine": name, "why": "batch"})
                others.append(machine)
            else:
                record = {**machine, "login": {"ok": False, "reason": NOT_READ, "cause": "not_read"}}
                records.append(self._with_own_findings(record, task_vars, secrets))
        for record in records:
            record["controller"] = plan["controller"]
            if gone.get(record["machine"]) == record.get("batch", "") and isinstance(record.get("stand_ins"), dict):
                record["stand_ins"] = {**record["stand_ins"], "gone": True}
        elsewhere = set(task_vars["groups"]["all"]).difference(machine["machine"] for machine in plan["machines"])
        try:
            report = evaluate(
                records, limits=plan["limits"], others=others, profile=plan["profile"], custom_checks=plan["custom_checks"],
                skip=plan["left_out"], waived=plan["waivers"], today=now.date(), elsewhere=elsewhere)
        except (RecordsError, SettingsError) as problem:
            raise AnsibleActionFail(str(problem)) from problem
        if secrets:
            report = {**report, **{part: untold(report[part], secrets) for part in ("findings", "waivers")}}
            # By the digest of an expression that holds a secret, guesses at it could be tried.
            hidden = {check["check"] for check in plan["custom_checks"] if untold(check["expect"], secrets) != check["expect"]}
            told = {check: digest for check, digest in report["asked"]["custom_checks"].items() if check not in hidden}
            report["asked"] = {**report["asked"], "custom_checks": told}
        made = about(now, ansible_version, plan["profile"]["name"])
        saved = save({**plan, "waivers": untold(plan["waivers"], secrets)}, records, made, elsewhere) if plan["records_dir"] else None
        return {**as_result(report, made, waiting, plan["sampled"], plan["fail_on"]), "play": plan["play"], "gone": gone,
                **({"saved": saved} if saved else {})}

    def _whole_record(self, result: t.Any, task_vars: dict[str, t.Any], name: str) -> dict[str, t.Any]:
        """The record of the first task with what the second found, if that belongs to the same run."""
        # Only machines of one batch have tried each other.
        record, calls = {**result["record"], "batch": result["run"]}, left_by(CALLS, task_vars["hostvars"], name)
        if not calls or calls["run"] != result["run"]:
            if "stand_ins" in record:
                record["unmeasured"] = {**record["unmeasured"], "edges": "the task that does it did not run there"}
        elif "edges" in calls:
            record["edges"] = calls["edges"]
        elif "reason" in calls:
            record["unmeasured"] = {**record["unmeasured"], "edges": calls["reason"]}
        return record

    def _with_own_findings(self, record: dict[str, t.Any], task_vars: dict[str, t.Any], secrets: set[str]) -> dict[str, t.Any]:
        """The record with what tasks of the user's own left for its machine; see plugin_utils/own.py.

        As a task on that machine would see it: hostvars does not know what the play or the role was given.
        ``secrets`` gets those of its variables, and what is left in words holds none of them.
        """
        hostvars = task_vars["hostvars"]
        seen = hostvars._variable_manager.get_vars(
            play=self._task.get_play(), host=hostvars._inventory.get_host(record["machine"]), task=self._task)
        if own.VARIABLE not in seen:
            return record
        hidden = secrets_in(seen)
        secrets |= hidden
        try:
            given = self._templar.copy_with_new_env(available_variables=seen).template(seen[own.VARIABLE])
            # Else worked out only when it is looked at.
            return {**record, own.SECTION: untold(json.loads(json.dumps(given, default=str)), hidden)}
        except (AnsibleError, ValueError, TypeError) as problem:
            told = without(str(getattr(problem, "message", None) or problem), hidden)
            return {**record, "unmeasured": {**record.get("unmeasured", {}), own.SECTION: told}}


def save(plan: dict[str, t.Any], records: list[dict[str, t.Any]], made: dict[str, t.Any], elsewhere: set[str]) -> dict[str, str]:
    """One file a run; with serial each batch puts what is read so far in its place. Returns its path, and the problem where it could not
    be written: the report comes first, and whoever shows it tells of this and fails."""
    path = folder_of(plan["records_dir"]) / parts.FILE.format(plan["play"])
    try:
        write_whole(path, json.dumps(parts.part_of(plan, records, made, elsewhere), indent=1, ensure_ascii=False, default=str) + "\n")
    except (OSError, ValueError) as problem:
        return {"path": str(path), "problem": str(getattr(problem, "strerror", None) or problem)}
    return {"path": str(path)}


def as_result(
    report: dict[str, t.Any], made: dict[str, t.Any], waiting: list[dict[str, str]], sampled: t.Any, fail_on: str,
) -> dict[str, t.Any]:
    """A report as a task's result: in one of Ansible's, skipped has a meaning of its own."""
    whole = {key: value for key, value in report.items() if key != "skipped"}
    return {**whole, "left_out": report["skipped"], "about": made, "not_examined": waiting, "sampled": sampled,
            "artifact": artifact(report, fail_on), "changed": False, "_ansible_verbose_override": True}


def of_other_batches(task_vars: dict[str, t.Any], plan: dict[str, t.Any]) -> set[str]:
    """With serial: the machines of the batches before this one, and of those that have not come. One that Ansible dropped is of neither."""
    return set(task_vars["ansible_play_hosts"]).difference(task_vars["ansible_play_batch"]) if plan["batches"] else set()


def gone_before(task_vars: dict[str, t.Any], plan: dict[str, t.Any]) -> dict[str, str]:
    """What was found so in the batches of this play before: machine -> the run in which it was."""
    earlier = task_vars.get("preflight_report")
    return dict(earlier.get("gone") or {}) if isinstance(earlier, dict) and earlier.get("play") == plan["play"] else {}


def gone_by_now(task_vars: dict[str, t.Any]) -> set[str]:
    """The machines whose stand-ins were to be closed, and were there no more: whoever was refused there may have come too late."""
    closed = task_vars.get(CLOSED)
    results = closed.get("results") or () if isinstance(closed, dict) else ()
    return {result["item"] for result in results if result.get("alive") is False}
