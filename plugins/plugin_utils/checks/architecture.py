# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is the processor's architecture (uname -m) one that the install has programs for?

Those of another one do not start there, so that it is a failure. Which there are is in the profile.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Verdict, fail, ok, section

ID = "architecture"
WORST = Level.FAIL
FIX_UNREAD = "Run uname -m there and see why it does not answer."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    architecture = section(record, "architecture", str)
    if architecture in asked.architectures:
        return ok(architecture)
    supported = ", ".join(asked.architectures)
    return fail(f"{architecture} is not supported (supported: {supported})", f"Use a machine of one of these: {supported}.")
