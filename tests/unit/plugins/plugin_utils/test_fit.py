from __future__ import annotations

import time

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import fit, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import GIB, Member, Need, together

NEEDS = settings.needs({
    "big": {"cpus": 4, "memory_mb": 8000, "disk_gb": 100},
    "small": {"cpus": 1, "memory_mb": 1000, "disk_gb": 10},
    "none": {},
}, "needs", {})
FITS = {"fits": "fits", "short": []}
NONE_READ = "could not be read: it took too long"


@pytest.fixture
def judged(asked):
    """judged({"m": (roles, {section: value, ...}), ...}): the fit of machines with 4 CPUs, 8000 MB and 100 GB but for these sections; None
    takes one away."""

    def make(machines):
        members = []
        for name, (roles, sections) in machines.items():
            record = {"cpus": 4, "memory_mb": 8000, "confinement": {"cpus": None, "memory_mb": None},
                      "disks": [{"path": "/", "free_bytes": 100 * GIB}], **sections}
            members.append(Member(name, roles, together(NEEDS[role] for role in roles),
                                  {section: value for section, value in record.items() if value is not None}))
        return fit.fit(members, NEEDS, asked())

    return make


def test_each_machine_and_each_role(judged):
    assert judged({
        "enough": (("small",), {}),
        "half": (("big",), {"cpus": 2, "disks": [{"path": "/", "free_bytes": 50 * GIB}]}),
        "little": (("big", "small"), {"memory_mb": 900}),
    }) == {
        "machines": [
            {"machine": "enough", "roles": {"big": FITS, "small": FITS, "none": FITS}},
            {"machine": "half", "roles": {
                "big": {"fits": "short", "short": [{"check": "cpus", "detail": "2 usable (needs 4)"},
                                                   {"check": "disk", "detail": "50 GB free on / (needs 100)"}]},
                "small": FITS, "none": FITS}},
            {"machine": "little", "roles": {
                "big": {"fits": "no", "short": [{"check": "memory", "detail": "900 MB (needs 8000)"}]},
                "small": {"fits": "short", "short": [{"check": "memory", "detail": "900 MB (needs 1000)"}]}, "none": FITS}},
        ],
        "moves": [{"machine": "little", "role": "big", "to": ["enough"]}],
    }


def test_the_worst_of_several_figures_decides(judged):
    (machine,) = judged({"m": ((), {"cpus": 2, "memory_mb": 100})})["machines"]
    assert machine["roles"]["big"] == {"fits": "no", "short": [
        {"check": "cpus", "detail": "2 usable (needs 4)"}, {"check": "memory", "detail": "100 MB (needs 8000)"}]}


def test_to_be_held_to_less_is_no_lack_while_it_is_enough(judged):
    (machine,) = judged({"m": ((), {"confinement": {"cpus": 2, "memory_mb": None}})})["machines"]
    assert machine["roles"] == {
        "big": {"fits": "no", "short": [{"check": "limits", "detail": "may use only 2 CPUs (shows 4, needs 4)"}]},
        "small": FITS, "none": FITS}


def test_what_could_not_be_read_is_told_and_is_nothing_that_a_move_would_mend(judged):
    found = judged({"m": (("big",), {"disks": None, "unmeasured": {"disks": "it took too long", "reach": "whatever"}}), "other": ((), {})})
    short = {"fits": "no", "short": [{"check": "disk", "detail": NONE_READ}]}
    assert found["machines"][0]["roles"] == {"big": short, "small": short, "none": FITS}
    assert found["moves"] == []


def test_a_figure_that_was_read_and_is_too_small_counts_beside_one_that_was_not(judged):
    found = judged({"m": (("big",), {"cpus": 1, "disks": None, "unmeasured": {"disks": "it took too long"}}), "other": ((), {})})
    assert found["machines"][0]["roles"]["big"]["short"] == [
        {"check": "cpus", "detail": "1 usable (needs 4)"}, {"check": "disk", "detail": NONE_READ}]
    assert found["moves"] == [{"machine": "m", "role": "big", "to": ["other"]}]


