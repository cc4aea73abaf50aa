#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

DOCUMENTATION = r"""
module: probe
short_description: Read what an install needs to know of a machine
description:
  - Reads one machine in one task, with one start of Python there, and changes nothing on it.
  - Returns a record for every machine, whatever happens. A machine that can not be reached, or on which Python does not run, has a
    record too, with the reason under C(login). This task never fails a host and never makes it unreachable.
  - Runs as the user that logs in, whatever C(become) says, since what that user may do is part of what is read.
  - The clock is bounded by each exchange that carries a reading of it, and asked for again until the verdict is certain.
  - A section of the record that could not be read is absent, and named with the reason under C(unmeasured).
author: llmgw (@llmgw)
options:
  machines:
    description:
      - All machines of the play, as the action P(llmgw.preflight.plan#module) settles them.
      - This machine tries to reach each of the others.
      - Without it the machine is read alone.
    type: list
    elements: dict
    default: []
    suboptions:
      machine:
        description: The name in the inventory.
        type: str
        required: true
      address:
        description: The name or address by which the others reach it.
        type: str
        required: true
      port:
        description: Its SSH port.
        type: int
        default: 22
      examined:
        description: Whether it is read too, and not only tried to be reached.
        type: bool
        default: true
      roles:
        description: The ids of its roles.
        type: list
        elements: str
        default: []
      serves:
        description: The models that it will serve, with C(name), C(memory_mb) and what else they ask for.
        type: list
        elements: dict
        default: []
      internet_urls:
        description: The web addresses that must answer from it.
        type: list
        elements: str
        default: []
  internet_urls:
    description: The web addresses that must answer, instead of those of this machine's entry in O(machines).
    type: list
    elements: str
  packages:
    description: The packages of which it is asked which version apt would install.
    type: list
    elements: str
    default: []
  paths:
    description: Folders of which it is read how much space is free, besides C(/).
    type: list
    elements: str
    default: []
  writes:
    description:
      - Folders in which it is tried how long it takes until a small write is on the disk, as etcd and PostgreSQL wait for it.
      - At most 405 writes, 1 MB together, within two seconds for each filesystem, into a file that has no name.
    type: list
    elements: str
    default: []
  skip:
    description: Sections of RV(record) that are not read, any but C(login). Of the controller itself C(sudo) is never read.
    type: list
    elements: str
    default: []
  gather_subset:
    description:
      - Facts of Ansible's own that are put into the record as C(facts), as O(ansible.builtin.setup#module:gather_subset) has them.
      - Programs in /etc/ansible/facts.d are not run.
    type: list
    elements: str
    default: []
  plan:
    description:
      - What P(llmgw.preflight.plan#module) returned. Its machines and limits are taken, instead of O(machines) and O(limits).
      - The result then carries the mark of that plan, by which P(llmgw.preflight.judge#module) knows it.
    type: dict
  stand_ins:
    description: What the action tells the module of the listeners to open; leave it alone.
    type: dict
  limits:
    description: >-
      Deadlines and thresholds in seconds, put over the defaults; the role's variable
      O(llmgw.preflight.preflight#role:main:preflight_limits).
    type: dict
    default: {}
extends_documentation_fragment:
  - llmgw.preflight.attributes
seealso:
  - plugin: llmgw.preflight.evaluate
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Read each machine
  llmgw.preflight.probe:
  register: preflight_probe
"""

