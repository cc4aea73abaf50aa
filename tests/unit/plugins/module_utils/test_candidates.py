import os

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import apt_caches, candidates
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

POLICY = """\
postgresql:
  Installed: 15+248+deb12u1
  Candidate: 15+248+deb12u2
  Version table:
     15+248+deb12u2 500
        500 http://deb.debian.org/debian-security bookworm-security/main amd64 Packages
 *** 15+248+deb12u1 500
        100 /var/lib/dpkg/status
g++:
  Installed: (none)
  Candidate: 4:12.2.0-3
  Version table:
     4:12.2.0-3 500
        500 http://deb.debian.org/debian bookworm/main amd64 Packages
etcd:
  Installed: (none)
  Candidate: (none)
  Version table:
"""


@pytest.fixture
def cache(monkeypatch):
    def answers(status, out, err="", uid=1000):
        calls = []
        monkeypatch.setattr(apt_caches.os, "geteuid", lambda: uid)
        monkeypatch.setattr(candidates, "find", lambda program: f"/usr/bin/{program}")
        monkeypatch.setattr(candidates, "command", lambda argv, limit_s: (calls.append(argv), (status, out, err))[1])
        return calls

    return answers


def test_all_are_asked_for_at_once(cache):
    calls = cache(0, POLICY)
    assert candidates.candidates(["postgresql", "g++", "etcd", "nosuch"], 5) == [
        {"package": "postgresql", "installed": "15+248+deb12u1", "candidate": "15+248+deb12u2"},
        {"package": "g++", "installed": None, "candidate": "4:12.2.0-3"},
        {"package": "etcd", "installed": None, "candidate": None},
        {"package": "nosuch", "installed": None, "candidate": None},
    ]
    assert calls == [["/usr/bin/apt-cache", "policy", "postgresql", "g++", "etcd", "nosuch"]]


@pytest.mark.parametrize(("files", "without"), [
    ("", ["pkgcache", "srcpkgcache"]),
    ("lists src status pkg", []),
    ("lists src pkg status", ["pkgcache"]),
    ("src pkg status lists", ["pkgcache", "srcpkgcache"]),
])
def test_as_root_apt_writes_no_cache(cache, monkeypatch, tmp_path, files, without):
    for number, name in enumerate(files.split()):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1000 + number, 1000 + number))
    of_sources = (str(tmp_path / "lists"), str(tmp_path / "gone"))
    monkeypatch.setattr(apt_caches, "CACHES", {
        "pkgcache": (str(tmp_path / "pkg"), (*of_sources, str(tmp_path / "status"))), "srcpkgcache": (str(tmp_path / "src"), of_sources)})
    calls = cache(0, POLICY, uid=0)
    candidates.candidates(["x"], 5)
    assert calls == [["/usr/bin/apt-cache", "policy", *(f"--option=Dir::Cache::{name}=" for name in without), "x"]]


def test_nothing_is_asked_for_nothing(cache):
    calls = cache(100, "")
    assert candidates.candidates([], 5) == [] == calls


@pytest.mark.parametrize(("err", "reason"), [
    ("E: no http://me:secret@a/\nE: The list of sources could not be read.\n", "apt-cache policy: no http://a/"),
    ("W: y\nE: a http://me:hunter2@a/\n", "apt-cache policy: a http://a/"),
    ("E: no http://me:%s@a/\n" % ("hunter2" * 99), "apt-cache policy: no .."),
    ("W: y\n", "apt-cache policy: exit status 100"),
    ("", "apt-cache policy: exit status 100"),
])
def test_what_apt_says_instead(cache, err, reason):
    cache(100, "", err)
    with pytest.raises(Unmeasured) as problem:
        candidates.candidates(["x"], 5)
    assert str(problem.value) == reason


def test_without_apt(monkeypatch):
    monkeypatch.setattr(candidates, "find", lambda program: None)
    with pytest.raises(Unmeasured, match="^apt-cache is not there$"):
        candidates.candidates(["x"], 5)
