import os
import subprocess
import sys

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import processes
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured


@pytest.fixture
def proc(monkeypatch, tmp_path):
    """proc({"7": {"comm": text, ...}}): what /proc holds besides process 1."""

    def make(running):
        for pid, files in {"1": {"comm": "systemd\n"}, **running}.items():
            (tmp_path / pid).mkdir()
            for name, text in files.items():
                (tmp_path / pid / name).write_text(text)
        (tmp_path / "self").mkdir()
        monkeypatch.setattr(processes, "ROOT", str(tmp_path))
        return tmp_path

    return make


def test_by_name_without_what_runs_in_a_container(proc):
    proc({"7": {"comm": "chronyd\n", "status": "Name:\tchronyd\nNSpid:\t7\n"},
          "8": {"comm": "chronyd\n", "status": "NSpid:\t8\t3\n"},
          "9": {"comm": "ntpd\n", "status": "NSpid:\t9\t1\n"},
          "10": {"comm": "chronyd2\n"}, "11": {}, "12": {"comm": "chronyd\n"}})
    found = processes.pids_of(["chronyd", "ntpd", "absent"])
    assert {name: sorted(pids) for name, pids in found.items()} == {"chronyd": ["12", "7"]}


def test_they_are_looked_at_once(proc, monkeypatch):
    proc({"7": {"comm": "one\n"}})
    assert processes.pids_of(["one"]) == {"one": ["7"]}
    monkeypatch.setattr(processes.os, "listdir", None)
    assert processes.pids_of(["one", "two"]) == {"one": ["7"]}


def test_where_others_are_hidden_nothing_is_known(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "ROOT", str(tmp_path))
    with pytest.raises(Unmeasured, match="/1/comm: No such file or directory$"):
        processes.pids_of(["chronyd"])


def test_words_of_a_command_line(proc):
    proc({"7": {"comm": "a\n", "cmdline": "chronyd\0-x\0-f\0/etc/a b\0"}})
    assert processes.arguments_of("7") == ["chronyd", "-x", "-f", "/etc/a b"]
    assert processes.arguments_of("8") == []


def test_this_machine(monkeypatch):
    monkeypatch.setattr(processes, "_SEEN", {})
    code = "import sys; open('/proc/self/comm', 'w').write('sought-for'); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        running.stdout.readline()
        found = processes.pids_of(["sought-for"])
        running.communicate(b"\n")
    assert found == {"sought-for": [str(running.pid)]}
    assert os.path.isdir("/proc/1")
