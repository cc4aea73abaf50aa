"""Installs the Debian packages that the tests need and this machine lacks; where it may not, says how to."""

import contextlib
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

LAB_NEEDS = Path(__file__).parents[1] / "lab" / "needs.py"
OS_RELEASE = Path("/etc/os-release")
PROGRAMS = {"shellcheck": "shellcheck", "java": "default-jre-headless", "npm": "npm", "chromium": "chromium"}


def missing():
    wanted = {package for program, package in PROGRAMS.items() if not shutil.which(program)}
    if not is_debian():  # Ubuntu's is a snap; `playwright install --with-deps chromium` brings another
        wanted.discard("chromium")
    if LAB_NEEDS.exists():
        wanted.update(runpy.run_path(str(LAB_NEEDS))["missing"]())
    return sorted(wanted)


def is_debian():
    with contextlib.suppress(OSError):
        return "ID=debian" in OS_RELEASE.read_text().split("\n")
    return False


def apt_get(*arguments):
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        ["apt-get", "-qq", *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\napt-get {' '.join(arguments)} failed")


def main():
    packages = missing()
    if not packages:
        return 0
    command = ["install", "-y", "--no-install-recommends", *packages]
    if shutil.which("apt-get") and os.geteuid() == 0:
        print("Installing Debian packages:", *packages, flush=True)
        apt_get("update")
        apt_get(*command)
        packages = missing()
        if packages:
            print("Still missing after the installation:", *packages, file=sys.stderr)
        return 1 if packages else 0
    print("Some tests need programs that are not here. On Debian and Ubuntu, as root:", file=sys.stderr)
    print("  apt-get", *command, file=sys.stderr)
    return 1 if os.environ.get("CI") else 0  # by hand, the tests that can run are worth running


if __name__ == "__main__":
    sys.exit(main())
