# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is the hostname one that others can use?

Each part between dots must be a label of DNS: letters, digits and hyphens, with no hyphen at either end (RFC 1123, 2.1; hostname(7)).
More than 63 characters are more than a label can have (RFC 1035, 2.3.4), and 64 are all that Linux keeps, so a longer name was cut off.
localhost is what a machine is called that was given no name.
"""

from __future__ import annotations

import re
import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Unmeasured, Verdict, ok, section, warn

ID = "hostname"
WORST = Level.WARN
FIX = "Give it a name of letters, digits and hyphens: hostnamectl set-hostname NAME, and the same in /etc/hosts."
FIX_UNREAD = "See what hostname says there."
MOST = 63
LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?")
NO_NAMES = ("localhost", "localhost.localdomain")


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    name = section(record, "identity", {"hostname": (str, type(None))})["hostname"]
    if not name:
        raise Unmeasured("the machine does not say how it is called")
    if name.lower() in NO_NAMES:
        return warn(f"it is called {name}, as a machine without a name", FIX)
    if len(name) > MOST:
        return warn(f"its hostname has {len(name)} characters ({MOST} are allowed): {name}", FIX)
    wrong = [label for label in name.split(".") if not LABEL.fullmatch(label)]
    if wrong:
        return warn(f"its hostname {name} is not valid in DNS" + (f" ({wrong[0]})" if wrong[0] not in ("", name) else ""), FIX)
    return ok(name)
