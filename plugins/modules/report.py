#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

DOCUMENTATION = r"""
module: report
short_description: Show a report, write its files, and fail when it must
description:
  - Shows the worst first, a line a problem with its fix below, and totals last; every ok too with C(-v).
  - Runs on the controller only, and once for all machines; use it with C(run_once).
author: llmgw (@llmgw)
options:
  report:
    description:
      - What P(llmgw.preflight.judge#module) or P(llmgw.preflight.evaluate#filter) returned.
      - Without it, what is in the variable C(preflight_report), which costs much less where there are many machines.
    type: dict
  fail_on:
    description: The least level that fails this task.
    type: str
    choices: [fail, warn, never]
    default: fail
  fit:
    description: Whether to show which machine would fit which role also when none is short of room.
    type: bool
    default: false
  dir:
    description:
      - A folder on the controller for the files; it is made when it is not there.
      - If there is an earlier C(preflight.json), what changed since then is told.
      - A relative one is taken from the folder in which Ansible was started.
    type: str
  formats:
    description:
      - The files to write there.
      - C(preflight.json) for V(json), with all that is known, in the form of docs/report.schema.json.
      - C(preflight.html) for V(html), one page for people that fetches nothing and can be sent on.
      - C(preflight.xml) for V(xml), JUnit XML, for what shows the results of tests.
      - C(preflight.md) for V(md), Markdown, for the summary of a CI job or a comment on a merge request; it is cut to 60,000 bytes, worst
        first.
    type: list
    elements: str
    choices: [json, html, xml, md]
    default: [json]
  mode:
    description: The mode of these files, in quotes; for their owner only, for their group too, or for all.
    type: str
    choices: ["0600", "0640", "0644"]
    default: "0600"
  fix_script:
    description:
      - A folder on the controller for scripts, one for each machine that has a problem with commands for it; see
        O(llmgw.preflight.preflight#role:main:preflight_fix_script).
      - A relative one is taken from the folder in which Ansible was started.
    type: str
extends_documentation_fragment:
  - llmgw.preflight.attributes
seealso:
  - module: llmgw.preflight.judge
"""

EXAMPLES = r"""
- name: Show the report
  llmgw.preflight.report:
    report: "{{ preflight_report }}"
    dir: reports
  run_once: true
"""

RETURN = r"""
msg:
  description: How many machines are not ready, and which.
  type: str
  returned: failure
  sample: "Preflight: 2 of 8 machines not ready: db1, n3."
"""
