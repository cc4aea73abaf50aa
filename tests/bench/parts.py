"""The parts of the bench: each measures one thing and gives a table, by its name."""

from __future__ import annotations

import contextlib
import json
import operator
import os
import subprocess
import sys
import tempfile
import typing as t
from collections.abc import Iterator, Mapping
from pathlib import Path

from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.edges import Edges

from . import judging
from .measure import FIGURES, ROOT, Bench, Goal, Run, Table, bench, beside, module, play, rows_of, spec, told

WITHOUT = {"preflight_role_ports": False}
HANG = "/opt/hang"  # a login shell that never answers
DEADLINE_S = 30  # preflight_limits.machine_s with the machine that hangs
SPARE_S = 5  # of a run with it, for what else differs from one run to the next


def records_of(box: Bench, variables: Mapping[str, t.Any]) -> dict[str, t.Any]:
    """What such a preflight saves."""
    with tempfile.TemporaryDirectory() as folder:
        box.cost(play({**variables, "preflight_records_dir": folder}))
        part: dict[str, t.Any] = json.loads(next(Path(folder).iterdir()).read_text(encoding="utf-8"))
    return part


def untried(part: Mapping[str, t.Any], role_ports: bool) -> list[str]:
    """The machines that did not try each other one, and each port that they need where there are stand-ins: less costs less."""
    edges = Edges(part["machines"], settings.profile(part["settings"]["profile"]).needs)
    read = {record["machine"]: record for record in part["records"]}
    asked = {machine["machine"]: (len(edges.machines) - 1, sum(1 for _call in edges.calls(machine)) if role_ports else 0)
             for machine in edges.machines}
    if role_ports and not any(calls for _others, calls in asked.values()):
        return list(asked)
    return [name for name, tried in asked.items() if tuple(read.get(name, {}).get(of, {}).get("tried", 0) for of in ("reach", "edges"))
            != tried]


def many(rounds: int = 5) -> Table:
    """40 machines: ping, setup, and the preflight without and with stand-ins."""
    with bench(spec(40)) as box:
        for variables in (WITHOUT, {}):
            less = untried(records_of(box, variables), not variables)
            if less:
                raise SystemExit(f"With {variables} these machines did not try all that is asked, so what it costs says nothing: {less}")
        found = box.in_turn({"ping": module("ping"), "setup": module("setup"), "preflight, all pairs, no stand-ins": play(WITHOUT),
                             "preflight, with stand-ins": play()}, rounds)
    against = {"controller": "ping", "machines": "setup", "wall": "setup"}

    def ratios(name: str) -> list[float]:
        return [beside(found, name, other, figure) for figure, other in against.items()]

    goals = []
    for name, most in (("preflight, all pairs, no stand-ins", (1.15, 1.3, 1.2)), ("preflight, with stand-ins", (1.4, 1.4, 1.5))):
        goals += [Goal(f"{name}: {figure} / {other}'s", limit, ratio)
                  for (figure, other), limit, ratio in zip(against.items(), most, ratios(name), strict=True)]
    return Table("40 machines, forks 10, new connections", ["", *FIGURES, *(f"{figure} / {other}" for figure, other in against.items())],
                 [[*row, *ratios(row[0])] for row in rows_of(found)], goals, told(rounds))


def _usual(number: int, rounds: int, times: float) -> Table:
    with bench(spec(number)) as box:
        found = box.in_turn({"the usual playbook": play(playbook=ROOT / "tests" / "bench" / "usual.yml"), "preflight": play()}, rounds)
    ratio = beside(found, "preflight", "the usual playbook", "wall")
    return Table(f"The usual playbook, {number} machines, forks 10", ["", *FIGURES], rows_of(found),
                 [Goal(f"wall / the usual playbook's, that is {1 / ratio:.1f} times less", 1 / times, ratio)], told(rounds))


def usual10(rounds: int = 3) -> Table:
    """10 machines: the usual playbook, and the preflight."""
    return _usual(10, rounds, 5)


def usual40(rounds: int = 3) -> Table:
    """40 machines: the usual playbook, and the preflight; it takes long."""
    return _usual(40, rounds, 20)


def growth(rounds: int = 3) -> Table:
    """200 machines and 20: the controller's processor time for each, with edges by role."""
    runs, numbers = {}, {}
    with bench(spec(200)) as box:
        for number in (20, 200):
            without = list(box.inventory["all"]["hosts"])[number:]  # the first 20 are those of a lab of 20
            for name, run in (("preflight", play(without=without)), ("ping", module("ping", without=without))):
                runs[f"{name}, {number} machines"], numbers[f"{name}, {number} machines"] = run, number
        found = box.in_turn(runs, rounds)
    more = {name: beside(found, f"{name}, 200 machines", f"{name}, 20 machines", "controller") * 20 / 200 for name in ("preflight", "ping")}
    return Table("200 machines and 20, forks 10", ["", *FIGURES, "ms of the controller for each machine"],
                 [[*row, 1000 * row[1] / numbers[row[0]]] for row in rows_of(found)],
                 [Goal(f"controller for each machine, 200 / 20, where ping's is {more['ping']:.2f}", 1.2, more["preflight"])], told(rounds))


