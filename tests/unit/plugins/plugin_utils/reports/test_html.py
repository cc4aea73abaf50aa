from __future__ import annotations

import base64
import copy
import hashlib
import html.parser
import json
import re

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import FIX_MOST
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import FILES
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports.html import (
    TOO_LONG,
    clocks,
    fit,
    grid,
    inert,
    one_line,
    reach,
    rest,
    todo,
    within_bounds,
)
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports.text import with_names_folded
from browser import made_up

write = FILES["html"]
VOID = {"meta", "input"}
NOT_CLOSED = {"p", "li", "option", "th", "td", "tr", "thead", "tbody"}


class Page(html.parser.HTMLParser):
    """What a browser would see of it: elements, their attributes, and texts; each text with the section that it stands in."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.raw = [], [], [], {}
        self.open, self.section = [], ""
        self.feed(text.replace("<wbr>", ""))  # where a line may break
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("header", "section", "footer"):
            self.section = dict(attrs).get("id", tag)
        self.id = dict(attrs).get("id", "")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        while self.open[-1] != tag:
            assert self.open.pop() in NOT_CLOSED
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] in ("style", "script"):
            self.raw[self.id or self.open[-1]] = data
        elif data.strip():
            self.texts.append((self.section, " ".join(data.split())))

    def handle_comment(self, data):
        raise AssertionError(data)

    def of(self, section):
        return [text for its, text in self.texts if its == section]

    @property
    def policy(self):
        at = self.attributes.index(("meta", "http-equiv", "Content-Security-Policy"))
        return dict(part.split(" ", 1) for part in self.attributes[at + 1][2].split("; "))


@pytest.fixture(scope="module")
def sixty():
    return made_up.report(60)


def sha(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@pytest.mark.parametrize("make", [made_up.report, made_up.healthy, made_up.hostile])
def test_nothing_is_fetched_and_only_its_own_style_and_code_are_let_in(make):
    page = Page(write(make()))
    assert page.policy == {
        "default-src": "'none'", "style-src": sha(page.raw["style"]), "script-src": f"{sha(page.raw['data'])} {sha(page.raw['script'])}",
        "base-uri": "'none'", "form-action": "'none'", "require-trusted-types-for": "'script'"}
    assert page.tags.count("style") == 1
    assert page.tags.count("script") == 2
    assert not {"link", "img", "iframe", "object", "embed", "base", "foreignobject"} & set(page.tags)
    names = {name for _tag, name, _value in page.attributes}
    assert not names & {"src", "style", "srcset", "action", "background"}
    assert not [name for name in names if name.startswith("on")]
    assert all(value.startswith("#") for _tag, name, value in page.attributes if name == "href")
    assert not re.search(r"@import|url\((?!#)", page.raw["style"])
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|fetch|XMLHttp|import\(", page.raw["script"])


def test_headings_and_heads_of_tables_say_what_they_are(sixty):
    page = Page(write(sixty))
    scopes = [value for tag, name, value in page.attributes if (tag, name) == ("th", "scope")]
    assert len(scopes) == page.tags.count("th")
    assert set(scopes) == {"row", "col"}
    levels = [int(tag[1]) for tag in page.tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in zip(levels, levels[1:], strict=False))


def test_hostile_texts_stay_data():
    report = made_up.hostile()
    text = write(report)
    page = Page(text)
    harmless = copy.deepcopy(report)
    for finding in harmless["findings"]:  # as many different ones, so that they are grouped alike
        finding["detail"], finding["fix"] = (hashlib.sha1(finding[part].encode(errors="replace")).hexdigest() if finding[part] else ""
                                             for part in ("detail", "fix"))
    assert sorted(page.tags) == sorted(Page(write(harmless)).tags)
    assert all(char.isprintable() or char in "\n\u200e" for char in text)  # the mark ends what is written from right to left
    assert text.encode()
    shown = [told for _section, told in page.texts]
    for evil in ("</script><script>alert(1)</script>", "&lt;b&gt;&amp;&#60;", "a\\u202egnp.exe\\u202c\\u2066",
                 "\\x00\\x1b]0;title\\x07\\x7f\\x9b31m\\r\\n"):
        assert evil in shown
    data = json.loads(page.raw["data"])
    assert "</script><script>alert(1)</script>" in data["texts"]
    assert len(text) < 200_000  # of texts of megabytes


def test_data_ends_no_element_and_begins_none():
    given = ["</script>", "<!--<script>", "&amp;", "\u2028\ud83d\ude00\\"]
    text = inert(given)
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert json.loads(text) == [*given[:3], "\u2028\U0001f600\\"]


@pytest.fixture(scope="module")
def many():
    return made_up.report(300)


@pytest.mark.newest
@pytest.mark.parametrize("filler", ["x", "\"", "\U0001f600"])
def test_three_hundred_machines_fit_in_three_megabytes_whatever_they_say(filler, many):
    assert len(write(many)) < 500_000
    report = copy.deepcopy(many)
    for number, finding in enumerate(report["findings"]):
        finding.update(level="fail", detail=f"{number} {filler * 1000}", fix=f"{number} {filler * 1000}")
    page = write(report)
    assert len(page.encode()) < 3_000_000
    # A fix is there as a whole, or it is said where it is.
    fixes = set(re.findall(r"<span class=do>(.*?)</span>", page))
    assert TOO_LONG in fixes
    assert len(fixes) > 40
    assert {len(html.unescape(fix)) for fix in fixes - {TOO_LONG}} <= {FIX_MOST + len(" ... ")}
    ok = [{"level": "ok", "fix": "", "detail": "d"}]
    assert within_bounds([*report["findings"], *ok])[-1:] == ok  # what needs no fix gets none


def test_a_fix_is_whole_where_details_have_no_room(many):
    report = copy.deepcopy(many)
    for number, finding in enumerate(report["findings"]):
        finding.update(level="fail", detail=f"{number} {'x' * 1000}", fix=f"{'y' * 990} {number % 300}")
    page = Page(write(report))
    assert {finding["fix"] for finding in report["findings"]} <= set(page.of("todo"))
    told = next(text for text in page.of("todo") if text.startswith("0 x"))
    assert "x ... x" in told and len(told) < 300


def test_all_that_is_not_ok_is_there_without_code(sixty):
    page = Page(write(sixty))
    for finding in with_names_folded(sixty, longer=200):
        if finding["level"] != "ok":
            assert finding["detail"] in page.of("waived" if finding.get("waived") else "todo")
            assert finding.get("waived") or finding["fix"] in page.of("todo")
    waived = [finding for finding in sixty["findings"] if finding.get("waived")]
    assert waived
    assert {finding["waived"]["reason"] for finding in waived} <= set(page.of("waived"))
    assert not {"fail", "warn"} & set(Page(write(made_up.healthy())).of("todo"))


def test_it_tells_of_itself_and_of_what_was_left_out(sixty):
    about = " ".join(Page(write(sixty)).of("about"))
    assert about == (
        "About Made 2026-03-01 02:13:45+01:00 by llmgw.preflight 0.1.0 on ansible-core 2.19.3 Profile llmgw "
        "Machines db[1-3], cp1, cp2, w1, n[01-54] Skipped checks alike "
        "Not examined n901, n902 , since --limit leaves them out; it was only tried who reaches them")
    lonely = {**made_up.healthy(), "about": {"at": "x", "version": "y", "ansible": "z", "profile": None},
              "not_examined": [{"machine": "late", "why": "batch"}]}
    lonely["machines"][1]["roles"] = []
    assert " ".join(Page(write(lonely)).of("about")) == (
        "About Made x by llmgw.preflight y on ansible-core z Machines db[1-3] Not examined late , since their batch has not come "
        "Without a role db2 , so nothing is asked of their CPUs, memory, disk and ports")


def test_waivers_with_what_became_of_them(sixty):
    told = Page(write(sixty)).of("waived")
    rows = told[told.index("State") + 1:]
    assert rows == [
        "time_sync", "n*", "the hypervisor keeps these clocks right", "2026-12-31", "used",
        "apt_ready", "*", "the nightly upgrade is over before the install begins", "for ever", "not needed: what it is about is ok",
        "latency", "db1", "moves to the same rack", "2026-02-01", "warn", "has run out, and holds no longer",
        "disk", "backup*", "left over from the last install", "for ever", "warn", "matches nothing"]


def test_what_changed():
    report = {**made_up.healthy(), "changes": {
        "since": "2026-02-28T22:40:00+01:00", "new": [{"machine": "db1", "check": "disk"}, {"machine": None, "check": "quorum"}],
        "worse": [], "better": [], "fixed": [{"machine": f"db{number}", "check": "disk"} for number in (2, 3, 4)], "remains": 1,
        "eased": [{"machine": "db1", "check": "memory"}]}}
    page = Page(write(report))
    assert " ".join(page.of("changes")) == (
        "What changed Since the report of 2026-02-28 22:40:00+01:00. 1 problem is as before. "
        "New disk db1 quorum all together Fixed disk db[2-4] Eased by a change in what is asked memory db1")
    assert ("Since 2026-02-28 22:40:00+01:00: 2 new, 3 fixed, 1 eased by a change in what is asked, 1 as before."
            in " ".join(page.of("header")))
    assert not Page(write(made_up.healthy())).of("changes")


def finding(machine, check, level, detail="d", fix="", **more):
    return {"machine": machine, "check": check, "level": level, "detail": detail, "fix": fix, **more}


FINDINGS = [
    finding("a", "login", "ok"), finding("a", "disk", "warn", "10 GB", "Free space."), finding("a", "clock", "fail", "late", "Set it."),
    finding("b", "login", "ok"), finding("b", "disk", "warn", "10 GB", "Free space."), finding("b", "clock", "ok"),
    finding("c", "login", "ok"), finding("c", "disk", "warn", "11 GB", "Free space."),
    finding("d", "login", "fail", "refused", "Start it."),
    finding("e", "login", "ok"), finding("e", "disk", "fail", "1 GB", "Free space.", waived={"reason": "goes soon", "until": None}),
    finding("e", "clock", "warn", "late", "Set it."),
    finding(None, "quorum", "warn", "2", "Add one.")]
REPORT = {
    "machines": [{"machine": name, "address": f"10.0.0.{place}", "roles": ["node"]} for place, name in enumerate("abcde")],
    "findings": FINDINGS, "changes": {"new": [{"machine": "a", "check": "disk"}, {"machine": "a", "check": "clock"}],
                                      "worse": [{"machine": None, "check": "quorum"}]}}


def test_most_serious_first_and_equal_problems_once():
    told = [(job.level, job.check, job.machines, job.together, [(part.fix, [tuple(line) for line in part.lines]) for part in job.parts])
            for job in todo.jobs(REPORT)]
    assert told == [
        ("fail", "login", 1, False, [("Start it.", [("d", "refused", "")])]),
        ("fail", "clock", 1, False, [("Set it.", [("a", "late", "new")])]),
        ("warn", "disk", 3, False, [("Free space.", [("a, b", "10 GB", "new on 1"), ("c", "11 GB", "")])]),
        ("warn", "clock", 1, False, [("Set it.", [("e", "late", "")])]),
        ("warn", "quorum", 0, True, [("Add one.", [("all together", "2", "worse")])])]
    assert todo.waived(REPORT) == [
        {"level": "fail", "check": "disk", "detail": "1 GB", "reason": "goes soon", "until": "", "who": "e"}]


def test_the_id_of_a_check_is_whole_in_the_grid():
    check = f"of_{'x' * 56}"
    assert grid.grid({**REPORT, "findings": [finding("a", check, "ok")]}).checks == [check]


def test_wide_letters_have_room_beside_the_picture():
    report = made_up.healthy()
    lefts = []
    for name in ("machines", "計算機の名前"):
        report["machines"][0]["machine"] = name
        lefts.append(reach.reach(report).matrix.left)
    assert lefts[1] - lefts[0] == pytest.approx(4 * reach.LETTER)


def test_the_grid_has_the_worst_machines_first_and_each_text_once():
    made = grid.grid(REPORT)
    assert made.checks == ["login", "disk", "clock", "quorum"]
    assert [(row.machine, *row.cells) for row in made.rows] == [
        ("a", "ok", "warn", "fail", ""), ("d", "fail", "unread", "unread", ""), ("b", "ok", "warn", "ok", ""), ("c", "ok", "warn", "", ""),
        ("e", "ok", "waived", "warn", ""), ("all together", "", "", "", "warn")]
    assert made.numbers(["e", "a"]) == [4, 0]
    rows, texts = made.data["rows"], made.data["texts"]
    assert len(texts) == len(set(texts))
    name, address, roles, found = rows[4]
    assert (name, address, roles) == ("e", "10.0.0.4", ["node"])
    check, state, *numbers = found[1]
    assert (made.checks[check], made.data["states"][state], *(texts[number] for number in numbers)) == (
        "disk", "waived", "1 GB", "Free space.", "goes soon")
    assert len(found[0]) == 3  # what is ok has no fix


@pytest.mark.parametrize(("worst", "levels", "title"), [
    ("ok", ["ok"], "1 machine ready"),
    ("ok", ["ok", "ok"], "2 machines ready"),
    ("warn", ["ok", "warn"], "2 machines ready, with 3 warnings"),
    ("fail", ["fail"], "m0 is not ready"),
    ("fail", ["ok", "warn", "fail"], "1 of 3 machines is not ready"),
    ("fail", ["fail", "fail", "warn"], "2 of 3 machines are not ready"),
    ("fail", ["ok", "warn"], "2 machines, not ready together"),
    ("fail", ["warn"], "1 machine, not ready"),
])
def test_the_verdict(worst, levels, title):
    machines = [{"machine": f"m{place}", "worst": level} for place, level in enumerate(levels)]
    report = {"worst": worst, "counts": {"warn": 3}, "machines": machines}
    assert rest.verdict(report) == title
    shares = rest.shares(report)
    assert sum(share.number for share in shares) == len(levels)
    assert shares[-1].x + shares[-1].width == pytest.approx(100, abs=0.1)


def test_who_reaches_whom_is_drawn_pair_by_pair(record):
    def make(name, roles, *closed, **sections):
        reached = {"tried": 3, "open": 3 - len(closed), "seconds": None, "not_open": [
            {"machine": other, "address": other, "port": 22, "outcome": "refused"} for other in closed]}
        return record(machine=name, roles=roles, reach=reached, stand_ins={"pid": 1, "open": [], "held": [], "not_opened": []}, **sections)

    report = {**made_up.healthy(), **evaluate([
        make("n1", ["node"], "cp1", "late", edges={"tried": 1, "open": 0, "slowest": None, "not_open": [
            {"machine": "cp1", "port": 7443, "outcome": "timeout"}]}),
        make("n2", ["node"]), make("cp1", ["control_plane"], login={"ok": False, "reason": "no", "cause": "denied"})]),
        "not_examined": [{"machine": "late", "why": "limit"}]}
    made = reach.reach(report)
    assert made.kinds is None
    assert [label.name for label in made.matrix.rows] == ["cp1", "n1", "n2"]
    assert [label.name for label in made.matrix.columns] == ["cp1", "n1", "n2", "late"]
    top, left, cell = made.matrix.top, made.matrix.left, made.matrix.cell
    assert [(mark.kind, round((mark.x - left) / cell), round((mark.y - top) / cell)) for mark in made.matrix.marks] == [
        ("both", 0, 1), ("ssh", 3, 1)]
    assert made.matrix.marks[0].title == "n1 does not reach cp1 (22 (SSH): refused, 7443: no answer)"
    assert [(y - top) / cell for y in made.matrix.unread] == [0]
    assert made.matrix.needs.count("z") == 1  # n2 needs a port of cp1; of cp1 nothing is known
    assert [tuple(line) for line in made.listed] == [("n1", "cp1, late", "22 (SSH)", "refused"), ("n1", "cp1", "7443", "no answer")]
    assert (made.pairs, made.unknown, made.without) == (2, "cp1", [])


def test_what_could_not_be_tried_is_drawn_as_a_warning(record):
    """Of another batch or run what is refused may only have nothing that listens yet; another run's stand-ins let everybody in."""
    def make(name, role, batch, *closed, elsewhere=(), held=()):
        tried = 3 if role == "user" else 0
        edges = {"tried": tried, "asked": tried, "open": tried - len(closed) - len(elsewhere), "slowest": None,
                 "not_open": [{"machine": to, "port": port, "outcome": outcome} for to, port, outcome in closed],
                 "elsewhere": [{"port": 7443, "outcome": "refused", "machines": list(elsewhere)}] if elsewhere else []}
        return record(machine=name, address=name, roles=[role], batch=batch, edges=edges, stand_ins={
            "pid": 1, "open": [] if held or role == "user" else [7443], "held": list(held), "not_opened": []})

    records = [make("cp1", "server", "a"), make("cp2", "server", "b", held=[7443]), make("cp3", "server", "b"),
               make("n1", "user", "b", ("cp2", 7443, "refused"), elsewhere=["cp1"]),
               make("n2", "user", "b", ("cp3", 7443, "other_run"), ("cp2", 7443, "timeout"), elsewhere=["cp1"])]
    report = {**made_up.healthy(), **evaluate(records, {"server": {"ports": [7443]}, "user": {"reaches": {"server": [7443]}}})}
    levels = {finding["machine"]: finding["level"] for finding in report["findings"] if finding["check"] == "role_ports"}
    made = reach.reach(report)
    at = {name: place for place, name in enumerate(label.name for label in made.matrix.rows)}
    assert (levels["cp1"], levels["cp2"], levels["cp3"]) == ("warn", "fail", "warn"), levels
    where = {(round((mark.y - made.matrix.top) / made.matrix.cell), round((mark.x - made.matrix.left) / made.matrix.cell)): mark
             for mark in made.matrix.marks}
    assert {key: mark.kind for key, mark in where.items()} == {
        (at["n1"], at["cp2"]): "ports", (at["n2"], at["cp2"]): "ports", (at["n2"], at["cp3"]): "unsure"}
    assert where[at["n2"], at["cp3"]].title == (
        "n2 does not reach cp3 (7443: another preflight is at it (a warning, not a failure))")
    assert made.matrix.unsure.count("z") == 3  # of both nodes with cp1, and of n1 with cp3
    assert (made.pairs, made.unsure) == (2, "cp1, cp3")
    assert sorted(line.outcome for line in made.listed) == [
        "another preflight is at it (a warning, not a failure)", "no answer", "refused"]
    only = {**report, "not_reached": [call for call in report["not_reached"] if call["machine"] == "n1"], "findings": [
        {**finding, "level": "warn"} if finding["check"] == "role_ports" else finding for finding in report["findings"]]}
    assert [mark.kind for mark in reach.reach(only).matrix.marks] == ["unsure"]
    told = " ".join(Page(write(only)).of("reach"))
    assert "Not all ports on these could be tried, which is a warning and no failure: cp[1-3] ." in told
    assert "Every machine that was tried is reached." in told


