import os
import shutil

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import apt_sources
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

DAY = 24 * 3600
URIS = """\
'http://deb.debian.org/debian/dists/bookworm/InRelease' deb.debian.org_debian_dists_bookworm_InRelease 0 
'http://deb.debian.org/debian/dists/bookworm/InRelease' deb.debian.org_debian_dists_bookworm_InRelease 0 
'https://me:secret@b.example/debian/dists/bookworm/updates/InRelease' b.example_debian_dists_bookworm_updates_InRelease 0 
'http://d.example/amd64/flat/InRelease' d.example_amd64_flat_InRelease 0 
'http://d.example/amd64/flat/Packages.xz' d.example_amd64_flat_Packages 0 
"""  # noqa: W291 - as apt has it


@pytest.fixture
def apt(monkeypatch):
    def answers(status=0, out=URIS, err=""):
        calls = []
        monkeypatch.setattr(apt_sources, "find", lambda program: f"/usr/bin/{program}")
        monkeypatch.setattr(apt_sources, "command", lambda argv, limit_s: (calls.append(argv), (status, out, err))[1])
        return calls

    return answers


@pytest.fixture
def lists(monkeypatch, tmp_path):
    """The folder of the lists, and the stamp of the last update."""
    folder = tmp_path / "lists"
    (folder / "partial").mkdir(parents=True)
    (folder / "lock").touch()
    monkeypatch.setattr(apt_sources, "LISTS", str(folder))
    monkeypatch.setattr(apt_sources, "STAMPS", (str(folder), str(folder / "partial"), str(tmp_path / "stamp")))
    return folder


def test_what_apt_would_fetch(apt):
    calls = apt()
    sources, problems, unread = apt_sources.ask_apt(5)
    assert calls == [["/usr/bin/apt-get", "update", "--print-uris"]]
    assert [source.name for source in sources] == [
        "http://d.example/amd64/flat", "http://deb.debian.org/debian bookworm", "https://b.example/debian bookworm/updates"]
    assert (problems, unread) == ([], [])


def test_what_apt_can_not_make_out(apt):
    bad = "Malformed entry 1 in list file /etc/apt/sources.list (Suite)"
    apt(100, "", f"E: {bad}\nE: {bad}\nE: x http://me:secret@a/\nE: The list of sources could not be read.\n")
    assert apt_sources.ask_apt(5) == ([], [bad, "x http://a/"], [])
    apt(100, "", "E: The list of sources could not be read.\n")
    assert apt_sources.ask_apt(5)[1] == ["The list of sources could not be read."]


def test_a_problem_without_end_is_cut(apt):
    apt(100, "", "E: " + "://" * 10**6)  # which would take minutes to be looked through
    assert apt_sources.ask_apt(5)[1] == [" .."]
    apt(100, "", "E: " + "x " * 245 + "http://me:hunter2@a/\n")
    assert apt_sources.ask_apt(5)[1] == ["x " * 244 + "x .."]
    apt(100, "", "E: " + "x " * 240 + "http://me:pw@abcd/\n")  # 500
    assert apt_sources.ask_apt(5)[1] == ["x " * 240 + "http://abcd/"]


def test_what_this_user_may_not_read(apt):
    apt(0, URIS, "W: Unable to read /etc/apt/sources.list.d/own.list - open (13: Permission denied)\nW: something else\n")
    assert [len(part) for part in apt_sources.ask_apt(5)] == [3, 0, 1]
    apt(100, "", "E: Opening /etc/apt/sources.list - ifstream (13: Permission denied)\nE: The list of sources could not be read.\n")
    assert apt_sources.ask_apt(5) == ([], [], ["/etc/apt/sources.list"])
    apt(0, URIS, "W: Unable to read /etc/apt/apt.conf.d/90proxy - open (13: Permission denied)\n")  # as its password asks for
    assert [len(part) for part in apt_sources.ask_apt(5)] == [3, 0, 0]


def test_where_apt_says_nothing_of_use(apt, monkeypatch):
    apt(5, "", "")
    with pytest.raises(Unmeasured, match="exit status 5$"):
        apt_sources.ask_apt(5)
    monkeypatch.setattr(apt_sources, "find", lambda program: None)
    with pytest.raises(Unmeasured, match="^apt-get is not there$"):
        apt_sources.ask_apt(5)


def test_the_lists_of_them(apt, lists):
    apt()

    def asked():
        return apt_sources.ask_apt(5)

    names = ["http://d.example/amd64/flat", "http://deb.debian.org/debian bookworm", "https://b.example/debian bookworm/updates"]
    assert apt_sources.apt_sources(asked) == {"problems": [], "unread": [], "lists_age_s": None, "without_list": names}
    (lists / "deb.debian.org_debian_dists_bookworm_InRelease").touch()
    (lists / "d.example_amd64_flat_Release").touch()
    found = apt_sources.apt_sources(asked)
    assert found["without_list"] == names[2:]
    assert 0 <= found["lists_age_s"] < DAY


