# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a variable is on a machine, with its templates worked out."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ansible import errors

Template = t.Callable[[t.Any], t.Any]
OMITTED: t.Any = getattr(errors, "AnsibleValueOmittedError", ())  # since ansible-core 2.19; before, a text stands for it


def worked_out(template: Template, value: t.Any, variables: Mapping[str, t.Any]) -> t.Any:
    """None also for what is left out with ``default(omit)``.

    Raises AnsibleError, or what a filter or lookup raises.
    """
    try:
        found = _without_omitted(template(value), variables.get("omit"))
    except OMITTED:
        return None
    # A vaulted text is none of Python's kinds of text before ansible-core 2.19.
    return found if found is None or isinstance(found, (str, int, float, list, tuple, dict)) else str(found)


def _without_omitted(value: t.Any, omitted: t.Any) -> t.Any:
    if omitted is None:
        return value
    if isinstance(value, dict):
        return {key: _without_omitted(item, omitted) for key, item in value.items() if item != omitted}
    if isinstance(value, list):
        return [_without_omitted(item, omitted) for item in value if item != omitted]
    return None if value == omitted else value


def is_template(value: t.Any) -> bool:
    """Whether there is a template in it, as far as can be seen from outside; a machine's facts are none, whatever they look like."""
    return isinstance(value, (str, dict, list)) and any(sign in str(value) for sign in ("{{", "{%"))
