# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Do the package mirrors answer, directly or by the proxy that the machine is set up with?"""

import glob
import re
import socket
import ssl
import threading
import time
from http.client import HTTPConnection, HTTPSConnection
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    ProxyHandler,
    Request,
    build_opener,
    getproxies,
    proxy_bypass,
)

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find, text_of

# What a proxy answers when it is the proxy that could not, or would not.
PROXY_REFUSED = (403, 407, 502, 503, 504)


def internet(urls, limit_s):
    """One entry a URL, all tried at once: url, ok, via, stage (dns, connect, tls, http), reason, seconds."""
    tries = [Try(url, limit_s) for url in urls]
    for attempt in tries:
        attempt.start()
    end = time.monotonic() + limit_s
    for attempt in tries:
        attempt.join(max(0, end - time.monotonic()))
    return [attempt.result() for attempt in tries]


class Try(threading.Thread):
    """One URL. In a thread, since looking up a name can't be given a deadline."""

    daemon = True

    def __init__(self, url, limit_s):
        super(Try, self).__init__()
        self.url = url
        self.limit_s = limit_s
        self.via = "direct"
        self.stage = "dns"
        self.ok = False
        self.reason = None
        self.seconds = None

    def result(self):
        reason = None if self.ok else self.reason or "no answer within %g s" % self.limit_s
        return {"url": self.url, "ok": self.ok, "via": self.via, "stage": None if self.ok else self.stage,
                "reason": reason, "seconds": self.seconds}

    def run(self):
        begun = time.monotonic()
        scheme = urlsplit(self.url).scheme
        # apt may know a proxy that the environment does not, and it is apt that will ask.
        proxy = getproxies().get(scheme) or apt_proxy(scheme, self.limit_s)
        self.ask(None if proxy and proxy_bypass(urlsplit(self.url).hostname) else proxy)
        self.seconds = round(time.monotonic() - begun, 3)

    def ask(self, proxy):
        self.via = without_secret(proxy) if proxy else "direct"
        target = urlsplit(proxy if proxy and "//" in proxy else "//" + proxy if proxy else self.url)
        try:
            self.stage = "dns"
            socket.getaddrinfo(target.hostname, None, 0, socket.SOCK_STREAM)
            self.stage = "connect"
            opener = build_opener(ProxyHandler({urlsplit(self.url).scheme: proxy} if proxy else {}), _NoRedirect,
                                  _Http(self), _Https(self))
            opener.open(Request(self.url, method="HEAD", headers={"User-Agent": "llmgw.preflight"}),
                        timeout=self.limit_s).close()
            self.ok = True
        except HTTPError as answer:  # any answer of the mirror itself shows that it is reached
            answer.close()
            self.ok = not (proxy and answer.code in PROXY_REFUSED)
            self.stage, self.reason = "http", "the proxy answers %d %s" % (answer.code, answer.reason)
        except URLError as error:
            self.fail(error.reason)
        except Exception as error:  # read timeouts, and whatever http.client makes of an odd answer
            self.stage = self.stage if isinstance(error, socket.gaierror) else "http"
            self.fail(error)

    def fail(self, error):
        if isinstance(error, ssl.SSLError):
            self.stage = "tls"
        if isinstance(error, socket.timeout):
            self.reason = "no answer within %g s" % self.limit_s
        elif isinstance(error, socket.gaierror):
            self.reason = "its name can not be resolved (%s)" % error.strerror
        else:
            self.reason = str(getattr(error, "strerror", None) or error or type(error).__name__)
            if "Tunnel connection failed" in self.reason:  # http.client's words for a proxy that will not
                self.stage = "http"


def _telling(kind, attempt):
    """A connection class that tells the attempt when it is connected, which urllib does not."""
    def make(host, **options):
        connection = kind(host, **options)
        connect = connection.connect

        def connect_and_tell():
            connect()
            attempt.stage = "http"

        connection.connect = connect_and_tell
        return connection

    return make


class _Http(HTTPHandler):
    def __init__(self, attempt):
        super(_Http, self).__init__()
        self.attempt = attempt

    def http_open(self, req):
        return self.do_open(_telling(HTTPConnection, self.attempt), req)


class _Https(HTTPSHandler):
    def __init__(self, attempt):
        super(_Https, self).__init__()
        self.attempt = attempt

    def https_open(self, req):
        return self.do_open(_telling(HTTPSConnection, self.attempt), req, context=ssl.create_default_context())


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None  # a redirect is an answer


def apt_proxy(scheme, limit_s):
    """apt's own proxy for http or https, or None. apt is asked only where its configuration mentions one."""
    path = find("apt-config")
    files = ["/etc/apt/apt.conf"] + glob.glob("/etc/apt/apt.conf.d/*")
    if not path or not any("proxy" in _text(name).lower() for name in files):
        return None
    try:
        out = command([path, "dump", "Acquire::%s::Proxy" % scheme], limit_s)[1]
    except Unmeasured:
        return None
    found = re.search(r'^Acquire::%s::Proxy "(\w+://[^"]+)";' % scheme, out, re.M | re.I)
    return found.group(1) if found else None


def _text(path):
    try:
        return text_of(path)
    except Unmeasured:
        return ""


def without_secret(proxy):
    """A proxy's address without the user name and password that it may hold."""
    return re.sub(r"^(\w+://)?[^/@]*@", r"\1", proxy)
