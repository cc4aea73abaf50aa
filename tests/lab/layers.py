"""Root file systems: overlay layers, and the one layer that all hosts share.

The lowest layer is the machine's own "/".  The shared one above it adds the lab's user and hides whatever is
this machine's private business, so that hosts are plain Debian machines wherever the lab runs.
"""
import contextlib
import os
import stat
import subprocess

from .spec import UID, USER
from .system import read

# spec.PASSWORD as `openssl passwd -6 -salt llmgwlab` writes it; fixed, so that nothing has to be there to compute it.
PASSWORD_HASH = "$6$llmgwlab$Y3oVbQFNeUc.n0ZDtJahz2WzTo1TMV7KXwzRLeBFOFUdwAB8spr5PhYTo5vADigbwq3Zq3PIeLWiquh3WUZyx."
KEEP = ["bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "media", "mnt", "opt", "proc", "root",
        "run", "sbin", "srv", "sys", "tmp", "usr", "var"]
EMPTY = ("home", "media", "mnt", "opt", "root", "run", "srv", "tmp", "usr/local", "var/lib/apt/lists",
         "var/lib/apt/periodic", "var/log", "var/tmp", "etc/ansible",
         "etc/apt", "etc/profile.d", "etc/ssh", "etc/sudoers.d", "etc/update-motd.d")
OPAQUE = "trusted.overlay.opaque"  # the mark of a folder that hides what lies below it
SOURCES = """\
deb http://deb.debian.org/debian bookworm main
deb http://security.debian.org/debian-security bookworm-security main
"""
# What an apt-get update has brought of them: package -> version.
LISTS = "/var/lib/apt/lists/"
ARCHIVES = ("deb.debian.org_debian_dists_bookworm", "security.debian.org_debian-security_dists_bookworm-security")
STATUS = "".join(f"Package: {name}\nStatus: install ok installed\nVersion: 1\nArchitecture: all\nMaintainer: lab\nDescription: lab\n\n"
                 for name in ("apt", "base-files", "dpkg"))
PACKAGES = {"etcd-server": "3.4.23-4", "patroni": "3.0.2-1", "postgresql": "15+248"}
SUDOERS = """\
Defaults env_reset
Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
root ALL=(ALL:ALL) ALL
@includedir /etc/sudoers.d
"""
NSSWITCH = "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n"


class Layer:
    """One folder of an overlay, and the folders that lie below it, the nearest first."""

    def __init__(self, root, *below):
        self.root = root
        self.below = below

    def _resolve(self, folder):
        """Follow the links below in a folder's path: /bin is one, and a real folder here would hide all behind it."""
        done = ""
        for part in folder.strip("/").split("/"):
            step = os.path.normpath(f"{done}/{part}")
            for root in (self.root, *self.below):
                if os.path.lexists(root + step):
                    if os.path.islink(root + step):
                        step = os.path.normpath(os.path.join(done or "/", os.readlink(root + step)))
                    break
            done = step
        return done

    def folder(self, path):
        """Make a folder with its parents, with the modes and owners that they have below; return its place."""
        path = self._resolve(path)
        done = self.root
        for part in filter(None, path.split("/")):
            done += "/" + part
            if not os.path.lexists(done):
                os.mkdir(done)
                os.chmod(done, 0o755)
                for root in self.below:
                    under = root + done.removeprefix(self.root)
                    if os.path.isdir(under):
                        there = os.stat(under)
                        os.chown(done, there.st_uid, there.st_gid)
                        os.chmod(done, stat.S_IMODE(there.st_mode))
                        break
        return done

    def empty(self, path):
        """An empty folder in place of the one below."""
        os.setxattr(self.folder(path), OPAQUE, b"y")

    def seen(self, path):
        """The folders that make up what is seen at PATH, the nearest first: down to one that hides all below it."""
        found = []
        for root in (self.root, *self.below):
            steps = [root + "/".join(path.split("/")[:k + 1]) for k in range(1, path.count("/") + 1)]
            if os.path.isdir(steps[-1]):
                found.append(steps[-1])
            steps = filter(os.path.lexists, steps)
            if any(not os.path.isdir(step) or OPAQUE in os.listxattr(step) for step in steps):
                break
        return found

    def _clear(self, path):
        full = f"{self.folder(os.path.dirname(path))}/{os.path.basename(path)}"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(full)
        return full

    def hide(self, path):
        """Take away what lies below at PATH."""
        folder, name = self._resolve(os.path.dirname(path)), os.path.basename(path)
        if any(os.path.lexists(f"{root}{folder}/{name}") for root in (self.root, *self.below)):
            os.mknod(self._clear(path), stat.S_IFCHR, 0)

    def link(self, path, target):
        """A symbolic link."""
        os.symlink(target, self._clear(path))

    def put(self, path, text, mode=0o644, owner=0, group=None):
        """A file."""
        full = self._clear(path)
        with open(full, "w") as fh:
            fh.write(text)
        os.chown(full, owner, owner if group is None else group)
        os.chmod(full, mode)  # after chown, which takes set-uid bits away


