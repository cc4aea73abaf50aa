# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which ports of the other machines does this one reach, where stand-ins (stand_in.py) or services listen?"""

import socket

from ansible_collections.llmgw.preflight.plugins.module_utils.reach import attempt, summary
from ansible_collections.llmgw.preflight.plugins.module_utils.stand_in import NAME

ROUND_TRIPS = 5  # measured to a machine, one of them with the call itself
WORDS_S = 2  # to tell one's own stand-in; it is on this machine


def call(edges, limit_s, token, me):
    """Try each of ``edges`` (machine, address, port, number, held, measured); return what reach.reach does, and slowest.

    ``me`` and ``number`` are the machines' numbers in this run. Where a service holds the port it is only connected to. slowest is
    the greatest of the median round trips to the machines with ``measured``: machine and seconds, or None.
    """
    # Before the call, after which the stand-in may be gone. What is not open at once is not waited for again.
    measured = [edge for edge in edges if edge["measured"]]
    first, round_trips = attempt(measured, limit_s)
    shut = {id(edge): first[number] for number, edge in enumerate(measured) if first[number] != "open"}
    trips = {measured[number]["machine"]: [seconds] for number, seconds in round_trips.items()}
    measured = [edge for edge in measured if id(edge) not in shut]
    for _again in range(ROUND_TRIPS - 2):
        for number, seconds in attempt(measured, limit_s)[1].items():
            trips.setdefault(measured[number]["machine"], []).append(seconds)
    called, never_called = [edge for edge in edges if id(edge) not in shut], [edge for edge in edges if id(edge) in shut]
    mine, of_another_run = ("%s %d\n" % (token, me)).encode(), (NAME + " -").encode()
    words = {
        number: (mine, ("%s %s %d %d\n" % (NAME, token, edge["number"], edge["port"])).encode(), of_another_run)
        for number, edge in enumerate(called) if not edge["held"]
    }
    outcomes, round_trips = attempt(called, limit_s, words)
    for number, seconds in round_trips.items():
        if called[number]["measured"]:
            trips.setdefault(called[number]["machine"], []).append(seconds)
    told = [{key: edge[key] for key in ("machine", "address", "port")} for edge in called + never_called]
    outcomes.update((len(called) + number, shut[id(edge)]) for number, edge in enumerate(never_called))
    medians = sorted((sorted(each)[len(each) // 2], machine) for machine, each in trips.items())
    slowest = {"machine": medians[-1][1], "seconds": medians[-1][0]} if medians else None
    return dict(summary(told, outcomes, round_trips), slowest=slowest)


def excuse(absent, token):
    """Tell this machine's own stand-in not to wait for callers that can't come: port -> their numbers."""
    for port, numbers in absent.items():
        for number in numbers:
            try:
                with socket.create_connection(("127.0.0.1", int(port)), WORDS_S) as connection:
                    connection.sendall(("%s %d\n" % (token, number)).encode())
                    connection.recv(512)
            except OSError:  # it has ended by now
                break
