"""The files that make a host what its spec says: the part of every fault that is just text on disk."""
import glob
import os
import re
import secrets
import shutil
import subprocess

from .spec import DROP_IP, GATEWAY, INTERNET_NAMES, UID, USER, WEB_IP
from .system import LabError, read, run

FAKE = "/usr/lib/llmgw-lab"  # where hosts have the preloaded library; a folder that AppArmor lets all programs read
APT = ["apt", "apt-get", "apt-cache", "apt-config", "apt-key", "apt-mark", "aptitude", "dpkg", "dpkg-query"]
NOISE = 'echo "*** AUTHORISED USE ONLY - {noise: [true ***"\necho "last patched: never"\n'


def write(host, hosts, layer, labdir):
    """Write all files of HOST into its own layer."""
    _identity(host, layer)
    _network(host, hosts, layer)
    _login(host, layer)
    _time(host, layer)
    _programs(host, layer)
    _fake_library(host, layer, labdir)
    write_given(host, layer, in_run=False)


def write_given(host, layer, in_run):
    """Write what the field `files` has in /run, which is mounted late, or elsewhere."""
    for path, content in host["files"].items():
        if path.startswith("/run/") == in_run:
            _given(layer, path, content)


def pyenv_tree(python):
    """The folder of pyenv's Python of that version; None when PYTHON is a path or not given."""
    if not python or "/" in python:
        return None
    versions = os.path.expanduser("~/.pyenv/versions")
    for path in sorted(glob.glob(f"{glob.escape(versions)}/{python}*")):
        if os.path.basename(path) == python or os.path.basename(path).startswith(python + "."):
            return path
    raise LabError(f"there is no Python {python} in {versions}")


def compile_fake(labdir, with_clock):
    """Build the preloaded library, and the variant that has the clock functions."""
    source = os.path.join(os.path.dirname(__file__), "fake.c")
    for name, extra in {"fake.so": [], **({"fake-clock.so": ["-DCLOCK"]} if with_clock else {})}.items():
        run(["cc", "-O2", "-shared", "-fPIC", f'-DHERE="{FAKE}"', *extra, "-o", f"{labdir}/layers/{name}", source])


def _identity(host, layer):
    release = host["os_release"]
    layer.put("/etc/hostname", host["name"] + "\n")
    layer.put("/etc/machine-id", secrets.token_hex(16) + "\n")
    layer.put("/usr/lib/os-release", "".join(f'{key}="{value}"\n' for key, value in release.items()))
    layer.link("/etc/os-release", "../usr/lib/os-release")
    if release.get("ID") == "debian":
        version = f"{release['VERSION_ID']}.0" if "VERSION_ID" in release else "sid"
        layer.put("/etc/debian_version", version + "\n")
    else:
        layer.hide("/etc/debian_version")


def _network(host, hosts, layer):
    internet = host["internet"]
    table = [f"127.0.0.1 localhost\n127.0.1.1 {host['name']}\n::1 localhost ip6-localhost"]
    table += [f"{peer['ip']} {peer['name']}" for peer in hosts if peer is not host]
    if internet:
        names = internet if isinstance(internet, list) else INTERNET_NAMES
        table.append(f"{DROP_IP if internet == 'drop' else WEB_IP} {' '.join(names)}")
    layer.put("/etc/hosts", "\n".join(table) + "\n")
    # Nobody serves names: a lookup is refused, or hangs where all that is sent to the server is dropped.
    layer.put("/etc/resolv.conf", f"nameserver {DROP_IP if internet == 'drop' else GATEWAY}\n")


