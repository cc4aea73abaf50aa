import errno
import os
import types

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import temp

NOBODY = 65534


@pytest.fixture
def folders(monkeypatch, tmp_path):
    """Two folders, open to all."""
    os.chmod(tmp_path, 0o755)
    made = [tmp_path / "tmp", tmp_path / "var-tmp"]
    for path in made:
        path.mkdir()
        path.chmod(0o1777)
    monkeypatch.setattr(temp, "FOLDERS", tuple(map(str, made)))
    return made


def problems():
    return [folder["problem"] for folder in temp.temp()]


def test_usual_folders_and_what_is_free_in_them(folders):
    space = os.statvfs(folders[0])
    found = temp.temp()
    assert [{key: folder[key] for key in ("path", "problem")} for folder in found] == [
        {"path": str(path), "problem": None} for path in folders]
    assert {folder["noexec"] for folder in found} == {bool(space.f_flag & os.ST_NOEXEC)}
    assert all(0 < folder["free_bytes"] <= space.f_blocks * space.f_frsize for folder in found)


def test_nothing_is_left(folders):
    assert problems() == [None, None]
    assert [list(path.iterdir()) for path in folders] == [[], []]


def test_folders_that_are_none_or_closed(folders):
    folders[0].rmdir()
    folders[1].chmod(0o755)
    assert problems() == ["can not be looked at (No such file or directory)", "is not open to all users (mode 755)"]
    folders[0].write_text("")
    assert problems()[0] == "is no folder"


def test_one_that_this_user_may_not_write_to(folders, monkeypatch):
    monkeypatch.setattr(temp.os, "access", lambda path, mode: not path.endswith("/tmp"))
    assert problems() == ["can not be written to by this user", None]


@pytest.mark.parametrize(("changed", "problem", "noexec"), [
    ({"f_flag": os.ST_RDONLY}, "is mounted read-only", False),
    ({"f_flag": os.ST_NOEXEC | os.ST_NOSUID}, None, True),
    ({"f_bavail": 0}, "is full", False),
    ({"f_favail": 0}, "has no inode left", False),
    ({"f_favail": 0, "f_files": 0}, None, False),
])
def test_filesystems(folders, monkeypatch, changed, problem, noexec):
    space = {"f_bavail": 7, "f_frsize": 4096, "f_files": 10, "f_favail": 5, "f_flag": 0, **changed}
    monkeypatch.setattr(temp.os, "statvfs", lambda path: types.SimpleNamespace(**space))
    assert temp.temp()[0] == {"path": str(folders[0]), "problem": problem, "noexec": noexec, "free_bytes": 4096 * space["f_bavail"]}


@pytest.fixture
def opened(monkeypatch):
    """opened({folder: errno}): these folders take no file without a name, for that reason."""
    open_it = os.open

    def make(refusing):
        def refuse(path, flags, mode=0o777):
            if path in refusing:
                assert flags & os.O_TMPFILE == os.O_TMPFILE
                raise OSError(refusing[path], os.strerror(refusing[path]))
            return open_it(path, flags, mode)

        monkeypatch.setattr(temp.os, "open", refuse)

    return make


def test_one_that_takes_no_file(folders, opened):
    opened({str(folders[1]): errno.EDQUOT})
    assert problems() == [None, "takes no file, though it looks as if it would (Disk quota exceeded)"]


@pytest.mark.parametrize("why", [errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL])
def test_a_filesystem_that_knows_no_file_without_a_name_is_no_fault(folders, opened, why):
    opened({str(folders[0]): why})
    assert problems() == [None, None]
    assert list(folders[0].iterdir()) == []


# ------------------------------------------------------------------------------------------------- Ansible's own folder
@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("WHO", "ops")
    monkeypatch.delenv("NOSUCH", raising=False)
    return tmp_path


@pytest.mark.parametrize(("user", "problem"), [(0, None), (1000, "is full")])
@pytest.mark.parametrize("left", ["f_bavail", "f_favail"])
def test_what_is_kept_for_root_is_there_for_root(home, monkeypatch, user, problem, left):
    space = {"f_bavail": 7, "f_bfree": 9, "f_frsize": 4096, "f_files": 10, "f_favail": 5, "f_ffree": 6, "f_flag": 0, "f_namemax": 255,
             left: 0}
    monkeypatch.setattr(temp.os, "statvfs", lambda path: types.SimpleNamespace(**space))
    monkeypatch.setattr(temp.os, "geteuid", lambda: user)
    told = problem and {"f_bavail": problem, "f_favail": "has no inode left"}[left]
    assert temp.remote_tmp("~") == {"path": str(home), "problem": told}


@pytest.mark.parametrize(("given", "path"), [
    ("~/.ansible/tmp", "{home}/.ansible/tmp"),
    ("$HOME/a-${WHO}/", "{home}/a-ops"),
    ("{home}/a$NOSUCH/b${NOSUCH}", "{home}/a/b"),
    ("{home}/", "{home}"),
    ("{home}/../x//y", "{parent}/x/y"),
])
def test_where_it_is(home, given, path):
    places = {"home": home, "parent": home.parent}
    given = given.replace("{home}", str(home))
    assert temp.remote_tmp(given) == {"path": path.format(**places), "problem": None}
    assert list(home.iterdir()) == []


def test_one_relative_to_where_the_login_begins(home, monkeypatch):
    monkeypatch.chdir(home)
    assert temp.remote_tmp("tmp/x")["path"] == f"{home}/tmp/x"


@pytest.mark.parametrize("given", ["", " "])
def test_one_without_a_name(given):
    assert temp.remote_tmp(given) == {"path": "", "problem": "(remote_tmp) has no name"}


def test_a_name_that_is_too_long(home):
    long = "x" * (os.statvfs(home).f_namemax + 1)
    assert temp.remote_tmp(f"~/{long[1:]}")["problem"] is None
    assert temp.remote_tmp(f"~/a/{long}/b")["problem"] == f"can not be made: {home} takes no name as long as that"


@pytest.mark.parametrize("given", ["$(mktemp -d)/x", "`id -un`", "/tmp/a;b", "/tmp/a'b", '/tmp/a"b', "/tmp/*", "/tmp/a[b]", "/tmp/a\\b"])
def test_what_only_a_shell_can_work_out_is_not_measured(given):
    with pytest.raises(temp.Unmeasured, match="is worked out by a shell"):
        temp.remote_tmp(given)


def test_what_keeps_it_from_being_used_or_made(home, monkeypatch, opened):
    (home / "file").write_text("")
    (home / "dangling").symlink_to(home / "gone")
    (home / "closed").mkdir()
    (home / "there").mkdir(mode=0o700)  # nobody else needs it
    access = os.access
    monkeypatch.setattr(temp.os, "access", lambda path, mode: not path.endswith("closed") and access(path, mode))
    names = ("file", "file/x", "dangling/x", "closed", "closed/x/y", "there")
    assert {name: temp.remote_tmp(f"~/{name}")["problem"] for name in names} == {
        "file": "is no folder",
        "file/x": f"can not be made: {home}/file is no folder",
        "dangling/x": f"can not be made: {home}/dangling can not be looked at (No such file or directory)",
        "closed": "can not be written to by this user",
        "closed/x/y": f"can not be made: {home}/closed can not be written to by this user",
        "there": None,
    }
    opened({str(home): errno.ENOSPC})
    assert temp.remote_tmp("~/new")["problem"] == (
        f"can not be made: {home} takes no file, though it looks as if it would (No space left on device)")
