"""Shows that a lab starts, works, measures and ends as it should, and leaves nothing behind."""
import json
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from . import Lab, LabError, limits, meter, missing, needs, spec
from .api import SSH_OPTIONS
from .probe import left_over, need_root, processes, rest_of, ssh
from .system import read

COMMAND = [sys.executable, os.path.join(os.path.dirname(__file__), "lab.py")]


# ------------------------------------------------------------------------------------- before there is a lab
def test_a_wrong_spec_is_refused_in_words():
    cases = [({"name": "a", "colour": 1}, "unknown field colour; known are name, absent,"),
             ({"name": "a", "sudo": "maybe"}, "sudo is one of nopasswd, password, denied, missing; not maybe"),
             ({"name": "a b"}, "not a host name"),
             ({"name": "a", "ip": "10.77.0.1"}, "not a free address"),
             ({"name": "a", "count": 2}, "two hosts have the same name")]
    for entry, text in cases:
        with pytest.raises(LabError, match=text):
            spec.load({"hosts": [entry]})


def test_all_missing_packages_are_named_at_once(monkeypatch, tmp_path):
    need_root()
    assert missing() == []
    monkeypatch.setattr(needs, "PATH", str(tmp_path))
    assert missing() == ["chrony", "e2fsprogs", "fish", "gcc", "iproute2", "mount", "nftables", "openssh-client",
                         "openssh-server", "sudo", "tcsh", "util-linux"]
    with pytest.raises(LabError, match="missing Debian packages: e2fsprogs gcc iproute2 mount nftables"):
        Lab(tmp_path / "lab").up({"hosts": [{"name": "a"}]})


def test_without_root_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LabError, match="needs root"):
        Lab(tmp_path / "lab").up({"hosts": [{"name": "a"}]})


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    need_root()
    (tmp_path / "mine").touch()
    Lab(tmp_path).down()
    with pytest.raises(LabError, match="holds something else"):
        Lab(tmp_path).up({"hosts": [{"name": "a"}]})
    assert (tmp_path / "mine").exists()


def test_the_last_of_two_labs_restores_the_limits(monkeypatch, tmp_path):
    low, high = tmp_path / "low", tmp_path / "high"
    low.write_text("128\n")
    high.write_text("99999\n")
    monkeypatch.setattr(limits, "NOTES", str(tmp_path / "notes"))
    monkeypatch.setattr(limits, "WANTED", {str(low): 4096, str(high): 8192, str(tmp_path / "none"): 1})
    limits.raise_for("one")
    limits.raise_for("two")
    limits.restore_for("one")
    limits.restore_for("one")
    assert (low.read_text(), high.read_text()) == ("4096", "99999\n")
    limits.restore_for("two")
    assert low.read_text() == "128"
    assert not (tmp_path / "notes").exists() and not (tmp_path / "none").exists()


# ------------------------------------------------------------------------------------------- while it is up
def test_faults_come_and_go(lab):
    for kind, mend, error in (("freeze", "thaw", "timed out"), ("drop", "heal", "timed out"),
                              ("kill-sshd", "start-sshd", "refused")):
        lab.fault("healthy", kind)
        assert error in ssh(lab, "healthy", patience=1).stderr
        lab.fault("healthy", mend)
        assert ssh(lab, "healthy").returncode == 0
    lab.fault("healthy", "linkdown")
    assert ssh(lab, "healthy", patience=1).returncode == 255
    lab.fault("healthy", "heal")
    assert ssh(lab, "healthy").returncode == 0
    with pytest.raises(LabError, match="no fault explode"):
        lab.fault("healthy", "explode")


def test_network_is_only_for_the_thread_and_only_meanwhile(lab):
    def where():
        return os.readlink("/proc/thread-self/ns/net")

    def visit():
        before = where()
        with lab.network(), ThreadPoolExecutor(1) as pool:
            socket.create_connection((lab.host("healthy")["ip"], 22), 5).close()
            return before, where(), pool.submit(where).result(), os.readlink("/proc/self/ns/net")

    home = where()
    with ThreadPoolExecutor(1) as pool:
        before, inside, started_there, main_thread = pool.submit(visit).result()
        after = pool.submit(where).result()
    assert home == before == after == main_thread != inside == started_there


