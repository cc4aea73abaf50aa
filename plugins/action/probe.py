# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads one machine: one module, a few tiny questions about its clock, and a record whatever happens."""

from __future__ import annotations

import contextlib
import datetime
import math
import time
import typing as t

from ansible import constants
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.llmgw.preflight.plugins.plugin_utils import login, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.asking_time import Clocks, asking
from ansible_collections.llmgw.preflight.plugins.plugin_utils.controller import become
from ansible_collections.llmgw.preflight.plugins.plugin_utils.controller.variables import worked_out
from ansible_collections.llmgw.preflight.plugins.plugin_utils.left import plan_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured
from ansible_collections.llmgw.preflight.plugins.plugin_utils.patience import look_closer, with_patience
from ansible_collections.llmgw.preflight.plugins.plugin_utils.request import Request, request_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import SECTIONS, facts_of, harmless, parts_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.script import oldest_python, packed
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waiting import OutOfTime, deadline

display = Display()
T = t.TypeVar("T")

# Made once, since the workers are forked with it.
OLDEST = oldest_python(constants.config.get_configuration_definitions())
CODE = packed("machine", OLDEST)

SKIPPABLE = [section for section in SECTIONS if section != "login"]
MACHINE = {
    "machine": {"type": "str", "required": True},
    "address": {"type": "str", "required": True},
    "port": {"type": "int", "default": 22},
    "examined": {"type": "bool", "default": True},
    "roles": {"type": "list", "elements": "str", "default": []},
    "serves": {"type": "list", "elements": "dict", "default": []},
    "internet_urls": {"type": "list", "elements": "str", "default": []},
}
ARGUMENTS = {
    "machines": {"type": "list", "elements": "dict", "default": [], "options": MACHINE},
    "internet_urls": {"type": "list", "elements": "str"},
    "packages": {"type": "list", "elements": "str", "default": []},
    "paths": {"type": "list", "elements": "str", "default": []},
    "writes": {"type": "list", "elements": "str", "default": []},
    "limits": {"type": "dict", "default": {}},
    "skip": {"type": "list", "elements": "str", "choices": SKIPPABLE, "default": []},
    "gather_subset": {"type": "list", "elements": "str", "default": []},
    "plan": {"type": "dict"},
}


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_async = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        self._vars = dict(task_vars or {})
        self._asked = self._what_is_asked()
        self._run, self._limits = self._asked.run, self._asked.module["limits"]
        # By the controller's clock, see parts.py.
        self._record = {**self._asked.record, "at": datetime.datetime.now().astimezone().isoformat(timespec="seconds")}
        self._prepare_connection()
        self._facts: dict[str, t.Any] = {}
        self._searched_again = False
        self._as_usual = self._becomes_as_usual()
        self._end = time.monotonic() + self._limits["machine_s"]
        try:
            self._with_patience(self._read_machine)
        except OutOfTime:
            self._not_read(f"no answer within {self._limits['machine_s']:g} s", "silent")
        except Exception as problem:  # a record for every machine, whatever a connection plugin brings up
            self._not_read(*login.told_by(problem))
        else:
            self._read_more()
        return {**self._result(), "record": self._record, "ansible_facts": self._facts}

    def _result(self) -> dict[str, t.Any]:
        return {
            "changed": False,
            # The judge takes no record for this run's that an earlier play left, or that is about another machine.
            "machine": self._record["machine"],
            "run": self._run,
            "play": str(self._task.get_play()._uuid),
            "_ansible_verbose_override": True,  # -v is for the report, not for the records
        }

    def _what_is_asked(self) -> Request:
        arguments = self.validate_argument_spec(argument_spec=ARGUMENTS)[1]
        plan = None if arguments["plan"] is None else plan_of(arguments["plan"], self._vars)
        if plan is not None and "run" not in plan:
            raise AnsibleActionFail(settings.NO_PLAN)
        if plan and self._task.delegate_to:  # it may be set for some machines only
            raise AnsibleActionFail(settings.DELEGATED)
        name = str(self._vars.get("inventory_hostname"))
        address, local = self._worked_out("ansible_host") or name, self._connection.transport == "local"
        try:
            return request_of(name, address, local, arguments, plan, self._vars["ansible_play_batch"])
        except settings.SettingsError as problem:
            raise AnsibleActionFail(str(problem)) from problem

    def _worked_out(self, variable: str) -> t.Any:
        return worked_out(self._templar.template, self._vars.get(variable), self._vars)

    def _prepare_connection(self) -> None:
        """Read as the user that logs in, over standard input, and without a word about how Python was found."""
        self._connection.set_become_plugin(None)
        self._play_context.become = False
        if self._connection.has_pipelining:
            # No file on the machine: a full or read-only disk does not keep it from being read.
            with contextlib.suppress(KeyError):
                self._connection.set_option("pipelining", True)
        if constants.config.get_config_value("INTERPRETER_PYTHON", variables=self._vars) == "auto":  # not one of ansible.cfg
            self._vars["ansible_python_interpreter"] = "auto_silent"

    def _low_level_execute_command(self, *given: t.Any, **named: t.Any) -> dict[str, t.Any]:
        answer: dict[str, t.Any] = super()._low_level_execute_command(*given, **named)
        for stream in ("stdout", "stderr"):
            answer[stream] = harmless(str(answer.get(stream) or ""))
            answer[f"{stream}_lines"] = answer[stream].splitlines()
        return answer

    def _command(self, command: str) -> dict[str, t.Any]:
        return self._low_level_execute_command(command, sudoable=False)

    def _left(self, seconds: float) -> float:
        """As many seconds for one step, or what is left of the machine's own."""
        return max(0.001, min(seconds, self._end - time.monotonic()))

    def _with_patience(self, read: t.Callable[[], T]) -> T:
        return with_patience(read, self._look_closer, self._searches_python_again, self._left)

    def _look_closer(self, problem: Exception) -> None:
        with deadline(self._left(math.inf)):
            look_closer(problem, str(self._used_interpreter or "").lstrip("#! "), self._command)

    def _searches_python_again(self, problem: Exception) -> bool:
        """Once, where the Python that Ansible found is none: it takes a search that was cut short for one that found nothing."""
        key, self._discovered_interpreter_key = self._discovered_interpreter_key, None
        if self._searched_again or not key or login.told_by(problem)[1] != "python":
            return False
        self._searched_again = True
        self._vars["ansible_facts"].pop(key, None)
        return True

    def _run_there(self, module: str, code: str, arguments: dict[str, t.Any]) -> dict[str, t.Any]:
        """Have Python on the machine run what was packed, by way of the last lines of a module."""
        result: dict[str, t.Any] = self._execute_module(
            module_name=module, module_args={"code": code, "arguments": arguments}, task_vars=self._vars)
        return result

    def _read_machine(self) -> None:
        asked = {**self._asked.module, "remote_tmp": str(self.get_shell_option("remote_tmp", "~/.ansible/tmp"))}
        if not self._as_usual:
            asked["skip"] = [*asked["skip"], "sudo"]  # each that is refused may be mailed to root
        if asked["stand_ins"]:  # what comes late must not leave what nobody calls any more
            asked["stand_ins"] = {**asked["stand_ins"], "within_s": self._left(math.inf)}
        self._clocks = Clocks()
        sent = self._clocks.now()
        with deadline(self._left(math.inf)):
            result = self._run_there("llmgw.preflight.probe", CODE, asked)
        received = self._clocks.now()
        if self._discovered_interpreter_key:  # else every later task would look for Python again
            self._facts = {self._discovered_interpreter_key: self._discovered_interpreter}
        sections, self._unmeasured, readings = parts_of(result)
        self._record.update(sections)
        for reading in readings:
            self._clocks.offset.narrow(reading, sent, received)

    def _read_more(self) -> None:
        """What takes another word with the machine, and why there is nothing of what is not there."""
        if "clock" not in self._asked.module["skip"]:
            self._measure("clock", self._read_clock)
        if "sudo" not in self._asked.module["skip"] and ("sudo" in self._record or not self._as_usual):
            self._measure("sudo", self._read_sudo)
        if self._asked.facts:
            self._measure("facts", self._read_facts)
        reasons = dict.fromkeys(SECTIONS, "it was not asked for")
        if self._asked.module["stand_ins"] is not None:
            reasons["stand_ins"] = "the machine does not tell of them"
        self._record["unmeasured"] = {
            name: reason for name, reason in {**reasons, **self._unmeasured}.items() if name not in self._record}

    def _measure(self, section: str, read: t.Callable[[], t.Any]) -> None:
        try:
            self._record[section] = read()
        except Exception as problem:
            self._record.pop(section, None)
            self._unmeasured[section] = login.told_by(problem)[0]

    def _read_clock(self) -> dict[str, float]:
        offset = self._clocks.offset
        if not (self._record["local"] and offset.is_decided(self._limits)):  # the controller's own needs no closer look
            try:
                with asking(self._connection, self._play_context.password, self._command) as ask:
                    self._clocks.narrow(ask, self._limits, self._left(self._limits["clock_s"]))
            except (Exception, OutOfTime) as problem:
                display.vv(f"The clock could not be asked again: {type(problem).__name__} {problem}", host=self._record["machine"])
        if offset.contradicts_itself:
            raise Unmeasured("one of the two clocks was set while they were compared")
        return offset.as_section()

    def _read_facts(self) -> dict[str, t.Any]:
        """By Ansible's own module: ours need not carry its code, half of all that it was."""
        try:
            return self._with_patience(self._run_setup)
        except OutOfTime:
            told = "read_s" if time.monotonic() < self._end else "machine_s"
            raise Unmeasured(f"no answer within {self._limits[told]:g} s") from None

    def _run_setup(self) -> dict[str, t.Any]:
        given = {"gather_subset": self._asked.facts, "fact_path": ""}  # so that no programs of the machine's own are run
        with deadline(self._left(self._limits["read_s"])):
            return facts_of(self._execute_module(module_name="ansible.builtin.setup", module_args=given, task_vars=self._vars))

    def _become_plugin(self) -> t.Any:
        return become.plugin_of(self._task, self._vars, self._templar.template, self._play_context.become_pass)

    def _becomes_as_usual(self) -> bool:
        """Whether the machine itself can tell how it is with sudo; what can't be worked out is told by what tries it.

        Where no task ever becomes another user (ansible_become: false), nobody cares in what way.
        """
        with contextlib.suppress(Exception):
            off = self._worked_out("ansible_become")
            return (off is not None and not become.is_on(self._task, {"ansible_become": off})) or become.is_usual(self._become_plugin())
        return False

    def _read_sudo(self) -> t.Any:
        """What the machine told, and where a task becomes another user in a way of which that says nothing, what comes of it."""
        if not self._as_usual:
            return self._as_tasks_become()
        told = self._record["sudo"]
        how = told.get("how") if isinstance(told, dict) else None
        if how == "password" and (plugin := self._become_plugin()).get_option("become_pass"):
            reason = self._try_become(plugin)
            return {"how": "password_given"} if reason is None else {
                "how": "denied", "reason": reason or "the password that was given does not work"}
        # Ansible calls sudo for root too where it was not told that it is root, and some machines have none.
        if how == "root" and become.is_on(self._task, {"ansible_become": self._worked_out("ansible_become")}):
            tried = self._as_tasks_become()
            return told if tried["how"] == "become" else tried
        return told

    def _as_tasks_become(self) -> dict[str, t.Any]:
        try:
            plugin = self._become_plugin()
        except Exception as problem:
            return {"how": "no_become", "by": "", "user": "", "reason": login.told_by(problem)[0]}
        tried = {"by": plugin.name, "user": str(plugin.get_option("become_user") or "root")}
        reason = self._try_become(plugin)
        return {"how": "become", **tried} if reason is None else {"how": "no_become", **tried, "reason": reason or "it says nothing of why"}

    def _try_become(self, plugin: t.Any) -> str | None:
        """Why a command is not run as that user; None where it is."""
        become.without_memory(plugin)
        self._connection.set_become_plugin(plugin)
        try:
            with deadline(self._left(2 * self._limits["command_s"])):
                answer = self._low_level_execute_command("id -u")
            said = str(answer.get("stderr") or answer.get("stdout") or "")
            user = (str(answer.get("stdout") or "").split() or [""])[-1]
            if answer.get("rc") == 0 and (user == "0" if plugin.get_option("become_user") in ("root", "", None) else user.isdigit()):
                return None
        except OutOfTime:
            raise Unmeasured(
                "no answer after the password was given" if plugin.get_option("become_pass") else f"no answer from {plugin.name}") from None
        except Exception as problem:
            said = str(problem)
        finally:
            self._connection.set_become_plugin(None)
        return become.why_not(said, str(plugin.get_option("become_pass") or ""))

    def _not_read(self, reason: str, cause: str) -> None:
        self._record["login"] = {"ok": False, "reason": reason, "cause": cause}
