import fcntl
import os
import subprocess
import sys

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import disks, package_locks
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

LOCKS = """1: POSIX  ADVISORY  WRITE 812 08:1a:131 0 EOF
1: -> POSIX  ADVISORY  WRITE 999 08:1a:132 0 EOF
2: FLOCK  ADVISORY  WRITE -1 00:2f:7 0 EOF
junk
"""


def test_the_kernels_table():
    assert package_locks.parse(LOCKS) == {(8, 26, 131): 812, (0, 47, 7): -1}


def test_a_lock_that_another_process_holds_is_told_and_not_taken(monkeypatch, tmp_path):
    mine, free = tmp_path / "lock-frontend", tmp_path / "lock"
    free.touch()
    monkeypatch.setattr(package_locks, "FILES", (str(mine), str(free), str(tmp_path / "not-there")))
    hold = f"import fcntl; file = open({str(mine)!r}, 'w'); fcntl.lockf(file, fcntl.LOCK_EX); print(); input()"
    with subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        with open(f"/proc/{holder.pid}/comm") as comm:
            name = comm.read().strip()
        found = package_locks.package_locks()
        holder.communicate(b"\n")
    assert found == [{"path": str(mine), "pid": holder.pid, "process": name}]
    with open(mine, "w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert package_locks.package_locks() == [{"path": str(mine), "pid": os.getpid(), "process": package_locks._process(os.getpid())}]
    assert package_locks.package_locks() == []


def test_on_btrfs_the_kernel_calls_it_by_the_device_of_the_mount(monkeypatch, tmp_path):
    file = tmp_path / "lock"
    file.touch()
    mountinfo = f"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 0:39 /@ {tmp_path} rw - btrfs /dev/sdb rw\n"
    texts = {"/proc/locks": f"1: POSIX  ADVISORY  WRITE 812 00:27:{file.stat().st_ino} 0 EOF\n"}
    monkeypatch.setattr(package_locks, "FILES", (str(file),))
    monkeypatch.setattr(disks, "text_of", lambda path, most: mountinfo)
    monkeypatch.setattr(package_locks, "text_of", lambda path, most=0: texts.get(path, "apt-get\n"))
    assert package_locks.package_locks() == [{"path": str(file), "pid": 812, "process": "apt-get"}]


def test_a_holder_that_is_gone_or_elsewhere_has_no_name():
    assert package_locks._process(-1) is None


@pytest.mark.parametrize("line", ["1: POSIX ADVISORY WRITE x 08:1a:131 0 EOF", "1: POSIX ADVISORY WRITE 5 08:1a:z 0 EOF"])
def test_a_table_of_another_form(line):
    with pytest.raises(Unmeasured, match="^/proc/locks is not of the known form "):
        package_locks.parse(line)
