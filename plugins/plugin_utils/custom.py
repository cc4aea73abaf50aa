# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Checks of the user's own: JMESPath expressions (https://jmespath.org) over one machine's record, or over all records. Pure.

jmespath is imported here only, and only where there is such a check. To JMESPath what is absent is null, and null is different from
everything, so that what could not be read would pass; here an expression that asks a record for what it does not hold is broken instead.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sys
import typing as t
from collections.abc import Mapping, Sequence

from .model import Level, Told, Verdict, fail, ok, warn

SCOPES = ("machine", "all")
LEVELS = {"warn": Level.WARN, "fail": Level.FAIL}
FACTS = "facts"  # the section that preflight_gather_subset asks for
FREE = ("unmeasured", "edges", "stand_ins")  # sections that may hold anything, or nothing; all others always hold the same
SOMETIMES = {"login": ("user", "uid", "reason", "cause"), "sudo": ("waited_s", "reason", "by", "user")}  # but for these
NOT_EXAMINED = "not_examined"  # the cause in the login of a machine that was left out
ORDERS = ("lt", "lte", "gt", "gte")  # what jmespath calls <, <=, > and >=
HINTS = {"=": "; equal is written ==", "and": "; and is written &&", "or": "; or is written ||"}
EXPRESSION_MOST, VALUE_MOST = 200, 200  # characters of one within a sentence
NO_ORDER = "texts have no order"
FIX_ORDERED = ("Compare numbers in its expect in preflight_custom_checks, such as to_number(...) makes of a text, or ask with == or "
               "contains(...) which text it is.")
FIX_BROKEN = "Correct its expect in preflight_custom_checks, so that it gives true or false there too."
FIX_UNREAD = ("See why it is not there (unmeasured in the record says so), or correct expect in preflight_custom_checks, so that it does "
              "without.")
FIX_NOBODY = "Give the machines their roles, or leave the check out (preflight_skip) where none is to have one of these."
FIX_NOT_EXAMINED = "Run the preflight on all machines at once (without --limit and serial) to have them judged together."

Check = Mapping[str, t.Any]  # as settings.custom_checks returns it


class ExpressionError(ValueError):
    """An expression, or a text with expressions in it, can't be understood; the message says where."""


def absent() -> str | None:
    """What to do where jmespath is not installed, else None."""
    try:
        import jmespath  # noqa: F401 - only whether it can be imported
    except ImportError:
        return f"the Python package jmespath is needed on the controller for them ({sys.executable or 'python3'} -m pip install jmespath)"
    return None


@functools.cache
def compiled(expression: str) -> t.Any:
    """Raises ExpressionError."""
    import jmespath

    try:
        found = jmespath.compile(expression)
    except (ValueError, RecursionError) as problem:  # the former are jmespath's own, and Python's of a number with too many digits
        raise ExpressionError(_words(problem)) from problem
    functions = getattr(jmespath.functions.Functions, "FUNCTION_TABLE", {})
    nodes = [found.parsed]
    while nodes:
        node = nodes.pop()
        nodes += [child for child in node.get("children", ()) if isinstance(child, dict)]
        if node["type"] == "field" and node["value"] in ("true", "false"):  # to JMESPath the name of a section, of which there is none
            raise ExpressionError(f"{node['value']} stands between backticks: `{node['value']}`")
        texts = [child["value"] for child in node.get("children", ()) if node["type"] == "comparator" and node["value"] in ORDERS
                 and child["type"] == "literal" and isinstance(child["value"], str)]
        if texts:
            raise ExpressionError(f"{_short(repr(texts[0]), VALUE_MOST)} is a text, and {NO_ORDER}: < and > are for numbers, such as "
                                  "to_number(...) makes of a text; or ask with == which it is")
        if node["type"] == "function_expression" and functions:  # else it would be found out on the machines only
            _look_at_call(node["value"], len(node["children"]), functions)
    return found


def _words(problem: Exception) -> str:
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    if type(problem).__name__ in ("EmptyExpressionError", "IncompleteExpressionError"):
        return "it ends before it is complete"
    token = str(getattr(problem, "token_value", ""))
    hint = f"; a number stands between backticks: `{token}`" if getattr(problem, "token_type", "") == "NUMBER" else HINTS.get(token, "")
    said, at = getattr(problem, "message", None) or getattr(problem, "msg", None) or problem, getattr(problem, "lex_position", None)
    return " ".join(str(said).split()) + (f" at character {at + 1}" if isinstance(at, int) else "") + hint


