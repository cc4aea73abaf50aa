"""Runs `ansible-test sanity` for the ansible-core of this Python, and lists the tests that ran and that did not.

sanity.py units ...: `ansible-test units` in the same way, on this Python only.

ansible-test makes conditions: it runs only in .../ansible_collections/llmgw/preflight, and not if that is a symlink; it
downloads pip from a place of its own; and it hides the caller's settings from pip (index, proxy, certificates).
So it gets a copy of the collection, and a home folder in which its virtual environments use the pip of this Python.
"""

import contextlib
import fcntl
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import xml.etree.ElementTree as ET
from pathlib import Path

from ansible_test._internal.python_requirements import get_venv_packages
from ansible_test._util.target.common.constants import CONTROLLER_PYTHON_VERSIONS, REMOTE_ONLY_PYTHON_VERSIONS

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".cache" / "sanity"  # kept, since its virtual environments take a while
SETTINGS = HOME / "pip-environment.json"
NOT_COPIED = {".git", ".venv", ".collections", ".cache", ".ansible", "output", "__pycache__"}
FOR_PIP = re.compile(r"PIP_|XDG_|HOME$|(HTTPS?|ALL|NO)_PROXY$|SSL_CERT_|(REQUESTS|CURL)_CA_BUNDLE$", re.IGNORECASE)
PIP = f"""
import json, os, subprocess, sys
with open({str(SETTINGS)!r}) as settings:
    environment = {{**os.environ, **json.load(settings)}}
command = [{sys.executable!r}, "-m", "pip", "--python", sys.executable, "-qq", *sys.argv[1:]]
sys.exit(subprocess.call(command, env=environment))
"""
GET_PIP = f"""
import pathlib, sysconfig
pathlib.Path(sysconfig.get_path("purelib"), "pip.pth").write_text({str(HOME)!r})
"""
NOT_UNITS = {"tests/unit/plugins/action/test_in_a_play.py"}  # it starts programs of Ansible's, which are not there for units
SUPPORTED = (*REMOTE_ONLY_PYTHON_VERSIONS, *CONTROLLER_PYTHON_VERSIONS)
PROGRAMS = {"shellcheck": ("shellcheck", ".sh"), "pslint": ("pwsh", ".ps1")}  # test -> what it needs, what it reads


def files():
    """The collection's files, relative: what git knows or would add; all but the obvious where there is no git."""
    listing = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        known = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split("\0")
        if any(known):
            return [name for name in known if name and os.path.lexists(ROOT / name)]
    found = []
    for folder, folders, names in os.walk(ROOT):
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = [name for name in folders if name not in NOT_COPIED]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return found


def pythons():
    """X.Y -> folder of each Python that this ansible-core can test with and that starts here."""
    mine = "{}.{}".format(*sys.version_info)
    found = {mine: Path(sys.executable).parent}
    for version in SUPPORTED:
        # What it says of itself, since what stands in PATH can be a launcher that has no such Python.
        ask = [f"python{version}", "-c", "import os, sys; print(os.path.dirname(os.path.realpath(sys.executable)))"]
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            folder = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
            found.setdefault(version, Path(folder))
    return mine, found


def make_home(versions):
    cache, pip = HOME / ".ansible/test/cache", HOME / "pip"
    cache.mkdir(parents=True, exist_ok=True)
    pip.mkdir(exist_ok=True)
    (pip / "__init__.py").touch()
    (pip / "__main__.py").write_text(PIP)
    for version in versions:
        wanted = get_venv_packages(types.SimpleNamespace(version=version))["pip"]
        (cache / f"get_pip_{wanted.replace('.', '_')}.py").write_text(GET_PIP)
    SETTINGS.touch(0o600)
    SETTINGS.write_text(json.dumps({name: value for name, value in os.environ.items() if FOR_PIP.match(name)}))


def say_what_ran(results, names, mine, found):
    ran, idle, unable = set(), set(), set()
    for file in results.glob("*.xml"):
        for case in ET.parse(file).iter("testcase"):
            test = case.get("name").replace("-python-", " ").removesuffix(f" {mine}")
            program, suffix = PROGRAMS.get(test, ("", None))
            if case.find("skipped") is None:
                ran.add(test)
            elif suffix and any(name.endswith(suffix) for name in names):
                unable.add(f"{test} (no {program} here)")
            else:
                idle.add(test)
    absent = [version for version in SUPPORTED if version not in found]
    if absent:
        unable.add(f"compile and import with Python {' '.join(absent)} (not here)")
    print(f"sanity of ansible-core {importlib.metadata.version('ansible-core')} with Python {mine}")
    print("  ran:", ", ".join(sorted(ran)))
    print("  found nothing to look at:", ", ".join(sorted(idle)) or "none")
    print("  could not run here:", ", ".join(sorted(unable)) or "none", flush=True)


def main(*arguments):
    mine, found = pythons()
    HOME.mkdir(parents=True, exist_ok=True)
    with open(HOME / "lock", "w") as lock, tempfile.TemporaryDirectory() as parent:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two runs at a time would make the same virtual environments
        copy = Path(parent, "ansible_collections", "llmgw", "preflight")
        units = arguments[:1] == ("units",)
        names = [name for name in files() if not (units and name in NOT_UNITS)]
        for name in names:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
        ansible_test = [sys.executable, str(Path(sys.executable).with_name("ansible-test"))]
        if units:
            command = [*ansible_test, *arguments, "--venv", "--python", mine]
        else:
            command = [*ansible_test, "sanity", "--junit", "--controller", f"origin:python={mine}", *arguments]
            for version in found:
                command += ["--target-python", version]
        folders = os.pathsep.join([*(str(folder) for folder in found.values()), os.environ["PATH"]])
        try:
            make_home(found)
            environment = {**os.environ, "HOME": str(HOME), "PATH": folders}
            done = subprocess.run(command, cwd=copy, env=environment, check=False)
        finally:
            SETTINGS.unlink(missing_ok=True)  # an index's address can hold a password
        if not units:
            say_what_ran(copy / "tests/output/junit", names, mine, found)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
