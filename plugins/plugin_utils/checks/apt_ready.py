# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Can packages be installed now?

Failures, since apt-get install or apt-get update ends with an error then: a package that dpkg left half-installed or half-configured, or
without what it depends on, or changes of its that were interrupted; sources that apt can not make out; a package that the roles need, which
apt has from none of its sources, or which is on hold and not there.

Warnings, since an install may get by: a lock of dpkg or apt that another program holds, also an unattended upgrade (ansible/ansible#51663:
an install waits for it, or fails); a reboot that is pending; cloud-init that has not finished; a package that is unpacked only; package
lists that are older than 30 days (a mirror keeps no version that a newer one has taken the place of, so what an old list names is
gone); a needed package that is there in an older version and on hold, which stays so.

While dpkg or an unattended upgrade is at work, states that it passes through are none to judge. A machine without any package lists is as a
new image is, and an install begins with apt-get update: only what the roles need can not be told of then, nor where a source was added
since. Names of needed packages are those that the install takes from the machine's own sources; what it takes from a repository that it
adds is not asked for. Left out where apt-get is not there, which the check packages tells.
"""

from __future__ import annotations

import shlex
import typing as t
from collections.abc import Mapping

from .. import commands
from ..model import Asked, Level, Unmeasured, Verdict, fail, ok, section, several, warn

ID = "apt_ready"
WORST = Level.FAIL
FIX_UNREAD = "Run apt-get check there as root and see what it says."

FIX_SOURCES = ("Mend the file that is named (man sources.list has the forms), or install what has the method that is not found "
               "(apt-transport-tor has tor+http); apt-get update tells whether it can be read.")
FIX_UNREADABLE = "Let this user read it, or run apt-get update there as root and see what it says."
FIX_LISTS = "Run apt-get update there."
FIX_DPKG = "Run dpkg --configure -a and then apt-get --fix-broken install there; dpkg --audit tells what is still amiss."
KEPT = ("--force-confdef", "--force-confold")  # a file of settings that somebody changed stays so, without a question
COMMANDS_DPKG = (
    f"DEBIAN_FRONTEND=noninteractive dpkg {' '.join(KEPT)} --configure -a",
    f"DEBIAN_FRONTEND=noninteractive apt-get -y --no-remove {' '.join(f'-o Dpkg::Options::={option}' for option in KEPT)} "
    "--fix-broken install",
)
FIX_MISSING = ("See what apt-cache policy says of it there: enable the part of the archive that has it (universe on Ubuntu), take a pin "
               "away, or name in preflight_packages what this install takes from the machine's own sources.")
FIX_HELD = "Take it off hold there (apt-mark unhold), or leave it as it is if the install takes it in that version too."
FIX_HELD_BACK = "Take it off hold there (apt-mark unhold), since the install needs it."
FIX_LOCKED = ("Wait until that program has finished (ps -fp shows it by its number), or stop it: the install would wait for the lock or "
              "fail.")
FIX_REBOOT = "Reboot it before the install, so that nobody has to in the middle of it."
FIX_CLOUD_INIT = ("Wait for it (cloud-init status --wait), since it may install packages too; cloud-init status --long tells what holds "
                  "it up.")

LISTS_DAYS = 30
DAY_S = 24 * 3600
OF_DPKG = ("/var/lib/dpkg/", "/run/unattended-upgrades.lock")  # held while states of packages change
HALF = ("half-installed", "half-configured", "reinstreq")

LOCKS = [{"path": str, "pid": int, "process": (str, type(None))}]
PENDING = {"reboot": bool, "reboot_for": [str], "cloud_init": (str, type(None))}
DPKG = {"interrupted": bool, "unfinished": [{"package": str, "state": str}], "held": [str]}
UNMET = {"unmet": [str]}
SOURCES = {"problems": [str], "unread": [str], "lists_age_s": (int, float, type(None)), "without_list": [str]}
CANDIDATES = [{"package": str, "installed": (str, type(None)), "candidate": (str, type(None))}]

Told = t.Iterator[Verdict]


def judge(record: Mapping[str, t.Any], asked: Asked) -> Verdict | None:
    if record.get("apt") is False:
        return None
    told: list[Verdict] = []
    for part, worst in ((_sources, fail), (_dpkg, fail), (_packages, fail), (_locks, warn), (_pending, warn)):
        try:
            told += part(record, asked)
        except Unmeasured as problem:
            told.append(worst(f"could not be read: {problem}", FIX_UNREAD))
    bad = [verdict for verdict in told if verdict.level]
    details = "; ".join(dict.fromkeys([verdict.detail for verdict in bad or told]))
    if not bad:
        return ok(details)
    given = dict.fromkeys(command for one in bad for command in one.commands)
    return Verdict(max(verdict.level for verdict in bad), details, " ".join(dict.fromkeys([verdict.fix for verdict in bad])), tuple(given))


def _locks(record: Mapping[str, t.Any], asked: Asked) -> Told:
    held = section(record, "package_locks", LOCKS)
    if not held:
        yield ok("no program holds the locks of dpkg and apt")
    for lock in held:
        number = f" (process {lock['pid']})" if lock["pid"] > 0 else ""  # the kernel tells none of another container, or of any process
        yield warn(f"{lock['path']} is held by {lock['process'] or 'a program'}{number}", FIX_LOCKED)


def _pending(record: Mapping[str, t.Any], asked: Asked) -> Told:
    pending = section(record, "pending", PENDING)
    if pending["reboot"]:
        packages = several(pending["reboot_for"], most=4)
        yield warn(f"a reboot is pending{f' for {packages}' if packages else ''}", FIX_REBOOT)
    stage = pending["cloud_init"]
    if stage is not None:
        yield warn(f"cloud-init has not finished{f' (it is at {stage})' if stage else ''}", FIX_CLOUD_INIT)


def _dpkg(record: Mapping[str, t.Any], asked: Asked) -> Told:
    dpkg = section(record, "dpkg", DPKG)
    if not dpkg["interrupted"] and not dpkg["unfinished"] and dpkg.get("unmet", []) == []:  # a record of before has none
        return
    if any(lock["path"].startswith(OF_DPKG) for lock in _read(record, "package_locks", LOCKS) or ()):
        return  # it is in the middle of it
    if dpkg["interrupted"]:
        yield fail("dpkg was interrupted, and has not taken in what it did", FIX_DPKG, *COMMANDS_DPKG)
    states: dict[str, list[str]] = {}
    for entry in dpkg["unfinished"]:
        states.setdefault(entry["state"], []).append(entry["package"])
    for state, packages in states.items():
        level = fail if any(half in state for half in HALF) else warn
        yield level(f"{state}: {several(packages)}", FIX_DPKG, *COMMANDS_DPKG)
    unmet = section(record, "dpkg", UNMET)["unmet"] if "unmet" in dpkg else ()
    if unmet:
        yield fail(f"what is depended on is not there: {several(unmet, '; ', most=3)}", FIX_DPKG, *COMMANDS_DPKG)


def _sources(record: Mapping[str, t.Any], asked: Asked) -> Told:
    sources = section(record, "apt_sources", SOURCES)
    for problem in sources["problems"]:
        yield fail(f"apt can not make out its sources: {problem}", FIX_SOURCES)
    if sources["unread"]:
        yield warn(f"this user can not read {several(sources['unread'])}", FIX_UNREADABLE)
    age = sources["lists_age_s"]
    if age is None:
        yield ok("no package lists yet, which an install fetches first")
    elif age > LISTS_DAYS * DAY_S:
        yield warn(f"the package lists are {age // DAY_S:.0f} days old", FIX_LISTS, commands.UPDATE)


def _packages(record: Mapping[str, t.Any], asked: Asked) -> Told:
    """Of each entry, which may be several names for one thing, the first that apt has is the one that counts."""
    if not asked.need.packages:
        return
    sources = _read(record, "apt_sources", SOURCES)
    if sources and sources["problems"] and "candidates" not in record:
        return  # apt tells of nothing until it can make out its sources
    try:
        known = {entry["package"]: entry for entry in section(record, "candidates", CANDIDATES)}
    except Unmeasured:
        if sources and sources["lists_age_s"] is None:  # without lists apt takes a setting that names their release for an error
            yield _missing(several([" or ".join(entry.split(" | ")) for entry in asked.need.packages]), sources)
            return
        raise
    held = (_read(record, "dpkg", DPKG) or {"held": ()})["held"]
    found, missing = [], []
    for entry in asked.need.packages:
        names = entry.split(" | ")
        unasked = [name for name in names if name not in known]
        if unasked:
            raise Unmeasured(f"it was not asked for {', '.join(unasked)}")
        package = next((known[name] for name in names if known[name]["candidate"]), None)
        if not package:
            missing.append(" or ".join(names))
            continue
        name, installed, candidate = (package[key] for key in ("package", "installed", "candidate"))
        if name not in held or installed == candidate:
            found.append(f"{name} {candidate}")
        elif installed:
            yield warn(f"{name} is on hold in version {installed} ({candidate} is there)", FIX_HELD)
        else:
            yield fail(f"{name} is on hold, so that it is not installed", FIX_HELD_BACK, f"apt-mark unhold {shlex.quote(name)}")
    if missing:
        yield _missing(several(missing), sources)
    if found:
        yield ok(f"apt has {several(found)}")


def _missing(packages: str, sources: Mapping[str, t.Any] | None) -> Verdict:
    if sources and sources["lists_age_s"] is None:
        return warn(f"whether apt has {packages} can not be told before apt-get update, without package lists", FIX_LISTS,
                    commands.UPDATE)
    if sources and sources["without_list"]:
        return warn(f"apt has no {packages}, but no list yet of {several(sources['without_list'])}", FIX_LISTS, commands.UPDATE)
    if sources and sources["unread"]:
        return warn(f"apt has no {packages} in those of its sources that this user can read", FIX_UNREADABLE)
    return fail(f"apt has no {packages}", FIX_MISSING)


def _read(record: Mapping[str, t.Any], name: str, shape: t.Any) -> t.Any:
    """A section that another part tells of where it could not be read; None then."""
    try:
        return section(record, name, shape)
    except Unmeasured:
        return None