def _look_at_call(name: str, given: int, functions: Mapping[str, t.Any]) -> None:
    if name not in functions:
        raise ExpressionError(f"there is no function {name}(); there are {', '.join(sorted(functions))}")
    signature = functions[name]["signature"]
    at_least = bool(signature) and signature[-1].get("variadic")
    if given < len(signature) or given > len(signature) and not at_least:
        raise ExpressionError(f"{name}() takes {'at least ' if at_least else ''}{len(signature)} of what stands between its brackets, "
                              f"not {given}")


@functools.cache
def parts(text: str) -> tuple[tuple[bool, str], ...]:
    """(whether it is an expression, its text) for each part of ``text``; expressions stand in braces. Raises ExpressionError."""
    found, plain, at = [], "", 0
    while at < len(text):
        if text[at] == "{" and text[at - 1:at] != "$":  # ${NAME} is a shell's
            end = _end_of_braces(text, at)
            expression = text[at + 1:end]
            try:
                compiled(expression)
            except ExpressionError as problem:
                raise ExpressionError(f"what stands in braces is a JMESPath expression, and {_short(repr(expression), EXPRESSION_MOST)} is "
                                      f"none ({problem}); a brace itself is {{'{{'}}") from problem
            found += [(False, plain), (True, expression)]
            plain, at = "", end + 1
        else:
            plain, at = plain + text[at], at + 1
    return tuple(part for part in (*found, (False, plain)) if part[0] or part[1])


def longest(text: str) -> int:
    """Characters that it may have when its expressions are filled in."""
    return sum(VALUE_MOST if is_expression else len(part) for is_expression, part in parts(text))


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
    raise ExpressionError(f"the brace at character {start + 1} is not closed; a brace itself is {{'{{'}}")


class TextsOrdered(Exception):
    """An expression asks which text is the greater, which jmespath tells letter by letter: to it '9' is above '11'."""


@functools.cache
def _interpreter() -> type[t.Any]:
    """jmespath's own, but for the order of texts, of which the specification of JMESPath knows none."""
    from jmespath.visitor import TreeInterpreter

    def of_numbers(compare: t.Callable[[t.Any, t.Any], bool]) -> t.Callable[[t.Any, t.Any], bool]:
        def compared(left: t.Any, right: t.Any) -> bool:
            if isinstance(left, str) or isinstance(right, str):
                raise TextsOrdered(f"orders {_short(repr(left), VALUE_MOST)} and {_short(repr(right), VALUE_MOST)}, but {NO_ORDER}")
            return compare(left, right)
        return compared

    known = TreeInterpreter.COMPARATOR_FUNC
    return type("Interpreter", (TreeInterpreter,), {"COMPARATOR_FUNC": {**known, **{name: of_numbers(known[name]) for name in ORDERS}}})


def _search(expression: str, data: t.Any) -> t.Any:
    return _interpreter()().visit(compiled(expression).parsed, data)


class _Absent(Exception):
    """An expression asks for what a record does not hold."""

    def __init__(self, record: Record, key: str) -> None:
        super().__init__(key)
        self.record, self.key = record, key


class Record(dict[str, t.Any]):
    """A record as expressions see it."""

    def get(self, key: str, default: t.Any = None) -> t.Any:
        if key not in self and key != "null":  # that is no word of JMESPath's, and means what people mean by it
            raise _Absent(self, key)
        return super().get(key)


class Section(dict[str, t.Any]):
    """A section as expressions see it: what is not there is asked for by mistake, or is a fact that was not gathered."""

    def __init__(self, given: Mapping[str, t.Any], record: Record, name: str) -> None:
        super().__init__(given)
        self.record, self.name = record, name

    def get(self, key: str, default: t.Any = None) -> t.Any:
        if key not in self and key not in ("null", *SOMETIMES.get(self.name, ())):
            raise _Absent(self.record, f"{self.name}.{key}")
        return super().get(key)


Record.__name__ = Section.__name__ = "dict"  # by which jmespath knows what is an object


def seen(record: Mapping[str, t.Any]) -> Record:
    """In Python's own types, which are the only ones that jmespath knows."""
    made = Record(json.loads(json.dumps(record, default=str)))
    made.update({name: Section(section, made, name) for name, section in made.items() if isinstance(section, dict) and name not in FREE})
    return made


def unseen(machine: Mapping[str, t.Any]) -> Record:
    """One that was left out of what was examined."""
    told = {key: machine[key] for key in ("machine", "address", "roles") if key in machine}
    return seen({**told, "login": {"ok": False, "reason": "it was not examined", "cause": NOT_EXAMINED}})


