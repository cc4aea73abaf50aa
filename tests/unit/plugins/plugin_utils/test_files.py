from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.files import MODES, folder_of, in_the_way, is_left, write_whole


def test_a_relative_folder_is_taken_from_here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ops")
    assert folder_of("a/b") == tmp_path / "a" / "b"
    assert folder_of("~/a") == Path("/home/ops/a")
    assert folder_of("/a") == Path("/a")


def test_its_folder_is_made_and_only_its_owner_may_read_it(tmp_path):
    path = tmp_path / "new" / "er" / "x.json"
    write_whole(path, "ä\ud800\n")  # what no file can hold is no reason to write none
    assert path.read_bytes() == "ä?\n".encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == ["x.json"]


@pytest.mark.parametrize("mode", MODES)
def test_it_has_the_mode_that_is_asked_for_whatever_was_there(tmp_path, mode):
    (tmp_path / "x.json").write_text("")
    (tmp_path / "x.json").chmod(0o666)
    before = os.umask(0o077)
    try:
        write_whole(tmp_path / "x.json", "new", mode)
    finally:
        os.umask(before)
    assert f"{(tmp_path / 'x.json').stat().st_mode & 0o7777:04o}" == mode


def test_what_was_there_is_replaced_whole_or_stays(tmp_path):
    path = tmp_path / "x.json"
    write_whole(path, "long and old")
    write_whole(path, "new")
    assert path.read_text() == "new"
    with pytest.raises(TypeError):
        write_whole(path, object())
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["x.json"]


def test_what_is_in_the_way_of_a_folder(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "link").symlink_to(tmp_path)
    assert [in_the_way(str(tmp_path / path)) for path in ("", "new/er", "link/new", "file", "file/new", "dangling/new")] == [
        None, None, None, tmp_path / "file", tmp_path / "file", tmp_path / "dangling"]


def test_a_file_where_a_folder_should_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="exists|Not a directory"):
        write_whole(tmp_path / "file" / "x.json", "new")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "folder", "new")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_a_pipe_that_nobody_reads(tmp_path):
    reader, writer = os.pipe()
    there = f"/proc/self/fd/{writer}"
    assert is_left(there) is False
    os.close(reader)
    assert is_left(there) is True
    os.close(writer)
    assert [is_left(path) for path in (there, str(tmp_path), "/dev/null")] == [False] * 3
