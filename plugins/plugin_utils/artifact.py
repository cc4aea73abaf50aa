# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is left of a report when a job is over: small, whatever the number of machines. Pure."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

MOST = 50  # findings
TEXT_MOST = 200  # characters of a detail or a fix
KEYS = ("machine", "check", "level", "detail", "fix", "waived")


def artifact(report: Mapping[str, t.Any], fail_on: str = "fail") -> dict[str, t.Any]:
    """worst, counts, waived, machines (their number), findings (what stops the play or is waived, worst first, cut), more (the number left
    out). What fails is told also where nothing stops the play."""
    levels = ("fail", "warn") if fail_on == "warn" else ("fail",)
    told = sorted((finding for finding in report["findings"] if finding["level"] in levels or finding.get("waived")),
                  key=lambda finding: (bool(finding.get("waived")), finding["level"] != "fail"))
    return {
        **{key: report[key] for key in ("schema_version", "worst", "counts", "waived")},
        "machines": len(report["machines"]),
        "findings": [{key: _short(finding[key]) for key in KEYS if key in finding} for finding in told[:MOST]],
        "more": max(0, len(told) - MOST),
    }


def _short(value: t.Any) -> t.Any:
    if isinstance(value, Mapping):  # waived
        return {key: _short(inner) for key, inner in value.items()}
    return f"{value[:TEXT_MOST]}..." if isinstance(value, str) and len(value) > TEXT_MOST else value
