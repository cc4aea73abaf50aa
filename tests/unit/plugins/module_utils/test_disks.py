from __future__ import annotations

import os

from ansible_collections.llmgw.preflight.plugins.module_utils import disks

MOUNTINFO = r"""22 1 8:1 / / rw - ext4 /dev/sda1 rw
23 22 8:2 / /var/lib/postgresql rw - ext4 /dev/sdb rw
24 22 8:3 / /mnt/with\040space rw - ext4 /dev/sdc rw
"""


def test_the_deepest_mount_that_holds_a_path():
    points = disks.mount_points(MOUNTINFO)
    assert points == {"/", "/var/lib/postgresql", "/mnt/with space"}
    assert disks.mount_of("/var/lib/postgresql/15/main", points) == "/var/lib/postgresql"
    assert disks.mount_of("/var/lib/postgresqlx", points) == "/"
    assert disks.mount_of("/", points) == "/"


def test_a_path_that_is_not_there_yet_is_its_parents(tmp_path):
    found = disks.disks(["/", str(tmp_path / "not" / "yet")])
    space = os.statvfs(tmp_path)
    assert [disk["path"] for disk in found] == ["/", str(tmp_path / "not" / "yet")]
    assert found[0]["mount"] == "/"
    assert abs(found[1]["free_bytes"] - space.f_bavail * space.f_frsize) < 2**30
