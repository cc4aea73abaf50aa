import errno
import functools
import itertools
import os
import time

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import disk_speed, disks

ALLOWED = 0.01


@pytest.fixture
def idle(monkeypatch):
    """A machine that does nothing else, and on which nothing is waited for."""
    monkeypatch.setattr(disk_speed.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(disk_speed.Load, "seen", lambda self, writes: None)


@pytest.fixture
def mounted(monkeypatch):
    """mounted(path, device): the mounts of a machine, in place of this one's."""
    def mount(by_path):
        made = {path: disks.Mount(path, "ext4", "/dev/x", device, options) for path, (device, options) in by_path.items()}
        monkeypatch.setattr(disk_speed, "mounts_by_path", lambda: made)
    return mount


def told(paths):
    """What try_all tells in the end of each path."""
    lines = []
    disk_speed.try_all(paths, ALLOWED, lambda **found: lines.append(found))
    return list({line["path"]: line for line in lines}.values())


def script(*rounds):
    """A write that takes as long as these rounds say, each a list of seconds."""
    times = iter([0.5] * disk_speed.WARM_UP + [one for each in rounds for one in each])
    return lambda: next(times)


def test_this_machine_and_nothing_is_left(tmp_path):
    begun = time.monotonic()
    found = disk_speed.disk_speed([str(tmp_path / "not" / "yet"), str(tmp_path)], ALLOWED)()
    assert [one["path"] for one in found] == [str(tmp_path / "not" / "yet"), str(tmp_path)]
    assert {**found[0], "path": None} == {**found[1], "path": None}  # one filesystem is tried once
    assert found[0].keys() == {"path", "mount", "writes", "p99_s", "busy"}
    assert 0 < found[0]["p99_s"] < time.monotonic() - begun
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)  # no process either


def test_where_no_process_can_be_started_nothing_is_tried(monkeypatch):
    def fork():
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(disk_speed.os, "fork", fork)
    assert disk_speed.disk_speed(["/a"], ALLOWED)() == [
        {"path": "/a", "reason": "no process can be started for it (Resource temporarily unavailable)"}]


def test_where_the_process_ends_at_once_nothing_is_blamed_on_a_disk(monkeypatch):
    def let_go(kept):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(disk_speed, "let_go", let_go)
    assert disk_speed.disk_speed(["/a"], ALLOWED)() == [{"path": "/a", "reason": "the process that was to try it has ended"}]


def test_nothing_is_tried_where_nothing_is_asked():
    assert disk_speed.disk_speed([], ALLOWED)() == []


def test_a_fast_disk_is_left_alone_soon(idle):
    assert disk_speed.rounds(script([0.001] * disk_speed.ENOUGH), ALLOWED) == {"writes": 50, "p99_s": 0.001, "busy": None}


def test_one_in_a_hundred_does_not_count(idle):
    first = [0.006] + [0.001] * 98  # not all of them within half of what is allowed
    assert disk_speed.rounds(script([*first, 0.5]), ALLOWED) == {"writes": 100, "p99_s": 0.006, "busy": None}


def test_of_fewer_than_a_hundred_each_counts(monkeypatch, idle):
    now, times = [0.0], itertools.cycle([0.001] * 9 + [0.3])
    monkeypatch.setattr(disk_speed.time, "monotonic", lambda: now[0])

    def write():
        seconds = next(times)
        now[0] += seconds
        return seconds

    found = disk_speed.rounds(write, ALLOWED)
    assert found["writes"] < 30 and found["p99_s"] == 0.3


