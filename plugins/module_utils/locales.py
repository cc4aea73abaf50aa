# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which UTF-8 locales a program can use here."""

import re

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find, first_line

OURS = "C.UTF-8"  # on every Debian and Ubuntu, part of the package libc-bin
CTYPE_AND_COLLATE = 1 << 0 | 1 << 3  # newlocale(3); what PostgreSQL sorts and reads text by
MOST = 20  # names; a machine can have hundreds, and any one will do


def locales(limit_s):
    """Names of UTF-8 locales. The usual one is asked for by itself, which costs next to nothing; the others only without it."""
    if _is_there(OURS):
        return [OURS]
    path = find("locale")
    if not path:
        raise Unmeasured("there is no %s, and no program locale to tell of others" % OURS)
    status, out, err = command([path, "-a"], limit_s)
    if status:
        raise Unmeasured("locale -a: %s" % (first_line(err) or "exit status %d" % status))
    return [name for name in out.split() if re.search(r"\.utf-?8(@|$)", name, re.IGNORECASE)][:MOST]


def _is_there(name):
    try:
        import ctypes  # of which a Python that somebody built may have none

        library = ctypes.CDLL(None)
        make, unmake = library.newlocale, library.freelocale
    except (ImportError, OSError, AttributeError):
        return False
    make.restype, make.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p]
    unmake.restype, unmake.argtypes = None, [ctypes.c_void_p]
    made = make(CTYPE_AND_COLLATE, name.encode("ascii"), None)
    if made:
        unmake(made)
    return bool(made)
