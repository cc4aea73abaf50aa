# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Checks of the user's own: JMESPath expressions (https://jmespath.org) over one machine's record, or over all records. Pure.

jmespath is imported here only, and only where there is such a check.
"""

from __future__ import annotations

import functools
import json
import typing as t
from collections.abc import Mapping, Sequence

from .model import Level, Told, Verdict, fail, ok

SCOPES = ("machine", "all")
LEVELS = {"warn": Level.WARN, "fail": Level.FAIL}
FIX_BROKEN = "Correct its expect in preflight_custom_checks, so that it gives true or false there too."
TEXT_MOST = 100  # of what an expression yields

Check = Mapping[str, t.Any]  # as settings.custom_checks returns it


class ExpressionError(ValueError):
    """An expression, or a text with expressions in it, can't be understood; the message says where."""


@functools.cache
def compiled(expression: str) -> t.Any:
    """Raises ExpressionError, also where jmespath is not installed."""
    try:
        import jmespath
    except ImportError as absent:
        raise ExpressionError("the Python package jmespath is needed for it on the controller (pip install jmespath)") from absent
    try:
        return jmespath.compile(expression)
    except (jmespath.exceptions.JMESPathError, ValueError) as problem:
        raise ExpressionError(" ".join(str(problem).split())) from problem


@functools.cache
def parts(text: str) -> tuple[tuple[bool, str], ...]:
    """(whether it is an expression, its text) for each part of ``text``; expressions stand in braces. Raises ExpressionError."""
    found, plain, at = [], "", 0
    while at < len(text):
        if text[at] == "{":
            end = _end_of_braces(text, at)
            found += [(False, plain), (True, text[at + 1:end])]
            compiled(text[at + 1:end])
            plain, at = "", end + 1
        else:
            plain, at = plain + text[at], at + 1
    return tuple(part for part in (*found, (False, plain)) if part[0] or part[1])


def _end_of_braces(text: str, start: int) -> int:
    """Where the brace that opens at ``start`` closes; JMESPath's own texts ('…', "…", `…`) may hold more of them."""
    depth, at = 0, start
    while at < len(text):
        if text[at] in "'\"`":
            quote, at = text[at], at + 1
            while at < len(text) and text[at] != quote:
                at += 2 if text[at] == "\\" else 1
        else:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            if not depth:
                return at
        at += 1
    raise ExpressionError(f"the brace at character {start + 1} is not closed")


def judge(check: Check, record: Mapping[str, t.Any]) -> Verdict:
    """What one check says of one machine's record."""
    return _judge(check, {"facts": {}, **_plain(record)})


def compare(check: Check, records: Sequence[Mapping[str, t.Any]]) -> Told:
    """What one check with the scope ``all`` says of all records together."""
    return None, _judge(check, _plain(records))


def is_about(check: Check, roles: t.Container[str]) -> bool:
    """Whether a machine with these roles is among those that the check is for."""
    return not check["roles"] or any(role in roles for role in check["roles"])


def _judge(check: Check, data: t.Any) -> Verdict:
    expect = check["expect"]
    try:
        found = compiled(expect).search(data)
    except Exception as error:  # whatever an expression runs into is told of this check, and not of the others
        return fail(f"this check is broken here: {expect} raises {type(error).__name__}: {_short(error)}", FIX_BROKEN)
    if found is True:
        return ok(f"holds: {expect}")
    if found is False:
        return Verdict(LEVELS[check["level"]], _filled(check["detail"], data) or f"does not hold: {expect}", _filled(check["fix"], data))
    return fail(f"this check is broken here: {expect} gives {_short(json.dumps(found))}, which is neither true nor false", FIX_BROKEN)


def _filled(text: str, data: t.Any) -> str:
    return "".join(_value(part, data) if is_expression else part for is_expression, part in parts(text))


def _value(expression: str, data: t.Any) -> str:
    try:
        found = compiled(expression).search(data)
    except Exception as error:
        return f"({expression} raises {type(error).__name__})"
    return found if isinstance(found, str) else "unknown" if found is None else json.dumps(found, ensure_ascii=False)


def _short(text: t.Any) -> str:
    told = " ".join(str(text).split())
    return told if len(told) <= TEXT_MOST else f"{told[:TEXT_MOST]}..."


def _plain(data: t.Any) -> t.Any:
    """jmespath knows Python's own types only."""
    return json.loads(json.dumps(data, default=str))
