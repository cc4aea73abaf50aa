# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is new since an earlier report, what is mended, and what remains. Pure."""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from .model import Level

LEVELS = {str(level): level for level in Level}

Report = Mapping[str, t.Any]
At = tuple[str | None, str]  # machine (None for all together) and check


def changes(earlier: Report, report: Report) -> dict[str, t.Any]:
    """since (when the earlier one was made); new, worse, better and fixed, each a list of machine and check; remains, a number.

    Only what warns or fails is a problem, waived or not. What was not looked at this time is neither fixed nor remains. Raises KeyError,
    TypeError or ValueError where ``earlier`` is no report.
    """
    before, now = _problems(earlier), _problems(report)
    looked_at = {(finding["machine"], finding["check"]) for finding in report["findings"]}
    unread = {finding["machine"] for finding in report["findings"] if finding["check"] == "login" and finding["level"] == "fail"}
    gone = [at for at in before if at not in now and (at in looked_at or at[0] is None or at[1] == "login") and at[0] not in unread]
    both = [at for at in now if at in before]
    return {
        "since": str(earlier["about"]["at"]),
        "new": _listed(at for at in now if at not in before),
        "worse": _listed(at for at in both if now[at] > before[at]),
        "better": _listed(at for at in both if now[at] < before[at]),
        "fixed": _listed(gone),
        "remains": sum(now[at] == before[at] for at in both),
    }


def _problems(report: Report) -> dict[At, Level]:
    """The worst of what each check says of each machine, where it is more than ok."""
    found: dict[At, Level] = {}
    for finding in report["findings"]:
        at, level = (finding["machine"], finding["check"]), LEVELS[finding["level"]]
        if level > Level.OK:
            found[at] = max(level, found.get(at, level))
    return found


def _listed(ats: t.Iterable[At]) -> list[dict[str, t.Any]]:
    return [{"machine": machine, "check": check} for machine, check in ats]
