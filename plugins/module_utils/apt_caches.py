# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How to ask apt of packages without having it write something: as root it brings its caches up to date, some 70 MB."""

import os

from ansible_collections.llmgw.preflight.plugins.module_utils.apt_sources import LISTS, changed

STATUS = "/var/lib/dpkg/status"
SOURCES = (LISTS, "/etc/apt/sources.list", "/etc/apt/sources.list.d")
# Name -> where it lies, and what it is made of.
CACHES = {"pkgcache": ("/var/cache/apt/pkgcache.bin", SOURCES + (STATUS,)), "srcpkgcache": ("/var/cache/apt/srcpkgcache.bin", SOURCES)}


def without_writing():
    """Options with which apt does without a cache that it would have to write."""
    if os.geteuid():
        return []
    stale = [name for name, (cache, made_of) in CACHES.items() if changed(cache) <= max(changed(path) for path in made_of)]
    return ["--option=Dir::Cache::%s=" % name for name in stale]
