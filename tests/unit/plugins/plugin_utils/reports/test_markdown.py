from __future__ import annotations

import json
import random
import re

import cmarkgfm
import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import markdown
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports.text import clean
from cmarkgfm.cmark import Options
from lxml import html

TAGS = {"h2", "h3", "p", "ul", "li", "strong", "code", "details", "summary"}
# All that may stand outside of code; of what sites like GitHub and GitLab make something of (@ # ! ~ % $ & ^ [ ] < > | : / and more) only
# what ends a word.
OUTSIDE = re.compile(r"""["'(]*([^\W\d_]+([-'][^\W\d_]+)*|\d+([.,]\d+){0,2})?["'.,;:!?)]*""")
OURS = {"llmgw.preflight", "--limit", *markdown.SIGNS.values()}


def rendered(written):
    """The tree that GitHub's own parser makes of it, with HTML let through."""
    return html.fromstring(f"<div>{cmarkgfm.github_flavored_markdown_to_html(written, Options.CMARK_OPT_UNSAFE)}</div>")


def assert_harmless(written):
    tree = rendered(written)
    assert {node.tag for node in tree.iterdescendants()} <= TAGS
    assert [dict(node.attrib) for node in tree.iterdescendants() if node.attrib] == []
    for node in tree.xpath("//code"):
        assert len(node) == 0
        node.text = None
    outside = tree.text_content()
    assert [word for word in outside.split() if word not in OURS and not OUTSIDE.fullmatch(word)] == []
    assert not re.search(r"\b[0-9a-f]{7,}\b", outside)


def told(written):
    return " ".join(rendered(written).text_content().split())


def finding(machine, check, level, detail="d", fix="f", **waived):
    return {"machine": machine, "check": check, "level": level, "detail": detail, "fix": "" if level == "ok" else fix,
            **({"waived": waived} if waived else {})}


SMALL = {
    "about": {"at": "2026-11-30T14:05:09+01:00", "version": "0.1.0", "ansible": "2.19.3", "profile": "llmgw"},
    "worst": "fail",
    "counts": {"ok": 2, "warn": 1, "fail": 3},
    "waived": 1,
    "machines": [
        {"machine": "db1", "roles": ["database"], "worst": "fail", "counts": {"ok": 1, "warn": 0, "fail": 1}, "waived": 0},
        {"machine": "db2", "roles": ["database", "node"], "worst": "fail", "counts": {"ok": 0, "warn": 0, "fail": 1}, "waived": 1},
        {"machine": "n1", "roles": [], "worst": "fail", "counts": {"ok": 0, "warn": 0, "fail": 1}, "waived": 0},
    ],
    "findings": [
        finding("db1", "login", "ok"),
        finding("db1", "disk", "fail", "13 GB free on / (needs 30)", "Free space on / (du -xh / | sort -h shows what is large)."),
        finding("db2", "disk", "fail", "13 GB free on / (needs 30)", "Free space on / (du -xh / | sort -h shows what is large)."),
        finding("db2", "cpus", "warn", "1 usable", "Give it 2.", reason="it is #1", until="2027-01-31"),
        finding("n1", "login", "fail", "ops@10.0.0.9: Permission denied", "Check ansible_user."),
        finding(None, "quorum", "warn", "2 members", "Add one."),
        finding(None, "waivers", "warn", "disk on db9 matches nothing", "Correct it."),
    ],
    "skipped": ["sudo", "ports"],
    "waivers": [{"check": "cpus", "machine": ["db*", "n1"], "reason": "it is #1", "until": "2027-01-31", "state": "used"},
                {"check": "clock", "machine": ["*"], "reason": "so be it", "until": None, "state": "unneeded"}],
    "fit": {"machines": [], "moves": [{"machine": name, "role": "database", "to": ["n1"]} for name in ("db1", "db2")]},
    "not_examined": [{"machine": "n2", "why": "limit"}, {"machine": "n3", "why": "limit"}],
    "sampled": {"machines": 60, "others": 5, "seed": "abc123"},
    "changes": {"since": "2026-11-29T10:00:00+01:00", "remains": 1, "worse": [], "better": [],
                "hidden": [{"machine": "n2", "check": "disk"}], "new": [
                    {"machine": "db1", "check": "disk"}, {"machine": "db2", "check": "disk"}, {"machine": None, "check": "disk"}],
                "fixed": [{"machine": "n1", "check": "disk"}], "eased": [{"machine": "n1", "check": "cpus"}], "uncovered": []},
}
WRITTEN = """\
## \u274c Preflight: 3 of 3 machines not ready

3 machines, 7 checks: 3 fail, 1 warn, 2 ok, 1 waived.

Since `2026-11-29T10:00:00+01:00`: 3 new, 1 fixed, 1 eased by a change in what is asked, 1 not looked at this time, 1 as before.

### \u274c Fail

**`login`**: Check `ansible_user`.

- `n1`: `ops@10.0.0.9`: Permission denied

**`disk`**: Free space on `/` (`du -xh / | sort -h` shows what is large).

- `db1, db2`: 13 GB free on `/` (needs 30)

### \u26a0\ufe0f Warn

**`quorum`**: Add one.

- all machines: 2 members

**`waivers`**: Correct it.

- disk on `db9` matches nothing

<details><summary>2 waivers</summary>

- `cpus` on `db*, n1` until `2027-01-31` (used): it is `#1`
- `clock` on `*` (unneeded): so be it

</details>

<details><summary>1 waived</summary>

- warn `cpus`, `db2`: 1 usable

</details>

<details><summary>What changed</summary>

- new: `disk`, `db1, db2`
- new: `disk`, all machines
- fixed: `disk`, `n1`
- eased by a change in what is asked: `cpus`, `n1`
- not looked at this time: `disk`, `n2`

</details>

<details><summary>Room elsewhere</summary>

- `database` of `db1, db2`: there is room on `n1`

</details>

- Not examined, since --limit leaves them out; only tried: `n2, n3`
- Checks that were left out: `sudo, ports`
- Each of the 60 machines tried those that it needs, and 5 others by lot
- No role, so nothing is asked of CPUs, memory, disk and ports: `n1`

<details><summary>All machines</summary>

- \u274c `db1` (`database`): 1 fail, 1 ok
- \u274c `db2` (`database, node`): 1 fail, 1 waived
- \u274c `n1`: 1 fail

</details>

Made `2026-11-30T14:05:09+01:00` by llmgw.preflight `0.1.0`, ansible-core `2.19.3`, profile `llmgw`, of `db1, db2, n1`.
"""


