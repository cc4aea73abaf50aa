from __future__ import annotations

import datetime
import json

from ansible_collections.llmgw.preflight.plugins.plugin_utils import about


def test_the_version_is_what_is_installed_or_checked_out(monkeypatch, tmp_path):
    monkeypatch.setattr(about, "ROOT", tmp_path)
    assert about.version() == "unknown"
    (tmp_path / "galaxy.yml").write_text("version: 1.2.3\n")
    (tmp_path / "MANIFEST.json").write_text("{}")
    assert about.version() == "1.2.3"
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"collection_info": {"version": "2.0.0"}}))
    now = datetime.datetime(2026, 11, 30, 1, 2, 3, 4, tzinfo=datetime.UTC)
    assert about.about(now, "2.19.3", "llmgw") == {
        "at": "2026-11-30T01:02:03+00:00", "version": "2.0.0", "ansible": "2.19.3", "profile": "llmgw"}
