# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Ansible's own facts, for checks of the user's own."""

from ansible.module_utils.facts import ansible_collector, default_collectors
from ansible.module_utils.facts.namespace import PrefixFactNamespace

# What the setup module reads in any case, unless !min is asked for. Without them ansible-core takes "nothing but these" for "all".
# Not among them is local, whose programs in /etc/ansible/facts.d would be run.
MINIMAL = frozenset((
    "apparmor", "caps", "cmdline", "date_time", "distribution", "dns", "env", "fips", "lsb", "pkg_mgr", "platform", "python", "selinux",
    "service_mgr", "ssh_pub_keys", "user"))
PREFIX = "ansible_"  # some are worked out from others, which they look for under this name


def facts(module, subset):
    """Those of ``subset``, as gather_subset of the setup module has it, by the names that ansible_facts has."""
    collector = ansible_collector.get_ansible_collector(
        default_collectors.collectors, namespace=PrefixFactNamespace(namespace_name="ansible", prefix=PREFIX),
        gather_subset=subset, minimal_gather_subset=MINIMAL)
    found = collector.collect(module=module)
    return dict((name[len(PREFIX):] if name.startswith(PREFIX) else name, value) for name, value in found.items())
