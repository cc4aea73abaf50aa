import types

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import cpu_level
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

# As QEMU's CPU types show them to the kernel.
KVM64 = ("fpu de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht syscall nx lm constant_tsc nopl "
         "xtopology cpuid tsc_known_freq pni cx16 x2apic hypervisor pti")
NEHALEM = f"{KVM64} lahf_lm popcnt sse4_1 sse4_2 ssse3"
HASWELL = f"{NEHALEM} avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"
SKYLAKE_SERVER = f"{HASWELL} avx512f avx512bw avx512cd avx512dq avx512vl"


@pytest.fixture
def machine(monkeypatch):
    def install(name, text):
        monkeypatch.setattr(cpu_level.os, "uname", lambda: types.SimpleNamespace(machine=name))
        monkeypatch.setattr(cpu_level, "text_of", lambda path, most: text)
    return install


@pytest.mark.parametrize(("flags", "level"), [
    (KVM64, 1), (NEHALEM, 2), (HASWELL, 3), (SKYLAKE_SERVER, 4),
    (NEHALEM.replace(" popcnt", ""), 1),
    (SKYLAKE_SERVER.replace(" movbe", ""), 2),  # a level asks for those before it
    ("fpu", 1),
])
def test_levels(machine, flags, level):
    machine("x86_64", f"processor\t: 0\nvmx flags\t: vnmi\nflags\t\t: {flags}\nbugs\t\t:\n\nprocessor\t: 1\nflags\t\t: fpu\n")
    assert cpu_level.cpu_level() == level


@pytest.mark.parametrize(("name", "level"), [("aarch64", None), ("arm64", None), ("armv7l", None), ("i686", None), ("amd64", 2)])
def test_only_x86_64_has_them(machine, name, level):
    machine(name, f"flags\t\t: {NEHALEM}\n")
    assert cpu_level.cpu_level() == level


def test_without_flags_nothing_is_known(machine):
    machine("x86_64", "processor\t: 0\n")
    with pytest.raises(Unmeasured, match="^/proc/cpuinfo does not hold the flags of the CPU$"):
        cpu_level.cpu_level()
