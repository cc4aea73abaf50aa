from __future__ import annotations

import json
import os
import subprocess
import types

import pytest
from ansible.errors import AnsibleActionFail
from ansible_collections.llmgw.preflight.plugins.action import report as action
from ansible_collections.llmgw.preflight.plugins.plugin_utils import earlier, files
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import FILES

PLAY = "0242ac11-0002-c3f5-7f1d-000000000001"


@pytest.fixture
def run(monkeypatch):
    """run(report, ...): the task; its result, and under said what it put on the screen, and under warned its warnings. With None as
    the report, what the variables have."""
    def task(report, variables=None, **arguments):
        said, warned = [], []
        monkeypatch.setattr(action, "display", types.SimpleNamespace(
            columns=80, verbosity=0, display=lambda told: said.extend(told.split("\n")), warning=warned.append))
        given = arguments if report is None else {"report": report, **arguments}
        task = types.SimpleNamespace(args=given, async_val=0, check_mode=False, action="report", diff=False)
        connection = types.SimpleNamespace(_shell=types.SimpleNamespace(tmpdir="none is made"))
        module = action.ActionModule(task, connection, types.SimpleNamespace(check_mode=False), None, None, None)
        try:
            result = module.run(task_vars=variables)
        except AnsibleActionFail as problem:
            result = {"failed": True, "msg": str(problem)}
        return {**result, "said": "\n".join(said), "warned": warned}

    return task


@pytest.fixture
def report(record):
    """report(section=value): what the filter makes of one machine."""
    return lambda **sections: evaluate([record(**sections)])


def written(folder):
    return json.loads((folder / "preflight.json").read_text())


def test_every_format_of_what_a_filter_made(run, report, tmp_path):
    result = run(report(cpus=1), dir=str(tmp_path / "new" / "folder"), formats=list(FILES), fail_on="warn")
    assert result["msg"] == "Preflight: 1 of 1 machine not ready: db1."
    assert result["warned"] == []
    assert sorted(path.name for path in (tmp_path / "new" / "folder").iterdir()) == sorted(f"preflight.{name}" for name in FILES)
    whole = written(tmp_path / "new" / "folder")
    assert list(whole) == [*action.PARTS, "changes"]
    assert sorted(whole["about"]) == ["ansible", "at", "profile", "version"]
    assert (whole["not_examined"], whole["sampled"], whole["changes"]) == ([], None, None)
    for name in FILES:
        content = (tmp_path / "new" / "folder" / f"preflight.{name}").read_text()
        assert "1 usable (needs 2)" in content
        assert f"Report written to {tmp_path}/new/folder/preflight.{name}" in result["said"]


def test_without_a_report_what_is_registered_is_shown(run, report, tmp_path):
    run(None, {"preflight_report": {**report(cpus=1), "changed": False}}, dir=str(tmp_path / "registered"))
    run(report(cpus=1), dir=str(tmp_path / "given"))
    registered, given = written(tmp_path / "registered"), written(tmp_path / "given")
    assert {**registered, "about": None} == {**given, "about": None}


@pytest.mark.parametrize("variables", [None, {}, {"preflight_report": {}}, {"preflight_report": "{{ what }}"}, {"preflight_report": None}])
def test_nothing_is_registered(run, variables):
    assert run(None, variables)["msg"].startswith("There is no plan to go by")


def test_only_what_is_asked_for(run, report, tmp_path):
    assert "failed" not in run(report(), dir=str(tmp_path), formats=["md"])
    assert [path.name for path in tmp_path.iterdir()] == ["preflight.md"]


def test_what_a_registered_result_holds_besides_is_left_out(run, report, tmp_path):
    given = {**report(), "changed": False, "failed": False, "left_out": ["sudo"], "skipped": False, "play": PLAY, "gone": {},
             "about": {"at": "x"}}
    run(given, dir=str(tmp_path))
    whole = written(tmp_path)
    assert whole["skipped"] == ["sudo"]
    assert whole["about"] == {**whole["about"], "at": "x"} and len(whole["about"]) == 4
    assert not {"changed", "failed", "left_out", "play", "gone"} & set(whole)


@pytest.mark.parametrize(("given", "message"), [
    ({}, "There is no plan to go by"), ({"msg": "x"}, "There is no plan to go by"),
    ({"worst": "ok", "counts": {}}, "This is not a report: it has no machines, findings."),
])
def test_what_is_no_report(run, given, message):
    assert run(given)["msg"].startswith(message)


