"""A machine that nothing is wrong with, for tests to take something from."""

from __future__ import annotations

import copy

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Asked, together

HEALTHY = {
    "machine": "db1",
    "address": "10.0.0.5",
    "roles": ["database"],
    "local": False,
    "serves": [],
    "login": {"ok": True, "user": "ops", "uid": 1000},
    "system": {"id": "debian", "version": "12", "name": "Debian GNU/Linux 12 (bookworm)"},
    "architecture": "x86_64",
    "sudo": {"how": "nopasswd", "waited_s": 0.0},
    "apt": True,
    "package_locks": [],
    "cpus": 4,
    "memory_mb": 7950,
    "confinement": {"cpus": None, "memory_mb": None},
    "disks": [{"path": "/", "mount": "/", "free_bytes": 40 * 2**30}],
    "clock": {"offset_s": 0.003, "error_s": 0.008},
    "time_sync": {"synchronised": True, "by": "chrony"},
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
            "need": together(settings.NEEDS[role] for role in roles),
            "systems": settings.SYSTEMS,
            "architectures": settings.ARCHITECTURES,
            "limits": settings.LIMITS,
            "machines": machines,
        }
        return Asked(**{**given, **changed})

    return make
