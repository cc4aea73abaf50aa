#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

DOCUMENTATION = r"""
module: judge
short_description: Judge all machines of the play together
description:
  - Takes the record that P(llmgw.preflight.probe#module) left for each machine in the variable C(preflight_probe), and applies the rules.
  - A machine of the plan without a record is not passed over. It has a failure of the check C(login), or is named under
    RV(not_examined) when its batch (C(serial)) has not come yet or C(--limit) leaves it out.
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
  - module: llmgw.preflight.plan
  - module: llmgw.preflight.probe
  - module: llmgw.preflight.report
"""

EXAMPLES = r"""
- name: Judge all machines
  llmgw.preflight.judge:
    plan: "{{ preflight_plan }}"
  register: preflight_report
  run_once: true
"""

RETURN = r"""
worst:
  description: The most serious level, C(ok), C(warn) or C(fail).
  type: str
  returned: success
counts:
  description: The number of findings of each level.
  type: dict
  returned: success
  sample: {ok: 12, warn: 0, fail: 1}
machines:
  description: Every machine with its roles and its own worst and counts.
  type: list
  elements: dict
  returned: success
findings:
  description: Every finding, machine by machine, check by check.
  type: list
  elements: dict
  returned: success
  sample: [{machine: db1, check: disk, level: fail, detail: 12 GB free on / (needs 30), fix: "Free space on /."}]
not_examined:
  description: The machines that were not read, and why, C(batch) or C(limit).
  type: list
  elements: dict
  returned: success
  sample: [{machine: db2, why: limit}]
artifact:
  description: What is published for later jobs; C(worst), C(counts), C(waived), C(machines), C(findings), C(more).
  type: dict
  returned: success
play:
  description: The mark of the play, as the plan has it.
  type: str
  returned: success
gone:
  description: The machines whose stand-ins had ended before all had called, each with the mark of the run; for later batches.
  type: dict
  returned: success
saved:
  description: The C(path) of the records, and the C(problem) where they could not be written, with which M(llmgw.preflight.report) fails.
  type: dict
  returned: when there is a folder for them
  sample: {path: /srv/records/preflight-records-3f9a1c.json}
left_out:
  description: The ids of the checks that were left out.
  type: list
  elements: str
  returned: success
sampled:
  description: How the peers were drawn that each machine tried.
  type: dict
  returned: when there were too many machines for each to try each other one
  sample: {machines: 60, others: 5, seed: 3f9a1c}
"""