def test_time_without_a_processor_is_not_the_disks(tmp_path, monkeypatch, idle):
    waited = iter(range(9999))
    now = [0.0]
    monkeypatch.setattr(disk_speed.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(disk_speed.os, "fdatasync", lambda descriptor: now.__setitem__(0, now[0] + 1.001))
    monkeypatch.setattr(disk_speed, "cpu_wait", lambda: lambda: next(waited))
    with open(tmp_path / "file", "wb") as file:
        assert disk_speed.time_writes(file.fileno(), ALLOWED)["p99_s"] == 0.001


def test_the_best_of_a_few_rounds_counts(idle):
    slow, fast = [0.02] * 100, [0.004] * 50
    assert disk_speed.rounds(script(slow, slow, fast), ALLOWED)["p99_s"] == 0.004
    assert disk_speed.rounds(script(*[slow] * 3, [0.015] * 100), ALLOWED)["p99_s"] == 0.015


def test_a_round_that_nothing_disturbed_counts_before_one_that_something_did(idle, monkeypatch):
    seen = iter(["disk", None, "cpu", "disk"])
    monkeypatch.setattr(disk_speed.Load, "seen", lambda self, writes: next(seen))
    rounds = [[seconds] * 100 for seconds in (0.02, 0.03, 0.04, 0.05)]
    assert disk_speed.rounds(script(*rounds), ALLOWED) == {"writes": 100, "p99_s": 0.03, "busy": None}
    seen = iter(["disk", "cpu", "cpu", "disk"])
    assert disk_speed.rounds(script(*rounds), ALLOWED) == {"writes": 100, "p99_s": 0.02, "busy": "disk"}


def test_it_ends_in_time_however_slow_the_disk(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(disk_speed.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(disk_speed.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))

    def write(seconds, calls):
        now[0] += seconds
        calls.append(seconds)
        return seconds

    for seconds in (0.02, 0.15, 0.3, 0.9):
        now[0], calls = 0.0, []
        assert disk_speed.rounds(functools.partial(write, seconds, calls), ALLOWED)["p99_s"] == seconds
        assert now[0] <= disk_speed.WHOLE_S + seconds
        assert len(calls) * len(disk_speed.BLOCK) <= disk_speed.FILE


def test_all_writes_fit_into_the_space_that_is_taken_before():
    assert (disk_speed.WARM_UP + disk_speed.ROUNDS * disk_speed.ROUND) * len(disk_speed.BLOCK) <= disk_speed.FILE
    assert len(disk_speed.BLOCK) == 2304


@pytest.mark.parametrize(("cpu", "disk", "writes", "expected"), [
    ((25, 0, 100), {}, 50, None),
    ((24, 0, 100), {}, 50, "cpu"),
    ((80, 5, 100), {}, 50, None),
    ((80, 6, 100), {}, 50, "cpu"),
    ((0, 0, 0), {}, 50, None),  # it can't be told
    ((80, 0, 100), {"vda": (50 * 11, 50 * 140, 1500)}, 50, None),  # as a btrfs does it by itself
    ((80, 0, 100), {"vda": (50 * 16 + 81, 0, 0)}, 50, "disk"),
    ((80, 0, 100), {"vda": (0, 50 * 256 + 4097, 0)}, 50, "disk"),
    ((80, 0, 100), {"vda": (0, 0, 3001)}, 50, "disk"),
    ((80, 0, 100), {"vda": (0, 0, 0), "sdb": (0, 9999, 0)}, 10, "disk"),
])
def test_what_else_is_at_work(monkeypatch, cpu, disk, writes, expected):
    now = [0.0]
    monkeypatch.setattr(disk_speed.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(disk_speed, "_cpu", lambda: (1000, 0, 2000))
    monkeypatch.setattr(disk_speed, "_disks", lambda: {name: (7, 7, 7) for name in disk})
    load = disk_speed.Load()
    now[0] = 1.0
    monkeypatch.setattr(disk_speed, "_cpu", lambda: tuple(old + new for old, new in zip((1000, 0, 2000), cpu, strict=True)))
    monkeypatch.setattr(disk_speed, "_disks", lambda: {name: tuple(7 + value for value in values) for name, values in disk.items()})
    assert load.seen(writes) == expected


def test_what_the_kernel_tells(monkeypatch):
    files = {"/proc/stat": "cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 1\n",
             "/proc/diskstats": " 254 0 vda 11 2 30 4 15 6 70 8 9 10 1100 12 13\n"}
    monkeypatch.setattr(disk_speed, "text_of", lambda path, most=0: files[path])
    assert disk_speed._cpu() == (90, 80, 360)
    assert disk_speed._disks() == {"vda": (26, 50, 1100)}
    files.update(dict.fromkeys(files, "junk\n"))
    assert disk_speed._cpu() == (0, 0, 0)
    assert disk_speed._disks() == {}
    assert disk_speed.cpu_wait()() >= 0


def test_where_another_folder_of_the_filesystem_has_to_do(tmp_path, monkeypatch, mounted):
    for name in ("lib", "home", "elsewhere"):
        (tmp_path / name).mkdir()
    mounted({"/": ("9:9", "rw"), str(tmp_path): ("8:1", "rw"), str(tmp_path / "elsewhere"): ("8:2", "rw")})
    monkeypatch.setattr(disk_speed.os, "access", lambda path, mode: path != str(tmp_path / "lib"))
    used = []
    monkeypatch.setattr(disk_speed, "time_writes", lambda descriptor, allowed_s: used.append(
        os.path.dirname(os.readlink(f"/proc/self/fd/{descriptor}"))) or {"writes": 1, "p99_s": 0.1, "busy": None})
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    assert told([str(tmp_path / "lib")]) == [
        {"path": str(tmp_path / "lib"), "mount": str(tmp_path), "reason": "this user may not write to it"}]
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert told([str(tmp_path / "lib")])[0]["p99_s"] == 0.1
    assert used == [str(tmp_path / "home")]


@pytest.mark.parametrize(("number", "told_as"), [
    (errno.EROFS, {"error": "Read-only file system"}), (errno.EIO, {"error": "Input/output error"}),
    (errno.ENOSPC, {"reason": "No space left on device"}), (errno.EDQUOT, {"reason": "Disk quota exceeded"}),
    (errno.EACCES, {"reason": "this user may not write to it"}),
])
def test_a_write_that_fails(tmp_path, monkeypatch, number, told_as):
    def fdatasync(descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(disk_speed.os, "fdatasync", fdatasync)
    (found,) = told([str(tmp_path)])
    assert {key: value for key, value in found.items() if key not in ("path", "mount")} == told_as
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_where_nothing_may_be_or_little_space_is_left(tmp_path, monkeypatch, mounted):
    monkeypatch.setattr(disk_speed.tempfile, "TemporaryFile", None)
    mounted({"/": ("8:1", "rw,emergency_ro")})
    assert told([str(tmp_path)])[0]["error"] == "it is mounted read-only"
    mounted({"/": ("8:1", "rw")})
    monkeypatch.setattr(disk_speed, "SPARE", 2**80)
    assert told([str(tmp_path)])[0]["reason"].endswith(" MB are free")


def test_a_filesystem_that_can_not_take_space_before_does_without(tmp_path, monkeypatch, idle):
    def fallocate(descriptor, offset, size):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(disk_speed.os, "posix_fallocate", fallocate)
    assert "p99_s" in told([str(tmp_path)])[0]


@pytest.mark.parametrize("made_so", [True, False])
def test_the_file_has_no_name_while_it_is_written(tmp_path, monkeypatch, idle, made_so):
    monkeypatch.setattr(disk_speed.tempfile, "_O_TMPFILE_WORKS", made_so)  # some filesystems can only take the name away
    seen = []
    monkeypatch.setattr(disk_speed.os, "fdatasync", lambda descriptor: seen.extend(tmp_path.iterdir()))
    assert told([str(tmp_path)])[0]["writes"] == disk_speed.ENOUGH
    assert seen == []


def test_a_disk_that_never_answers_is_not_waited_for_and_holds_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(disk_speed, "STUCK_S", 1)
    monkeypatch.setattr(disk_speed.signal, "alarm", lambda seconds: None)
    monkeypatch.setattr(disk_speed.os, "fdatasync", lambda descriptor: time.sleep(999))
    found = disk_speed.disk_speed([str(tmp_path), "/elsewhere"], ALLOWED)()
    assert found[0]["p99_s"] >= 1 and found[0]["writes"] == 0
    assert found[1] == {"path": "/elsewhere", "reason": "what was tried before did not end"}
    assert os.waitpid(-1, 0)[1] == 9  # it was ended
    assert list(tmp_path.iterdir()) == []


def test_a_mount_that_never_answers(monkeypatch):
    monkeypatch.setattr(disk_speed, "STUCK_S", 2)  # within which it must say that it begins
    monkeypatch.setattr(disk_speed.signal, "alarm", lambda seconds: None)
    monkeypatch.setattr(disk_speed, "place", lambda path, mounted: time.sleep(999))
    assert disk_speed.disk_speed(["/nfs"], ALLOWED)() == [{"path": "/nfs", "reason": "no answer within 2 s"}]
    os.waitpid(-1, 0)


def test_whatever_breaks_is_said(monkeypatch):
    monkeypatch.setattr(disk_speed, "place", lambda path, mounted: 1 / 0)
    assert disk_speed.disk_speed(["/"], ALLOWED)() == [{"path": "/", "reason": "ZeroDivisionError: division by zero"}]
