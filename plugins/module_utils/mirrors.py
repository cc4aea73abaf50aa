# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Do the machine's own package sources answer apt, directly or by the proxy that it is set up with?

Each is asked for its release file, InRelease or Release, as apt-get update begins. No name and password is sent.
"""

import glob
import os
import re
from collections import Counter
from urllib.parse import unquote, urlsplit

from ansible_collections.llmgw.preflight.plugins.module_utils.internet import Try, try_all
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, text_of

MOST_OF_A_HOST = 8  # requests: enough to tell, and no burden to a mirror
MOST = 32
AUTH = ("/etc/apt/auth.conf", "/etc/apt/auth.conf.d/*")  # names and passwords, which root alone may read
NO_HEAD = (405, 501)  # who does not know this kind of question answers all the same


def mirrors(asked, limit_s, configuration):
    """One entry a source: source, ok (None where it could not be tried), via, stage (dns, connect, tls, http, file), reason, seconds."""
    sources, problems, unread = asked()
    if not sources and problems + unread:
        raise Unmeasured("apt can not make out its sources: %s" % problems[0] if problems else "this user can not read %s" % unread[0])
    configuration = configuration()
    with_login = any(glob.glob(pattern) or _is_closed(os.path.dirname(pattern)) for pattern in AUTH)
    rows, all_tries, of_host = [], [], Counter()
    for source in sources:
        try:
            urls, known = way_to(source.address)
            hosts = [urlsplit(url).hostname for url in urls]
        except ValueError as error:
            urls, hosts, known = [], [], _known(None, str(error))
        if urls and (max(of_host[host] for host in hosts) >= MOST_OF_A_HOST or len(all_tries) >= MOST):
            continue
        of_host.update(set(hosts))
        tries = [Mirror(url, limit_s, configuration, with_login or "@" in source.address) for url in urls]
        all_tries += tries
        rows.append((source.name, tries, known))
    try_all(all_tries, limit_s)
    found = []
    for name, tries, known in rows:
        results = [attempt.result() for attempt in tries]
        # Of several mirrors for one source one is enough.
        result = next((result for result in results if result["ok"]), results[0] if results else known)
        found.append(dict({"source": name}, **{key: result[key] for key in ("ok", "via", "stage", "reason", "seconds")}))
    return found


def _is_closed(folder):
    return os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK)


def way_to(address):
    """The URLs that apt could ask for this source's release file, one of them being enough; or else ([], what is known of it)."""
    kind, rest = address.partition(":")[::2]
    base, dists, suite = address.rpartition("/dists/") if "/dists/" in address else (address, "", "")
    end = dists + suite + "/InRelease"
    if kind in ("http", "https"):
        return [_without_login(address) + "/InRelease"], None
    if kind in ("file", "copy"):
        try:
            os.stat(unquote(re.sub("^//[^/]*", "", rest)))
            return [], _known(True, None)
        except OSError as error:
            return [], _known(False if isinstance(error, FileNotFoundError) else None, error.strerror)
    if kind == "mirror+file":
        path = unquote(re.sub("^//[^/]*", "", base.partition(":")[2]))
        try:
            lines = [line.split() for line in text_of(path).splitlines()]
        except Unmeasured as problem:
            return [], _known(None if os.path.exists(path) else False, str(problem))
        listed = [line[0] for line in lines if line and line[0].startswith(("http://", "https://"))]
        if listed:
            return [_without_login(mirror.rstrip("/")) + end for mirror in listed[:MOST_OF_A_HOST]], None
    if kind in ("mirror", "mirror+http", "mirror+https") and dists:  # the list is what is asked for first
        return [_without_login(re.sub(r"^mirror(\+(https?))?:", lambda match: (match.group(2) or "http") + ":", base))], None
    return [], _known(None, "it is a disc" if kind == "cdrom" else "it is not tried by way of %s" % kind)


def _known(ok, reason):
    return {"ok": ok, "via": "direct", "stage": None if ok or ok is None else "file", "reason": reason, "seconds": None}


def _without_login(address):
    return re.sub("^([a-z]+://)[^/]*@", r"\1", address)


class Mirror(Try):
    """One release file, or a list of mirrors."""

    only_as_apt = True

    def __init__(self, url, limit_s, configuration, with_login):
        super(Mirror, self).__init__(url, limit_s, configuration)
        self.with_login = with_login

    def take(self, answer, opener, proxy):
        super(Mirror, self).take(answer, opener, proxy)
        if not self.ok or answer.code < 400 or answer.code in NO_HEAD or answer.code in (401, 403) and self.with_login:
            return
        if answer.code == 404 and self.url.endswith("/InRelease"):  # an old archive has the other
            self.url = self.url[:-len("InRelease")] + "Release"
            self.ok = False
            self.ask(proxy)
        # A folder of packages for itself, without suites, may do without both.
        elif not (answer.code == 404 and "/dists/" not in self.url):
            self.ok, self.reason = False, "it answers %d %s" % (answer.code, answer.reason)
