from __future__ import annotations

import json

from ansible_collections.llmgw.preflight.plugins.plugin_utils.artifact import MOST, TEXT_MOST, artifact
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate


def finding(level="fail", machine="n1", waived=None, **changed):
    made = {"machine": machine, "check": "disk", "level": level, "detail": "13 GB free", "fix": "Free some."}
    return {**made, **({"waived": waived} if waived else {}), **changed}


def report(*findings, machines=1):
    return {"schema_version": 1, "worst": "fail", "counts": {"ok": 1, "warn": 1, "fail": 1}, "waived": 0,
            "machines": [{"machine": f"n{number}"} for number in range(machines)], "findings": list(findings), "fit": {}}


def test_it_holds_what_fails_and_what_is_waived_worst_first():
    waived = {"reason": "lab", "until": None}
    found = artifact(report(finding("ok"), finding("warn", waived=waived), finding("warn"), finding(waived=waived), finding(), machines=3))
    assert found == {"schema_version": 1, "worst": "fail", "counts": {"ok": 1, "warn": 1, "fail": 1}, "waived": 0, "machines": 3,
                     "findings": [finding(), finding(waived=waived), finding("warn", waived=waived)], "more": 0}


def test_what_stops_the_play_is_told_whatever_its_level():
    given = report(finding("warn"), finding("ok"), finding())
    assert [each["level"] for each in artifact(given, "warn")["findings"]] == ["fail", "warn"]
    assert [each["level"] for each in artifact(given, "never")["findings"]] == ["fail"]


def test_of_a_real_report(record):
    made = evaluate([record(cpus=1)], waived=[{"check": "cpus", "machine": "db1", "reason": "soon", "until": None}])
    (found,) = artifact(made)["findings"]
    assert (found["check"], found["waived"]["reason"]) == ("cpus", "soon")
    assert artifact(made)["worst"] == made["worst"] == "ok"


def test_it_is_bounded_whatever_the_report():
    text = "\U0001f4a3" * 5000
    found = artifact(report(*(finding(machine=text, check=text, detail=text, fix=text, waived={"reason": text, "until": None})
                              for dummy in range(3 * MOST)), machines=5000))
    assert (len(found["findings"]), found["more"]) == (MOST, 2 * MOST)
    assert len(json.dumps(found, ensure_ascii=False)) < MOST * (5 * TEXT_MOST + 200)
    assert found["findings"][0]["detail"] == f"{text[:TEXT_MOST]}..."


def test_what_is_cut_are_the_last():
    found = artifact(report(*(finding("warn", f"w{number}", {"reason": "x", "until": None}) for number in range(MOST)),
                            *(finding(machine=f"f{number}") for number in range(MOST))))
    assert {each["machine"][0] for each in found["findings"]} == {"f"}
    assert found["more"] == MOST