def test_who_reaches_whom_is_drawn_by_roles_where_there_are_many():
    report = made_up.report(80)
    made = reach.reach(report)
    assert made.matrix is None
    assert made.kinds.names == ["database (3)", "control_plane (1)", "etcd_witness (1)", "control_plane + node (1)", "node (74)",
                                "not examined (2)"]
    assert [name for name, _numbers in made.kinds.rows] == made.kinds.names[:-1]
    pairs = [{(call["machine"], call["peer"]) for call in report["not_reached"] if call["of"] == of} for of in ("reach", "edges")]
    assert all(pairs)
    for at, its in enumerate(pairs):
        assert sum(numbers[at] for _name, row in made.kinds.rows for numbers in row) == len(its)
    assert made.sampled["others"] == 5


def test_nobody_to_reach_or_nothing_tried(record):
    base = made_up.healthy()
    assert reach.reach({**base, **evaluate([record(reach=None)])}) is None
    two = {**base, **evaluate([record(), record(machine="b")], skip=["network"])}
    assert reach.reach(two) is None
    assert reach.reach({**base, **evaluate([record(), record(machine="b")])}).without == ["role_ports"]


def test_many_lines_of_who_reaches_whom_are_folded_and_then_counted():
    report = made_up.healthy()
    report["not_reached"] = [{"machine": f"db{one}", "peer": f"db{other}", "port": 22, "outcome": "timeout", "of": "reach"}
                             for one in (1, 2) for other in (1, 2, 3) if one != other]
    assert [tuple(line) for line in reach.reach(report).listed] == [
        ("db1", "db2", "22 (SSH)", "no answer"), ("db1, db2", "db3", "22 (SSH)", "no answer"), ("db2", "db1", "22 (SSH)", "no answer")]
    report["not_reached"] = [{"machine": "db1", "peer": "db2", "port": port, "outcome": f"{port}", "of": "edges"} for port in range(1, 500)]
    # A machine that nobody else tells of has no place in the picture.
    report["not_reached"] += [{"machine": "db1", "peer": "gone", "port": 1, "outcome": "refused", "of": "edges"},
                              {"machine": "gone", "peer": "db1", "port": 1, "outcome": "refused", "of": "edges"}]
    made = reach.reach(report)
    assert (len(made.listed), made.more) == (400, 101)


