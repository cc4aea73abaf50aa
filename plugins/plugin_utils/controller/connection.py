# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Variables of a machine by which Ansible connects to it, as Ansible's own definitions have them.

With what is wrong there Ansible would end a task on the machine before it begins, and with it the play: nobody would be told of the
others. Where there may be a password, the value is not told.
"""

from __future__ import annotations

import functools
import typing as t
from collections.abc import Mapping

from ansible import constants
from ansible.errors import AnsibleError
from ansible.playbook.play_context import PlayContext
from ansible.plugins.loader import become_loader, connection_loader, shell_loader

from .become import is_on
from .variables import OMITTED, is_template

# Of what Ansible takes whatever the plugin, that which is not any text; the port is looked at elsewhere.
KINDS = {"become": "true or false", "pipelining": "true or false", "timeout": "a number of seconds"}
BY_KEYWORD = {variable: keyword for keyword in KINDS for variable in constants.MAGIC_VARIABLE_MAPPING[keyword]}
# Those that Ansible takes as they are, so that default(omit) breaks a task; before ansible-core 2.19 that is so of all.
NEVER_OMITTED = ("ansible_become", "ansible_become_method", "ansible_connection")
Option = tuple[t.Callable[..., t.Any], Mapping[str, t.Any]]  # what works out its value, and its definition


def plugin_of(given: t.Any, task: t.Any) -> str:
    name = str(task.connection if given is None else given)
    return "ssh" if name == "smart" else name


@functools.cache
def _loaded(loader: t.Any, plugin: str) -> tuple[t.Any, str]:
    """Its class, looked for as Ansible does (a short name, or an old one, may stand for a plugin of some collection), or why there is
    none."""
    why = f"there is no such {loader.type} plugin."
    try:
        found = loader.get(plugin, class_only=True) if plugin else None
    except AnsibleError:  # there is none any more
        found = None
    except Exception as problem:  # its file can hold anything
        found, why = None, f"this {loader.type} plugin can not be loaded: {problem}."
    return found, "" if found else why


@functools.cache
def variables_of(plugin: str) -> dict[str, list[Option]]:
    """The variables by which Ansible makes such a connection, each with the plugin's options that it is for."""
    found: dict[str, list[Option]] = {variable: [] for variables in constants.MAGIC_VARIABLE_MAPPING.values() for variable in variables}
    if loaded := _loaded(connection_loader, plugin)[0]:
        of = {"plugin_type": "connection", "plugin_name": loaded._load_name}
        for option, known in constants.config.get_configuration_definitions(of["plugin_type"], of["plugin_name"]).items():
            for variable in known.get("vars") or ():
                found.setdefault(variable["name"], []).append((functools.partial(constants.config.get_config_value, option, **of), known))
    return found


def wrong_with(connection: str, given: Mapping[str, t.Any], raw: Mapping[str, t.Any], task: t.Any) -> t.Iterator[str]:
    """What is wrong with these variables, which are worked out; ``raw`` is what they were before."""
    for variable in [name for name in given if name in NEVER_OMITTED or OMITTED == () and name.startswith("ansible_")]:
        if given[variable] is None and is_template(raw.get(variable)):
            yield (f"{variable} gives nothing, as with default(omit), which Ansible does not take here: give it another default, or take "
                   "it away.")
    plugins = [("ansible_connection", connection_loader, connection),
               ("ansible_shell_type", shell_loader, str(given.get("ansible_shell_type") or "sh"))]
    if is_on(task, given):
        plugins.append(("ansible_become_method", become_loader, str(given.get("ansible_become_method") or task.become_method)))
    for variable, loader, plugin in plugins:
        if why := _loaded(loader, plugin)[1]:
            yield f"{variable} is {plugin!r}: {why}"
    options = variables_of(connection)
    for variable, value in given.items():
        if value is None:
            continue
        keyword = BY_KEYWORD.get(variable)
        if keyword and not _is_valid(keyword, value):
            yield f"{variable} is {value!r}: it must be {KINDS[keyword]}."
            continue
        for value_of, known in options.get(variable, ()):
            try:
                value_of(variables={variable: value})
            except AnsibleError:
                must = f"one of {', '.join(map(str, known['choices']))}" if "choices" in known else f"of type {known.get('type', 'str')}"
                yield f"{variable} is not as the connection plugin {connection} takes it: it must be {must}."


def _is_valid(keyword: str, value: t.Any) -> bool:
    try:
        PlayContext().get_validated_value(keyword, PlayContext.fattributes[keyword], value, None)
    except (AnsibleError, TypeError, ValueError):
        return False
    return True
