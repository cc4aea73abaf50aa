"""The bench without a lab: its tables, their place in docs/performance.md, and the records that it makes."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import json
import shutil
import sys
from pathlib import Path

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from bench import bench, document, judging, parts
from bench.measure import Bench, Goal, Table, beside, spec
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


class Box(Bench):
    """In place of a lab; ``cost_of`` says what a run costs, by its number and what it is."""

    def __init__(self, hosts, home, cost_of):
        names = [each["name"] % number if "%" in each["name"] else each["name"]
                 for each in hosts for number in range(1, each.get("count", 1) + 1)]
        self.inventory, self.home, self.cost_of, self.runs = {"all": {"hosts": dict.fromkeys(names)}}, home, cost_of, []

    def cost(self, run):
        self.runs.append(run)
        return {"machines": 1.0, "wall": 1.0, "controller": 1.0, **self.cost_of(len(self.runs) - 1, run)}


@pytest.fixture
def boxed(monkeypatch, tmp_path):
    """boxed(cost_of): the parts run on a Box; gives those that were made."""

    def make(cost_of):
        made = []

        @contextlib.contextmanager
        def of(hosts):
            made.append(Box(hosts, tmp_path, cost_of))
            yield made[-1]

        monkeypatch.setattr(parts, "bench", of)
        return made

    return make


def variables(run):
    return json.loads(run.command[-1]) if "-e" in run.command else {}


def write_report(run, **told):
    folder = Path(variables(run)["preflight_report_dir"])
    folder.mkdir(exist_ok=True)
    (folder / "preflight.json").write_text(json.dumps({"findings": [], "waived": 0, "skipped": [], **told}))


def test_how_one_run_stands_to_another_is_told_of_each_round():
    found = {"a": [{"wall": 2}, {"wall": 20}, {"wall": 90}], "b": [{"wall": 1}, {"wall": 10}, {"wall": 10}]}
    assert beside(found, "a", "b", "wall") == 2


def test_each_goal_is_of_three_rounds_or_more():
    assert min(inspect.signature(part).parameters["rounds"].default for part in parts.PARTS.values()) >= 3


def test_few_and_many_machines_are_measured_in_turn(boxed):
    made = boxed(lambda number, run: {"controller": (200 - len(run.without)) * (1 + number // 4)})  # a box that is slower in each round
    table = parts.growth(rounds=3)
    (box,) = made
    assert [(run.command[0], len(run.without)) for run in box.runs] == 3 * [
        ("ansible-playbook", 180), ("ansible", 180), ("ansible-playbook", 0), ("ansible", 0)]
    assert set(box.inventory["all"]["hosts"]) - set(box.runs[0].without) == set(Box(spec(20), None, None).inventory["all"]["hosts"])
    assert [(goal.found, goal.met) for goal in table.goals] == [(pytest.approx(1), True)]


def test_forks_are_measured_in_turn(boxed):
    made = boxed(lambda number, run: {})
    parts.forks(rounds=2)
    assert [run.forks for run in made[0].runs] == 2 * [5, 5, 10, 10, 20, 20, 40, 40]


@pytest.mark.parametrize("lost, wall, hung", [
    (["hangs"], 47, True), (["hangs"], 17, False), ([], 47, False), (["hangs", "m001"], 47, False)])
def test_a_machine_that_does_not_hang_costs_nothing_and_meets_no_goal(boxed, lost, wall, hung):
    def cost_of(number, run):
        told = [] if run.without else lost
        write_report(run, findings=[{"check": "login", "level": "fail", "machine": name, "detail": "no answer"} for name in told])
        return {"wall": 16 if run.without else wall}

    boxed(cost_of)
    if hung:
        assert [goal.found for goal in parts.hang(rounds=3).goals] == [31]
    else:
        with pytest.raises(SystemExit):
            parts.hang(rounds=3)


@pytest.mark.parametrize("told, good", [
    ({}, True), ({"machines": 39 * [{}]}, False), ({"skipped": ["clock"]}, False), ({"waived": 1}, False)])
def test_what_was_not_looked_at_is_not_found_on_a_busy_box_either(boxed, monkeypatch, told, good):
    boxed(lambda number, run: write_report(run, **{"machines": 40 * [{}], "counts": {"fail": 0, "warn": 0, "ok": 864}, **told}) or {})
    monkeypatch.setattr(parts, "busy_cores", contextlib.nullcontext)
    with contextlib.nullcontext() if good else pytest.raises(SystemExit):
        assert parts.busy(rounds=1).goals[0].met


def test_a_box_that_was_not_busy(monkeypatch):
    class Ended:
        def __init__(self, command):
            self.returncode = 0

        def poll(self):
            return self.returncode

        def kill(self):
            assert self.poll() is not None

        wait = kill

    monkeypatch.setattr(parts.subprocess, "Popen", Ended)
    with pytest.raises(SystemExit), parts.busy_cores():
        pass


def test_who_tries_less_than_is_asked_costs_less_and_is_told():
    records = made_up.records(9, faulty=0, unreached=0)
    given = {"records": records, "settings": {"profile": settings.profile().as_dict()},
             "machines": [{"machine": record["machine"], "roles": record["roles"]} for record in records]}
    assert parts.untried(given, role_ports=True) == []
    everyone = [record["machine"] for record in records]
    calling = [record["machine"] for record in records if record["edges"]["tried"]]
    assert calling
    assert parts.untried(given, role_ports=False) == calling  # they try more than is asked
    assert parts.untried({**given, "records": records[1:]}, role_ports=True) == everyone[:1]
    records[3]["reach"]["tried"] -= 1
    records[4]["edges"]["tried"] -= 1
    assert parts.untried(given, role_ports=True) == everyone[3:5]
    none = [{**machine, "roles": []} for machine in given["machines"]]
    assert parts.untried({**given, "machines": none}, role_ports=True) == everyone  # nobody needs a port, so nothing is measured


def test_tables_of_another_box_are_not_put_beside_those_of_this_one(monkeypatch, tmp_path):
    file, here = tmp_path / "bench.json", {"ansible": "a", "python": "p", "kernel": "k", "cpus": "2"}
    monkeypatch.setattr(bench, "box", lambda: here)
    monkeypatch.setattr(bench.parts, "PARTS", {"one": lambda: TABLE, "two": lambda: TABLE})
    for name in ("one", "two"):
        monkeypatch.setattr(sys, "argv", ["bench.py", "--json", str(file), "--only", name])
        assert bench.main() == 1  # its goal is missed
    assert set(json.loads(file.read_text())["parts"]) == {"one", "two"}
    here["kernel"] = "l"
    with pytest.raises(SystemExit, match="another file"):
        bench.main()


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
    assert evaluate(made["records"], skip=skip)["worst"] == "ok"


def test_goals_of_judging_are_told_by_the_ping_of_the_same_round(monkeypatch):
    slower, number = (1, 5, 2), iter(range(100))  # what the box is in each round; of the figures alone the medians are of different ones
    spent = [{"evaluate": 0.1 + 0.1 * (at == 1), "html": 0.3 - 0.1 * (at == 1), "MB": 20} for at in range(3)]
    inside = iter([{name: value if name == "MB" else value * times for name, value in its.items()}
                   for its, times in zip(spent, slower, strict=True)])
    pings = iter([judging.PING_S * times for times in slower])
    monkeypatch.setattr(judging.subprocess, "run", lambda *given, **named: type("Done", (), {"stdout": json.dumps(next(inside))}))
    monkeypatch.setattr(judging, "_cost", lambda command, home: ((3, 1, 2)[(at := next(number)) % 3] * slower[at // 3], 70))
    records = made_up.records(9, faulty=0, unreached=0)
    given = {"records": records, "machines": [{"machine": record["machine"], "address": record["address"]} for record in records]}
    table = judging.table(given, 3, lambda: next(pings))
    assert [goal.found for goal in table.goals] == [pytest.approx(each) for each in (0.1, 0.4, 1, 0)]
    assert table.note == "Median of 3 rounds."
