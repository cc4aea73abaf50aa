"""What examples/ and docs/runner.md show, run on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = ROOT / "playbooks" / "this_machine.yml"


def run(tmp_path, *line):
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"), "ANSIBLE_HOME": str(tmp_path / "home"),
                   "ANSIBLE_NOCOLOR": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(line, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize(("limit", "rc"), [("1", 0), ("4096", 2)])
def test_progress_is_shown_and_the_outcome_also_when_it_fails(tmp_path, limit, rc):
    profile = tmp_path / "mine.yml"
    profile.write_text(f"needs: {{node: {{cpus: {limit}}}}}\nsystems: {{debian: ['12']}}\narchitectures: [x86_64]\n")
    done = run(tmp_path, sys.executable, str(ROOT / "examples" / "progress.py"), str(HERE), f"preflight_profile={profile}",
               "preflight_only=cpus")
    assert done.returncode == rc, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    read = lines.index("   1: localhost was read")
    assert any(line.startswith(".. Read each machine") for line in lines[:read])
    assert ".. Judge all machines" in lines[read:]
    assert any(line.startswith(f"1 machine: {rc // 2} fail, 0 warn, ") for line in lines)
    assert [line for line in lines if line.startswith("fail  localhost: cpus: ")] == lines[len(lines) - rc // 2:]


def test_without_a_judgement_that_is_said(tmp_path):
    done = run(tmp_path, sys.executable, str(ROOT / "examples" / "progress.py"), str(HERE), "preflight_fail_on=maybe")
    assert done.returncode == 2
    assert "There is no report (failed)." in done.stdout
    assert "preflight_fail_on is 'maybe'" in done.stdout
