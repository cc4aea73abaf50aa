# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How much swap there is, and whether the kernel promises more memory than it has; see proc(5)."""

import os

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, text_of

SWAPS = "/proc/swaps"
OVERCOMMIT = "/proc/sys/vm/overcommit_memory"


def swap():
    # A kernel without swap has no such file.
    lines = text_of(SWAPS).splitlines()[1:] if os.path.exists(SWAPS) else []
    try:
        kilobytes = sum(int(line.split()[2]) for line in lines)  # its first word has no blanks: they are written \040
        return {"swap_mb": kilobytes // 1024, "overcommit_memory": int(text_of(OVERCOMMIT))}
    except (IndexError, ValueError) as error:
        raise Unmeasured("%s and %s are not of the known form" % (SWAPS, OVERCOMMIT)) from error
