# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Listeners that stand in for what the install will start, so that the other machines can try its ports now.

One process for all ports of a machine. It answers only to callers of this run, and ends as soon as all of them have called; after
its deadline at the latest, whatever became of the controller.
"""

import errno
import os
import selectors
import signal
import socket
import time

NAME = "llmgw-preflight"  # as ps and ss show it; the kernel keeps 15 characters
END = "end"  # in place of a caller's number
ASK_S = 1  # for a stand-in on this machine to answer
CALL_S = 10  # for a caller to say who it is
CALLS_MOST = 500  # at the same time
LINE_MOST = 512  # bytes


def open_stand_ins(ports, token, me, lifetime_s, ours=()):
    """Listen on each of ``ports``, a mapping of port to how many machines will call there; ``me`` is this machine's number,
    and ``ours`` are ports on which a process that is called like a stand-in listens now.

    Returns pid (None where nothing had to be opened), open (ports), held (ports that another program listens on, be it a stand-in of
    another run), and not_opened (port and reason of each of the others).
    """
    sockets, held, not_opened = {}, [], []
    for port in sorted(ports):
        try:
            sockets[port] = _listen_again(port, token) if port in ours else listen(port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                held.append(port)
            elif error.errno == errno.EACCES and port < 1024:
                not_opened.append({"port": port, "reason": "only root may listen on it"})
            else:
                not_opened.append({"port": port, "reason": error.strerror})
    pid = _start(sockets, {port: ports[port] for port in sockets}, token, me, lifetime_s) if sockets else None
    for one in sockets.values():
        one.close()
    return {"pid": pid, "open": sorted(sockets), "held": held, "not_opened": not_opened}


def _listen_again(port, token):
    """Listen where a stand-in does already: of an attempt of this run whose answer was lost, which is told to end, or of another."""
    try:
        with socket.create_connection(("127.0.0.1", port), ASK_S) as call:
            call.settimeout(ASK_S)
            call.sendall(("%s %s\n" % (token, END)).encode())
            said = call.recv(LINE_MOST)
    except OSError:  # it has just ended
        said = b""
    if said.startswith((NAME + " -").encode()):
        raise OSError(errno.EADDRINUSE, "a stand-in of another run has it")
    for _attempt in range(20):
        try:
            return listen(port)
        except OSError:
            time.sleep(0.05)
    return listen(port)


def listen(port):
    """On all addresses of both families, as the services do; of IPv4 only where the kernel has no IPv6."""
    try:
        one = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        everywhere = "::"
    except OSError as error:
        if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.ENOPROTOOPT):
            raise
        one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        everywhere = "0.0.0.0"
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that end slowly do not hold the port
        one.bind((everywhere, port))
        one.listen(CALLS_MOST)
        one.setblocking(False)
    except OSError:
        one.close()
        raise
    return one


def _start(sockets, callers, token, me, lifetime_s):
    """Leave a process behind that serves these sockets; return its number."""
    told, tell = os.pipe()
    child = os.fork()
    if child:
        os.close(tell)
        with os.fdopen(told) as pipe:
            number = int(pipe.read())
        os.waitpid(child, 0)
        return number
    try:  # from here on nothing may return: the module's own end is the parent's
        os.setsid()
        if os.fork():
            os._exit(0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.alarm(max(1, int(lifetime_s)))
        let_go({tell}.union(one.fileno() for one in sockets.values()))
        os.write(tell, str(os.getpid()).encode())  # not before it can be known by its name
        os.close(tell)
        serve(sockets, callers, token, me)
    finally:
        os._exit(0)


def let_go(kept):
    """Hold on to nothing of the login: it ends when its last file is closed."""
    os.chdir("/")
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2 and number not in kept:
            try:
                os.close(number)
            except OSError:  # the one that listed the folder
                pass
    with open("/proc/self/comm", "w") as name:
        name.write(NAME)


def serve(sockets, callers, token, me):
    """Answer callers until as many machines as expected have called at each port."""
    missing = {port: (number, set()) for port, number in callers.items()}
    calls = {}  # socket -> (port, what it has said so far, until when it may)
    waiting = selectors.DefaultSelector()
    for port, one in sockets.items():
        waiting.register(one, selectors.EVENT_READ, port)
    while missing:
        for key, _events in waiting.select(1):
            if key.data is not None:
                if len(calls) >= CALLS_MOST:  # whoever has said nothing for longest
                    oldest = next(iter(calls))
                    _end(oldest, waiting, calls)
                    oldest.close()
                _accept(key.fileobj, key.data, waiting, calls)
                continue
            if key.fileobj not in calls:  # it has just made room for another
                continue
            port, said, until = calls[key.fileobj]
            said += _read(key.fileobj)
            if b"\n" not in said and len(said) < LINE_MOST and said != calls[key.fileobj][1]:
                calls[key.fileobj] = (port, said, until)
                continue
            _end(key.fileobj, waiting, calls)
            caller = answer(key.fileobj, said, token, me, port)
            if caller == END:
                return
            if caller and port in missing:
                missing[port][1].add(caller)
                if len(missing[port][1]) >= missing[port][0]:
                    del missing[port]
        for call in [call for call, (_port, _said, until) in calls.items() if until < time.monotonic()]:
            _end(call, waiting, calls)
            call.close()


def answer(call, said, token, me, port):
    """Answer one line, close the connection, and return who called; None for whoever is not of this run."""
    words = said.decode("utf-8", "replace").split()
    known = len(words) == 2 and words[0] == token and (words[1].isdigit() or words[1] == END)
    try:
        call.send(("%s %s %d %d\n" % (NAME, token if known else "-", me, port)).encode())
    except OSError:
        pass
    call.close()
    return words[1] if known else None


def _accept(server, port, waiting, calls):
    try:
        call = server.accept()[0]
    except OSError:  # it has hung up by now
        return
    call.setblocking(False)
    calls[call] = (port, b"", time.monotonic() + CALL_S)
    waiting.register(call, selectors.EVENT_READ, None)


def _read(call):
    try:
        return call.recv(LINE_MOST)
    except OSError:
        return b""


def _end(call, waiting, calls):
    waiting.unregister(call)
    del calls[call]
