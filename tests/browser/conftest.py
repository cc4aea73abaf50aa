"""Pages of made-up reports in a real browser, Debian's chromium."""

from __future__ import annotations

import contextlib
import os

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import FILES
from browser import made_up
from browser.chromium import LAUNCH

MAKE = {
    "one": lambda: made_up.report(1),
    "three": lambda: made_up.report(3),
    "healthy": made_up.healthy,
    "faulty": lambda: made_up.report(30, read=made_up.records(30, faulty=1, unreached=8)),
    "sixty": lambda: made_up.report(60),
    "many": lambda: made_up.report(300),
    "hostile": made_up.hostile,
}


def absent(what):
    """Skips the test; in CI nothing may be skipped."""
    if os.environ.get("CI"):
        pytest.fail(f"there is no {what} here")
    pytest.skip(f"there is no {what} here")


@pytest.fixture(scope="session")
def reports():
    return {name: make() for name, make in MAKE.items()}


@pytest.fixture(scope="session")
def files(reports, tmp_path_factory):
    """name -> the file of that report's page."""
    folder = tmp_path_factory.mktemp("pages")
    made = {name: folder / f"{name}.html" for name in reports}
    for name, file in made.items():
        file.write_text(FILES["html"](reports[name]), encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def chromium():
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        absent("playwright")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(**LAUNCH)
        except Error as problem:
            absent(f"browser that starts ({str(problem).splitlines()[0]})")
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, files):
    """opened(name, width, ...): the page of that report. It must ask for nothing, keep its policy, and not complain."""
    told = []
    with contextlib.ExitStack() as stack:

        def show(name, width=1280, height=800, **options):
            context = chromium.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
            stack.callback(context.close)
            page = context.new_page()
            address = files[name].as_uri()
            page.on("request", lambda request: told.append(request.url) if request.url != address else None)
            page.on("console", lambda message: told.append(message.text))
            page.on("pageerror", lambda error: told.append(str(error)))
            page.on("dialog", lambda dialog: told.append(dialog.message))
            if options.get("java_script_enabled", True):
                page.add_init_script("document.addEventListener('securitypolicyviolation', (event) => console.log(event.blockedURI))")
            page.goto(address)
            return page

        yield show
        assert told == []
