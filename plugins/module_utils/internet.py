# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Do the package mirrors answer, directly or by the proxy that the machine is set up with?"""

import os
import re
import socket
import ssl
import time
from http.client import HTTPConnection, HTTPSConnection, InvalidURL
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

from ansible_collections.llmgw.preflight.plugins.module_utils.apt_configuration import DIRECT, apt_proxy
from ansible_collections.llmgw.preflight.plugins.module_utils.background import in_background
from ansible_collections.llmgw.preflight.plugins.module_utils.connecting import connect_to_any
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import once

NO_ADDRESS = "its address, or the proxy's, can not be made out"
AGENT = "Debian APT-HTTP/1.3 (llmgw.preflight)"  # some proxies and mirrors let in apt alone, by its name
STAGES = ("dns", "connect", "tls", "http")
SCRIPT = "a script tells apt the proxy (Proxy-Auto-Detect), and is not run"
TRUST = re.compile("^acquire::https::(.*::)?(verify|ca|ssl|crl)")
CERTIFICATE = re.compile("^acquire::https::(.*::)?sslcert")  # which apt shows; without it a server may answer with an error
# What a proxy answers when it is the proxy that would not; from 500 on it could not.
PROXY_REFUSED = (403, 407)
AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"  # see CaInfo in apt-transport-https(1)


def internet(urls, limit_s, configuration):
    """One entry a URL, all tried at once: url, ok (None: only apt could try it), via, stage (dns, connect, tls, http), reason, seconds."""
    configuration = configuration()  # which has a deadline of its own
    tries = [Try(url, limit_s, configuration) for url in urls]
    try_all(tries, limit_s)
    return [attempt.result() for attempt in tries]


def try_all(tries, limit_s):
    """All of them at once, and no longer than that."""
    end = time.monotonic() + limit_s
    for thread in [in_background(end, attempt.run) for attempt in tries]:  # since looking up a name can't be given a deadline
        thread.join(max(0, end - time.monotonic()))


class Try(object):
    """One URL."""

    only_as_apt = False  # whether it says nothing that it answers another way than apt will go

    def __init__(self, url, limit_s, configuration):
        self.url = url
        self.limit_s = limit_s
        self.configuration = configuration  # of apt
        self.via = "direct"
        self.stage = "dns"
        self.addresses = ()
        self.ok = False
        self.reason = None
        self.seconds = None
        self.untried = None  # why
        self.own_ways = {}  # stage -> what apt has that keeps us from trying it as apt would

    def result(self):
        reason = None if self.ok else self.reason or "no answer within %g s" % self.limit_s
        found = {"url": without_secret(self.url), "ok": self.ok, "via": self.via, "stage": None if self.ok else self.stage,
                 "reason": reason, "seconds": self.seconds}
        untried = self.untried or not self.ok and self.own_ways.get(self.stage)
        return dict(found, ok=None, stage=None, reason=untried) if untried else found

    def run(self):
        begun = time.monotonic()
        try:
            url = urlsplit(self.url)
            # It is apt that will ask, and its own configuration comes before the environment.
            options, unread = self.configuration
            by_host = any(re.match("acquire::https?::proxy::%s$" % re.escape(url.hostname or ""), option) for option in options)
            by_script = not by_host and any(re.match("acquire::https?::proxy-?auto-?detect$", option) for option in options)
            if unread:
                self.own_ways = dict.fromkeys(STAGES, "this user can not read how apt goes there (%s)" % unread[0])
            elif by_script:
                self.own_ways = dict.fromkeys(STAGES, SCRIPT)
            elif any(TRUST.match(option) for option in options):
                stages = ("tls", "http") if any(CERTIFICATE.match(option) for option in options) else ("tls",)
                self.own_ways = dict.fromkeys(stages, "apt has settings of its own for TLS, with which it is not tried")
            proxy = apt_proxy(options, url.scheme, url.hostname)
            if proxy is None and not proxy_bypass(url.hostname or ""):
                proxy = getproxies().get(url.scheme)
            if by_script and self.only_as_apt:
                self.untried = SCRIPT
            elif proxy and re.match(r"(?!http:)[\w+.-]+://", proxy):
                self.untried = "it is not tried by way of %s" % proxy.partition(":")[0]
            else:
                self.ask(None if proxy == DIRECT else proxy)
        except ValueError:  # of an address that is none; its words can hold what is secret
            self.stage, self.reason = "http", NO_ADDRESS
        self.seconds = round(time.monotonic() - begun, 3)

    def ask(self, proxy):
        self.via = without_secret(proxy) if proxy else "direct"
        target = urlsplit(proxy if proxy and "//" in proxy else "//" + proxy if proxy else self.url)
        try:
            self.stage = "dns"
            self.addresses = socket.getaddrinfo(target.hostname, None, 0, socket.SOCK_STREAM)
            self.stage = "connect"
            opener = build_opener(ProxyHandler({urlsplit(self.url).scheme: proxy} if proxy else {}), _NoRedirect,
                                  _Http(self), _Https(self))
            opener.open(Request(self.url, method="HEAD", headers={"User-Agent": AGENT}), timeout=self.limit_s).close()
            self.ok = True
        except HTTPError as answer:  # any answer of the mirror itself shows that it is reached
            answer.close()
            self.stage = "http"
            self.take(answer, opener, proxy)
        except URLError as error:
            self.fail(error.reason, proxy)
        except Exception as error:  # read timeouts, and whatever http.client makes of an odd answer
            self.stage = self.stage if isinstance(error, socket.gaierror) else "http"
            self.fail(error, proxy)

    def take(self, answer, opener, proxy):
        """Make out what an answer other than 200 means."""
        if proxy:
            self.ok = answer.code not in PROXY_REFUSED and answer.code < 500
            self.reason = "the proxy answers %d %s" % (answer.code, answer.reason)
        else:
            self.reason = self.portal(opener, answer)
            self.ok = not self.reason

    def portal(self, opener, answer):
        """What shows that something in between answers in the mirror's place, to have somebody log in first; None if nothing does.

        A mirror may send its callers elsewhere, but not those that ask it for a name that nobody can have (RFC 6761); or it sends all of
        them to the same file elsewhere, where nobody logs in.
        """
        if answer.code == 511:  # RFC 6585
            return "something in between asks for a login (511 %s)" % answer.reason
        own, (elsewhere, path) = urlsplit(self.url), _sent_to(answer)
        if elsewhere in (None, own.hostname) or len(own.path) > 1 and path.endswith(own.path):
            return None
        try:
            opener.open(Request(self.url, method="HEAD", headers={"User-Agent": AGENT, "Host": "nobody.invalid"}),
                        timeout=self.limit_s).close()
        except HTTPError as other:
            other.close()
            if _sent_to(other)[0] == elsewhere:
                return "something in between sends every caller to %s" % elsewhere
        except Exception:  # no portal would leave a caller without an answer
            pass
        return None

    def fail(self, error, proxy):
        if isinstance(error, ssl.SSLError):
            self.stage = "tls"
        if isinstance(error, socket.timeout):
            self.reason = "no answer within %g s" % self.limit_s
        elif isinstance(error, socket.gaierror):
            self.reason = "its name can not be resolved (%s)" % error.strerror
        elif isinstance(error, InvalidURL):
            self.reason = NO_ADDRESS
        elif getattr(error, "strerror", None):  # the system's own words, in which a user's short name may well occur
            self.reason = error.strerror
        else:
            self.reason = str(error or type(error).__name__)
            if "Tunnel connection failed" in self.reason:  # http.client's words for a proxy that will not
                self.stage = "http"
            for secret in _secrets_of(proxy):
                self.reason = self.reason.replace(secret, "***")


