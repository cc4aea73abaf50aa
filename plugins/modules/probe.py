#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

DOCUMENTATION = r"""
module: probe
short_description: Read what an install needs to know of a machine
description:
  - Reads one machine in one task, with one start of Python there, and changes nothing on it.
  - Returns a record for every machine, whatever happens. A machine that can not be reached, or on which Python does not run, has a
    record too, with the reason under C(login). This task never fails a host and never makes it unreachable.
  - Runs as the user that logs in, whatever C(become) says, since what that user may do is part of what is read. Where C(become) is not
    sudo to root, or a password for it is given, C(id -u) is run with it, to see whether that works.
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
      - That module is run for them, with a start of Python of its own. Programs in /etc/ansible/facts.d are not run.
    type: list
    elements: str
    default: []
  plan:
    description:
      - What P(llmgw.preflight.plan#module) returned. Its machines and limits are taken, instead of O(machines) and O(limits).
      - An empty one stands for what is in the variable C(preflight_plan), which costs less where there are many machines.
      - The result then carries the mark of that plan, by which P(llmgw.preflight.judge#module) knows it.
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
    dpkg: {interrupted: false, unfinished: [], held: [], unmet: []}
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
    remote_tmp: {path: /home/ops/.ansible/tmp, problem: null}
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
    names: {own: {name: db1, addresses: [127.0.1.1], answered: true}, looked_up: 2, nobody: [], loopback: []}
    listening: [{port: 22, address: 0.0.0.0, process: null, user: root}]
    internet: [{url: "http://deb.debian.org/", ok: true, via: direct, stage: null, reason: null, seconds: 0.03}]
    reach: {tried: 2, open: 2, seconds: {median: 0.0004, max: 0.0012}, not_open: []}
    unmeasured: {time_sync: "chronyc: not found", gpus: it was not asked for}
"""

# What Python on a machine runs, filled in by the action. No more than assignments: ansible-test takes any other file for an AnsibleModule.
STARTED = __import__("time").time()  # as early as can be: the later it is read, the less it tells of when it was asked for
SYS = __import__("sys")
# No file of a user's own takes the place of Python's. Written so since ansible-doc warns of what gives a value to anything but a name.
PATH = SYS.path.__setitem__(slice(None), [folder for folder in SYS.path if folder not in ("", ".")])
FILLED_IN = r"""<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>"""
GIVEN = FILLED_IN.startswith("{") and __import__("json").loads(FILLED_IN)
DONE = GIVEN and exec(__import__("zlib").decompress(__import__("base64").b64decode(GIVEN["code"])))
