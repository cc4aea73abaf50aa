# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is asked for besides needs and limits: as much of it as a later report must know to tell whether less is asked. Pure."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import typing as t
from collections import Counter
from collections.abc import Mapping, Sequence

from . import custom
from .model import Asked, Member, Unmeasured, asked_by_models, section
from .settings.machine import MAY_ASK


def asked_besides(
    common: Asked, own_checks: Sequence[custom.Check], members: Sequence[Member], read: Sequence[Member],
) -> dict[str, t.Any]:
    """What is asked for besides needs and limits, as far as changes.py must tell whether it is less than before."""
    urls = {}
    for one in read:
        with contextlib.suppress(Unmeasured):
            urls[one.name] = tuple(sorted({_digest(tried["url"]) for tried in section(one.record, "internet", [{"url": str}])}))
    usual = next((each for each, _times in Counter(urls.values()).most_common(1)), ())
    machines = {}
    for one in members:
        its: dict[str, t.Any] = {}
        if one.record.get("serves") and (serves := _of_models(one.record)):
            its["serves"] = serves
        if urls.get(one.name, usual) != usual:
            its["internet_urls"] = urls[one.name]
        if its:
            machines[one.name] = its
    return {
        "systems": common.systems, "architectures": common.architectures, "internet_urls": usual,
        "custom_checks": {check["check"]: _digest(*(check[key] for key in ("expect", "scope", "level")), *sorted(check["roles"]))
                          for check in own_checks},
        "machines": machines,
    }


def _of_models(record: Mapping[str, t.Any]) -> dict[str, int]:
    """The figures of all models that the machine will serve together, as the checks add them up."""
    found = {}
    for figure in ("memory_mb", *MAY_ASK):
        with contextlib.suppress(Unmeasured):
            amounts = [amount for _name, amount in asked_by_models(record, figure) if amount > 0]
            if amounts:
                found[figure] = max(amounts) if figure == "cpu_level" else sum(amounts)
    return found


@functools.cache
def _digest(*texts: str) -> str:
    """By which to see that something is another one; what it is may be a secret."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:8]
