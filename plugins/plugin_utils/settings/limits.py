# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Thresholds and deadlines. Pure."""

from __future__ import annotations

import math
import typing as t
from collections.abc import Mapping

from .values import Problems, refuse

# Thresholds and deadlines, in seconds but for the last. The deadlines are long enough for a machine that is busy with something else:
# they are waited for only where nothing answers.
LIMITS: dict[str, float] = {
    "clock_warn_s": 1,  # further apart than this is a warning
    "clock_fail_s": 5,  # and than this a failure
    "latency_warn_s": 0.01,  # a longer round trip between etcd's members is a warning
    "latency_fail_s": 0.1,  # and than this a failure
    "sync_warn_s": 0.01,  # a small write that takes longer to be on the disk is a warning
    "sync_fail_s": 0.1,  # and than this a failure
    "clock_s": 20,  # for narrowing down one machine's clock
    "command_s": 10,  # for each command that is run on a machine, and each disk that is looked at
    "internet_s": 10,  # for each URL: name, connection and answer
    "reach_s": 10,  # for all attempts of one machine to reach the others
    "stand_in_s": 900,  # after which a stand-in on a role's port ends by itself, should nothing else have ended it
    "read_s": 30,  # for everything that the module reads on one machine
    "machine_s": 90,  # for one machine as a whole, logging in included
    "stale_s": 86400,  # older than this no saved record is judged
    "all_pairs": 50,  # machines: where there are more, each tries those that it needs and some others, not all
}
DAY_S = 86400
MOST = {"stale_s": (366 * DAY_S, "a year, in seconds"), "all_pairs": (10**6, "machines")}  # where it is not a day


def limits(given: t.Any, name: str = "preflight_limits", base: Mapping[str, float] | None = None) -> dict[str, float]:
    """The limits of ``base``, or else the default ones, with the ``given`` ones put over them; all of them more than 0."""
    problems = Problems()
    merged = dict(LIMITS if base is None else base)
    if given is None:
        return merged
    if not isinstance(given, Mapping):
        refuse(name, given, f"it must be a mapping with some of {', '.join(LIMITS)}.")
    for key, value in given.items():
        if key not in LIMITS:
            problems.add(f"{name} key", key, f"the known ones are {', '.join(LIMITS)}.")
            continue
        try:
            number = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        most, of_what = MOST.get(key, (DAY_S, "a day, in seconds"))
        if not 0 < number <= most:
            problems.add(f"{name}.{key}", value, f"it must be a number, more than 0 and at most {most} ({of_what}).")
        merged[str(key)] = number
    usable = not problems
    for kind in ("clock", "latency", "sync"):
        warn, fail = merged.get(f"{kind}_warn_s", 0), merged.get(f"{kind}_fail_s", math.inf)
        if usable and warn > fail:
            problems.add(f"{name}.{kind}_warn_s", warn, f"it must not be more than {kind}_fail_s ({fail:g}).")
    problems.stop()
    return merged