@pytest.mark.parametrize(("memory_mb", "models_mb", "moved"), [
    (8000, 6000, True),  # without the role there is room for the models, and without the models for the role
    (3000, 6000, True),  # for neither
    (3000, 2000, True),  # for the models only
    (9000, 9500, False),  # for the role only: it is the models that must go
])
def test_with_models_to_serve(judged, memory_mb, models_mb, moved):
    found = judged({"m": (("big",), {"memory_mb": memory_mb, "serves": [{"name": "a", "memory_mb": models_mb}]}), "other": ((), {})})
    assert found["machines"][0]["roles"]["big"] == {"fits": "no", "short": [{"check": "memory", "detail": (
        f"{memory_mb} MB (needs {8000 + models_mb}: 8000 for its roles, {models_mb} for a)")}]}
    assert found["machines"][0]["roles"]["none"]["fits"] == ("fits" if memory_mb >= models_mb else "no")
    assert found["moves"] == ([{"machine": "m", "role": "big", "to": ["other"]}] if moved else [])


def test_models_take_the_room_of_a_role_elsewhere(judged):
    found = judged({"m": (("big",), {"cpus": 1}), "serves": ((), {"serves": [{"name": "a", "memory_mb": 1}]})})
    assert found["moves"] == []


def test_a_move_goes_to_those_with_the_fewest_roles_first_and_names_no_more_than_some(judged):
    machines = {f"m{number:02}": (("small",), {}) for number in range(1, 13)}
    found = judged({"lacks": (("big", "small"), {"cpus": 0}), "has it": (("big",), {}), **machines, "free": ((), {})})
    names = [f"m{number:02}" for number in range(1, 13)]
    assert found["moves"] == [
        {"machine": "lacks", "role": "big", "to": ["free", *names[:9]]},
        {"machine": "lacks", "role": "small", "to": ["free", "has it"]}]


def test_nobody_was_read(judged):
    assert judged({}) == {"machines": [], "moves": []}


def test_who_has_room_for_all_roles_together_is_not_asked_for_each(judged, monkeypatch):
    """And whoever has not is told the same as by asking for each role by itself."""
    rooms = [{"cpus": cpus, "memory_mb": memory_mb, "disks": [{"path": "/", "free_bytes": free_gb * GIB}], "confinement": confinement,
              "serves": [{"name": "a", "memory_mb": memory_mb // 2}] * (cpus % 2)}
             for cpus in (0, 1, 2, 4) for memory_mb in (900, 4000, 20000) for free_gb in (4, 60, 101)
             for confinement in ({"cpus": None, "memory_mb": None}, {"cpus": 1, "memory_mb": 1000})]
    asked, ask = [], fit.checks.verdict_of
    monkeypatch.setattr(fit.checks, "verdict_of", lambda check, room, of: asked.append(check) or ask(check, room, of))
    together_ = judged({f"m{at}": ((), sections) for at, sections in enumerate(rooms)})
    calls = len(asked)
    monkeypatch.setattr(fit, "together", lambda needs: Need(cpus=10**9, memory_mb=10**9, disk_gb=({"/": 10**9},)))
    assert judged({f"m{at}": ((), sections) for at, sections in enumerate(rooms)}) == together_
    assert calls < len(asked) - calls
    asked.clear()
    monkeypatch.undo()
    monkeypatch.setattr(fit.checks, "verdict_of", lambda check, room, of: asked.append(check) or ask(check, room, of))
    judged({f"m{number}": ((), {}) for number in range(50)})
    assert len(asked) == 50 * len(fit.checks.ROOM)


def test_a_thousand_machines_of_which_half_lack_room(judged):
    """By the product of machines and roles, not of machines and machines."""
    def seconds(number):
        machines = {f"m{at}": ((("big",) if at % 2 else ()), {"disks": [{"path": "/", "free_bytes": at + 100 * GIB * (at % 2 == 0)}]})
                    for at in range(1, number + 1)}
        start = time.process_time()
        found = judged(machines)
        spent = time.process_time() - start
        assert len(found["moves"]) == (number + 1) // 2
        assert {len(move["to"]) for move in found["moves"]} == {fit.TO_MOST}
        return spent

    seconds(100)
    assert seconds(2000) < 40 * seconds(200)  # ten times as many, and a good deal for what else the machine does


def test_the_defaults_of_the_profile(asked, record):
    needs = settings.profile().needs
    found = fit.fit([Member("m", (), Need(), record())], needs, asked())
    assert found == {"machines": [{"machine": "m", "roles": dict.fromkeys(needs, FITS)}], "moves": []}
