import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import confinement
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

V1_NONE = {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n",
           "memory/memory.limit_in_bytes": "9223372036854771712\n"}


@pytest.mark.parametrize(("files", "found"), [
    ({"cgroup.controllers": "cpu memory\n"}, (None, None)),
    ({"cgroup.controllers": "", "cpu.max": "max 100000\n", "memory.max": "max\n"}, (None, None)),
    ({"cgroup.controllers": "", "cpu.max": "150000 100000\n", "memory.max": "1073741824\n"}, (1.5, 1024)),
    ({"cgroup.controllers": "", "system.slice/cpu.max": "50000 100000\n", "cpu.max": "150000 100000\n"}, (0.5, None)),
    ({"cgroup.controllers": "", "memory.max": "1073741824\n", "system.slice/memory.max": "536870912\n"}, (None, 512)),
    (V1_NONE, (None, None)),
    ({**V1_NONE, "cpu/system.slice/cpu.cfs_quota_us": "200000", "cpu/system.slice/cpu.cfs_period_us": "50000"}, (4, None)),
    ({"memory/memory.limit_in_bytes": "2147483648\n"}, (None, 2048)),
])
def test_the_least_of_what_binds_a_service(monkeypatch, tmp_path, files, found):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(confinement, "ROOT", str(tmp_path))
    assert confinement.confinement() == dict(zip(("cpus", "memory_mb"), found, strict=True))


def test_without_control_groups_nothing_is_known(monkeypatch, tmp_path):
    monkeypatch.setattr(confinement, "ROOT", str(tmp_path))
    with pytest.raises(Unmeasured, match="^there are no control groups under "):
        confinement.confinement()


@pytest.mark.parametrize(("name", "text"), [("cpu.max", "150000"), ("cpu.max", "150000 0"), ("memory.max", "much")])
def test_files_of_another_form(monkeypatch, tmp_path, name, text):
    (tmp_path / "cgroup.controllers").touch()
    (tmp_path / name).write_text(text)
    monkeypatch.setattr(confinement, "ROOT", str(tmp_path))
    with pytest.raises(Unmeasured, match="^the control groups under .* are not of the known form "):
        confinement.confinement()


def test_files_of_version_1_of_another_form(monkeypatch, tmp_path):
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("much")
    monkeypatch.setattr(confinement, "ROOT", str(tmp_path))
    with pytest.raises(Unmeasured, match="^the control groups under .* are not of the known form "):
        confinement.confinement()
