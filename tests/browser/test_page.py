"""What a person's eye, hand or screen reader would find on the page."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports.html import WHOLE_MOST
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports.text import with_names_folded
from browser import conftest
from playwright.sync_api import expect

CONTRAST = (Path(__file__).parent / "contrast.js").read_text()
VNU = Path(__file__).parents[2] / ".cache" / "npm" / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
PAGES = tuple(conftest.MAKE)
PROBLEMS = ("fail", "warn", "waived")
# Width of the page, and what sticks out of it.
OVERFLOW = """() => {
    const out = [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
    return [document.documentElement.scrollWidth - innerWidth,
            out.filter((one) => !one.closest(".scroll")).map((one) => one.outerHTML.slice(0, 80))];
}"""
# Columns of tables that are so narrow that their words are broken into letters.
SQUEEZED = """() => [...document.querySelectorAll("table:not(.grid) :is(th, td)")].filter((one) =>
    one.innerText.trim().length > 6 && one.checkVisibility() && one.getBoundingClientRect().width < 50).map((one) => one.innerText)"""
SEEN = """(texts) => {
    const seen = new Set();
    for (const one of document.querySelectorAll(".what, .do, .why")) {
        const box = one.getBoundingClientRect(), visible = one.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true });
        if (visible && box.width * box.height) seen.add(one.textContent);
    }
    return texts.filter((text) => !seen.has(text));
}"""
FOCUSED = """() => {
    const one = document.activeElement, style = getComputedStyle(one), box = one.getBoundingClientRect();
    return [one.getAttribute("href") || one.name || one.getAttribute("aria-label") || one.textContent.trim(),
            style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1, box.top + scrollY, box.left];
}"""


def state(finding):
    return "waived" if finding.get("waived") else finding["level"]


def problems(report):
    """All texts that must be read: what is wrong, and what to do about it or why nothing is done."""
    found = [finding for finding in with_names_folded(report, longer=WHOLE_MOST) if finding["level"] != "ok"]
    return sorted({finding["detail"] for finding in found}
                  | {finding["waived"]["reason"] if finding.get("waived") else finding["fix"] for finding in found})


def open_all(page):
    """Folds, and the details of the first machines and of what is about all together."""
    page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    buttons = page.locator(".grid th button")
    for place in range(min(2, buttons.count())):
        buttons.nth(place).click()


@pytest.mark.parametrize("name", PAGES)
def test_nothing_sticks_out_of_the_page(opened, name):
    page = opened(name)
    for width in (1280, 768, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(OVERFLOW) == [0, []], width
    open_all(page)
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(OVERFLOW) == [0, []], width


@pytest.mark.parametrize("name", ["faulty", "many"])
def test_no_column_is_squeezed_on_a_phone(opened, name):
    page = opened(name, 360)
    open_all(page)
    assert page.evaluate(SQUEEZED) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(opened, scheme):
    for name in ("faulty", "sixty", "healthy"):
        page = opened(name, color_scheme=scheme)
        open_all(page)
        found = page.evaluate(CONTRAST)
        assert len(found) > 100
        assert [one for one in found if one[0] < 4.5] == [], name
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) > 600) is (scheme == "light")


def test_accessibility_by_axe(opened):
    try:
        from axe_playwright_python.sync_playwright import Axe
    except ImportError:
        conftest.absent("axe")
    axe = Axe()
    for name, width, scheme in (("faulty", 1280, "light"), ("three", 360, "dark"), ("healthy", 1280, "dark")):
        page = opened(name, width, color_scheme=scheme)
        open_all(page)
        found = axe.run(page).response
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]] == [], name
        assert len(found["passes"]) > 25


def test_a_screen_reader_hears_words_not_signs(opened, reports):
    page = opened("three")
    tree = page.locator(".grid").aria_snapshot()
    row = next(line for line in tree.splitlines() if line.strip().startswith("- row") and "db2" in line)
    levels = [finding["level"] for finding in reports["three"]["findings"] if finding["machine"] == "db2"]
    assert row.strip().rstrip(":") == f'- row "db2 database {" ".join(levels)}"'
    assert '- columnheader "role_ports"' in tree
    assert [page.locator(role).count() for role in ("main", "header", "footer", "nav[aria-label]", "h1")] == [1] * 5


def test_tab_order(opened):
    page = opened("three")
    stops = []
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement !== document.body"):
        stops.append(page.evaluate(FOCUSED))
        page.keyboard.press("Tab")
        assert len(stops) < 60
    names = [name for name, *_rest in stops]
    assert names[:4] == ["#todo", "#changes", "#todo", "#grid"]  # the first one skips what comes on each page
    at = names.index("level")
    assert names[at:at + 8] == ["level", "role", "machine", "text", "Show all", "Table of machines and checks", "db1", "db3"]
    assert all(visible for _name, visible, _top, _left in stops)
    tops = [top for _name, _visible, top, _left in stops[1:]]
    assert all(later > earlier - 40 for earlier, later in zip(tops, tops[1:], strict=False))  # downwards; in a line there is some play
    focusable = page.evaluate("document.querySelectorAll('a, button, input, select, summary, [tabindex=\"0\"]').length")
    assert len(stops) == focusable


def shown(page):
    """machine -> the checks that are shown of it."""
    return dict(page.evaluate("""() => {
        const visible = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
        const text = (one) => one.textContent.trim();
        const checks = visible(".grid thead th.c").map(text);
        return visible(".grid tbody tr:not(.more)").map((row) => [text(row.cells[0]), checks]);
    }"""))


@pytest.mark.parametrize("wanted", [
    {"level": "fail"}, {"level": "waived"}, {"role": "control_plane"}, {"machine": "N1"}, {"machine": "10.0.0.7"}, {"text": "free ON"},
    {"text": "time_sync"}, {"text": "hypervisor"}, {"level": "warn", "role": "node", "machine": "n3", "text": "sudo"}, {"text": "nowhere"}])
def test_the_filter(opened, reports, wanted):
    report, page = reports["sixty"], opened("sixty")
    about = {machine["machine"]: machine for machine in report["machines"]}
    everything = shown(page)
    assert len(everything) == len(about) + 1
    for name, value in wanted.items():
        field = page.locator(f"[name={name}]")
        (field.select_option if name in ("level", "role") else field.fill)(value)
    text = wanted.get("text", "").lower()
    expected, columns = set(), set()
    for finding in report["findings"]:
        machine = about.get(finding["machine"], {"machine": "all together", "address": "", "roles": []})
        words = [finding["check"], finding["detail"], finding["fix"], finding.get("waived", {}).get("reason", "")]
        if (wanted.get("level", state(finding)) == state(finding) and ("role" not in wanted or wanted["role"] in machine["roles"])
                and any(wanted.get("machine", "").lower() in machine[part] for part in ("machine", "address"))
                and any(text in word.lower() for word in words)):
            expected.add(machine["machine"])
            columns.add(finding["check"])
    if "level" not in wanted and not text:
        columns = set(next(iter(everything.values())))
    found = shown(page)
    assert set(found) == expected
    assert all(set(checks) == columns for checks in found.values())
    number, checks = len(expected - {"all together"}), len(everything["db1"])
    assert page.locator("#shown").text_content() == f"{number} of 60 machines shown, {len(columns)} of {checks} checks"
    assert page.locator("#shown").get_attribute("aria-live") == "polite"
    page.click("text=Show all")
    expect(page.locator("#shown")).to_contain_text("60 of 60")
    assert shown(page) == everything


def test_details_on_a_click(opened, reports):
    page, report = opened("sixty"), reports["sixty"]
    its = [finding for finding in report["findings"] if finding["machine"] == "n13"]
    bad = next(finding for finding in its if state(finding) == "fail")
    row = page.locator(".grid tbody tr", has=page.get_by_role("button", name="n13", exact=True))
    button, cell = row.get_by_role("button"), row.locator("td.f").first
    cell.hover()
    assert cell.get_attribute("title") == f"{bad['check']}: {bad['detail']}"
    cell.click()
    details = page.locator(".grid tr.more")
    assert details.locator("li").count() == len(its)
    assert details.locator("li.at").inner_text().split("\n")[0].lower() == f"fail {bad['check']} {bad['detail']}".lower()
    assert bad["fix"] in details.locator("li.at").inner_text()
    told = details.inner_text()
    assert all(finding["detail"] in told for finding in its)
    assert "10.0.0.19 · node" in told
    assert button.get_attribute("aria-expanded") == "true"
    cell.click()
    assert details.count() == 0
    button.press("Enter")
    assert details.locator("li").count() == len(its)
    assert details.locator("li.at").count() == 0
    button.press("Space")
    assert (details.count(), button.get_attribute("aria-expanded")) == (0, "false")


def test_details_of_what_is_waived_and_of_all_together(opened, reports):
    page = opened("sixty")
    page.locator("td.x").first.click()
    waived = next(finding for finding in reports["sixty"]["findings"] if finding.get("waived"))
    assert f"Waived: {waived['waived']['reason']} (until 2026-12-31)" in page.locator("li.at").inner_text()
    page.get_by_role("button", name="all together", exact=True).click()
    together = next(finding["detail"] for finding in reports["sixty"]["findings"] if finding["machine"] is None)
    assert together in "".join(page.locator("tr.more").all_inner_texts())


def test_fixes_and_names_to_copy(opened, reports):
    page = opened("sixty")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    job = page.locator(".job", has=page.locator(".check", has_text="sudo"))
    finding = [one for one in reports["sixty"]["findings"] if one["check"] == "sudo" and one["level"] == "warn"]
    job.get_by_text("Copy fix").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == finding[0]["fix"]
    expect(page.locator("output.unseen")).to_have_text(f"Copied: {finding[0]['fix'][:80]}")
    job.get_by_text("Copy 3 names").click()
    expect(page.locator("output.unseen")).to_contain_text(",")
    assert page.evaluate("navigator.clipboard.readText()") == ",".join(one["machine"] for one in finding)


def test_waivers_to_copy(opened, reports):
    page = opened("sixty")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copied = []
    for job in page.locator(".job").all():
        for button in job.get_by_text("Copy waiver").all():
            button.click()
            expect(page.locator("output.unseen")).to_contain_text("Copied: - {check: " + job.locator(".check").text_content())
            copied += settings.waivers(yaml.safe_load(page.evaluate("navigator.clipboard.readText()").replace('""', "Accepted.")))
    counting = {(one["machine"], one["check"]) for one in reports["sixty"]["findings"]
                if state(one) in ("fail", "warn") and one["check"] not in ("login", "waivers")}
    assert len(counting) > 20
    for machine, check in counting:
        assert any(waiver["check"] == check and any(fnmatch.fnmatchcase(machine or "", pattern) for pattern in waiver["machine"])
                   for waiver in copied), (machine, check)
    assert not page.locator(".job", has=page.locator(".check", has_text=re.compile("^(login|waivers)$"))).get_by_text("Copy waiver").count()


def test_it_reads_without_code(opened, reports):
    for name in ("sixty", "faulty"):
        page = opened(name, java_script_enabled=False)
        page.locator("summary").evaluate_all("(all) => all.forEach((one) => { one.parentNode.open = true; })")
        assert page.evaluate(SEEN, problems(reports[name])) == []
        assert not page.locator("form").is_visible()
        assert page.locator("button:visible").count() == 0
        states = page.locator(".grid td[class]:not(.roles)").evaluate_all("(all) => all.map((one) => one.textContent.trim())")
        assert {one: states.count(one) for one in PROBLEMS} == {
            one: len({(f["machine"], f["check"]) for f in reports[name]["findings"] if state(f) == one}) for one in PROBLEMS}


@pytest.mark.parametrize("code", [True, False])
def test_on_paper_no_problem_is_hidden(opened, reports, code):
    page = opened("faulty", 718, java_script_enabled=code, color_scheme="dark")
    assert page.locator("#todo details").count() > 0
    if code:
        page.select_option("[name=level]", "waived")
        assert len(shown(page)) < 5
    page.emulate_media(media="print")
    assert page.evaluate(SEEN, problems(reports["faulty"])) == []
    assert len(shown(page)) == 31
    assert page.evaluate(OVERFLOW)[0] == 0
    widest = page.evaluate("Math.max(...[...document.querySelectorAll('.scroll')].map((one) => one.scrollWidth))")
    assert widest <= 718  # nothing scrolls on paper; A4 with a centimetre of margin
    assert not page.locator("nav, form, .copies").filter(visible=True).count()
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, paper[4:-1].split(","))) > 600


def test_hostile_texts_do_nothing(opened, reports):
    page = opened("hostile")
    open_all(page)
    page.locator("[name=text]").fill("</script>")
    page.locator("[name=machine]").fill("<img")
    assert list(shown(page)) == ["<img src=x onerror=alert(1)> 1"]
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert page.locator("img").count() == 0
    assert page.locator(".what", has_text="</script><script>alert(1)</script>").count() > 0


def test_the_policy_keeps_out_what_is_not_its_own(chromium, files):
    page = chromium.new_page()
    page.goto(files["three"].as_uri())
    kept_out = page.evaluate("""() => new Promise((resolve) => {
        const kept = [];
        document.addEventListener("securitypolicyviolation", (event) => {
            kept.push(event.effectiveDirective);
            if (kept.length === 3) resolve(kept);
        });
        const image = document.createElement("img");
        image.src = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";
        const style = document.createElement("style");
        style.textContent = "body { display: none; }";
        document.body.append(image, style);
        fetch("data:,").catch(() => {});
        setTimeout(() => resolve(kept), 5000);
    })""")
    assert sorted(kept_out) == ["connect-src", "img-src", "style-src-elem"]
    assert page.evaluate("""() => {
        try { document.body.insertAdjacentHTML("beforeend", "<b>"); return "let in"; } catch (error) { return error.name; }
    }""") == "TypeError"
    page.close()


def test_three_hundred_machines(opened, files, record_property):
    page = opened("many")
    assert files["many"].stat().st_size < 3_000_000
    assert page.evaluate("document.querySelectorAll('*').length") < 15_000
    loaded = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    record_property("loaded_ms", round(loaded))
    print(f"300 machines: {files['many'].stat().st_size:,} bytes, loaded in {loaded:.0f} ms")
    page.locator("[name=machine]").fill("n00")
    assert len(shown(page)) == 9


def test_the_page_is_valid(files):
    java = shutil.which("java")
    if not (java and VNU.exists()):
        conftest.absent("java with vnu-jar")
    command = [java, "-jar", str(VNU), "--format", "json", "--stdout", "--no-langdetect", *map(str, files.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})
    told = json.loads(done.stdout)
    assert [(Path(one["url"]).name, one["message"], one.get("extract")) for one in told["messages"]] == []
    assert "version" in told
    assert done.returncode == 0
