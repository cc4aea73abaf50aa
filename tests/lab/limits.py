"""The kernel's limits on neighbours, raised while any lab is up.

The kernel counts the neighbours of all namespaces together against these limits, which only its first namespace
has.  With the default of 1024, forty machines that all try each other lose packets.  Labs may overlap in time, so
each is noted in a shared folder and the last to go puts the old values back.
"""
import contextlib
import fcntl
import json
import os
import shutil

from .system import read

NOTES = "/run/llmgw-lab-limits"  # on a tmpfs, so it goes when the machine restarts, like the limits
WANTED = {f"/proc/sys/net/{family}/neigh/default/gc_thresh{k}": 4096 << k
          for family in ("ipv4", "ipv6") for k in (1, 2, 3)}


def raise_for(name):
    """See to it that the limits are high enough until restore_for(NAME)."""
    with _lock():
        os.makedirs(NOTES + "/users", exist_ok=True)
        open(f"{NOTES}/users/{name}", "w").close()
        if not os.path.exists(NOTES + "/original"):
            found = {path: read(path).strip() for path in WANTED}
            lower = {path: int(value) for path, value in found.items() if value and int(value) < WANTED[path]}
            with open(NOTES + "/original", "w") as fh:  # before the change, so that a crash loses nothing
                json.dump(lower, fh)
        _set({path: WANTED[path] for path in json.loads(read(NOTES + "/original"))})


def restore_for(name):
    """NAME needs them no more."""
    with _lock():
        if not os.path.exists(f"{NOTES}/users/{name}"):
            return
        os.unlink(f"{NOTES}/users/{name}")
        if not os.listdir(NOTES + "/users"):
            _set(json.loads(read(NOTES + "/original", "{}")))
            shutil.rmtree(NOTES)


@contextlib.contextmanager
def _lock():
    fd = os.open(os.path.dirname(NOTES), os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _set(values):
    for path, value in values.items():
        with open(path, "w") as fh:
            fh.write(str(value))