def judge(rounds: int = 5) -> Table:
    """1,000 records, made from real ones of 40 machines: to judge and to show them, on the controller alone; and ping of the 40."""
    with bench(spec(judging.PINGED)) as box:
        return judging.table(records_of(box, {}), rounds, lambda: box.cost(module("ping"))["controller"])


def hang(rounds: int = 3) -> Table:
    """20 machines, and the same with one that lets in and then never answers."""
    hanging = {"name": "hangs", "groups": ["node"], "login_shell": HANG,
               "files": {HANG: {"content": "#!/bin/sh\nexec sleep 100000\n", "mode": "0755"}}}
    with bench([*spec(20), hanging]) as box:
        runs = {name: play({"preflight_limits": {"machine_s": DEADLINE_S}, "preflight_fail_on": "never", "preflight_report_dir":
                            str(box.home / name)}, without=without)
                for name, without in (("20 machines", ["hangs"]), ("and one that hangs", []))}
        found = box.in_turn(runs, rounds)
        lost = {name: unread(box.home / name / "preflight.json") for name in runs}
    if [list(its) for its in lost.values()] != [[], ["hangs"]] or min(cost["wall"] for cost in found["and one that hangs"]) < DEADLINE_S:
        raise SystemExit(f"One machine was to hang until its deadline, and no other was to be lost: {lost}")
    more = beside(found, "and one that hangs", "20 machines", "wall", operator.sub)
    return Table(f"One machine that hangs, forks 10, deadline {DEADLINE_S} s", ["", *FIGURES], rows_of(found),
                 [Goal(f"seconds that it costs all together, of which {DEADLINE_S} are the deadline", DEADLINE_S + SPARE_S, more)],
                 told(rounds))


def unread(report: Path) -> dict[str, str]:
    """The machines that could not be read, each with the reason."""
    findings = json.loads(report.read_text(encoding="utf-8"))["findings"]
    return {finding["machine"]: finding["detail"] for finding in findings if finding["check"] == "login" and finding["level"] == "fail"}


def busy(rounds: int = 3) -> Table:
    """40 healthy machines with forks 50 while something else takes all processors: findings above ok."""
    rows = []
    with bench(spec(40)) as box, busy_cores():
        for number in range(rounds):
            folder = box.home / f"report{number}"
            box.cost(play({"preflight_report_dir": str(folder), "preflight_fail_on": "never"}, forks=50))
            report = json.loads((folder / "preflight.json").read_text(encoding="utf-8"))
            if len(report["machines"]) != 40 or report["waived"] or report["skipped"]:
                raise SystemExit("Not all of the 40 machines were looked at, or not for all, so what is not found says nothing.")
            rows.append([f"run {number + 1}", *(str(report["counts"][level]) for level in ("fail", "warn", "ok"))])
            for finding in report["findings"]:
                if finding["level"] != "ok":
                    print(f"  {finding['level']} {finding['check']} {finding['machine']}: {finding['detail']}", file=sys.stderr)
    return Table("40 healthy machines, forks 50, all processors taken by something else", ["", "fail", "warn", "ok"], rows,
                 [Goal("findings above ok", 0, sum(int(row[1]) + int(row[2]) for row in rows))])


@contextlib.contextmanager
def busy_cores() -> Iterator[None]:
    """Two programs for each processor that do nothing else than to take its time."""
    taking = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _number in range(2 * (os.cpu_count() or 1))]
    try:
        yield
        if any(program.poll() is not None for program in taking):
            raise SystemExit("What was to take all processors has ended by itself, so that they were not busy.")
    finally:
        for program in taking:
            program.kill()
            program.wait()


def forks(rounds: int = 3) -> Table:
    """40 machines: forks 5, 10, 20 and 40."""
    runs = {}
    for number in (5, 10, 20, 40):
        runs |= {f"preflight, forks {number}": play(forks=number), f"ping, forks {number}": module("ping", forks=number)}
    with bench(spec(40)) as box:
        found = box.in_turn(runs, rounds)
    return Table("forks, 40 machines, new connections", ["", *FIGURES], rows_of(found), note=told(rounds))


def connections(rounds: int = 3) -> Table:
    """40 machines: pipelining off and on; ControlPersist off, on, and with connections that are there already."""
    off = {"ANSIBLE_SSH_ARGS": "-o ControlMaster=no -o ControlPath=none"}
    on, piped = {"ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=300s"}, {"ANSIBLE_PIPELINING": "true"}
    runs: dict[str, Run] = {}
    commands: dict[str, t.Callable[..., Run]] = {"preflight": play, "setup": lambda **options: module("setup", **options)}
    for name, command in commands.items():
        runs |= {
            f"{name}, ControlPersist off": command(environment=off),
            f"{name}, ControlPersist on": command(environment=on),
            f"{name}, and connections there already": command(environment=on, warm=True),
            f"{name}, pipelining on": command(environment={**on, **piped}),
            f"{name}, pipelining on, and connections there already": command(environment={**on, **piped}, warm=True),
        }
    with bench(spec(40)) as box:
        found = box.in_turn(runs, rounds)
    return Table("Connections, 40 machines, forks 10", ["", *FIGURES], rows_of(found), note=told(rounds))


PARTS: dict[str, t.Callable[..., Table]] = {
    part.__name__: part for part in (many, usual10, usual40, growth, judge, hang, busy, forks, connections)}
