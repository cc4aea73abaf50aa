"""What judging and showing costs grows with the number of machines, and not with its square. No time is held to a figure of seconds."""

from __future__ import annotations

import time

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import checks
from ansible_collections.llmgw.preflight.plugins.plugin_utils.changes import changes
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import FILES, text
from browser import made_up

pytestmark = pytest.mark.newest

FEW, MANY = 200, 1000
ROUNDS = (3, 10)  # at least and at most
MOST = 2  # times as much for each machine of many as for each of few


@pytest.fixture(scope="module")
def records():
    return {number: made_up.records(number) for number in (FEW, MANY)}


@pytest.fixture(scope="module")
def reports(records):
    return {number: made_up.report(number, read=read) for number, read in records.items()}


def growth(work, given):
    """How much more it costs for each of many; of the rounds the quickest counts, since the box does other things too, and there are
    more of them while it seems to be too much."""
    spent = {number: [] for number in given}
    least, most = ROUNDS
    for done in range(1, most + 1):
        for number, its in given.items():
            start = time.process_time()
            work(its)
            spent[number].append(time.process_time() - start)
        found = min(spent[MANY]) / MANY / (min(spent[FEW]) / FEW)
        if done >= least and found < MOST:
            break
    return found


def test_evaluate(records):
    assert growth(evaluate, records) < MOST


def test_a_waiver_of_all_machines_by_name(records):
    def judged(read):
        machines = [record["machine"] for record in read]
        return evaluate(read, waived=[{"check": check.ID, "machine": machines, "reason": "so"} for check in checks.AFTER_LOGIN])

    assert growth(judged, records) < MOST


@pytest.mark.parametrize("everything", [False, True])
def test_the_report_on_the_terminal(reports, everything):
    assert growth(lambda report: list(text.lines(report, 120, everything, everything)), reports) < MOST


@pytest.mark.parametrize("name", FILES)
def test_the_files(reports, name):
    assert growth(FILES[name], reports) < MOST


def test_the_changes(reports):
    assert growth(lambda report: changes(report, report), reports) < MOST


def test_the_test_itself():
    assert growth(lambda number: [at * other for at in range(number) for other in range(number // 10)], {FEW: FEW, MANY: MANY}) > MOST
