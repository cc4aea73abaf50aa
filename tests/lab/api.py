"""The lab for Python programs, pytest above all."""
import collections
import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys

from . import hostfiles, limits, needs, spec, system
from .meter import HOSTS, Meter
from .spec import PASSWORD, USER
from .system import LabError, inside, read, recorded

DEFAULT_DIR = "/run/llmgw-lab"
SSH_OPTIONS = ["-F", "/dev/null", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
               "-o", "GlobalKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"]
CUT = ("table inet cut { chain in { type filter hook input priority -10; policy drop; }; "
       "chain out { type filter hook output priority -10; policy drop; }; }")
FAULTS = ["freeze", "thaw", "drop", "heal", "linkdown", "kill-sshd", "start-sshd"]


class Lab:
    """One lab.  All that it keeps is in its state directory, so any process can go on with it."""

    def __init__(self, state_dir=DEFAULT_DIR):
        self.dir = os.path.abspath(state_dir)
        self.key = self.dir + "/key"
        self._meter = Meter(self.dir.strip("/").replace("/", "-"))

    # ------------------------------------------------------------------------------------------ up and down
    def up(self, source):
        """Make the hosts of a spec (a dict or the path of a JSON file); takes down what was up."""
        hosts = spec.load(source)
        if os.geteuid():
            raise LabError("the lab makes namespaces and mounts; it needs root")
        lacking = needs.missing(hosts)
        if lacking:
            raise LabError(f"missing Debian packages: {' '.join(lacking)}")
        for host in hosts:
            hostfiles.pyenv_tree(host["python"])
        self.down()
        if os.path.isdir(self.dir) and os.listdir(self.dir):
            raise LabError(f"{self.dir} holds something else; choose a folder that is new or empty")
        os.makedirs(self.dir, 0o755, exist_ok=True)
        with open(self.dir + "/state.json", "w") as fh:
            json.dump({"name": self._meter.name, "hosts": hosts}, fh)
        try:
            for sub in ("layers", "mnt", "hosts", "cp"):
                os.mkdir(f"{self.dir}/{sub}", 0o755)
            system.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", self.key])
            limits.raise_for(self._meter.name)
            self._meter.make()
            self._build()
        except BaseException:
            self.down()
            raise

    def _build(self):
        package = os.path.dirname(os.path.abspath(__file__))
        done = subprocess.run(
            [sys.executable, "-m", f"{os.path.basename(package)}.build", self.dir], cwd="/", stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": os.path.dirname(package)})
        if done.returncode:
            raise LabError(done.stderr.strip() or f"the builder ended with {done.returncode}")

    def down(self):
        """Remove everything, also what a crash left; harmless when nothing is up."""
        if not os.path.exists(self.dir + "/state.json"):
            return
        system.kill_recorded(self.dir + "/init")
        for name in _list(self.dir + "/cp"):  # ssh connections that Ansible keeps open; ask them to leave
            leave = ["ssh", "-F", "/dev/null", "-o", f"ControlPath={self.dir}/cp/{name}", "-O", "exit", "lab"]
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(leave, capture_output=True, timeout=10, check=False)
        limits.restore_for(self._meter.name)
        self._meter.remove()
        for name in _list(self.dir):
            path = f"{self.dir}/{name}"
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif name != "state.json":
                os.unlink(path)
        shutil.rmtree(self.dir)  # state.json goes last, since it tells that there is work to do

    # ------------------------------------------------------------------------------------------ looking at it
    def hosts(self):
        """The hosts as complete dicts, as far as a spec can say."""
        try:
            return json.loads(read(self.dir + "/state.json"))["hosts"]
        except ValueError:
            raise LabError(f"nothing is up in {self.dir}") from None

    def host(self, name):
        """One host."""
        for host in self.hosts():
            if host["name"] == name:
                return host
        raise LabError(f"there is no host {name}")

    def inventory(self, secrets=True):
        """An Ansible inventory as a dict; without SECRETS it has no passwords."""
        hosts, groups = {}, collections.defaultdict(dict)
        for host in self.hosts():
            mine = {"ansible_host": host["ip"]}
            if host["ssh_port"] != 22:
                mine["ansible_port"] = host["ssh_port"]
            if secrets and host["auth"] == "password":
                mine["ansible_password"] = PASSWORD
            if secrets and host["sudo"] == "password":
                mine["ansible_become_password"] = PASSWORD
            hosts[host["name"]] = {**mine, **host["vars"]}
            for group in host["groups"]:
                groups[group].setdefault("hosts", {})[host["name"]] = None
        common = {"ansible_user": USER, "ansible_ssh_private_key_file": self.key,
                  "ansible_control_path_dir": self.dir + "/cp", "ansible_ssh_common_args": shlex.join(SSH_OPTIONS)}
        return {"all": {"vars": common, "hosts": hosts, **({"children": dict(groups)} if groups else {})}}

    def status(self):
        """A dict per host: name, ip, pid, number of processes, and whether ssh answers."""
        rows = []
        with self.network():
            for host in self.hosts():
                pid = recorded(f"{self.dir}/hosts/{host['name']}")
                rows.append({"name": host["name"], "ip": host["ip"], "pid": pid,
                             "processes": len(system.members(pid)) if pid else 0,
                             "ssh": bool(pid) and _answers(host)})
        return rows

    # ------------------------------------------------------------------------------------------ working with it
    @contextlib.contextmanager
    def network(self):
        """The calling thread, and whatever it starts, is the controller on the lab's network meanwhile."""
        self.hosts()
        pid = recorded(self.dir + "/init")
        if not pid:
            raise LabError("the lab's network is gone; take the lab down")
        with inside(f"/proc/{pid}/ns/net"):
            yield

    def exec(self, name, cmd, user="root", timeout=60):
        """Run CMD (a shell line or a list) inside a host, not over ssh; a CompletedProcess with text output.

        What it uses counts as the hosts' processor time."""
        return subprocess.run(self.exec_command(name, cmd, user), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout, env={"PATH": needs.PATH, "HOME": "/root"}, check=False)

    def exec_command(self, name, cmd, user="root"):
        """The command line, to be run on this machine, that exec() uses."""
        pid = self._pid(name)
        line = cmd if isinstance(cmd, str) else shlex.join(cmd)
        shell = ["sh", "-c", line] if user == "root" else ["su", "-", user, "-s", "/bin/sh", "-c", line]
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(pid))))
        lost = ",".join(f"-{name}" for name in system.LOST_CAPABILITIES)
        # As a shell script, since a Python process would take far longer to start than what it is to do.
        count = ["sh", "-c", 'echo $$ >"$0"; exec "$@"', self._meter.members_file(HOSTS)]
        return [*count, "taskset", "-c", cpus, "nsenter", "-t", str(pid), "-m", "-u", "-i", "-n", "-p", "--",
                "setpriv", f"--bounding-set={lost}", "--", *shell]

    def fault(self, name, kind):
        """Break or mend a running host; KIND is one of FAULTS."""
        if kind not in FAULTS:
            raise LabError(f"no fault {kind}; there are {', '.join(FAULTS)}")
        pid = self._pid(name)
        if kind in ("freeze", "thaw"):
            system.signal_members(pid, signal.SIGSTOP if kind == "freeze" else signal.SIGCONT)
        elif kind == "kill-sshd":
            for each in system.members(pid):
                if system.command_name(each).startswith("sshd"):
                    os.kill(each, signal.SIGKILL)
        elif kind == "start-sshd":
            self.exec(name, "/usr/sbin/sshd").check_returncode()
        else:
            with inside(f"/proc/{pid}/ns/net"):
                if kind == "linkdown":
                    system.run(["ip", "link", "set", "eth0", "down"])
                elif kind == "drop":
                    system.run(["nft", "-f", "-"], CUT)
                else:
                    system.run(["nft", "-f", "-"], "table inet cut\ndelete table inet cut\n")  # also when there is none
                    system.run(["ip", "link", "set", "eth0", "up"])

    @contextlib.contextmanager
    def measure(self):
        """Count processor time: `with lab.measure() as used:` and, after the block, used.wall, used.controller,
        used.hosts and used.other, in seconds.  The calling process with all its children is the controller."""
        self.hosts()
        with self._meter.measure() as usage:
            yield usage

    def _pid(self, name):
        pid = recorded(f"{self.dir}/hosts/{self.host(name)['name']}")
        if not pid:
            raise LabError(f"{name} is not running")
        return pid


def _answers(host):
    """Whether an sshd answers; to be asked in the controller's network."""
    try:
        with socket.create_connection((host["ip"], host["ssh_port"]), 1) as sock:
            return sock.recv(4) == b"SSH-"
    except OSError:
        return False


def _list(folder):
    return os.listdir(folder) if os.path.isdir(folder) else []
