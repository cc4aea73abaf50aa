from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import cpu
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Unmeasured, fail, ok

FIX = "Give the virtual machine the CPU of its host (CPU type host, or x86-64-v{}), or use a machine with a newer CPU."
MODELS = [{"name": "starter", "memory_mb": 1, "cpu_level": 3}, {"name": "judges", "memory_mb": 1, "cpu_level": 3},
          {"name": "small", "memory_mb": 1}, {"name": "old", "memory_mb": 1, "cpu_level": 1}]


@pytest.mark.parametrize(("have", "models", "verdict"), [
    (3, [], ok("x86-64-v3 (needs v2)")),
    (2, [], ok("x86-64-v2 (needs v2)")),
    (1, [], fail("x86-64-v1 (needs v2)", FIX.format(2))),
    (2, MODELS[2:], ok("x86-64-v2 (needs v2)")),
    (3, MODELS, ok("x86-64-v3 (needs v3 for starter, judges)")),
    (2, MODELS, fail("x86-64-v2 (needs v3 for starter, judges)", FIX.format(3))),
    (None, MODELS, None),
])
def test_levels(record, asked, have, models, verdict):
    made = {**record(serves=models), "cpu_level": have}
    assert cpu.judge(made, asked("node")) == verdict


def test_the_models_alone_ask_too(record, asked):
    assert cpu.judge(record(cpu_level=2, serves=MODELS[-1:]), asked()) == ok("x86-64-v2 (needs v1 for old)")


def test_without_a_need_it_need_not_be_read(record, asked):
    unread = record(cpu_level=None, unmeasured={"cpu_level": "no flags"})
    assert cpu.judge(unread, asked("database")) is None
    with pytest.raises(Unmeasured, match="^no flags$"):
        cpu.judge(unread, asked(need=dataclasses.replace(asked().need, cpu_level=1)))
