# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which versions of packages are there, and which would be installed, as apt has it."""

import os
import re

from ansible_collections.llmgw.preflight.plugins.module_utils.apt_sources import LISTS, changed
from ansible_collections.llmgw.preflight.plugins.module_utils.dpkg import STATUS
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find, first_line

# Where apt keeps what it has made of these files, some 70 MB, and would write it anew as root where it is older. Elsewhere it need not be.
SOURCES = (LISTS, "/etc/apt/sources.list", "/etc/apt/sources.list.d")
CACHES = {"pkgcache": ("/var/cache/apt/pkgcache.bin", SOURCES + (STATUS,)), "srcpkgcache": ("/var/cache/apt/srcpkgcache.bin", SOURCES)}


def candidates(names, limit_s):
    """package, installed and candidate of each of these names; what there is none of is None."""
    if not names:
        return []
    path = find("apt-cache")
    if not path:
        raise Unmeasured("apt-cache is not there")
    status, out, err = command([path, "policy"] + _without_writing() + names, limit_s)
    if status:
        said = re.sub(r"^E: |(?<=://)\S*@", "", first_line(err))
        raise Unmeasured("apt-cache policy: %s" % (said or "exit status %d" % status))
    found = {}
    for name, installed, candidate in re.findall(r"^(\S+):\n  Installed: (.*)\n  Candidate: (.*)", out, re.M):
        found[name] = (installed, candidate)
    return [dict(zip(("package", "installed", "candidate"),
                     [name] + [None if version == "(none)" else version for version in found.get(name, ("(none)", "(none)"))]))
            for name in names]


def _without_writing():
    """Options with which apt does without a cache that it would have to write."""
    if os.geteuid():
        return []
    stale = [name for name, (cache, made_of) in CACHES.items() if changed(cache) <= max(changed(path) for path in made_of)]
    return ["--option=Dir::Cache::%s=" % name for name in stale]
