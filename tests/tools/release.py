"""Builds the collection into dist/, and tries it as somebody does who has nothing but that file.

It is installed offline into an empty folder, verified, and run there by its FQCN on this machine: reading, judging, and all kinds of
report. `ansible-doc` shows each plugin and the role, with an example each. What git does not know is not to be in it, nor a picture
that none of its documents shows.
"""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
NAME = "llmgw.preflight"
INVENTORY = {"node": {"hosts": {"localhost": {
    "ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}}}}
# What is found on this machine is not the point here; what does not answer is not to be waited for.
VARIABLES = {"preflight_fail_on": "never", "preflight_internet_urls": [], "preflight_skip": ["mirrors"], "preflight_report_dir": "reports",
             "preflight_report_formats": ["json", "html", "xml", "md"], "preflight_records_dir": "records"}
LARGEST = 1_500_000  # bytes


def galaxy():
    return yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))


def run(folder, *command, **environment):
    """What it printed. Its own words, and an end, where it fails."""
    program = Path(sys.executable).with_name(command[0]) if isinstance(command[0], str) else command[0]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    done = subprocess.run([program, *map(str, command[1:])], cwd=folder, env={**kept, **environment}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode or command[0] == "ansible-doc" and "WARNING" in done.stderr:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def known():
    """The files that git knows, also those that are added only."""
    return set(run(ROOT, Path(shutil.which("git")), "ls-files", "-z", "--cached").split("\0"))


def wrong_with(members):
    """What is in the tarball, or is missing there, and must not; ``members`` are name -> bytes."""
    files = set(members) - {"MANIFEST.json", "FILES.json"}
    told = []
    if (ROOT / ".git").exists():
        listed = {name for name in known() if (ROOT / name).is_file()}
        ignored = galaxy()["build_ignore"] + ["galaxy.yml", "*.tar.gz"]
        wanted = {name for name in listed if not any(fnmatch.fnmatch(part, pattern) for pattern in ignored for part in with_parents(name))}
        told += [f"git does not know {name}: add it, or take it away" for name in sorted(files - listed)]
        told += [f"{name} is missing" for name in sorted(wanted - files)]
    shown = {name for document in files if document.endswith(".md")
             for name in re.findall(r"!\[[^]]*\]\(([^)]+)\)", (ROOT / document).read_text(encoding="utf-8"))}
    told += [f"no document shows {name}" for name in sorted(files)
             if name.endswith((".png", ".svg")) and not any(name.endswith(picture.lstrip("./")) for picture in shown)]
    return told


def with_parents(name):
    return [name, *(str(parent) for parent in Path(name).parents)][:-1]


def build(folder):
    """The tarball, whose contents were looked at."""
    run(ROOT, "ansible-galaxy", "collection", "build", "--output-path", folder)
    (tarball,) = folder.glob("*.tar.gz")
    with tarfile.open(tarball) as opened:
        told = wrong_with({member.name: member.size for member in opened if member.isfile()})
    size = tarball.stat().st_size
    if size > LARGEST:
        told.append(f"it has {size:,} bytes, more than {LARGEST:,}")
    if told:
        sys.exit("\n".join([f"{tarball.name}:", *told]))
    print(f"  built: {tarball.name}, {size:,} bytes", flush=True)
    return tarball


def install(tarball, folder):
    """The environment in which only it and Ansible itself are there."""
    collections = folder / "collections"
    alone = {"ANSIBLE_COLLECTIONS_PATH": str(collections), "ANSIBLE_HOME": str(folder / "home"), "ANSIBLE_NOCOLOR": "1",
             "ANSIBLE_LOCALHOST_WARNING": "0"}
    run(folder, "ansible-galaxy", "collection", "install", "--offline", "-p", collections, tarball, **alone)
    run(folder, "ansible-galaxy", "collection", "verify", "--offline", "-p", collections, NAME, **alone)
    print("  installed offline and verified", flush=True)
    return alone


def run_playbooks(folder, alone):
    (folder / "hosts.yml").write_text(yaml.safe_dump(INVENTORY))
    (folder / "vars.yml").write_text(yaml.safe_dump(VARIABLES))
    run(folder, "ansible-playbook", f"{NAME}.preflight", "-i", "hosts.yml", "-e", "@vars.yml", **alone)
    made = sorted(path.name for path in (folder / "reports").iterdir())
    wanted = sorted(f"preflight.{name}" for name in VARIABLES["preflight_report_formats"])
    first = json.loads((folder / "reports" / "preflight.json").read_text(encoding="utf-8"))
    run(folder, "ansible-playbook", f"{NAME}.judge", "-e", "@vars.yml", "-e", "preflight_records=records", **alone)
    second = json.loads((folder / "reports" / "preflight.json").read_text(encoding="utf-8"))
    told = [report["about"]["version"] for report in (first, second)]
    about = {finding["machine"] for finding in second["findings"]} - {None}
    if made != wanted or told != [galaxy()["version"]] * 2 or about != {"localhost"}:
        sys.exit(f"Run from the tarball, {NAME} wrote {made}, of the versions {told}.")
    wrappers = folder / "collections" / "ansible_collections" / "llmgw" / "preflight" / "docs" / "awx"
    for wrapper in ("preflight", "judge"):
        run(folder, "ansible-playbook", "--syntax-check", wrappers / f"{wrapper}.yml",
            "-i", "hosts.yml", **alone)
    print(f"  ran {NAME}.preflight and {NAME}.judge: {first['counts']}", flush=True)


def show_documentation(folder, alone):
    modules, filters = ([f"{NAME}.{path.stem}" for path in sorted((ROOT / "plugins" / kind).glob("*.*"))
                         if path.suffix == suffix] for kind, suffix in (("modules", ".py"), ("filter", ".yml")))
    without = []
    for kind, names in (("module", modules), ("filter", filters)):
        shown = json.loads(run(folder, "ansible-doc", "--json", "-t", kind, *names, **alone))
        without += [name for name in names if not (shown.get(name) or {}).get("examples")]
    role = f"{NAME}.preflight"
    if "EXAMPLES" not in run(folder, "ansible-doc", "-t", "role", role, **alone):
        without.append(role)
    if without:
        sys.exit(f"ansible-doc shows no example of {', '.join(without)}.")
    print(f"  documentation with examples: {len(modules)} modules, {len(filters)} filter, 1 role", flush=True)


def main():
    print("== release")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tarball = build(folder)
        alone = install(tarball, folder)
        run_playbooks(folder, alone)
        show_documentation(folder, alone)
        DIST.mkdir(exist_ok=True)
        for old in DIST.glob("*.tar.gz"):
            old.unlink()
        print(f"  {shutil.move(tarball, DIST / tarball.name).relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
