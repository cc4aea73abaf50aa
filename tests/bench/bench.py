"""What a preflight costs, beside what else people run, in one run on one lab.

    python3 tests/bench/bench.py [--machines 40] [--forks 10] [--rounds 3] [--usual] [--json FILE]

Each round runs every command once, in turn, over cold connections; the table shows the median of the rounds: wall
seconds, and processor seconds of the controller and of the machines. All share this box, so compare the columns and
not the figures with another box's. There are three databases, three control planes, and nodes; every machine tries every
other on its SSH port, and the ports of its roles by stand-ins. Needs root, and ansible on the PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from lab import Lab  # noqa: E402 - a script, not a test: nothing puts tests/ on its path but the line above, which must come first

FIGURES = ("wall", "controller", "hosts")


def commands(inventory: Path, forks: int, usual: bool) -> dict[str, list[str]]:
    common = ["-i", str(inventory), "-f", str(forks)]
    play = ["ansible-playbook", *common, str(ROOT / "playbooks" / "preflight.yml")]
    made = {
        "ping": ["ansible", *common, "all", "-m", "ping"],
        "setup": ["ansible", *common, "all", "-m", "setup"],
        "preflight": play,
        "no role ports": [*play, "-e", '{"preflight_role_ports": false}'],
        "nor pairs": [*play, "-e", '{"preflight_role_ports": false, "preflight_address": "localhost", "preflight_fail_on": "never"}'],
    }
    if usual:
        made["the usual playbook"] = ["ansible-playbook", *common, str(ROOT / "tests" / "bench" / "usual.yml")]
    return made


def cost(lab: Lab, command: list[str], home: str) -> dict[str, float]:
    """Run one command over cold connections; all machines must have been read."""
    shutil.rmtree(f"{lab.dir}/cp", ignore_errors=True)
    os.mkdir(f"{lab.dir}/cp")
    environment = {**os.environ, "ANSIBLE_HOME": home, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections")}
    with lab.network(), lab.measure() as used:
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return {figure: getattr(used, figure) for figure in FIGURES}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--machines", type=int, default=40)
    options.add_argument("--forks", type=int, default=10)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--usual", action="store_true", help="also the usual playbook; at 40 machines it takes minutes")
    options.add_argument("--json", metavar="FILE", help="write every figure there")
    chosen = options.parse_args()
    lab = Lab(f"/run/llmgw-preflight-bench-{os.getpid()}")
    figures: dict[str, list[dict[str, float]]] = {}
    try:
        lab.up({"hosts": [{"name": "db%d", "count": 3, "groups": ["database"]}, {"name": "cp%d", "count": 3, "groups": ["control_plane"]},
                          {"name": "m%03d", "count": chosen.machines - 6, "groups": ["node"]}]})
        with tempfile.TemporaryDirectory() as home:
            inventory = Path(home) / "hosts.json"
            inventory.write_text(json.dumps(lab.inventory()))
            for number in range(chosen.rounds):
                for name, command in commands(inventory, chosen.forks, chosen.usual).items():
                    print(f"round {number + 1} of {chosen.rounds}: {name}", file=sys.stderr, flush=True)
                    figures.setdefault(name, []).append(cost(lab, command, home))
    finally:
        lab.down()
    print(f"{chosen.machines} machines, forks {chosen.forks}, median of {chosen.rounds}, seconds")
    print(f"{'':<20}{'wall':>8}{'controller':>12}{'machines':>10}")
    for name, runs in figures.items():
        wall, controller, machines = (statistics.median(run[figure] for run in runs) for figure in FIGURES)
        print(f"{name:<20}{wall:>8.1f}{controller:>12.1f}{machines:>10.1f}")
    if chosen.json:
        Path(chosen.json).write_text(json.dumps({"options": vars(chosen), "figures": figures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
