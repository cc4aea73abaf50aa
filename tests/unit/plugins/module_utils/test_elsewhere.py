import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import elsewhere


def place(machine, port=22):
    return {"machine": machine, "address": f"{machine}.example", "port": port}


@pytest.fixture
def answering(monkeypatch):
    """answering({machine: (outcome, seconds), ...}, ...): how each attempt goes, one after the other; returns whom they try."""

    def answer(*rounds):
        tried, left = [], list(rounds)

        def attempt(peers, limit_s):
            now = left.pop(0)
            tried.append([peer["machine"] for peer in peers])
            return ({number: now[peer["machine"]][0] for number, peer in enumerate(peers)},
                    {number: now[peer["machine"]][1] for number, peer in enumerate(peers) if now[peer["machine"]][1] is not None})

        monkeypatch.setattr(elsewhere, "attempt", attempt)
        return tried

    return answer


def test_what_is_kept_on_the_way_is_told_apart_from_what_may_only_not_listen_yet(answering):
    answering({"a": ("refused", None), "b": ("open", 0.1), "c": ("timeout", None), "d": ("refused", None), "e": ("no_route", None)})
    assert elsewhere.call_elsewhere([place(name, 7443) for name in "abcde"], 10) == {
        "tried": 5, "open": 1,
        "not_open": [{**place("c", 7443), "outcome": "timeout"}, {**place("e", 7443), "outcome": "no_route"}],
        "elsewhere": [{"port": 7443, "outcome": "open", "machines": ["b"]}, {"port": 7443, "outcome": "refused", "machines": ["a", "d"]}]}


def test_the_median_counts_and_who_does_not_answer_is_not_tried_again(answering):
    tried = answering({"a": ("open", 0.9), "b": ("timeout", None)}, {"a": ("open", 0.2)}, {"a": ("open", 0.1)})
    assert elsewhere.measure([place("a"), place("b")], 10) == {"slowest": {"machine": "a", "seconds": 0.2}, "measured": ["a"]}
    assert tried == [["a", "b"], ["a"], ["a"]]


NEAR = {"tried": 2, "open": 1, "not_open": [{"machine": "x"}], "seconds": {}}
FAR = {"tried": 3, "open": 1, "not_open": [{"machine": "z"}], "elsewhere": [{"port": 1, "outcome": "refused", "machines": ["q"]}]}


@pytest.mark.parametrize(("near", "far", "slowest"), [
    (0.5, 0.4, "y"), (0.5, 0.6, "z"), (None, 0.6, "z"), (0.5, None, "y"), (None, None, None)])
def test_all_as_one(near, far, slowest):
    def told(machine, seconds):
        return {"slowest": seconds and {"machine": machine, "seconds": seconds}, "measured": [machine] if seconds else []}

    found = elsewhere.together({**NEAR, **told("y", near)}, FAR, told("z", far))
    assert (found["tried"], found["open"], found["elsewhere"]) == (5, 2, FAR["elsewhere"])
    assert found["not_open"] == [{"machine": "x"}, {"machine": "z"}]
    assert (found["slowest"] or {}).get("machine") == slowest
    assert found["measured"] == [name for name, seconds in (("y", near), ("z", far)) if seconds]
