# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What one machine is asked for, out of the plan or of the task's own arguments. Pure."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence

from . import custom, model, settings
from .checks import LOOKED_AT_BY
from .checks.gpu import is_asked_for
from .checks.network import is_loopback
from .edges import Edges, place_of, some_of, together

OF_PLAN = ("machines", "limits", "gather_subset")


class Request(t.NamedTuple):
    run: str  # of which plan; empty without one
    record: dict[str, t.Any]  # what is known of the machine before it is read
    module: dict[str, t.Any]  # the arguments of what runs on it
    facts: list[str]  # the subsets of Ansible's own that are read


def request_of(
    name: str, address: str, local: bool, arguments: Mapping[str, t.Any], plan: Mapping[str, t.Any] | None, batch: t.Iterable[str],
) -> Request:
    """For the machine of that name, which is logged in to at ``address`` where nothing else is told. Raises SettingsError."""
    arguments = {**arguments, **({**{key: plan[key] for key in OF_PLAN}, "skip": _needless(plan)} if plan else {})}
    limits, urls = settings.limits(arguments["limits"], "limits"), settings.urls(arguments["internet_urls"], "internet_urls")
    needs = settings.profile(plan["profile"]).needs if plan else {}
    machines = arguments["machines"]
    me = next((machine for machine in machines if machine["machine"] == name), None) or {
        "address": address, "roles": [], "serves": [], "internet_urls": settings.profile().internet_urls}
    own = model.together(needs[role] for role in me["roles"] if role in needs)
    # An address that every machine takes for itself would only lead back here; checks/network.py says so.
    peers = [machine for machine in machines if machine["machine"] != name and not is_loopback(machine["address"])]
    if plan and plan["sampled"]:
        needed = {other["machine"] for other, _port in Edges(machines, needs).calls(me)}
        peers = some_of(peers, needed, plan["sampled"]["others"], plan["sampled"]["seed"], name)
    skip = [*arguments["skip"], *(["sudo"] if local else ())]
    if plan and not is_asked_for(needs.values(), me["serves"]):
        skip.append("gpus")
    # Entries that are several names for one thing are asked for each by itself.
    packages = [package for entry in own.packages for package in entry.split(" | ")]
    # Of every role, since it is judged which would fit; writes are tried for its own roles only.
    paths = [path for need in needs.values() for of_role in need.disk_gb for path in of_role]
    return Request(
        run=plan["run"] if plan else "",
        record={"machine": name, "address": str(me["address"]), "roles": list(me["roles"]), "local": local, "serves": list(me["serves"])},
        module={
            "peers": [place_of(machine) for machine in peers],
            "internet_urls": list(urls if arguments["internet_urls"] is not None else me["internet_urls"]),
            "packages": _each_once(arguments["packages"], packages),
            "limits": limits,
            "paths": _each_once(["/"], arguments["paths"], paths),
            "writes": _each_once(arguments["writes"], own.writes),
            "skip": skip,
            "stand_ins": _stand_ins(plan, needs, batch, name, limits) if plan and plan["role_ports"] else None,
        },
        facts=arguments["gather_subset"],
    )


def _needless(plan: Mapping[str, t.Any]) -> list[str]:
    """The sections at which only checks look that are left out, and none of the user's own."""
    own = [check for check in plan["custom_checks"] if check["check"] not in plan["left_out"]]
    asked_for = set[str]().union(*map(custom.words, own))
    return [section for section, looking in LOOKED_AT_BY.items() if set(looking) <= set(plan["left_out"]) and section not in asked_for]


def _stand_ins(
    plan: Mapping[str, t.Any], needs: Mapping[str, model.Need], batch: t.Iterable[str], name: str, limits: Mapping[str, float],
) -> dict[str, t.Any] | None:
    """What is to listen there in place of its roles; None for a machine of another batch."""
    edges = Edges(together(plan, batch), needs)
    if name not in edges.numbers:
        return None
    number = edges.numbers[name]
    return {"ports": {port: len(callers) for port, callers in edges.callers(edges.machines[number]).items()},
            "token": plan["run"], "me": number, "lifetime_s": limits["stand_in_s"]}


def _each_once(*lists: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(entry for entries in lists for entry in entries))
