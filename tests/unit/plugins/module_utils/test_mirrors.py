import http.server
import socket
import threading
import urllib.parse

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import apt_configuration, mirrors
from ansible_collections.llmgw.preflight.plugins.module_utils.apt_sources import Source
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured

IN_RELEASE = "/debian/dists/bookworm/InRelease"


@pytest.fixture(autouse=True)
def nothing_of_this_machine(monkeypatch):
    for name in ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(mirrors, "AUTH", ())


@pytest.fixture
def server():
    """server({path: status}, otherwise): the address of a web server on loopback, and what it was asked for: (path, its headers)."""
    made = []

    def serve(statuses=(), otherwise=200, sends_to=""):
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self):
                asked.append((self.path, dict(self.headers)))
                self.send_response(dict(statuses).get(self.path, otherwise))
                self.send_header("Location", sends_to)
                self.end_headers()

            def log_message(self, *_):
                pass

        made.append(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=made[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{made[-1].server_port}", asked

    yield serve
    for one in made:
        one.shutdown()
        one.server_close()


def read(*releases, options=(), unread=(), limit_s=5):
    """What is found of sources whose release files are there."""

    def asked():
        return [Source(release, "x_InRelease") for release in releases], [], []

    found = mirrors.mirrors(asked, limit_s, lambda: apt_configuration.Configuration(dict(options), list(unread)))
    for entry in found:
        entry.pop("seconds")
    return found


def good(source, via="direct"):
    return {"source": source, "ok": True, "via": via, "stage": None, "reason": None}


def bad(source, stage, reason, via="direct"):
    return {"source": source, "ok": False, "via": via, "stage": stage, "reason": reason}


def untried(source, reason, via="direct"):
    return {"source": source, "ok": None, "via": via, "stage": None, "reason": reason}


@pytest.mark.parametrize("status", [200, 206, 301, 304, 405, 501])
def test_one_that_answers(server, status):
    url, asked = server(otherwise=status, sends_to="/elsewhere")
    assert read(url + IN_RELEASE) == [good(f"{url}/debian bookworm")]
    assert [path for path, headers in asked] == [IN_RELEASE]


@pytest.mark.parametrize(("status", "words"), [
    (400, "Bad Request"), (401, "Unauthorized"), (403, "Forbidden"), (410, "Gone"), (429, "Too Many Requests"),
    (500, "Internal Server Error"), (503, "Service Unavailable"),
])
def test_an_answer_that_is_of_no_use_to_apt(server, status, words):
    url, asked = server(otherwise=status)
    assert read(url + IN_RELEASE) == [bad(f"{url}/debian bookworm", "http", f"it answers {status} {words}")]


def test_an_old_archive_has_the_other_file_only(server):
    url, asked = server({IN_RELEASE: 404})
    assert read(url + IN_RELEASE) == [good(f"{url}/debian bookworm")]
    assert [path for path, headers in asked] == [IN_RELEASE, "/debian/dists/bookworm/Release"]


def test_a_suite_that_is_not_there(server):
    url, asked = server(otherwise=404)
    assert read(url + IN_RELEASE) == [bad(f"{url}/debian bookworm", "http", "it answers 404 Not Found")]
    assert len(asked) == 2


def test_a_folder_without_suites_may_have_neither(server):
    url, asked = server(otherwise=404)
    assert read(f"{url}/flat/InRelease") == [good(f"{url}/flat")]


def test_one_that_lets_in_apt_alone(server):
    url, asked = server(otherwise=302, sends_to="http://elsewhere.invalid/")
    read(url + IN_RELEASE)
    assert len(asked) == 2
    assert all(headers["User-Agent"].startswith("Debian APT-HTTP/1.3 (") for _path, headers in asked)


def test_a_captive_portal(server):
    url, asked = server(otherwise=302, sends_to="http://login.hotel.invalid/")
    assert read(url + IN_RELEASE) == [
        bad(f"{url}/debian bookworm", "http", "something in between sends every caller to login.hotel.invalid")]


def test_one_that_is_elsewhere_for_every_caller(server):
    url, asked = server(otherwise=301, sends_to=f"https://www.mirror.invalid/x{IN_RELEASE}")
    assert read(url + IN_RELEASE) == [good(f"{url}/debian bookworm")]
    assert len(asked) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_one_that_asks_for_a_login_that_apt_has(server, monkeypatch, tmp_path, status):
    url, asked = server(otherwise=status)
    secret = url.replace("//", "//me:hunter2@")
    found = read(secret + IN_RELEASE)
    assert found == [good(f"{url}/debian bookworm")]
    assert "Authorization" not in asked[0][1]
    (tmp_path / "own.conf").touch()
    monkeypatch.setattr(mirrors, "AUTH", (f"{tmp_path}/*.conf",))
    assert read(url + IN_RELEASE)[0]["ok"] is True
    monkeypatch.setattr(mirrors, "AUTH", (f"{tmp_path}/closed/*",))
    (tmp_path / "closed").mkdir()
    assert read(url + IN_RELEASE)[0]["ok"] is False
    monkeypatch.setattr(mirrors.os, "access", lambda path, how: path != f"{tmp_path}/closed")
    assert read(url + IN_RELEASE)[0]["ok"] is True


@pytest.mark.parametrize(("option", "ok"), [("acquire::https::sslcert", None), ("acquire::https::own.invalid::sslcert", None),
                                            ("acquire::https::cainfo", False)])
def test_one_that_asks_for_a_certificate_that_apt_has(server, option, ok):
    url, _asked = server(otherwise=400)
    assert read(url + IN_RELEASE, options={option: "/etc/own.pem"})[0]["ok"] is ok


def test_how_far_it_got(server):
    url, asked = server()
    with socket.socket() as closed, socket.socket() as silent:
        for one in (closed, silent):
            one.bind(("127.0.0.1", 0))
        silent.listen()
        bases = {"connect": f"http://127.0.0.1:{closed.getsockname()[1]}", "http": f"http://127.0.0.1:{silent.getsockname()[1]}",
                 "tls": url.replace("http", "https"), "dns": "http://no.such.invalid", None: url}
        found = read(*(base + IN_RELEASE for base in bases.values()), limit_s=2)
    assert [entry["source"] for entry in found] == [f"{base}/debian bookworm" for base in bases.values()]
    assert [entry["stage"] for entry in found] == list(bases)
    assert [entry["ok"] for entry in found] == [False] * 4 + [True]
    assert (found[0]["reason"], found[1]["reason"]) == ("Connection refused", "no answer within 2 s")


def test_each_is_asked_for_itself_and_no_host_too_often(server, monkeypatch):
    monkeypatch.setattr(mirrors, "MOST_OF_A_HOST", 2)
    url, asked = server()
    other = url.replace("127.0.0.1", "localhost")
    releases = [f"{url}/debian/dists/{suite}/InRelease" for suite in "abcd"]
    assert [entry["source"][-1] for entry in read(*releases, f"{other}/debian/dists/z/InRelease")] == ["a", "b", "z"]
    assert sorted(path.split("/")[3] for path, headers in asked) == ["a", "b", "z"]
    monkeypatch.setattr(mirrors, "MOST", 1)
    assert len(read(*releases)) == 1


def test_by_apt_s_proxy(server):
    proxy, asked = server()
    with_login = proxy.replace("//", "//me:hunter2@")
    options = {"acquire::http::proxy": with_login, "acquire::http::proxy::here.invalid": "DIRECT"}
    found = read("http://m.invalid/d/dists/x/InRelease", "http://here.invalid/d/dists/x/InRelease", options=options)
    assert found[0] == good("http://m.invalid/d x", via=proxy)
    assert [path for path, headers in asked] == ["http://m.invalid/d/dists/x/InRelease"]
    assert (found[1]["ok"], found[1]["via"], found[1]["stage"]) == (False, "direct", "dns")
    refusing, asked = server(otherwise=407)
    assert read("http://m.invalid/d/dists/x/InRelease", options={"acquire::http::proxy": refusing}) == [
        bad("http://m.invalid/d x", "http", "the proxy answers 407 Proxy Authentication Required", via=refusing)]
    absent, asked = server(otherwise=404)
    assert read("http://m.invalid/d/dists/x/InRelease", options={"acquire::http::proxy": absent}) == [
        bad("http://m.invalid/d x", "http", "it answers 404 Not Found", via=absent)]


@pytest.mark.parametrize("option", ["acquire::http::proxy-auto-detect", "acquire::http::proxyautodetect"])
def test_a_script_that_tells_the_proxy_is_not_run(server, option):
    url, asked = server()
    options = {option: "/bin/false", "acquire::http::proxy": "http://127.0.0.1:1"}
    assert read(url + IN_RELEASE, options=options) == [
        untried(f"{url}/debian bookworm", "a script tells apt the proxy (Proxy-Auto-Detect), and is not run")]
    assert asked == []
    assert read(url + IN_RELEASE, options={**options, "acquire::http::proxy::127.0.0.1": "DIRECT"}) == [good(f"{url}/debian bookworm")]


def test_ways_that_only_apt_knows(server):
    url, asked = server()
    secure = url.replace("http", "https")
    found = read(
        secure + IN_RELEASE, "tor+http://me:hunter2@x.onion/debian/dists/bookworm/InRelease", "cdrom://Debian/dists/bookworm/InRelease",
        "http://[x/debian/dists/bookworm/InRelease", options={"acquire::https::own.invalid::verify-peer": "false"})
    assert found[:3] == [
        untried(f"{secure}/debian bookworm", "apt has settings of its own for TLS, with which it is not tried"),
        untried("tor+http://x.onion/debian bookworm", "it is not tried by way of tor+http"),
        untried("cdrom://Debian bookworm", "it is a disc"),
    ]
    assert found[3]["ok"] is None
    assert read("http://m.invalid/d/dists/x/InRelease", options={"acquire::http::proxy": "socks5h://me:hunter2@p:1"}) == [
        untried("http://m.invalid/d x", "it is not tried by way of socks5h")]


def test_a_proxy_that_this_user_may_not_know(server):
    url, asked = server()
    reason = "this user can not read how apt goes there (/etc/apt/apt.conf.d/proxy)"
    found = read(url + IN_RELEASE, "http://no.such.invalid/d/dists/x/InRelease", unread=["/etc/apt/apt.conf.d/proxy"])
    assert found == [good(f"{url}/debian bookworm"), untried("http://no.such.invalid/d x", reason)]


def test_a_folder_of_packages(tmp_path, monkeypatch):
    (tmp_path / "own packages" / "dists" / "x").mkdir(parents=True)
    here = f"file:{urllib.parse.quote(str(tmp_path))}"
    assert read(f"{here}/own%20packages/dists/x/InRelease", f"copy:{tmp_path}/./InRelease", f"{here}/none/./InRelease") == [
        good(f"{here}/own%20packages x"), good(f"copy:{tmp_path}/."), bad(f"{here}/none/.", "file", "No such file or directory")]

    def closed(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(mirrors.os, "stat", closed)  # root may see everything
    assert read("file:/root/own/./InRelease") == [untried("file:/root/own/.", "Permission denied")]


def test_of_several_mirrors_one_is_enough(server, tmp_path):
    up, asked = server()
    down, dummy = server(otherwise=503)
    (tmp_path / "list").write_text(f"# ours\n{down}/debian/\tpriority:1\n\n{up}/debian\n")
    source = f"mirror+file:{tmp_path}/list/dists/bookworm/InRelease"
    assert read(source) == [good(f"mirror+file:{tmp_path}/list bookworm")]
    assert [path for path, headers in asked] == [IN_RELEASE]
    (tmp_path / "list").write_text(f"{down}/debian\n")
    assert read(source) == [bad(f"mirror+file:{tmp_path}/list bookworm", "http", "it answers 503 Service Unavailable")]
    (tmp_path / "list").write_text("ftp://a/\n")
    assert read(source) == [untried(f"mirror+file:{tmp_path}/list bookworm", "it is not tried by way of mirror+file")]
    (tmp_path / "list").unlink()
    assert read(source) == [bad(f"mirror+file:{tmp_path}/list bookworm", "file", f"{tmp_path}/list: No such file or directory")]


@pytest.mark.parametrize("kind", ["mirror", "mirror+http"])
def test_a_list_of_mirrors_elsewhere(server, kind):
    url, asked = server()
    assert read(f"{url.replace('http', kind)}/list.txt/dists/x/InRelease")[0]["ok"] is True
    assert [path for path, headers in asked] == ["/list.txt"]


@pytest.mark.parametrize(("problems", "unread", "reason"), [
    (["Malformed"], [], "apt can not make out its sources: Malformed"),
    ([], ["/etc/apt/sources.list"], "this user can not read /etc/apt/sources.list"),
])
def test_where_apt_can_not_make_out_its_sources(problems, unread, reason):
    with pytest.raises(Unmeasured) as problem:
        mirrors.mirrors(lambda: ([], problems, unread), 1, None)
    assert str(problem.value) == reason


def test_a_machine_without_sources():
    assert mirrors.mirrors(lambda: ([], [], []), 1, lambda: None) == []


def test_a_path_that_can_be_none_costs_only_its_own_source(server):
    address, _asked = server()
    bad, fine = read("file:/srv/a%00b/dists/x/InRelease", f"{address}{IN_RELEASE}")
    assert "embedded null" in bad["reason"]  # in the words of that Python
    assert (bad, fine) == (untried("file:/srv/a%00b x", bad["reason"]), good(f"{address}/debian bookworm"))
