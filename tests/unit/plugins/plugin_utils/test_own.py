from __future__ import annotations

import json

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import own
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import CHECK_ID_IS

FOUND = {"check": "smart", "level": "fail", "detail": "disk 2 fails", "fix": "Replace it."}


def judged(*records, **given):
    """(machine, check, level, detail, fix) of what tasks of the user's own left."""
    without = [{**record, "own_findings": None, "unmeasured": {}} for record in records]
    known = {finding["check"] for finding in evaluate(without, **given)["findings"]}
    report = evaluate(records, **given)
    return [tuple(finding.values()) for finding in report["findings"] if finding["check"] not in known]


def test_they_are_judged_with_the_others(record):
    warns = {"check": "smart", "level": "warn", "detail": "disk 1 is old", "fix": "Look at it."}
    fine = {"check": "raid", "level": "ok", "detail": "whole"}
    one = record(own_findings=[warns, fine, {**fine, "fix": 5}, {**fine, "fix": None}])
    two = record(machine="db2", own_findings=(FOUND,))
    assert judged(one, two, record(machine="db3")) == [
        ("db1", "smart", "warn", "disk 1 is old", "Look at it."), ("db1", "raid", "ok", "whole", ""), ("db1", "raid", "ok", "whole", ""),
        ("db1", "raid", "ok", "whole", ""), ("db2", "smart", "fail", "disk 2 fails", "Replace it.")]
    report = evaluate([one, two, record(machine="db3")], skip=["identity"])
    assert [machine["worst"] for machine in report["machines"]] == ["warn", "fail", "ok"]
    assert report["worst"] == "fail"


def test_one_of_a_machine_that_could_not_be_read_is_told_too(record):
    dead = {"machine": "n1", "login": {"ok": False, "reason": "refused", "cause": "refused"}, "own_findings": [FOUND]}
    assert judged(record(), dead) == [("n1", "smart", "fail", "disk 2 fails", "Replace it.")]
    assert evaluate([dead])["machines"][0]["counts"] == {"ok": 0, "warn": 0, "fail": 2}


@pytest.mark.parametrize("nothing", [None, [], (), "", " \n"])
def test_nothing_left_is_nothing_told(record, nothing):
    assert judged(record(own_findings=nothing)) == []


@pytest.mark.parametrize(("given", "detail"), [
    *((bad, f" is {told}, not a list") for bad, told in (
        ("smart is broken", "a text ('smart is broken')"), ("x" * 99, f"a text ('{'x' * 59}...)"), (5, "a number (5)"),
        (0.5, "a number (0.5)"), (FOUND, f"a mapping ({str(FOUND)[:60]}...)"), (True, "true or false (True)"), ({}, "a mapping ({})"))),
    (["smart is broken"], "[0] is a text ('smart is broken'), not a mapping"), ([None], "[0] is nothing (None), not a mapping"),
    ([[5]], "[0] is a list ([5]), not a mapping"),
    ([{}], "[0] has no text under check, level, detail, fix"),
    ([{**FOUND, "fix": ""}], "[0] has no text under fix"), ([{**FOUND, "fix": None}], "[0] has no text under fix"),
    ([{**FOUND, "detail": 5}], "[0] has no text under detail"), ([{**FOUND, "detail": " "}], "[0] has no text under detail"),
    ([{**FOUND, "level": 2}], "[0] has no text under level"), ([{**FOUND, "level": ["ok"]}], "[0] has no text under level"),
    ([{**FOUND, "level": "OK"}], "[0] has the level 'OK'"), ([{**FOUND, "level": "error"}], "[0] has the level 'error'"),
    ([{**FOUND, "level": "bad", "fix": None}], "[0] has the level 'bad'"),
    ([{**FOUND, "machine": "db2", 5: 6}], "[0] has '5', which is not known"),
    ([{**FOUND, "fixes": ""}], "[0] has 'fixes', which is not known"),
    *(([{**FOUND, "check": bad}], f"[0] has the check {bad!r}, and {CHECK_ID_IS}")
      for bad in ("SMART", "a-b", "1a", "smart\n", "ä", " smart", "a" * 61)),
    *(([{**FOUND, "check": taken}], f"[0] has the check {taken!r}, which another check is called")
      for taken in ("login", "disk", "quorum", "waivers", "own_findings", "mine")),
])
def test_what_is_none_is_not_lost(record, given, detail):
    mine = [{"check": "mine", "expect": "`true`", "fix": "x"}]
    (found,) = judged(record(own_findings=given), custom_checks=mine)
    assert found == ("db1", "own_findings", "fail", f"preflight_own_findings{detail}", own.FIX)


def test_what_can_not_be_worked_out_is_not_lost(record):
    (found,) = judged(record(unmeasured={"own_findings": "'no_such' is undefined"}))
    assert found[:4] == ("db1", "own_findings", "fail", "preflight_own_findings can not be worked out: 'no_such' is undefined")
    (found,) = judged(record(unmeasured={"own_findings": "no filter 'x'\n\nOrigin: play.yml:5"}))
    assert found[3] == "preflight_own_findings can not be worked out: no filter 'x' Origin: play.yml:5"


def test_the_good_ones_beside_a_bad_one_are_told(record):
    assert [found[1:4] for found in judged(record(own_findings=[FOUND, "x", {**FOUND, "level": "warn"}]))] == [
        ("smart", "fail", "disk 2 fails"), ("own_findings", "fail", "preflight_own_findings[1] is a text ('x'), not a mapping"),
        ("smart", "warn", "disk 2 fails")]


def test_they_can_be_left_out(record):
    left = record(own_findings=[FOUND, "junk"])
    for given in ({"skip": ["own_findings"]}, {"only": ["disk"]}):
        report = evaluate([left], **given)
        assert report["worst"] == "ok"
        assert "own_findings" in report["skipped"]
    report = evaluate([left], only=["own_findings"])
    assert [finding["check"] for finding in report["findings"]] == ["login", "smart", "own_findings"]
    assert "own_findings" not in report["skipped"]


def test_texts_are_data_and_cut(record):
    hostile = "{{ 7*6 }} {cpus} \x1b[2J " + "x" * 9999
    (found,) = judged(record(own_findings=[{**FOUND, "detail": hostile, "fix": hostile}]))
    assert found[3] == found[4] == f"{hostile[:996]} ..."
    (found,) = judged(record(own_findings=[{**FOUND, "x" * 9999: 1}]))
    assert len(found[3]) <= 1000


def test_kinds_of_texts_of_others_are_made_plain(record):
    class Text(str):
        pass

    class Kind(dict):
        pass

    report = evaluate([record(own_findings=[Kind({Text(key): Text(value) for key, value in FOUND.items()})])])
    assert json.loads(json.dumps(report)) == report
    assert {type(value) for value in next(finding for finding in report["findings"] if finding["check"] == "smart").values()} == {str}
