from __future__ import annotations

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import disk
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import GIB, Level, Need, Unmeasured, Verdict, fail, ok, warn

FIX = "Free space on / or enlarge it, to 20 GB free (du -xh / | sort -h shows what is large)."


def root(free_bytes):
    return [{"path": "/var", "mount": "/var", "free_bytes": 0}, {"path": "/", "mount": "/", "free_bytes": free_bytes}]


@pytest.mark.parametrize(("free_bytes", "verdict"), [
    (20 * GIB, ok("20 GB free on / (needs 20)")),
    (19 * GIB + 1, ok("20 GB free on / (needs 20)")),
    (19 * GIB, warn("19 GB free on / (needs 20)", FIX)),
    (9 * GIB + 1, warn("10 GB free on / (needs 20)", FIX)),
    (9 * GIB, fail("9 GB free on / (needs 20)", FIX)),
    (0, fail("0 GB free on / (needs 20)", FIX)),
])
def test_levels_and_rounding_up(record, asked, free_bytes, verdict):
    assert disk.judge(record(disks=root(free_bytes)), asked("node")) == verdict


def test_without_the_path_it_is_not_measured(record, asked):
    with pytest.raises(Unmeasured, match="^disks does not hold /$"):
        disk.judge(record(disks=root(0)[:1]), asked("node"))
    assert disk.judge(record(disks=[]), asked()) == ok("none needed (not read: disks does not hold /)")


def test_a_mount_that_does_not_answer(record, asked):
    silent = [{"path": "/nfs", "source": "nas:/export"}]
    assert disk.judge(record(disks=root(20 * GIB), silent_mounts=silent), asked("node")) == warn(
        "20 GB free on / (needs 20), but a mount does not answer: /nfs (nas:/export)", disk.FIX_SILENT)
    assert disk.judge(record(disks=root(9 * GIB), silent_mounts=silent), asked("node")).level == Level.FAIL
    assert disk.judge(record(disks=root(20 * GIB), silent_mounts="junk"), asked("node")) == ok("20 GB free on / (needs 20)")


MODELS = [{"name": "starter", "memory_mb": 1, "disk_gb": 10}, {"name": "in memory", "memory_mb": 1},
          {"name": "judges", "memory_mb": 1, "disk_gb": 30}]
NEEDS = "needs 60: 20 for its roles, 40 for starter, judges"


@pytest.mark.parametrize(("free", "verdict"), [
    (60, ok(f"60 GB free on / ({NEEDS})")),
    (59, fail(f"59 GB free on / ({NEEDS})",
              "Free space on / or enlarge it, to 60 GB free, or serve starter, judges on another machine.")),
])
def test_short_of_what_models_need_never_only_warns(record, asked, free, verdict):
    assert disk.judge(record(disks=root(free * GIB), serves=MODELS), asked("node")) == verdict


def test_models_without_a_figure_change_nothing(record, asked):
    assert disk.judge(record(disks=root(20 * GIB), serves=MODELS[1:2]), asked("node")) == ok("20 GB free on / (needs 20)")
    with pytest.raises(Unmeasured, match="^disk_gb is 'x' in the record, which is not of its type$"):
        disk.judge(record(disks=root(20 * GIB), serves=[{"name": "m", "disk_gb": "x"}]), asked("node"))


def place(path, free_gb, mount="/", filesystem="8:1", **more):
    return {"path": path, "mount": mount, "filesystem": filesystem, "free_bytes": free_gb * GIB, "inodes": 0, "inodes_free": 0,
            "read_only": False, **more}


def need(*roles):
    return Need(disk_gb=roles)


POSTGRESQL, LOG = "/var/lib/postgresql", "/var/log"
BOTH = {POSTGRESQL: 25, LOG: 5}


def on_var(free_gb):
    return [place("/", 50), place(POSTGRESQL, free_gb, "/var", "8:2"), place(LOG, free_gb, "/var", "8:2")]


def fix(where, size):
    return f"Free space on {where} or enlarge it, to {size} GB free (du -xh {where} | sort -h shows what is large)."


@pytest.mark.parametrize(("roles", "disks", "verdict"), [
    # of one role adds up, of several the largest sum counts
    ([BOTH], on_var(30), ok(f"30 GB free on /var (needs 30: {POSTGRESQL} 25, {LOG} 5)")),
    ([BOTH], on_var(18), warn(f"18 GB free on /var (needs 30: {POSTGRESQL} 25, {LOG} 5)", fix("/var", 30))),
    ([BOTH], on_var(14), fail(f"14 GB free on /var (needs 30: {POSTGRESQL} 25, {LOG} 5)", fix("/var", 30))),
    ([{LOG: 20}, {POSTGRESQL: 25}], on_var(18), warn(f"18 GB free on /var (needs 25 for {POSTGRESQL})", fix("/var", 25))),
    ([{POSTGRESQL: 20}, BOTH, {LOG: 29}], on_var(18), warn(f"18 GB free on /var (needs 30: {POSTGRESQL} 25, {LOG} 5)", fix("/var", 30))),
    # what shares / counts there, as the figure of another role does
    ([BOTH, {"/": 28}], [place("/", 29), place(POSTGRESQL, 29), place(LOG, 29)],
     warn(f"29 GB free on / (needs 30: {POSTGRESQL} 25, {LOG} 5)", fix("/", 30))),
    ([BOTH, {"/": 40}], [place("/", 39), place(POSTGRESQL, 39), place(LOG, 39)], warn("39 GB free on / (needs 40)", fix("/", 40))),
    # each filesystem by itself; what is enough is not told beside what is not
    ([BOTH], [place(POSTGRESQL, 30, POSTGRESQL, "8:2"), place(LOG, 9)],
     ok(f"30 GB free on {POSTGRESQL} (needs 25); 9 GB free on / (needs 5 for {LOG})")),
    ([BOTH], [place(POSTGRESQL, 12, POSTGRESQL, "8:2"), place(LOG, 9)],
     fail(f"12 GB free on {POSTGRESQL} (needs 25)", fix(POSTGRESQL, 25))),
    ([BOTH], [place(POSTGRESQL, 12, POSTGRESQL, "8:2"), place(LOG, 3)],
     Verdict(Level.FAIL, f"12 GB free on {POSTGRESQL} (needs 25); 3 GB free on / (needs 5 for {LOG})",
             f"{fix(POSTGRESQL, 25)} {fix('/', 5)}")),
    # subvolumes and bind mounts: other places, the same filesystem
    ([BOTH], [place(POSTGRESQL, 29, POSTGRESQL, "0:42"), place(LOG, 29, "/", "0:42")],
     warn(f"29 GB free on {POSTGRESQL} (needs 30: {POSTGRESQL} 25, {LOG} 5)", fix(POSTGRESQL, 30))),
    # of a record that does not tell the filesystem
    ([{"/": 5}], [{"path": "/", "free_bytes": 5 * GIB}], ok("5 GB free on / (needs 5)")),
])
def test_needs_by_path(record, asked, roles, disks, verdict):
    assert disk.judge(record(disks=disks), asked(need=need(*roles))) == verdict


