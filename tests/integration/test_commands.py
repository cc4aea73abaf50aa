"""Each command line of README and docs/ is one: make knows its targets, and Ansible its playbooks and options. What README has a user
do first is run."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [path.read_text("utf-8") for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))]
LINES = sorted({line.split("  #")[0].strip() for text in TEXTS
                for line in re.findall(r"^(?: {4}|(?=ansible-playbook ))((?:make|ansible|python3|git)\S* .*)$",
                                       re.sub(r"^```(?!yaml).*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)}
               | {line for text in TEXTS for line in re.findall(r"`((?:make|ansible-doc|ansible-inventory) [^`…]+)`", text)})
TARGETS = set(" ".join(re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)).split())
ELSEWHERE = ("git ", "ansible-galaxy collection publish")  # not for a test to do
OF_RELEASE = "ansible-galaxy collection install"  # tests/tools/release.py does it with the file
HOSTS = "node: {hosts: {localhost: {ansible_connection: local, ansible_python_interpreter: '{{ ansible_playbook_python }}'}}}\n"


def run(folder, *command):
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"), "ANSIBLE_HOME": str(folder / "home"),
                   "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_they_are_found():
    assert len(LINES) > 10
    for beginning in ("make test", "make preflight", "ansible-playbook llmgw.preflight.preflight -i hosts.yml",
                      "ansible-playbook llmgw.preflight.judge", "ansible-runner "):
        assert any(line.startswith(beginning) for line in LINES), beginning


@pytest.mark.newest
@pytest.mark.parametrize("line", LINES)
def test_each_can_be_run(line, tmp_path):
    if line.startswith((*ELSEWHERE, OF_RELEASE)):
        return
    for given in re.findall(r"(?:-i |-e @|INVENTORY=)([\w/.]+\.yml)", line):
        (tmp_path / given).write_text(HOSTS if "-e @" + given not in line else "{}\n")
    (tmp_path / "profile.yml").write_text((ROOT / "roles" / "preflight" / "profiles" / "llmgw.yml").read_text())
    for part in line.split(" | "):
        words = [word for word in shlex.split(re.sub(r"^ssh \S+ ", "", part)) if word != "..."]
        if words[0] == "make":
            assert words[1] in TARGETS  # make itself also takes the name of a file
            run(ROOT, "make", "--dry-run", "--silent", *words[1:])
        elif words[0] == "ansible-playbook":
            if not (ROOT / "docs" / "awx" / words[1]).is_file():  # that one needs a collection that the tests do without
                run(tmp_path, words[0], "--syntax-check", *words[1:])
        elif words[0] == "ansible-runner":
            run(tmp_path, *words[:2], "--help")
        elif words[0] in ("ansible-doc", "ansible-inventory"):
            (tmp_path / "hosts.yml").write_text(HOSTS)
            assert words[-1].strip("-") in run(tmp_path, *words) or "localhost" in run(tmp_path, *words)
        else:
            assert words[0] == "python3" and (ROOT / words[1]).is_file(), line  # test_examples.py runs it


@pytest.mark.newest
def test_what_the_readme_has_a_user_do_first_is_run(tmp_path):
    """By the ansible-core of this test, and whatever is found on this machine."""
    besides = json.dumps({"preflight_fail_on": "never", "preflight_internet_urls": [], "preflight_skip": ["mirrors"],
                          "preflight_records_dir": str(tmp_path / "records")})
    (tmp_path / "hosts.yml").write_text(HOSTS)
    (line,) = re.findall(r"^ {4}(ansible-playbook .*)$", TEXTS[0], re.MULTILINE)
    judge = next(line for line in LINES if line.startswith("ansible-playbook llmgw.preflight.judge"))  # what the first has saved
    shown = [run(tmp_path, *shlex.split(line), "-e", besides) for line in (line, judge)]
    venv = Path(sys.executable).parents[1]
    shown.append(run(ROOT, "make", f"--assume-old={venv}/installed", "preflight", f"VENV={venv}", f"ARGS=-e '{besides}'"))
    assert [text for text in shown if not re.search(r"^1 machine, \d\d checks: ", text, re.MULTILINE)] == []
