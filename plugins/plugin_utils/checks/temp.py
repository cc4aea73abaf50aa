# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can an install put files into /tmp and /var/tmp?

Neither taking any is a failure: programs then have no place for what they unpack. One of them is a warning (apt's downloads need /tmp,
mkinitramfs needs /var/tmp), and so is a /tmp that is

- mounted noexec: before packages are installed their questions are asked by scripts that are put there (Securing Debian Manual, 4.10.1
  Setting /tmp noexec);
- small, with less than 100 MB free: "40-100MB should usually be enough" (Debian GNU/Linux Installation Guide, C.2 The Directory Tree).

Modes, mount flags, free blocks and inodes tell, and then whether an empty file without a name can be made there.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping

from ..model import Asked, Level, Unmeasured, Verdict, fail, ok, section, warn

ID = "temp"
WORST = Level.FAIL
FIX_UNREAD = "See why it does not answer there (df /tmp /var/tmp; ls -ld /tmp /var/tmp)."
FOLDERS = ("/tmp", "/var/tmp")
SHAPE = [{"path": str, "problem": (str, type(None)), "noexec": bool, "free_bytes": int}]
MB = 2**20
SMALL_MB = 100
FIX_USE = ("Make both /tmp and /var/tmp folders with space in them that all users may write to (chmod 1777; mount -o remount,rw; "
           "df -h and df -i show what is left).")
OPEN = "is not open to all users"  # how its problem begins, see module_utils/temp.py
REMOUNT = "mount -o remount,exec /tmp"
FIX_NOEXEC = ("Let programs be run from /tmp during the install (mount -o remount,exec /tmp), or have packages' scripts put elsewhere "
              "(APT::ExtractTemplates::TempDir in /etc/apt/apt.conf.d).")
FIX_SMALL = f"Free space in /tmp or make it larger, to {SMALL_MB} MB free (du -xh /tmp | sort -h shows what is large)."


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict:
    found = {folder["path"]: folder for folder in section(record, "temp", SHAPE)}
    absent = [path for path in FOLDERS if path not in found]
    if absent:
        raise Unmeasured(f"temp does not hold {' and '.join(absent)}")
    bad = [path for path in FOLDERS if found[path]["problem"]]
    if bad:
        detail = "; ".join(f"{path} {found[path]['problem']}" for path in bad)
        commands = [f"chmod 1777 {path}" for path in bad if found[path]["problem"].startswith(OPEN)]
        return (fail if len(bad) == len(FOLDERS) else warn)(detail, FIX_USE, *commands)
    tmp = found["/tmp"]
    free = tmp["free_bytes"] // MB
    told = [(f"{free} MB free in /tmp (needs {SMALL_MB})", FIX_SMALL)] if free < SMALL_MB else []
    told += [("/tmp is mounted noexec", FIX_NOEXEC)] if tmp["noexec"] else []
    if told:
        return warn("; ".join(detail for detail, fix in told), " ".join(fix for detail, fix in told),
                    *([REMOUNT] if tmp["noexec"] else ()))
    return ok("/tmp and /var/tmp take files")
