from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import apt_ready
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Level, Verdict, fail, ok, warn

DAY, DPKG = 24 * 3600, apt_ready.COMMANDS_DPKG
LOCKS_OK = "no program holds the locks of dpkg and apt"
FINE = {
    "dpkg": {"interrupted": False, "unfinished": [], "held": []},
    "pending": {"reboot": False, "reboot_for": [], "cloud_init": None},
    "apt_sources": {"problems": [], "unread": [], "lists_age_s": 3600, "without_list": []},
}


def lock(path="/var/lib/dpkg/lock", process="unattended-upgr"):
    return {"path": path, "pid": 812, "process": process}


def having(section, **changed):
    return {section: {**FINE[section], **changed}}


def states(*pairs):
    return [{"package": package, "state": state} for package, state in pairs]


BROKEN = states(("openssl", "half-configured"), ("libc6", "half-configured"), ("perl", "half-installed reinstreq"))


@pytest.mark.parametrize(("sections", "verdict"), [
    ({}, ok(LOCKS_OK)),
    ({"package_locks": [{**lock("/a", None), "pid": -1}]}, warn("/a is held by a program", apt_ready.FIX_LOCKED)),
    ({"package_locks": [lock()]}, warn("/var/lib/dpkg/lock is held by unattended-upgr (process 812)", apt_ready.FIX_LOCKED)),
    ({"package_locks": [lock(process=None), lock("/b")]},
     warn("/var/lib/dpkg/lock is held by a program (process 812); /b is held by unattended-upgr (process 812)", apt_ready.FIX_LOCKED)),
    (having("pending", reboot=True), warn("a reboot is pending", apt_ready.FIX_REBOOT)),
    (having("pending", reboot=True, reboot_for=["libc6", "linux-base"]),
     warn("a reboot is pending for libc6, linux-base", apt_ready.FIX_REBOOT)),
    (having("pending", reboot=True, reboot_for=list("abcdef")),
     warn("a reboot is pending for a, b, c, d and 2 more", apt_ready.FIX_REBOOT)),
    (having("pending", reboot_for=["libc6"]), ok(LOCKS_OK)),
    (having("pending", cloud_init="modules-final"), warn("cloud-init has not finished (it is at modules-final)", apt_ready.FIX_CLOUD_INIT)),
    (having("pending", cloud_init=""), warn("cloud-init has not finished", apt_ready.FIX_CLOUD_INIT)),
    (having("dpkg", unfinished=BROKEN),
     fail("half-configured: openssl, libc6; half-installed reinstreq: perl", apt_ready.FIX_DPKG, *DPKG)),
    (having("dpkg", unfinished=states(("a", "installed reinstreq"))), fail("installed reinstreq: a", apt_ready.FIX_DPKG, *DPKG)),
    (having("dpkg", unfinished=states(("a", "unpacked"))), warn("unpacked: a", apt_ready.FIX_DPKG, *DPKG)),
    (having("dpkg", unfinished=states(("a", "unpacked")), unmet=["a : Depends: b but it is not installable"]),
     fail("unpacked: a; what is depended on is not there: a : Depends: b but it is not installable", apt_ready.FIX_DPKG, *DPKG)),
    (having("dpkg", interrupted=True), fail("dpkg was interrupted, and has not taken in what it did", apt_ready.FIX_DPKG, *DPKG)),
    (having("dpkg", held=["postgresql"]), ok(LOCKS_OK)),  # which nobody needs
    # While dpkg is at work it passes through all of these.
    ({**having("dpkg", unfinished=BROKEN, interrupted=True), "package_locks": [lock("/var/lib/dpkg/lock-frontend", "apt")]},
     warn("/var/lib/dpkg/lock-frontend is held by apt (process 812)", apt_ready.FIX_LOCKED)),
    ({**having("dpkg", unfinished=BROKEN, interrupted=True), "package_locks": [lock("/run/unattended-upgrades.lock")]},
     warn("/run/unattended-upgrades.lock is held by unattended-upgr (process 812)", apt_ready.FIX_LOCKED)),
    ({**having("dpkg", interrupted=True), "package_locks": [lock("/var/lib/apt/lists/lock", "apt")]},
     fail("dpkg was interrupted, and has not taken in what it did; /var/lib/apt/lists/lock is held by apt (process 812)",
          f"{apt_ready.FIX_DPKG} {apt_ready.FIX_LOCKED}", *DPKG)),
    (having("apt_sources", problems=["Malformed entry 1 in list file /x (Suite)"]),
     fail("apt can not make out its sources: Malformed entry 1 in list file /x (Suite)", apt_ready.FIX_SOURCES)),
    (having("apt_sources", unread=["/etc/apt/sources.list.d/own.list"]),
     warn("this user can not read /etc/apt/sources.list.d/own.list", apt_ready.FIX_UNREADABLE)),
    (having("apt_sources", lists_age_s=30 * DAY), ok(LOCKS_OK)),
    (having("apt_sources", lists_age_s=30 * DAY + 1), warn("the package lists are 30 days old", apt_ready.FIX_LISTS, "apt-get update")),
    # A new image has none, and an install begins with fetching them.
    (having("apt_sources", lists_age_s=None, without_list=["http://a x"]),
     ok(f"no package lists yet, which an install fetches first; {LOCKS_OK}")),
    # All at once, the worst level counting, what is well being left out.
    ({**having("pending", reboot=True), **having("apt_sources", lists_age_s=None), **having("dpkg", interrupted=True)},
     fail("dpkg was interrupted, and has not taken in what it did; a reboot is pending", f"{apt_ready.FIX_DPKG} {apt_ready.FIX_REBOOT}",
          *DPKG)),
])
def test_levels(record, asked, sections, verdict):
    assert apt_ready.judge(record(**sections), asked("node")) == verdict