def test_what_models_need_of_the_root_counts_beside_what_roles_need_elsewhere(record, asked):
    roles = asked(need=need({POSTGRESQL: 25}))
    disks = [place("/", 40), place(POSTGRESQL, 25, POSTGRESQL, "8:2")]
    assert disk.judge(record(disks=disks, serves=MODELS), roles) == ok(
        f"25 GB free on {POSTGRESQL} (needs 25); 40 GB free on / (needs 40: 0 for its roles, 40 for starter, judges)")
    shared = [place("/", 64), place(POSTGRESQL, 64)]
    assert disk.judge(record(disks=shared, serves=MODELS), roles) == fail(
        "64 GB free on / (needs 65: 25 for its roles, 40 for starter, judges)",
        "Free space on / or enlarge it, to 65 GB free, or serve starter, judges on another machine.")


@pytest.mark.parametrize(("disks", "reason"), [
    ([place("/", 40)], f"^disks does not hold {POSTGRESQL}$"),
    ([{"path": POSTGRESQL, "free_bytes": None, "reason": "no answer within 10 s"}], f"^{POSTGRESQL}: no answer within 10 s$"),
])
def test_a_path_that_was_not_read(record, asked, disks, reason):
    with pytest.raises(Unmeasured, match=reason):
        disk.judge(record(disks=disks), asked(need=need({POSTGRESQL: 25})))
    # what nobody needs is no matter
    assert disk.judge(record(disks=[*disks, place("/", 5)]), asked(need=need({"/": 5}))).level == Level.OK


@pytest.mark.parametrize(("what", "told"), [
    ({"read_only": True}, fail("/data is read-only", disk.FIX_READ_ONLY.format("/data"))),
    ({"inodes": 1000, "inodes_free": 99}, warn("only 9 % of the inodes of /data are free", disk.FIX_INODES.format("/data"))),
    ({"inodes": 1000, "inodes_free": 0}, warn("only 0 % of the inodes of /data are free", disk.FIX_INODES.format("/data"))),
    ({"inodes": 1000, "inodes_free": 100}, None),
    ({"inodes": 0, "inodes_free": 0}, None),  # as on btrfs
    ({"inodes": None}, None),
    ({"read_only": "junk", "inodes": "junk"}, None),
])
def test_inodes_and_read_only(record, asked, what, told):
    disks = [place("/", 9), place("/data", 9, "/data", "8:2", **what)]
    enough = "9 GB free on /data (needs 5)"
    assert disk.judge(record(disks=disks), asked(need=need({"/data": 5}))) == (
        Verdict(told.level, f"{enough}, but {told.detail}", told.fix) if told else ok(enough))
    assert disk.judge(record(disks=disks), asked(need=need({"/": 5}))) == ok("9 GB free on / (needs 5)")  # not where nothing is needed


def test_the_root_is_looked_at_wherever_a_role_needs_anything(record, asked):
    disks = [place("/", 9, read_only=True), place("/data", 9, "/data", "8:2")]
    but = ", but / is read-only"
    for asks, detail in ((need({"/data": 5}), "9 GB free on /data (needs 5)"), (Need(cpus=1), "9 GB free on / (needs 0)")):
        assert disk.judge(record(disks=disks), asked(need=asks)) == fail(detail + but, disk.FIX_READ_ONLY.format("/"))
    assert disk.judge(record(disks=disks), asked(need=Need())) == ok("9 GB free on / (needs 0)")


def test_everything_at_once(record, asked):
    disks = [place("/", 3, read_only=True, inodes=100, inodes_free=1)]
    silent = [{"path": "/nfs", "source": "nas:/export"}]
    assert disk.judge(record(disks=disks, silent_mounts=silent), asked(need=need({"/": 5}))) == Verdict(
        Level.FAIL, "3 GB free on / (needs 5), but / is read-only; only 1 % of the inodes of / are free; a mount does not answer: "
        "/nfs (nas:/export)",
        f"{fix('/', 5)} {disk.FIX_READ_ONLY.format('/')} {disk.FIX_INODES.format('/')} {disk.FIX_SILENT}")
