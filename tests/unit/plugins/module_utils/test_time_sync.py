import ctypes
import struct
import sys
import types

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import time_sync
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

CHRONY = "D8EF2302,time1.example.com,3,1700000000.1,-0.0001,0.0002,0.0003,-1.2,0.001,0.02,0.01,0.001,64.2,"


@pytest.fixture
def programs(monkeypatch):
    """programs(kernel, name=(status, output)): what there is to ask."""

    def install(kernel, **answers):
        def answer(limit_s):
            if isinstance(kernel, str):
                raise Unmeasured(kernel)
            return kernel

        monkeypatch.setattr(time_sync, "_kernel", answer)
        monkeypatch.setattr(time_sync, "find", lambda name: f"/bin/{name}" if name in answers else None)
        monkeypatch.setattr(time_sync, "command", lambda argv, limit_s: (*answers[argv[0][5:]], ""))

    return install


@pytest.mark.parametrize(("kernel", "answers", "section"), [
    (True, {}, {"synchronised": True, "by": "kernel"}),
    (False, {}, {"synchronised": False, "by": "kernel"}),
    (False, {"chronyc": (0, CHRONY + "Normal")}, {"synchronised": True, "by": "chrony"}),
    (False, {"chronyc": (0, CHRONY + "Not synchronised\n")}, {"synchronised": False, "by": "chrony"}),
    (False, {"chronyc": (1, "506 Cannot talk to daemon")}, {"synchronised": False, "by": "kernel"}),
    (False, {"ntpq": (0, "leap=00, stratum=3\n")}, {"synchronised": True, "by": "ntpd"}),
    (False, {"ntpq": (0, "leap=11, stratum=16\n")}, {"synchronised": False, "by": "ntpd"}),
    (False, {"ntpq": (0, "leap=3, stratum=2\n")}, {"synchronised": False, "by": "ntpd"}),
    (False, {"timedatectl": (0, "yes\n")}, {"synchronised": True, "by": "timedatectl"}),
    ("adjtimex: error 1", {"timedatectl": (0, "no\n")}, {"synchronised": False, "by": "timedatectl"}),
    (False, {"chronyc": (0, CHRONY + "Not synchronised"), "timedatectl": (0, "no\n")}, {"synchronised": False, "by": "chrony"}),
])
def test_any_that_says_yes_is_believed(programs, kernel, answers, section):
    programs(kernel, **answers)
    assert time_sync.time_sync(5) == section


def test_nobody_to_ask(programs):
    programs("adjtimex: error 38", chronyc=(0, "nonsense"), ntpq=(0, ""), timedatectl=(0, "n/a"))
    with pytest.raises(Unmeasured) as problem:
        time_sync.time_sync(5)
    assert str(problem.value) == ("adjtimex: error 38; chronyc: no tracking data; ntpq: no answer; timedatectl: n/a")


def test_the_real_kernel_answers():
    assert time_sync._kernel(5) in (True, False)


def test_a_python_without_ctypes_can_not_ask_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctypes", None)
    with pytest.raises(Unmeasured, match="^adjtimex: import of ctypes"):
        time_sync._kernel(5)


@pytest.mark.parametrize(("maxerror", "synchronised"), [(15999999, True), (16000000, False)])
def test_what_the_kernel_says_of_the_error(monkeypatch, maxerror, synchronised):
    def adjtimex(timex):
        assert timex.raw == bytes(time_sync.TIMEX_MOST)  # a call that sets nothing
        timex.raw = struct.pack("@I4l", 0, 1, 2, maxerror, 3) + bytes(300)
        return 0

    monkeypatch.setattr(ctypes, "CDLL", lambda name, use_errno: types.SimpleNamespace(adjtimex=adjtimex))
    assert time_sync._kernel(5) is synchronised
