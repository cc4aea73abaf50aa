# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Checks the role's variables and settles, once for the play, what is asked of each machine."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import typing as t
import uuid
from pathlib import Path

from ansible import constants as C
from ansible.errors import AnsibleError
from ansible.module_utils.facts import collector, default_collectors
from ansible.plugins.action import ActionBase
from ansible_collections.llmgw.preflight.plugins.plugin_utils import checks, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.controller import connection
from ansible_collections.llmgw.preflight.plugins.plugin_utils.controller.inventory import passed_over
from ansible_collections.llmgw.preflight.plugins.plugin_utils.controller.variables import is_template, worked_out
from ansible_collections.llmgw.preflight.plugins.plugin_utils.edges import Edges
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import known_ids, skipped
from ansible_collections.llmgw.preflight.plugins.plugin_utils.files import MODES, in_the_way
from ansible_collections.llmgw.preflight.plugins.plugin_utils.left import CALLS, CLOSED, PLAN, PROBE
from ansible_collections.llmgw.preflight.plugins.plugin_utils.own import VARIABLE as OWN_FINDINGS
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import FILES
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports.text import names
from ansible_collections.llmgw.preflight.plugins.plugin_utils.vaulted import secrets_in, without


def usable_folder(given: t.Any, name: str) -> str | None:
    folder = settings.folder(given, name)
    if folder and (found := in_the_way(folder)):
        raise settings.SettingsError(f"{name} is {folder!r}: {found} is no folder. Take it away, or name another folder.")
    return folder


# Of what is done with the report: how each is checked, and what it may be.
OF_REPORT: dict[str, tuple[t.Any, ...]] = {
    "fit": (settings.yes_or_no, False), "fail_on": (settings.choice, settings.FAIL_ON), "report_dir": (usable_folder,),
    "report_formats": (settings.choices, tuple(FILES), ("json",)), "report_mode": (settings.choice, MODES), "fix_script": (usable_folder,),
    "stats_key": (settings.key,)}
# What may differ from machine to machine, and what may not: there is one judgement for the play.
ADDRESSES = ("preflight_address", "ansible_host", "ansible_ssh_host")  # the first that is set counts
PORTS = ("preflight_port", "ansible_port", "ansible_ssh_port")
OF_A_MACHINE = (
    "preflight_roles", "preflight_serves", "preflight_internet_urls", "group_names", "ansible_connection", *ADDRESSES, *PORTS)
OF_ALL = (
    "profile", "needs", "packages", "systems", "architectures", "limits", "role_ports", "custom_checks", "gather_subset", "only", "skip",
    "waivers", "peers", "records_dir", *OF_REPORT)