def test_measure(lab):
    burn = "import time\nwhile time.process_time() < .5: pass"
    with lab.measure() as used:
        subprocess.run([sys.executable, "-c", burn], check=True)
        ssh(lab, "healthy", f"python3 -c '{burn}'")
    assert 0.5 < used.controller < 0.5 + used.wall
    assert 0.5 < used.hosts < 1.5
    assert used.wall >= 0.5 and used.other >= 0


@pytest.mark.parametrize("version", [1, 2])
def test_each_kind_of_cgroup_counts_right(version):
    need_root()
    gauge = meter.Meter(f"llmgw-lab-gauge-{os.getpid()}", version)
    if not gauge.top:
        with pytest.raises(LabError, match="cannot measure"), gauge.measure():
            pass
        return
    home = read("/proc/self/cgroup")
    assert gauge.make()
    try:
        with gauge.measure() as used:
            subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < .5: pass"], check=True)
        assert 0.5 < used.controller < 1
        assert used.hosts == 0
        assert read("/proc/self/cgroup") == home
    finally:
        gauge.remove()
    assert not os.path.exists(f"{gauge.top}/{gauge.name}")


def test_inventory_and_ansible(lab, tmp_path):
    tree = lab.inventory()["all"]
    assert tree["hosts"]["healthy"] == {"ansible_host": "10.77.1.1", "colour": "blue"}
    assert tree["children"] == {"web": {"hosts": {"healthy": None}}}
    assert tree["hosts"]["moved"] == {"ansible_host": "10.77.9.9", "ansible_port": 2222}
    assert tree["hosts"]["sudo-asks"]["ansible_become_password"] == spec.PASSWORD
    assert spec.PASSWORD not in json.dumps(lab.inventory(secrets=False))
    (tmp_path / "hosts.yml").write_text(json.dumps(lab.inventory()))
    names = ["healthy", "early", "many", "brimful", "moved", "down", "nobody", "absent"]
    with lab.network():
        done = subprocess.run(
            [sys.executable, "-m", "ansible", "adhoc", "-i", str(tmp_path / "hosts.yml"), ",".join(names), "-m", "ping",
             "-f", "8", "-T", "5"], env={**os.environ, "ANSIBLE_HOME": str(tmp_path), "ANSIBLE_NOCOLOR": "1"},
            capture_output=True, text=True, check=False)
    verdict = dict(line.split(" | ") for line in done.stdout.split("\n") if " | " in line)
    assert {name: text.split()[0].rstrip("!:") for name, text in verdict.items()} == {
        **dict.fromkeys(names[:5], "SUCCESS"), **dict.fromkeys(names[5:], "UNREACHABLE")}, done.stdout + done.stderr


def test_forty_hosts_that_try_each_other_lose_nothing(lab, own):
    """In a second lab beside the first, with the same addresses."""
    begin = time.monotonic()
    # sshd shall turn most callers away at once: this is about packets, not about 1600 times the start of an sshd.
    own.up({"hosts": [{"name": "n%02d", "count": 40, "sshd": ["MaxStartups 2:100:2"]}]})
    assert time.monotonic() - begin < 20
    code = ("import selectors, socket, sys, time\nwaiting = selectors.DefaultSelector()\n"
            "for ip in sys.argv[1:]:\n sock = socket.socket()\n sock.setblocking(False)\n sock.connect_ex((ip, 22))\n"
            " waiting.register(sock, selectors.EVENT_WRITE)\nend, good = time.monotonic() + 20, 0\n"
            "while waiting.get_map() and time.monotonic() < end:\n for key, _ in waiting.select(1):\n"
            "  good += not key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)\n"
            "  waiting.unregister(key.fileobj)\n  key.fileobj.close()\nprint(good)")
    hosts = own.hosts()
    command = ["python3", "-c", code, *(host["ip"] for host in hosts)]
    with ThreadPoolExecutor(len(hosts)) as pool:
        tries = list(pool.map(lambda host: own.exec(host["name"], command), hosts))
    assert {done.stdout for done in tries} == {"40\n"}
    own.down()
    assert ssh(lab, "healthy").returncode == 0