@pytest.mark.parametrize("mask", [0o022, 0o000, 0o077])
def test_files_are_for_their_owner_only_whatever_was_there(run, report, tmp_path, mask):
    (tmp_path / "preflight.json").write_text("{}")
    (tmp_path / "preflight.json").chmod(0o666)
    before = os.umask(mask)
    try:
        run(report(), dir=str(tmp_path), formats=["json", "xml"])
    finally:
        os.umask(before)
    assert {path.name: oct(path.stat().st_mode & 0o7777) for path in tmp_path.iterdir()} == {
        "preflight.json": "0o600", "preflight.xml": "0o600"}


def test_they_may_be_for_their_group_too(run, report, tmp_path):
    run(report(), dir=str(tmp_path), formats=["json"], mode="0640")
    assert oct((tmp_path / "preflight.json").stat().st_mode & 0o7777) == "0o640"


def test_a_file_is_whole_or_as_it_was(run, report, tmp_path, monkeypatch):
    run(report(cpus=1), dir=str(tmp_path))
    before = (tmp_path / "preflight.json").read_text()

    class Stopped(BaseException):
        pass

    def stop(*files):
        raise Stopped

    monkeypatch.setattr(os, "replace", stop)
    with pytest.raises(Stopped):
        run(report(), dir=str(tmp_path))
    assert [(path.name, path.read_text() == before) for path in tmp_path.iterdir()] == [("preflight.json", True)]


def bad_folder(kind, tmp_path):
    (tmp_path / "file").write_text("kept")
    (tmp_path / "taken" / "preflight.json").mkdir(parents=True)
    return {"a file": tmp_path / "file", "in a file": tmp_path / "file" / "reports", "no place for it": tmp_path / "taken",
            "not to be written": "/proc/reports", "no name": f"{tmp_path}/a\0b", "a long name": tmp_path / ("x" * 300)}[kind]


@pytest.mark.parametrize("kind", ["a file", "in a file", "no place for it", "not to be written", "no name", "a long name"])
def test_a_folder_that_will_not_do_is_told_after_the_report(run, report, tmp_path, kind):
    folder = bad_folder(kind, tmp_path)
    result = run({**report(cpus=1), "play": PLAY}, dir=str(folder))
    assert result["msg"].startswith(f"The report could not be written to {folder}")
    assert "preflight_report_dir" in result["msg"]
    assert bool(result["warned"]) == (kind in ("no place for it", "no name", "a long name"))  # nor can it be seen what is there
    assert "1 usable (needs 2)" in result["said"]
    assert (tmp_path / "file").read_text() == "kept"
    assert list(tmp_path.rglob(".preflight*")) == []


def test_what_became_of_the_records_is_told_after_the_report(run, report):
    assert run({**report(), "saved": {"path": "/srv/a.json"}})["said"].splitlines()[-2:] == [
        "1 machine, 23 checks: 0 fail, 0 warn, 23 ok.", "Records written to /srv/a.json"]
    result = run({**report(cpus=1), "saved": {"path": "/srv/a.json", "problem": "No space left on device"}})
    assert result["failed"] and result["msg"] == (
        "The records could not be written to /srv/a.json: No space left on device. Give a folder that can be written as "
        "preflight_records_dir. The report itself is above.")
    assert "1 usable (needs 2)" in result["said"]


# ------------------------------------------------------------------------------------------------------ scripts of fixes
INTERRUPTED = {"dpkg": {"interrupted": True, "unfinished": [], "held": []}}
NONE_LEFT = "there is no problem that commands alone mend"


@pytest.fixture
def several(record):
    """several(name={section: value}, ...): what the filter makes of these machines."""
    return lambda **machines: evaluate([record(machine=name.replace("_", "/"), **sections) for name, sections in machines.items()])


def test_a_script_for_each_machine_that_has_commands(run, several, tmp_path):
    folder = tmp_path / "new" / "scripts"
    result = run(several(db1=INTERRUPTED, db2={}, n_3=INTERRUPTED, n4={"cpus": 1}), fix_script=str(folder))
    assert result["failed"]
    assert f"2 scripts of fixes written to {folder}" in result["said"].splitlines()
    assert {path.name: oct(path.stat().st_mode & 0o7777) for path in folder.iterdir()} == {"db1.sh": "0o600", "n%2F3.sh": "0o600"}
    for path in folder.iterdir():
        assert subprocess.run(["sh", "-n", path], check=False).returncode == 0
        assert "--configure -a || failed" in path.read_text()
    assert list(tmp_path.iterdir()) == [tmp_path / "new"]  # no report without a folder for it


