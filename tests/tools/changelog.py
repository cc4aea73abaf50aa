"""Writes CHANGELOG.md out of changelogs/, by antsibull-changelog.

changelog.py: as it is, and shows what the next entry will be by what lies in changelogs/fragments.
changelog.py VERSION: gives the collection that version wherever it stands, and makes the fragments its entry for good. What keeps it
from that is told before anything is changed.
"""

import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from ansible.utils.version import SemanticVersion

ROOT = Path(__file__).resolve().parents[2]
MADE = ("CHANGELOG.md", "changelogs/changelog.yaml")
FRAGMENTS = "changelogs/fragments"
NEXT = "999.0.0"  # in place of a version that nobody has chosen yet
STANDS_IN = {"galaxy.yml": "version: {}\n", "docs/awx/collections/requirements.yml": 'version: ">={}"\n'}


def refusal(version, before, released, fragments, unknown):
    """Why this can't be the next version; None where it can."""
    try:
        new, earlier = SemanticVersion(version), [SemanticVersion(known) for known in released]
    except ValueError:
        return f"{version} is no version such as 1.0.0."
    if version in released:
        return f"{version} is in changelogs/ already: without VERSION, make release builds what galaxy.yml says."
    if any(new < known for known in [*earlier, SemanticVersion(before)]):
        return f"{version} is before what there is already: {', '.join([*released, before])}."
    if not fragments:
        return "There is nothing in changelogs/fragments, so the entry would be empty."
    return "\n".join(f"git does not know {name}: add it, or take it away" for name in unknown) or None


def unknown_files():
    listing = ["git", "-C", str(ROOT), "ls-files", "-z", "--others", "--exclude-standard"]
    return [name for name in subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split("\0") if name]


def set_version(copy, before, version):
    for name, line in STANDS_IN.items():
        text = (copy / name).read_text(encoding="utf-8")
        if text.count(line.format(before)) != 1:
            sys.exit(f"{name} does not say once {line.format(before)}")
        (copy / name).write_text(text.replace(line.format(before), line.format(version)), encoding="utf-8")


def antsibull(copy, *commands):
    mine = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{mine}:{os.environ['PATH']}"}  # it looks for ansible-doc there
    for command in commands:
        done = subprocess.run([mine / "antsibull-changelog", command], cwd=copy, env=environment, check=False)
        if done.returncode:
            sys.exit(f"antsibull-changelog {command} ended with {done.returncode}")


def main(version=None):
    from sanity import files  # which needs what only some environments have
    before = yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))["version"]
    released = (yaml.safe_load((ROOT / MADE[1]).read_text(encoding="utf-8")) or {}).get("releases") or {}
    fragments = sorted((ROOT / FRAGMENTS).glob("*.yml"))
    told = version and refusal(version, before, list(released), fragments, unknown_files())
    if told:
        sys.exit(told)
    with tempfile.TemporaryDirectory() as parent:
        # It wants the collection in a folder of a form, and finds no plugins where git does not know them; so it has a copy.
        copy = Path(parent, "ansible_collections", "llmgw", "preflight")
        for name in files():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
        if version:
            set_version(copy, before, version)
            antsibull(copy, "lint", "release")
            for name in (*MADE, *STANDS_IN):
                shutil.copy2(copy / name, ROOT / name)
            for fragment in fragments:
                fragment.unlink()
            return 0
        antsibull(copy, "lint", "generate")
        shutil.copy2(copy / MADE[0], ROOT / MADE[0])
        if fragments:
            if before in released:
                set_version(copy, before, NEXT)
            antsibull(copy, "release")
            was = (ROOT / MADE[0]).read_text(encoding="utf-8").splitlines()
            print("\n".join(line[2:] for line in difflib.ndiff(was, (copy / MADE[0]).read_text(encoding="utf-8").splitlines())
                            if line.startswith("+ ") and NEXT not in line.replace("\\", "").replace("-", ".") and "<a " not in line))
        else:
            print("There is nothing in changelogs/fragments.")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
