# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Reads one machine: every section of its record that the machine itself can tell."""

import os
import select
import time

from ansible_collections.llmgw.preflight.plugins.module_utils import system
from ansible_collections.llmgw.preflight.plugins.module_utils.apt_configuration import apt_configuration
from ansible_collections.llmgw.preflight.plugins.module_utils.apt_sources import apt_sources, ask_apt
from ansible_collections.llmgw.preflight.plugins.module_utils.candidates import candidates
from ansible_collections.llmgw.preflight.plugins.module_utils.confinement import confinement
from ansible_collections.llmgw.preflight.plugins.module_utils.cpu_level import cpu_level
from ansible_collections.llmgw.preflight.plugins.module_utils.disk_speed import disk_speed
from ansible_collections.llmgw.preflight.plugins.module_utils.disks import disks, silent_mounts
from ansible_collections.llmgw.preflight.plugins.module_utils.dpkg import dpkg
from ansible_collections.llmgw.preflight.plugins.module_utils.firewall import firewall
from ansible_collections.llmgw.preflight.plugins.module_utils.gpus import gpus
from ansible_collections.llmgw.preflight.plugins.module_utils.identity import identity
from ansible_collections.llmgw.preflight.plugins.module_utils.internet import internet
from ansible_collections.llmgw.preflight.plugins.module_utils.listening import listening
from ansible_collections.llmgw.preflight.plugins.module_utils.locales import locales
from ansible_collections.llmgw.preflight.plugins.module_utils.mirrors import mirrors
from ansible_collections.llmgw.preflight.plugins.module_utils.names import names
from ansible_collections.llmgw.preflight.plugins.module_utils.package_locks import package_locks
from ansible_collections.llmgw.preflight.plugins.module_utils.pending import pending
from ansible_collections.llmgw.preflight.plugins.module_utils.reach import reach
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, once, read_all
from ansible_collections.llmgw.preflight.plugins.module_utils.stand_in import NAME, open_stand_ins
from ansible_collections.llmgw.preflight.plugins.module_utils.swap import swap
from ansible_collections.llmgw.preflight.plugins.module_utils.temp import remote_tmp, temp
from ansible_collections.llmgw.preflight.plugins.module_utils.time_sources import time_sources
from ansible_collections.llmgw.preflight.plugins.module_utils.time_sync import time_sync


def main(asked, begun):
    """What the action probe asks for; ``begun`` is when this process was."""
    peers, limits = asked["peers"], asked["limits"]
    command_s = limits["command_s"]
    sources, configuration = once(lambda: ask_apt(2 * command_s)), once(lambda: apt_configuration(command_s))
    writes = [] if "disk_speed" in asked["skip"] else asked["writes"]
    readers = {  # section -> (reader, seconds it may take)
        "login": (system.login, command_s),
        "system": (system.system, command_s),
        "architecture": (system.architecture, command_s),
        "libc": (system.libc, command_s),
        "identity": (identity, command_s),
        "names": (lambda: names(peers, limits["reach_s"]), 2 * limits["reach_s"]),
        "sudo": (lambda: system.sudo(2 * command_s), 3 * command_s),
        "apt": (system.apt, command_s),
        "package_locks": (package_locks, command_s),
        "pending": (pending, command_s),
        "dpkg": (lambda: dpkg(2 * command_s), 3 * command_s),
        "apt_sources": (lambda: apt_sources(sources), 3 * command_s),
        "candidates": (lambda: candidates(asked["packages"], 2 * command_s), 3 * command_s),
        "mirrors": (lambda: mirrors(sources, limits["internet_s"], configuration), 2 * command_s + 2 * limits["internet_s"]),
        "cpus": (system.cpus, command_s),
        "cpus_online": (system.cpus_online, command_s),
        "cpu_level": (cpu_level, command_s),
        "memory_mb": (system.memory_mb, command_s),
        "swap": (swap, command_s),
        "gpus": (lambda: gpus(2 * command_s), 3 * command_s),  # nvidia-smi takes seconds for each GPU that nothing keeps awake
        "confinement": (confinement, command_s),
        "disks": (lambda: disks(asked["paths"], command_s), 2 * command_s),
        "silent_mounts": (lambda: silent_mounts(command_s), 2 * command_s),
        "disk_speed": (disk_speed(writes, limits["sync_warn_s"]), 3 * command_s),
        "temp": (temp, command_s),
        "remote_tmp": (lambda: remote_tmp(asked["remote_tmp"]), command_s),
        "locales": (lambda: locales(command_s), 2 * command_s),
        "time_sync": (lambda: time_sync(command_s), 3 * command_s),
        "time_sources": (time_sources, command_s),
        "listening": (lambda: listening(command_s / 2), command_s),
        "firewall": (lambda: firewall(command_s), 3 * command_s),
        "internet": (lambda: internet(asked["internet_urls"], limits["internet_s"], configuration), command_s + 2 * limits["internet_s"]),
        "reach": (lambda: reach(peers, limits["reach_s"]), 3 * limits["reach_s"]),
    }
    for section in asked["skip"]:
        readers.pop(section, None)
    sections, unmeasured = read_all(readers, limits["read_s"])
    if unmeasured.pop("login", None):  # a directory that does not answer hides the name, not that we are in
        sections["login"] = {"ok": True, "user": str(os.getuid()), "uid": os.getuid()}
    if asked["stand_ins"]:  # last, so that they are not found by what looks for busy ports
        wanted = asked["stand_ins"]
        ports = dict((int(port), number) for port, number in wanted["ports"].items())
        ours = [entry["port"] for entry in sections.get("listening", []) if entry["process"] == NAME]
        try:
            if time.time() - begun > wanted["within_s"]:
                raise Unmeasured("it was too late when everything else was read")
            if is_left():
                raise Unmeasured("nobody was there any more to be told")
            sections["stand_ins"] = open_stand_ins(ports, wanted["token"], wanted["me"], wanted["lifetime_s"], ours)
        except Exception as error:  # costs that section only
            unmeasured["stand_ins"] = "%s: %s" % (type(error).__name__, error)
    return {"sections": sections, "unmeasured": unmeasured, "started": begun, "ended": time.time()}


def is_left(end=1):
    """Whether nobody reads any more what this process prints, since the controller was stopped or lost."""
    waiting = select.poll()
    waiting.register(end, 0)  # what it is told of in any case: an end without a reader
    return bool(waiting.poll(0))