def test_nothing_is_left_of_what_was_mended_and_nobody_elses_file_is_touched(run, several, tmp_path):
    run(several(db1=INTERRUPTED, db2=INTERRUPTED, db3=INTERRUPTED), fix_script=str(tmp_path))
    (tmp_path / "db4.sh").write_text("#!/bin/sh\necho mine\n")
    (tmp_path / "db5.sh").symlink_to(tmp_path / "db1.sh")
    (tmp_path / "db6.sh").mkdir()
    os.mkfifo(tmp_path / "db7.sh")
    old = (tmp_path / "db1.sh").read_text()
    (tmp_path / "db1.sh").write_text(old.replace("dpkg", "changed"))
    result = run(several(db1=INTERRUPTED, db2={}, **{f"db{number}": {} for number in range(4, 9)}), fix_script=str(tmp_path))
    assert f"1 script of fixes written to {tmp_path}" in result["said"].splitlines()
    # Of db3 nothing new is known.
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"db{number}.sh" for number in (1, 3, 4, 5, 6, 7)]
    assert "changed" not in (tmp_path / "db1.sh").read_text()
    assert (tmp_path / "db4.sh").read_text() == "#!/bin/sh\necho mine\n"
    result = run(several(db1={}, db3={}), fix_script=str(tmp_path))
    assert f"No script of fixes written to {tmp_path}: {NONE_LEFT}" in result["said"].splitlines()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["db4.sh", "db5.sh", "db6.sh", "db7.sh"]


