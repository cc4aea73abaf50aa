# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How tasks of this play on a machine become another user: the plugin that Ansible takes for it, with all its options set."""

from __future__ import annotations

import re
import typing as t
from collections.abc import Mapping
from pathlib import PurePosixPath

from ansible import constants
from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.loader import become_loader

from .. import login
from .variables import Template, worked_out

SUDO = "sudo"
become_loader.get(SUDO)  # looked for once, since the workers are forked with what is found
NO_ANSWER = r"Timeout \((\d+)s\) waiting for privilege escalation"  # Ansible's words for it
# A line that says it; sudo may print others before it, such as a lecture, and behind it.
SAYS_WHY = r"^.*(?:unknown user|does not exist|not in the sudoers|may not run|not allowed).*"


def is_on(task: t.Any, given: Mapping[str, t.Any]) -> bool:
    """Whether a task becomes another user unless it says otherwise itself; the variables are worked out."""
    become = given.get("ansible_become")
    return bool(task.become if become is None else boolean(str(become), strict=False))


def plugin_of(task: t.Any, variables: Mapping[str, t.Any], template: Template, password: str | None) -> t.Any:
    """Chosen and set as Ansible does for a task with ``become: true``; ``password`` is one that was typed, and goes behind a variable.

    Raises AnsibleError where there is no such plugin, or a variable of it can't be worked out.
    """
    name = str(worked_out(template, variables.get("ansible_become_method"), variables) or task.become_method)
    plugin = become_loader.get(name)
    if plugin is None:
        raise AnsibleError(f"there is no become plugin {name}")
    options = {key: value for key in constants.config.get_plugin_vars("become", plugin._load_name)
               if key in variables and (value := worked_out(template, variables[key], variables)) is not None}
    plugin.set_options(task_keys={**task.dump_attrs(), **({"become_pass": password} if password else {})}, var_options=options)
    return plugin


def is_usual(plugin: t.Any) -> bool:
    """Whether it becomes root by sudo with nothing set but a password, which is what the reader of the section sudo tries."""
    known = constants.config.get_configuration_definitions("become", plugin._load_name)
    return plugin.name == SUDO and all(
        plugin.get_option(option) in (None, definition.get("default")) for option, definition in known.items() if option != "become_pass")


def without_memory(plugin: t.Any) -> None:
    """Have sudo neither use nor leave a password that it remembers. Other programs do not know the flag."""
    if PurePosixPath(plugin.get_option("become_exe") or plugin.name).name == SUDO:
        plugin.set_option("become_flags", f"{plugin.get_option('become_flags') or ''} -k")


def why_not(said: str, password: str | None) -> str:
    """In one line, what was said when it did not work; empty where that was nothing."""
    silent = re.search(NO_ANSWER, said)
    if silent:
        return f"no answer within {silent.group(1)} s" + ("" if password else ", as if it asked for a password, and none is given")
    said = re.split(r"(?m)^usage:", said)[0].strip() or said  # which sudo prints behind what is wrong with its options
    says = re.search(SAYS_WHY, said, re.IGNORECASE | re.MULTILINE)
    return login.reason_of((says.group() if says else said).replace(password or "\0", "***"))
