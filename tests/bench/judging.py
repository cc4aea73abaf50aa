"""What it costs to judge and to show many records, made from a few real ones; as a program it does so once, and tells it as JSON."""

from __future__ import annotations

import copy
import datetime
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import typing as t
from collections.abc import Mapping, Sequence
from pathlib import Path

from .measure import ROOT, Goal, Table, told

NUMBER = 1000
# Goals are in seconds of a box on which ping of so many machines takes the controller so long; in each round it is measured what it
# takes here, since seconds of one box, or of one minute, are not those of another.
PINGED, PING_S = 40, 10.9
FORMATS = ("json", "html", "xml", "md")
NOTHING = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"ansible.builtin.assert": {"that": True, "quiet": True}}]}]
HANDS_ON = [{"hosts": "localhost", "gather_facts": False, "tasks": [{"hands_on": {}, "register": "preflight_report"}]}]
# An action that does nothing else than to give the report that the judge gave; Ansible looks for it beside its playbook.
ACTION = """
import json
from ansible.plugins.action import ActionBase

class ActionModule(ActionBase):
    def run(self, tmp=None, task_vars=None):
        with open({file!r}, encoding="utf-8") as file:
            return json.load(file)
"""


def copies(part: Mapping[str, t.Any], number: int = NUMBER) -> dict[str, t.Any]:
    """What one run saved, with so many machines: each further one is as one of its nodes, but for what is a machine's own, and for what
    is measured or differs in some bytes from one machine to the next."""
    chance, made = random.Random(1), copy.deepcopy(dict(part))
    nodes = [record for record in part["records"] if record["roles"] == ["node"]]
    known = {machine["machine"]: machine for machine in part["machines"]}
    for at in range(len(made["records"]), number):
        record = copy.deepcopy(nodes[at % len(nodes)])
        machine, name, address = known[record["machine"]], f"n{at:04}", f"10.1.{at // 250}.{at % 250 + 1}"
        record.update(machine=name, address=address)
        record["identity"].update(machine_id=f"{at:032x}", host_keys=[f"SHA256:{at}"], hostname=name, addresses=[address],
                                  macs=[f"52:54:00:00:{at // 250:02x}:{at % 250:02x}"])
        record["names"]["own"]["name"] = name
        record["clock"]["offset_s"] += chance.uniform(-0.1, 0.1)
        for place in (*record["disks"], *record["temp"]):
            place["free_bytes"] -= chance.randrange(2**30)
        for answer in (*record["mirrors"], *record["internet"]):
            answer["seconds"] = round(chance.uniform(0.01, 0.3), 3)
        record["reach"]["seconds"] = {"median": chance.uniform(1e-4, 1e-3), "max": chance.uniform(1e-3, 1e-2)}
        made["records"].append(record)
        made["machines"].append({**machine, "machine": name, "address": address})
    return made


