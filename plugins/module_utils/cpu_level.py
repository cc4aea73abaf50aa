# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which level of x86-64 the CPUs have, by their flags in /proc/cpuinfo."""

import os
import re

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, text_of
from ansible_collections.llmgw.preflight.plugins.module_utils.system import ALIASES

# x86-64 psABI, Micro-Architecture Levels, in the kernel's words: each level asks for those before it too. The flag of OSXSAVE is not
# shown; without it that of avx is not either.
LEVELS = (
    "cmov cx8 fpu fxsr mmx syscall sse sse2",
    "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "avx avx2 bmi1 bmi2 f16c fma abm movbe",
    "avx512f avx512bw avx512cd avx512dq avx512vl",
)
FIRST = 16384  # bytes: the first CPU's lines, and not those of hundreds


def cpu_level():
    """1 to 4; None on another architecture."""
    if ALIASES.get(os.uname().machine, os.uname().machine) != "x86_64":
        return None
    found = re.search(r"^flags\s*:(.*)$", text_of("/proc/cpuinfo", FIRST), re.M)
    if not found:
        raise Unmeasured("/proc/cpuinfo does not hold the flags of the CPU")
    flags, level = set(found.group(1).split()), 0
    for asked in LEVELS:
        if not flags.issuperset(asked.split()):
            break
        level += 1
    return max(level, 1)  # it runs, so it has the first
