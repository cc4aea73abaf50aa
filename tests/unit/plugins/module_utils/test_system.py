import types

import pytest
from ansible.module_utils.facts.hardware.linux import LinuxHardware
from ansible_collections.llmgw.preflight.plugins.module_utils import system
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured


@pytest.mark.parametrize(("text", "values"), [
    ('NAME="A B"\nID=debian\n# c\n\nVERSION_ID=\'12\'\n', {"NAME": "A B", "ID": "debian", "VERSION_ID": "12"}),
    ('PRETTY_NAME="say \\"hi\\""\nbroken\nID="x', {"PRETTY_NAME": 'say "hi"', "ID": "x"}),
    ("", {}),
])
def test_os_release(text, values):
    assert system.parse_os_release(text) == values


def test_os_release_falls_back_and_needs_an_id(monkeypatch, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    monkeypatch.setattr(system, "OS_RELEASE", (str(first), str(second)))
    with pytest.raises(Unmeasured, match="first: No such file or directory$"):
        system.system()
    second.write_text("ID=arch\n")
    assert system.system() == {"id": "arch", "version": None, "name": "arch"}
    first.write_text("NAME=x\n")
    with pytest.raises(Unmeasured, match="^os-release holds no ID$"):
        system.system()


@pytest.mark.parametrize(("status", "said", "section"), [
    (0, "", {"how": "nopasswd"}),
    (1, "sudo: a password is required\n", {"how": "password"}),
    (1, "sudo: interactive authentication is required\n", {"how": "password"}),
    (1, "ops is not in the sudoers file.\n", {"how": "denied", "reason": "ops is not in the sudoers file."}),
    (1, "sudo: unable to resolve host db1: Name or service not known\nSorry, user ops may not run sudo on db1.\n",
     {"how": "denied", "reason": "Sorry, user ops may not run sudo on db1."}),
    (1, "sudo: I'm sorry ops. I'm afraid I can't do that\n",
     {"how": "denied", "reason": "sudo: I'm sorry ops. I'm afraid I can't do that"}),
])
def test_what_sudo_says(monkeypatch, status, said, section):
    asked = []
    monkeypatch.setattr(system.os, "getuid", lambda: 1000)
    monkeypatch.setattr(system, "find", lambda name: "/usr/bin/sudo")
    answer = (status, "0\n" if status == 0 else "", said)
    monkeypatch.setattr(system, "command", lambda argv, limit_s: asked.append((argv, limit_s)) or answer)
    monkeypatch.setattr(system, "pressure_s", lambda: None)
    assert system.sudo(7) == section
    assert asked == [(["/usr/bin/sudo", "-k", "-n", "id", "-u"], 7)]  # once: each refusal may be mailed to root (starship/starship#5484)


def test_a_sudo_that_greets(monkeypatch):
    monkeypatch.setattr(system.os, "getuid", lambda: 1000)
    monkeypatch.setattr(system, "find", lambda name: "/usr/bin/sudo")
    monkeypatch.setattr(system, "command", lambda argv, limit_s: (0, "Welcome to c\n0\n", ""))
    assert system.sudo(7)["how"] == "nopasswd"


def test_a_sudo_that_says_yes_and_does_not_do_it(monkeypatch):
    monkeypatch.setattr(system.os, "getuid", lambda: 1000)
    monkeypatch.setattr(system, "find", lambda name: "/usr/bin/sudo")
    monkeypatch.setattr(system, "command", lambda argv, limit_s: (0, "1000\n", ""))
    with pytest.raises(Unmeasured, match="^sudo -k -n id -u: 1000$"):
        system.sudo(7)


@pytest.mark.parametrize(("clock", "pressure", "waited"), [
    ((100, 109.26), (7, 7.5), {"waited_s": 8.8}),
    ((100, 109.26), (7, 16.26), {"waited_s": 0.0}),  # the machine was busy all the time
    ((100, 100.5), (7, 9), {"waited_s": 0.0}),  # more than one program waited
    ((100, 109.26), (None, None), {}),
])
def test_only_what_sudo_waits_for_besides_the_machine_is_counted(monkeypatch, clock, pressure, waited):
    clock, pressure = iter(clock), iter(pressure)
    monkeypatch.setattr(system.os, "getuid", lambda: 1000)
    monkeypatch.setattr(system, "find", lambda name: "/usr/bin/sudo")
    monkeypatch.setattr(system, "command", lambda argv, limit_s: (0, "0\n", ""))
    monkeypatch.setattr(system.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(system, "pressure_s", lambda: next(pressure))
    assert system.sudo(7) == {"how": "nopasswd", **waited}


PRESSURE = "some avg10=0.00 avg60=0.19 avg300=6.64 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"


def test_pressure(monkeypatch):
    monkeypatch.setattr(system, "text_of", lambda path: PRESSURE)
    assert system.pressure_s() == 7.5
    for odd in ("", "some total=x\n"):
        monkeypatch.setattr(system, "text_of", lambda path, odd=odd: odd)
        assert system.pressure_s() is None


def test_no_pressure_is_told(monkeypatch):
    def text_of(path):
        raise Unmeasured("no")

    monkeypatch.setattr(system, "text_of", text_of)
    assert system.pressure_s() is None


def test_sudo_without_an_answer_that_is_known(monkeypatch):
    monkeypatch.setattr(system.os, "getuid", lambda: 1000)
    monkeypatch.setattr(system, "find", lambda name: "/usr/bin/sudo")
    monkeypatch.setattr(system, "command", lambda argv, limit_s: (2, "", "sudo: /etc/sudoers is owned by uid 5\n"))
    with pytest.raises(Unmeasured, match="^sudo -k -n id -u: sudo: /etc/sudoers is owned by uid 5$"):
        system.sudo(7)


@pytest.mark.parametrize(("told", "name"), [("arm64", "aarch64"), ("amd64", "x86_64"), ("aarch64", "aarch64"), ("riscv64", "riscv64")])
def test_one_architecture_under_two_names(monkeypatch, told, name):
    monkeypatch.setattr(system.os, "uname", lambda: types.SimpleNamespace(machine=told))
    assert system.architecture() == name


@pytest.mark.parametrize(("answer", "told"), [
    ("glibc 2.36", "glibc 2.36"), (None, None), (ValueError("unrecognized"), None), (OSError(22), None),
])
def test_the_c_library(monkeypatch, answer, told):
    def confstr(name):
        assert name == "CS_GNU_LIBC_VERSION"
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(system.os, "confstr", confstr)
    assert system.libc() == told


def test_no_sudo(monkeypatch):
    monkeypatch.setattr(system, "find", lambda name: None)
    monkeypatch.setattr(system.os, "getuid", lambda: 1000)
    assert system.sudo(7) == {"how": "missing"}
    monkeypatch.setattr(system.os, "getuid", lambda: 0)
    assert system.sudo(7) == {"how": "root"}


def test_memory(monkeypatch):
    told = {"/proc/meminfo": "MemFree: 9 kB\nMemTotal:       16283999 kB\nSwapTotal: 5 kB\n"}
    monkeypatch.setattr(system, "text_of", told.get)
    assert system.memory_mb() == 15902
    told["/proc/meminfo"] = "MemFree: 9 kB\n"
    with pytest.raises(Unmeasured, match="^/proc/meminfo does not hold MemTotal$"):
        system.memory_mb()


def test_cpus_and_memory_are_those_of_ansibles_facts():
    hardware = LinuxHardware(types.SimpleNamespace())
    assert (system.cpus(), system.memory_mb()) == (
        hardware.get_cpu_facts()["processor_nproc"], hardware.get_memory_facts()["memtotal_mb"])