def judge(check: Check, record: Record) -> Verdict:
    """What one check says of one machine's record."""
    return _judge(check, record, of_one=True)


def compare(check: Check, records: Sequence[Record]) -> Told:
    """What one check with the scope ``all`` says of all records together; what holds of no machine at all is no pass."""
    if not records:
        with contextlib.suppress(Exception):
            if _search(check["expect"], []) is False:  # since it counts them
                return None, _judge(check, [], of_one=False)
        expect, asked = _short(check["expect"], EXPRESSION_MOST), " or ".join(check["roles"])
        return None, warn(f"no machine has the role {asked}, so there was none to ask: {expect}", FIX_NOBODY)
    return None, _judge(check, list(records), of_one=False)


def words(check: Check) -> set[str]:
    """Each name in its expressions, the sections of a record that it asks for among them."""
    texts = [check["expect"], *(text for key in ("detail", "fix") for is_expression, text in parts(check[key]) if is_expression)]
    nodes, found = [compiled(text).parsed for text in texts], set[str]()
    while nodes:
        node = nodes.pop()
        nodes += [child for child in node.get("children", ()) if isinstance(child, dict)]
        if node["type"] == "field":
            found.add(node["value"])
    return found


def is_about(check: Check, roles: t.Container[str]) -> bool:
    """Whether a machine with these roles is among those that the check is for."""
    return not check["roles"] or any(role in roles for role in check["roles"])


def _judge(check: Check, data: t.Any, of_one: bool) -> Verdict:
    expect = _short(check["expect"], EXPRESSION_MOST)
    try:
        found = _search(check["expect"], data)
    except _Absent as problem:
        return _unread(expect, problem, of_one)
    except TextsOrdered as problem:
        return fail(f"this check is broken here: {expect} {problem}", FIX_ORDERED)
    except Exception as error:  # whatever an expression runs into is told of this check, and not of the others
        return fail(f"this check is broken here: {expect} raises {type(error).__name__}: {_short(error, VALUE_MOST)}", FIX_BROKEN)
    if found is True:
        return ok(f"holds: {expect}")
    if found is False:
        detail, fix = (" ".join(_filled(check[key], data).split()) for key in ("detail", "fix"))
        return Verdict(LEVELS[check["level"]], detail or f"does not hold: {expect}", fix)
    told = _short(_json(found), VALUE_MOST)
    return fail(f"this check is broken here: {expect} gives {told}, which is neither true nor false", FIX_BROKEN)


def _unread(expect: str, problem: _Absent, of_one: bool) -> Verdict:
    record, key = problem.record, problem.key
    of_whom = "" if of_one else f" of {record['machine']}"
    login, unmeasured = (dict.get(record, section) for section in ("login", "unmeasured"))
    if isinstance(login, Mapping) and login.get("ok") is not True:
        if login.get("cause") == NOT_EXAMINED:
            return warn(f"can not be told yet: {expect} asks for {key}{of_whom}, but that machine was not examined", FIX_NOT_EXAMINED)
        why = "but that machine could not be read"
    elif isinstance(unmeasured, Mapping) and key in unmeasured:
        why = f"but that was not read: {_short(unmeasured[key], VALUE_MOST)}"
    elif f'"{key}"' in expect:
        why = f"and a text stands between single quotes: '{key}'"
    elif key == FACTS:
        why = "but none were asked for (preflight_gather_subset)"
    else:
        why = "but the record does not hold that"
    return fail(f"this check is broken here: {expect} asks for {key}{of_whom}, {why}", FIX_UNREAD)


def _filled(text: str, data: t.Any) -> str:
    return "".join(_value(part, data) if is_expression else part for is_expression, part in parts(text))


def _value(expression: str, data: t.Any) -> str:
    try:
        found = _search(expression, data)
    except _Absent:
        found = None
    except Exception as error:
        found = f"({_short(expression, VALUE_MOST // 2)} raises {type(error).__name__})"
    return _short(found if isinstance(found, str) else "unknown" if found is None else _json(found), VALUE_MOST - len("..."))


def _json(found: t.Any) -> str:
    return json.dumps(found, ensure_ascii=False, default=lambda thing: "an expression")  # such as &path


def _short(text: t.Any, most: int) -> str:
    """In one line, and cut; a value may be all that a machine told."""
    told = " ".join(str(text).split())
    return told if len(told) <= most else f"{told[:most]}..."