def test_without_a_folder_there_are_no_scripts(run, several, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "script" not in run(several(db1=INTERRUPTED))["said"]
    assert list(tmp_path.iterdir()) == []
    assert "script" not in run(several(db1=INTERRUPTED), fix_script="")["said"]
    run(several(db1=INTERRUPTED), fix_script="here")
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["db1.sh"]
    assert f"No script of fixes written to {tmp_path}/not/there: {NONE_LEFT}" in run(several(db1={}), fix_script="not/there")["said"]
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize("kind", ["a file", "in a file", "not to be written", "no name", "a long name"])
def test_a_folder_for_scripts_that_will_not_do_is_told_after_the_report(run, several, tmp_path, kind):
    folder = bad_folder(kind, tmp_path)
    result = run(several(db1=INTERRUPTED), fix_script=str(folder))
    assert result["msg"].startswith(f"The scripts of fixes could not be written to {folder}")
    assert "preflight_fix_script" in result["msg"]
    assert "dpkg was interrupted" in result["said"]


# ------------------------------------------------------------------------------------------------ the earlier report
def test_what_changed_is_told_and_written(run, report, tmp_path):
    assert run(report(cpus=1, apt=False), dir=str(tmp_path))["failed"]
    first = written(tmp_path)
    result = run(report(cpus=1, memory_mb=100), dir=str(tmp_path))
    assert result["warned"] == []
    assert written(tmp_path)["changes"] == {
        "since": first["about"]["at"], "new": [{"machine": "db1", "check": "memory"}], "worse": [], "better": [],
        "fixed": [{"machine": "db1", "check": "packages"}], "eased": [], "counting": [], "waived": [],
        "remains": 1, "hidden": [], "uncovered": []}
    assert "1 problem as before" in result["said"]


def other_form(path):
    path.write_text(json.dumps({"schema_version": 2}))


def huge(path):
    path.touch()
    os.truncate(path, 2**40)


EARLIER = {
    "empty": (lambda path: path.write_text(""), "it is no report"),
    "junk": (lambda path: path.write_bytes(b"\x00\xff\x1b[2J" * 99), "it is no report"),
    "no mapping": (lambda path: path.write_text("[1, 2]"), "it is no report"),
    "another mapping": (lambda path: path.write_text('{"schema_version": 1, "findings": 5}'), "it is no report"),
    "nested without end": (lambda path: path.write_text("[" * 10**6), "it is no report"),
    "a number without end": (lambda path: path.write_text("9" * 10**5), "it is no report"),
    "another form": (other_form, "its form is version 2, and this one's 1"),
    "a link": (lambda path: path.symlink_to("/etc/hostname"), "it is a link"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "it is a link"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "it is a link"),
    "a pipe": (os.mkfifo, "it is no plain file"),
    "huge": (huge, "it has more than 64 MB"),
}


@pytest.mark.parametrize("kind", EARLIER)
def test_an_earlier_report_of_any_kind_is_harmless_and_told(run, report, tmp_path, kind):
    make, why = EARLIER[kind]
    make(tmp_path / "preflight.json")
    result = run(report(), dir=str(tmp_path))
    assert result["warned"] == [f"What changed is not told, since the earlier report {tmp_path}/preflight.json can not be compared with "
                                f"this one: {why}."]
    assert "failed" not in result
    assert written(tmp_path)["changes"] is None
    assert not (tmp_path / "preflight.json").is_symlink()


def test_without_a_folder_nothing_is_read_or_written(run, report, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(report(), dir=str(tmp_path))
    before = written(tmp_path)
    assert run(report(cpus=1))["warned"] == []
    assert written(tmp_path) == before


def test_a_relative_folder_and_one_at_home(run, report, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    run(report(), dir="here")
    run(report(), dir="~/there")
    assert written(tmp_path / "here") and written(tmp_path / "home" / "there")


# ---------------------------------------------------------------------------------------------------------- batches
@pytest.fixture
def batch(run, record, tmp_path):
    """batch(read, waiting, ...): with serial, the report after a batch; what it says has changed of the CPUs, in short. A machine with !
    has too few."""
    def after(read, waiting="", play=PLAY, fail_on="never"):
        made = evaluate([record(machine=name.rstrip("!"), address=name.rstrip("!"), cpus=1 if "!" in name else 4) for name in read.split()])
        waits = [{"machine": name, "why": "batch"} for name in waiting.split()]
        run({**made, "play": play, "not_examined": waits}, dir=str(tmp_path), fail_on=fail_on)
        told = written(tmp_path)["changes"]
        found = {kind: [at["machine"] for at in told[kind] if at["check"] == "cpus"]
                 for kind in ("new", "fixed", "hidden", "uncovered")} if told else None
        return found and {kind: machines for kind, machines in found.items() if machines}

    return after


def kept(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "preflight.json")


def test_each_batch_is_compared_with_what_was_before_the_play(batch, tmp_path):
    assert batch("a b! c!", play="p0") is None
    assert batch("a!", "b c") == {"new": ["a"], "hidden": ["b", "c"]}
    assert kept(tmp_path) == [f".preflight.{PLAY}.json"]
    assert batch("a! b", "c") == {"new": ["a"], "fixed": ["b"], "hidden": ["c"]}
    assert batch("a! b c!") == {"new": ["a"], "fixed": ["b"]}
    assert kept(tmp_path) == []
    assert batch("a b c!", play="p2") == {"fixed": ["a"]}


def test_the_first_batch_of_all_has_nothing_before_it(batch, tmp_path):
    assert [batch("a!", "b c"), batch("a! b!", "c"), batch("a! b! c!")] == [None, None, None]
    assert kept(tmp_path) == []


def test_a_batch_that_stops_the_play_leaves_nothing_aside(batch, tmp_path):
    batch("a b c", play="p0")
    assert batch("a!", "b c", fail_on="warn") == {"new": ["a"]}
    assert kept(tmp_path) == []


def test_where_nothing_can_be_kept_it_is_compared_with_the_batch_before(batch, monkeypatch, tmp_path):
    def refuse(*given, **options):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    batch("a b", play="p0")
    assert batch("a!", "b") == {"new": ["a"]}
    assert batch("a! b!") == {"uncovered": ["b"]}


def test_without_batches_nothing_is_kept(tmp_path):
    files.write_whole(tmp_path / "preflight.json", "{}")
    assert earlier.to_compare(tmp_path, PLAY, waiting=False) == tmp_path / "preflight.json"
    assert kept(tmp_path) == []


@pytest.mark.parametrize("play", [None, 5, "../../x", "", "a/b", "a\n"])
def test_only_a_name_of_a_play_is_made_a_files_name(tmp_path, play):
    files.write_whole(tmp_path / "preflight.json", "{}")
    assert earlier.to_compare(tmp_path, play, waiting=True) == tmp_path / "preflight.json"
    earlier.forget(tmp_path, play)
    assert [path.name for path in tmp_path.iterdir()] == ["preflight.json"]