def make_shared(root, public_key):
    """Fill the layer that all hosts have in common."""
    layer = Layer(root, "")
    for name in set(os.listdir("/")) - set(KEEP):
        layer.hide("/" + name)
    for name in EMPTY:
        layer.empty("/" + name)
    for name, mode in (("root", 0o700), ("tmp", 0o1777), ("var/tmp", 0o1777), ("home", 0o755)):
        os.chmod(f"{root}/{name}", mode)
    for name in ("bin", "sbin", "lib", "share"):
        layer.folder("/usr/local/" + name)
    for name in ("apt.conf.d", "preferences.d", "sources.list.d", "trusted.gpg.d"):
        layer.folder("/etc/apt/" + name)
    layer.put("/etc/apt/sources.list", SOURCES)
    _package_lists(layer)
    layer.put("/etc/sudoers", SUDOERS, 0o440)
    layer.put("/etc/nsswitch.conf", NSSWITCH)
    layer.put("/etc/environment", "")
    layer.put("/etc/default/locale", "LANG=C.UTF-8\n")
    layer.put("/etc/timezone", "Etc/UTC\n")
    layer.link("/etc/localtime", "/usr/share/zoneinfo/Etc/UTC")
    layer.link("/var/lib/dbus/machine-id", "/etc/machine-id")
    for path in ("/etc/lsb-release", "/etc/motd", "/etc/pip.conf", "/etc/sudo.conf"):
        layer.hide(path)
    # Only one of a host's `ntp` settings brings such a program back.
    for name in ("chronyc", "chronyd", "ntpd", "ntpq", "ntpstat", "ntpdate", "timedatectl"):
        for folder in ("/usr/bin/", "/usr/sbin/"):
            layer.hide(folder + name)
    if not os.path.exists("/usr/bin/apt-get"):
        layer.put("/usr/bin/apt-get", "#!/bin/sh\necho 'apt 2.6.1 (amd64)'\n", 0o755)
    _accounts(layer)
    home = f"/home/{USER}"
    for name in (".bashrc", ".profile"):
        layer.put(f"{home}/{name}", read(f"/etc/skel/{name}"), owner=UID)
    layer.put(f"{home}/.ssh/authorized_keys", public_key, 0o600, owner=UID)
    for path, mode in ((home, 0o755), (home + "/.ssh", 0o700)):
        os.chmod(root + path, mode)
        os.chown(root + path, UID, UID)


def _package_lists(layer):
    """What apt and dpkg know, however this machine is kept."""
    layer.put("/var/lib/dpkg/status", STATUS)
    layer.folder(LISTS + "partial")
    layer.put(LISTS + "lock", "", 0o640)
    arch = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    for archive in ARCHIVES:
        layer.put(f"{LISTS}{archive}_Release", "Suite: stable\nCodename: bookworm\n")  # without a signature, unlike InRelease
        layer.put(f"{LISTS}{archive}_main_binary-{arch}_Packages", "" if archive != ARCHIVES[0] else "".join(
            f"Package: {name}\nVersion: {version}\nArchitecture: all\nFilename: {name}.deb\nSize: 1\nSHA256: {64 * '0'}\n\n"
            for name, version in PACKAGES.items()))


def _accounts(layer):
    """The system's own accounts and the lab's user; people who have an account on this machine stay out."""
    users = [line for line in read("/etc/passwd").splitlines() if _is_system(line)]
    groups = [line for line in read("/etc/group").splitlines() if _is_system(line)]
    names = {line.split(":")[0] for line in users}
    shadow = [f"{name}:*:19700:0:99999:7:::" for name in sorted(names)]
    users.append(f"{USER}:x:{UID}:{UID}:Lab:/home/{USER}:/bin/bash")
    groups.append(f"{USER}:x:{UID}:")
    shadow.append(f"{USER}:{PASSWORD_HASH}:19700:0:99999:7:::")
    layer.put("/etc/passwd", "\n".join(users) + "\n")
    layer.put("/etc/group", "\n".join(groups) + "\n")
    layer.put("/etc/shadow", "\n".join(shadow) + "\n", 0o640, group=42)


def _is_system(line):
    """Of a line of /etc/passwd or /etc/group, which both have the number in the third place."""
    fields = line.split(":")
    return len(fields) > 2 and fields[2].isdigit() and (int(fields[2]) < 1000 or int(fields[2]) >= 65534)