def test_lists_that_this_user_may_not_read_are_not_none(apt, lists, monkeypatch):
    apt()

    def refuses(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(apt_sources.os, "listdir", refuses)
    found = apt_sources.apt_sources(lambda: apt_sources.ask_apt(5))
    assert (found["unread"], found["without_list"]) == ([str(lists)], [])
    assert 0 <= found["lists_age_s"] < DAY


def test_their_age_is_that_of_the_last_update_whatever_it_brought(apt, lists):
    apt()
    (lists / "deb.debian.org_debian_dists_bookworm_InRelease").touch()
    now = os.stat(lists).st_mtime
    for path in (lists, lists / "partial"):
        os.utime(path, (now, now - 40 * DAY))
    age = apt_sources.apt_sources(lambda: apt_sources.ask_apt(5))["lists_age_s"]
    assert 40 * DAY <= age < 41 * DAY
    stamp = lists.parent / "stamp"
    stamp.touch()
    os.utime(stamp, (now, now - 3 * DAY))
    age = apt_sources.apt_sources(lambda: apt_sources.ask_apt(5))["lists_age_s"]
    assert 3 * DAY <= age < 4 * DAY
    os.utime(stamp, (now, now + 3 * DAY))
    assert apt_sources.apt_sources(lambda: apt_sources.ask_apt(5))["lists_age_s"] == 0


def test_a_machine_on_which_there_never_were_any(apt, lists):
    apt()
    shutil.rmtree(lists)
    assert apt_sources.apt_sources(lambda: apt_sources.ask_apt(5))["lists_age_s"] is None


ONE_LINE = """\
deb [arch=amd64 signed-by=/x.gpg] http://a.example/debian bookworm main contrib # and
deb-src [signed-by=/x.gpg] http://a.example/debian bookworm main
#deb http://off.example/ x main
deb http://d.example/flat/ ./
deb file:/srv/own ./
deb cdrom:[Debian 12]/ bookworm main
deb mirror+file:/etc/mirrors bookworm main
"""
DEB822 = """\
Types: deb
URIs: http://off.example/
Suites: x
Components: main
Enabled: no

Types: deb deb-src
URIs: http://b.example/debian https://me:secret@c.example/debian
Suites: trixie trixie-updates
Components: main
"""


# Elsewhere than on Debian and its kin; what apt says is also held by the texts above.
@pytest.mark.skipif(not shutil.which("apt-get"), reason="there is no apt here")
class TestWithApt:
    """Whatever apt there is here says what the others say too."""

    @pytest.fixture(autouse=True)
    def own(self, monkeypatch, tmp_path):
        (tmp_path / "parts").mkdir()
        (tmp_path / "apt.conf").write_text(f'Dir::Etc::sourcelist "{tmp_path}/list";\nDir::Etc::sourceparts "{tmp_path}/parts";\n')
        monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))

    def test_every_form(self, tmp_path):
        (tmp_path / "list").write_text(ONE_LINE)
        (tmp_path / "parts" / "b.sources").write_text(DEB822)
        (tmp_path / "parts" / "off.list.save").write_text("deb http://off.example/ x main\n")
        sources, problems, unread = apt_sources.ask_apt(20)
        assert (problems, unread) == ([], [])
        names = sorted(source.name for source in sources)
        assert names.pop(0).startswith("cdrom:")  # how it writes the space differs
        assert names == [
            "file:/srv/own/.", "http://a.example/debian bookworm", "http://b.example/debian trixie",
            "http://b.example/debian trixie-updates", "http://d.example/flat/.", "https://c.example/debian trixie",
            "https://c.example/debian trixie-updates", "mirror+file:/etc/mirrors bookworm"]

    @pytest.mark.parametrize(("list_", "parts"), [
        ("deb http://a.example\n", ""), ("debb http://a.example x main\n", ""), ("deb [arch=amd64 http://a.example x main\n", ""),
        ("deb a.example x main\n", ""), ("", "Types: deb\nURIs: http://a.example\nSuites: x\n"), ("", "Types deb\n"),
        ("deb [signed-by=/a.gpg] http://a.example x main\ndeb [signed-by=/b.gpg] http://a.example x contrib\n", ""),
    ])
    def test_what_can_not_be_made_out(self, tmp_path, list_, parts):
        (tmp_path / "list").write_text(list_)
        (tmp_path / "parts" / "b.sources").write_text(parts)
        sources, problems, unread = apt_sources.ask_apt(20)
        assert len(problems) == 1, problems
        assert str(tmp_path) in problems[0] or "http://a.example" in problems[0]
