import json

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import pending


@pytest.fixture
def run(monkeypatch, tmp_path):
    (tmp_path / "cloud-init").mkdir()
    monkeypatch.setattr(pending, "REBOOT", str(tmp_path / "reboot-required"))
    monkeypatch.setattr(pending, "CLOUD_INIT", str(tmp_path / "cloud-init"))
    return tmp_path


def test_nothing(run):
    assert pending.pending() == {"reboot": False, "reboot_for": [], "cloud_init": None}


def test_a_reboot(run):
    (run / "reboot-required").write_text("*** System restart required ***\n")
    assert pending.pending() == {"reboot": True, "reboot_for": [], "cloud_init": None}
    (run / "reboot-required.pkgs").write_text("libc6\nlinux-base\nlibc6\n")
    assert pending.pending() == {"reboot": True, "reboot_for": ["libc6", "linux-base"], "cloud_init": None}


@pytest.mark.parametrize(("status", "stage"), [
    (json.dumps({"v1": {"stage": "modules-final", "init": {}}}), "modules-final"),
    (json.dumps({"v1": {"stage": None}}), ""), ("", ""), ('{"v1": ', ""), ("[]", ""), ('{"v1": 5}', ""),
])
def test_cloud_init_is_at_it_until_it_has_a_result(run, status, stage):
    (run / "cloud-init" / "status.json").write_text(status)
    assert pending.pending()["cloud_init"] == stage
    (run / "cloud-init" / "result.json").write_text("{}")
    assert pending.pending()["cloud_init"] is None
