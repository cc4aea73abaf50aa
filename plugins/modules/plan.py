#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

DOCUMENTATION = r"""
module: plan
short_description: Settle what is asked of each machine
description:
  - Checks every variable of the role at once, and tells all problems in one error, before anything is read.
  - Works out for each machine of the play its roles, the models that it will serve, and the address and port by which the others
    reach it. They are taken from O(llmgw.preflight.preflight#role:main:preflight_roles),
    O(llmgw.preflight.preflight#role:main:preflight_serves), O(llmgw.preflight.preflight#role:main:preflight_address),
    C(ansible_host) and C(ansible_port), as a task on that machine would see them.
  - Runs on the controller only, and once for all machines; use it with C(run_once).
author: llmgw (@llmgw)
options:
  needs:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_needs).
    type: raw
  packages:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_packages).
    type: raw
  systems:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_systems).
    type: raw
  architectures:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_architectures).
    type: raw
  limits:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_limits).
    type: raw
  role_ports:
    description: The variable O(llmgw.preflight.preflight#role:main:preflight_role_ports).
    type: raw
  profile:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_profile).
    type: raw
  custom_checks:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_custom_checks).
    type: raw
  gather_subset:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_gather_subset).
    type: raw
  only:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_only).
    type: raw
  skip:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_skip).
    type: raw
  waivers:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_waivers).
    type: raw
  peers:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_peers).
    type: raw
  records_dir:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_records_dir).
    type: raw
extends_documentation_fragment:
  - llmgw.preflight.attributes
  - llmgw.preflight.of_report
seealso:
  - module: llmgw.preflight.probe
  - module: llmgw.preflight.judge
"""

EXAMPLES = r"""
- name: Settle what is asked of each machine
  llmgw.preflight.plan:
    needs: {database: {disk_gb: 100}}
  register: preflight_plan
  run_once: true
"""

RETURN = r"""
run:
  description: A mark of this run, which each of its records carries.
  type: str
  returned: success
play:
  description: A mark of the play, which the records of its batches have in common.
  type: str
  returned: success
batches:
  description: Whether the play runs in batches (C(serial)).
  type: bool
  returned: success
superseded:
  description: The marks of earlier runs on this batch in this play.
  type: list
  elements: str
  returned: success
machines:
  description:
    - All machines of the play, in the order of the inventory, and after them those of other runs.
    - Those that C(--limit) leaves out, or that other runs read, have C(examined) false, and C(why), C(limit) or C(peer).
  type: list
  elements: dict
  returned: success
  sample:
    - machine: db1
      examined: true
      address: 10.0.0.5
      port: 22
      roles: [database]
      serves: []
      internet_urls: ['http://deb.debian.org/']
role_ports:
  description: Whether there are ports to try between the machines.
  type: bool
  returned: success
sampled:
  description: How the peers are drawn that each machine tries, where there are too many for all pairs; null otherwise.
  type: dict
  returned: success
  sample: {machines: 60, others: 5, seed: 3f9a1c}
profile:
  description: The profile, with what was put over it; C(name), C(needs), C(systems), C(architectures), C(internet_urls).
  type: dict
  returned: success
records_dir:
  description: Where the records are saved, if anywhere.
  type: str
  returned: success
stats_key:
  description: The name under which the outcome is published, if it is.
  type: str
  returned: success
controller:
  description: By which controllers are told apart whose clocks may differ.
  type: str
  returned: success
limits:
  description: Every threshold and deadline, in seconds.
  type: dict
  returned: success
custom_checks:
  description: The checks of the user's own, whole.
  type: list
  elements: dict
  returned: success
gather_subset:
  description: The facts that these need besides.
  type: list
  elements: str
  returned: success
left_out:
  description: The ids of the checks that are left out.
  type: list
  elements: str
  returned: success
waivers:
  description: What somebody has decided to live with, whole.
  type: list
  elements: dict
  returned: success
fit:
  description: Whether the report shows which machine would fit which role even if none is short of room.
  type: bool
  returned: success
fail_on:
  description: The least level that fails the play.
  type: str
  returned: success
report_dir:
  description: Where the report is written, if anywhere.
  type: str
  returned: success
report_formats:
  description: What is written there.
  type: list
  elements: str
  returned: success
report_mode:
  description: The mode of the report's files.
  type: str
  returned: success
  sample: "0600"
fix_script:
  description: Where the scripts of fixes are written, if anywhere.
  type: str
  returned: success
"""
