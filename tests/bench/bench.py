"""What a preflight costs, beside what else people run, on the machines of the lab.

    python3 tests/bench/bench.py [--only NAME ...] [--rounds N] [--json FILE] [--list]
    python3 tests/bench/bench.py --fill FILE

Each round runs every command of a part once, in turn; a table shows the median of the rounds. Controller and machines are processor
seconds, wall is seconds. All share this box, so compare the rows and not the figures with another box's. The exit status is 1 where a
goal is missed. --fill writes the tables of such a JSON file into docs/performance.md, which it does by itself after no run. Needs root,
and the ansible that is to be measured on the PATH.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import typing as t
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / ".collections")]

from bench import parts  # noqa: E402 - a script, not a test: nothing puts tests/ on its path but the line above, which must come first
from bench.document import fill  # noqa: E402 - as above


def box() -> dict[str, str]:
    ansible = subprocess.run(["ansible", "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
    return {"ansible": ansible, "python": platform.python_version(), "kernel": platform.release(), "cpus": str(os.cpu_count())}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", nargs="+", choices=list(parts.PARTS), metavar="NAME", help="only these parts (--list shows them)")
    options.add_argument("--rounds", type=int, help="so many rounds of each part, in place of its own number")
    options.add_argument("--json", type=Path, metavar="FILE", help="write the tables there too; those of other parts in it stay")
    options.add_argument("--list", action="store_true", help="tell the parts and end")
    options.add_argument("--fill", type=Path, metavar="FILE", help="put the tables of this JSON file into docs/performance.md and end")
    chosen = options.parse_args()
    if chosen.list:
        print("\n".join(f"{name:<12}{(part.__doc__ or '').splitlines()[0]}" for name, part in parts.PARTS.items()))
        return 0
    if chosen.fill:
        fill(json.loads(chosen.fill.read_text(encoding="utf-8")))
        return 0
    found: dict[str, t.Any] = {"box": box(), "parts": {}}
    if chosen.json and chosen.json.exists():
        before = json.loads(chosen.json.read_text(encoding="utf-8"))
        if before["box"] != found["box"]:
            raise SystemExit(f"{chosen.json} holds tables of {before['box']}, and this is {found['box']}: give another file.")
        found["parts"] = before["parts"]
    missed = 0
    for name in chosen.only or parts.PARTS:
        print(f"{name}:", file=sys.stderr, flush=True)
        table = parts.PARTS[name](**({"rounds": chosen.rounds} if chosen.rounds else {}))
        missed += sum(not goal.met for goal in table.goals)
        print(f"{table}\n", flush=True)
        found["parts"][name] = table.as_dict()
        if chosen.json:
            chosen.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if missed:
        print(f"{missed} of the goals are missed.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
