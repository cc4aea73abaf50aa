# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Texts that came out of a vault, which no message is to show.

Where a template has made a text of one, nothing tells any more that it is secret; so they are looked for among the variables. Of those in a
file that is encrypted as a whole Ansible keeps no mark. Pure.
"""

from __future__ import annotations

import contextlib
import os
import typing as t
from collections.abc import Mapping, Sequence

KINDS = ("EncryptedString", "AnsibleVaultEncryptedUnicode")  # what Ansible calls them from 2.19 on, and before
BEGINNING = 8  # characters by which a longer one is known: a message may be cut
LEAST = 3  # a shorter one would take letters out of words; it is no secret either
OF_ANSIBLE = ("hostvars", "vars")  # all variables once more


def secrets_in(*given: Mapping[str, t.Any]) -> set[str]:
    """Each text of a vault among these variables."""
    found, waiting = set[str](), [value for variables in given for name, value in variables.items() if name not in OF_ANSIBLE]
    while waiting:
        value = waiting.pop()
        if type(value).__name__ in KINDS:
            with contextlib.suppress(Exception):  # one that can not be opened nobody has seen
                found.add(str(value))
        elif isinstance(value, Mapping):
            waiting += [*value, *value.values()]
        elif isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            waiting += value
    return {secret for secret in found if len(secret) >= LEAST}


def without(text: str, secrets: t.Iterable[str]) -> str:
    """The text with three stars for each of them, also where it is cut short there, or shown as Python has it."""
    for form in sorted({form for secret in secrets for form in (secret, repr(secret)[1:-1])}, key=len, reverse=True):
        at = text.find(form[:BEGINNING])
        while at >= 0:
            text = f"{text[:at]}***{text[at + len(os.path.commonprefix([text[at:], form])):]}"
            at = text.find(form[:BEGINNING], at + 3)
    return text
