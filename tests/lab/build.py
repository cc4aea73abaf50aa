"""Builds a lab, and then holds it together.  Runs as `python3 -m lab.build STATE_DIR`, started by Lab.up():
forking hosts off a test runner would hand them its threads, its memory and its open files.

All of a lab lives in one pid namespace, with each host's own inside it.  Its first process builds the lab, then
serves the web pages of its internet.  When that process dies, the kernel kills everything else: nothing is left
over, whatever went wrong.
"""
import json
import os
import signal
import sys
import time
import traceback

from . import boot, hostfiles, layers, meter, network, system
from .system import NEWIPC, NEWNS, NEWPID, NEWUTS, PRIVATE, REC, LabError, mount, read

JOBS = 6  # hosts made at the same time; the work is half waiting for the kernel
SSHD_PATIENCE = 30


def main(labdir):
    """Start the lab's first process and wait until it has built the lab."""
    os.umask(0o022)
    system.die_with_parent()
    system.unshare(NEWPID)  # counts for the next child
    told, ready = os.pipe()
    if os.fork():
        os.close(ready)
        return 0 if os.read(told, 1) else 1
    try:
        system.record(labdir + "/init")
        system.die_with_parent()
        web = build(labdir)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel shall bury the orphans
        system.detach("lab")
        system.die_with_parent(False)
        os.write(ready, b"y")
        os.close(ready)
        web.serve_forever()
    except BaseException as exc:  # a child may never go on with its parent's work
        sys.stderr.write(_words(exc) + "\n")
    finally:
        os._exit(1)


def build(labdir):
    """Make all hosts of STATE_DIR/state.json; returns the web server when their sshds listen."""
    state = json.loads(read(labdir + "/state.json"))
    hosts, cgroups = state["hosts"], meter.Meter(state["name"])
    cgroups.join(meter.SERVICES)
    # The lab's mounts are in a namespace of their own; the machine's mount table never shows them.
    system.unshare(NEWNS)
    mount(None, "/", None, REC | PRIVATE)
    mount("tmpfs", labdir + "/layers", "tmpfs", 0, "mode=755,size=8g")
    os.mkdir(labdir + "/layers/shared", 0o755)
    layers.make_shared(labdir + "/layers/shared", read(labdir + "/key.pub"))
    hostfiles.compile_fake(labdir, any(host["clock_offset_s"] for host in hosts))
    web = network.make_controller()
    controller = f"/proc/{os.readlink('/proc/self')}/ns/net"
    present = [host for host in hosts if not host["absent"]]
    _in_parallel(present, lambda host: _bring_up(host, hosts, labdir, cgroups, controller))
    network.plug_in(present)
    _wait_for_sshd([host for host in present if not host["down"]], labdir)
    return web


def _in_parallel(hosts, work):
    """Call WORK for each host in a child, a few at a time."""
    todo, running, failed = list(hosts), {}, []
    while todo or running:
        if todo and len(running) < JOBS:
            host = todo.pop(0)
            pid = os.fork()
            if pid:
                running[pid] = host["name"]
                continue
            try:
                work(host)
                os._exit(0)
            except BaseException as exc:  # as above
                sys.stderr.write(f"{host['name']}: {_words(exc)}\n")
            finally:
                os._exit(1)
        pid, status = os.wait()
        name = running.pop(pid, None)
        if name and status:
            failed.append(name)
    if failed:
        raise LabError(f"did not come up: {', '.join(failed)}")


def _bring_up(host, hosts, labdir, cgroups, controller):
    """Runs in a child of its own; leaves the host's first process behind."""
    network.make_host(host, hosts, controller)
    cgroups.join(meter.HOSTS)
    sockets = boot.listening(host)
    system.unshare(NEWNS | NEWUTS | NEWIPC)
    root = boot.make_root(host, hosts, labdir)
    system.unshare(NEWPID)
    told, ready = os.pipe()
    if not os.fork():
        try:
            system.record(f"{labdir}/hosts/{host['name']}")
            os.close(told)
            boot.become_init(host, root, sockets, ready)
        except BaseException as exc:  # as above
            os.write(ready, _words(exc).encode())
        finally:
            os._exit(1)
    os.close(ready)
    error = os.read(told, 4096).decode()  # nothing once it has become the init program
    if error:
        raise LabError(error)


def _wait_for_sshd(hosts, labdir):
    """Wait until each sshd listens.  Looked at from inside: the fault may be that nobody can reach it."""
    limit = time.monotonic() + SSHD_PATIENCE
    for host in hosts:
        pid = system.recorded(f"{labdir}/hosts/{host['name']}")
        run = f"/proc/{pid}/root/run"
        while not os.path.exists(run + "/sshd.pid"):
            words = read(run + "/.lab/init.log").strip()
            dead = words and not any(system.command_name(each) == "sshd" for each in system.members(pid))
            if dead or time.monotonic() > limit:
                raise LabError(f"{host['name']}: sshd does not start: {words}")
            time.sleep(0.02)


def _words(exc):
    """What to say of an exception: a fault of the machine or the spec in a line, one of the lab itself in full."""
    return str(exc) if isinstance(exc, LabError | OSError) else traceback.format_exc()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