# And those of the playbooks, of tasks of the user's own, and what the role registers.
BESIDES = ("preflight_hosts", "preflight_records", OWN_FINDINGS, PLAN, PROBE, CALLS, CLOSED, "preflight_uncalled", "preflight_report")
KNOWN = frozenset((*(f"preflight_{name}" for name in OF_ALL), *OF_A_MACHINE, *BESIDES))
OTHERS = 5  # by lot, that a machine tries where not all pairs are tried


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: t.Any = None, task_vars: dict[str, t.Any] | None = None) -> dict[str, t.Any]:
        super().run(tmp, task_vars)
        task_vars = task_vars or {}
        arguments = self.validate_argument_spec(argument_spec={
            name: {"type": "raw"} for name in OF_ALL
        })[1]
        settle = settings.Settle()
        strategy = str(self._task.get_play().strategy)
        if strategy.rpartition(".")[2].endswith(("free", "host_pinned")):
            settle.wrong(f"the strategy of this play is {strategy}: it lets the first machine go on before the others are read, so "
                         "they can not be judged together. Put the preflight in a play of its own with strategy: linear.")
        if self._task.delegate_to:
            settle.wrong(settings.DELEGATED)
        for source in passed_over(task_vars["hostvars"]._inventory):
            settle.wrong(f"the inventory {source} could not be read, or not to its end, so machines may be missing; Ansible says above "
                         "what is wrong with it. Correct it, or leave it out.")

        # A file is looked for as the play's own files are, and else from where Ansible was started.
        profile = settle(settings.profile_file, arguments["profile"], "preflight_profile", (task_vars["playbook_dir"], os.getcwd()))
        limits = settle(settings.limits, arguments["limits"])
        subset = settle(settings.gather_subset, arguments["gather_subset"], fact_subsets())
        waivers = settle(settings.waivers, arguments["waivers"])
        records_dir = settle(usable_folder, arguments["records_dir"], "preflight_records_dir")
        role_ports = settle(settings.yes_or_no, arguments["role_ports"], True, "preflight_role_ports")
        of_report = {name: settle(check, arguments[name], *given, f"preflight_{name}") for name, (check, *given) in OF_REPORT.items()}
        changed = {figure: settle(check, arguments[figure], f"preflight_{figure}")
                   for figure, check in (("systems", settings.systems), ("architectures", settings.architectures))
                   if arguments[figure] is not None}
        needs: t.Any = {}
        custom_checks, peers = None, []
        if profile:  # what the roles are, and so what names them, it alone says
            needs = settle(settings.needs, arguments["needs"], "preflight_needs", profile.needs) or profile.needs
            needs = settle(settings.packages, arguments["packages"], needs) or needs
            profile = dataclasses.replace(profile, needs=needs, **changed)
            custom_checks = settle(settings.custom_checks, arguments["custom_checks"], needs, checks.IDS)
            peers = settle(settings.peers, arguments["peers"], needs) or []
            if records_dir and custom_checks:
                settle(settings.nothing_hidden, custom_checks, secrets_in(task_vars))
        ids = known_ids(named(arguments["custom_checks"]) if custom_checks is None else custom_checks)
        only, skip = (settle(settings.check_ids, arguments[which], ids, f"preflight_{which}") for which in ("only", "skip"))

        machines: list[dict[str, t.Any]] = []
        self._names: set[str] = set()  # of the variables of all of them
        port = self._task.port or C.DEFAULT_REMOTE_PORT
        examined = dict.fromkeys(task_vars["ansible_play_hosts_all"])
        for name in self._in_order(task_vars, examined):
            own = self._variables_of(name, name in examined, task_vars, settle)
            if own is None:
                continue
            address, address_from = first_of(own, ADDRESSES, name)
            own_port, port_from = first_of(own, PORTS, port)
            machines.append({
                "machine": str(name),
                "examined": name in examined,
                **({} if name in examined else {"why": "limit"}),
                "address": settle(settings.address, address, address_from, machine=name),
                "port": settle(settings.port, own_port, port_from, machine=name),
                "roles": profile and settle(
                    settings.roles, own["preflight_roles"], own["group_names"], needs, "preflight_roles", machine=name),
                "serves": settle(settings.serves, own["preflight_serves"], "preflight_serves", machine=name),
                "internet_urls": profile and profile.internet_urls if own["preflight_internet_urls"] is None else settle(
                    settings.urls, own["preflight_internet_urls"], machine=name),
            })
        hints = settings.misspelt(self._names, KNOWN)
        if settle.problems:
            return {**self._refused(settle.problems, task_vars), "warnings": hints}
        names_ = {machine["machine"] for machine in machines}
        machines += [{**peer, "examined": False, "why": "peer"} for peer in peers if peer["machine"] not in names_]
        play, earlier, run = self._task.get_play(), task_vars.get("preflight_plan") or {}, uuid.uuid4().hex
        many = len(machines) > limits["all_pairs"]
        if not role_ports or "role_ports" in skip:  # then nothing is tried by which the other could be measured
            skip = (*skip, *checks.THROUGH_PORTS)
        left_out = skipped(ids, only, skip)
        role_ports = not set(checks.THROUGH_PORTS) <= set(left_out)
        return {
            "changed": False,
            "run": run,
            "play": str(play._uuid),
            "batches": bool(play.serial),
            # This batch was read before: what was read then is not what is judged now.
            "superseded": [*earlier.get("superseded", ()), earlier["run"]] if earlier.get("play") == str(play._uuid) else [],
            "machines": machines,
            "role_ports": role_ports and Edges(machines, needs).any(examined),
            # Each attempt makes an sshd fork, and newer ones punish whoever calls and does not log in.
            "sampled": {"machines": len(machines), "others": OTHERS, "seed": run[:6]} if many else None,
            "profile": profile.as_dict(),
            "limits": limits,
            "custom_checks": custom_checks,
            "gather_subset": list(subset),
            "left_out": left_out,  # in a result of Ansible's, skipped has a meaning of its own
            "waivers": waivers,
            "records_dir": records_dir,
            **of_report,
            "controller": boot_id(),
            "warnings": hints,
            "_ansible_verbose_override": True,
        }

    def _refused(self, problems: dict[str, list[str]], task_vars: dict[str, t.Any]) -> dict[str, t.Any]:
        """The result that tells them all, and nothing out of a vault.

        Not raised: ansible-core 2.16 would put an exception's text before it.
        """
        hostvars = task_vars["hostvars"]
        seen = (hostvars._variable_manager.get_vars(play=self._task.get_play(), host=hostvars._inventory.get_host(machine), task=self._task)
                for machine in {machine for on in problems.values() for machine in on})
        secrets = secrets_in(task_vars, *seen)
        told = [f"{without(problem, secrets)} ({names(on)})" if on else without(problem, secrets) for problem, on in problems.items()]
        return {"failed": True, "changed": False, "msg": "Nothing was read, because:\n" + "\n".join(told)}

    def _in_order(self, task_vars: dict[str, t.Any], examined: t.Iterable[str]) -> list[str]:
        """The machines of the play, also those that --limit leaves out: those that are examined must reach them all the same."""
        if not task_vars.get("ansible_limit"):
            return list(examined)
        pattern = self._templar.template(self._task.get_play().hosts)
        hosts = task_vars["hostvars"]._inventory.get_hosts(pattern, ignore_limits=True, ignore_restrictions=True)
        return list(dict.fromkeys([*(host.name for host in hosts), *examined]))

    def _variables_of(
        self, name: str, examined: bool, task_vars: dict[str, t.Any], settle: settings.Settle,
    ) -> dict[str, t.Any] | None:
        """One machine's own variables, as a task of this play on that machine would see them.

        hostvars alone would not do: it knows neither the variables of the play nor those given to the role.
        """
        hostvars = task_vars["hostvars"]
        manager, inventory = hostvars._variable_manager, hostvars._inventory
        seen = manager.get_vars(play=self._task.get_play(), host=inventory.get_host(name), task=self._task)
        self._names.update(seen)
        templar = self._templar.copy_with_new_env(available_variables=seen)
        for key in OF_ALL:
            key = f"preflight_{key}"
            if seen.get(key) != task_vars.get(key) or self._differs(seen.get(key), templar):
                settle.wrong(f"{key} is not the same for all machines, as it must be: there is one judgement for the play. "
                             "Set it for the play, or for the group all.", name)
        own: dict[str, t.Any] = {}

        def work_out(keys: t.Iterable[str]) -> None:
            for key in keys:
                try:
                    own[key] = worked_out(templar.template, seen.get(key), seen)
                except AnsibleError as problem:
                    settle.wrong(f"{key} can not be worked out: {problem.message}", name)

        work_out(OF_A_MACHINE)
        if examined and "ansible_connection" in own:
            plugin = connection.plugin_of(own["ansible_connection"], self._task)
            work_out(key for key in connection.variables_of(plugin) if key in seen and key not in own)
            for problem in connection.wrong_with(plugin, own, seen, self._task):
                settle.wrong(problem, name)
        return own if own.keys() >= set(OF_A_MACHINE) else None

    def _differs(self, value: t.Any, templar: t.Any) -> bool:
        """Whether what stands there for all is a template that is something else on this machine than on the first."""
        if not is_template(value):
            return False
        with contextlib.suppress(AnsibleError):  # what can not be worked out is no figure for anybody
            return bool(worked_out(templar.template, value, templar.available_variables)
                        != worked_out(self._templar.template, value, self._templar.available_variables))
        return True


def named(given: t.Any) -> list[dict[str, t.Any]]:
    """Of checks of the user's own that can't be used as they are, those with a name, so that it is not called unknown besides."""
    return [check for check in given if isinstance(check, dict) and isinstance(check.get("check"), str)] if isinstance(given, list) else []


def fact_subsets() -> set[str]:
    """What Linux machines can be asked for; theirs is the code that is here."""
    collectors = collector.find_collectors_for_platform(default_collectors.collectors, [{"system": "Linux"}, {"system": "Generic"}])
    return {"all", "min", *collector.build_fact_id_to_collector_map(collectors)[0]}


def boot_id() -> str:
    """By which controllers are told apart whose clocks may differ; containers on one system have one clock, and one of these."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{uuid.getnode():x}"


def first_of(own: dict[str, t.Any], variables: tuple[str, ...], otherwise: t.Any) -> tuple[t.Any, str]:
    """The first of these variables that is set, with its name."""
    return next(((own[name], name) for name in variables if own[name] not in (None, "")), (otherwise, variables[0]))
