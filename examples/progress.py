"""Run the preflight by ansible-runner, and show how far it is while it runs:  python3 progress.py INVENTORY [VARIABLE=VALUE ...]

With ansible_runner.run, whose events come as they happen. The same events come from `ansible-runner process`, and from AWX.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ansible_runner

READS = "llmgw.preflight.probe"  # the task that reads each machine


class Progress:
    """What the events tell."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.outcome: dict[str, Any] = {}

    def on_event(self, event: Mapping[str, Any]) -> bool:
        data = event.get("event_data") or {}
        kind = event.get("event")
        if kind == "playbook_on_task_start":
            print(f".. {data['name'].partition(' : ')[2] or data['name']}", flush=True)
        elif kind in ("runner_on_ok", "runner_on_failed") and data.get("task_action") == READS and data["host"] not in self.read:
            self.read.append(data["host"])
            login = data["res"].get("record", {}).get("login", {})
            print(f"   {len(self.read)}: {data['host']} {'was read' if login.get('ok') else 'could not be read'}", flush=True)
        elif kind == "playbook_on_stats":  # also when the play failed
            self.outcome = data.get("artifact_data", {}).get("preflight", {})
        return False  # keep no file of the event


def main(inventory: str, *variables: str) -> int:
    progress = Progress()
    with tempfile.TemporaryDirectory() as folder:
        result = ansible_runner.run(
            private_data_dir=folder,
            inventory=str(Path(inventory).absolute()),
            playbook="llmgw.preflight.preflight",
            extravars=dict(variable.split("=", 1) for variable in variables),
            event_handler=progress.on_event,
            quiet=True,
        )
        if not progress.outcome:  # it came to no judgement: Ansible's own words say why
            print(f"There is no report ({result.status}).\n{result.stdout.read()}")
            return result.rc or 1
    counts = progress.outcome["counts"]
    number = progress.outcome["machines"]
    print(f"{number} machine{'s' if number != 1 else ''}: {counts['fail']} fail, {counts['warn']} warn, {counts['ok']} ok")
    for finding in progress.outcome["findings"]:
        print(f"{finding['level']}  {finding['machine'] or 'all machines'}: {finding['check']}: {finding['detail']}")
    return result.rc


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
