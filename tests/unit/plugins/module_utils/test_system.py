from __future__ import annotations

import types

import pytest
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
    (1, "sudo: I'm sorry ops. I'm afraid I can't do that\n",
     {"how": "denied", "reason": "sudo: I'm sorry ops. I'm afraid I can't do that"}),
])
def test_what_sudo_says(monkeypatch, status, said, section):
    asked = []
    monkeypatch.setattr(system.os, "getuid", lambda: 1000)
    monkeypatch.setattr(system, "find", lambda name: "/usr/bin/sudo")
    monkeypatch.setattr(system, "command", lambda argv, limit_s: asked.append((argv, limit_s)) or (status, "", said))
    assert system.sudo(7) == section
    assert asked == [(["/usr/bin/sudo", "-k", "-n", "true"], 7)]


def test_sudo_without_an_answer_that_is_known(monkeypatch):
    monkeypatch.setattr(system.os, "getuid", lambda: 1000)
    monkeypatch.setattr(system, "find", lambda name: "/usr/bin/sudo")
    monkeypatch.setattr(system, "command", lambda argv, limit_s: (2, "", "sudo: /etc/sudoers is owned by uid 5\n"))
    with pytest.raises(Unmeasured, match="^sudo -k -n true: sudo: /etc/sudoers is owned by uid 5$"):
        system.sudo(7)


@pytest.mark.parametrize(("told", "name"), [("arm64", "aarch64"), ("amd64", "x86_64"), ("aarch64", "aarch64"), ("riscv64", "riscv64")])
def test_one_architecture_under_two_names(monkeypatch, told, name):
    monkeypatch.setattr(system.os, "uname", lambda: types.SimpleNamespace(machine=told))
    assert system.architecture() == name


def test_no_sudo(monkeypatch):
    monkeypatch.setattr(system, "find", lambda name: None)
    monkeypatch.setattr(system.os, "getuid", lambda: 1000)
    assert system.sudo(7) == {"how": "missing"}
    monkeypatch.setattr(system.os, "getuid", lambda: 0)
    assert system.sudo(7) == {"how": "root"}
