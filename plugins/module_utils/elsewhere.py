# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What can be told of the ways to machines that are read at another time, so that no stand-in of this run listens there."""

from ansible_collections.llmgw.preflight.plugins.module_utils.calls import of_round_trips
from ansible_collections.llmgw.preflight.plugins.module_utils.reach import attempt

ROUND_TRIPS = 3  # to an SSH port, where each is a login that is broken off


def call_elsewhere(edges, limit_s):
    """Try each of ``edges`` (machine, address, port); return tried, open, not_open and elsewhere.

    not_open are those that something on the way keeps. Of what is open, since a service listens there, or refused, as by a machine where
    nothing does yet, elsewhere has port, outcome and machines.
    """
    outcomes, _round_trips = attempt(edges, limit_s)
    there, not_open = {}, []
    for number, edge in enumerate(edges):
        if outcomes[number] in ("open", "refused"):
            there.setdefault((edge["port"], outcomes[number]), []).append(edge["machine"])
        else:
            not_open.append(dict(edge, outcome=outcomes[number]))
    elsewhere = [{"port": port, "outcome": outcome, "machines": machines} for (port, outcome), machines in sorted(there.items())]
    is_open = sum(len(same["machines"]) for same in elsewhere if same["outcome"] == "open")
    return {"tried": len(edges), "open": is_open, "not_open": not_open, "elsewhere": elsewhere}


def measure(peers, limit_s):
    """The round trips to the SSH ports of ``peers`` (machine, address, port), as calls.of_round_trips tells them."""
    trips = {}
    for _again in range(ROUND_TRIPS):
        _outcomes, round_trips = attempt(peers, limit_s)
        for number, seconds in round_trips.items():
            trips.setdefault(peers[number]["machine"], []).append(seconds)
        peers = [peer for peer in peers if peer["machine"] in trips]  # what does not answer at once is not waited for again
    return of_round_trips(trips)


def together(near, far, measured):
    """What call and these two have found, as one."""
    both = [each["slowest"] for each in (near, measured) if each["slowest"]]
    return dict(
        near,
        tried=near["tried"] + far["tried"], open=near["open"] + far["open"], not_open=near["not_open"] + far["not_open"],
        elsewhere=far["elsewhere"], slowest=max(both, key=lambda one: one["seconds"]) if both else None,
        measured=sorted(near["measured"] + measured["measured"]))
