#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

DOCUMENTATION = r"""
module: close
short_description: End the stand-ins of a machine that still wait for callers
description:
  - A stand-in ends by itself when all that must reach it have called. This ends those that some could not reach, so that the ports are
    free when the play goes on.
  - Never fails, and never makes a host unreachable.
author: llmgw (@llmgw)
options:
  plan:
    description: What P(llmgw.preflight.plan#module) returned.
    type: dict
    required: true
  machine:
    description: The name of the machine in the inventory; the task is delegated to it.
    type: str
    required: true
extends_documentation_fragment:
  - llmgw.preflight.attributes
seealso:
  - module: llmgw.preflight.probe
  - module: llmgw.preflight.edges
"""

EXAMPLES = r"""
- name: End the stand-ins that were not all called
  llmgw.preflight.close:
    plan: "{{ preflight_plan }}"
    machine: "{{ item }}"
  loop: "{{ preflight_uncalled.machines }}"
  delegate_to: "{{ item }}"
  run_once: true
"""

RETURN = r"""
alive:
  description: Whether they were there until now, or null when that could not be told.
  type: bool
  returned: always
"""
