# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What may never end, such as a look at a disk that does not answer, is done beside what waits for it."""

import threading
import time

AGAIN_S = 0.05  # after which it is tried again to start a thread


def in_background(end, function, *arguments):
    """A thread that runs this; it can't keep the process alive.

    Where this user, or this container, has as many as it may have, it is begun when another has ended. Raises RuntimeError at ``end``.
    """
    while True:
        thread = threading.Thread(target=function, args=arguments)
        thread.daemon = True
        try:
            thread.start()
            return thread
        except RuntimeError:
            if time.monotonic() > end:
                raise
            time.sleep(AGAIN_S)
