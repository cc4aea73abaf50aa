# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Is the clock kept right, and by what? Any that says yes is believed; no is said only if none does."""

import struct

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find, first_line

# adjtimex(2): beyond this many microseconds nothing has corrected the clock for hours. systemd's timedated asks the same.
MAX_ERROR_US = 16000000
TIMEX, TIMEX_MOST = "Illl", 512  # struct timex: modes, offset, freq and maxerror, and what is after these; bytes


def time_sync(limit_s):
    """The kernel is asked first, since that costs nothing; programs only where it does not say yes.

    chronyd and ntpd can run without telling the kernel, and in a container the kernel's answer is the host's.
    """
    silent, no = [], None
    for name, ask in (("kernel", _kernel), ("chrony", _chrony), ("ntpd", _ntpd), ("timedatectl", _timedatectl)):
        try:
            if ask(limit_s):
                return {"synchronised": True, "by": name}
            no = no if no and name == "timedatectl" else name
        except Unmeasured as problem:
            silent.append(str(problem))
    if no is None:
        raise Unmeasured("; ".join(silent))
    return {"synchronised": False, "by": no}


def _kernel(limit_s):
    try:
        import ctypes  # of which a Python that somebody built may have none

        timex = ctypes.create_string_buffer(TIMEX_MOST)  # modes 0: only reads
        if ctypes.CDLL(None, use_errno=True).adjtimex(timex) < 0:
            raise Unmeasured("adjtimex: error %d" % ctypes.get_errno())
    except (ImportError, OSError, AttributeError) as error:
        raise Unmeasured("adjtimex: %s" % error) from error
    return struct.unpack_from(TIMEX, timex)[3] < MAX_ERROR_US


def _program(name, arguments, limit_s):
    path = find(name)
    if not path:
        raise Unmeasured("%s: not found" % name)
    status, out, err = command([path] + arguments, limit_s)
    if status:
        raise Unmeasured("%s: %s" % (name, first_line(err) or first_line(out) or "exit status %d" % status))
    return out


def _chrony(limit_s):
    # Fields of -c: the last is the leap status.
    fields = _program("chronyc", ["-c", "-n", "tracking"], limit_s).strip().split(",")
    if len(fields) < 10:
        raise Unmeasured("chronyc: no tracking data")
    return fields[-1] != "Not synchronised"


def _ntpd(limit_s):
    out = _program("ntpq", ["-c", "rv 0 leap,stratum"], limit_s)
    if "leap" not in out:
        raise Unmeasured("ntpq: %s" % (first_line(out) or "no answer"))
    return "leap=3" not in out.replace(" ", "") and "leap=11" not in out.replace(" ", "") and "stratum=16" not in out


def _timedatectl(limit_s):
    out = _program("timedatectl", ["show", "-p", "NTPSynchronized", "--value"], limit_s).strip()
    if out not in ("yes", "no"):
        raise Unmeasured("timedatectl: %s" % (first_line(out) or "no answer"))
    return out == "yes"
