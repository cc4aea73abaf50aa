import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import swap
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
FILE = "/swap\\040file                           file\t\t2097148\t\t512\t\t-2\n"
ZRAM = "/dev/zram0                              partition\t1048576\t\t0\t\t100\n"


@pytest.fixture
def files(monkeypatch, tmp_path):
    def write(swaps, overcommit):
        for name, text in (("SWAPS", swaps), ("OVERCOMMIT", overcommit)):
            if text is not None:
                (tmp_path / name).write_text(text)
            monkeypatch.setattr(swap, name, str(tmp_path / name))
    return write


@pytest.mark.parametrize(("swaps", "overcommit", "found"), [
    (None, "0\n", {"swap_mb": 0, "overcommit_memory": 0}),
    (HEAD, "0\n", {"swap_mb": 0, "overcommit_memory": 0}),
    (HEAD + FILE, "2\n", {"swap_mb": 2047, "overcommit_memory": 2}),
    (HEAD + FILE + ZRAM, "1\n", {"swap_mb": 3071, "overcommit_memory": 1}),
])
def test_what_there_is(files, swaps, overcommit, found):
    files(swaps, overcommit)
    assert swap.swap() == found


@pytest.mark.parametrize(("swaps", "overcommit", "reason"), [
    (HEAD, None, "OVERCOMMIT: No such file or directory$"), (HEAD, "x", "are not of the known form$"),
    (HEAD + "junk\n", "0", "are not of the known form$"),
])
def test_what_can_not_be_told(files, swaps, overcommit, reason):
    files(swaps, overcommit)
    with pytest.raises(Unmeasured, match=reason):
        swap.swap()
