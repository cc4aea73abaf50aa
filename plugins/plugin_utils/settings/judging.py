# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a user changes of how machines are judged: waivers, checks left out, checks of their own. Pure."""

from __future__ import annotations

import datetime
import re
import typing as t
from collections.abc import Mapping, Sequence

from .. import custom, own, parts
from ..model import CHECK_ID, CHECK_ID_IS, FIX_MOST, NOT_WAIVED
from ..vaulted import without
from ..waivers import ID as OF_WAIVERS
from .values import Problems, is_list, parted, refuse, texts

ANSIBLES = re.compile(r"\[\w+:\w+(:\d+)?\]")  # a range in a pattern of hosts, which to a shell is a set of letters
WAIVER = ("check", "machine", "reason", "until")
# The keys of a check of the user's own, with what they are where they are not given.
CUSTOM: dict[str, t.Any] = {"check": "", "expect": "", "scope": "machine", "roles": (), "level": "fail", "detail": "", "fix": ""}
NOT_A_CHECK = (OF_WAIVERS, own.ID, parts.ID)  # what findings are called that no check made


def waivers(given: t.Any, name: str = "preflight_waivers") -> list[dict[str, t.Any]]:
    """What somebody has decided to live with: a list of check, machine (a list of patterns), reason, until (a day or None)."""
    problems = Problems()
    found = []
    for number, waiver in enumerate(_listed(given, name, f"it must be a list of {_and(WAIVER)}.")):
        where = f"{name}[{number}]"
        if not isinstance(waiver, Mapping):
            problems.add(where, waiver, f"it must be a mapping of {_and(WAIVER)}.")
            continue
        _look_at_keys(waiver, WAIVER, where, problems)
        check, given_to, reason, until = (waiver.get(key) for key in WAIVER)
        if not isinstance(check, str) or not CHECK_ID.fullmatch(check):
            problems.add(f"{where}.check", check, "it must be the id of a check, as the report has it.")
        elif check in NOT_WAIVED:
            problems.add(f"{where}.check", check, "this one can not be waived.")
        machine: t.Any = ["*"] if given_to is None else [given_to] if isinstance(given_to, str) else given_to
        if not is_list(machine) or not machine or not all(isinstance(pattern, str) and pattern.strip() for pattern in machine):
            problems.add(f"{where}.machine", machine, "it must be a machine's name or a pattern such as db*, or a list of them.")
        elif any(ANSIBLES.search(pattern) for pattern in machine):
            problems.add(f"{where}.machine", machine, "[1:3] is Ansible's; a pattern here has db[1-3] for one digit, or a list of names.")
        if not isinstance(reason, str) or not reason.strip():
            problems.add(f"{where}.reason", reason, "it must say why this can be lived with.")
        day = until.isoformat()[:10] if isinstance(until, datetime.date) else until
        if day is not None and not _is_day(day):
            problems.add(f"{where}.until", until, "it must be a day such as 2027-01-31, the last on which the waiver holds.")
        found.append({"check": check, "machine": machine, "reason": reason, "until": day})
    problems.stop()
    return [{"check": str(waiver["check"]), "machine": [str(pattern).strip() for pattern in waiver["machine"]],
             "reason": " ".join(str(waiver["reason"]).split()), "until": waiver["until"] and str(waiver["until"])} for waiver in found]


def _is_day(text: t.Any) -> bool:
    try:
        return isinstance(text, str) and datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def check_ids(given: t.Any, known: Sequence[str], name: str) -> tuple[str, ...]:
    """Ids of checks, all of them known ones."""
    problems = Problems()
    ids = texts(parted(given), (), name)
    for check in ids:
        if check not in known:
            problems.add(name, check, f"the known checks are {', '.join(known)}.")
        elif check == "login" and name.endswith("skip"):
            problems.add(name, check, "this one can not be skipped.")
    problems.stop()
    return tuple(dict.fromkeys(ids))


def gather_subset(given: t.Any, known: t.Collection[str], name: str = "preflight_gather_subset") -> tuple[str, ...]:
    """Subsets of Ansible's facts; one after an exclamation mark is left out."""
    problems = Problems()
    subsets = texts(parted(given), (), name)
    for subset in subsets:
        if subset.removeprefix("!") not in known:
            problems.add(name, subset, f"the known subsets are {', '.join(sorted(known))}.")
    problems.stop()
    return tuple(dict.fromkeys(subsets))


