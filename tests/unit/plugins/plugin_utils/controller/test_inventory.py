from __future__ import annotations

import os
import types

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.controller import inventory


def passed_over(sources, read):
    """What of these sources is told, where Ansible has read some; paths as texts."""
    made = types.SimpleNamespace(
        _sources=list(map(str, sources)), _inventory=types.SimpleNamespace(processed_sources=[None, *map(str, read)]))
    return inventory.passed_over(made)


@pytest.fixture
def folder(tmp_path):
    for name in ("a.yml", "b.yml", "b.yml~", "notes.md", ".hidden", "group_vars/all.yml", "host_vars/b.yml", "more/c.yml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    return tmp_path


def test_all_that_is_read_is_told_of_none(folder):
    assert passed_over([folder], [folder / name for name in ("a.yml", "b.yml", "more/c.yml")]) == []
    assert passed_over([folder / "a.yml", "h1,h2"], [folder / "a.yml", "h1,h2"]) == []
    assert passed_over([], []) == passed_over([""], []) == []


def test_each_that_is_not_read_is_told(folder):
    assert passed_over([folder], [folder / "a.yml"]) == [f"{folder}/b.yml", f"{folder}/more/c.yml"]
    assert passed_over([folder / "a.yml", folder / "none", "h1,"], [folder / "a.yml"]) == [f"{folder}/none", "h1,"]


def test_a_relative_one_is_the_one_that_was_read(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert passed_over(["a.yml", "./more/../b.yml"], [folder / "a.yml", folder / "b.yml"]) == []


@pytest.mark.parametrize("there", [True, False])
def test_the_usual_place_need_not_be_there(monkeypatch, there):
    monkeypatch.setattr(os.path, "exists", lambda path: there)
    monkeypatch.setattr(os.path, "isdir", lambda path: False)
    assert passed_over([inventory.USUAL], []) == ([inventory.USUAL] if there else [])
