from __future__ import annotations

import re
from pathlib import Path

import junitparser
import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import junit
from lxml import etree

FORM = etree.XMLSchema(etree.parse(Path(__file__).with_name("junit.xsd")))


def finding(machine, check, level, detail="d", fix="f", **waived):
    return {"machine": machine, "check": check, "level": level, "detail": detail, "fix": "" if level == "ok" else fix,
            **({"waived": waived} if waived else {})}


def report(*findings, **parts):
    names = dict.fromkeys(finding["machine"] for finding in findings if finding["machine"])
    return {
        "about": {"at": "2026-11-30T14:05:09+01:00", "version": "0.1.0", "ansible": "2.19.3", "profile": None},
        "machines": [{"machine": name, "address": f"10.{name}"} for name in names], "findings": list(findings),
        "not_examined": [], "skipped": [], "waivers": [], **parts}


def problems(written):
    root = etree.fromstring(written.encode())
    FORM.validate(root)
    return [str(error.message) for error in FORM.error_log]


def read(written):
    """(suite, case) -> what became of it, as junitparser reads it."""
    return {(case.classname, case.name): case for suite in junitparser.JUnitXml.fromstring(written.encode()) for case in suite}


def outcome(case):
    (result,) = case.result or [None]
    return type(result).__name__ if result is not None else "Warned" if case.system_out else "Passed"


def test_the_whole_of_a_small_one():
    written = junit.write(report(
        finding("db1", "login", "ok"),
        finding("db1", "disk", "fail", "13 GB free on / (needs 30)", "Free space on /."),
        finding("db1", "cpus", "warn", "1 usable (needs 2)", "Give it 2."),
        finding("n1", "login", "fail", "Connection refused", "Start it."),
        finding("n1", "memory", "warn", "900 MB", "Buy some.", reason="it is coming", until="2027-01-31"),
        finding(None, "quorum", "ok"),
        not_examined=[{"machine": "n2", "why": "batch"}, {"machine": "n3", "why": "limit"}], skipped=["sudo"],
        waivers=[{"check": "memory", "machine": ["n*", "m1"], "reason": "it is coming", "until": "2027-01-31", "state": "used"},
                 {"check": "clock", "machine": ["*"], "reason": "so be it", "until": None, "state": "unneeded"}]))
    assert written == """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="llmgw.preflight" tests="9" failures="2" errors="0" time="0">
 <testsuite name="db1" tests="3" failures="1" errors="0" skipped="0" time="0" timestamp="2026-11-30T14:05:09+01:00" hostname="10.db1">
  <testcase classname="db1" name="login" time="0" />
  <testcase classname="db1" name="disk" time="0">
   <failure type="fail" message="13 GB free on / (needs 30)">fail: 13 GB free on / (needs 30)
-&gt; Free space on /.</failure>
  </testcase>
  <testcase classname="db1" name="cpus" time="0">
   <system-out>warn: 1 usable (needs 2)
-&gt; Give it 2.</system-out>
  </testcase>
 </testsuite>
 <testsuite name="n1" tests="2" failures="1" errors="0" skipped="1" time="0" timestamp="2026-11-30T14:05:09+01:00" hostname="10.n1">
  <testcase classname="n1" name="login" time="0">
   <failure type="fail" message="Connection refused">fail: Connection refused
-&gt; Start it.</failure>
  </testcase>
  <testcase classname="n1" name="memory" time="0">
   <skipped type="skipped" message="waived: it is coming">warn: 900 MB
-&gt; Buy some.
waived until 2027-01-31: it is coming</skipped>
  </testcase>
 </testsuite>
 <testsuite name="n2" tests="1" failures="0" errors="0" skipped="1" time="0" timestamp="2026-11-30T14:05:09+01:00">
  <testcase classname="n2" name="login" time="0">
   <skipped type="skipped" message="not examined: its batch had not come">not examined: its batch had not come</skipped>
  </testcase>
 </testsuite>
 <testsuite name="n3" tests="1" failures="0" errors="0" skipped="1" time="0" timestamp="2026-11-30T14:05:09+01:00">
  <testcase classname="n3" name="login" time="0">
   <skipped type="skipped" message="not examined: --limit left it out">not examined: --limit left it out</skipped>
  </testcase>
 </testsuite>
 <testsuite name="all machines" tests="2" failures="0" errors="0" skipped="1" time="0" timestamp="2026-11-30T14:05:09+01:00">
  <properties>
   <property name="at" value="2026-11-30T14:05:09+01:00" />
   <property name="version" value="0.1.0" />
   <property name="ansible" value="2.19.3" />
   <property name="profile" value="" />
   <property name="waiver" value="memory on n*, m1 until 2027-01-31 (used): it is coming" />
   <property name="waiver" value="clock on * (unneeded): so be it" />
  </properties>
  <testcase classname="all machines" name="sudo" time="0">
   <skipped type="skipped" message="left out by preflight_only or preflight_skip">left out by preflight_only or preflight_skip</skipped>
  </testcase>
  <testcase classname="all machines" name="quorum" time="0" />
 </testsuite>
</testsuites>
"""
    assert problems(written) == []