def test_the_whole_of_a_small_one():
    assert markdown.write(SMALL) == WRITTEN


@pytest.mark.parametrize(("parts", "title"), [
    ({}, "\u274c Preflight: 3 of 3 machines not ready"),
    ({"machines": SMALL["machines"][:1]}, "\u274c Preflight: 1 of 1 machine not ready"),
    ({"machines": [{**SMALL["machines"][0], "worst": "ok"}] * 2}, "\u274c Preflight: 2 machines not ready together"),
    ({"machines": [{**SMALL["machines"][0], "worst": "ok"}]}, "\u274c Preflight: 1 machine not ready"),
    ({"worst": "warn"}, "\u26a0\ufe0f Preflight: 3 machines, with warnings"),
    ({"worst": "ok"}, "\u2705 Preflight: 3 machines ready"),
])
def test_the_title(parts, title):
    assert markdown.write({**SMALL, **parts}).splitlines()[0] == f"## {title}"


@pytest.mark.parametrize(("text", "written"), [
    ("12 GB free on / (needs 30)", "12 GB free on `/` (needs 30)"),
    ("in use: 5432 by user root on 0.0.0.0, ::; 8008", "in use: 5432 by user root on `0.0.0.0`, ::; 8008"),
    ("Check ansible_host and ansible_port, then go on.", "Check `ansible_host` and `ansible_port`, then go on."),
    ("Run with --ask-become-pass, or ask (ps -fp shows it).", "Run with `--ask-become-pass`, or ask (`ps -fp` shows it)."),
    ("See it (here, -x is, df -h not).", "See it (here, `-x` is, df `-h` not)."),
    ("took 1,024.5 s; 3.029 s don't well-known \"quoted\"", "took 1,024.5 s; 3.029 s don't well-known \"quoted\""),
    ("machine-id 1b9449f6 defaced 1234567", "machine-id `1b9449f6 defaced 1234567`"),
    ("says `x` and ``y``", "says `` `x` `` and ``` ``y`` ```"),
    ("Ask at www. or http: or WWW", "Ask at `www`. or http: or `WWW`"),
    ("ABC-1 GH-12 a1", "`ABC-1 GH-12 a1`"),
    ("(/x) (/y), /z", "(`/x`) (`/y`), `/z`"),
    ("", ""), ("  two   spaces ", "two spaces"),
    ("\u00fcber \u5909 gr\u00f6\u00dfe", "\u00fcber \u5909 gr\u00f6\u00dfe"), ("a\nb", "`a\\nb`"),
])
def test_words_stay_words_and_the_rest_is_code(text, written):
    assert markdown.prose(text) == written


