"""Whatever a record holds: a judgement, a report in every format, and never a pass for what is missing."""

from __future__ import annotations

import datetime
import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path

import cmarkgfm
import hypothesis
import jsonschema
import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import changes, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.artifact import artifact
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import RecordsError, evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import FILES, folding, markdown, script, text
from cmarkgfm.cmark import Options
from hypothesis import strategies as st
from lxml import etree
from lxml import html as lxml_html
from unit import fuzz

pytestmark = pytest.mark.newest
ROOT = Path(__file__).parents[2]
FORM = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "report.schema.json").read_text()))
JUNIT = etree.XMLSchema(etree.parse(ROOT / "tests" / "unit" / "plugins" / "plugin_utils" / "reports" / "junit.xsd"))
ABOUT = {"at": "2026-11-30T14:05:09+01:00", "version": "0.1.0", "ansible": "2.19.3", "profile": "llmgw"}
TODAY = datetime.date(2026, 11, 30)
MARKDOWN_TAGS = {"h2", "h3", "p", "ul", "li", "strong", "code", "details", "summary"}
VOID, NOT_CLOSED = {"meta", "input"}, {"p", "li", "option", "th", "td", "tr", "thead", "tbody"}
HEALTHY = fuzz.machines()
OWN_CHECKS = [{"check": "kernel", "expect": "cpus > `1` && disks[0].free_bytes > `1`", "detail": "has {cpus} {disks}", "fix": "{names}"},
              {"check": "of_all", "expect": "length([?apt]) == `4`", "fix": "Look at {[].machine}.", "scope": "all"}]
WAIVERS = [{"check": "disk", "machine": "db*", "reason": "so be it"}, {"check": "own", "reason": "old", "until": "2026-01-31"}]
OWN = [{"check": "own", "level": "warn", "detail": "a\nb", "fix": "Mend\u202e it."}]


