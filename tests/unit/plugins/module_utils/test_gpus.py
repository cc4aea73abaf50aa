import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import gpus
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

A100 = {"name": "NVIDIA A100-SXM4-40GB", "memory_mb": 40960}
LINE = "NVIDIA A100-SXM4-40GB, 40960, 00000000:{}:00.0\n"


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """machine({address: (vendor, class, VRAM in bytes or None)}, what nvidia-smi does): gpus() there."""

    def look(devices, path=None, *answer):
        for address, (vendor, kind, vram) in devices.items():
            (tmp_path / address).mkdir()
            (tmp_path / address / "vendor").write_text(f"{vendor}\n")
            (tmp_path / address / "class").write_text(f"{kind}\n")
            if vram is not None:
                (tmp_path / address / "mem_info_vram_total").write_text(f"{vram}\n")
        monkeypatch.setattr(gpus, "DEVICES", str(tmp_path))
        monkeypatch.setattr(gpus, "find", lambda name: path)
        monkeypatch.setattr(gpus, "command", lambda argv, limit_s: answer)
        return gpus.gpus(5)

    return look


def nvidia(number, kind="0x030200"):
    return {f"0000:{number:02x}:00.0": ("0x10de", kind, None)}


def test_what_is_no_gpu_of_theirs(machine):
    assert machine({
        "0000:00:02.0": ("0x8086", "0x030000", None),  # Intel's own
        "0000:03:00.0": ("0x1a03", "0x030000", None),  # a server's management
        "0000:01:00.1": ("0x10de", "0x040300", None),  # the sound of a graphics card
        "0000:09:00.0": ("0x10de", "0x068000", None),  # NVSwitch
    }) == {"answering": [], "silent": []}


def test_no_pci_at_all(monkeypatch, tmp_path):
    monkeypatch.setattr(gpus, "DEVICES", str(tmp_path / "absent"))
    monkeypatch.setattr(gpus, "find", lambda name: None)
    assert gpus.gpus(5) == {"answering": [], "silent": []}


def test_nvidia(machine):
    found = machine({**nvidia(1), **nvidia(0x4f, "0x030000")}, "/usr/bin/nvidia-smi", 0, LINE.format("01") + LINE.format("4F"), "")
    assert found == {"answering": [A100, A100], "silent": []}


def test_one_of_two_fell_off_the_bus(machine):
    found = machine({**nvidia(1), **nvidia(2)}, "/usr/bin/nvidia-smi", 0, LINE.format("02"), "")
    assert found == {"answering": [A100], "silent": [{"name": "NVIDIA 0000:01:00.0", "reason": "nvidia-smi does not name it"}]}


@pytest.mark.parametrize(("answer", "reason"), [
    ((None,), "there is no nvidia-smi"),
    (("/usr/bin/nvidia-smi", 9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure\n\n", ""),
     "nvidia-smi: NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure"),
    (("/usr/bin/nvidia-smi", 127, "", "libnvidia-ml.so: not found\n"), "nvidia-smi: libnvidia-ml.so: not found"),
    (("/usr/bin/nvidia-smi", 6, "", ""), "nvidia-smi: exit status 6"),
    (("/usr/bin/nvidia-smi", 0, "No devices were found\n", ""), "nvidia-smi does not name it"),
])
def test_a_driver_that_does_not_answer(machine, answer, reason):
    assert machine(nvidia(1), *answer) == {"answering": [], "silent": [{"name": "NVIDIA 0000:01:00.0", "reason": reason}]}


def test_one_that_hangs(monkeypatch, machine):
    def hangs(limit_s):
        raise Unmeasured("nvidia-smi gave no answer within 5 s")

    monkeypatch.setattr(gpus, "_nvidia", hangs)
    assert machine(nvidia(1))["silent"] == [{"name": "NVIDIA 0000:01:00.0", "reason": "nvidia-smi gave no answer within 5 s"}]


def test_one_that_is_not_on_pci_and_tells_no_memory(machine):
    assert machine({}, "/usr/lib/wsl/lib/nvidia-smi", 0, "NVIDIA GB10, [N/A], 0000000F:01:00.0\n", "") == {
        "answering": [{"name": "NVIDIA GB10", "memory_mb": None}], "silent": []}


def test_amd(machine):
    assert machine({"0000:c1:00.0": ("0x1002", "0x038000", 64 * 2**30), "0000:c2:00.0": ("0x1002", "0x120000", None)}) == {
        "answering": [{"name": "AMD 0000:c1:00.0", "memory_mb": 65536}],
        "silent": [{"name": "AMD 0000:c2:00.0", "reason": "the driver amdgpu does not hold it"}]}


@pytest.mark.parametrize("told", ["\u00b2", "9" * 5000, "-1", "[N/A]"])
def test_memory_that_is_no_figure(machine, told):
    assert machine({}, "/bin/nvidia-smi", 0, f"NVIDIA L4, {told}, 00000000:00:04.0\n", "")["answering"] == [
        {"name": "NVIDIA L4", "memory_mb": None}]


def test_one_that_was_taken_out_meanwhile(monkeypatch, tmp_path):
    (tmp_path / "0000:00:04.0").mkdir()
    monkeypatch.setattr(gpus, "DEVICES", str(tmp_path))
    monkeypatch.setattr(gpus, "find", lambda name: None)
    assert gpus.gpus(5) == {"answering": [], "silent": []}
