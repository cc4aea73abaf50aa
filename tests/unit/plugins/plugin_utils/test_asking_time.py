from __future__ import annotations

import types

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import asking_time
from ansible_collections.llmgw.preflight.plugins.plugin_utils.asking_time import Clocks, asking
from ansible_collections.llmgw.preflight.plugins.plugin_utils.offset import COMMAND, CONVERSATION
from ansible_collections.llmgw.preflight.plugins.plugin_utils.settings import LIMITS
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waiting import OutOfTime


class World:
    """A clock of its own, and machines at the end of a slow line, the clock of which is so many seconds ahead."""

    def __init__(self, *round_trips, ahead=0.0):
        self.at, self.left, self.ahead, self.slept, self.asked = 1000.0, list(round_trips), ahead, [], []

    def monotonic(self):
        return self.at

    def time(self):
        return 1.7e9 + self.at

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.at += seconds

    def ask(self, seconds):
        self.asked.append(seconds)
        there, back = (self.left.pop(0) if len(self.left) > 1 else self.left[0]) or (None, None)
        if there is None:
            return None
        self.at += there
        shown = f"{self.time() + self.ahead:.9f}\n"
        self.at += back
        return shown


@pytest.fixture
def narrowed(monkeypatch):
    """narrowed(world, seconds): what is known of the clock of a machine in that world after so many seconds at most."""
    def narrow(world, seconds=20):
        monkeypatch.setattr(asking_time, "time", world)
        clocks = Clocks()
        clocks.narrow(world.ask, LIMITS, seconds)
        return clocks.offset

    return narrow


def test_two_answers_do_where_they_are_quick(narrowed):
    world = World((0.01, 0.01), ahead=0.1)
    assert narrowed(world).as_section() == pytest.approx({"offset_s": 0.1, "error_s": 0.01}, abs=1e-5)
    assert (len(world.asked), world.slept) == (2, [0.01])


def test_it_asks_on_while_the_verdict_is_open_and_ever_less_often(narrowed):
    world = World(*[(0, 3)] * 10, (0.01, 0.01), ahead=0.5)
    offset = narrowed(world, 60)
    assert offset.low <= 0.5 <= offset.high and offset.is_decided(LIMITS)
    assert len(world.asked) == 11 and world.asked[0] == 60
    assert world.slept == [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1, 1, 1]


def test_it_ends_when_the_time_for_it_is_up(narrowed):
    world = World((0, 3), ahead=0.5)
    offset = narrowed(world, 10)
    assert not offset.is_decided(LIMITS) and offset.low <= 0.5 <= offset.high
    assert world.at - 1000 <= 13 and all(0 < seconds <= 10 for seconds in world.asked)


def test_what_is_no_answer_ends_it(narrowed):
    world = World((0, 3), None, ahead=0)
    assert narrowed(world).as_section() == pytest.approx({"offset_s": -1.5, "error_s": 1.5}, abs=1e-5)
    assert len(world.asked) == 2


def test_whole_seconds_are_taken_for_what_they_are(narrowed):
    world = World((0.01, 0.01), ahead=0.1)
    told = world.ask
    world.ask = lambda seconds: told(seconds).partition(".")[0] + ".N\n"  # a date that knows no %N
    offset = narrowed(world, 1)
    assert offset.low <= 0.1 <= offset.high


def test_a_step_of_the_controllers_own_clock_is_not_taken_for_the_machines(monkeypatch):
    world = World()
    monkeypatch.setattr(asking_time, "time", world)
    clocks = Clocks()
    before = clocks.now()
    monkeypatch.setattr(world, "time", lambda: 0)
    world.at += 5
    assert clocks.now() == before + 5 == 1.7e9 + 1005


class Connection:
    """As Ansible's ssh has it; what would be run is a shell here."""

    transport, host = "ssh", "db1"

    def __init__(self, password=None, transport="ssh"):
        self.transport, self.options, self.built = transport, {"password": password, "ssh_executable": "/usr/bin/ssh"}, None

    def get_option(self, name):
        return self.options[name]

    def _build_command(self, *argv):
        self.built = argv
        return ["/bin/sh", "-c", argv[-1]]


def run(command):
    return {"rc": 0, "stdout": f"{command} was run"}


def test_over_ssh_it_is_one_conversation():
    connection = Connection()
    with asking(connection, None, run) as ask:
        first, second = ask(30), ask(30)
    assert float(first) <= float(second)
    assert connection.built == ("/usr/bin/ssh", "ssh", "-o", "BatchMode=yes", "db1", CONVERSATION)


@pytest.mark.parametrize(("connection", "password"), [
    (Connection(), "s3cret"), (Connection("s3cret"), None), (Connection(transport="local"), None),
    (types.SimpleNamespace(transport="ssh"), None)])  # one that is called so and builds no commands
def test_elsewhere_it_is_a_command_for_each(connection, password):
    with asking(connection, password, run) as ask:
        assert [ask(30), ask(30)] == [f"{COMMAND} was run"] * 2


def test_a_command_that_hangs_is_not_waited_for():
    def hangs(command):
        asking_time.time.sleep(60)

    with asking(Connection(transport="local"), None, hangs) as ask:
        with pytest.raises(OutOfTime):
            ask(0.1)