def test_any_text_is_only_text():
    lot = random.Random(7)
    pieces = [*"`*_~[]()<>!#@|\\&;:/-+=.'\"$%^{} 01ab", "  ", "``", "```", "www.", "http://x.y", "<b>", "<!--", "-->", "]]>", "&lt;",
              "\n", "| - |"]
    for number in range(1500):
        text = "".join(lot.choices(pieces, k=number % 12 + 1))
        shown = " ".join(clean(text).split())
        for written in (markdown.code(text), markdown.prose(text)):
            assert told(f"- x: {written}\n- y\n") == f"x: {shown} y".replace("  ", " "), text
            assert_harmless(f"- x: {written}\n- y\n")


def test_nothing_that_a_machine_says_becomes_more_than_text(evil, reports):
    for report in (evil, *reports.values()):
        written = markdown.write(report)
        assert_harmless(written)
        assert all(char == "\n" or char.isprintable() or char in "\u200e\ufe0f" for char in written)


def test_all_of_it_is_told(evil, reports):
    for report in (evil, *reports.values()):
        shown = told(markdown.write(report, 10**7))
        for one in report["findings"]:
            if one["level"] != "ok":
                assert " ".join(clean(one["detail"]).split()) in shown


def test_each_line_is_one_whatever_it_begins_with(evil):
    """Else it could be a heading, a list, a quick action (/close) or a table."""
    for line in markdown.write(evil, 10**7).splitlines():
        assert re.match(r"$|#{2,3} |- |\*\*`|</?details>|Since `|Made `|\d+ machines, ", line), line


# ---------------------------------------------------------------------------------------------------------- size
def many(number, checks=3):
    """A report on so many machines, each with findings that differ in words."""
    names = [f"m{at}" for at in range(number)]
    findings = [finding(name, f"check{which}", "warn" if which else "fail", f"says {chr(97 + at % 26) * (at % 40 + 1)}", f"Do {at % 7}.")
                for at, name in enumerate(names) for which in range(checks)]
    return {**SMALL, "findings": findings, "waivers": [], "changes": None, "not_examined": [], "skipped": [], "sampled": None,
            "fit": {"machines": [], "moves": []},
            "machines": [{"machine": name, "roles": ["node"], "worst": "fail", "counts": {"ok": 0, "warn": checks - 1, "fail": 1}}
                         for name in names]}


@pytest.mark.parametrize("most", [900, 5000, markdown.MOST, 10**7])
@pytest.mark.parametrize("number", [1, 50, 500])
def test_it_is_never_larger_than_it_may_be_and_stays_whole(number, most):
    written = markdown.write(many(number), most)
    assert len(written.encode()) <= most
    assert_harmless(written.replace(f"below {most:,} bytes", "below"))
    assert written.count("<details>") == written.count("</details>")
    assert written.startswith(f"## \u274c Preflight: {number} of {number} machine")
    assert written.endswith(f"profile `llmgw`, of `m{f'[0-{number - 1}]' if number > 1 else 0}`.\n")


def sections(written):
    """The title or the summary of each part -> how many problems its lines tell of, and how many it says are left out."""
    found = {}
    for part in re.split(r"\n(?=### |<details>)", written):
        name = re.match(r"(?:### \S+ |<details><summary>)?([^<\n]+)", part)[1]
        rest = re.search(r"^- and (\d+) more", part, re.M)
        found[name] = (len(re.findall(r"^- `m", part, re.M)), int(rest[1]) if rest else 0)
    return found


