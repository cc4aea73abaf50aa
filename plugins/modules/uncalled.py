#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

DOCUMENTATION = r"""
module: uncalled
short_description: Find the machines whose stand-ins still wait for callers
description:
  - Looks at what P(llmgw.preflight.edges#module) left for each machine. Where some could not reach a port, its stand-in is still there.
  - Runs on the controller only, and once for all machines; use it with C(run_once).
author: llmgw (@llmgw)
options:
  plan:
    description: What P(llmgw.preflight.plan#module) returned.
    type: dict
    required: true
extends_documentation_fragment:
  - llmgw.preflight.attributes
seealso:
  - module: llmgw.preflight.close
"""

EXAMPLES = r"""
- name: See which stand-ins still wait
  llmgw.preflight.uncalled:
    plan: "{{ preflight_plan }}"
  register: preflight_uncalled
  run_once: true
"""

RETURN = r"""
machines:
  description: The names of these machines; none where everything is reached.
  type: list
  elements: str
  returned: success
  sample: [db2]
"""
