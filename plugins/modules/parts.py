#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

DOCUMENTATION = r"""
module: parts
short_description: Judge together what several runs have read
description:
  - Takes the files that runs of the preflight have saved in O(llmgw.preflight.preflight#role:main:preflight_records_dir), and judges
    all their machines as one run over all would.
  - All else that settles what is asked of the machines is as it was when they were read.
  - A machine that any of them knows of, and none has read, has a failure of the check C(login). Records that are too old, from another
    version, or there more than once have a finding of the check C(parts).
  - What is to be done with the report is looked at too, so that all that can not be used is told at once.
  - Fails when a file can not be read, is damaged, or was read with other settings than the others.
  - Runs on the controller only.
author: llmgw (@llmgw)
options:
  paths:
    description: Files, and folders that hold such files.
    type: list
    elements: str
    required: true
  limits:
    description:
      - Put over the limits with which the parts were read, as O(llmgw.preflight.preflight#role:main:preflight_limits). Deadlines change
        nothing any more.
    type: raw
  waivers:
    description: As O(llmgw.preflight.preflight#role:main:preflight_waivers). They stand in for those of the parts, which hold without them.
    type: raw
extends_documentation_fragment:
  - llmgw.preflight.attributes
  - llmgw.preflight.of_report
seealso:
  - module: llmgw.preflight.judge
  - module: llmgw.preflight.report
"""

EXAMPLES = r"""
- name: Judge what three sites have read
  llmgw.preflight.parts:
    paths: [records/north, records/south, records/east]
  register: preflight_report
"""

RETURN = r"""
worst:
  description: The most serious level; this and all else is as P(llmgw.preflight.judge#module) returns it.
  type: str
  returned: success
"""
