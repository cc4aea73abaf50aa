import os
import threading
import types

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import disks
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

MOUNTINFO = r"""22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 8:2 / /var/lib/postgresql rw - ext4 /dev/sdb rw
24 22 8:3 / /mnt/with\040space rw - nfs4 nas:/a\040b rw
"""


def test_the_deepest_mount_that_holds_a_path():
    found = disks.mounts(MOUNTINFO)
    assert found == [("/", "ext4", "/dev/sda1", "8:1", "rw"), ("/var/lib/postgresql", "ext4", "/dev/sdb", "8:2", "rw"),
                     ("/mnt/with space", "nfs4", "nas:/a b", "8:3", "rw")]
    points = {mount.path for mount in found}
    assert disks.mount_of("/var/lib/postgresql/15/main", points) == "/var/lib/postgresql"
    assert disks.mount_of("/var/lib/postgresqlx", points) == "/"
    assert disks.mount_of("/", points) == "/"


def test_a_path_that_is_not_there_yet_is_its_parents(tmp_path):
    found = disks.disks(["/", str(tmp_path / "not" / "yet"), "/proc/sys"], 10)
    space = os.statvfs(tmp_path)
    assert [disk["path"] for disk in found] == ["/", str(tmp_path / "not" / "yet"), "/proc/sys"]
    assert found[0]["mount"] == "/"
    assert abs(found[1]["free_bytes"] - space.f_bavail * space.f_frsize) < 2**30
    assert found[1]["inodes"] == space.f_files and found[1]["inodes_free"] <= space.f_files
    device = os.stat(tmp_path).st_dev
    assert found[1]["filesystem"] == f"{os.major(device)}:{os.minor(device)}" != found[2]["filesystem"]
    assert [disk["inodes"] for disk in found[2:]] == [0]  # it does not count them
    assert {disk["read_only"] for disk in found} == {False}


def test_a_path_that_does_not_answer_costs_only_itself(monkeypatch):
    stuck, statvfs = threading.Event(), os.statvfs
    monkeypatch.setattr(disks.os, "statvfs", lambda path: stuck.wait() if path == "/tmp" else statvfs(path))
    found = disks.disks(["/tmp", "/"], 0.5)
    stuck.set()
    assert found[0] == {"path": "/tmp", "free_bytes": None, "reason": "no answer within 0.5 s"}
    assert found[1]["free_bytes"] > 0


def test_the_folder_that_is_there_and_the_uppermost_mount(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("there/not/yet")
    lines = "".join(f"1 1 {device} / {path} rw - ext4 /dev/sd rw\n" for device, path in (
        ("8:1", "/"), ("8:2", tmp_path), ("8:3", tmp_path)))
    mounted = {mount.path: mount for mount in disks.mounts(lines)}
    for path, there in (("link", "there"), ("file/below", ""), ("a/b/c", "")):
        folder, mount = disks.place(str(tmp_path / path), mounted)
        assert (folder, mount.device) == (str(tmp_path / there).rstrip("/"), "8:3")
    assert disks.place("/", mounted)[1].device == "8:1"
    assert disks.place("/", {})[1] == ("/", "", "", str(os.stat("/").st_dev), "")  # in a chroot


def test_what_is_mounted_where_the_user_may_not_look_is_not_taken_for_what_is_above(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    lines = f"1 1 8:1 / / rw - ext4 /dev/sda rw\n1 1 8:2 / {tmp_path}/closed/data rw - ext4 /dev/sdb rw\n"
    mounted = {mount.path: mount for mount in disks.mounts(lines)}
    monkeypatch.setattr(disks.os, "access", lambda path, mode: False)  # root may look everywhere
    with pytest.raises(Unmeasured, match=f"^something is mounted below {tmp_path}/closed, and this user may not look into that$"):
        disks.place(f"{tmp_path}/closed/data/15", mounted)
    assert disks.place(f"{tmp_path}/closed/other", mounted)[1].device == "8:1"  # nothing is mounted there, whatever is in it


@pytest.mark.parametrize(("flags", "options", "expected"), [
    (0, "rw,errors=remount-ro", False), (os.ST_RDONLY, "ro", True), (os.ST_RDONLY | os.ST_NOEXEC, "rw", True),
    (0, "rw,emergency_ro,errors=remount-ro", True), (0, "rw,shutdown", True),
])
def test_read_only(flags, options, expected):
    space = types.SimpleNamespace(f_flag=flags)
    assert disks.is_read_only(space, disks.Mount("/", "ext4", "/dev/sda", "8:1", options)) is expected


def test_a_mount_that_does_not_answer_is_named_and_others_are_let_be(monkeypatch):
    stuck = threading.Event()
    looked_at = []

    def statvfs(path):
        looked_at.append(path)
        if path in ("/dead", "/dead-ftp"):
            stuck.wait()
        if path == "/denied":
            raise PermissionError(path)

    text = "1 1 0:1 / / rw - ext4 /dev/sda rw\n" + "".join(
        f"1 1 0:1 / {path} rw - {kind} nas:{path} rw\n" for path, kind in (("/dead", "nfs4"), ("/denied", "cifs"), ("/fine", "fuse.sshfs")))
    text += "1 1 0:1 / /dead-ftp rw - fuse curlftpfs#ftp://me:hunter2@ftp/ rw\n"
    monkeypatch.setattr(disks, "text_of", lambda path, most: text)
    monkeypatch.setattr(disks.os, "statvfs", statvfs)
    found = disks.silent_mounts(0.5)
    stuck.set()
    assert found == [{"path": "/dead", "source": "nas:/dead"}, {"path": "/dead-ftp", "source": "curlftpfs#ftp://ftp/"}]
    assert sorted(looked_at) == ["/dead", "/dead-ftp", "/denied", "/fine"]


@pytest.mark.parametrize(("paths", "silent"), [
    ("/dead1 /dead2 /a /b /c /d", ["/dead1", "/dead2"]), ("/a /dead1 /dead2 /dead3 /dead4 /dead5", ["/dead1", "/dead2", "/dead3"])])
def test_no_more_mounts_than_that_are_looked_at_at_the_same_time(monkeypatch, paths, silent):
    stuck, looking, at_a_time = threading.Event(), [], []

    def statvfs(path):
        looking.append(path)
        at_a_time.append(len(looking))
        if "dead" in path:
            stuck.wait()
        looking.remove(path)

    text = "".join(f"1 1 0:1 / {path} rw - nfs4 nas:{path} rw\n" for path in paths.split())
    monkeypatch.setattr(disks, "LOOKS_MOST", 3)
    monkeypatch.setattr(disks, "text_of", lambda path, most: text)
    monkeypatch.setattr(disks.os, "statvfs", statvfs)
    found = disks.silent_mounts(0.5)
    stuck.set()
    assert [mount["path"] for mount in found] == silent
    assert max(at_a_time) <= 3


def test_lines_of_another_form_and_what_only_looks_like_an_escape():
    told = ("22 1 x / / rw - ext4 /dev/sda1 rw\n23 22 8:2 / /caf\u00e9\\x4\\134 rw - ext4 /dev/\ufffd rw\n24 22 8:3 / /a rw - ext4\n25\n")
    assert disks.mounts(told) == [("/caf\u00e9\\x4\\", "ext4", "/dev/\ufffd", "8:2", "rw")]
