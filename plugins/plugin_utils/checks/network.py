# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Does the machine reach every other machine of the play?

By TCP to the SSH port, because it is the one port that is open before anything is installed. Left out when there is
only one machine; a record that stands alone but tells of others (a batch of one) is judged. Where the controller got no connection to
any of those that are not reached either, what is to be done is told with their login.
"""

from __future__ import annotations

import ipaddress
import typing as t
from collections.abc import Mapping

from ..model import OUTCOMES, Asked, Level, Unmeasured, Verdict, fail, ok, section

ID = "network"
WORST = Level.FAIL
FIX_UNREAD = "Log in there and try to reach the other machines' SSH port by hand (nc -vz ADDRESS 22)."

FIX = ("Open the SSH port between the machines (firewall, security group, routes), or set preflight_address to the "
       "address that the others are to use.")
# One text for all: by lot nearly each machine misses others, and problems with one fix are told together.
FIX_DOWN = "First mend the login to those that it does not reach, since the controller does not reach them either, and then run again."
SHAPE = {"tried": int, "open": int, "not_open": [{"machine": str, "address": str, "port": int, "outcome": str}]}
FIX_LOOPBACK = "Set preflight_address of this machine to the address by which the others reach it."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    if asked.machines < 2 and not _tells_of_others(record):
        return None
    address = record.get("address")
    if isinstance(address, str) and is_loopback(address):
        return fail(f"its address for the others is {address}, which leads each of them to itself", FIX_LOOPBACK)
    reach = section(record, "reach", SHAPE)
    closed = reach["not_open"]
    if reach["open"] + len(closed) != reach["tried"]:
        raise Unmeasured(f"of {reach['tried']} attempts only {reach['open'] + len(closed)} are accounted for")
    if not closed:
        return ok(f"reaches {reach['open']} of {reach['tried']} other machines on their SSH port")
    told = ", ".join(f"{peer['machine']} ({peer['address']} port {peer['port']}: "
                     f"{OUTCOMES.get(peer['outcome'], peer['outcome'])})" for peer in closed)
    down = all(peer["machine"] in asked.unreached for peer in closed)
    return fail(f"does not reach {told}", FIX_DOWN if down else FIX)


def _tells_of_others(record: Mapping[str, t.Any]) -> bool:
    try:
        return bool(section(record, "reach", {"tried": int})["tried"])
    except Unmeasured:
        return False


def is_loopback(address: str) -> bool:
    """Whether every machine would take this address for itself."""
    if address.rstrip(".").lower() in ("localhost", "localhost.localdomain", "ip6-localhost"):
        return True
    if not address.startswith(("127.", "0", ":")):  # however such an address is written
        return False
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address.startswith("127.")  # 127.1 is short for 127.0.0.1
    found = getattr(found, "ipv4_mapped", None) or found
    return found.is_loopback or found.is_unspecified
