"""Shows that the lab's faults are real: looks inside hosts, and at them from outside."""
import errno
import glob
import os
import subprocess
import time

import pytest

from . import LabError, layers, spec
from .api import SSH_OPTIONS
from .probe import connect, ssh


def test_healthy_host(lab, sh):
    facts = sh("healthy", """
        . /etc/os-release; echo $ID $VERSION_ID $VERSION_CODENAME
        grep -c . /etc/machine-id; id -un; sudo -n id -un; hostname; cat /etc/debian_version
        grep MemTotal /proc/meminfo | tr -s ' '; timedatectl show -p NTPSynchronized --value
        df --output=size,avail -BG / | tail -1 | tr -s ' '
        getent ahostsv4 security.debian.org | head -1 | cut -d' ' -f1
        readlink -f /usr/bin/python3; which apt-get; ulimit -n; ls /home /opt /mnt /usr/local/bin""").split("\n")
    system_python = os.path.realpath("/usr/bin/python3")
    assert facts == [
        "debian 12 bookworm", "1", "ops", "root", "healthy", "12.0", "MemTotal: 8388608 kB", "yes",
        " 60G 60G", spec.WEB_IP, system_python, "/usr/bin/apt-get", "1024",
        "/home:", "ops", "", "/mnt:", "", "/opt:", "", "/usr/local/bin:"]
    assert set(sh("healthy", "ls /").split()) <= set(layers.KEEP)
    for name in spec.INTERNET_NAMES:
        ask = f"import urllib.request; print(urllib.request.urlopen('http://{name}/a/b').status)"
        assert sh("healthy", f'python3 -c "{ask}"') == "200"


def test_hosts_do_not_share_what_must_differ(lab):
    private = [lab.exec(host, "cat /etc/machine-id /var/lib/dbus/machine-id; ssh-keygen -lf /etc/ssh/*_key.pub").stdout
               for host in ("healthy", "ports")]
    first, second = ({*text.split()} for text in private)
    assert len(private[0].split("\n")[0]) == 32 and private[0].split("\n")[0] == private[0].split("\n")[1]
    assert first & second == {"256", "(ED25519)"}


def test_a_host_cannot_touch_the_machine(lab, sh):
    before = time.time()
    for user, sudo in (("root", ""), ("ops", "sudo ")):
        assert "Operation not permitted" in sh("healthy", sudo + "date -s 2001-01-01", user)
        assert "Operation not permitted" in sh("healthy", sudo + "mknod /tmp/disk b 7 0", user)
        assert "Read-only" in sh("healthy", sudo + "sh -c 'echo 1 > /proc/sys/kernel/panic'", user)
    assert 0 <= time.time() - before < 60


def test_clock(sh):
    begin = time.monotonic()
    for ask in ("date +%s", "python3 -c 'import time; time.sleep(.2); print(time.time())'", "echo $EPOCHSECONDS"):
        assert -7202 < float(sh("early", f"bash -c \"{ask.replace('$', chr(92) + '$')}\"")) - time.time() < -7198
    assert time.monotonic() - begin < 5
    assert abs(int(sh("healthy", "date +%s")) - time.time()) < 2


def test_cpus_and_memory(sh):
    ask = ("nproc; grep -c ^processor /proc/cpuinfo;"
           "python3 -c 'import os; print(len(os.sched_getaffinity(0)), os.cpu_count())'")
    assert sh("few", ask).split() == ["1", "1", "1", "1"]
    assert sh("many", ask).split() == ["16", "16", "16", "16"]
    assert sh("healthy", "nproc") == str(len(os.sched_getaffinity(0)))
    assert sh("many", "uname -m; python3 -c 'import os; print(os.uname().machine)'").split() == ["s390x", "s390x"]
    assert sh("few", "free -m | awk '/Mem/ {print $2}'") == "2048"


def test_the_same_over_ssh(lab):
    ask = "nproc; date +%s"
    assert ssh(lab, "few", ask).stdout.split()[0] == "1"
    assert ssh(lab, "many", ask).stdout.split()[0] == "16"
    assert abs(int(ssh(lab, "early", ask).stdout.split()[1]) + 7200 - time.time()) < 2


