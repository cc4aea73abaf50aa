"""Plays through ansible-runner, as AWX runs them; on the lab's machines where they need any."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import sys
from pathlib import Path

import ansible_runner
import pytest
from lab import Lab

ROOT = Path(__file__).parents[2]
PLAYBOOK = ROOT / "playbooks" / "preflight.yml"
THIS_MACHINE = ROOT / "playbooks" / "this_machine.yml"
STATE = Path("/run/llmgw-preflight-tests-")  # and the process's id: two runs side by side do not meet
RUN_S = 600  # no play of these tests takes a tenth of it; one that hangs must not hang them


@dataclasses.dataclass
class Outcome:
    """What a play left behind."""

    rc: int
    output: str  # as on the screen
    events: list  # ansible-runner's
    report: dict | None  # the JSON file
    folder: Path  # ansible-runner's

    def steady(self):
        """The report without what differs from run to run: when it was made, how closely a clock could be told, how long a way takes."""
        report = json.loads(re.sub(r"\d+\.(\d{3} s|\d ms)", lambda found: f"# {found[1].split()[1]}", json.dumps(self.report)))
        machines = [{**machine, "clock": sorted(machine["clock"] or ())} for machine in report["machines"]]
        return {**report, "machines": machines, "about": sorted(report["about"])}

    def records(self):
        """machine -> what the probe returned for it."""
        return {
            event["event_data"]["host"]: event["event_data"]["res"]["record"]
            for event in self.events
            if event["event"] == "runner_on_ok" and event["event_data"].get("task_action", "").endswith("probe")
        }

    def findings(self, check=None):
        """(machine, check) -> finding."""
        return {(f["machine"], f["check"]): f for f in self.report["findings"] if check in (None, f["check"])}


def run_play(folder, inventory=THIS_MACHINE, lab=None, playbook=PLAYBOOK, arguments="", variables=None, settings=None):
    """Run a playbook through ansible-runner, on the lab's network if one is given, and return its Outcome."""
    reports = folder / "reports"
    if isinstance(inventory, dict):
        (folder / "hosts.json").write_text(json.dumps(inventory))
        inventory = folder / "hosts.json"
    given = {"preflight_report_dir": str(reports), **(variables or {})}
    (folder / "vars.json").write_text(json.dumps(given))
    with lab.network() if lab else contextlib.nullcontext():
        result = ansible_runner.run(
            private_data_dir=str(folder),
            playbook=str(playbook),
            inventory=str(inventory),
            cmdline=f"-e @{folder / 'vars.json'} {arguments}",
            envvars={
                "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
                "ANSIBLE_HOME": str(folder / "home"),
                "ANSIBLE_NOCOLOR": "1",
                "ANSIBLE_FORCE_COLOR": "0",
                "ANSIBLE_DEPRECATION_WARNINGS": "0",
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                **(settings or {}),
            },
            timeout=RUN_S,
            quiet=True,
        )
        assert result.status != "timeout", "the play hung"
        file = reports / "preflight.json"
        report = json.loads(file.read_text()) if file.exists() else None
        return Outcome(result.rc, result.stdout.read(), list(result.events), report, folder)


@pytest.fixture(scope="session")
def play(tmp_path_factory):
    """play(inventory, lab, ...): run_play in a new folder."""
    return lambda *given, **options: run_play(tmp_path_factory.mktemp("play"), *given, **options)


@pytest.fixture(scope="session")
def make_lab():
    """make_lab(spec): the lab with these machines; the one before is taken down."""
    if os.geteuid() and not os.environ.get("CI"):
        pytest.skip("the lab makes namespaces and needs root")  # under CI it fails instead, in lab.up
    for left in STATE.parent.glob(f"{STATE.name}*"):  # by a run that was killed
        if not Path("/proc", left.name.removeprefix(STATE.name)).exists():
            Lab(str(left)).down()
    lab = Lab(f"{STATE}{os.getpid()}")

    def make(spec):
        lab.up(spec)
        return lab

    yield make
    lab.down()
