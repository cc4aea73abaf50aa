import socket

from ansible_collections.llmgw.preflight.plugins.module_utils import reach, ways


def test_what_is_tried_near_and_far_is_one_result(monkeypatch):
    monkeypatch.setattr(reach, "is_ones_own", lambda place: False)
    with socket.create_server(("127.0.0.1", 0)) as service, socket.socket() as shut:
        shut.bind(("127.0.0.1", 0))
        there, nobody = service.getsockname()[1], shut.getsockname()[1]
        place = {"address": "127.0.0.1", "machine": "far"}
        found = ways.main({
            "edges": [{**place, "machine": "near", "port": there, "number": 1, "held": True, "measured": False},
                      {**place, "machine": "near", "port": nobody, "number": 1, "held": True, "measured": False}],
            "elsewhere": [{**place, "port": there}, {**place, "port": nobody}], "round_trips": [{**place, "port": there}],
            "absent": {str(nobody): [2]}, "reach_s": 20, "token": "t", "me": 0}, 0)["edges"]
    assert found.pop("seconds")["max"] > 0 and found["slowest"].pop("seconds") > 0
    assert found == {
        "tried": 4, "open": 2, "not_open": [{**place, "machine": "near", "port": nobody, "outcome": "refused"}],
        "elsewhere": sorted([{"port": there, "outcome": "open", "machines": ["far"]},
                             {"port": nobody, "outcome": "refused", "machines": ["far"]}], key=lambda way: way["port"]),
        "slowest": {"machine": "far"}, "measured": ["far"]}