@pytest.mark.parametrize(("findings", "told"), [
    (["ok"], "Passed"), (["warn"], "Warned"), (["fail"], "Failure"), (["ok", "warn", "ok"], "Warned"), (["warn", "fail", "ok"], "Failure"),
    (["waived", "waived"], "Skipped"), (["ok", "waived"], "Skipped"), (["waived", "warn"], "Skipped"), (["waived", "fail"], "Failure"),
])
def test_several_of_one_check_are_one_case(findings, told):
    made = [finding("m", "raid", "fail", f"number {at}", reason="r", until=None) if level == "waived" else
            finding("m", "raid", level, f"number {at}") for at, level in enumerate(findings)]
    written = junit.write(report(*made))
    (case,) = read(written).values()
    assert outcome(case) == told
    assert problems(written) == []
    full = case.system_out or "".join(result.text for result in case.result)
    assert re.findall(r"number \d", full or "") == [f"number {at}" for at, level in enumerate(findings) if level != "ok"]
    messages = {"Failure": [f"number {at}" for at, level in enumerate(findings) if level == "fail"], "Skipped": ["waived: r"]}
    assert [result.message for result in case.result] == messages.get(told, [])


def test_every_report_is_of_the_form_that_jenkins_takes(reports, evil):
    wrong = {name: problems(junit.write(made)) for name, made in {**reports, "evil": evil}.items()}
    assert wrong == dict.fromkeys((*reports, "evil"), [])


@pytest.mark.parametrize(("old", "new"), [
    (' tests="1"', ""), (' failures="1"', ""), (' failures="1"', ' failures="x"'), (' name="disk"', ""), ("testcase", "test"),
    ("<failure ", "<failure class='x' "), ("</failure>", "<b/></failure>"), ("</testcase>", "</testcase><testsuites/>"),
    ("</testcase>", '</testcase><testcase classname="m" name="disk"/>'), (' skipped="0"', ' ignored="0"'), ('"2026-', '"in 2026-'),
])
def test_what_is_not_of_the_form(old, new):
    written = junit.write(report(finding("m", "disk", "fail")))
    assert written.count(old) and problems(written) == []
    assert problems(written.replace(old, new))


def test_the_counts_are_those_of_what_is_there(reports, evil):
    for made in (*reports.values(), evil):
        root = etree.fromstring(junit.write(made).encode())
        suites = root.findall("testsuite")
        for counted, kind in (("tests", "testcase"), ("failures", "testcase/failure"), ("skipped", "testcase/skipped")):
            assert [int(suite.get(counted)) for suite in suites] == [len(suite.findall(kind)) for suite in suites]
            if counted != "skipped":
                assert int(root.get(counted)) == sum(int(suite.get(counted)) for suite in suites) == len(root.findall(f"testsuite/{kind}"))


