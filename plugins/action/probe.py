# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads one machine: one module, a few tiny questions about its clock, and a record whatever happens."""

from __future__ import annotations

import contextlib
import datetime
import math
import random
import re
import shlex
import time
import typing as t

from ansible import constants
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import become_loader
from ansible.utils.display import Display
from ansible_collections.llmgw.preflight.plugins.plugin_utils import custom, login, model, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import LOOKED_AT_BY
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks.gpu import is_asked_for
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks.network import is_loopback
from ansible_collections.llmgw.preflight.plugins.plugin_utils.edges import Edges, place_of, some_of, together
from ansible_collections.llmgw.preflight.plugins.plugin_utils.left import plan_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.offset import COMMAND, CONVERSATION, Offset, reading_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import SECTIONS, NotRead, facts_of, harmless, parts_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.script import oldest_python, packed
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waiting import Conversation, OutOfTime, deadline

display = Display()

# Made once, since the workers are forked with it.
OLDEST = oldest_python(constants.config.get_configuration_definitions())
CODE = packed("machine", OLDEST)

PAUSES_S = (0.5, 1.0, 2.0, 4.0)  # before another login, give or take a half
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
ENOUGH = 2  # answers about the clock: the first also holds the start of what asks


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_async = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        self._vars = dict(task_vars or {})
        self._read_arguments()
        self._prepare_connection()
        self._facts: dict[str, t.Any] = {}
        self._searched_again = False
        self._end = time.monotonic() + self._limits["machine_s"]
        try:
            self._with_patience(self._read_machine)
        except OutOfTime:
            self._not_read(f"no answer within {self._limits['machine_s']:g} s", "silent")
        except Exception as problem:  # a record for every machine, whatever a connection plugin brings up
            said = text_of(problem)
            self._not_read(login.reason_of(said) or type(problem).__name__, login.cause_of(said))
        else:
            if "clock" not in self._skip:
                self._read_clock()
            sudo = self._record.get("sudo")
            if isinstance(sudo, dict) and sudo.get("how") == "password":
                self._try_password()
            reasons = dict.fromkeys(SECTIONS, "it was not asked for")
            if self._subset:
                reasons["facts"] = self._read_facts()
            if self._stand_ins is not None:
                reasons["stand_ins"] = "the machine does not tell of them"
            self._record["unmeasured"] = {
                name: self._unmeasured.get(name, reason) for name, reason in reasons.items() if name not in self._record
            }
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

    def _read_arguments(self) -> None:
        arguments = self.validate_argument_spec(argument_spec={
            "machines": {"type": "list", "elements": "dict", "default": [], "options": MACHINE},
            "internet_urls": {"type": "list", "elements": "str"},
            "packages": {"type": "list", "elements": "str", "default": []},
            "paths": {"type": "list", "elements": "str", "default": []},
            "writes": {"type": "list", "elements": "str", "default": []},
            "limits": {"type": "dict", "default": {}},
            "skip": {"type": "list", "elements": "str", "choices": SKIPPABLE, "default": []},
            "gather_subset": {"type": "list", "elements": "str", "default": []},
            "plan": {"type": "dict"},
        })[1]
        plan = None if arguments["plan"] is None else plan_of(arguments["plan"], self._vars)
        if plan is not None and "run" not in plan:
            raise AnsibleActionFail(settings.NO_PLAN)
        if plan and self._task.delegate_to:  # it may be set for some machines only
            raise AnsibleActionFail(settings.DELEGATED)
        if plan:
            arguments.update({key: plan[key] for key in ("machines", "limits", "gather_subset")})
            own = [check for check in plan["custom_checks"] if check["check"] not in plan["left_out"]]
            asked_for = set[str]().union(*map(custom.words, own))
            arguments["skip"] = [section for section, looking in LOOKED_AT_BY.items()
                                 if set(looking) <= set(plan["left_out"]) and section not in asked_for]
        self._run = plan["run"] if plan else ""
        name = str(self._vars.get("inventory_hostname"))
        try:
            self._limits = settings.limits(arguments["limits"], "limits")
            urls = settings.urls(arguments["internet_urls"], "internet_urls")
        except settings.SettingsError as problem:
            raise AnsibleActionFail(str(problem)) from problem
        machines = arguments["machines"]
        me = next((machine for machine in machines if machine["machine"] == name), None)
        if me is None:
            me = {"address": self._templar.template(self._vars.get("ansible_host")) or name, "roles": [], "serves": [],
                  "internet_urls": settings.profile().internet_urls}
        # An address that every machine takes for itself would only lead back here; checks/network.py says so.
        peers = [machine for machine in machines if machine["machine"] != name and not is_loopback(machine["address"])]
        self._stand_ins = None
        needs = settings.profile(plan["profile"]).needs if plan else {}
        if plan and plan["role_ports"] and me.get("examined"):
            edges = Edges(together(plan, self._vars["ansible_play_batch"]), needs)
            if name in edges.numbers:
                self._stand_ins = {
                    "ports": {port: len(callers) for port, callers in edges.callers(me).items()},
                    "token": self._run, "me": edges.numbers[name], "lifetime_s": self._limits["stand_in_s"]}
        if plan and plan["sampled"]:
            needed = {other["machine"] for other, _port in Edges(machines, needs).calls(me)}
            peers = some_of(peers, needed, plan["sampled"]["others"], plan["sampled"]["seed"], name)
        self._peers = [place_of(machine) for machine in peers]
        self._urls = list(urls if arguments["internet_urls"] is not None else me["internet_urls"])
        # Entries that are several names for one thing are asked for each by itself.
        of_roles = [package for role in me["roles"] if role in needs for package in needs[role].packages]
        self._packages = list(dict.fromkeys([*arguments["packages"], *(name for entry in of_roles for name in entry.split(" | "))]))
        # Of every role, since it is judged which would fit; writes are tried for its own roles only.
        of_any = [path for need in needs.values() for paths in need.disk_gb for path in paths]
        self._paths = list(dict.fromkeys(["/", *arguments["paths"], *of_any]))
        own = model.together(needs[role] for role in me["roles"] if role in needs)
        self._writes = list(dict.fromkeys([*arguments["writes"], *own.writes]))
        self._local = self._connection.transport == "local"
        self._skip = [*arguments["skip"], *(["sudo"] if self._local else ())]
        if plan and not is_asked_for(needs.values(), me["serves"]):
            self._skip.append("gpus")
        self._subset = arguments["gather_subset"]
        self._record: dict[str, t.Any] = {
            "machine": name,
            "at": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),  # by the controller's clock, see parts.py
            "address": str(me["address"]),
            "roles": list(me["roles"]),
            "local": self._local,
            "serves": list(me["serves"]),
        }

    def _prepare_connection(self) -> None:
        """Read as the user that logs in, over standard input, and without a word about how Python was found."""
        self._connection.set_become_plugin(None)
        self._play_context.become = False
        if self._connection.has_pipelining:
            # No file on the machine: a full or read-only disk does not keep it from being read.
            with contextlib.suppress(KeyError):
                self._connection.set_option("pipelining", True)
        self._vars.setdefault("ansible_python_interpreter", "auto_silent")

    def _low_level_execute_command(self, *given: t.Any, **named: t.Any) -> dict[str, t.Any]:
        answer: dict[str, t.Any] = super()._low_level_execute_command(*given, **named)
        for stream in ("stdout", "stderr"):
            answer[stream] = harmless(str(answer.get(stream) or ""))
            answer[f"{stream}_lines"] = answer[stream].splitlines()
        return answer

    def _left(self, seconds: float) -> float:
        """As many seconds for one step, or what is left of the machine's own."""
        return max(0.001, min(seconds, self._end - time.monotonic()))

    def _with_patience(self, read: t.Callable[[], None]) -> None:
        """Read something of the machine, and again where another try may do: sshd drops logins at random when many come at once."""
        for pause in PAUSES_S:
            try:
                try:
                    return read()
                except Exception as problem:
                    self._look_closer(problem)
            except Exception as problem:
                if login.cause_of(text_of(problem)) != "dropped" and not self._searches_python_again(problem):
                    raise
            time.sleep(self._left(pause * random.uniform(0.5, 1.5)))
        return read()

    def _searches_python_again(self, problem: Exception) -> bool:
        """Once, where the Python that Ansible found is none: it takes a search that was cut short for one that found nothing."""
        key, self._discovered_interpreter_key = self._discovered_interpreter_key, None
        if self._searched_again or not key or login.cause_of(text_of(problem)) != "python":
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
        # By the monotonic clock, so that a step of the controller's own clock meanwhile is not taken for the machine's.
        self._epoch = time.time() - time.monotonic()
        sent = self._now()
        with deadline(self._left(math.inf)):
            result = self._run_there("llmgw.preflight.probe", CODE, {
                "peers": self._peers, "internet_urls": self._urls, "packages": self._packages, "limits": self._limits,
                "paths": self._paths, "writes": self._writes, "skip": self._skip,
                # What comes late must not leave what nobody calls any more.
                "stand_ins": self._stand_ins and {**self._stand_ins, "within_s": self._left(math.inf)}})
        received = self._now()
        if self._discovered_interpreter_key:  # else every later task would look for Python again
            self._facts = {self._discovered_interpreter_key: self._discovered_interpreter}
        sections, self._unmeasured, readings = parts_of(result)
        self._record.update(sections)
        self._clock = Offset()
        for reading in readings:
            self._clock.narrow(reading, sent, received)

    def _read_facts(self) -> str:
        """Why Ansible's own facts could not be read, if so. By its own module: ours need not carry their code, half of all that it was."""
        try:
            self._with_patience(self._run_setup)
        except OutOfTime:
            return f"no answer within {self._limits['read_s' if time.monotonic() < self._end else 'machine_s']:g} s"
        except Exception as problem:
            return login.reason_of(text_of(problem)) or type(problem).__name__
        return ""

    def _run_setup(self) -> None:
        with deadline(self._left(self._limits["read_s"])):
            result = self._execute_module(  # without a fact_path, so that no programs of the machine's own are run
                module_name="ansible.builtin.setup", module_args={"gather_subset": self._subset, "fact_path": ""}, task_vars=self._vars)
        self._record["facts"] = facts_of(result)

    def _look_closer(self, problem: Exception) -> None:
        """Raise what really keeps the machine from being read; return when it is worth another try.

        Where ssh or Python ends before it has read the module, all that is left of the cause is a broken pipe. A tiny command
        brings out which it was.
        """
        cause = login.cause_of(text_of(problem))
        interpreter = str(self._used_interpreter or "").lstrip("#! ")
        if cause not in ("other", "python") or isinstance(problem, NotRead) and (cause == "other" or not interpreter):
            raise problem
        with deadline(self._left(math.inf)):
            self._low_level_execute_command(COMMAND, sudoable=False)
            if interpreter:
                answer = self._low_level_execute_command(f"{shlex.quote(interpreter)} -V", sudoable=False)
                said = str(answer.get("stdout") or answer.get("stderr") or "")
                if answer.get("rc"):
                    reason = login.reason_of(said) or f"exit status {answer['rc']}"
                    raise NotRead(reason if interpreter in reason else f"{interpreter}: {reason}")
                version = re.search(r"Python \d+\.\d+\.\d+", said)
                if cause == "python" and version:
                    raise NotRead(f"{interpreter} is {version.group()}, which can not run this Ansible's modules: "
                                  f"{login.reason_of(text_of(problem))}")
        if isinstance(problem, NotRead):
            raise problem

    def _now(self) -> float:
        return self._epoch + time.monotonic()

    def _read_clock(self) -> None:
        if not (self._local and self._clock.is_decided(self._limits)):  # the controller's own needs no closer look
            try:
                self._narrow_clock()
            except (AnsibleError, OSError, OutOfTime) as problem:
                display.vv(f"The clock could not be asked again: {type(problem).__name__} {problem}", host=self._record["machine"])
        if self._clock.contradicts_itself:
            self._unmeasured["clock"] = "one of the two clocks was set while they were compared"
        else:
            self._record["clock"] = self._clock.as_section()

    def _narrow_clock(self) -> None:
        """Ask for the time until every offset that is still possible gives the same verdict, or the time for it is up."""
        end = time.monotonic() + self._left(self._limits["clock_s"])
        answers, pause = 0, 0.01
        with self._asking_the_time() as ask:
            while (left := end - time.monotonic()) > 0 and not (answers >= ENOUGH and self._clock.is_decided(self._limits)):
                sent = self._now()
                text = ask(left)
                received = self._now()
                if text is None:
                    break
                reading = reading_of(text)
                if reading is None:
                    break
                self._clock.narrow(reading[0], sent, received, reading[1])
                answers += 1
                if answers >= ENOUGH:  # what kept the answers back may pass, and asking at once again would add to it
                    time.sleep(min(pause, left))
                    pause = min(2 * pause, 1.0)

    @contextlib.contextmanager
    def _asking_the_time(self) -> t.Iterator[t.Callable[[float], str | None]]:
        """A function that asks within so many seconds for the time, and returns what was printed, or None.

        Over ssh in one conversation: then a question costs one round trip and nothing starts but date, which is told from
        a wrong clock even where a round trip takes most of a second. Elsewhere a command for each.
        """
        build = getattr(self._connection, "_build_command", None)
        # A password would have to be typed, unless a connection is still open, which can't be known.
        if self._connection.transport == "ssh" and build and not (
                self._connection.get_option("password") or self._play_context.password):
            argv = build(self._connection.get_option("ssh_executable"), "ssh", "-o", "BatchMode=yes", self._connection.host, CONVERSATION)
            with Conversation(argv) as conversation:
                yield conversation.ask
        else:
            yield self._ask_the_time_once

    def _ask_the_time_once(self, seconds: float) -> str | None:
        with deadline(seconds):
            return str(self._low_level_execute_command(COMMAND, sudoable=False).get("stdout", ""))

    def _try_password(self) -> None:
        """sudo asks for a password: see whether the one that Ansible was given works."""
        plugin = become_loader.get("sudo")
        plugin.set_options(var_options={
            name: self._templar.template(self._vars[name])
            for name in ("ansible_become_password", "ansible_become_pass", "ansible_sudo_pass") if name in self._vars
        })
        if plugin.get_option("become_pass") is None:
            if not self._play_context.become_pass:
                return
            plugin.set_option("become_pass", self._play_context.become_pass)
        plugin.set_option("become_flags", "-H -S -k")  # -k: neither use nor leave a password that sudo remembers
        self._connection.set_become_plugin(plugin)
        try:
            with deadline(self._left(2 * self._limits["command_s"])):
                answer = self._low_level_execute_command("id -u")
            works = answer.get("rc") == 0 and str(answer.get("stdout") or "").split()[-1:] == ["0"]
            said = str(answer.get("stderr") or answer.get("stdout") or "")
        except OutOfTime:
            self._record.pop("sudo")
            self._unmeasured["sudo"] = "no answer after the password was given"
            return
        except AnsibleError as problem:
            works, said = False, str(problem)
        finally:
            self._connection.set_become_plugin(None)
        reason = login.reason_of(said.replace(str(plugin.get_option("become_pass")), "***"))
        self._record["sudo"] = {"how": "password_given"} if works else {
            "how": "denied", "reason": reason or "the password that was given does not work"}

    def _not_read(self, reason: str, cause: str) -> None:
        self._record["login"] = {"ok": False, "reason": reason, "cause": cause}


def text_of(problem: Exception) -> str:
    return str(getattr(problem, "message", None) or problem)
