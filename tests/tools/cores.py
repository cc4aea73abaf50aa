"""Runs the tests on several releases of ansible-core, each in a virtual environment of its own.

cores.py all [ARGUMENTS]: tests/unit and tests/integration on each series below.
cores.py ends [ARGUMENTS]: tests/unit and what is marked `core` in tests/integration, on the oldest and the newest that can run here;
what is marked `newest`, in both, on that one only.
cores.py sanity: `ansible-test sanity` on each series.
tests/lab, which has nothing to do with Ansible, is run once, with the newest; tests/browser once, where this is run.
"""

import contextlib
import glob
import os
import platform
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".cache" / "cores"
REQUIREMENTS = (ROOT / "requirements.txt", ROOT / "requirements-dev.txt")
PYENV = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
# series -> the Pythons that it supports on the controller
CORES = {"2.16": ("3.10", "3.11", "3.12"), "2.19": ("3.11", "3.12", "3.13"), "2.21": ("3.12", "3.13", "3.14")}


def find_python(versions):
    """(path, X.Y.Z) of a Python of these versions that can make virtual environments, or None."""
    candidates = [sys.executable]
    for version in reversed(versions):
        candidates += [f"python{version}", *glob.glob(f"{glob.escape(PYENV)}/versions/{version}*/bin/python{version}")]
    for candidate in candidates:
        # What it says of itself, since what stands in PATH can be a launcher that has no such Python.
        ask = [candidate, "-c", "import ensurepip, platform, sys, venv; print(platform.python_version(), sys.executable)"]
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            full, path = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip().split(" ", 1)
            if full.rpartition(".")[0] in versions:
                return path, full
    return None


def make_venv(series, python):
    """The Python of the series' virtual environment, which is made anew when what it is made from has changed."""
    venv = FOLDER / series
    mark, mine = venv / "installed", venv / "bin" / "python"
    made_from = "\n".join([*python, *(path.read_text() for path in REQUIREMENTS)])
    if not (mine.exists() and mark.exists() and mark.read_text() == made_from):
        print(f"Installing ansible-core {series} into {venv.relative_to(ROOT)}", flush=True)
        subprocess.run([python[0], "-m", "venv", "--clear", venv], check=True)
        pip = [mine, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        for_tests = ["pytest", "ansible-builder", "cmarkgfm", "hypothesis", "jsonschema", "junitparser", "lxml", "-c", REQUIREMENTS[1]]
        subprocess.run([*pip, f"ansible-core~={series}.0", "-r", REQUIREMENTS[0], *for_tests], check=True)
        mark.write_text(made_from)
    return mine


def run_pytest(python, file, arguments):
    """Its exit status, and how many passed, failed and were skipped."""
    file.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-q", "-o", f"cache_dir={FOLDER}/pytest", f"--junitxml={file}", *arguments]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode
    if not file.exists():
        return status, 0, 0, 0
    suite = ET.parse(file).find("testsuite")
    tests, failures, errors, skipped = (int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped"))
    return status, tests - failures - errors - skipped, failures + errors, skipped


def run_tests(series, python, only_marked, newest, arguments):
    """The series' line of the table, and whether all is well."""
    try:
        mine = make_venv(series, python)
        ask = [mine, "-c", "from ansible.release import __version__; print(__version__)"]
        core = subprocess.run(ask, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    except subprocess.CalledProcessError:
        return (series, python[1], "could not be installed"), False
    print(f"== pytest on ansible-core {core} with Python {python[1]}", flush=True)
    begin = time.monotonic()
    of_unit, marked = (["-m", "not newest"] if only_marked and not newest else []), []
    if only_marked:
        marked = ["-m", "core or newest" if newest else "core"]
    asked = [["tests/unit", *of_unit], *([["tests/lab"]] if newest else []), ["tests/integration", *marked]]
    runs = [run_pytest(mine, FOLDER / f"{series}.xml", [*each, *arguments]) for each in asked]
    statuses, *counted = zip(*runs, strict=True)
    passed, failed, skipped = map(sum, counted)
    # 5: the arguments choose none in a folder; they may also choose none that is marked.
    well = set(statuses) <= {0, 5} and bool(passed or only_marked and arguments)
    return (core, python[1], passed, failed, skipped, round(time.monotonic() - begin)), well


def run_sanity(series, python):
    """The series' line of the table, and whether all is well."""
    print(f"== ansible-test sanity on ansible-core {series}", flush=True)
    begin = time.monotonic()
    try:
        status = subprocess.run([make_venv(series, python), ROOT / "tests" / "tools" / "sanity.py"], check=False).returncode
    except subprocess.CalledProcessError:
        return (series, python[1], "could not be installed"), False
    return (series, python[1], "failed" if status else "passed", round(time.monotonic() - begin)), not status


def run_once(folder, arguments):
    """The folder's line of the table, and whether all is well."""
    print(f"== pytest of {folder}", flush=True)
    begin = time.monotonic()
    FOLDER.mkdir(parents=True, exist_ok=True)
    status, passed, failed, skipped = run_pytest(sys.executable, FOLDER / "once.xml", [folder, *arguments])
    return ("any", platform.python_version(), passed, failed, skipped, round(time.monotonic() - begin)), status in (0, 5)


def main(which, *arguments):
    pythons = {series: find_python(versions) for series, versions in CORES.items()}
    able = [series for series in CORES if pythons[series]]
    ends = [series for series in CORES if series in (*able[:1], *able[-1:])]
    chosen = ends if which == "ends" else list(CORES)
    sanity = which == "sanity"
    table, all_well = [("core", "Python", *(("sanity",) if sanity else ("passed", "failed", "skipped")), "seconds")], True
    for series, versions in CORES.items():
        if not pythons[series]:
            table.append((series, "none", f"needs Python {', '.join(versions[:-1])} or {versions[-1]} with its venv module"))
            all_well &= series not in chosen
        elif series in chosen:
            newest = series == able[-1]
            line, well = (run_sanity(series, pythons[series]) if sanity
                          else run_tests(series, pythons[series], which == "ends", newest, arguments))
            table.append(line)
            all_well &= well
    if not sanity:
        line, well = run_once("tests/browser", arguments)
        table.append(line)
        all_well &= well
    print("== ansible-core")
    for core, python, *rest in table:
        print(f"{core:9}{python:8}", *(f"{cell:>8}" for cell in rest))
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
