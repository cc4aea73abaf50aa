"""Whatever a variable of the role holds: a value that can be used, or an error that names the variable."""

from __future__ import annotations

import json

import hypothesis
import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import checks, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Need, together
from hypothesis import strategies as st
from unit import fuzz

pytestmark = pytest.mark.newest

KNOWN = settings.profile().needs
RECORDS = fuzz.machines()
NEEDS = {"database": {"cpus": 2, "cpu_level": 2, "memory_mb": 3500, "gpus": 0, "disk_gb": {"/": 5, "/var": 9}, "ports": [5432, "22"],
                      "reaches": {"node": [80], "database": [22]}, "packages": ["etcd-server | etcd"], "writes": ["/var"]},
         "node": {"disk_gb": 20, "gpu_memory_mb": 1, "ports": [80]}}
# What may be given, whole; the fuzz damages it.
GOOD = {
    "limits": {**settings.LIMITS, "clock_s": "5"},
    "needs": NEEDS,
    "packages": {"node": ["a-b | c+"], "database": []},
    "systems": {"debian": ["12", 13], "ubuntu": ["24.04"]},
    "architectures": ["x86_64", "aarch64"],
    "roles": ["database", "node"],
    "serves": [{"name": "m", "memory_mb": "5", "disk_gb": 1, "gpu_memory_mb": 2, "cpu_level": 3}],
    "internet_urls": ["http://deb.debian.org/", "https://[::1]:8080/x?y"],
    "waivers": [{"check": "disk", "machine": ["db*", "n1"], "reason": "so be it", "until": "2027-01-31"},
                {"check": "clock", "machine": "*", "reason": "r"}],
    "custom_checks": [{"check": "a", "expect": "cpus > `1`", "scope": "all", "roles": ["node"], "level": "warn", "detail": "{cpus}",
                       "fix": "f"},
                      {"check": "b", "expect": "cpus", "roles": "node", "fix": "{'{'} {cpus}"}],
    "gather_subset": ["hardware", "!all"],
    "only": ["disk", "clock"],
    "skip": "disk, clock",
    "peers": [{"machine": "x", "address": "10.0.0.1", "port": "22", "roles": ["node"]}, {"machine": "y"}],
    "profile": {"name": "p", "description": "d", "source": "s", "systems": {"debian": ["12"]}, "architectures": ["x86_64"],
                "internet_urls": [], "needs": {"node": {
                    **NEEDS["database"], "ports": [22, 80], "reaches": {"node": [80]}, "source": {"cpus": "x"}}}},
    "address": "10.0.0.1", "port": 22, "report_dir": "~/reports", "stats_key": "preflight", "fit": "yes", "fail_on": "warn",
    "report_formats": ["json"],
}
NAMED = {name: f"preflight_{name}" for name in GOOD}
# How each is looked at, as the plan does it.
LOOK = {
    "limits": settings.limits,
    "needs": lambda given, name: settings.needs(given, name, KNOWN),
    "packages": lambda given, name: settings.packages(given, KNOWN, name),
    "systems": settings.systems,
    "architectures": settings.architectures,
    "roles": lambda given, name: settings.roles(given, ("node",), KNOWN, name),
    "serves": settings.serves,
    "internet_urls": settings.urls,
    "waivers": settings.waivers,
    "custom_checks": lambda given, name: settings.custom_checks(given, KNOWN, checks.IDS, name),
    "gather_subset": lambda given, name: settings.gather_subset(given, {"all", "hardware"}, name),
    "only": lambda given, name: settings.check_ids(given, checks.IDS, name),
    "skip": lambda given, name: settings.check_ids(given, checks.IDS, name),
    "peers": lambda given, name: settings.peers(given, KNOWN, name),
    "profile": settings.profile,
    "address": settings.address,
    "port": settings.port,
    "report_dir": settings.folder,
    "stats_key": settings.key,
    "fit": lambda given, name: settings.yes_or_no(given, False, name),
    "fail_on": lambda given, name: settings.choice(given, settings.FAIL_ON, name),
    "report_formats": lambda given, name: settings.texts(given, ("json",), name),
}
# What evaluate() takes of them, by its own names.
OF_EVALUATE = {"limits": "limits", "needs": "needs", "systems": "systems", "architectures": "architectures", "waivers": "waived",
               "custom_checks": "custom_checks", "only": "only", "skip": "skip", "profile": "profile"}


def plain(value):
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, settings.Profile):
        return value.as_dict()
    if isinstance(value, Need):
        return settings.as_given(value)
    return [plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def test_what_is_good_is_taken():
    assert {name: LOOK[name](given, NAMED[name]) is not None for name, given in GOOD.items()} == dict.fromkeys(GOOD, True)


def assert_taken_or_refused(name, given):
    try:
        found = LOOK[name](given, NAMED[name])
    except settings.SettingsError as problem:
        lines = str(problem).split("\n")
        assert lines and all(NAMED[name] in line for line in lines)
        return
    told = plain(found)
    json.dumps(told)
    if name in ("needs", "packages"):
        together(found.values())
        assert plain(settings.needs(told, "again", {})) == told
    elif name not in ("fit", "fail_on", "report_dir", "profile", "peers"):
        assert plain(LOOK[name](told, NAMED[name])) == told  # what was taken once is taken again, and is the same
    if name in ("needs", "packages", "systems", "architectures"):  # of these the plan makes the profile that the judge goes by
        settings.profile({**settings.profile().as_dict(), "needs" if name == "packages" else name: told})


@pytest.mark.parametrize("name", GOOD)
def test_each_value_that_programs_stumble_over_in_each_place(name):
    whole = [GOOD[name]]
    for path in fuzz.paths(whole):
        for value in fuzz.KINDS:
            assert_taken_or_refused(name, fuzz.replaced(whole, path, value)[0])
            if isinstance(fuzz.at(whole, path), dict) and isinstance(value, str):
                assert_taken_or_refused(name, fuzz.replaced(whole, path, {**fuzz.at(whole, path), value: value})[0])


@pytest.mark.parametrize("name", GOOD)
@fuzz.fuzz(20)
@hypothesis.given(data=st.data())
def test_a_variable_of_anything(name, data):
    whole = [GOOD[name]]
    given = data.draw(fuzz.anything if isinstance(GOOD[name], (str, int)) else
                      fuzz.anything | fuzz.damages(whole).map(lambda damages: (*fuzz.damaged(whole, damages), None)[0]))
    assert_taken_or_refused(name, given)


@pytest.mark.parametrize("name", OF_EVALUATE)
@fuzz.fuzz(15)
@hypothesis.given(data=st.data())
def test_what_is_taken_can_be_judged_by(name, data):
    whole = [GOOD[name]]
    given = data.draw(fuzz.damages(whole, most=2).map(lambda damages: (*fuzz.damaged(whole, damages), None)[0]))
    try:
        report = evaluate(RECORDS, **{OF_EVALUATE[name]: given})
    except settings.SettingsError as problem:
        assert OF_EVALUATE[name] in str(problem) or "roles of" in str(problem)
        return
    assert [finding for finding in report["findings"] if finding["detail"].startswith("the rule itself broke")] == []
