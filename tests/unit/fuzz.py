"""What the tests called test_fuzz_*.py throw at the rules, the reports and the readers.

Each run tries the same examples, few enough for CI. PREFLIGHT_FUZZ=20000 tries that many of each, others each time, for a run by hand;
what fails then is shown by the smallest example that was found, which then belongs into a test of its own.
"""

from __future__ import annotations

import copy
import os
from pathlib import Path

import hypothesis
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.edges import Edges
from hypothesis import configuration
from hypothesis import strategies as st
from unit.conftest import HEALTHY

configuration.set_hypothesis_home_dir(Path(__file__).parents[2] / ".cache" / "hypothesis")
LONG = int(os.environ.get("PREFLIGHT_FUZZ", "0"))


def fuzz(examples):
    """A test of so many examples in CI."""
    given = {"max_examples": LONG, "print_blob": True} if LONG else {"max_examples": examples, "derandomize": True, "database": None}
    phases = set(hypothesis.Phase) - {hypothesis.Phase.explain}  # which takes longer than all the rest
    return hypothesis.settings(deadline=None, suppress_health_check=list(hypothesis.HealthCheck), phases=phases, **given)


# Texts and values that programs stumble over.
TEXTS = ["", " ", "\n", "a\nb\r\nc", "\x00", "\x1b[2J\x07", "\ud800", "\udfff\udc80", "\u202e\u05d0 12", "e" + "\u0301" * 50, "\u2028",
         "\ufffe", "\U0001f468\u200d\U0001f469", "\u6f22" * 70, "x" * 5000, "9" * 5000, "0", "-1", "1e999", "NaN", "\u00b2", "\u0663",
         "true", "{{ 1 }}", "{% x", "../../etc/passwd", "/", "::1", "127.0.0.1", "[fe80::1%eth0]", "`$(id)`; '", "</script><b>]]>",
         "@all #1 [a](http://x/) | `", "'\"\\",
         "http://u:p@[x", "[" * 3000, "db1", "*", "[a-", "login", "2026-02-30", "2026-11-30T00:00:00", "10000-01-01"]
NUMBERS = [0, 1, -1, 22, 65535, 65536, 2**31, 2**63, -(2**64), 10**400, 0.0, -0.0, 0.5, 5e-324, 1e308, -1e308,
           float("nan"), float("inf"), float("-inf")]
NESTED = [[], {}, [[]], [{}], [None], {"": None}, {"machine": 5}, [{"machine": "db1"}]]
for _depth in range(40):
    NESTED[0] = [NESTED[0]]
# One of each kind, where each is tried in each place.
KINDS = [None, True, -1, 0.5, 2**63, 10**400, 1e308, NUMBERS[-3], NUMBERS[-1], "", "\n", "\x00", "\ud800", "\u00b2",
         "9" * 5000, "x" * 5000, "*", "{{ 1 }}", "http://u:p@[x", NESTED[0], [], {}, [None], {"": None}]
texts = st.one_of(st.sampled_from(TEXTS), st.text(max_size=12))
scalars = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.integers(), st.floats(), texts)
anything = st.one_of(scalars, st.sampled_from(NESTED), st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)), max_leaves=8))


def paths(value, so_far=()):
    """Each place in a structure of mappings and lists."""
    yield from ([so_far] if so_far else [])
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(inner, (*so_far, key))


def at(whole, path):
    for key in path:
        whole = whole[key]
    return whole


def damages(whole, most=4):
    """Some of the places of a structure, with what is to become of each."""
    places = list(paths(whole))
    place = st.sampled_from(places)
    replaced, removed = st.tuples(place, st.just("replace"), anything), st.tuples(place, st.just("remove"), st.none())
    added, swapped = st.tuples(place, st.just("add"), st.tuples(texts, anything)), st.tuples(place, st.just("swap"), place)
    return st.lists(st.one_of(replaced, replaced, removed, added, swapped), min_size=1, max_size=most)


def replaced(whole, path, value):
    """The same with another value at one place; what is not on the way there is shared."""
    if not path:
        return value
    changed = whole.copy()
    changed[path[0]] = replaced(whole[path[0]], path[1:], value)
    return changed


def damaged(whole, damages):
    whole = copy.deepcopy(whole)
    for path, how, value in damages:
        try:
            parent = at(whole, path[:-1])
            if how == "replace":
                parent[path[-1]] = value
            elif how == "remove":
                del parent[path[-1]]
            elif how == "swap":
                parent[path[-1]] = copy.deepcopy(at(whole, value))
            elif isinstance(parent, list):
                parent.insert(path[-1], value[1])
            else:
                parent[value[0]] = value[1]
        except (LookupError, TypeError):  # what was there is gone by now
            continue
    return whole


# ------------------------------------------------------------------------------------------------- healthy machines
ROLES = {"db1": ["database"], "db2": ["database"], "w1": ["etcd_witness"], "n1": ["node", "control_plane"]}


def machines():
    """Records of machines that nothing is wrong with, with all that a record can hold."""
    needs = settings.profile().needs
    edges = Edges([{"machine": name, "roles": roles} for name, roles in ROLES.items()], needs)
    made = []
    for number, (name, roles) in enumerate(ROLES.items(), 1):
        me = edges.machines[number - 1]
        calls = list(edges.calls(me))
        made.append({
            **copy.deepcopy(HEALTHY), "machine": name, "address": f"10.0.0.{number}", "roles": roles, "batch": "b", "controller": "c",
            "identity": {"machine_id": f"{number:032x}", "host_keys": [f"SHA256:{number}"], "hostname": name,
                         "addresses": [f"10.0.0.{number}"], "macs": [f"52:54:00:00:00:{number:02x}"]},
            "reach": {"tried": len(ROLES) - 1, "open": len(ROLES) - 1, "seconds": {"median": 0.0004, "max": 0.012}, "not_open": []},
            "stand_ins": {"pid": 7, "open": sorted({port for role in roles for port in needs[role].ports}), "held": [], "not_opened": []},
            "edges": {"tried": len(calls), "open": len(calls), "not_open": [], "seconds": {"median": 0.0004, "max": 0.012}, "elsewhere": [],
                      "slowest": {"machine": "db1" if name != "db1" else "db2", "seconds": 0.001},
                      "measured": sorted({other["machine"] for other, port in calls if port == 2380}), "asked": len(calls)},
            "memory_mb": 64000, "cpus": 16, "cpus_online": 16, "silent_mounts": [],
        })
    return made
