# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Inventories that Ansible passed over."""

from __future__ import annotations

import os
import typing as t

from ansible.inventory.manager import IGNORED
from ansible.utils.path import unfrackpath

USUAL = "/etc/ansible/hosts"  # which need not be there


def passed_over(inventory: t.Any) -> list[str]:
    """The sources that could not be read, or not to their end, of which Ansible only warns; in a folder each file is one."""
    named = (source if "," in source else unfrackpath(source, follow=False) for source in inventory._sources if source)
    read = set(inventory._inventory.processed_sources)
    return [source for folder in named for source in _files(folder) if source not in read and (source != USUAL or os.path.exists(source))]


def _files(source: str) -> t.Iterator[str]:
    if not os.path.isdir(source):
        yield source
        return
    for name in sorted(os.listdir(source)):
        if not IGNORED.search(os.fsencode(name)):
            yield from _files(os.path.join(source, name))
