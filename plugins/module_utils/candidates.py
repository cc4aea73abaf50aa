# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which versions of packages are there, and which would be installed, as apt has it."""

import re

from ansible_collections.llmgw.preflight.plugins.module_utils.apt_caches import without_writing
from ansible_collections.llmgw.preflight.plugins.module_utils.apt_sources import told_by_apt
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find


def candidates(names, limit_s):
    """package, installed and candidate of each of these names; what there is none of is None."""
    if not names:
        return []
    path = find("apt-cache")
    if not path:
        raise Unmeasured("apt-cache is not there")
    status, out, err = command([path, "policy"] + without_writing() + names, limit_s)
    if status:
        said = re.search(r"^E: (.*)", err, re.M)
        raise Unmeasured("apt-cache policy: %s" % (told_by_apt(said.group(1)) if said else "exit status %d" % status))
    found = {}
    for name, installed, candidate in re.findall(r"^(\S+):\n  Installed: (.*)\n  Candidate: (.*)", out, re.M):
        found[name] = (installed, candidate)
    return [dict(zip(("package", "installed", "candidate"),
                     [name] + [None if version == "(none)" else version for version in found.get(name, ("(none)", "(none)"))]))
            for name in names]
