"""Writes CHANGELOG.md out of changelogs/, by antsibull-changelog.

changelog.py: as it will be when the version that galaxy.yml has is released, with what lies in changelogs/fragments.
changelog.py VERSION: gives the collection that version wherever it stands, and makes the fragments its entry for good.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from sanity import files

ROOT = Path(__file__).resolve().parents[2]
MADE = ("CHANGELOG.md", "changelogs/changelog.yaml")
FRAGMENTS = "changelogs/fragments"
STANDS_IN = {"galaxy.yml": "version: {}\n", "docs/awx/collections/requirements.yml": 'version: ">={}"\n'}


def set_version(before, version):
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[0-9a-z.]+)?", version):
        sys.exit(f"{version} is no version such as 1.0.0.")
    for name, line in STANDS_IN.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        if text.count(line.format(before)) != 1:
            sys.exit(f"{name} does not say once {line.format(before)}")
        (ROOT / name).write_text(text.replace(line.format(before), line.format(version)), encoding="utf-8")


def make(copy, step):
    """It wants the collection in a folder of a form, and finds no plugins where git does not know them; so it has a copy."""
    for name in files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    mine = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{mine}:{os.environ['PATH']}"}  # it looks for ansible-doc there
    for command in (["lint"], [step]):
        done = subprocess.run([mine / "antsibull-changelog", *command], cwd=copy, env=environment, check=False)
        if done.returncode:
            sys.exit(f"antsibull-changelog {command[0]} ended with {done.returncode}")


def released():
    with open(ROOT / MADE[1], encoding="utf-8") as file:
        return (yaml.safe_load(file) or {}).get("releases") or {}


def main(version=None):
    before = yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))["version"]
    if version in released():
        sys.exit(f"{version} is released already.")
    if version:
        set_version(before, version)
    with tempfile.TemporaryDirectory() as parent:
        copy = Path(parent, "ansible_collections", "llmgw", "preflight")
        make(copy, "generate" if before in released() and not version else "release")
        for name in MADE if version else MADE[:1]:
            shutil.copy2(copy / name, ROOT / name)
        for fragment in (ROOT / FRAGMENTS).glob("*.yml") if version else ():
            fragment.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