def table(part: Mapping[str, t.Any], rounds: int, ping: t.Callable[[], float]) -> Table:
    """``ping`` runs it once, and gives the controller's processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        file, nothing, hands_on = (Path(folder) / name for name in ("preflight-records-bench.json", "nothing.yml", "hands_on.yml"))
        file.write_text(json.dumps(copies(part)), encoding="utf-8")
        nothing.write_text(json.dumps(NOTHING), encoding="utf-8")
        hands_on.write_text(json.dumps(HANDS_ON), encoding="utf-8")
        for kind, text in (("action_plugins", ACTION.format(file=f"{folder}/preflight.json")), ("library", "")):
            (Path(folder) / kind).mkdir()
            (Path(folder) / kind / "hands_on.py").write_text(text, encoding="utf-8")
        arguments = {"preflight_records": str(file), "preflight_report_dir": folder, "preflight_report_formats": list(FORMATS),
                     "preflight_fail_on": "never"}
        pings, inside, whole, empty, handed_on = [], [], [], [], []
        for number in range(rounds):
            print(f"  round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            pings.append(ping())
            inside.append(json.loads(subprocess.run([sys.executable, "-m", "bench.judging", str(file)], check=True, capture_output=True,
                                                    text=True, cwd=ROOT / "tests", env=_environment(folder)).stdout))
            whole.append(_cost(["ansible-playbook", "-i", "localhost,", str(ROOT / "playbooks" / "judge.yml"), "-e",
                                json.dumps(arguments)], folder))
            empty.append(_cost(["ansible-playbook", "-i", "localhost,", str(nothing)], folder))
            handed_on.append(_cost(["ansible-playbook", "-i", "localhost,", str(hands_on)], folder))
    memory, pinging = statistics.median(one.pop("MB") for one in inside), statistics.median(pings)
    steps = {name: statistics.median(one[name] for one in inside) for name in inside[0]}
    (all_s, all_mb), (least_s, least_mb), (ansible_s, ansible_mb) = (
        [statistics.median(one[at] for one in runs) for at in (0, 1)] for runs in (whole, empty, handed_on))
    totals = [sum(one.values()) for one in inside]
    total = statistics.median(totals)
    rows = [[f"ansible all -m ping, {PINGED} machines", pinging, "", 1000 * pinging / PINGED],
            *([name, spent, "", 1000 * spent / NUMBER] for name, spent in steps.items()),
            ["all of these", total, memory, 1000 * total / NUMBER],
            ["a playbook of one task that does nothing", least_s, least_mb, ""],
            ["a playbook of one task that gives such a report", ansible_s, ansible_mb, ""],
            ["playbooks/judge.yml", all_s, all_mb, 1000 * all_s / NUMBER]]

    def goal(what: str, most: float, spent: t.Iterable[float]) -> Goal:
        return Goal(f"{what}, seconds where that ping takes {PING_S}", most,
                    statistics.median(PING_S * its / ping for its, ping in zip(spent, pings, strict=True)))

    return Table(f"{NUMBER:,} records", ["", "processor seconds", "MB", "ms for each"], rows,
                 [goal("evaluate", 0.2, [one["evaluate"] for one in inside]), goal("evaluate, the terminal and all forms", 1, totals),
                  goal("playbooks/judge.yml more than Ansible takes for such a result", 1,
                       [one - its for (one, _mb), (its, _its_mb) in zip(whole, handed_on, strict=True)]),
                  Goal("playbooks/judge.yml, MB more than Ansible takes for nothing", 300, all_mb - least_mb)], told(rounds))


def _environment(home: str) -> dict[str, str]:
    return {**os.environ, "ANSIBLE_HOME": home, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            "ANSIBLE_LOCALHOST_WARNING": "false", "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / '.collections'}"}


def _cost(command: Sequence[str], home: str) -> tuple[float, float]:
    """Processor seconds, and the MB of the largest of its processes."""
    with subprocess.Popen(command, env=_environment(home), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as program:
        status, used = os.wait4(program.pid, 0)[1:]
        program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {program.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main(file: str) -> None:
    """Judge once and show once in each form; a small report first, so that what is loaded and compiled once does not count."""
    from ansible_collections.llmgw.preflight.plugins.plugin_utils.about import about
    from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
    from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import FILES, text

    records = json.loads(Path(file).read_text(encoding="utf-8"))["records"]
    made = about(datetime.datetime.now().astimezone(), "bench", "llmgw")
    spent: dict[str, float] = {}

    def timed(name: str, work: t.Callable[[], t.Any]) -> t.Any:
        start = time.process_time()
        found = work()
        spent[name] = time.process_time() - start
        return found

    for some in (records[:10], records):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        judged = timed("evaluate", lambda some=some: evaluate(some))
        report = {**judged, "about": made, "not_examined": [], "sampled": None, "changes": None}
        timed("terminal", lambda report=report: list(text.lines(report, 120)))
        for name in FORMATS:
            timed(name, lambda name=name, report=report: FILES[name](report))
    print(json.dumps({**spent, "MB": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024}))


if __name__ == "__main__":
    main(sys.argv[1])
