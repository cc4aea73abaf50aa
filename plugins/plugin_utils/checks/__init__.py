# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The checks, one file each, in the order of a report.

To add one: write its file (ID, WORST, FIX_UNREAD, judge, and a docstring, which is its documentation), and name it here.

A check's ``judge(record, asked)`` gives a Verdict, or None where the check does not apply to this machine. It may raise
Unmeasured: then the finding is of the worst level that the check can reach, so that nothing unread ever passes.

A check between machines has ``compare(group)`` instead, which gives (machine, verdict) pairs; the machine is None for what is about
the whole set. What it can't read of one machine it tells of that machine, at the worst level that the check can reach.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Finding, Group, Level, Unmeasured, Verdict, fail
from . import (
    alike,
    apt_ready,
    architecture,
    clock,
    clocks,
    cpu,
    cpus,
    disk,
    disk_speed,
    firewall,
    gpu,
    hostname,
    identity,
    internet,
    latency,
    limits,
    locale,
    login,
    memory,
    mirrors,
    names,
    network,
    packages,
    ports,
    quorum,
    remote_tmp,
    role_ports,
    sudo,
    system,
    temp,
    time_source,
    time_sync,
)

# login is not among them: where it fails, these have nothing to judge.
AFTER_LOGIN = (
    system,
    architecture,
    hostname,
    sudo,
    packages,
    apt_ready,
    cpus,
    cpu,
    memory,
    gpu,
    limits,
    disk,
    disk_speed,
    temp,
    remote_tmp,
    locale,
    clock,
    time_sync,
    time_source,
    ports,
    firewall,
    internet,
    mirrors,
    network,
)
BETWEEN: tuple[t.Any, ...] = (
    role_ports,
    names,
    identity,
    clocks,
    quorum,
    alike,
    latency,
)
# What decides whether a role fits on a machine, and all that these may look at for it.
ROOM = (cpus, cpu, memory, gpu, limits, disk)
ROOM_SECTIONS = ("cpus", "cpus_online", "cpu_level", "memory_mb", "swap", "gpus", "serves", "confinement", "disks", "unmeasured")
# What costs the machine or others something, and who looks at it: where all of these are skipped, it is not looked at.
LOOKED_AT_BY = {
    "sudo": (sudo.ID,),
    "package_locks": (apt_ready.ID,),
    "pending": (apt_ready.ID,),
    "dpkg": (apt_ready.ID,),
    "apt_sources": (apt_ready.ID,),
    "candidates": (apt_ready.ID,),
    "gpus": (gpu.ID,),
    "silent_mounts": (disk.ID,),
    "disk_speed": (disk_speed.ID,),
    "temp": (temp.ID,),
    "remote_tmp": (remote_tmp.ID,),
    "locales": (locale.ID,),
    "time_sync": (time_sync.ID,),
    "time_sources": (time_source.ID,),
    "firewall": (firewall.ID,),
    "clock": (clock.ID, clocks.ID),
    "internet": (internet.ID,),
    "mirrors": (mirrors.ID,),
    "reach": (network.ID,),
    "identity": (identity.ID, hostname.ID),
    "names": (names.ID,),
}
THROUGH_PORTS = (role_ports.ID, latency.ID)  # what the second task tries, by stand-ins
IDS = tuple(check.ID for check in (login, *AFTER_LOGIN, *BETWEEN))


def judge(record: Mapping[str, t.Any], asked: Asked, left_out: t.Container[str] = ()) -> list[Finding]:
    """Every check's finding on one machine, but of those whose ids are left out."""
    machine = str(record["machine"])
    findings = [login.judge(record, asked).of(machine, login.ID)]
    if findings[0].level == Level.FAIL:
        return findings
    return findings + [verdict.of(machine, check.ID) for check in AFTER_LOGIN
                       if check.ID not in left_out and (verdict := verdict_of(check, record, asked))]


def compare(group: Group, left_out: t.Container[str] = ()) -> list[Finding]:
    """Every finding of the checks between machines, but of those left out; none where there is nothing to compare."""
    findings = []
    for check in BETWEEN:
        if check.ID in left_out:
            continue
        try:
            findings += [verdict.of(machine, check.ID) for machine, verdict in check.compare(group)]
        except OverflowError as problem:
            findings.append(Finding(None, check.ID, check.WORST, f"could not be read: {problem}", check.FIX_UNREAD))
        except Exception as error:  # as below
            findings.append(_broken(error).of(None, check.ID))
    return findings


def verdict_of(check: t.Any, record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    try:
        verdict: Verdict | None = check.judge(record, asked)
        return verdict
    except (Unmeasured, OverflowError) as problem:  # the latter of a number that no machine has of anything
        return Verdict(check.WORST, f"could not be read: {problem}", check.FIX_UNREAD)
    except Exception as error:  # a rule that breaks must not take the other rules' findings with it
        return _broken(error)


def _broken(error: Exception) -> Verdict:
    return fail(f"the rule itself broke: {type(error).__name__}: {error}",
                "Please report this with the machine's record; until it is mended, look at this by hand.")
