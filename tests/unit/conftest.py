"""A machine that nothing is wrong with, for tests to take something from."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Asked, Group, Member, together

HEALTHY = {
    "machine": "db1",
    "address": "10.0.0.5",
    "roles": ["database"],
    "local": False,
    "serves": [],
    "login": {"ok": True, "user": "ops", "uid": 1000},
    "system": {"id": "debian", "version": "12", "name": "Debian GNU/Linux 12 (bookworm)"},
    "architecture": "x86_64",
    "libc": "glibc 2.36",
    "identity": {"machine_id": "1" * 32, "host_keys": ["SHA256:1"], "hostname": "db1", "addresses": ["10.0.0.5"],
                 "macs": ["52:54:00:00:00:01"]},
    "names": {"own": {"name": "db1", "addresses": ["127.0.1.1"]}, "looked_up": 0, "nobody": [], "loopback": []},
    "sudo": {"how": "nopasswd", "waited_s": 0.0},
    "apt": True,
    "package_locks": [],
    "pending": {"reboot": False, "reboot_for": [], "cloud_init": None},
    "dpkg": {"interrupted": False, "unfinished": [], "held": []},
    "apt_sources": {"problems": [], "unread": [], "lists_age_s": 3600, "without_list": []},
    "candidates": [{"package": name, "installed": None, "candidate": version} for name, version in (
        ("postgresql", "15+248"), ("patroni", "3.0.2-1"), ("etcd-server", "3.4.23-4"), ("etcd", None))],
    "mirrors": [{"source": "http://deb.debian.org/debian bookworm", "ok": True, "via": "direct", "stage": None, "reason": None,
                 "seconds": 0.03}],
    "cpus": 4,
    "cpu_level": 3,
    "memory_mb": 7950,
    "swap": {"swap_mb": 0, "overcommit_memory": 0},
    "gpus": {"answering": [{"name": "NVIDIA L4", "memory_mb": 23034}], "silent": []},
    "confinement": {"cpus": None, "memory_mb": None},
    "disks": [{"path": "/", "mount": "/", "filesystem": "8:1", "free_bytes": 40 * 2**30, "inodes": 4000000, "inodes_free": 3800000,
               "read_only": False}],
    "disk_speed": [{"path": path, "mount": "/", "writes": 50, "p99_s": 0.0012, "busy": None}
                   for path in ("/var/lib/postgresql", "/var/lib/etcd")],
    "temp": [{"path": path, "problem": None, "noexec": False, "free_bytes": 40 * 2**30} for path in ("/tmp", "/var/tmp")],
    "remote_tmp": {"path": "/home/ops/.ansible/tmp", "problem": None},
    "locales": ["C.UTF-8"],
    "clock": {"offset_s": 0.003, "error_s": 0.008},
    "time_sync": {"synchronised": True, "by": "chrony"},
    "time_sources": ["chrony"],
    "firewall": {"by": None, "open": None, "unread": "only root may read the kernel's rules"},
    "listening": [{"port": 22, "address": "0.0.0.0", "process": None, "user": "root"}],
    "internet": [{"url": "http://deb.debian.org/", "ok": True, "via": "direct", "stage": None, "reason": None, "seconds": 0.03}],
    "reach": {"tried": 2, "open": 2, "seconds": {"median": 0.0004, "max": 0.012}, "not_open": []},
    "unmeasured": {},
}


@pytest.fixture
def record():
    """record(section=value, ...): a healthy machine's record with these sections instead; None takes one away."""

    def make(**sections):
        made = copy.deepcopy({**HEALTHY, **sections})
        return {name: value for name, value in made.items() if value is not None}

    return make


@pytest.fixture
def asked():
    """asked("database", ...): what is asked of a machine with these roles, one of three."""

    def make(*roles, machines=3, **changed):
        given = {
            "need": together(settings.profile().needs[role] for role in roles),
            "systems": settings.profile().systems,
            "architectures": settings.profile().architectures,
            "limits": settings.LIMITS,
            "machines": machines,
        }
        return Asked(**{**given, **changed})

    return make


@pytest.fixture
def group(record):
    """group({"db1": {section: value, ...}, ...}, others=("n1", ...)): machines that were read, healthy but for these sections, and
    those that were not. The roles of a machine are as its name says: the role's first letters and a number, see ROLES_BY_NAME."""

    def make(read, others=(), **limits):
        members = []
        for number, (name, sections) in enumerate(read.items(), 1):
            own = {"machine_id": f"{number:032x}", "host_keys": [f"SHA256:{number}"], "hostname": name, "addresses": [f"10.0.0.{number}"],
                   "macs": [f"52:54:00:00:00:{number:02x}"]}
            members.append(member(name, record(**{"machine": name, "address": f"10.0.0.{number}", "identity": own, **sections})))
        return Group(members, [member(name, {"machine": name}) for name in others], {**settings.LIMITS, **limits})

    return make


ROLES_BY_NAME = {"db": "database", "w": "etcd_witness", "cp": "control_plane", "n": "node"}


def member(name, record):
    roles = (ROLES_BY_NAME[name.rstrip("0123456789")],)
    return Member(name, roles, together(settings.profile().needs[role] for role in roles), record)