def _sent_to(answer):
    """Host and path to which an answer sends its caller; None and no path if nowhere."""
    try:
        place = urlsplit(answer.headers.get("Location") or "")
        return place.hostname, place.path
    except ValueError:  # no address at all
        return None, ""


def _telling(kind, attempt):
    """A connection class that tells the attempt when it is connected, which urllib does not."""
    def make(host, **options):
        connection = kind(host, **options)
        # Its own would look up the name again, and wait for each address as long as there is time.
        connection._create_connection = lambda place, limit_s, source=None: connect_to_any(attempt.addresses, place[1], limit_s)
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


def trust():
    """Python's own settings, and the authorities that apt trusts: a Python that is not the system's looks for them elsewhere."""
    context = ssl.create_default_context()
    if os.path.realpath(ssl.get_default_verify_paths().capath or "") != os.path.realpath(os.path.dirname(AUTHORITIES)):
        try:
            context.load_verify_locations(AUTHORITIES)
        except OSError:  # there are none
            pass
    return context


_context = once(trust)  # which reads all authorities' certificates


class _Https(HTTPSHandler):
    def __init__(self, attempt):
        super(_Https, self).__init__()
        self.attempt = attempt

    def https_open(self, req):
        return self.do_open(_telling(HTTPSConnection, self.attempt), req, context=_context())


class _NoRedirect(HTTPRedirectHandler):
    def http_error_302(self, *arguments):
        return None  # a redirect is an answer, wherever it leads

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def without_secret(address):
    """An address without the user name and password, query and fragment that it may hold, whatever they look like."""
    return re.sub(r"^([\w+.-]+://)?.*@", lambda found: found.group(1) or "", address).split("?")[0].split("#")[0]


def _secrets_of(proxy):
    """Whatever a library could quote of the user name and password of a proxy."""
    inner = re.sub(r"^\w+://", "", proxy or "").rpartition("@")[0]
    return sorted({part for part in [inner] + re.split("[:@/]", inner) if part}, key=len, reverse=True)
