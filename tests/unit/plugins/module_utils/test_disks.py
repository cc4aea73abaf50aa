from __future__ import annotations

import os
import threading

from ansible_collections.llmgw.preflight.plugins.module_utils import disks

MOUNTINFO = r"""22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 8:2 / /var/lib/postgresql rw - ext4 /dev/sdb rw
24 22 8:3 / /mnt/with\040space rw - nfs4 nas:/a\040b rw
"""


def test_the_deepest_mount_that_holds_a_path():
    found = disks.mounts(MOUNTINFO)
    assert found == [("/", "ext4", "/dev/sda1", "8:1"), ("/var/lib/postgresql", "ext4", "/dev/sdb", "8:2"),
                     ("/mnt/with space", "nfs4", "nas:/a b", "8:3")]
    points = {mount.path for mount in found}
    assert disks.mount_of("/var/lib/postgresql/15/main", points) == "/var/lib/postgresql"
    assert disks.mount_of("/var/lib/postgresqlx", points) == "/"
    assert disks.mount_of("/", points) == "/"


def test_a_path_that_is_not_there_yet_is_its_parents(tmp_path):
    found = disks.disks(["/", str(tmp_path / "not" / "yet")])
    space = os.statvfs(tmp_path)
    assert [disk["path"] for disk in found] == ["/", str(tmp_path / "not" / "yet")]
    assert found[0]["mount"] == "/"
    assert abs(found[1]["free_bytes"] - space.f_bavail * space.f_frsize) < 2**30


def test_a_mount_that_does_not_answer_is_named_and_others_are_let_be(monkeypatch):
    stuck = threading.Event()
    looked_at = []

    def statvfs(path):
        looked_at.append(path)
        if path == "/dead":
            stuck.wait()
        if path == "/denied":
            raise PermissionError(path)

    text = "1 1 0:1 / / rw - ext4 /dev/sda rw\n" + "".join(
        f"1 1 0:1 / {path} rw - {kind} nas:{path} rw\n" for path, kind in (("/dead", "nfs4"), ("/denied", "cifs"), ("/fine", "fuse.sshfs")))
    monkeypatch.setattr(disks, "text_of", lambda path, most: text)
    monkeypatch.setattr(disks.os, "statvfs", statvfs)
    found = disks.silent_mounts(0.5)
    stuck.set()
    assert found == [{"path": "/dead", "source": "nas:/dead"}]
    assert sorted(looked_at) == ["/dead", "/denied", "/fine"]
