from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import machine
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings


@pytest.mark.parametrize(("section", "name", "seconds"), [
    ("gpus", "gpus", 20),  # nvidia-smi takes seconds for each GPU that nothing keeps awake
    ("candidates", "candidates", 20), ("locales", "locales", 10), ("firewall", "firewall", 10),
])
def test_a_reader_may_take_longer_than_the_program_that_it_waits_for(monkeypatch, section, name, seconds):
    given, readers = [], {}

    def read_all(found, whole_s):
        readers.update(found)
        return {}, {}

    monkeypatch.setattr(machine, "read_all", read_all)
    monkeypatch.setattr(machine, name, lambda *arguments: given.append(arguments[-1]))
    machine.main({"peers": [], "limits": settings.LIMITS, "skip": ["disk_speed"], "writes": [], "packages": [], "paths": [],
                  "internet_urls": [], "stand_ins": None}, 0)
    reader, limit_s = readers[section]
    reader()
    assert given == [seconds] and limit_s > seconds
