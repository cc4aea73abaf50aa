# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the machine is and who we are on it: os-release, architecture, sudo, apt, CPUs and memory."""

import os
import pwd
import re
import shlex
import time

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find, first_line, text_of

# os-release(5): the second counts where the first is not there.
OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")

# What some kernels and emulators call them.
ALIASES = {"arm64": "aarch64", "amd64": "x86_64"}


def login():
    uid = os.getuid()
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        user = str(uid)
    return {"ok": True, "user": user, "uid": uid}


def system():
    text = text_of(next((path for path in OS_RELEASE if os.path.exists(path)), OS_RELEASE[0]))
    values = parse_os_release(text)
    if not values.get("ID"):
        raise Unmeasured("os-release holds no ID")
    return {
        "id": values["ID"],
        "version": values.get("VERSION_ID") or None,
        "name": values.get("PRETTY_NAME") or values.get("NAME") or values["ID"],
    }


def parse_os_release(text):
    """os-release(5): assignments as a shell would read them; lines that are none are passed over."""
    values = {}
    for line in text.splitlines():
        key, sign, value = line.strip().partition("=")
        if not sign or key.startswith("#"):
            continue
        try:
            values[key.strip()] = "".join(shlex.split(value))
        except ValueError:  # a quote that is not closed
            values[key.strip()] = value.strip("'\" ")
    return values


def architecture():
    """As uname -m says, by the name that Linux has for it."""
    name = os.uname().machine
    return ALIASES.get(name, name)


def libc():
    """The C library, by whose rules text is sorted, such as glibc 2.36; None where it is another."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or None
    except (ValueError, OSError):
        return None


def apt():
    return find("apt-get") is not None


def sudo(limit_s):
    """How this user becomes root. Asked once: each refusal may be mailed to root.

    -k: a password that was typed a minute ago does not count, and none is remembered. id -u: it may say yes and not do it.
    waited_s is the least time for which sudo did not run though the machine would have let it; absent where that can't be told.
    """
    if os.getuid() == 0:
        return {"how": "root"}
    path = find("sudo")
    if not path:
        return {"how": "missing"}
    begun, busy = time.monotonic(), pressure_s()
    status, out, err = command([path, "-k", "-n", "id", "-u"], limit_s)
    waited = {} if busy is None else {"waited_s": round(max(0.0, time.monotonic() - begun - (pressure_s() - busy)), 1)}
    if status == 0 and out.split()[-1:] == ["0"]:  # what comes before may be a wrapper's greeting
        return dict(waited, how="nopasswd")
    # sudo, and sudo-rs in its versions up to and since 0.2.6
    if re.search("password is required|authentication is required", err, re.I):
        return dict(waited, how="password")
    refusal = re.search("^.*(not in the sudoers|may not run|not allowed|i'm sorry).*", err, re.I | re.M)
    if refusal:  # before it may stand that the hostname can not be resolved
        return dict(waited, how="denied", reason=first_line(refusal.group()))
    raise Unmeasured("sudo -k -n id -u: %s" % (first_line(err) or first_line(out) or "exit status %d" % status))


def pressure_s():
    """Seconds so far in which any program waited for CPU, memory or disk, added up; None where the kernel does not tell.

    See accounting/psi.rst of the kernel. In all other time, one that does not get on waits for something else.
    """
    try:
        told = [re.search(r"^some .*total=(\d+)$", text_of("/proc/pressure/" + kind), re.M) for kind in ("cpu", "memory", "io")]
    except Unmeasured:
        return None
    return sum(int(found.group(1)) for found in told) / 1e6 if all(told) else None


def cpus():
    """CPUs that this process may use, which is what processor_nproc is in Ansible's facts; those built in may be more."""
    return len(os.sched_getaffinity(0))


def cpus_online():
    """CPUs that the system runs on, whether this process may use them or not."""
    return os.sysconf("SC_NPROCESSORS_ONLN")


def memory_mb():
    """MemTotal in whole MB, as memtotal_mb is in Ansible's facts."""
    found = re.search(r"^MemTotal: *(\d+) kB$", text_of("/proc/meminfo"), re.M)
    if not found:
        raise Unmeasured("/proc/meminfo does not hold MemTotal")
    return int(found.group(1)) // 1024