def clock_report(offsets, levels=None):
    names = [f"m{place}" for place in range(len(offsets))]
    return {"limits": settings.limits(None), "skipped": [],
            "machines": [{"machine": name, "clock": offset and dict(zip(("offset_s", "error_s"), offset, strict=True))}
                         for name, offset in zip(names, offsets, strict=True)],
            "findings": [finding(name, "clock", level) for name, level in zip(names, levels or [], strict=False)]}


def test_clocks_are_drawn_worst_first_with_what_is_not_known():
    made = clocks.clocks(clock_report([(0.001, 0.01), None, (-40.0, 0.5), (3.0, 0.1)], ["ok", "fail", "fail", "warn"]))
    assert [(line.who, line.level, line.offset, line.error) for line in made.lines] == [
        ("m2", "fail", "-40.000 s", "± 0.500 s"), ("m3", "warn", "+3.000 s", "± 0.100 s"), ("m0", "ok", "+0.001 s", "± 0.010 s")]
    assert made.unknown == "m1"
    for line in made.lines:
        assert 0 <= line.low < line.dots[0] < line.high <= 100
        assert line.dots[0] < 50 if line.offset.startswith("-") else line.dots[0] > 50
    assert made.lines[2].low < 50 < made.lines[2].high  # zero is within its error
    labels = [(tick.x, tick.label) for tick in made.ticks if tick.label]
    assert {label for _x, label in labels} >= {"0", "+10 s", "-10 s", "+100 ms", "-100 ms"}
    assert all(other - one > 9 for (one, _label), (other, _same) in zip(sorted(labels), sorted(labels)[1:], strict=False))