# ---------------------------------------------------------------------------------------------- and afterwards
def test_two_ups_in_a_row_and_down_leave_nothing(own):
    own.up({"hosts": [{"name": "laden", "disk_free_gb": 1}, {"name": "hung", "hang_mount": "/nfs"}]})
    originals = json.loads(read(limits.NOTES + "/original"))
    assert all(int(read(path)) >= limits.WANTED[path] for path in limits.WANTED)
    first = processes(own)
    own.up({"hosts": [{"name": "laden", "disk_free_gb": 1}, {"name": "slow", "latency_ms": 5, "listen": [80]}]})
    assert [(row["name"], row["ssh"]) for row in own.status()] == [("laden", True), ("slow", True)]
    with own.network():  # as Ansible leaves it: a connection in the background
        subprocess.run(["ssh", *SSH_OPTIONS, "-i", own.key, "-o", "ControlMaster=auto", "-o", "ControlPersist=60",
                        "-o", f"ControlPath={own.dir}/cp/one", "ops@10.77.1.1", "true"], check=True)
    second = processes(own)
    assert len(second) >= 9 - 1  # the lab, its delay line, 2 hosts with sshd, a server, sessions and ssh itself
    assert left_over(own, second, "laden")
    own.down()
    assert rest_of(own, first | second, "laden") == []
    if not os.path.exists(limits.NOTES):  # otherwise another lab is up on this machine
        assert {path: int(read(path)) for path in originals} == originals
    own.down()


@pytest.mark.parametrize("hosts_done", [0, 3])
def test_a_killed_up_can_be_cleaned_away(own, hosts_done):
    text = json.dumps({"hosts": [{"name": "laden%d", "count": 12, "disk_free_gb": 1}]})
    with subprocess.Popen([*COMMAND, "--state", own.dir, "up", "/dev/stdin"], stdin=subprocess.PIPE, text=True) as up:
        up.stdin.write(text)
        up.stdin.close()
        limit = time.monotonic() + 10
        while not (read(own.dir + "/init") and len(os.listdir(own.dir + "/hosts")) >= hosts_done):
            assert time.monotonic() < limit
            time.sleep(0.01)
        known = processes(own)
        up.kill()
    assert len(known) > hosts_done
    own.down()
    assert rest_of(own, known, "laden1") == []


def test_a_failed_up_says_why_and_leaves_nothing(own):
    with pytest.raises(LabError, match="clumsy: .*mkfs.ext4"):
        own.up({"hosts": [{"name": "fine"}, {"name": "clumsy", "disk_gb": 0, "disk_free_gb": 0}]})
    assert rest_of(own, set(), "clumsy") == []
    with pytest.raises(LabError, match="odd: sshd does not start: .*Bad configuration option: Nonsense"):
        own.up({"hosts": [{"name": "odd", "sshd": ["Nonsense yes"]}]})


def test_command_line(own, tmp_path):
    (tmp_path / "spec.json").write_text('{"hosts": [{"name": "one"}]}')

    def run(*words):
        return subprocess.run([*COMMAND, "--state", own.dir, *words], capture_output=True, text=True, check=False)
    assert run("status").stderr == f"lab: nothing is up in {own.dir}\n"
    assert run("up", str(tmp_path / "spec.json")).returncode == 0
    assert "ssh yes" in run("status").stdout
    assert json.loads(run("inventory").stdout)["all"]["hosts"] == {"one": {"ansible_host": "10.77.1.1"}}
    assert run("exec", "-u", "ops", "one", "id -un").stdout == "ops\n"
    assert run("exec", "one", "exit 3").returncode == 3
    done = run("run", "--measure", "--", "ssh", *SSH_OPTIONS, "-i", own.key, "ops@10.77.1.1", "hostname")
    assert done.stdout == "one\n"
    assert json.loads(done.stderr)["hosts"] > 0
    assert run("fault", "one", "kill-sshd").returncode == 0
    assert "ssh no" in run("status").stdout
    assert run("down").returncode == 0
    assert not os.path.exists(own.dir)
