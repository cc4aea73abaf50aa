"""The collection is found by Ansible's own loader, as in a play."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["ANSIBLE_COLLECTIONS_PATH"] = str(Path(__file__).parents[1] / ".collections")  # before Ansible reads it

from ansible.plugins.loader import init_plugin_loader

init_plugin_loader([])
