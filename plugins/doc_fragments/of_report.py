# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is done with the report, which two modules look at before there is one."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  fit:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_fit).
    type: raw
  fail_on:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_fail_on).
    type: raw
  report_dir:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_report_dir).
    type: raw
  report_formats:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_report_formats).
    type: raw
  report_mode:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_report_mode).
    type: raw
  fix_script:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_fix_script).
    type: raw
  stats_key:
    description: The value of O(llmgw.preflight.preflight#role:main:preflight_stats_key).
    type: raw
"""
