import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import dpkg
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

STATES = {
    "fine": "install ok installed", "gone": "deinstall ok config-files", "never": "purge ok not-installed",
    "waits": "install ok triggers-awaited", "old": "hold ok installed", "wanted": "hold ok not-installed",
    "conf": "install ok half-configured", "inst": "install ok half-installed", "unpacked": "install ok unpacked",
    "again": "install reinstreq installed", "both": "hold reinstreq half-installed", "odd": "junk",
}


@pytest.fixture
def folder(monkeypatch, tmp_path):
    (tmp_path / "updates").mkdir()
    monkeypatch.setattr(dpkg, "STATUS", str(tmp_path / "status"))
    monkeypatch.setattr(dpkg, "UPDATES", str(tmp_path / "updates"))
    (tmp_path / "status").write_text("\n".join(
        f"Package: {name}\nStatus: {state}\nPriority: optional\nDescription: one\n Status: install ok half-installed\n Package: other\n"
        for name, state in STATES.items()))
    return tmp_path


def test_what_is_begun_and_what_is_held(folder):
    assert dpkg.dpkg() == {
        "interrupted": False, "held": ["old", "wanted", "both"], "unmet": [], "unfinished": [
            {"package": "conf", "state": "half-configured"}, {"package": "inst", "state": "half-installed"},
            {"package": "unpacked", "state": "unpacked"}, {"package": "again", "state": "installed reinstreq"},
            {"package": "both", "state": "half-installed reinstreq"}, {"package": "odd", "state": "? ?"}]}


def test_changes_that_were_not_taken_in(folder):
    (folder / "updates" / "tmp.i").touch()
    assert dpkg.dpkg()["interrupted"] is False
    (folder / "updates" / "0012").touch()
    assert dpkg.dpkg()["interrupted"] is True


def test_a_system_without_it(folder):
    (folder / "updates").rmdir()
    assert dpkg.dpkg()["interrupted"] is False
    (folder / "status").unlink()
    with pytest.raises(Unmeasured, match=f"^{folder}/status: No such file or directory$"):
        dpkg.dpkg()


def test_of_many_some_are_named(folder, monkeypatch):
    monkeypatch.setattr(dpkg, "MOST", 2)
    assert [entry["package"] for entry in dpkg.dpkg()["unfinished"]] == ["conf", "inst"]


SIMULATED = """\
Reading package lists...
Building dependency tree...
You might want to run 'apt --fix-broken install' to correct these.
The following packages have unmet dependencies:
 unpacked : Depends: nosuch (>= 2) but it is not installable
            Depends: other but it is not going to be installed
"""
UNMET = ["unpacked : Depends: nosuch (>= 2) but it is not installable", "Depends: other but it is not going to be installed"]


@pytest.mark.parametrize(("state", "answer", "calls", "unmet"), [
    ("unpacked", (100, SIMULATED, "E: Unmet dependencies."), 1, UNMET),
    ("unpacked", (0, "1 not fully installed or removed.\nConf x (1  [all])\n", ""), 1, []),
    ("unpacked", (100, "", "E: The list of sources could not be read."), 1, []),
    ("half-configured", (100, SIMULATED, ""), 0, []),
])
def test_what_an_unpacked_package_lacks(folder, monkeypatch, state, answer, calls, unmet):
    (folder / "status").write_text(f"Package: x\nStatus: install ok {state}\n")
    asked = []
    monkeypatch.setattr(dpkg, "find", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(dpkg, "without_writing", lambda: ["--o"])
    monkeypatch.setattr(dpkg, "command", lambda argv, limit_s: (asked.append(argv), answer)[1])
    assert dpkg.dpkg(5)["unmet"] == unmet
    assert asked == [["/usr/bin/apt-get", "--simulate", "--o", "install"]] * calls


def test_what_an_unpacked_package_lacks_is_not_known_without_apt(folder, monkeypatch):
    monkeypatch.setattr(dpkg, "find", lambda name: None)
    assert dpkg.dpkg(5)["unmet"] == []

    def fails(argv, limit_s):
        raise Unmeasured("too slow")

    monkeypatch.setattr(dpkg, "find", lambda name: name)
    monkeypatch.setattr(dpkg, "command", fails)
    assert dpkg.dpkg(5)["unmet"] == []
