# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Does more than one program set the clock?

Each would take the other's corrections for errors of the clock. The packages of Debian and Ubuntu keep each other out, so one of them came
in another way. PTP (ptp4l, phc2sys) works together with chrony or ntpd, so it is named and not counted; chronyd -x does not set the clock.
Whether the clock is right is for clock and time_sync to say.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, ok, section, warn

ID = "time_source"
WORST = Level.WARN
FIX_UNREAD = "See with systemctl whether more than one of chrony, ntpsec, ntpd, openntpd and systemd-timesyncd runs there."
# The first of them that runs is the one to keep; each with its unit.
DEFAULT = "systemd-timesyncd"  # which a system has by itself, so that another was put there on purpose
UNITS = {"chrony": "chrony", "ntpsec": "ntpsec", "ntpd": "ntp", "openntpd": "openntpd", DEFAULT: DEFAULT}


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    found = section(record, "time_sources", [str])
    setting = [name for name in UNITS if name in found]
    of_ptp = [name for name in found if name not in UNITS]
    told = " and ".join(setting + of_ptp)
    if len(setting) < 2:
        return ok(f"set by {told}" if told else "no program of this machine's own sets the clock")
    others = " ".join(UNITS[name] for name in setting[1:])
    command = f"systemctl disable --now {others}"
    return warn(f"set by {len(setting)} programs at once: {told}", f"Keep one of them, for instance {setting[0]}: {command}.",
                *([command] if setting[1:] == [DEFAULT] else ()))