@pytest.mark.parametrize("offset", [0.0, 1e-9, 0.5, 86400.0 * 365 * 50, 1e300])
def test_any_offset_is_within_the_picture(offset):
    made = clocks.clocks(clock_report([(offset, 0.001), (-offset, 0.001)]))
    assert all(0 < x < 100 for line in made.lines for x in (line.low, line.high, *line.dots))
    assert all(0 < tick.x < 100 for tick in made.ticks)
    assert len(made.ticks) < 700


@pytest.mark.parametrize(("offset", "levels"), [
    (0.001, ["warn", "warn"]), (4.0, ["warn", "warn"]), (40.0, ["warn", "warn", "fail", "fail"])])
def test_limits_of_clocks_are_drawn_as_far_as_the_picture_goes(offset, levels):
    made = clocks.clocks(clock_report([(offset, 0.0)]))
    assert [limit.level for limit in made.limits] == levels
    assert (made.warn_s, made.fail_s) == ("1 s", "5 s")
    low, high = (limit.x for limit in made.limits[:2])
    assert 0 < low < 50 < high < 100
    assert low + high == pytest.approx(100)
    assert (made.lines[0].dots[0] > high) == (offset > 1)


def test_no_clock_and_clocks_that_are_no_figures():
    assert clocks.clocks(clock_report([None])) is None
    assert clocks.clocks({**clock_report([(300.0, 0.1)]), "skipped": ["clock", "clocks"]}) is None  # it would be told to be ok
    made = clocks.clocks(clock_report([(float("nan"), 1.0), (float("inf"), 1.0), (0.0, 0.1)]))
    assert (len(made.lines), made.unknown) == (1, "m0, m1")


