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


def test_one_that_takes_no_file(folders, monkeypatch):
    make = temp.tempfile.TemporaryFile

    def over_quota(dir):
        if dir == str(folders[1]):
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        return make(dir=dir)

    monkeypatch.setattr(temp.tempfile, "TemporaryFile", over_quota)
    assert problems() == [None, "takes no file, though it looks as if it would (Disk quota exceeded)"]
