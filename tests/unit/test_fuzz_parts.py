"""Whatever saved records hold, and whatever a machine printed: a judgement, or the error that says what is wrong with it."""

from __future__ import annotations

import copy
import datetime
import json

import hypothesis
import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import login, offset, parts, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import RecordsError, evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.left import not_reached, stand_ins_of
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import NotRead, edges_of, facts_of, harmless, parts_of
from hypothesis import strategies as st
from unit import fuzz

pytestmark = pytest.mark.newest

NOW = datetime.datetime(2026, 11, 30, 12, 0, tzinfo=datetime.UTC)
PLAN = {"profile": settings.profile().as_dict(), "limits": settings.limits(None), "custom_checks": [], "left_out": [],
        "waivers": [{"check": "disk", "machine": ["db*"], "reason": "so be it", "until": None}],
        "sampled": {"machines": 4, "others": 5, "seed": "abc"}}
MACHINES = [{"machine": name, "address": f"10.0.0.{number}", "port": 22, "roles": roles, "examined": True, "serves": [],
             "internet_urls": []}
            for number, (name, roles) in enumerate(fuzz.ROLES.items(), 1)]


def saved(*examined):
    """What a run over these machines saves, which knows of the others."""
    seen = [machine if machine["machine"] in examined else {**machine, "examined": False, "why": "limit"} for machine in MACHINES]
    records = [record for record in fuzz.machines() if record["machine"] in examined]
    return json.loads(json.dumps(parts.part_of({**PLAN, "machines": seen}, records, {"at": NOW.isoformat(), "version": "1.0"}, ["x1"])))


FILES = {"a.json": saved("db1", "db2"), "b.json": saved("w1", "n1")}


def judged(files):
    """As the action parts does it."""
    try:
        whole = parts.whole(files, "1.0", NOW)
        taken = whole.settings
        report = evaluate(whole.records, limits=taken["limits"], profile=taken["profile"], custom_checks=taken["custom_checks"],
                          skip=taken["left_out"], waived=taken["waivers"], today=NOW.date(), elsewhere=whole.elsewhere, told=whole.findings)
    except (parts.PartsError, RecordsError, settings.SettingsError) as problem:
        assert str(problem)
        return None
    assert [finding for finding in report["findings"] if finding["detail"].startswith("the rule itself broke")] == []
    return report


def test_what_was_saved_is_judged():
    assert {machine["machine"] for machine in judged(FILES)["machines"]} == set(fuzz.ROLES)


@fuzz.fuzz(40)
@hypothesis.given(fuzz.damages(FILES))
def test_files_with_something_else_in_some_places(damages):
    files = fuzz.damaged(FILES, damages)
    if all(isinstance(name, str) for name in files):
        judged(files)


def test_each_value_that_programs_stumble_over_in_each_place():
    """All of them in a long run, some of them in CI; of the records little, which have tests of their own."""
    tried = [(path, value) for path in fuzz.paths(FILES) if "records" not in path or len(path) < 5 for value in fuzz.KINDS]
    for path, value in tried if fuzz.LONG else tried[::37]:
        judged(fuzz.replaced(FILES, path, value))


# ---------------------------------------------------------------------------------------------- what a machine printed
RECORD = fuzz.machines()[0]
PRINTED = {
    "sections": {name: RECORD[name] for name in ("login", "system", "clock", "stand_ins")}, "unmeasured": {"gpus": "no answer"},
    "started": 1.5, "ended": 2.5, "ansible_facts": {"ansible_x": {"y": [1, "z"]}}, "edges": RECORD["edges"], "changed": False,
    "module_stdout": json.dumps({"sections": {"login": {"ok": True}}, "unmeasured": {}, "started": 1, "ended": 2}), "module_stderr": "",
    "msg": "MODULE FAILURE", "failed": False,
}


@fuzz.fuzz(150)
@hypothesis.given(fuzz.damages(PRINTED), fuzz.texts)
def test_a_result_of_anything(damages, text):
    result = fuzz.damaged(copy.deepcopy(PRINTED), damages)
    for read in (parts_of, facts_of, edges_of):
        try:
            found = read(result)
        except NotRead as problem:
            str(problem).encode()
            continue
        json.dumps(found, ensure_ascii=False).encode()
    sections = result.get("sections")
    if isinstance(sections, dict):
        stand_ins_of(sections)
        not_reached({"run": "r", "edges": result.get("edges")}, "r")


@fuzz.fuzz(100)
@hypothesis.given(st.text() | fuzz.texts | st.from_regex(offset.READING), fuzz.anything)
def test_words_of_anything(text, other):
    assert login.reason_of(text).isprintable() or len(login.reason_of(text)) <= 300
    assert login.cause_of(text) in {cause for cause, _words in login.CAUSES} | {"other"}
    reading = offset.reading_of(other if other is None else text)
    assert reading is None or 0 <= reading[0] < 10**12 + 1
    told = harmless(text)
    assert not set(told) & {chr(code) for code in (*range(9), 11, 12, *range(14, 32), *range(127, 160))}
