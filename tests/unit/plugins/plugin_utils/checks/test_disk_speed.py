from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import disk_speed
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Need, Unmeasured, Verdict, fail, ok, warn

ETCD, POSTGRESQL = "/var/lib/etcd", "/var/lib/postgresql"
FIO = "fio --name=sync --rw=write --ioengine=sync --fdatasync=1 --bs=2300 --size=22m --directory="
SLOW = ("Put /var/lib/etcd on a faster disk (an SSD, not shared with much else): etcd and PostgreSQL wait for each write. "
        f"{FIO}/var/lib/etcd measures it longer.")
BY_ROOT = f"Measure it by hand, as root ({FIO}/var/lib/etcd), or log in as root for the preflight."


def entry(path=ETCD, seconds=0.0004, busy=None, mount="/"):
    return {"path": path, "mount": mount, "writes": 50, "p99_s": seconds, "busy": busy}


def verdict(record, asked, *entries, writes=(ETCD,), **limits):
    given = asked(need=Need(writes=writes))
    return disk_speed.judge(record(disk_speed=list(entries)), dataclasses.replace(given, limits={**given.limits, **limits}))


@pytest.mark.parametrize(("seconds", "expected"), [
    (0.0004, ok("a small write to /var/lib/etcd is on the disk within 0.4 ms (10 ms is allowed)")),
    (0.01, ok("a small write to /var/lib/etcd is on the disk within 10.0 ms (10 ms is allowed)")),
    (0.0102, warn("a small write to /var/lib/etcd is on the disk within 10.2 ms (10 ms is allowed)", SLOW)),
    (0.1, warn("a small write to /var/lib/etcd is on the disk within 100.0 ms (10 ms is allowed)", SLOW)),
    (0.1002, fail("a small write to /var/lib/etcd is on the disk within 100.2 ms (10 ms is allowed)", SLOW)),
    (-1, warn("a small write to /var/lib/etcd is on the disk within -1000.0 ms (10 ms is allowed)", SLOW)),
    (4, fail("a small write to /var/lib/etcd is on the disk within 4000.0 ms (10 ms is allowed)", SLOW)),
])
def test_levels(record, asked, seconds, expected):
    assert verdict(record, asked, entry(seconds=seconds)) == expected


def test_a_write_that_did_not_end(record, asked):
    assert verdict(record, asked, {**entry(seconds=4), "writes": 0}) == fail(
        "a small write to /var/lib/etcd was not on the disk after 4.0 s (10 ms is allowed)", SLOW)
    assert verdict(record, asked, {**entry(seconds=4, busy="disk"), "writes": 0}) == ok(
        "could not be told of /var/lib/etcd: its disks were busy with something else, and a small write was not on the disk after 4.0 s "
        "(10 ms is allowed)")


def test_what_is_allowed_can_be_set(record, asked):
    assert verdict(record, asked, entry(seconds=0.015), sync_warn_s=0.02) == ok(
        "a small write to /var/lib/etcd is on the disk within 15.0 ms (20 ms is allowed)")
    assert verdict(record, asked, entry(seconds=0.06), sync_fail_s=0.05).level == disk_speed.Level.FAIL


@pytest.mark.parametrize(("busy", "words"), [("disk", "its disks"), ("cpu", "its CPUs")])
def test_a_busy_machine_is_no_slow_disk(record, asked, busy, words):
    assert verdict(record, asked, entry(seconds=0.5, busy=busy)) == ok(
        f"could not be told of /var/lib/etcd: {words} were busy with something else, and a small write took 500.0 ms meanwhile "
        "(10 ms is allowed)")
    assert verdict(record, asked, entry(busy=busy)) == verdict(record, asked, entry())  # fast enough all the same
    assert verdict(record, asked, entry(seconds=0.5, busy="moon")).level == disk_speed.Level.FAIL


def test_what_could_not_be_tried(record, asked):
    assert verdict(record, asked, {"path": ETCD, "mount": "/", "reason": "this user may not write to it"}) == warn(
        "could not be tried on /var/lib/etcd: this user may not write to it", BY_ROOT)
    assert verdict(record, asked, {"path": ETCD, "mount": "/", "error": "Input/output error"}) == fail(
        "/var/lib/etcd can not be written to: Input/output error", disk_speed.FIX_ERROR)


def test_what_lies_on_one_filesystem_is_told_together_and_what_does_not_apart(record, asked):
    both = (ETCD, POSTGRESQL)
    assert verdict(record, asked, entry(), entry(POSTGRESQL), writes=both) == ok(
        "a small write to /var/lib/etcd, /var/lib/postgresql is on the disk within 0.4 ms (10 ms is allowed)")
    assert verdict(record, asked, entry(seconds=0.02), entry(POSTGRESQL, mount=POSTGRESQL), writes=both) == warn(
        "a small write to /var/lib/etcd is on the disk within 20.0 ms (10 ms is allowed)", SLOW)
    assert verdict(record, asked, entry(), entry(POSTGRESQL, mount=POSTGRESQL, busy="cpu", seconds=0.02), writes=both) == ok(
        "a small write to /var/lib/etcd is on the disk within 0.4 ms (10 ms is allowed); "
        "could not be told of /var/lib/postgresql: its CPUs were busy with something else, and a small write took 20.0 ms meanwhile "
        "(10 ms is allowed)")
    told = verdict(record, asked, entry(seconds=0.2), {"path": POSTGRESQL, "reason": "no answer within 4 s"}, writes=both)
    assert told == Verdict(
        disk_speed.Level.FAIL, "a small write to /var/lib/etcd is on the disk within 200.0 ms (10 ms is allowed); "
        "could not be tried on /var/lib/postgresql: no answer within 4 s",
        f"{SLOW} {BY_ROOT.replace(ETCD, POSTGRESQL)}")


def test_only_where_a_role_asks_for_it(record, asked):
    assert verdict(record, asked, entry(), writes=()) is None
    with pytest.raises(Unmeasured, match="^disk_speed does not hold /var/lib/postgresql$"):
        verdict(record, asked, entry(), writes=(POSTGRESQL,))
    with pytest.raises(Unmeasured, match=r"^disk_speed\.p99_s is nan in the record, not a figure$"):
        verdict(record, asked, entry(seconds=float("nan")))
    with pytest.raises(Unmeasured, match=r"^disk_speed\.p99_s is not in the record$"):
        verdict(record, asked, {"path": ETCD})
