from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import gpu
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Need, fail, ok, warn

MODELS = [{"name": "starter", "memory_mb": 1, "gpu_memory_mb": 20000}, {"name": "judges", "memory_mb": 1, "gpu_memory_mb": 4000},
          {"name": "on the CPU", "memory_mb": 1}]
L4 = {"name": "NVIDIA L4", "memory_mb": 23034}
UNTOLD = {"name": "NVIDIA GB10", "memory_mb": None}
SILENT = {"name": "NVIDIA 0000:01:00.0", "reason": "there is no nvidia-smi"}
NEEDS = "needs 1 with 24000 MB: 0 for its roles, 24000 for starter, judges"
ELSEWHERE = "or serve starter, judges on another machine."
MOVE = "or move the role that asks for it to another machine."


@pytest.fixture
def judged(record, asked):
    def judge(answering, silent, models=(), **need):
        made = record(gpus={"answering": list(answering), "silent": list(silent)}, serves=list(models))
        return gpu.judge(made, asked(need=dataclasses.replace(Need(), **need)))
    return judge


@pytest.mark.parametrize(("answering", "silent", "verdict"), [
    ([L4, L4], [], ok(f"2 GPUs with 46068 MB ({NEEDS})")),
    ([L4, L4], [SILENT], ok(f"2 GPUs with 46068 MB ({NEEDS})")),
    ([L4], [], fail(f"1 GPU with 23034 MB ({NEEDS})", f"Give the machine 1 GPU with 24000 MB, {ELSEWHERE}")),
    ([L4], [SILENT], warn(f"1 GPU with 23034 MB ({NEEDS}); the driver does not answer for NVIDIA 0000:01:00.0 (there is no nvidia-smi)",
                          gpu.FIX_SILENT)),
    ([], [], fail(f"there is no GPU of NVIDIA or AMD ({NEEDS})", f"Use a machine with a GPU, {ELSEWHERE}")),
])
def test_what_models_ask_for(judged, answering, silent, verdict):
    assert judged(answering, silent, MODELS) == verdict


@pytest.mark.parametrize(("answering", "silent", "need", "verdict"), [
    ([L4], [], {"gpus": 1}, ok("1 GPU (needs 1)")),
    ([UNTOLD], [], {"gpus": 1}, ok("1 GPU (needs 1)")),
    ([L4], [], {"gpus": 2}, fail("1 GPU (needs 2)", f"Give the machine 2 GPUs, {MOVE}")),
    ([L4], [SILENT], {"gpus": 2}, warn(
        "1 GPU (needs 2); the driver does not answer for NVIDIA 0000:01:00.0 (there is no nvidia-smi)", gpu.FIX_SILENT)),
    ([L4], [SILENT], {"gpus": 3}, fail("1 GPU (needs 3)", f"Give the machine 3 GPUs, {MOVE}")),
    ([], [], {"gpus": 1}, fail("there is no GPU of NVIDIA or AMD (needs 1)", f"Use a machine with a GPU, {MOVE}")),
    ([], [SILENT] * 3, {"gpus": 1}, warn(
        "0 GPUs (needs 1); the driver does not answer for NVIDIA 0000:01:00.0 (there is no nvidia-smi); "
        "NVIDIA 0000:01:00.0 (there is no nvidia-smi) and 1 more", gpu.FIX_SILENT)),
    ([L4], [], {"gpu_memory_mb": 23034}, ok("1 GPU with 23034 MB (needs 1 with 23034 MB)")),
    ([L4], [], {"gpu_memory_mb": 23035}, fail(
        "1 GPU with 23034 MB (needs 1 with 23035 MB)", f"Give the machine 1 GPU with 23035 MB, {MOVE}")),
])
def test_what_roles_ask_for(judged, answering, silent, need, verdict):
    assert judged(answering, silent, **need) == verdict


def test_roles_and_models_add_up(judged):
    assert judged([L4], [], MODELS, gpus=1, gpu_memory_mb=1).detail == (
        "1 GPU with 23034 MB (needs 1 with 24001 MB: 1 for its roles, 24000 for starter, judges)")


@pytest.mark.parametrize(("answering", "have"), [([UNTOLD], "1 GPU with 0 MB"), ([UNTOLD, L4], "2 GPUs with 23034 MB")])
def test_a_memory_that_is_not_told_may_be_enough(judged, answering, have):
    assert judged(answering, [], gpu_memory_mb=23035) == warn(
        f"{have} (needs 1 with 23035 MB), but not all of them say how much memory they have", gpu.FIX_UNTOLD)


def test_where_nobody_asks_there_is_no_finding(judged, record, asked):
    assert judged([], [], MODELS[2:]) is None
    assert gpu.judge(record(gpus=None), asked("database")) is None


@pytest.mark.parametrize(("needs", "serves", "is_asked"), [
    ([Need()], [], False), ([Need(), Need(gpus=1)], [], True), ([Need(gpu_memory_mb=1)], [], True),
    ([], MODELS[2:], False), ([], MODELS, True),
])
def test_when_it_is_worth_a_look(needs, serves, is_asked):
    assert gpu.is_asked_for(needs, serves) is is_asked
