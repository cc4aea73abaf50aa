# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The filter ``evaluate``; its documentation is in evaluate.yml."""

from __future__ import annotations

import datetime
import typing as t

from ansible.errors import AnsibleFilterError
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import RecordsError, evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.settings import SettingsError


def evaluate_filter(
    records: t.Any,
    needs: t.Any = None,
    systems: t.Any = None,
    architectures: t.Any = None,
    limits: t.Any = None,
    others: t.Any = None,
    profile: t.Any = None,
    custom_checks: t.Any = None,
    only: t.Any = None,
    skip: t.Any = None,
    waivers: t.Any = None,
) -> dict[str, t.Any]:
    try:
        return evaluate(
            records, needs, systems, architectures, limits, others, profile=profile, custom_checks=custom_checks, only=only, skip=skip,
            waived=waivers, today=datetime.date.today())
    except (RecordsError, SettingsError) as problem:
        raise AnsibleFilterError(f"llmgw.preflight.evaluate: {problem}") from problem


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"evaluate": evaluate_filter}