def custom_checks(
    given: t.Any, roles: t.Iterable[str], taken: t.Container[str], name: str = "preflight_custom_checks",
) -> list[dict[str, t.Any]]:
    """Checks of the user's own, whole and compiled: check, scope, roles, expect, level, detail, fix."""
    problems, roles = Problems(), list(roles)
    checks = _listed(given, name, "it must be a list of checks.")
    absent = custom.absent() if checks else None
    if absent:
        problems.append(f"{name}: {absent}.")
    found: list[dict[str, t.Any]] = []
    for number, check in enumerate(checks):
        where = f"{name}[{number}]"
        if not isinstance(check, Mapping):
            problems.add(where, check, "it must be a mapping of check, expect, fix and, if need be, roles, scope, level, detail.")
            continue
        _look_at_keys(check, tuple(CUSTOM), where, problems)
        whole = {**CUSTOM, **{key: check[key] for key in CUSTOM if check.get(key) is not None}}
        for key, must in (("check", "it must be an id of its own."), ("expect", "it must be a JMESPath expression."),
                          ("detail", "it must be a text."), ("fix", "it must say what to do.")):
            if not isinstance(whole[key], str) or not (whole[key].strip() or key == "detail"):
                problems.add(f"{where}.{key}", whole[key], must)
        if isinstance(whole["check"], str) and whole["check"].strip():
            if not CHECK_ID.fullmatch(whole["check"]):
                problems.add(f"{where}.check", whole["check"], f"{CHECK_ID_IS}.")
            elif whole["check"] in taken or whole["check"] in NOT_A_CHECK or any(whole["check"] == other["check"] for other in found):
                problems.add(f"{where}.check", whole["check"], "another check has this id.")
        whole["roles"] = [whole["roles"]] if isinstance(whole["roles"], str) else whole["roles"]
        if not is_list(whole["roles"]) or not all(role in roles for role in whole["roles"]):
            problems.add(f"{where}.roles", whole["roles"], f"it must be a list of role ids; the known ones are {', '.join(roles)}.")
        for key, allowed in (("scope", custom.SCOPES), ("level", tuple(custom.LEVELS))):
            if whole[key] not in allowed:
                problems.add(f"{where}.{key}", whole[key], f"it must be one of {', '.join(allowed)}.")
        for key, understand in (("expect", custom.compiled), ("detail", custom.parts), ("fix", custom.parts)):
            if absent or not isinstance(whole[key], str) or not whole[key].strip():
                continue
            try:
                understand(str(whole[key]))
            except custom.ExpressionError as problem:
                # As it is: what looks like a secret in an address is how JMESPath filters a list.
                told = whole[key] if len(whole[key]) <= custom.EXPRESSION_MOST else f"{whole[key][:custom.EXPRESSION_MOST]}..."
                problems.append(f"{where}.{key} is {str(told)!r}: {problem}.")
            else:
                if key == "fix" and custom.longest(str(whole[key])) > FIX_MOST:
                    problems.append(f"{where}.fix can be of {custom.longest(str(whole[key])):,} characters, each part in braces counted as "
                                    f"{custom.VALUE_MOST}: {FIX_MOST:,} at most, since reports would cut it.")
        found.append(whole)
    problems.stop()
    return [{**{key: str(value) for key, value in check.items()}, "roles": [str(role) for role in check["roles"]]} for check in found]


def nothing_hidden(checks: Sequence[custom.Check], secrets: t.Collection[str], name: str = "preflight_custom_checks") -> None:
    """Where records are saved, so are the checks by which they are judged."""
    problems = Problems()
    for number, check in enumerate(checks):
        for key in ("expect", "detail", "fix"):
            if without(check[key], secrets) != check[key]:
                problems.append(f"{name}[{number}].{key} holds a text of a vault, and would be saved in preflight_records_dir as it is. "
                                "Leave it out of the check, or the check out of runs that save what they read.")
    problems.stop()


def _listed(given: t.Any, name: str, must: str) -> Sequence[t.Any]:
    if given is None or isinstance(given, str) and not given.strip():  # a template may make text of nothing
        return ()
    if not is_list(given):
        refuse(name, given, must)
    return t.cast(Sequence[t.Any], given)


def _look_at_keys(given: Mapping[t.Any, t.Any], known: Sequence[str], where: str, problems: Problems) -> None:
    for key in given:
        if key not in known:
            problems.add(f"{where} key", key, f"the known ones are {', '.join(known)}.")


def _and(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
