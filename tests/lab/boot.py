"""From a host's empty namespaces to its init: disks, pseudo file systems, listening ports, and the last exec."""
import collections
import os
import resource
import select
import signal
import socket
import stat

from . import hostfiles, layers, system
from .needs import PATH
from .system import BIND, NODEV, NOEXEC, NOSUID, PRIVATE, RDONLY, REC, REMOUNT, daemon, mount, read

DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
DEVICE_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
                "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"}
OPEN_FILES = 1024  # as under systemd
INODES = 4 * 2**20  # what a new ext4 file system of 60 GB has


# --------------------------------------------------------------------------------------------------- disks
def make_root(host, hosts, labdir):
    """Mount the host's overlay and its other file systems; return the root's path (in this mount namespace)."""
    mount(None, "/", None, REC | PRIVATE)
    top = labdir + "/mnt"
    _disk(top, host["disk_gb"], host["disk_free_gb"], f"{labdir}/layers/{host['name']}.img")
    for sub in ("upper", "work", "root"):
        os.mkdir(f"{top}/{sub}", 0o755)
    root, upper, shared = top + "/root", top + "/upper", labdir + "/layers/shared"
    layer = layers.Layer(upper, shared, "")
    hostfiles.write(host, hosts, layer, labdir)
    for path in [*host["mounts"], *filter(None, [host["hang_mount"]])]:
        layer.folder(path)
    _overlay("/dev/sda1", root, [shared, "/"], top)
    for k, (path, size) in enumerate(host["mounts"].items()):
        size = size if isinstance(size, dict) else {"gb": size}
        volume = f"{labdir}/layers/{host['name']}.{k}"
        os.mkdir(volume)
        inodes = 100 if "free_inodes" in size else INODES
        _disk(volume, size["gb"], size.get("free_gb"), volume + ".img", inodes)
        for sub in ("upper", "work"):
            os.mkdir(f"{volume}/{sub}")
        there = os.stat(root + path)
        os.chown(volume + "/upper", there.st_uid, there.st_gid)
        os.chmod(volume + "/upper", stat.S_IMODE(there.st_mode))
        # What the root has there shows through, as if the volume had been filled at installation.
        _overlay(f"/dev/sd{chr(98 + k)}1", root + path, layer.seen(path), volume)
        _fill(volume, size.get("free_gb"))
        for number in range(os.statvfs(volume).f_ffree - size.get("free_inodes", inodes)):
            os.close(os.open(f"{volume}/.filler{number}", os.O_CREAT))
        if size.get("ro"):
            mount(None, root + path, None, BIND | REMOUNT | RDONLY)
    _fill(top, host["disk_free_gb"])
    if host["tmp_noexec"]:
        if "/tmp" in host["mounts"]:
            mount(None, root + "/tmp", None, REMOUNT | NOSUID | NODEV | NOEXEC)
        else:
            mount("tmpfs", root + "/tmp", "tmpfs", NOSUID | NODEV | NOEXEC, "size=1g,mode=1777")
    return root


def _disk(where, gb, free_gb, image, inodes=INODES):
    """A file system of that size.  It takes no memory before it is written to.

    An empty one is a tmpfs.  One that is nearly full is ext4, where one unwritten file can hold the space."""
    if free_gb is None:
        mount("tmpfs", where, "tmpfs", 0, f"size={int(gb * 2**20)}k,nr_inodes={inodes},mode=755")
        return
    with open(image, "wb") as fh:
        fh.truncate(int(gb * 2**30))
    system.run(["mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=1,nodiscard", image])
    system.run(["mount", "-o", "loop", image, where])
    os.unlink(image)


def _fill(where, free_gb):
    """Leave only so much free, at last: what is made before needs space too."""
    if free_gb is None:
        return
    size = os.statvfs(where)
    fd = os.open(where + "/.filler", os.O_CREAT | os.O_WRONLY, 0o600)
    space = size.f_bavail * size.f_frsize
    notes = 2**14 + space // 2**22  # what the file system itself needs to note where so large a file lies
    os.posix_fallocate(fd, 0, max(1, space - max(notes, int(free_gb * 2**30))))
    os.close(fd)


