from __future__ import annotations

import json
import os
import subprocess

import pytest
from ansible.modules import setup
from ansible_collections.llmgw.preflight.plugins.module_utils import facts
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import read_all


class Module:
    """As much of AnsibleModule as facts ask for, on a machine without any program."""

    params: dict = {}

    def get_bin_path(self, *given, **named):
        return None

    def run_command(self, *given, **named):
        return 1, "", ""

    def warn(self, text):
        pass

    debug = log = warn


@pytest.mark.parametrize("subset", [["min"], ["!all"], ["!all", "min"]])
def test_the_minimal_facts_are_not_all_facts(subset):
    found = facts.facts(Module(), subset)
    assert {"distribution", "python", "user_id", "kernel"} <= set(found)
    assert not {"interfaces", "mounts", "memtotal_mb", "virtualization_role"} & set(found)


def test_only_what_is_asked_for():
    found = facts.facts(Module(), ["!all", "!min", "user"])
    assert found["user_uid"] == os.getuid()
    assert {name.partition("_")[0] for name in found} == {"user", "effective", "real", "gather", "module"}
    assert json.loads(json.dumps(found)) == found


def test_what_is_asked_for_comes_on_top_of_the_minimal_facts():
    found = facts.facts(Module(), ["hardware"])
    assert found["processor_nproc"] and found["distribution"] and found["pkg_mgr"]
    assert not any(name.startswith("ansible_") for name in found)


def test_they_are_those_of_the_setup_module(monkeypatch):
    told = {}
    module = Module()
    module.params = {"gather_subset": ["!all", "network"], "gather_timeout": 10, "filter": []}
    module.exit_json = lambda **result: told.update(result["ansible_facts"])
    monkeypatch.setattr(setup, "AnsibleModule", lambda **spec: module)
    setup.main()
    assert set(facts.facts(Module(), ["!all", "network"])) == {name.replace("ansible_", "", 1) for name in told} - {"local"}


def test_programs_of_the_machines_own_are_not_run(tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    program = tmp_path / "facts.d" / "mine.fact"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {ran}\necho '{{}}'\n")
    program.chmod(0o755)
    module = Module()
    module.run_command = lambda argv, *given, **named: (subprocess.run(argv, check=True).returncode, "{}", "")
    module.params = {"fact_path": str(program.parent)}
    facts.facts(module, ["!all", "!min", "local"])
    assert ran.exists()  # if the module had that parameter
    ran.unlink()
    facts.facts(Module(), ["local"])
    assert not ran.exists()


def test_a_subset_that_there_is_not_costs_the_facts_only():
    readers = {"facts": (lambda: facts.facts(Module(), ["netwrok"]), 10), "cpus": (lambda: 4, 10)}
    sections, unmeasured = read_all(readers, 10)
    assert sections == {"cpus": 4}
    assert unmeasured["facts"].startswith("TypeError: Bad subset 'netwrok' given to Ansible. gather_subset options allowed: all, ")