def versions(**by_name):
    """candidates of packages: name -> (installed, candidate)."""
    return {"candidates": [{"package": name.replace("_", "-"), "installed": installed, "candidate": candidate}
                           for name, (installed, candidate) in by_name.items()]}


ETCD = {"etcd_server": (None, "3.4"), "etcd": (None, None)}
NO_LISTS = having("apt_sources", lists_age_s=None, without_list=["http://a x", "http://b y"])
ONE_LIST = having("apt_sources", without_list=["http://b y"])
HELD = having("dpkg", held=["etcd-server", "other"])


@pytest.mark.parametrize(("sections", "verdict"), [
    (versions(**ETCD), ok(f"apt has etcd-server 3.4; {LOCKS_OK}")),
    (versions(etcd_server=(None, None), etcd=(None, "3.3")), ok(f"apt has etcd 3.3; {LOCKS_OK}")),
    (versions(etcd_server=(None, None), etcd=(None, None)), fail("apt has no etcd-server or etcd", apt_ready.FIX_MISSING)),
    # What a list would tell that is not there yet is no failure, nor what this user may not read.
    ({**versions(etcd_server=(None, None), etcd=(None, None)), **NO_LISTS},
     warn("whether apt has etcd-server or etcd can not be told before apt-get update, without package lists", apt_ready.FIX_LISTS,
          "apt-get update")),
    ({**versions(etcd_server=(None, None), etcd=(None, None)), **ONE_LIST},
     warn("apt has no etcd-server or etcd, but no list yet of http://b y", apt_ready.FIX_LISTS, "apt-get update")),
    ({**versions(etcd_server=(None, None), etcd=(None, None)), **having("apt_sources", unread=["/x"])},
     warn("this user can not read /x; apt has no etcd-server or etcd in those of its sources that this user can read",
          apt_ready.FIX_UNREADABLE)),
    ({**versions(etcd_server=("3.4", "3.4"), etcd=(None, None)), **NO_LISTS},
     ok(f"no package lists yet, which an install fetches first; apt has etcd-server 3.4; {LOCKS_OK}")),
    # On hold: nothing to do, stays as it is, can't be had.
    ({**versions(etcd_server=("3.4", "3.4"), etcd=(None, None)), **HELD}, ok(f"apt has etcd-server 3.4; {LOCKS_OK}")),
    ({**versions(etcd_server=("3.3", "3.4"), etcd=(None, None)), **HELD},
     warn("etcd-server is on hold in version 3.3 (3.4 is there)", apt_ready.FIX_HELD)),
    ({**versions(**ETCD), **HELD}, fail(
        "etcd-server is on hold, so that it is not installed", apt_ready.FIX_HELD_BACK, "apt-mark unhold etcd-server")),
    # Another set of roles is judged than was read for.
    (versions(etcd=(None, None)), fail("could not be read: it was not asked for etcd-server", apt_ready.FIX_UNREAD)),
    ({"candidates": None, "unmeasured": {"candidates": "too slow"}}, fail("could not be read: too slow", apt_ready.FIX_UNREAD)),
    ({"candidates": None, "unmeasured": {"candidates": "The value 'x' is invalid for APT::Default-Release"}, **NO_LISTS},
     warn("whether apt has etcd-server or etcd can not be told before apt-get update, without package lists", apt_ready.FIX_LISTS,
          "apt-get update")),
    # Then apt says of everything only that.
    ({"candidates": None, "unmeasured": {"candidates": "apt-cache policy: Malformed"}, **having("apt_sources", problems=["Malformed"])},
     fail("apt can not make out its sources: Malformed", apt_ready.FIX_SOURCES)),
])
def test_packages_that_a_role_needs(record, asked, sections, verdict):
    assert apt_ready.judge(record(**sections), asked("etcd_witness")) == verdict


