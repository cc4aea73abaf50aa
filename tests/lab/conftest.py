"""One lab for all tests that only look at hosts."""
import os

import pytest

from . import Lab
from .probe import need_root

SPEC = {
    "hosts": [
        {"name": "healthy", "groups": ["web"], "vars": {"colour": "blue"}},
        {"name": "ports", "listen": [5432, "127.0.0.1:6379", "udp:5353", {"port": 9090, "name": "prometheus"}]},
        {"name": "early", "clock_offset_s": -7200},
        {"name": "few", "cpus": 1, "mem_mb": 2048},
        {"name": "many", "cpus": 16, "arch": "s390x"},
        {"name": "brimful", "disk_gb": 20, "disk_free_gb": 1,
         "mounts": {"/data": {"gb": 5, "free_gb": 0.5}, "/var": 8, "/tmp": 2}},
        {"name": "worn", "sync_ms": 300, "mounts": {"/data": {"gb": 9, "ro": True}, "/srv": {"gb": 9, "free_inodes": 4}}},
        {"name": "crammed", "disk_free_gb": 0, "files": {"/run/reboot-required": "yes\n"}},
        {"name": "unsynced", "ntp": False},
        {"name": "nontp", "ntp": "none"},
        {"name": "chrony-good", "ntp": "chrony-synced"},
        {"name": "chrony-bad", "ntp": "chrony-unsynced"},
        {"name": "sudo-asks", "sudo": "password"},
        {"name": "sudo-denied", "sudo": "denied"},
        {"name": "sudo-missing", "sudo": "missing"},
        {"name": "by-password", "auth": "password"},
        {"name": "nobody", "auth": "none"},
        {"name": "down", "down": True},
        {"name": "silent", "blackhole": True},
        {"name": "absent", "absent": True},
        {"name": "moved", "ssh_port": 2222, "ip": "10.77.9.9", "gateway": False},
        {"name": "blocked", "block": [{"to": "healthy", "port": 22}, {"to": "ports", "port": 5432, "how": "reject"}]},
        {"name": "offline", "internet": False},
        {"name": "swallowed", "internet": "drop"},
        {"name": "partly", "internet": ["example.org"]},
        {"name": "far", "latency_ms": 200},
        {"name": "lossy", "loss_pct": 100},
        {"name": "bare", "no_apt": True, "no_python": True, "no_bin": ["curl", "ss"], "os_release": {
            "ID": "ubuntu", "VERSION_ID": "18.04"}},
        {"name": "noisy", "motd_noise": True, "login_shell": "/bin/sh", "proc": {"loadavg": "9 9 9 1/9 9\n"},
         "files": {"/bin/mine": {"content": "#!/bin/sh\necho mine\n", "mode": "0755", "owner": "ops"},
                   "/etc/hostname": None, "/etc/there": {"link": "/etc/passwd"}}},
        {"name": "hung", "hang_mount": "/nfs", "tmp_noexec": True},
    ]}


@pytest.fixture
def own():
    """A lab of the test's own, beside the other one."""
    need_root()
    made = Lab(f"/run/llmgw-lab-own-{os.getpid()}")
    yield made
    made.down()


@pytest.fixture(scope="package")
def lab():
    """The lab of SPEC."""
    need_root()
    made = Lab(f"/run/llmgw-lab-test-{os.getpid()}")
    made.up(SPEC)
    yield made
    made.down()


@pytest.fixture
def sh(lab):
    """Run a shell line in a host as ops; gives the output, stripped."""
    def run(host, line, user="ops"):
        done = lab.exec(host, line, user=user)
        return (done.stdout + done.stderr).strip()
    return run
