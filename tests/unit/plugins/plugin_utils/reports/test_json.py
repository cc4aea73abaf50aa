from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import jsonschema
import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import SCHEMA_VERSION
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import json as writer

SCHEMA = json.loads((Path(__file__).parents[5] / "docs" / "report.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def problems(report):
    return [f"{error.json_path}: {error.message}"[:300] for error in VALIDATOR.iter_errors(report)]


def test_every_report_is_of_the_form(reports):
    assert {name: problems(json.loads(writer.write(report))) for name, report in reports.items()} == dict.fromkeys(reports, [])


def test_these_reports_hold_everything_that_the_form_knows(reports):
    """Else the form would not be tried."""
    made = reports.values()
    assert {part for report in made for part, value in report.items() if value} == set(SCHEMA["properties"])
    states = {waiver["state"] for report in made for waiver in report["waivers"]}
    assert states == set(SCHEMA["properties"]["waivers"]["items"]["properties"]["state"]["enum"])
    assert {kind for report in made for kind, value in (report["changes"] or {}).items() if value} >= {"new", "fixed", "hidden"}
    assert [name for name, report in reports.items() if ":" in name and report["counts"] == reports["healthy"]["counts"]] == []


def test_nothing_is_lost(reports, evil):
    for report in reports.values():
        assert json.loads(writer.write(report)) == report
    halves = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
    assert json.loads(writer.write(evil)) == json.loads(json.dumps(evil, ensure_ascii=False).translate(halves))


def test_it_can_be_read_by_programs_that_are_strict(evil):
    evil["machines"][0]["clock"] = {"offset_s": float("nan"), "error_s": float("inf")}
    written = writer.write(evil)
    written.encode()

    def refuse(constant):
        raise ValueError(constant)

    assert json.loads(written, parse_constant=refuse)["machines"][0]["clock"] == {"offset_s": None, "error_s": None}


def test_a_line_a_finding():
    finding = {"machine": None, "check": "quorum", "level": "warn", "detail": "\u00e4 \ud800", "fix": "Add \"one\"."}
    fit = {"node": {"fits": "no", "short": [{"check": "disk", "detail": "d"}]}}
    assert writer.write({
        "schema_version": 1, "counts": {"ok": 0, "warn": 2}, "findings": [finding, finding], "skipped": ["a", "b"], "waivers": [],
        "needs": {"node": {"ports": [1, 2], "reaches": {}}},
        "fit": {"machines": [{"machine": "m", "roles": fit}], "moves": []}, "changes": None,
    }) == """\
{
 "schema_version": 1,
 "counts": {"ok": 0, "warn": 2},
 "findings": [
  {"machine": null, "check": "quorum", "level": "warn", "detail": "\u00e4 \ufffd", "fix": "Add \\"one\\"."},
  {"machine": null, "check": "quorum", "level": "warn", "detail": "\u00e4 \ufffd", "fix": "Add \\"one\\"."}
 ],
 "skipped": ["a", "b"],
 "waivers": [],
 "needs": {"node": {"ports": [1, 2], "reaches": {}}},
 "fit": {
  "machines": [
   {"machine": "m", "roles": {"node": {"fits": "no", "short": [{"check": "disk", "detail": "d"}]}}}
  ],
  "moves": []
 },
 "changes": null
}
"""


# ----------------------------------------------------------------------------------------------------- the schema
def test_the_schema_is_one_and_says_what_everything_is():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema_version"]["const"] == SCHEMA_VERSION
    assert SCHEMA["$id"].endswith(f":{SCHEMA_VERSION}")
    for path, part in parts_of(SCHEMA):
        for name, inner in (part.get("properties") or {}).items():
            if inner is not False and name not in ("ok", "warn", "fail") and not ({"if", "then", "else"} & set(path)):
                described = {**resolved(inner), **inner}
                assert described.get("description", "").strip() or "type" in described, (*path, name)
        if part.get("type") == "object" or "object" in part.get("type", ()):
            assert "additionalProperties" in part, path
            if "properties" in part:
                assert part["additionalProperties"] is False, path


def resolved(part):
    return SCHEMA["$defs"][part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else part


def parts_of(part, path=()):
    if isinstance(part, dict):
        yield path, part
        for key, inner in part.items():
            yield from parts_of(inner, (*path, key))


def places(value, path=()):
    yield path, value
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def at(report, path):
    for key in path:
        report = report[key]
    return report


# Whose keys are names: of roles, folders, systems, checks and machines.
BY_NAME = re.compile(r"needs(\.\w+\.(reaches|disk_gb))?|asked\.(systems|custom_checks|machines)|fit\.machines\.\d+\.roles")
# What is there only where it is needed.
MAY_BE_ABSENT = re.compile(r"findings\.\d+\.waived|asked(\.machines\.db1\.(internet_urls|serves(\.\w+)?))?")
# What a machine says, as it says it.
ANY_NUMBER = re.compile(r".*(offset_s|error_s)|not_reached\.\d+\.port")
SECONDS = re.compile(r"limits\.\w+_s")


@pytest.fixture
def full(reports):
    """All parts filled, with one of each kind."""
    report = copy.deepcopy(reports["waived, skipped, of one's own"])
    waived = [finding for finding in report["findings"] if finding.get("waived")]
    counting = {finding["level"]: finding for finding in report["findings"] if not finding.get("waived")}
    first = {part: report[part][:1] for part in ("machines", "waivers", "not_examined", "skipped")}
    fit = {**report["fit"]["machines"][0], "roles": {"database": report["fit"]["machines"][0]["roles"]["database"]}}
    kinds = {kind: [{"machine": "a", "check": "disk"}] for kind in (
        "new", "worse", "better", "fixed", "eased", "counting", "waived", "hidden", "uncovered")}
    report = {**report, **first, "findings": [waived[0], counting["fail"], counting["ok"]],
              "needs": {"database": {**report["needs"]["database"], "reaches": {"database": [5432]}}},
              "asked": {**report["asked"], "machines": {"db1": {"serves": {"memory_mb": 5, "disk_gb": 7}, "internet_urls": ["0123abcd"]}}},
              "fit": {"machines": [fit], "moves": report["fit"]["moves"][:1]},
              "not_reached": [{"machine": "db1", "peer": "w1", "port": 22, "outcome": "refused", "of": "reach"}],
              "changes": {**report["changes"], **kinds}}
    assert all(report.values())
    assert problems(report) == []
    return report


def test_it_binds(full):
    """Whatever is taken away, added, or of another kind, is refused."""
    taken = []
    for path, value in list(places(full)):
        name = ".".join(map(str, path))
        changed = copy.deepcopy(full)
        if isinstance(value, dict) and not BY_NAME.fullmatch(name):
            at(changed, path)["of_no_kind"] = 1
            if VALIDATOR.is_valid(changed):
                taken.append(f"{name}: one more")
        if isinstance(value, dict):
            for key in value:
                less = copy.deepcopy(full)
                del at(less, path)[key]
                inner = f"{name}.{key}" if name else key
                if VALIDATOR.is_valid(less) and not BY_NAME.fullmatch(name) and not MAY_BE_ABSENT.fullmatch(inner):
                    taken.append(f"{inner}: absent")
        if path:
            for other in ([["x"]], {"x": {}}, True, 1.5, -1):
                if ANY_NUMBER.fullmatch(name) and other in (1.5, -1):
                    continue
                if SECONDS.fullmatch(name) and other == 1.5:
                    continue
                changed = copy.deepcopy(full)
                at(changed, path[:-1])[path[-1]] = other
                if VALIDATOR.is_valid(changed):
                    taken.append(f"{name}: {other}")
    assert taken == []


@pytest.mark.parametrize(("path", "value"), [
    ("schema_version", 2), ("schema_version", "1"), ("about.at", "yesterday"), ("about.at", "2026-11-30T14:05:09"),
    ("about.at", "2026-11-30T14:05:09+01:00\n"), ("worst", "bad"), ("worst", None), ("counts.ok", -1), ("machines", None),
    ("machines.0.machine", ""), ("machines.0.machine", None), ("machines.0.worst", "critical"), ("machines.0.roles", "database"),
    ("machines.0.clock", {"offset_s": None, "error_s": 1}), ("findings.0.machine", ""), ("findings.0.level", "FAIL"),
    ("findings.0.check", "Disk space"), ("findings.0.check", "disk\n"), ("findings.0.detail", None), ("findings.0.waived", None),
    ("findings.0.waived.reason", ""), ("findings.0.waived.until", "soon"), ("findings.0.waived.until", "2027-1-1"),
    ("findings.0.level", "ok"), ("findings.-1.fix", "Do this, though all is well."),
    ("findings.-1.waived", {"reason": "r", "until": None}), ("skipped", [5]), ("waivers.0.machine", []),
    ("waivers.0.machine", "db*"), ("waivers.0.state", "holds"), ("needs.database.ports", [0]), ("needs.database.ports", [65536]),
    ("needs.database.reaches", {"database": ["5432"]}), ("fit.machines.0.roles.database.fits", "yes"),
    ("fit.machines.0.roles.database.fits", "fits"), ("fit.machines.0.roles.database.short", []), ("fit.moves.0.to", []),
    ("not_reached.0.of", "ping"), ("not_examined.0.why", "asleep"), ("sampled.seed", 5), ("changes.since", ""), ("changes.new", None),
    ("changes.remains", [])])
def test_it_binds_values(full, path, value):
    *outer, last = [int(key) if key.lstrip("-").isdigit() else key for key in path.split(".")]
    at(full, outer)[last] = value
    assert problems(full)