RETURN = r"""
record:
  description: What was read. Sections that could not be read are absent, and named under C(unmeasured) with the reason.
  type: dict
  returned: always
  sample:
    machine: db1
    address: 10.0.0.5
    roles: [database]
    local: false
    serves: []
    login: {ok: true, user: ops, uid: 1000}
    system: {id: debian, version: "12", name: Debian GNU/Linux 12 (bookworm)}
    architecture: x86_64
    sudo: {how: nopasswd, waited_s: 0.0}
    apt: true
    package_locks: []
    pending: {reboot: false, reboot_for: [], cloud_init: null}
    dpkg: {interrupted: false, unfinished: [], held: []}
    apt_sources: {problems: [], unread: [], lists_age_s: 14130, without_list: []}
    candidates: [{package: postgresql, installed: null, candidate: 15+248+deb12u1}]
    mirrors: [{source: "http://deb.debian.org/debian bookworm", ok: true, via: direct, stage: null, reason: null, seconds: 0.04}]
    cpus: 4
    cpus_online: 4
    cpu_level: 3
    memory_mb: 7950
    swap: {swap_mb: 0, overcommit_memory: 0}
    confinement: {cpus: null, memory_mb: null}
    disks: [{path: /, mount: /, filesystem: "8:1", free_bytes: 46523842560, inodes: 3932160, inodes_free: 3781022, read_only: false}]
    silent_mounts: []
    disk_speed: [{path: /var/lib/etcd, mount: /, writes: 50, p99_s: 0.0012, busy: null}]
    temp: [{path: /tmp, problem: null, noexec: false, free_bytes: 46523842560},
      {path: /var/tmp, problem: null, noexec: false, free_bytes: 46523842560}]
    locales: [C.UTF-8]
    time_sources: [chrony]
    firewall: {by: ufw, open: [{first: 22, last: 22}], unread: null}
    clock: {offset_s: 0.0031, error_s: 0.008}
    libc: glibc 2.36
    identity:
      machine_id: 7f1c9b0c3f0a4d6a9a1e5a3c1b2d4e6f
      host_keys: ["SHA256:LKKQGTEV/tG5KqpmoaVuSnnKg+DhJnLQIonctOaLx9c"]
      hostname: db1
      addresses: [10.0.0.5]
      macs: ["52:54:00:8a:31:05"]
    names: {own: {name: db1, addresses: [127.0.1.1]}, looked_up: 2, nobody: [], loopback: []}
    listening: [{port: 22, address: 0.0.0.0, process: null, user: root}]
    internet: [{url: "http://deb.debian.org/", ok: true, via: direct, stage: null, reason: null, seconds: 0.03}]
    reach: {tried: 2, open: 2, seconds: {median: 0.0004, max: 0.0012}, not_open: []}
    unmeasured: {time_sync: "chronyc: not found", gpus: it was not asked for}
"""

import os
import time

# As early as can be: the later it is read, the less it tells of when it was asked for.
STARTED = time.time()

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.llmgw.preflight.plugins.module_utils import system
from ansible_collections.llmgw.preflight.plugins.module_utils.apt_sources import apt_sources, ask_apt
from ansible_collections.llmgw.preflight.plugins.module_utils.candidates import candidates
from ansible_collections.llmgw.preflight.plugins.module_utils.confinement import confinement
from ansible_collections.llmgw.preflight.plugins.module_utils.cpu_level import cpu_level
from ansible_collections.llmgw.preflight.plugins.module_utils.disk_speed import disk_speed
from ansible_collections.llmgw.preflight.plugins.module_utils.disks import disks, silent_mounts
from ansible_collections.llmgw.preflight.plugins.module_utils.dpkg import dpkg
from ansible_collections.llmgw.preflight.plugins.module_utils.facts import facts
from ansible_collections.llmgw.preflight.plugins.module_utils.firewall import firewall
from ansible_collections.llmgw.preflight.plugins.module_utils.gpus import gpus
from ansible_collections.llmgw.preflight.plugins.module_utils.identity import identity
from ansible_collections.llmgw.preflight.plugins.module_utils.internet import apt_configuration, internet
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
from ansible_collections.llmgw.preflight.plugins.module_utils.temp import temp
from ansible_collections.llmgw.preflight.plugins.module_utils.time_sources import time_sources
from ansible_collections.llmgw.preflight.plugins.module_utils.time_sync import time_sync


