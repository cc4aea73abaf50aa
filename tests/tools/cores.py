"""Runs the tests on several releases of ansible-core, each in a virtual environment of its own.

cores.py all [ARGUMENTS]: tests/unit and tests/integration on each series below.
cores.py ends [ARGUMENTS]: tests/unit and what is marked `core` in tests/integration, on the oldest and the newest that can run here;
what is marked `newest`, in both, on that one only.
cores.py sanity: `ansible-test sanity` on each series.
tests/lab, which has nothing to do with Ansible, is run once, with the newest; tests/browser once, where this is run. The unit tests of the
series are run side by side, two at a time, since each takes one processor only; all else takes what there is.
"""

import contextlib
import glob
import os
import platform
import subprocess
import sys
import time
import typing as t
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
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


class Result(t.NamedTuple):
    """Of one run of pytest."""

    status: int
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0


def run_pytest(python, name, arguments, capture=False):
    """With ``capture`` what it says is shown when it is over, so that it does not mingle with another's."""
    file, begin = FOLDER / f"{name}.xml", time.monotonic()
    file.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-q", "-o", f"cache_dir={FOLDER}/pytest-{name}", f"--junitxml={file}", *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if capture else {}
    done = subprocess.run(command, cwd=ROOT, check=False, **streams)
    if capture:
        sys.stdout.buffer.write(f"-- {name}\n".encode() + done.stdout)
        sys.stdout.buffer.flush()
    seconds = time.monotonic() - begin
    if not file.exists():
        return Result(done.returncode, seconds=seconds)
    suite = ET.parse(file).find("testsuite")
    tests, failures, errors, skipped = (int(suite.get(word)) for word in ("tests", "failures", "errors", "skipped"))
    return Result(done.returncode, tests - failures - errors - skipped, failures + errors, skipped, seconds)


def run_tests(chosen, pythons, only_marked, newest, arguments):
    """Each series' line of the table, and whether all is well."""
    mine, failed = {}, {}
    for series in chosen:
        try:
            mine[series] = make_venv(series, pythons[series])
        except subprocess.CalledProcessError:
            failed[series] = (series, pythons[series][1], "could not be installed")
    of_unit = {series: ["-m", "not newest"] if only_marked and series != newest else [] for series in mine}
    marked = {series: ["-m", "core or newest" if series == newest else "core"] if only_marked else [] for series in mine}
    print(f"== pytest of tests/unit on ansible-core {' and '.join(mine)}", flush=True)
    with ThreadPoolExecutor(max_workers=2) as pool:
        units = dict(zip(mine, pool.map(
            lambda series: run_pytest(mine[series], f"{series}-unit", ["tests/unit", *of_unit[series], *arguments], capture=True), mine),
            strict=True))
    lines, all_well = [], not failed
    for series in chosen:
        if series in failed:
            lines.append(failed[series])
            continue
        ask = [mine[series], "-c", "from ansible.release import __version__; print(__version__)"]
        core = subprocess.run(ask, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        print(f"== pytest on ansible-core {core} with Python {pythons[series][1]}", flush=True)
        asked = [*([["tests/lab"]] if series == newest else []), ["tests/integration", *marked[series]]]
        runs = [units[series], *(run_pytest(mine[series], series, [*each, *arguments]) for each in asked)]
        passed, bad, skipped, seconds = (sum(getattr(run, what) for run in runs) for what in ("passed", "failed", "skipped", "seconds"))
        # 5: the arguments choose none in a folder; they may also choose none that is marked.
        all_well &= {run.status for run in runs} <= {0, 5} and bool(passed or only_marked and arguments)
        lines.append((core, pythons[series][1], passed, bad, skipped, round(seconds)))
    return lines, all_well


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
    FOLDER.mkdir(parents=True, exist_ok=True)
    run = run_pytest(sys.executable, "once", [folder, *arguments])
    return ("any", platform.python_version(), run.passed, run.failed, run.skipped, round(run.seconds)), run.status in (0, 5)


def main(which, *arguments):
    pythons = {series: find_python(versions) for series, versions in CORES.items()}
    able = [series for series in CORES if pythons[series]]
    wanted = [series for series in CORES if series in (*able[:1], *able[-1:])] if which == "ends" else list(CORES)
    chosen, sanity = [series for series in wanted if series in able], which == "sanity"
    table, all_well = [("core", "Python", *(("sanity",) if sanity else ("passed", "failed", "skipped")), "seconds")], chosen == wanted
    for series in CORES:
        if series not in able:
            versions = f"{', '.join(CORES[series][:-1])} or {CORES[series][-1]}"
            table.append((series, "none", f"needs Python {versions} with its venv module"))
    if sanity:
        for series in chosen:
            line, well = run_sanity(series, pythons[series])
            table.append(line)
            all_well &= well
    else:
        lines, well = run_tests(chosen, pythons, which == "ends", able[-1], arguments)
        line, well_once = run_once("tests/browser", arguments)
        table += [*lines, line]
        all_well &= well and well_once
    print("== ansible-core")
    for core, python, *rest in table:
        print(f"{core:9}{python:8}", *(f"{cell:>8}" for cell in rest))
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