def test_disks(sh):
    ask = ("import os\nfor p in '/', '/data', '/var':\n s = os.statvfs(p)\n"
           " print(round(s.f_blocks * s.f_frsize / 2**30, 1), round(s.f_bavail * s.f_frsize / 2**30, 2))")
    root, data, var = (line.split() for line in sh("brimful", f'python3 -c "{ask}"').split("\n"))
    assert 19 < float(root[0]) <= 20 and root[1] == "1.0"
    assert 4.8 < float(data[0]) <= 5 and data[1] == "0.5"
    assert var == ["8.0", "8.0"]
    assert sh("brimful", "ls /var/lib/dpkg/status; findmnt -no SOURCE /data; findmnt -no SOURCE /var").split() == [
        "/var/lib/dpkg/status", "/dev/sdb1", "/dev/sdc1"]
    assert sh("brimful", "ls /tmp; df --output=size -BG /tmp | tail -1") == "2G"
    assert "No space left" in sh("brimful", "fallocate -l 600M /data/big", "root")
    assert "No space left" in sh("crammed", "cp /bin/bash ~")
    assert sh("crammed", "cat /run/reboot-required; sudo -n id -un") == "yes\nroot"  # one can still work there


def test_worn_disks(sh):
    ask = ("import os, time\nfile = open('f', 'w')\nbegin = time.monotonic()\nos.fdatasync(file)\nmiddle = time.monotonic()\n"
           "os.fsync(file)\nprint(middle - begin, time.monotonic() - middle)")
    assert min(map(float, sh("worn", f'python3 -c "{ask}"').split())) >= 0.3
    assert "Read-only file system" in sh("worn", "touch /data/x", "root")
    ask = "import os\nspace = os.statvfs('/srv')\nprint(space.f_files, space.f_favail)"
    assert sh("worn", f'python3 -c "{ask}"') == "100 4"
    assert sh("worn", "touch /srv/1 /srv/2 /srv/3 /srv/4 && df --output=iavail /srv | tail -1; touch /srv/5", "root").startswith("0")


def test_ntp(sh):
    ask = ("import ctypes, struct\nfor name in None, 'libc.so.6':\n t = ctypes.create_string_buffer(208)\n"
           " rc = ctypes.CDLL(name).adjtimex(t)\n print(rc, *struct.unpack_from('l', t, 24), t.raw[40] & 64)")
    # TIME_ERROR, the maximal error in microseconds, STA_UNSYNC
    for host in ("unsynced", "nontp", "chrony-good", "chrony-bad"):
        assert sh(host, f'python3 -c "{ask}"').split() == ["5", "16000000", "64"] * 2
    assert sh("healthy", f'python3 -c "{ask}"').split() == ["0", "50000", "0"] * 2
    assert "System clock synchronized: no\n" in sh("unsynced", "timedatectl")
    assert "System clock synchronized: yes\n" in sh("healthy", "timedatectl status")
    assert sh("unsynced", "timedatectl show --property=NTPSynchronized") == "NTPSynchronized=no"
    assert sh("nontp", "which timedatectl chronyc chronyd ntpq") == ""
    assert sh("chrony-good", "which timedatectl") == ""
    assert sh("chrony-good", "chronyc -c tracking").split(",")[-1] == "Normal"
    assert sh("chrony-bad", "chronyc -c tracking").split(",")[-1] == "Not synchronised"


def test_sudo(lab, sh):
    assert sh("sudo-asks", "sudo -n true") == "sudo: a password is required"
    assert sh("sudo-asks", f"echo {spec.PASSWORD} | sudo -S -p '' id -un") == "root"
    assert sh("sudo-denied", "sudo -n true") == "sudo: a password is required"
    assert "ops is not in the sudoers file" in sh("sudo-denied", f"echo {spec.PASSWORD} | sudo -S -p '' true")
    assert lab.exec("sudo-missing", "sudo -n true", user="ops").returncode == 127


