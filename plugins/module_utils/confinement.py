# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How much CPU and memory control groups let an install have, which /proc does not show.

Files as in the kernel's admin-guide/cgroup-v2.rst and, for version 1, scheduler/sched-bwc.rst and cgroup-v1/memory.rst.
"""

import os

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, text_of

ROOT = "/sys/fs/cgroup"
# The group of a container is the root that it sees, and services run in system.slice; a login's own slice does not bind them.
GROUPS = ("", "system.slice")
NO_LIMIT = 2**60  # bytes; version 1 has no word for it, but the largest number of whole pages


def confinement():
    """cpus (as many as may be used at a time, with a fraction) and memory_mb; None where there is no limit."""
    try:
        if os.path.exists(os.path.join(ROOT, "cgroup.controllers")):
            limits = [_version_2(os.path.join(ROOT, group)) for group in GROUPS]
        elif os.path.isdir(os.path.join(ROOT, "memory")) or os.path.isdir(os.path.join(ROOT, "cpu")):
            limits = [_version_1(group) for group in GROUPS]
        else:
            raise Unmeasured("there are no control groups under %s" % ROOT)
    except (ValueError, ArithmeticError) as error:
        raise Unmeasured("the control groups under %s are not of the known form (%s)" % (ROOT, error)) from error
    cpus = [cpus for cpus, memory in limits if cpus is not None]
    memory = [memory for cpus, memory in limits if memory is not None]
    return {"cpus": min(cpus) if cpus else None, "memory_mb": min(memory) if memory else None}


def _version_2(folder):
    quota, sign, period = (_content(folder, "cpu.max") or "max 1").partition(" ")
    most = _content(folder, "memory.max") or "max"
    return (None if quota == "max" else _share(quota, period), None if most == "max" else int(most) // 2**20)


def _version_1(group):
    quota = _content(ROOT, "cpu", group, "cpu.cfs_quota_us") or "-1"
    period = _content(ROOT, "cpu", group, "cpu.cfs_period_us")
    most = int(_content(ROOT, "memory", group, "memory.limit_in_bytes") or NO_LIMIT)
    return (None if int(quota) < 0 else _share(quota, period), None if most >= NO_LIMIT else most // 2**20)


def _share(quota, period):
    return round(int(quota) / int(period), 2)


def _content(*parts):
    """None where there is no such file: a group without this limit."""
    path = os.path.join(*parts)
    return text_of(path).strip() if os.path.exists(path) else None
