# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Data in JSON's own types. Ansible has kinds of text and of containers of its own, which are slower and mean something to it. Pure."""

from __future__ import annotations

import dataclasses
import typing as t
from collections.abc import Mapping, Sequence

SINGLE = frozenset({str, int, float, bool, type(None)})
TEXT = frozenset({str})


def plain(value: t.Any) -> t.Any:
    """The same in nothing but dict, list, str, int, float, bool and None, with texts as keys; what is so already is not copied.

    Raises TypeError where there is something else, as json.dumps does.
    """
    kind = type(value)
    if kind in SINGLE:
        return value
    if kind is dict and SINGLE.issuperset(map(type, value.values())) and TEXT.issuperset(map(type, value)):
        return value
    if isinstance(value, Mapping):
        return {str.__str__(key): inner if type(inner) in SINGLE else plain(inner) for key, inner in value.items()}
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [inner if type(inner) in SINGLE else plain(inner) for inner in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):  # as are the warnings that Ansible puts beside what is registered
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(f"{kind.__name__} has no form in JSON")