def _overlay(source, where, below, volume):
    mount(source, where, "overlay", 0, f"lowerdir={':'.join(below)},upperdir={volume}/upper,workdir={volume}/work")


# ------------------------------------------------------------------------------------- pseudo file systems
def _fake_files(host):
    """Files to lay over /proc and /sys, by path."""
    fakes = {"/proc/cmdline": "BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 ro quiet\n",
             "/proc/loadavg": "0.08 0.05 0.01 1/90 321\n", "/proc/meminfo": _meminfo(int(host["mem_mb"] * 1024))}
    count = host["cpus"]
    if count:
        fakes["/proc/cpuinfo"] = _cpuinfo(count)
        for kind in ("online", "possible", "present"):
            fakes["/sys/devices/system/cpu/" + kind] = f"0-{count - 1}\n" if count > 1 else "0\n"
    fakes.update({f"/proc/{name}": text for name, text in host["proc"].items()})
    return fakes


def _meminfo(kb):
    shares = {"MemTotal": 1, "MemFree": .5, "MemAvailable": .7, "Buffers": .02, "Cached": .18, "SwapCached": 0,
              "SwapTotal": 0, "SwapFree": 0}
    lines = []
    for line in read("/proc/meminfo").splitlines():
        key = line.split(":")[0]
        lines.append(f"{key + ':':<15}{int(kb * shares[key]):>10} kB" if key in shares else line)
    return "\n".join(lines) + "\n"


def _cpuinfo(count):
    blocks, lines = read("/proc/cpuinfo").strip().split("\n\n"), []
    for k in range(count):
        own = {"processor": k, "siblings": count, "core id": k, "cpu cores": count, "apicid": k,
               "initial apicid": k, "physical id": 0}
        for line in blocks[k % len(blocks)].splitlines():
            key = line.split("\t")[0]
            lines.append(f"{line.split(':')[0]}: {own[key]}" if key in own else line)
        lines.append("")
    return "\n".join(lines) + "\n"