def test_what_is_left_out_is_counted_worst_first():
    report = many(9, checks=40)  # too few to be told together
    whole, cut = (markdown.write(report, most) for most in (10**7, 6000))
    assert "left out" not in whole
    assert sections(whole)["Fail"] == (9, 0)
    assert sections(whole)["Warn"] == (9 * 39, 0)
    found = sections(cut)
    assert found["Fail"] == (9, 0)
    shown, left = found["Warn"]
    assert shown > 5 and shown + left == 9 * 39
    assert f"cut short to stay below 6,000 bytes: {left} problems are left out." in cut
    assert "All machines" not in cut
    found = sections(markdown.write(report, 620))
    shown, left = found["Fail"]
    assert shown and left and shown + left == 9
    assert "Warn" not in found
    alike = [finding(f"m{at}", check, "fail", "the same " * 5) for at in range(50) for check in ("cpus", "disk", "memory")]
    cut = markdown.write({**report, "findings": alike}, 500)
    assert re.findall(r"m\[0-49\]`:|\d+ problems are left out", cut) == ["100 problems are left out", "m[0-49]`:"]


def test_one_that_is_left_out_is_one():
    report = {**many(2), "findings": [finding(f"m{at}", "disk", "fail", f"{word} {'x' * 90}") for at, word in enumerate(("one", "other"))]}
    sizes = range(500, 900, 20)
    told = " ".join(markdown.write(report, most) for most in sizes)
    assert "1 problem is left out" in told and "- and 1 more problem\n" in told
    assert not re.search(r"\b1 (more )?(problems|machines)", told)


def test_what_is_alike_is_told_together_and_each_can_be_unfolded():
    report = {**many(1), "findings": [finding(f"m{at}", "disk", "fail", f"{at} GB free", "Free space.") for at in range(300)]}
    written = markdown.write(report)
    before, each = written.split("<details><summary>Each of the 300</summary>")
    assert "- `m[0-299]`: 0 to 299 GB free; least on `m0`, most on `m299`" in before
    assert each.count(" GB free") == 300
    cut = markdown.write(report, 4000)
    told_of, left = sections(cut)["Each of the 300"]
    assert told_of + left == 300 and left
    assert "left out" not in cut  # all of them are told, together


def test_a_thousand_machines_are_within_a_comment_on_github(evil):
    assert len(markdown.write(many(1000))) < 65536
    assert len(markdown.write({**evil, "findings": evil["findings"] * 20})) < 65536
    assert json.dumps(evil).count("@team")


def test_however_much_is_cut_it_says_of_which_machines_it_is_and_with_which_waivers():
    names = [f"{chr(97 + at % 26)}{chr(97 + at // 26)}-machine-of-its-own-name" for at in range(300)]
    report = {**many(300, checks=20), **{part: SMALL[part] for part in ("not_examined", "skipped", "sampled")}}
    report["machines"] = [{**machine, "machine": name} for machine, name in zip(report["machines"], names, strict=True)]
    report["waivers"] = [{"check": "disk", "machine": [f"db{at}*"], "reason": f"reason {at} " + "of many words " * 20, "until": None,
                          "state": "unneeded"} for at in range(100)]
    written = markdown.write(report)
    shown = told(written)
    assert " problems are left out" in shown
    assert [name for name in names if name not in shown] == []
    assert re.findall(r"reason (\d+) ", shown) == [str(at) for at in range(40)]
    assert "100 waivers" in shown and "and 60 more waivers" in shown
    assert "Not examined, since --limit leaves them out; only tried: n2, n3" in shown
    assert "Checks that were left out: sudo, ports" in shown
    assert len(written.encode()) <= markdown.MOST
    report["machines"] = [{**report["machines"][0], "machine": f"{at * 7919 % 99991}-{'x' * 50}{at}"} for at in range(3000)]
    written = markdown.write(report)
    assert len(written.encode()) <= markdown.MOST
    assert re.search(r", of `.* and \d+ more`\.\n$", written)


def test_a_fix_is_not_cut():
    fix = "Do this, then that. " * 49 + "And the last."
    written = markdown.write({**SMALL, "findings": [finding("db1", "disk", "fail", "x" * 900, fix)]})
    assert fix in told(written)
    assert f"{'x' * 300} ... {'x' * 100}" in told(written)


def test_many_that_are_not_reached_are_folded():
    peers = [f"node{at}.rack.example.com" for at in range(30)]
    detail = "does not reach " + ", ".join(f"{peer} ({peer} port 22: no answer)" for peer in peers)
    calls = [{"machine": "db1", "peer": peer, "port": 22, "outcome": "timeout", "of": "reach"} for peer in peers]
    written = markdown.write({**SMALL, "findings": [finding("db1", "network", "fail", detail)], "not_reached": calls})
    assert "does not reach node[0-29].rack.example.com (port 22: no answer)" in told(written)
