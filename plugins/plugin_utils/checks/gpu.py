# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Are there the GPUs that the roles and the models to serve ask for, and does their driver answer?

Of NVIDIA and AMD, by their class on the PCI bus. Where there is one and its driver does not answer (nvidia-smi, or what amdgpu shows in
/sys), that is a warning, since the install may still bring it. None, fewer than the roles ask for, or less memory than roles and models
need together is a failure. The memory of all GPUs counts together: whether one model can be spread over several is for it to know. One that
does not tell its memory, as where it shares the machine's (NVIDIA GB10), is a warning where more is needed than the others have. Not looked
at where no role and no model asks for one.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Need, Verdict, asked_by_models, fail, ok, section, several, warn

ID = "gpu"
WORST = Level.FAIL
FIX_UNREAD = "See with lspci and nvidia-smi which GPUs there are."
FOUND = {"answering": [{"name": str, "memory_mb": (int, type(None))}], "silent": [{"name": str, "reason": str}]}
FIX_SILENT = "Install the driver and see that it answers (nvidia-smi; for AMD, lsmod | grep amdgpu), after a reboot if need be."
FIX_UNTOLD = ("See in the maker's documents how much the models can have of it (one that shares the machine's memory tells no figure of "
              "its own), and waive this if that is enough.")


def is_asked_for(needs: t.Iterable[Need], serves: t.Iterable[Mapping[str, t.Any]]) -> bool:
    """Whether it is worth a look: to ask a driver can take seconds."""
    return any(need.gpus or need.gpu_memory_mb for need in needs) or any(model.get("gpu_memory_mb") for model in serves)


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    models = asked_by_models(record, "gpu_memory_mb")
    memory = asked.need.gpu_memory_mb + sum(size for name, size in models)
    count = max(asked.need.gpus, 1 if memory else 0)
    if not count:
        return None
    found = section(record, "gpus", FOUND)
    answering, silent = found["answering"], found["silent"]
    names = ", ".join(name for name, size in models)
    parts = f": {asked.need.gpu_memory_mb} for its roles, {memory - asked.need.gpu_memory_mb} for {names}" if models else ""
    of_memory = f" with {memory} MB" if memory else ""
    needs = f"needs {count}{of_memory}{parts}"
    if not answering and not silent:
        return fail(f"there is no GPU of NVIDIA or AMD ({needs})", _elsewhere("Use a machine with a GPU", names))
    sizes = [gpu["memory_mb"] for gpu in answering]
    have = sum(size for size in sizes if size is not None)
    detail = f"{_gpus(len(answering))}{f' with {have} MB' if memory else ''} ({needs})"
    if len(answering) >= count and have >= memory:
        return ok(detail)
    if silent and len(answering) + len(silent) >= count:
        told = several([f"{gpu['name']} ({gpu['reason']})" for gpu in silent], "; ", most=2)
        return warn(f"{detail}; the driver does not answer for {told}", FIX_SILENT)
    if None in sizes and len(answering) >= count:
        return warn(f"{detail}, but not all of them say how much memory they have", FIX_UNTOLD)
    return fail(detail, _elsewhere(f"Give the machine {_gpus(count)}{of_memory}", names))


def _gpus(count: int) -> str:
    return f"{count} GPU{'' if count == 1 else 's'}"


def _elsewhere(fix: str, names: str) -> str:
    return f"{fix}, or serve {names} on another machine." if names else f"{fix}, or move the role that asks for it to another machine."