def test_each_machine_and_each_finding_is_there(reports):
    for made in reports.values():
        cases, worst = read(junit.write(made)), {}
        for one in made["findings"]:
            at = (one["machine"] or "all machines", one["check"])
            weight = ("Passed", "Warned", "Skipped", "Failure").index(
                "Skipped" if one.get("waived") else {"ok": "Passed", "warn": "Warned", "fail": "Failure"}[one["level"]])
            worst[at] = max(weight, worst.get(at, 0))
        told = {at: ("Passed", "Warned", "Skipped", "Failure").index(outcome(case)) for at, case in cases.items()}
        untold = [*((entry["machine"], "login") for entry in made["not_examined"]), *(("all machines", check) for check in made["skipped"])]
        assert told == {**worst, **dict.fromkeys(untold, 2)}


def test_a_real_run_has_all_outcomes(every_level):
    assert {outcome(case) for case in read(junit.write(every_level)).values()} == {"Passed", "Warned", "Failure"}


def test_what_xml_can_not_hold_is_shown(evil):
    written = junit.write(evil)
    for parse in (lambda text: etree.fromstring(text.encode()), lambda text: junitparser.JUnitXml.fromstring(text.encode())):
        parse(written)
    assert "\\x1b[2J\\x1b]0;title" in written
    assert "\\ud800 \\udfff \\udc80" in written
    assert "\\ufffe\\uffff\\U0001fffe" in written
    assert "]]&gt; &lt;![CDATA[ &lt;!-- --&gt;" in written
    assert all(char == "\n" or char.isprintable() or char == "\u200e" for char in written)
    assert [node.tag for node in etree.fromstring(written.encode()).iter() if not isinstance(node.tag, str)] == []


def test_a_text_may_be_of_any_length():
    written = junit.write(report(finding("m" * 5000, "disk", "fail", "x" * 10**6, "y" * 10**6)))
    assert len(written) < 20000
    assert problems(written) == []


def test_machines_and_checks_whose_names_look_the_same_are_told_apart():
    def long(letter, middle):
        return f"{letter * 250}{middle}{letter * 100}"

    made = report(finding("a\x1b", "login", "ok"), finding("a\\x1b", "login", "fail"), finding("b", "login", "ok"),
                  *(finding(long("m", middle), "login", level) for middle, level in (("", "ok"), ("1", "fail"), ("2", "ok"))),
                  finding("b", long("x", "1"), "fail"), finding("b", long("x", "2"), "ok"),
                  finding("all machines", "disk", "fail"), finding(None, "quorum", "ok"),
                  not_examined=[{"machine": long("m", "3"), "why": "limit"}])
    written = junit.write(made)
    cases = read(written)
    assert len(cases) == 11
    assert sorted(map(outcome, cases.values())) == ["Failure"] * 4 + ["Passed"] * 6 + ["Skipped"]
    assert [check for suite, check in cases if suite == "all machines"] == ["quorum"]
    suites = {suite for suite, check in cases}
    assert len(suites) == 9
    assert {re.sub(r" \([0-9a-f]{8}\)$", " (a mark)", suite)[-21:] for suite in suites} == {
        "b", "all machines", "a\\x1b (a mark)", "all machines (a mark)", "m" * 12 + " (a mark)"}
    assert junit.write(made) == written
    assert problems(written) == []


def test_a_waiver_of_many_machines_has_its_reason():
    machines = [f"{chr(97 + at % 26) * 30}{at}" for at in range(300)]
    written = junit.write(report(finding("m", "login", "ok"), waivers=[
        {"check": "disk", "machine": machines, "reason": "it is coming", "until": None, "state": "used"}]))
    (waiver,) = re.findall(r'name="waiver" value="(.*?)"', written)
    assert re.fullmatch(r"disk on a+\[0,26,.* and \d+ more \(used\): it is coming", waiver)
