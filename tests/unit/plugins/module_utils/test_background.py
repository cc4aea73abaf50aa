import threading
import time

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import background


@pytest.fixture
def full(monkeypatch):
    """full(times): there can be no more threads when so many are tried to be started."""
    def make(times):
        refusals = [RuntimeError("can't start new thread")] * times

        class Thread(threading.Thread):
            def start(self):
                if refusals:
                    raise refusals.pop()
                super().start()

        monkeypatch.setattr(background.threading, "Thread", Thread)
        monkeypatch.setattr(background, "AGAIN_S", 0.001)
        return refusals

    return make


def test_where_there_are_as_many_threads_as_may_be_another_is_waited_for(full):
    left, done = full(3), []
    thread = background.in_background(time.monotonic() + 60, done.append, 5)
    thread.join(60)
    assert (done, left, thread.daemon) == ([5], [], True)


def test_not_for_longer_than_there_is_time(full):
    left = full(1000000)
    with pytest.raises(RuntimeError, match="^can't start new thread$"):
        background.in_background(time.monotonic() - 1, print)
    assert len(left) == 999999
