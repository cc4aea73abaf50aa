"""Runs commands on a lab, counts what they cost, and makes tables of it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import operator
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import typing as t
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lab import Lab

ROOT = Path(__file__).parents[2]
PLAYBOOK = ROOT / "playbooks" / "preflight.yml"
FIGURES = ("controller", "machines", "wall")
RUN_S = 1800  # no run takes half of it
Cost = Mapping[str, float]
Costs = Mapping[str, Sequence[Cost]]  # of each run by its name, in each round


@dataclasses.dataclass
class Goal:
    what: str
    most: float
    found: float

    @property
    def met(self) -> bool:
        return self.found <= self.most

    def __str__(self) -> str:
        return f"{self.what}: {self.found:.3g} (goal: {self.most:g} or less){'' if self.met else '  MISSED'}"


@dataclasses.dataclass
class Table:
    """What one part of the bench found; the first cell of a row says of what it is."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[t.Any]]
    goals: Sequence[Goal] = ()
    note: str = ""

    def cells(self) -> list[list[str]]:
        return [list(self.columns), *([cell if isinstance(cell, str) else f"{cell:.2f}" for cell in row] for row in self.rows)]

    def __str__(self) -> str:
        cells = self.cells()
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.columns))]
        lines = ["  ".join(cell.rjust(width) if at else cell.ljust(width) for at, (cell, width) in enumerate(zip(row, widths, strict=True)))
                 for row in cells]
        return "\n".join([self.title, *(f"  {line}" for line in lines), *([f"  {self.note}"] if self.note else []),
                          *(f"  {goal}" for goal in self.goals)])

    def as_dict(self) -> dict[str, t.Any]:
        return {**dataclasses.asdict(self), "goals": [{**dataclasses.asdict(goal), "met": goal.met} for goal in self.goals]}


@dataclasses.dataclass
class Run:
    """A command as the controller, with these variables of its environment, and ``without`` these machines; ``warm`` takes over the
    connections of the run before."""

    command: Sequence[str]
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    warm: bool = False
    forks: int = 10
    without: Sequence[str] = ()


def play(variables: Mapping[str, t.Any] | None = None, playbook: Path = PLAYBOOK, **options: t.Any) -> Run:
    return Run(["ansible-playbook", str(playbook), "-e", json.dumps(variables or {})], **options)


def module(name: str, **options: t.Any) -> Run:
    return Run(["ansible", "all", "-m", name], **options)


def spec(number: int) -> list[dict[str, t.Any]]:
    """Machines of all kinds: three for the database, three for the control plane, and nodes."""
    return [{"name": "db%d", "count": 3, "groups": ["database"]}, {"name": "cp%d", "count": 3, "groups": ["control_plane"]},
            {"name": "m%03d", "count": number - 6, "groups": ["node"]}]


class Bench:
    """A lab that is up, and its inventory."""

    def __init__(self, lab: Lab, home: Path) -> None:
        self.lab, self.home = lab, home
        self.inventory = lab.inventory()

    def cost(self, run: Run) -> Cost:
        """What one run costs; over new connections if it is not to be warm."""
        control = f"{self.lab.dir}/cp"
        if not run.warm:
            for name in os.listdir(control):  # else those of 200 machines would end while 20 are measured
                subprocess.run(["ssh", "-F", "/dev/null", "-o", f"ControlPath={control}/{name}", "-O", "exit", "lab"], check=False,
                               capture_output=True, stdin=subprocess.DEVNULL, timeout=RUN_S)
            shutil.rmtree(control)
            os.mkdir(control)
        hosts = {name: its for name, its in self.inventory["all"]["hosts"].items() if name not in run.without}
        groups = {group: {"hosts": {name: None for name in its["hosts"] if name in hosts}}
                  for group, its in self.inventory["all"]["children"].items()}
        file = self.home / "hosts.json"
        file.write_text(json.dumps({"all": {**self.inventory["all"], "hosts": hosts, "children": groups}}))
        environment = {**os.environ, "ANSIBLE_HOME": str(self.home), "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
                       "ANSIBLE_INVENTORY": str(file), "ANSIBLE_FORKS": str(run.forks), **run.environment}
        with self.lab.network(), self.lab.measure() as used:
            done = subprocess.run(run.command, check=False, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  timeout=RUN_S)
        if done.returncode:
            raise SystemExit(f"{' '.join(run.command)} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return {"controller": used.controller, "machines": used.hosts, "wall": used.wall}

    def in_turn(self, runs: Mapping[str, Run], rounds: int) -> Costs:
        """In each round each run once, so that what else the box does meets all of them."""
        found: dict[str, list[Cost]] = {name: [] for name in runs}
        for number in range(rounds):
            for name, run in runs.items():
                print(f"  round {number + 1} of {rounds}: {name}", file=sys.stderr, flush=True)
                found[name].append(self.cost(run))
        return found


def rows_of(found: Costs) -> list[list[t.Any]]:
    """The median of each figure of each run."""
    return [[name, *(statistics.median(cost[figure] for cost in costs) for figure in FIGURES)] for name, costs in found.items()]


def beside(found: Costs, name: str, other: str, figure: str, how: t.Callable[[float, float], float] = operator.truediv) -> float:
    """How one run stands to another, as the median of what that is in each round: what disturbs a round meets both."""
    return statistics.median(how(one[figure], its[figure]) for one, its in zip(found[name], found[other], strict=True))


def told(rounds: int) -> str:
    """Of how many rounds a table is, which says how much it is worth."""
    return f"Median of {rounds} rounds." if rounds > 1 else "Of one round."


@contextlib.contextmanager
def bench(hosts: Sequence[Mapping[str, t.Any]]) -> Iterator[Bench]:
    lab = Lab(f"/run/llmgw-preflight-bench-{os.getpid()}")
    with tempfile.TemporaryDirectory() as home:
        try:
            lab.up({"hosts": hosts})
            yield Bench(lab, Path(home))
        finally:
            lab.down()