def test_many_right_clocks_share_a_line():
    made = clocks.clocks(clock_report([(9.0, 0.1), *((place / 1000, 0.05) for place in range(40))], ["fail"] + 40 * ["ok"]))
    assert [line.who for line in made.lines] == ["m0", "40 others, all ok"]
    assert made.lines[1].offset == "+0.000 s to +0.039 s"
    assert len(made.lines[1].dots) > 20
    assert [line.who for line in clocks.clocks(clock_report([(0.0, 0.05)] * 40)).lines] == ["40 machines, all ok"]
    made = clocks.clocks(clock_report([(9.0, 0.1)] * 100, 100 * ["fail"]))
    assert (len(made.lines), made.more) == (60, 40)


def test_what_would_fit(record):
    small = {"disks": [{"path": "/", "mount": "/", "free_bytes": 22 * 2**30}], "memory_mb": 1000}
    report = evaluate([record(), record(machine="db2"), record(machine="n1", roles=["node"], **small), record(machine="n2", roles=[])],
                      needs={name: {"disk_gb": 1} for name in ("control_plane", "etcd_witness")})
    made = fit.fit(report)
    assert made.roles == list(settings.profile().needs)
    assert [(row.who, *(f"{cell.fits}{'*' if cell.own else ''}" for cell in row.cells)) for row in made.rows] == [
        ("n1", "no", "no", "fits", "no*"), ("db1, db2", "fits", "fits*", "fits", "fits"), ("n2", "fits", "fits", "fits", "fits")]
    assert made.rows[0].cells[1].short == ("memory: 1000 MB (needs 3500)", "disk: 22 GB free on / (needs 30)")
    assert [(move["who"], move["role"], move["verb"]) for move in made.moves] == [("n1", "node", "has")]
    nobody = {**report, "fit": {"machines": [], "moves": []}}
    assert fit.fit(nobody).rows == []
    assert fit.fit({**nobody, "needs": {}}) is None
    told = Page(write({**made_up.healthy(), **nobody})).of("fit")
    assert told[-1] == "It is not known of any machine, since none could be read."


def test_what_could_not_be_read_is_not_told_to_be_too_little(record):
    made = fit.fit(evaluate([record(disks=None, unmeasured={"disks": "no"}), record(machine="n1", disks=None, memory_mb=9)]))
    assert [[cell.fits for cell in row.cells] for row in made.rows] == [["no"] * 4, ["unread"] * 4]


def test_ranges_break_between_their_numbers():
    names = [f"n{number}" for number in range(1, 9, 2)]
    report = {**made_up.healthy(), "not_examined": [{"machine": name, "why": "limit"} for name in (*names, "a<b>")]}
    assert '<span class="who">n[1,<wbr>3,<wbr>5,<wbr>7], a&lt;b&gt;</span>' in write(report)


def test_comments_and_line_breaks_are_taken_out():
    assert one_line("/* a */\na {\n  b: c;\n}\n// d\n\n") == "a { b: c; }"
