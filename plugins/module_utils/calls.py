# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which ports of the other machines does this one reach, where stand-ins (stand_in.py) or services listen?"""

import socket

from ansible_collections.llmgw.preflight.plugins.module_utils.reach import attempt, summary
from ansible_collections.llmgw.preflight.plugins.module_utils.stand_in import NAME

ROUND_TRIPS = 5  # measured to a machine, one of them with the call itself
WORDS_S = 2  # to tell one's own stand-in; it is on this machine


def call(edges, limit_s, token, me):
    """Try each of ``edges`` (machine, address, port, number, held, measured); return what reach.reach does, slowest, and measured.

    ``me`` and ``number`` are the machines' numbers in this run. Where a service holds the port it is only connected to. slowest is
    the greatest of the median round trips to the machines with ``measured``: machine and seconds, or None; measured names these.
    """
    mine, of_another_run = ("%s %d\n" % (token, me)).encode(), (NAME + " -").encode()
    words = {
        place: (mine, ("%s %s %d %d\n" % (NAME, token, edge["number"], edge["port"])).encode(), of_another_run)
        for place, edge in enumerate(edges) if not edge["held"]
    }
    trips = {}

    def attempt_at(places, words):
        tried, round_trips = attempt([edges[place] for place in places], limit_s,
                                     {number: words[place] for number, place in enumerate(places) if place in words})
        for number, seconds in round_trips.items():
            if edges[places[number]]["measured"]:
                trips.setdefault(edges[places[number]]["machine"], []).append(seconds)
        return {places[number]: outcome for number, outcome in tried.items()}, round_trips

    # Before the call, after which the stand-in may be gone. What is not open at once is not waited for again.
    measured = [place for place, edge in enumerate(edges) if edge["measured"]]
    first, _seconds = attempt_at(measured, {})
    outcomes = {place: outcome for place, outcome in first.items() if outcome != "open"}
    measured = [place for place in measured if place not in outcomes]
    for _again in range(ROUND_TRIPS - 2):
        attempt_at(measured, {})
    called, round_trips = attempt_at([place for place in range(len(edges)) if place not in outcomes], words)
    outcomes.update(called)
    told = [{key: edge[key] for key in ("machine", "address", "port")} for edge in edges]
    return dict(summary(told, outcomes, round_trips), **of_round_trips(trips))


def of_round_trips(trips):
    """slowest and measured, of machine -> the seconds of its round trips."""
    medians = sorted((sorted(each)[len(each) // 2], machine) for machine, each in trips.items())
    slowest = {"machine": medians[-1][1], "seconds": medians[-1][0]} if medians else None
    return {"slowest": slowest, "measured": sorted(trips)}


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
