"""Machines that have no Python but the one named: with one that can be used all is read, an older one is told."""

from __future__ import annotations

import os

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import login
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import SECTIONS
from ansible_test._util.target.common.constants import REMOTE_ONLY_PYTHON_VERSIONS
from lab import LabError
from lab.hostfiles import pyenv_tree

pytestmark = pytest.mark.core


def numbers(version):
    return [int(number) for number in version.split(".")]


def here(version):
    """Whether the lab can give this Python to a machine; under CI it must."""
    try:
        return bool(os.environ.get("CI") or pyenv_tree(version))
    except LabError:
        return False


VERSIONS = ("2.7", "3.6", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
HERE = [version for version in VERSIONS if here(version)]
# The collection asks for 3.6, each ansible-core for an oldest of its own.
OLDEST = max(numbers("3.6"), min(map(numbers, REMOTE_ONLY_PYTHON_VERSIONS)))


def each(versions):
    # Skipped by hand only: a Python is no package of Debian's that could be installed. Under CI making the lab fails without it.
    return pytest.mark.parametrize("version", [pytest.param(version, marks=pytest.mark.skipif(
        version not in HERE, reason=f"no Python {version} in ~/.pyenv/versions")) for version in versions])


@pytest.fixture(scope="module")
def lab(make_lab):
    hosts = [{"name": f"python{version}", "python": version} for version in HERE]
    if "2.7" in HERE:  # newer releases of ansible-core do not even look for it
        hosts[0]["vars"] = {"ansible_python_interpreter": "/usr/bin/python2.7"}
    return make_lab({"defaults": {"groups": ["node"], "cpus": 2}, "hosts": hosts})


@pytest.fixture(scope="module")
def outcome(lab, play):
    return play(lab.inventory(), lab, arguments=f"-f {len(HERE)}")


@each(version for version in VERSIONS if numbers(version) >= OLDEST)
def test_all_is_read_without_pythons_apt_module(lab, outcome, version):  # A#73075
    machine = f"python{version}"
    assert "No module named 'apt'" in lab.exec(machine, "python3 -c 'import apt'").stderr
    record = outcome.records()[machine]
    assert (record["unmeasured"], set(SECTIONS) - set(record)) == ({"gpus": "it was not asked for"}, {"gpus"})
    levels = {check: finding["level"] for (name, check), finding in outcome.findings().items() if name == machine}
    assert levels["packages"] == "ok"
    assert {check for check, level in levels.items() if level != "ok"} == set(), outcome.output


@each(version for version in VERSIONS if numbers(version) < OLDEST)
def test_one_that_is_too_old_is_told(lab, outcome, version):  # A#82068
    machine = f"python{version}"
    (finding,) = [finding for finding in outcome.report["findings"] if finding["machine"] == machine]
    assert (finding["check"], finding["level"], finding["fix"]) == ("login", "fail", login.FIXES["python"])
    full = lab.exec(machine, f"python{version} -V 2>&1").stdout.strip()
    assert full.startswith(f"Python {version}.")
    assert full in finding["detail"]
