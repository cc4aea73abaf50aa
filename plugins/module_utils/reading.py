# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How readers are run on a machine: side by side, each with a deadline, none able to take another with it.

Runs on the machine: standard library only, Python 3.6 and later.
"""

import os
import selectors
import signal
import subprocess
import threading
import time

from ansible_collections.llmgw.preflight.plugins.module_utils.background import in_background

# Where programs of the system lie, also when a login without a profile leaves them out of PATH.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OUTPUT_MOST = 16 * 2**20  # bytes that a program may print; a firewall can have rules of some MB


class Unmeasured(Exception):
    """A reader could not find out; the message is the reason, in one line for people."""


def read_all(readers, whole_s):
    """Run ``readers`` side by side and return (sections, unmeasured).

    ``readers`` is section -> (function without arguments, seconds that it may take); together they may take ``whole_s``.
    One that is still at it then is left behind, in a thread that can't keep the process alive: a disk that does not
    answer can't be interrupted from inside.
    """
    sections, unmeasured = {}, {}
    begun = time.monotonic()
    threads = []
    for name, (reader, limit_s) in readers.items():
        box, limit_s = {}, min(limit_s, whole_s)
        try:
            threads.append((name, in_background(begun + limit_s, _run, reader, box), box, limit_s))
        except RuntimeError as error:
            unmeasured[name] = str(error)
    for name, thread, box, limit_s in threads:
        thread.join(max(0, begun + limit_s - time.monotonic()))
        box = dict(box)  # as it is now; the thread may still write to its own
        if "value" in box:
            sections[name] = box["value"]
        else:
            unmeasured[name] = box.get("reason") or "no answer within %g s" % limit_s
    return sections, unmeasured


def once(reader):
    """``reader`` as one that is run for the first who calls it; whoever else calls it is given what it found then."""
    lock, box = threading.Lock(), {}

    def found():
        with lock:
            if not box:
                _run(reader, box)
        if "value" in box:
            return box["value"]
        raise Unmeasured(box["reason"])

    return found


def _run(reader, box):
    try:
        box["value"] = reader()
    except Unmeasured as problem:
        box["reason"] = str(problem)
    except Exception as error:  # whatever a machine brings up costs that one section, and says so
        box["reason"] = "%s: %s" % (type(error).__name__, error)


def find(program):
    """The path of a program, or None."""
    for folder in (os.environ.get("PATH", "") + ":" + SYSTEM_PATH).split(":"):
        path = os.path.join(folder, program)
        if folder.startswith("/") and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def command(argv, limit_s):
    """Run a program with no input and in English; return (exit status, output, errors). Raises Unmeasured.

    What it started itself is ended with it when it takes too long.
    """
    environment = dict(os.environ, LC_ALL="C", LANGUAGE="C")
    try:
        # run_command of AnsibleModule knows no deadline.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd="/",
            start_new_session=True)
    except OSError as error:
        raise Unmeasured("%s: %s" % (argv[0], error.strerror)) from error
    try:
        out, err = _output(process, limit_s)
    except Unmeasured as problem:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:  # not ours to end (sudo runs as root); it is not waited for
            pass
        raise Unmeasured("%s %s" % (" ".join(argv), problem)) from None
    return process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def _output(process, limit_s):
    """What communicate does, but a program that prints without end does not take all memory."""
    end = time.monotonic() + limit_s
    said, size = {process.stdout: [], process.stderr: []}, 0
    with process.stdout, process.stderr, selectors.DefaultSelector() as waiting:
        for pipe in said:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(0, end - time.monotonic()))
            if time.monotonic() > end:
                raise Unmeasured("gave no answer within %g s" % limit_s)
            for key, _events in ready:
                more = os.read(key.fd, 65536)
                if not more:
                    waiting.unregister(key.fileobj)
                said[key.fileobj].append(more)
                size += len(more)
            if size > OUTPUT_MOST:
                raise Unmeasured("printed more than %d MB" % (OUTPUT_MOST // 2**20))
    try:
        process.wait(max(0, end - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise Unmeasured("gave no answer within %g s" % limit_s) from error
    return b"".join(said[process.stdout]), b"".join(said[process.stderr])


def first_line(text):
    """The first line with something in it, cut to a length that fits into a sentence."""
    for line in text.splitlines():
        if line.strip():
            return line.strip()[:200]
    return ""


def text_of(path, most=65536):
    """The beginning of a file as text. Raises Unmeasured."""
    try:
        with open(path, "rb") as handle:
            return handle.read(most).decode("utf-8", "replace")
    except OSError as error:
        raise Unmeasured("%s: %s" % (path, error.strerror)) from error