def _pseudo_file_systems(host, root, ready):
    mount("proc", root + "/proc", "proc", NOSUID | NODEV | NOEXEC)
    mount("sysfs", root + "/sys", "sysfs", NOSUID | NODEV | NOEXEC | RDONLY)
    mount("tmpfs", root + "/sys/fs/cgroup", "tmpfs", NOSUID | NODEV | NOEXEC, "size=64k,mode=755")
    for path, text in {"cgroup.controllers": "cpu memory\n", **host["cgroup"]}.items():
        layers.Layer(root).put(f"/sys/fs/cgroup/{path}", text)
    mount("tmpfs", root + "/dev", "tmpfs", NOSUID, "size=64k,mode=755")
    os.umask(0)
    for name, numbers in DEVICES.items():
        os.mknod(f"{root}/dev/{name}", stat.S_IFCHR | 0o666, os.makedev(*numbers))
    os.umask(0o022)
    for name, target in DEVICE_LINKS.items():
        os.symlink(target, f"{root}/dev/{name}")
    for name in ("pts", "shm"):
        os.mkdir(f"{root}/dev/{name}")
    mount("devpts", root + "/dev/pts", "devpts", NOSUID | NOEXEC, "newinstance,ptmxmode=0666,mode=620,gid=5")
    mount("tmpfs", root + "/dev/shm", "tmpfs", NOSUID | NODEV, "size=64m")
    mount("tmpfs", root + "/run", "tmpfs", NOSUID | NODEV, "size=256m,mode=755")
    for name in ("sshd", "lock", "sudo", ".lab"):
        os.mkdir(f"{root}/run/{name}", 0o755)
    hostfiles.write_given(host, layers.Layer(root), in_run=True)
    for k, (path, text) in enumerate(_fake_files(host).items()):
        with open(f"{root}/run/.lab/{k}", "w") as fh:
            fh.write(text)
        mount(f"{root}/run/.lab/{k}", root + path, None, BIND)
    for path, flags in (("/proc/sys", RDONLY), ("/proc/sys/net", 0)):  # the network's settings are the host's own
        mount(root + path, root + path, None, BIND)
        mount(None, root + path, None, BIND | REMOUNT | NOSUID | NODEV | NOEXEC | flags)
    if os.path.exists(root + "/proc/sysrq-trigger"):
        mount(root + "/dev/null", root + "/proc/sysrq-trigger", None, BIND)
    tree = hostfiles.pyenv_tree(host["python"])
    if tree:
        mount(tree, root + "/opt/python", None, BIND)
    if host["hang_mount"]:
        # Nobody ever answers on this FUSE connection, so whoever looks at the mount waits, as with a dead NFS
        # server.  The waiters can be killed, and all are let go when the holder dies.
        fd = os.open("/dev/fuse", os.O_RDWR)
        mount("nas.lab:/export", root + host["hang_mount"], "fuse.nfs", NOSUID | NODEV,
              f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other")
        daemon("nfsd-stale", _pause, close=ready)


def _pause():
    while True:
        signal.pause()


# -------------------------------------------------------------------------------------------- listening ports
def listening(host):
    """Open the sockets of the field `listen`; to be called in the host's network.  A dict by process name."""
    by_name = collections.defaultdict(list)
    for entry in host["listen"]:
        if not isinstance(entry, dict):
            addr, dummy, port = str(entry).removeprefix("udp:").rpartition(":")
            entry = {"addr": addr.strip("[]"), "port": port, "udp": str(entry).startswith("udp:")}
        for addr in [entry["addr"]] if entry.get("addr") else ["0.0.0.0", "::"]:
            family = socket.AF_INET6 if ":" in addr else socket.AF_INET
            sock = socket.socket(family, socket.SOCK_DGRAM if entry.get("udp") else socket.SOCK_STREAM)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((addr, int(entry["port"])))
            if not entry.get("udp"):
                sock.listen(64)
            by_name[entry.get("name", "labsrv")].append(sock)
    return by_name


def _serve(name, by_name):
    for other in by_name.keys() - {name}:
        for sock in by_name[other]:
            sock.close()  # or this process would show up as its owner
    socks = by_name[name]
    while True:
        for sock in select.select(socks, [], [])[0]:
            if sock.type == socket.SOCK_DGRAM:
                sock.recvfrom(65536)
            else:
                sock.accept()[0].close()


# ------------------------------------------------------------------------------------------------------ init
def become_init(host, root, sockets, ready):
    """Runs as the host's first process and turns into its init program.

    READY is closed by that; the parent waits for it."""
    os.setsid()
    system.unshare(system.NEWNS)  # or pivot_root would move the parent too
    _pseudo_file_systems(host, root, ready)
    system.pivot_root(root)
    socket.sethostname(host["name"])
    log = os.open("/run/.lab/init.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    for target, fd in ((0, os.open("/dev/null", os.O_RDONLY)), (1, log), (2, log)):
        os.dup2(fd, target)
    for name in sockets:
        daemon(name, _serve, name, sockets, close=ready)
    system.drop_capabilities()
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    cpus = sorted(os.sched_getaffinity(0))
    if host["cpus"] and host["cpus"] < len(cpus):
        os.sched_setaffinity(0, {cpus[(host["n"] + k) % len(cpus)] for k in range(host["cpus"])})
    program = "" if host["down"] else "/usr/sbin/sshd -D & "
    if str(host["ntp"]).startswith("chrony-"):
        program += "install -d -o _chrony -m 750 /run/chrony; chronyd -x -d -f /etc/chrony/lab.conf >/dev/null 2>&1 & "
    # dash reaps orphans while it waits, and lives on when sshd dies.
    program += "wait; while :; do sleep 9999 & wait; done"
    os.symlink("/bin/sh", "/run/.lab/init")
    os.execve("/run/.lab/init", ["/sbin/init", "-c", program, ""], {"PATH": PATH})
