#!/usr/bin/python
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

DOCUMENTATION = r"""
module: edges
short_description: Try every port that a machine will need of the others
description:
  - The second and last task on each machine, after P(llmgw.preflight.probe#module) has opened stand-ins on the ports of the roles.
  - Which machine needs which port of which other is settled by the roles, see O(llmgw.preflight.preflight#role:main:preflight_needs).
  - All ports are tried at once. One is reached if the stand-in of this run on that very machine answers, or if something listens
    where a service holds the port already.
  - Machines that are read at another time (of another batch, beyond C(--limit), or those of
    O(llmgw.preflight.preflight#role:main:preflight_peers)) have no stand-in of this run. Their ports are connected to all the same, since
    what is dropped on the way is seen so.
  - This task never fails a host and never makes it unreachable. A machine that can no longer be reached has RV(reason).
author: llmgw (@llmgw)
options:
  plan:
    description:
      - What P(llmgw.preflight.plan#module) returned.
      - An empty one stands for what is in the variable C(preflight_plan), which costs less where there are many machines.
    type: dict
    required: true
extends_documentation_fragment:
  - llmgw.preflight.attributes
seealso:
  - module: llmgw.preflight.probe
  - module: llmgw.preflight.close
"""

EXAMPLES = r"""
- name: Try the ports that each machine will need of the others
  llmgw.preflight.edges:
    plan: "{{ preflight_plan }}"
  register: preflight_calls
"""

RETURN = r"""
edges:
  description:
    - What was tried. Only what is not open is listed, and in C(elsewhere) what is open or refused on machines that are read at another
      time.
    - C(slowest) is the greatest median round trip to an etcd member, of those in C(measured). C(asked) is what was to be tried.
  type: dict
  returned: when there was something to try
  sample:
    tried: 9
    open: 7
    seconds: {median: 0.00021, max: 0.00043}
    not_open: [{machine: db2, address: 10.0.0.6, port: 2380, outcome: timeout}]
    elsewhere: [{port: 2380, outcome: refused, machines: [db3]}]
    slowest: {machine: db2, seconds: 0.00034}
    measured: [db2, db3]
    asked: 9
reason:
  description: Why the machine could not be reached any more.
  type: str
  returned: when it could not
"""

# What Python on a machine runs, as in probe.py.
STARTED = __import__("time").time()
SYS = __import__("sys")
PATH = SYS.path.__setitem__(slice(None), [folder for folder in SYS.path if folder not in ("", ".")])
FILLED_IN = r"""<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>"""
GIVEN = FILLED_IN.startswith("{") and __import__("json").loads(FILLED_IN)
DONE = GIVEN and exec(__import__("zlib").decompress(__import__("base64").b64decode(GIVEN["code"])))