def _login(host, layer):
    by_password = host["auth"] == "password"
    lines = [f"Port {host['ssh_port']}", "HostKey /etc/ssh/ssh_host_ed25519_key", "UsePAM yes", "UseDNS no",
             f"PubkeyAuthentication {'no' if by_password else 'yes'}",
             f"PasswordAuthentication {'yes' if by_password else 'no'}", "KbdInteractiveAuthentication no",
             "PrintMotd no", "PidFile /run/sshd.pid", "AcceptEnv LANG LC_*",
             "Subsystem sftp /usr/lib/openssh/sftp-server"]
    if _openssh_version() >= (9, 8):  # it would lock peers out that try the port and never log in
        lines.append("PerSourcePenalties no")
    layer.put("/etc/ssh/sshd_config", "\n".join([*host["sshd"], *lines]) + "\n")  # the first line on a subject counts
    key = layer.folder("/etc/ssh") + "/ssh_host_ed25519_key"
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "root@" + host["name"], "-f", key])
    if host["auth"] == "none":
        layer.put(f"/home/{USER}/.ssh/authorized_keys", "", 0o600, owner=UID)
    rule = {"nopasswd": "NOPASSWD: ALL", "password": "ALL"}.get(host["sudo"])
    if rule:
        layer.put(f"/etc/sudoers.d/{USER}", f"{USER} ALL=(ALL:ALL) {rule}\n", 0o440)
    if host["login_shell"] != "/bin/bash":
        passwd = read(layer.below[0] + "/etc/passwd")
        home = f"/home/{USER}:"
        layer.put("/etc/passwd", passwd.replace(home + "/bin/bash", home + host["login_shell"]))
    if host["motd_noise"]:
        layer.put("/etc/profile.d/zz-noise.sh", NOISE)
        layer.put(f"/home/{USER}/.bashrc", NOISE + read("/etc/skel/.bashrc"), owner=UID)


def _openssh_version():
    text = subprocess.run(["ssh", "-V"], capture_output=True, text=True, check=True).stderr
    return tuple(map(int, re.findall(r"\d+", text)[:2]))


def _time(host, layer):
    if isinstance(host["ntp"], bool):
        script = read(os.path.join(os.path.dirname(__file__), "timedatectl.sh"))
        layer.put("/usr/bin/timedatectl", script.replace("@SYNC@", "yes" if host["ntp"] else "no"), 0o755)
    elif host["ntp"] != "none":
        for path in ("/usr/bin/chronyc", "/usr/sbin/chronyd"):
            layer.put(path, "")  # hidden in the layer below, so it takes a copy to have it back
            shutil.copy(path, layer.root + path)
        local = "local stratum 8\n" if host["ntp"] == "chrony-synced" else ""
        layer.put("/etc/chrony/lab.conf", f"port 0\nserver {DROP_IP} iburst\n{local}")


def _programs(host, layer):
    gone = list(host["no_bin"]) + (APT if host["no_apt"] else []) + (["sudo"] if host["sudo"] == "missing" else [])
    if host["no_python"] or host["python"]:
        gone += map(os.path.basename, glob.glob("/usr/bin/python*"))
    for program in gone:
        for folder in ("/usr/bin", "/usr/sbin", "/bin", "/sbin"):
            layer.hide(f"{folder}/{program}")
    if not host["python"]:
        return
    tree = pyenv_tree(host["python"])
    if not tree:
        layer.link("/usr/bin/python3", host["python"])
        return
    layer.folder("/opt/python")  # the tree is mounted there
    version = ".".join(os.path.basename(tree).split(".")[:2])
    for name in (f"python{version[0]}", f"python{version}"):
        layer.link(f"/usr/bin/{name}", f"/opt/python/bin/python{version}")
    for path in glob.glob(f"{tree}/lib/libpython*.so.*"):  # where the loader looks without being told
        name = os.path.basename(path)
        layer.link(f"/usr/lib/{os.uname().machine}-linux-gnu/{name}", f"/opt/python/lib/{name}")


def _fake_library(host, layer, labdir):
    cpus = host["cpus"] or 0
    cpus = cpus if cpus > len(os.sched_getaffinity(0)) else 0  # fewer are had by real affinity
    layer.put(f"{FAKE}/fake.conf",
              f"{int(host['ntp'] is True)} {cpus} {host['arch'] or '-'} {host['clock_offset_s']} {host['sync_ms']}\n")
    layer.put(f"{FAKE}/fake.so", "", 0o755)
    shutil.copyfile(f"{labdir}/layers/{'fake-clock.so' if host['clock_offset_s'] else 'fake.so'}",
                    f"{layer.root}{FAKE}/fake.so")
    layer.put("/etc/ld.so.preload", f"{FAKE}/fake.so\n")


def _given(layer, path, content):
    """One entry of the field `files`."""
    if content is None:
        layer.hide(path)
    elif isinstance(content, str):
        layer.put(path, content)
    elif "link" in content:
        layer.link(path, content["link"])
    else:
        layer.put(path, content["content"], int(str(content.get("mode", "0644")), 8),
                  owner=UID if content.get("owner") == USER else 0)