def test_what_each_role_needs_is_told_together(record, asked):
    need = dataclasses.replace(asked().need, packages=("nginx", "curl", "etcd-server | etcd"))
    found = apt_ready.judge(record(**versions(nginx=(None, None), curl=(None, None), **ETCD)), asked(need=need))
    assert found == fail("apt has no nginx, curl", apt_ready.FIX_MISSING)


@pytest.mark.parametrize(("section", "level"), [
    ("package_locks", Level.WARN), ("pending", Level.WARN), ("dpkg", Level.FAIL), ("apt_sources", Level.FAIL), ("candidates", Level.FAIL)])
def test_each_part_that_could_not_be_read_is_told_at_its_own_worst(record, asked, section, level):
    unread = record(**{section: None}, unmeasured={section: "it would not say"})
    assert apt_ready.judge(unread, asked("database")) == Verdict(level, "could not be read: it would not say", apt_ready.FIX_UNREAD)
    for junk in ("x", 5, [5], {"x": 1}):
        assert apt_ready.judge(record(**{section: junk}), asked("database")).level == level, junk


def test_a_record_of_before_says_so_once(record, asked):
    old = record(**dict.fromkeys(("package_locks", "pending", "dpkg", "apt_sources", "candidates")))
    assert apt_ready.judge(old, asked("database")) == fail("could not be read: the record does not hold it", apt_ready.FIX_UNREAD)


def test_without_apt_the_check_packages_tells_it(record, asked):
    nothing = dict.fromkeys(("package_locks", "pending", "dpkg", "apt_sources", "candidates"))
    assert apt_ready.judge(record(apt=False, **nothing), asked("node")) is None
    assert apt_ready.judge(record(apt=None, **nothing), asked("node")).level == Level.FAIL


def test_commands_of_all_that_is_wrong_come_once(record, asked):
    both = {**having("dpkg", unfinished=BROKEN, held=["etcd-server"]), **having("apt_sources", lists_age_s=99 * DAY), **versions(**ETCD)}
    found = apt_ready.judge(record(**both), asked("etcd_witness"))
    assert found.commands == ("apt-get update", *DPKG, "apt-mark unhold etcd-server")


def test_the_docs_tell_the_age():
    assert f"older than {apt_ready.LISTS_DAYS} days" in " ".join(apt_ready.__doc__.split())
