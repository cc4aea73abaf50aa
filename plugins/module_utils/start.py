# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What runs first on a machine: it imports the readers from their sources, which came with it, and prints what they found.

It takes the place of AnsibleModule, whose start takes a machine longer than all that is read there. Nothing is unpacked to a disk.
"""

import importlib
import json
import os
import sys
from importlib.machinery import ModuleSpec


class Sources(object):
    """Finds and loads modules whose sources are given by their names."""

    def __init__(self, sources):
        self.sources = sources

    def find_spec(self, name, path=None, target=None):
        is_package = any(known.startswith(name + ".") for known in self.sources)
        return ModuleSpec(name, self, is_package=is_package) if is_package or name in self.sources else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__spec__.name
        exec(compile(self.sources.get(name, ""), name, "exec"), module.__dict__)  # pylint: disable=exec-used


def start(sources, main, oldest_python, arguments, begun):
    """Run ``main`` of the module of that name, with arguments and the time at which all of this began; print what it returns."""
    if sys.version_info < oldest_python:  # what is installed afterwards needs it, even if we do not
        result = {"failed": True, "msg": "Ansible requires Python %d.%d or newer on the machine" % oldest_python}
    else:
        sys.meta_path.insert(0, Sources(sources))
        result = importlib.import_module(main).main(arguments, begun)
    sys.stdout.write("\n%s\n" % json.dumps(result))
    sys.stdout.flush()
    os._exit(0)  # without a wait for threads whose disk does not answer
