# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Ansible's own facts, for checks of the user's own."""

from ansible.module_utils.facts import ansible_collector, default_collectors


def facts(module, subset):
    """Those of ``subset``, as gather_subset of the setup module has it, by the names that ansible_facts has."""
    return ansible_collector.get_ansible_collector(default_collectors.collectors, gather_subset=subset).collect(module=module)
