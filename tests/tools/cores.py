"""Runs the tests on several releases of ansible-core, each in a virtual environment of its own.

cores.py all [ARGUMENTS]: tests/unit and tests/integration on each series below.
cores.py ends [ARGUMENTS]: tests/unit and what is marked `core` in tests/integration, on the oldest and the newest that can run here;
what is marked `newest`, in both, on that one only.
cores.py sanity: `ansible-test sanity` on each series.
tests/lab, which has nothing to do with Ansible, is run once, with the newest; tests/browser once, where this is run, and with --sanity
among the arguments `ansible-test sanity` too. Two of all these are run at a time, since most of them keep only one processor busy.
"""

import contextlib
import glob
import os
import platform
import subprocess
import sys
import time
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


def run_apart(name, command):
    """Its exit status, and how long it took. What it says is shown when it is over, so that it does not mingle with another's."""
    print(f"-- {name}: begun", flush=True)
    begin = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    sys.stdout.buffer.write(f"-- {name}:\n".encode() + done.stdout)
    sys.stdout.buffer.flush()
    return done.returncode, round(time.monotonic() - begin)


def run_pytest(python, name, arguments):
    """Its exit status, and how many tests passed, failed and were skipped, and how long it took."""
    file = FOLDER / f"{name.replace(' ', '-')}.xml"
    file.unlink(missing_ok=True)
    status, seconds = run_apart(name, [
        python, "-m", "pytest", "-q", "-o", f"cache_dir={FOLDER}/pytest-{file.stem}", f"--junitxml={file}", *arguments])
    if not file.exists():
        return status, 0, 0, 0, seconds
    suite = ET.parse(file).find("testsuite")
    tests, failures, errors, skipped = (int(suite.get(word)) for word in ("tests", "failures", "errors", "skipped"))
    return status, tests - failures - errors - skipped, failures + errors, skipped, seconds


def run_tests(chosen, pythons, only_marked, sanity, arguments):
    """The lines of the table, and whether all is well."""
    lines, mine, full = [], {}, {}
    for series in chosen:
        try:
            mine[series] = make_venv(series, pythons[series])
        except subprocess.CalledProcessError:
            lines.append((series, pythons[series][1], "could not be installed"))
            continue
        ask = [mine[series], "-c", "from ansible.release import __version__; print(__version__)"]
        full[series] = subprocess.run(ask, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    all_well, newest, passed = not lines, next(reversed(chosen), None), 0
    marks = {series: {"integration": "core or newest", "unit": ""} if series == newest else {"integration": "core", "unit": "not newest"}
             for series in mine}
    # The longest first, so that both processors have work to the end.
    runs = [(series, folder) for series in reversed(mine) for folder in marks[series]] + [("", "browser")]
    runs += [(newest, "lab")] if newest in mine else []
    if sanity:
        runs.insert(1, ("", "sanity"))

    def run(series, what):
        if what == "sanity":
            status, seconds = run_apart(what, [sys.executable, ROOT / "tests" / "tools" / "sanity.py"])
            return status, "-", "-", "-", seconds
        mark = ["-m", marks[series].get(what, "")] if series and only_marked else []
        return run_pytest(mine.get(series, sys.executable), f"{what} {series}".strip(), [f"tests/{what}", *mark, *arguments])

    print("== pytest, on ansible-core", " and ".join(full.values()), flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(max_workers=2) as pool:
        for (series, what), (status, *figures) in zip(runs, pool.map(run, *zip(*runs, strict=True)), strict=True):
            lines.append((full.get(series, "any"), pythons[series][1] if series else platform.python_version(), what, *figures))
            all_well &= status == 0 or bool(arguments) and status == 5  # 5: they choose none in this folder
            passed += figures[0] if what != "sanity" else 0
    return sorted(lines), all_well and passed > 0


def run_sanity(series, python):
    """The series' line of the table, and whether all is well."""
    print(f"== ansible-test sanity on ansible-core {series}", flush=True)
    begin = time.monotonic()
    try:
        status = subprocess.run([make_venv(series, python), ROOT / "tests" / "tools" / "sanity.py"], check=False).returncode
    except subprocess.CalledProcessError:
        return (series, python[1], "could not be installed"), False
    return (series, python[1], "failed" if status else "passed", round(time.monotonic() - begin)), not status


def main(which, *arguments):
    given = [word for word in arguments if word != "--sanity"]
    pythons = {series: find_python(versions) for series, versions in CORES.items()}
    able = [series for series in CORES if pythons[series]]
    wanted = [series for series in CORES if series in (*able[:1], *able[-1:])] if which == "ends" else list(CORES)
    chosen, sanity = [series for series in wanted if series in able], which == "sanity"
    what = ("sanity",) if sanity else ("tests", "passed", "failed", "skipped")
    table, all_well = [("core", "Python", *what, "seconds")], chosen == wanted
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
        lines, well = run_tests(chosen, pythons, which == "ends", len(given) < len(arguments), given)
        table += lines
        all_well &= well
    print("== ansible-core")
    for core, python, *rest in table:
        print(f"{core:9}{python:8}", *(f"{cell:>11}" for cell in rest))
    return 0 if all_well else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
