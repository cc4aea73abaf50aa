# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Texts that came out of a vault, which no message is to show.

Where a template has made a text of one, nothing tells any more that it is secret; so they are looked for among the variables, and known
again in what filters most often make of them, not in all (a hash). Of those in a file that is encrypted as a whole Ansible keeps no mark.
Pure.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
import typing as t
from collections.abc import Mapping, Sequence
from urllib.parse import quote, quote_plus

KINDS = ("EncryptedString", "AnsibleVaultEncryptedUnicode")  # what Ansible calls them from 2.19 on, and before
BEGINNING, CUT = 8, "..."  # characters by which a longer one is known where a message is cut, and what then follows
NAMES = ("machine", "check", "level", "state")  # by which findings and waivers are known, and which must stay what they are
LEAST = 3  # a shorter one would take letters out of words; it is no secret either
OF_ANSIBLE = ("hostvars", "vars", "ansible_delegated_vars")  # all variables once more, which would all be worked out


def secrets_in(*given: Mapping[str, t.Any]) -> set[str]:
    """Each text of a vault among these variables."""
    found, waiting = set[str](), list[t.Any](given)
    while waiting:
        value = waiting.pop()
        if type(value).__name__ in KINDS:
            with contextlib.suppress(Exception):  # one that can not be opened nobody has seen
                found.add(str(value).strip())
        elif isinstance(value, Mapping):
            names = [name for name in value if name not in OF_ANSIBLE]
            waiting += [*names, *(value[name] for name in names)]
        elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            waiting += value
    return {secret for secret in found if len(secret) >= LEAST}


def without(text: str, secrets: t.Iterable[str]) -> str:
    """The text with three stars for each of them, also where it is cut short there, made one line of, or shown as Python or JSON has it."""
    forms = _forms(frozenset(secrets))
    begun = forms.keys() & {text[at:at + LEAST] for at in range(len(text))} if forms else ()
    for form in sorted({form for beginning in begun for form in forms[beginning]}, key=len, reverse=True):
        at = text.find(form[:BEGINNING])
        while at >= 0:
            end, on = at + len(os.path.commonprefix([text[at:], form])), at + 1
            if end - at == len(form) or text[end:end + len(CUT)] in ("", CUT):
                text, on = f"{text[:at]}***{text[end:]}", at + 3
            at = text.find(form[:BEGINNING], on)
    return text


@functools.lru_cache(maxsize=4)  # since it is asked for each text of a report
def _forms(secrets: frozenset[str]) -> dict[str, list[str]]:
    """As they are shown, and as the filters upper, lower, b64encode and urlencode make them, by how they begin."""
    found = set[str]()
    for secret in secrets:
        for made in (secret, secret.upper(), secret.lower()):
            found |= {made, " ".join(made.split()), repr(made)[1:-1], json.dumps(made)[1:-1]}
        for made in (secret, f"{secret}\n"):  # the end of the line, which secrets_in takes away, is encoded with the rest
            encoded = made.encode(errors="replace")
            found |= {base64.b64encode(encoded).decode(), quote(encoded), quote_plus(encoded)}
    return {beginning: [form for form in found if form.startswith(beginning)] for beginning in {form[:LEAST] for form in found}}


def untold(given: t.Any, secrets: t.Collection[str]) -> t.Any:
    """The same data, findings or waivers, with none of these in what they say.

    Commands that hold one are left out: with stars they would be others.
    """
    if isinstance(given, str):
        return without(given, secrets)
    if isinstance(given, Mapping):
        return {key: value if key in NAMES else untold(value, secrets) for key, value in given.items()
                if key != "commands" or value == untold(value, secrets)}
    return [untold(value, secrets) for value in given] if isinstance(given, (list, tuple)) else given
