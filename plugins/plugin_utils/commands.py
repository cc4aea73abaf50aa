# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Commands that several checks give. Pure.

As all that a verdict holds, each is one line for a root shell that ends with 0 where it worked, asks nothing, and may be run again.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

UPDATE = "apt-get update"


def install(package: str) -> str:
    """A new image has no package lists, and what an old one names may be gone."""
    return f"{UPDATE} && DEBIAN_FRONTEND=noninteractive apt-get -y install {package}"


def clock_kept(record: Mapping[str, t.Any]) -> tuple[str, ...]:
    """What has the clock kept right: none where it is known that nothing does it yet. A program that runs and does not, has a reason."""
    sync = record.get("time_sync")
    if record.get("time_sources") != [] or not isinstance(sync, Mapping) or sync.get("synchronised") is not False:
        return ()
    switch = "timedatectl set-ntp true"  # fails where there is nothing to be switched on
    return (f"{switch} || {{ {install('chrony')}; }}" if record.get("apt") is True else switch,)
