import subprocess
import sys

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import locales
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured


def test_the_c_library_is_asked_for_one_by_name():
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=True).stdout.lower().split()
    assert locales._is_there("C") and locales._is_there(locales.OURS) == ("c.utf8" in known or "c.utf-8" in known)
    assert not locales._is_there("xx_XX.UTF-8")


def test_a_python_without_ctypes_knows_of_none_by_itself(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert not locales._is_there("C")


def test_the_usual_one_is_enough(monkeypatch):
    monkeypatch.setattr(locales, "_is_there", lambda name: name == "C.UTF-8")
    monkeypatch.setattr(locales, "find", None)
    assert locales.locales(5) == ["C.UTF-8"]


@pytest.fixture
def answers(monkeypatch):
    def install(path, *answer):
        monkeypatch.setattr(locales, "_is_there", lambda name: False)
        monkeypatch.setattr(locales, "find", lambda name: path)
        monkeypatch.setattr(locales, "command", lambda argv, limit_s: answer if argv == [path, "-a"] else None)
    return install


@pytest.mark.parametrize(("out", "found"), [
    ("C\nPOSIX\n", []),
    ("C\nde_DE.utf8\nde_DE@euro\nen_US\nen_US.iso88591\nsr_RS.UTF-8@latin\n", ["de_DE.utf8", "sr_RS.UTF-8@latin"]),
    ("".join(f"x{number}.utf8\n" for number in range(50)), [f"x{number}.utf8" for number in range(20)]),
])
def test_others_are_asked_for_without_it(answers, out, found):
    answers("/usr/bin/locale", 0, out, "")
    assert locales.locales(5) == found


@pytest.mark.parametrize(("answer", "reason"), [
    ((None,), "there is no C.UTF-8, and no program locale to tell of others"),
    (("/bin/locale", 1, "", "broken\n"), "locale -a: broken"),
    (("/bin/locale", 4, "", ""), "locale -a: exit status 4"),
])
def test_what_can_not_be_told(answers, answer, reason):
    answers(*answer)
    with pytest.raises(Unmeasured) as problem:
        locales.locales(5)
    assert str(problem.value) == reason
