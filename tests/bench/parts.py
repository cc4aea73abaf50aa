"""The parts of the bench: each measures one thing and gives a table, by its name."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import typing as t
from collections.abc import Iterator, Mapping

from . import judging
from .measure import FIGURES, ROOT, Goal, Run, Table, bench, module, play, spec

WITHOUT = {"preflight_role_ports": False}
HANG = "/opt/hang"  # a login shell that never answers
DEADLINE_S = 30  # preflight_limits.machine_s with the machine that hangs
SPARE_S = 5  # of a run with it, for what else differs from one run to the next
Rows = list[list[t.Any]]


def rows_of(found: Mapping[str, Mapping[str, float]]) -> Rows:
    return [[name, *(costs[figure] for figure in FIGURES)] for name, costs in found.items()]


def many(rounds: int = 5) -> Table:
    """40 machines: ping, setup, and the preflight without and with stand-ins."""
    with bench(spec(40)) as box:
        found = box.in_turn({"ping": module("ping"), "setup": module("setup"), "preflight, all pairs, no stand-ins": play(WITHOUT),
                             "preflight, with stand-ins": play()}, rounds)
    against = {"controller": "ping", "machines": "setup", "wall": "setup"}

    def ratios(name: str) -> list[float]:
        return [found[name][figure] / found[other][figure] for figure, other in against.items()]

    goals = []
    for name, most in (("preflight, all pairs, no stand-ins", (1.15, 1.3, 1.2)), ("preflight, with stand-ins", (1.4, 1.4, 1.5))):
        goals += [Goal(f"{name}: {figure} / {other}'s", limit, ratio)
                  for (figure, other), limit, ratio in zip(against.items(), most, ratios(name), strict=True)]
    return Table("40 machines, forks 10, new connections", ["", *FIGURES, *(f"{figure} / {other}" for figure, other in against.items())],
                 [[*row, *ratios(row[0])] for row in rows_of(found)], goals)


def _usual(number: int, rounds: int, times: float) -> Table:
    with bench(spec(number)) as box:
        found = box.in_turn({"the usual playbook": play(playbook=ROOT / "tests" / "bench" / "usual.yml"), "preflight": play()}, rounds)
    ratio = found["preflight"]["wall"] / found["the usual playbook"]["wall"]
    return Table(f"The usual playbook, {number} machines, forks 10", ["", *FIGURES], rows_of(found),
                 [Goal(f"wall / the usual playbook's, that is {1 / ratio:.1f} times less", 1 / times, ratio)])


def usual10(rounds: int = 3) -> Table:
    """10 machines: the usual playbook, and the preflight."""
    return _usual(10, rounds, 5)


def usual40(rounds: int = 1) -> Table:
    """40 machines: the usual playbook, and the preflight; it takes long, and one round shows a difference of this size."""
    return _usual(40, rounds, 20)


def growth(rounds: int = 3) -> Table:
    """200 machines and 20: the controller's processor time for each, with edges by role."""
    found = {}
    for number in (20, 200):
        with bench(spec(number)) as box:
            costs = box.in_turn({f"preflight, {number} machines": play(), f"ping, {number} machines": module("ping")}, rounds)
        found.update({name: [number, cost] for name, cost in costs.items()})
    each = {name: 1000 * cost["controller"] / number for name, (number, cost) in found.items()}
    return Table("200 machines and 20, forks 10", ["", *FIGURES, "ms of the controller for each machine"],
                 [[*row, each[row[0]]] for row in rows_of({name: cost for name, (number, cost) in found.items()})],
                 [Goal("controller for each machine, 200 / 20", 1.2, each["preflight, 200 machines"] / each["preflight, 20 machines"])])


def judge(rounds: int = 5) -> Table:
    """1,000 records, made from real ones of 40 machines: to judge and to show them, on the controller alone; and ping of the 40."""
    with bench(spec(judging.PINGED)) as box:
        folder = box.home / "records"
        box.cost(play({"preflight_records_dir": str(folder)}))
        part = json.loads(next(folder.iterdir()).read_text(encoding="utf-8"))
        return judging.table(part, rounds, lambda: box.cost(module("ping"))["controller"])


def hang(rounds: int = 3) -> Table:
    """20 machines, and the same with one that lets in and then never answers."""
    hanging = {"name": "hangs", "groups": ["node"], "login_shell": HANG,
               "files": {HANG: {"content": "#!/bin/sh\nexec sleep 100000\n", "mode": "0755"}}}
    run = play({"preflight_limits": {"machine_s": DEADLINE_S}, "preflight_fail_on": "never"})
    with bench([*spec(20), hanging]) as box:
        without = box.in_turn({"20 machines": run}, rounds, without=["hangs"])
        found = {**without, "and one that hangs": box.in_turn({"20 machines and one that hangs": run}, rounds)[
            "20 machines and one that hangs"]}
    more = found["and one that hangs"]["wall"] - found["20 machines"]["wall"]
    return Table(f"One machine that hangs, forks 10, deadline {DEADLINE_S} s", ["", *FIGURES], rows_of(found),
                 [Goal(f"seconds that it costs all together, of which {DEADLINE_S} are the deadline", DEADLINE_S + SPARE_S, more)])


def busy(rounds: int = 1) -> Table:
    """40 healthy machines with forks 50 while something else takes all processors: findings above ok."""
    rows: Rows = []
    with bench(spec(40)) as box, busy_cores():
        for number in range(rounds):
            folder = box.home / f"report{number}"
            box.cost(play({"preflight_report_dir": str(folder), "preflight_fail_on": "never"}), forks=50)
            report = json.loads((folder / "preflight.json").read_text(encoding="utf-8"))
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
    finally:
        for program in taking:
            program.kill()
            program.wait()


def forks(rounds: int = 3) -> Table:
    """40 machines: forks 5, 10, 20 and 40."""
    found = {}
    with bench(spec(40)) as box:
        for number in (5, 10, 20, 40):
            found.update(box.in_turn({f"preflight, forks {number}": play(), f"ping, forks {number}": module("ping")}, rounds, forks=number))
    return Table("forks, 40 machines, new connections", ["", *FIGURES], rows_of(found))


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
    return Table("Connections, 40 machines, forks 10", ["", *FIGURES], rows_of(found))


PARTS: dict[str, t.Callable[..., Table]] = {
    part.__name__: part for part in (many, usual10, usual40, growth, judge, hang, busy, forks, connections)}
