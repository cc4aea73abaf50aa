"""The collection is found by Ansible's own loader, as in a play. ansible-test brings one of its own, and not the path of tests/."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if "ansible_pytest_collections" in sys.modules:
    sys.path.insert(0, str(Path(__file__).parent))
else:
    os.environ["ANSIBLE_COLLECTIONS_PATH"] = str(Path(__file__).parents[1] / ".collections")  # before Ansible reads it

    from ansible.plugins.loader import init_plugin_loader

    init_plugin_loader([])

MARKERS = {
    "core": "what depends on ansible-core's version, run on the oldest and the newest",
    "newest": "what does so less and takes long, run on the newest",
}


def pytest_configure(config):
    for name, what in MARKERS.items():  # here, since ansible-test brings settings of its own for pytest
        config.addinivalue_line("markers", f"{name}: {what}")
