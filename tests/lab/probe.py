"""How the lab's tests look at hosts from outside, and at what a lab leaves behind."""
import contextlib
import glob
import os
import subprocess
import time

import pytest

from .api import SSH_OPTIONS
from .system import born, read

KINDS = ("net", "pid", "mnt", "ipc", "uts")


def need_root():
    """Without root the lab cannot be made; where the tests must count, that is a failure."""
    if os.geteuid():
        if os.environ.get("CI"):
            pytest.fail("the lab's tests need root")
        pytest.skip("the lab needs root")


def ssh(lab, name, line="true", patience=2):
    """Log in as Ansible would, with a time limit for the connection."""
    host = lab.host(name)
    with lab.network():
        return subprocess.run(
            ["ssh", *SSH_OPTIONS, "-i", lab.key, "-o", "BatchMode=yes", "-o", f"ConnectTimeout={patience}",
             "-p", str(host["ssh_port"]), f"ops@{host['ip']}", line], capture_output=True, text=True, check=False)


def connect(lab, start, name, port):
    """How a TCP connection from one host to another ends (0, an errno, or 11 for a time-out), and its seconds."""
    code = (f"import socket, time\nbegin = time.monotonic()\nsock = socket.socket()\nsock.settimeout(1.5)\n"
            f"print(sock.connect_ex(('{lab.host(name)['ip']}', {port})), time.monotonic() - begin)")
    result, seconds = lab.exec(start, ["python3", "-c", code]).stdout.split()
    return int(result), float(seconds)


def processes(lab):
    """All processes of a lab, as (number, start time): whatever shares one of its namespaces."""
    pids = [read(path).split() for path in [lab.dir + "/init", *glob.glob(lab.dir + "/hosts/*")]]
    spaces = {_link(f"/proc/{pid[0]}/ns/{kind}") for pid in pids if pid for kind in KINDS}
    spaces -= {_link(f"/proc/self/ns/{kind}") for kind in KINDS}
    found = {path.split("/")[2] for path in glob.glob("/proc/[0-9]*/ns/*") if _link(path) in spaces}
    return {(pid, born(pid)) for pid in found}


def left_over(lab, known, disk):
    """What there is now of these processes, of loop devices for a disk of that name, and of all else of a lab.

    A namespace lives as long as a process or a mount holds it, so these are enough to look for."""
    name = os.path.basename(lab.dir)
    found = [pid for pid, start in known if start and born(pid) == start]
    found += [path for path in glob.glob("/sys/block/loop*/loop/backing_file") if f"/{disk}." in read(path)]
    found += glob.glob(f"/sys/fs/cgroup/run-{name}*") + glob.glob(f"/sys/fs/cgroup/*/run-{name}*")
    found += [line for line in read("/proc/self/mountinfo").split("\n") if lab.dir in line]
    return found + glob.glob(lab.dir + "*")


def rest_of(lab, known, disk):
    """What is left over for good; the kernel lets go of disks in the background, so this waits a little."""
    limit = time.monotonic() + 10
    while (rest := left_over(lab, known, disk)) and time.monotonic() < limit:
        time.sleep(0.1)
    return rest


def _link(path):
    with contextlib.suppress(OSError):
        return os.readlink(path)
    return None
