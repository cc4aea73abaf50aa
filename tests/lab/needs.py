"""Which Debian packages the lab cannot do without."""
import os
import shutil

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
PROGRAMS = {
    "sshd": "openssh-server", "ssh": "openssh-client", "ssh-keygen": "openssh-client", "sudo": "sudo",
    "ip": "iproute2", "nft": "nftables", "mkfs.ext4": "e2fsprogs", "mount": "mount",
    "nsenter": "util-linux", "setpriv": "util-linux", "taskset": "util-linux",
    "cc": "gcc", "chronyd": "chrony", "fish": "fish", "tcsh": "tcsh"}
FILES = {"/usr/include/stdio.h": "libc6-dev", "/usr/bin/python3": "python3"}


def missing(hosts=None):
    """Names of Debian packages to install, sorted; empty when all is there.

    HOSTS (complete ones, as spec.load() gives them) makes it leave out what no host wants: to install chrony
    replaces the machine's own time service, and shells are only there to log in to."""
    wanted = set()
    for program, package in PROGRAMS.items():
        if not shutil.which(program, path=PATH):
            wanted.add(package)
    wanted |= {package for path, package in FILES.items() if not os.path.exists(path)}
    if hosts is not None:
        if not any(str(host["ntp"]).startswith("chrony") for host in hosts):
            wanted.discard("chrony")
        wanted -= {"fish", "tcsh"} - {os.path.basename(host["login_shell"]) for host in hosts}
    return sorted(wanted)