def main():
    module = AnsibleModule(
        argument_spec=dict(
            machines=dict(
                type="list",
                elements="dict",
                default=[],
                options=dict(
                    machine=dict(type="str", required=True),
                    address=dict(type="str", required=True),
                    port=dict(type="int", default=22),
                    examined=dict(type="bool", default=True),
                    roles=dict(type="list", elements="str", default=[]),
                    serves=dict(type="list", elements="dict", default=[]),
                    internet_urls=dict(type="list", elements="str", default=[]),
                ),
            ),
            internet_urls=dict(type="list", elements="str"),
            packages=dict(type="list", elements="str", default=[]),
            paths=dict(type="list", elements="str", default=[]),
            writes=dict(type="list", elements="str", default=[]),
            limits=dict(type="dict", default={}),
            skip=dict(type="list", elements="str", default=[]),
            gather_subset=dict(type="list", elements="str", default=[]),
            plan=dict(type="dict"),
            stand_ins=dict(type="dict", no_log=False),
        ),
        supports_check_mode=True,
    )
    # The action sends the other machines only, and every limit.
    urls, limits = module.params["internet_urls"] or [], module.params["limits"]
    peers = [{key: peer[key] for key in ("machine", "address", "port")} for peer in module.params["machines"]]
    command_s = limits["command_s"]
    sources, configuration = once(lambda: ask_apt(2 * command_s)), once(lambda: apt_configuration(command_s))
    writes = [] if "disk_speed" in module.params["skip"] else module.params["writes"]
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
        "dpkg": (dpkg, command_s),
        "apt_sources": (lambda: apt_sources(sources), 3 * command_s),
        "candidates": (lambda: candidates(module.params["packages"], 2 * command_s), 3 * command_s),
        "mirrors": (lambda: mirrors(sources, limits["internet_s"], configuration), 2 * command_s + 2 * limits["internet_s"]),
        "cpus": (lambda: system.cpus(module), command_s),
        "cpus_online": (system.cpus_online, command_s),
        "cpu_level": (cpu_level, command_s),
        "memory_mb": (lambda: system.memory_mb(module), command_s),
        "swap": (swap, command_s),
        "gpus": (lambda: gpus(command_s), 2 * command_s),
        "confinement": (confinement, command_s),
        "disks": (lambda: disks(module.params["paths"], command_s), 2 * command_s),
        "silent_mounts": (lambda: silent_mounts(command_s), 2 * command_s),
        "disk_speed": (disk_speed(writes, limits["sync_warn_s"]), 3 * command_s),
        "temp": (temp, command_s),
        "locales": (lambda: locales(command_s), 2 * command_s),
        "time_sync": (lambda: time_sync(command_s), 3 * command_s),
        "time_sources": (time_sources, command_s),
        "listening": (listening, command_s),
        "firewall": (lambda: firewall(command_s), 3 * command_s),
        "internet": (lambda: internet(urls, limits["internet_s"], configuration), 2 * limits["internet_s"]),
        "reach": (lambda: reach(peers, limits["reach_s"]), 2 * limits["reach_s"]),
    }
    if module.params["gather_subset"]:
        readers["facts"] = (lambda: facts(module, module.params["gather_subset"]), limits["read_s"])
    for section in module.params["skip"]:
        readers.pop(section, None)
    sections, unmeasured = read_all(readers, limits["read_s"])
    if unmeasured.pop("login", None):  # a directory that does not answer hides the name, not that we are in
        sections["login"] = {"ok": True, "user": str(os.getuid()), "uid": os.getuid()}
    if module.params["stand_ins"]:  # last, so that they are not found by what looks for busy ports
        asked = module.params["stand_ins"]
        ports = dict((int(port), number) for port, number in asked["ports"].items())
        ours = [entry["port"] for entry in sections.get("listening", []) if entry["process"] == NAME]
        try:
            if time.time() - STARTED > asked["within_s"]:
                raise Unmeasured("it was too late when everything else was read")
            sections["stand_ins"] = open_stand_ins(ports, asked["token"], asked["me"], asked["lifetime_s"], ours)
        except Exception as error:  # costs that section only
            unmeasured["stand_ins"] = "%s: %s" % (type(error).__name__, error)
    module.exit_json(changed=False, sections=sections, unmeasured=unmeasured, started=STARTED, ended=time.time())


if __name__ == "__main__":
    main()
