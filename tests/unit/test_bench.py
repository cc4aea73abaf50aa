"""The bench without a lab: its tables, their place in docs/performance.md, and the records that it makes."""

from __future__ import annotations

import dataclasses
import shutil

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from bench import document, judging, parts
from bench.measure import Goal, Table
from browser import made_up

TABLE = Table("40 machines", ["", "wall"], [["ping", 13.1049], ["preflight", 17.5]], [Goal("wall / ping's", 1.2, 1.3354), Goal("a", 2, 2)],
              "Of one round.")


def test_a_table_on_the_terminal():
    assert str(TABLE) == """40 machines
              wall
  ping       13.10
  preflight  17.50
  Of one round.
  wall / ping's: 1.34 (goal: 1.2 or less)  MISSED
  a: 2 (goal: 2 or less)"""


def test_a_table_in_the_document():
    assert document.markdown(TABLE) == """40 machines:

|  | wall |
| --- | ---: |
| ping | 13.10 |
| preflight | 17.50 |

Of one round.

- wall / ping's: **1.34** (goal: 1.2 or less), missed
- a: **2** (goal: 2 or less)"""


def test_each_part_has_its_place_and_is_put_there_again_and_again(tmp_path):
    shutil.copy(document.PAGE, tmp_path)
    page = tmp_path / document.PAGE.name
    box = {"ansible": "ansible [core 2.19.3]", "python": "3.11.7", "kernel": "6.1", "cpus": "2"}
    for number in ("12.5", "13.5"):
        found = {name: dataclasses.replace(TABLE, rows=[[name, number]]).as_dict() for name in parts.PARTS}
        document.fill({"box": box, "parts": found}, page)
        text = page.read_text()
        assert all(f"| {name} | {number} |" in text for name in parts.PARTS)
    assert "12.5" not in text
    assert "ansible [core 2.19.3], Python 3.11.7" in text


def test_a_part_without_a_place(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing")
    with pytest.raises(KeyError):
        document.fill({"box": {"ansible": "", "python": "", "kernel": "", "cpus": ""}, "parts": {}}, page)


def test_each_part_says_what_it_is():
    assert all((part.__doc__ or "").strip() for part in parts.PARTS.values())


def test_copies_of_records_are_machines_of_their_own_that_nothing_is_wrong_with():
    records = made_up.records(9, faulty=0, unreached=0)
    given = {"records": records, "machines": [{"machine": record["machine"], "address": record["address"]} for record in records]}
    made = judging.copies(given, 60)
    assert len({str(record["identity"]) for record in made["records"]}) == 60
    assert [record["machine"] for record in made["records"]] == [machine["machine"] for machine in made["machines"]]
    assert len(given["records"]) == 9
    skip = ["quorum", "alike", "latency", "role_ports"]  # of what the records were made from
    assert evaluate(made["records"], skip=skip)["worst"] == evaluate(records, skip=skip)["worst"]