def test_login(lab, tmp_path):
    assert ssh(lab, "healthy", "id -un").stdout == "ops\n"
    assert "Permission denied (password)" in ssh(lab, "by-password").stderr
    assert "Permission denied (publickey)" in ssh(lab, "nobody").stderr
    assert ssh(lab, "moved", "ip route | grep -c default").stdout == "0\n"
    script = tmp_path / "askpass"
    script.write_text(f"#!/bin/sh\necho {spec.PASSWORD}\n")
    script.chmod(0o700)
    with lab.network():
        done = subprocess.run(["ssh", *SSH_OPTIONS, f"ops@{lab.host('by-password')['ip']}", "id -un"], text=True,
                              env={**os.environ, "SSH_ASKPASS": str(script), "SSH_ASKPASS_REQUIRE": "force"},
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.stdout == "ops\n"


def test_hosts_that_do_not_answer(lab):
    for name, text, least, most in (("down", "Connection refused", 0, 1.4), ("silent", "timed out", 1.9, 5),
                                    ("absent", "No route to host", 1.4, 2.9)):
        begin = time.monotonic()
        done = ssh(lab, name, patience=5 if name == "absent" else 2)
        assert done.returncode == 255 and text in done.stderr
        assert least <= time.monotonic() - begin <= most


def test_listen(lab, sh):
    lines = sh("ports", "ss -Hltunp", "root").split("\n")
    seen = {(line.split()[0], line.split()[4], line.split('"')[1]) for line in lines if "sshd" not in line}
    assert seen == {
        ("tcp", "0.0.0.0:5432", "labsrv"), ("tcp", "[::]:5432", "labsrv"), ("tcp", "127.0.0.1:6379", "labsrv"),
        ("udp", "0.0.0.0:5353", "labsrv"), ("udp", "[::]:5353", "labsrv"),
        ("tcp", "0.0.0.0:9090", "prometheus"), ("tcp", "[::]:9090", "prometheus")}
    assert connect(lab, "healthy", "ports", 5432)[0] == 0
    assert connect(lab, "healthy", "ports", 6379)[0] == errno.ECONNREFUSED


def test_blocked_connections(lab):
    assert connect(lab, "blocked", "healthy", 22)[0] == errno.EAGAIN
    assert connect(lab, "blocked", "ports", 5432)[0] == errno.ECONNREFUSED
    assert connect(lab, "blocked", "ports", 22)[0] == 0
    assert connect(lab, "blocked", "healthy", 80)[0] == errno.ECONNREFUSED


def test_internet(lab, sh):
    assert sh("offline", "getent ahostsv4 deb.debian.org") == ""
    assert sh("partly", "getent ahostsv4 deb.debian.org; getent hosts example.org | cut -d' ' -f1") == spec.WEB_IP
    begin = time.monotonic()
    assert lab.exec("swallowed", "timeout 1 getent ahostsv4 nowhere.test").returncode == 124
    assert lab.exec("swallowed", "timeout 1 bash -c '</dev/tcp/deb.debian.org/80'").returncode == 124
    assert time.monotonic() - begin < 5
    assert "No route to host" in sh("healthy", "bash -c '</dev/tcp/192.0.2.1/80'")


def test_delay_and_loss(lab):
    assert connect(lab, "healthy", "lossy", 22)[0] in (errno.EAGAIN, errno.EHOSTUNREACH)
    assert 0.19 < connect(lab, "healthy", "far", 22)[1] < 1
    assert connect(lab, "healthy", "ports", 22)[1] < 0.19


def test_programs_and_files(lab, sh):
    assert sh("bare", "which apt apt-get dpkg python3 curl ss sudo") == "/usr/bin/sudo"
    assert sh("bare", ". /etc/os-release; echo $ID $VERSION_ID; ls /etc/debian_version 2>&1 | grep -c 'No such'"
              ) == "ubuntu 18.04\n1"
    assert sh("noisy", "/bin/mine; stat -c %U /usr/bin/mine; ls -d /bin; cat /proc/loadavg; readlink /etc/there",
              "root") == "mine\nops\n/bin\n9 9 9 1/9 9\n/etc/passwd"
    assert lab.exec("noisy", "cat /etc/hostname").returncode == 1
    assert lab.exec("noisy", "getent passwd ops").stdout.endswith(":/bin/sh\n")
    assert "AUTHORISED USE ONLY" in lab.exec("noisy", "true", user="ops").stdout


def test_hung_mount_and_noexec(lab, sh):
    assert lab.exec("hung", "timeout -s KILL 1 df /nfs").returncode == 137
    assert "nas.lab:/export /nfs fuse.nfs" in sh("hung", "cat /proc/mounts")
    assert "Permission denied" in sh("hung", "cp /bin/true /tmp/t; /tmp/t")
    assert sh("healthy", "cp /bin/true /tmp/t; /tmp/t && echo ran") == "ran"


def test_other_python(own):
    with pytest.raises(LabError, match="no Python 3.0 in .*/.pyenv/versions"):
        own.up({"hosts": [{"name": "a", "python": "3.0"}]})
    names = sorted(map(os.path.basename, glob.glob(os.path.expanduser("~/.pyenv/versions/3.*.*"))))[:1]
    hosts = [{"name": "a", "python": name} for name in names]
    hosts.append({"name": "b", "python": "/opt/mine", "files": {"/opt/mine": {
        "content": "#!/bin/sh\necho Python 9\n", "mode": "0755"}}})
    own.up({"hosts": hosts})
    for name in names:  # only where there is a pyenv
        assert own.exec("a", "python3 -V; ls /usr/bin/python*").stdout.split() == [
            "Python", name, "/usr/bin/python3", "/usr/bin/python" + name.rpartition(".")[0]]
    assert own.exec("b", "python3 -V; ls /usr/bin/python*").stdout.split() == ["Python", "9", "/usr/bin/python3"]