class Page(html.parser.HTMLParser):
    """Complains of a page that is not well-formed, as far as HTML asks for that."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        self.tags.append(tag)
        self.open += [] if tag in VOID else [tag]

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        while self.open[-1] != tag:
            assert self.open.pop() in NOT_CLOSED
        self.open.pop()


TEMPLATES = (ROOT / "plugins" / "plugin_utils" / "reports" / "html").glob("*.j2")
PAGE_TAGS = {tag for template in TEMPLATES for tag in re.findall(r"<([a-z][a-z0-9]*)", template.read_text())}


def complete(report, earlier=None):
    """As the report action makes it whole."""
    whole = {**report, "about": ABOUT, "not_examined": [], "sampled": None}
    return {**whole, "changes": changes.changes(earlier, whole) if earlier else None}


def judged(records, **settings_):
    """The report, or None where these are no records; a rule that breaks is told as a finding, and is a fault here."""
    try:
        report = evaluate(records, today=TODAY, **settings_)
    except (RecordsError, settings.SettingsError) as problem:
        assert str(problem)
        return None
    assert [finding for finding in report["findings"] if finding["detail"].startswith("the rule itself broke")] == []
    assert [lack for machine in report["fit"]["machines"] for role in machine["roles"].values() for lack in role["short"]
            if lack["detail"].startswith("the rule itself broke")] == []
    return report


def assert_whole(report):
    """Every format of a report is valid."""
    written = FILES["json"](report)
    told = json.loads(written, parse_constant=pytest.fail)
    assert [f"{error.json_path}: {error.message}"[:300] for error in FORM.iter_errors(told)] == []
    for width, everything in ((20, False), (80, True), (150, False)):
        for _level, line, rest in text.lines(report, width, everything, everything):
            assert (line + rest).replace(folding.LEFT_TO_RIGHT_MARK, "").isprintable()
            assert everything or folding.width(line + rest) <= max(60, width)  # a waiver's words are for copying, and not broken
    for fail_on in ("warn", "fail"):
        assert text.verdict(report, fail_on).replace(folding.LEFT_TO_RIGHT_MARK, "").isprintable()
    page = FILES["html"](report)
    assert set(Page(page).tags) <= PAGE_TAGS
    tree = etree.fromstring(FILES["xml"](report).encode())
    JUNIT.validate(tree)
    assert [str(error) for error in JUNIT.error_log] == []
    failing = [finding for finding in report["findings"] if finding["level"] == "fail" and not finding.get("waived")]
    assert len(tree.xpath("//testcase[failure]")) == len({(finding["machine"], finding["check"]) for finding in failing})
    summary = FILES["md"](report)
    assert len(summary.encode()) <= markdown.MOST
    rendered = lxml_html.fromstring(f"<div>{cmarkgfm.github_flavored_markdown_to_html(summary, Options.CMARK_OPT_UNSAFE)}</div>")
    assert {node.tag for node in rendered.iterdescendants()} <= MARKDOWN_TAGS
    for content in (written, page, summary):
        content.encode()
    small = artifact(report)
    assert len(json.dumps(small)) < 200_000 and small["counts"] == report["counts"]
    for _name, content in script.scripts(report):
        if content:
            assert subprocess.run([shutil.which("sh"), "-n"], input=content.encode(), check=False, capture_output=True).stderr == b""


@fuzz.fuzz(30)
@hypothesis.given(fuzz.damages(HEALTHY, most=6), st.booleans())
def test_healthy_machines_with_something_else_in_some_places(damages, with_own):
    records = fuzz.damaged(HEALTHY, damages)
    if with_own:
        records = [{**record, "own_findings": OWN} if isinstance(record, dict) else record for record in records]
    report = judged(records, custom_checks=OWN_CHECKS, waived=WAIVERS) if with_own else judged(records)
    if report:
        assert_whole(complete(report))


@fuzz.fuzz(25)
@hypothesis.given(fuzz.anything | st.lists(st.dictionaries(fuzz.texts, fuzz.anything, max_size=3), min_size=1, max_size=2) | st.lists(
    st.dictionaries(st.sampled_from(sorted(HEALTHY[0])), fuzz.anything, max_size=8), min_size=1, max_size=1))
def test_records_of_anything(records):
    if isinstance(records, list) and all(isinstance(record, dict) for record in records):
        records = [{"login": {"ok": True}, "machine": f"m{number}", **record} for number, record in enumerate(records)]
    report = judged(records)
    if report:
        assert report["worst"] == "fail"
        assert_whole(complete(report))


@fuzz.fuzz(12)
@hypothesis.given(fuzz.damages(HEALTHY), fuzz.damages(HEALTHY))
def test_what_changed_between_any_two(before, after):
    one, other = judged(fuzz.damaged(HEALTHY, before)), judged(fuzz.damaged(HEALTHY, after))
    if one and other:
        assert_whole(complete(other, complete(one)))


BEFORE = json.loads(FILES["json"](complete(evaluate(fuzz.damaged(HEALTHY, [((0, "cpus"), "replace", 1)]), skip=["sudo"]))))
NOW = complete(evaluate(fuzz.damaged(HEALTHY, [((1, "memory_mb"), "replace", 5)])))


@fuzz.fuzz(40)
@hypothesis.given(fuzz.anything | fuzz.damages(BEFORE).map(lambda damages: fuzz.damaged(BEFORE, damages)))
def test_an_earlier_report_of_anything(earlier):
    try:
        found = changes.changes(earlier, NOW)
    except changes.NotComparable as problem:
        assert str(problem).isprintable()
        return
    whole = {**NOW, "changes": found}
    told = json.loads(FILES["json"](whole))
    assert [error.json_path for error in FORM.iter_errors(told) if not error.json_path.startswith("$.changes")] == []
    assert_whole(whole)


def test_each_value_that_programs_stumble_over_in_each_place():
    """All of them in a long run, some of them in CI."""
    tried = [(path, value) for path in fuzz.paths(HEALTHY[0]) for value in fuzz.KINDS]
    for path, value in tried if fuzz.LONG else tried[::37]:
        report = judged([fuzz.replaced(HEALTHY[0], path, value), *HEALTHY[1:]])
        if report:
            FILES["html"](complete(report))
            list(text.lines(complete(report), 80))


HOSTILE = "</script><b a=\"'>]]>&lt;\x00\x1b[2J\ud800\u202e [a](http://x/) `|` <img src=x>"


def test_a_hostile_text_in_each_place_leaves_every_format_whole():
    """Since by chance few of them come where a report shows them."""
    texts = [path for path in fuzz.paths(HEALTHY[0]) if isinstance(fuzz.at(HEALTHY[0], path), str)]
    assert len(texts) > 30
    for path in texts:
        report = judged([fuzz.replaced(HEALTHY[0], path, HOSTILE), *HEALTHY[1:]])
        if report:
            assert_whole(complete(report))


# ------------------------------------------------------------------------------------ what is missing never passes
MAY_MISS = {
    "address", "controller", "local", "unmeasured",  # which have a meaning of their own where they are not there
    "stand_ins",  # who reads a machine says of it where there should have been any
    "cpu_level", "gpus", "gpus.answering", "gpus.answering.0", "gpus.answering.0.name", "gpus.answering.0.memory_mb", "gpus.silent",
    "serves",  # nobody asks for them
    "cpus_online", "silent_mounts", "sudo.waited_s", "disks.0.filesystem", "disks.0.mount", "disks.0.inodes", "disks.0.inodes_free",
    "disks.0.read_only", "edges.asked", "edges.elsewhere",  # older records have none
    "disk_speed.0.busy", "disk_speed.0.mount", "disk_speed.0.writes", "disk_speed.1.busy", "disk_speed.1.mount", "disk_speed.1.writes",
    "edges.seconds", "edges.seconds.max", "edges.seconds.median", "internet.0.seconds", "listening.0.user", "mirrors.0.seconds",
    "reach.seconds", "reach.seconds.max", "reach.seconds.median",  # told, and not judged
    "edges.measured.0",  # it is the slowest, too
    "identity.addresses.0", "identity.host_keys.0", "identity.macs.0", "internet.0", "listening.0", "time_sources.0",  # may be none
}


def verdicts(records, machine):
    return {finding["check"]: finding["level"] for finding in evaluate(records)["findings"] if finding["machine"] in (machine, None)}


def test_nothing_that_is_missing_passes():
    """Each part of a healthy record, taken away, makes a finding, or the records are refused; but for those above."""
    passed = set()
    for path in fuzz.paths(HEALTHY[0]):
        report = judged([fuzz.damaged(HEALTHY[0], [(path, "remove", None)]), *HEALTHY[1:]])
        if report and report["worst"] == "ok":
            passed.add(".".join(map(str, path)))
    assert passed == MAY_MISS
