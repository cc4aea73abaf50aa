"""What the judge of several runs takes for their files, and what it says where it can not judge; see plugin_utils/test_parts.py too."""

from __future__ import annotations

import json
import os
import types

import pytest
from ansible_collections.llmgw.preflight.plugins.action import parts as action
from ansible_collections.llmgw.preflight.plugins.plugin_utils import parts, settings


@pytest.fixture
def part(record):
    """part(): what a run over one machine saves."""

    def make(**changed):
        machine = {"machine": "n1", "address": "10.0.0.4", "port": 22, "roles": ["node"], "examined": True, "serves": [],
                   "internet_urls": []}
        plan = {"profile": settings.profile().as_dict(), "limits": settings.limits(None), "custom_checks": [], "left_out": [],
                "waivers": [], "sampled": None, "machines": [machine], **changed}
        about = {"at": "2026-11-30T12:00:00+00:00", "version": "1.0"}
        return json.loads(json.dumps(parts.part_of(plan, [record(machine="n1", roles=["node"])], about, ())))

    return make


def test_folders_and_files_are_read_and_nothing_else_in_them(tmp_path, part):
    for name in ("preflight-records-2.json", "preflight-records-1.json", "preflight.json", ".preflight-records-3.json.x"):
        (tmp_path / name).write_text(json.dumps(part()))
    found = action.files([str(tmp_path), str(tmp_path / "preflight.json")])
    assert [path.name for path in found] == ["preflight-records-1.json", "preflight-records-2.json", "preflight.json"]
    assert list(action.read(found)) == [str(path) for path in found]
    assert action.files(["", str(tmp_path)]) == action.files([str(tmp_path)])  # and not those of the folder where it was started


def test_what_is_no_file_is_told_of_each(tmp_path, monkeypatch):
    made = [tmp_path / f"preflight-records-{name}.json" for name in ("folder", "huge", "loop", "pipe")]
    made[0].mkdir()
    made[1].write_text("{}" * 2**20)
    made[2].symlink_to(made[2])
    os.mkfifo(made[3])
    monkeypatch.setattr(action, "MOST_MB", 1)
    with pytest.raises(parts.PartsError) as problem:
        action.read(action.files([str(tmp_path)]))
    assert str(problem.value).splitlines() == [
        f"{made[0]}: it is no file.", f"{made[1]}: it is of more than 1 MB, which no run saves.",
        f"{made[2]}: it can not be read: Too many levels of symbolic links.", f"{made[3]}: it is no file."]


def test_a_folder_that_can_not_be_read_is_not_called_empty(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(parts.PartsError, match=r"it can not be read: Permission denied\."):
        action.files([str(tmp_path)])


@pytest.mark.parametrize("made", ["nothing", "an empty folder", "a name that is too long"])
def test_where_there_is_nothing_that_is_said(tmp_path, made):
    path = tmp_path / {"nothing": "no", "an empty folder": ".", "a name that is too long": "x" * 300}[made]
    with pytest.raises(parts.PartsError, match=r"there is no such file|can not be read: File name too long"):
        action.files([str(path)])


def test_all_that_is_not_there_is_told_at_once(tmp_path):
    with pytest.raises(parts.PartsError) as problem:
        action.files([str(tmp_path), str(tmp_path / "none"), "5"])
    assert [line.partition(":")[0] for line in str(problem.value).splitlines()] == [
        f"preflight_records is '{path}'" for path in (tmp_path, f"{tmp_path}/none", "5")]


@pytest.fixture
def run(tmp_path):
    """run(part, ...): the result of the task that judges this one file."""
    def task(part, variables=None, extra=(), **given):
        path = tmp_path / "preflight-records-1.json"
        path.write_text(json.dumps(part))
        task = types.SimpleNamespace(args={"paths": [str(path)], **given}, async_val=0, check_mode=False, action="parts", diff=False)
        connection = types.SimpleNamespace(_shell=types.SimpleNamespace(tmpdir="none is made"))
        return action.ActionModule(task, connection, types.SimpleNamespace(check_mode=False), None, None, None).run(
            task_vars={"hostvars": types.SimpleNamespace(_variable_manager=types.SimpleNamespace(extra_vars=extra)), **(variables or {})})

    return task


def test_no_refusal_shows_what_came_out_of_a_vault(part, run):
    class EncryptedString(str):  # as Ansible calls it
        pass

    given = part(limits={"stale_s": 60, "hidden": 1})
    waivers = [{"check": "disk", "machine": "n1", "reason": "x", "until": "hidden"}]
    for changed, words in (({"waivers": waivers}, "preflight_waivers[0].until is '***': it must be a day"), ({}, "limits key is '***': ")):
        result = run(given, {"password": EncryptedString("hidden")}, **changed)
        assert result["failed"] and words in result["msg"] and "hidden" not in result["msg"]


def test_the_limits_that_the_judge_is_given_need_only_go_with_those_of_the_parts(part, run):
    given = part(limits=settings.limits({"clock_fail_s": 20}))
    assert run(given, limits={"clock_warn_s": 10})["limits"] == settings.limits({"clock_warn_s": 10, "clock_fail_s": 20})
    for limits, words in (({"clock_warn_s": 30}, "clock_warn_s is 30.0: it must not be more than clock_fail_s (20)."),
                          ({"clock_warn_s": 9, "clock_fail_s": 8}, "preflight_limits.clock_warn_s is 9.0: it must not be more than"),
                          ({"clock": 1}, "preflight_limits key is 'clock': ")):
        assert words in run(given, limits=limits)["msg"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100000, b"9" * 5000])
def test_what_is_no_json_is_told_of_each_file(tmp_path, content):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(content)
    with pytest.raises(parts.PartsError) as problem:
        action.read([*paths, tmp_path / "gone"])
    assert str(problem.value).splitlines() == [
        *(f"{path}: it is no JSON, or cut short." for path in paths),
        f"{tmp_path / 'gone'}: it can not be read: No such file or directory."]


def test_all_that_keeps_it_from_judging_is_told_at_once(part, run, tmp_path):
    result = run(part(), limits={"clock": 1}, waivers="x", fail_on="error", variables={"preflight_fail_onn": 1},
                 paths=[str(tmp_path / "none"), str(tmp_path)])
    assert [line.partition(" is ")[0] for line in result["msg"].splitlines()] == [
        "Nothing was judged, because:", "preflight_fail_on", "preflight_limits key", "preflight_waivers", "preflight_records"]
    assert result["warnings"] == [
        "preflight_fail_onn is no variable of the preflight, so nothing is done with it. Is preflight_fail_on meant?"]
    damaged = run({**part(), "machines": 5}, fail_on="error")["msg"].splitlines()
    assert len(damaged) == 3 and damaged[1].startswith("preflight_fail_on is 'error'") and "it is damaged" in damaged[2]


def test_what_has_no_effect_is_told_where_it_is_given_for_this_run(part, run):
    told = "preflight_skip has no effect here: what the runs were told that read the machines counts."
    given = {"preflight_skip": ["cpus"], "preflight_limits": {}, "preflight_report_dir": "", "preflight_records": "x", "my_own": 1}
    assert run(part(), extra=given)["warnings"] == [told]
    assert run(part(), variables=given)["warnings"] == []  # the inventory's, for the runs that read
    assert run(part(), extra=given, fail_on="error")["warnings"] == [told]
