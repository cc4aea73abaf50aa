import http.server
import socket
import threading
import time
import types

import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import apt_configuration, internet
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(apt_configuration, "find", lambda program: None)


@pytest.fixture
def server():
    """server(status, sends_to): the address of a web server on loopback, and the paths that it was asked for."""
    made = []

    def serve(status, sends_to=lambda host: f"http://{host}/elsewhere"):
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_HEAD(self):
                asked.append(self.path)
                self.send_response(status)
                self.send_header("Location", sends_to(self.headers["Host"]))
                self.end_headers()

            def log_message(self, *_):
                pass

        made.append(http.server.HTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=made[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{made[-1].server_port}", asked

    yield serve
    for one in made:
        one.shutdown()
        one.server_close()


def configure_apt(monkeypatch, dump):
    monkeypatch.setattr(apt_configuration, "find", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr(apt_configuration, "text_of", lambda path: dump)
    monkeypatch.setattr(apt_configuration, "command", lambda argv, limit_s: (0, dump, ""))


def ask(urls, limit_s):
    return internet.internet(urls, limit_s, lambda: apt_configuration.apt_configuration(limit_s))


def tried(url):
    (found,) = ask([url], 5)
    assert found.pop("seconds") is not None
    return found


@pytest.mark.parametrize("status", [200, 301, 403, 404, 500, 503])
def test_any_answer_of_the_mirror_is_an_answer(server, status):
    url, asked = server(status)
    assert tried(f"{url}/debian/") == {"url": f"{url}/debian/", "ok": True, "via": "direct", "stage": None, "reason": None}
    assert asked == ["/debian/"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_portal_that_answers_for_the_mirror_is_none(server, status):
    url, asked = server(status, lambda host: "http://login.hotel.invalid/?for=" + host)
    found = tried(url)
    assert found == {"url": url, "ok": False, "via": "direct", "stage": "http",
                     "reason": "something in between sends every caller to login.hotel.invalid"}
    assert len(asked) == 2


def test_a_portal_that_says_so(server):
    url, asked = server(511)
    found = tried(url)
    assert (found["ok"], found["stage"], found["reason"]) == (
        False, "http", "something in between asks for a login (511 Network Authentication Required)")


@pytest.mark.parametrize("sends_to", [
    lambda host: "http://www.mirror.invalid/" if "nobody" not in host else f"http://{host}/",
    lambda host: "http://[broken", lambda host: "/here", lambda host: "",
])
def test_a_mirror_that_sends_its_callers_elsewhere_is_reached(server, sends_to):
    url, asked = server(301, sends_to)
    assert tried(url)["ok"] is True


@pytest.mark.parametrize(("status", "ok"), [(200, True), (404, True), (407, False), (500, False), (502, False), (503, False), (403, False)])
def test_by_the_proxy_of_the_environment(server, monkeypatch, status, ok):
    proxy, asked = server(status)
    monkeypatch.setenv("http_proxy", proxy.replace("//", "//user:secret@"))
    found = tried("http://mirror.invalid/x")
    reason = None if ok else f"the proxy answers {status} {http.HTTPStatus(status).phrase}"
    assert found == {"url": "http://mirror.invalid/x", "ok": ok, "via": proxy, "stage": None if ok else "http", "reason": reason}
    assert asked == ["http://mirror.invalid/x"]


def test_by_the_proxy_of_apt(server, monkeypatch):
    proxy, asked = server(200)
    configure_apt(monkeypatch, f'Acquire::http::Proxy "{proxy}";\n')
    assert tried("http://mirror.invalid/x")["via"] == proxy
    assert asked == ["http://mirror.invalid/x"]


def test_apt_goes_direct_to_some(server, monkeypatch):
    url, asked = server(200)
    configure_apt(monkeypatch, 'Acquire::http::Proxy "http://127.0.0.1:1";\nAcquire::http::Proxy::127.0.0.1 "DIRECT";\n')
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert tried(url)["via"] == "direct"


@pytest.mark.parametrize("secret", ["u:hun/t@er2", "user:s3c@ret", "user:hunter2", "onlyuser"])
def test_no_secret_of_a_proxy_is_shown_however_it_fails(monkeypatch, secret):
    monkeypatch.setenv("http_proxy", f"http://{secret}@127.0.0.1:1")
    found = str(ask(["http://mirror.invalid/x?token=t0ken"], 5))
    assert not [part for part in (*secret.replace("@", ":").replace("/", ":").split(":"), "t0ken") if len(part) > 2 and part in found]


def test_what_a_proxy_repeats_of_its_password_is_not_shown(server, monkeypatch):
    def refuse(handler):
        handler.send_response(407, "not for user:hunter2")
        handler.end_headers()

    monkeypatch.setattr(http.server.BaseHTTPRequestHandler, "do_CONNECT", refuse, raising=False)
    proxy, dummy = server(200)
    monkeypatch.setenv("https_proxy", proxy.replace("http://", "http://user:hunter2@"))
    found = tried("https://mirror.invalid/")
    assert (found["stage"], found["reason"]) == ("http", "Tunnel connection failed: 407 not for ***")


@pytest.mark.parametrize("url", ["http://127.0.0.1:s3cret/", "http://u:[s3cret]@127.0.0.1/", "http://u:p:s3cret@127.0.0.1:x/"])
@pytest.mark.parametrize("proxy", ["", "http://127.0.0.1:s3cret", "http://u:[s3cret]@127.0.0.1:1"])
def test_an_address_that_is_none_is_told_as_such_and_not_quoted(monkeypatch, capfd, url, proxy):
    monkeypatch.setenv("http_proxy", proxy)
    found = tried(url)
    assert "s3cret" not in found["reason"] + "".join(capfd.readouterr())
    assert found["ok"] is False


@pytest.mark.parametrize("option", ['Acquire::http::Proxy "socks5h://me:hunter2@127.0.0.1:1"', 'Acquire::http::Proxy-Auto-Detect "/x"'])
def test_a_way_that_only_apt_could_go_is_no_failure(monkeypatch, option):
    configure_apt(monkeypatch, f"{option};\n")
    found = tried("http://mirror.invalid/")
    assert (found["ok"], found["stage"]) == (None, None)
    assert "hunter2" not in str(found)


def test_where_apt_does_not_tell_how_it_goes_there_it_is_no_failure(server, monkeypatch):
    def command(argv, limit_s):
        raise Unmeasured("apt-config gave no answer within 5 s")

    configure_apt(monkeypatch, 'Acquire::http::Proxy "http://10.0.0.1";\n')
    monkeypatch.setattr(apt_configuration, "command", command)
    found = tried("http://mirror.invalid/")
    assert (found["ok"], found["reason"]) == (None, "this user can not read how apt goes there (apt-config gave no answer within 5 s)")
    assert tried(server(200)[0])["ok"] is True


def test_how_long_apt_takes_to_tell_is_not_taken_for_the_mirrors(server):
    def configuration():
        time.sleep(0.5)
        return apt_configuration.Configuration({}, [])

    assert internet.internet([server(200)[0]], 0.4, configuration)[0]["ok"] is True


def test_what_answers_also_without_the_proxy_that_a_script_tells_is_reached(server, monkeypatch):
    url, _asked = server(200)
    configure_apt(monkeypatch, 'Acquire::http::Proxy-Auto-Detect "/x";\n')
    assert tried(url)["ok"] is True


def test_words_of_the_system_are_left_as_they_are(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://re:us@127.0.0.1:1")
    assert tried("http://mirror.invalid/")["reason"] == "Connection refused"


def test_no_proxy_is_obeyed(server, monkeypatch):
    url, asked = server(200)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert tried(url)["via"] == "direct"


def test_an_address_without_a_host(monkeypatch):
    monkeypatch.setenv("no_proxy", "example.com")
    assert tried("http:///debian")["stage"] == "dns"


def test_how_far_it_got(monkeypatch):
    with socket.socket() as closed, socket.socket() as silent, socket.socket() as plain:
        for one in (closed, silent, plain):
            one.bind(("127.0.0.1", 0))
        silent.listen()
        plain.listen()

        def answer_plainly():
            connection = plain.accept()[0]
            connection.sendall(b"this is no TLS\r\n" * 8)
            connection.close()

        threading.Thread(target=answer_plainly, daemon=True).start()
        urls = {name: f"{scheme}://127.0.0.1:{one.getsockname()[1]}/" for name, scheme, one in (
            ("closed", "http", closed), ("silent", "http", silent), ("plain", "https", plain))}
        found = {name: ask([url], 2)[0] for name, url in (*urls.items(), ("unknown", "http://no.such.invalid/"))}
    assert {name: (entry["ok"], entry["stage"]) for name, entry in found.items()} == {
        "closed": (False, "connect"), "silent": (False, "http"), "plain": (False, "tls"), "unknown": (False, "dns")}
    assert found["closed"]["reason"] == "Connection refused"
    assert found["silent"]["reason"] == "no answer within 2 s"
    assert found["unknown"]["reason"].startswith("its name can not be resolved (")


@pytest.fixture
def places(server, monkeypatch):
    """places(what is at each of its addresses): the URL of a name, which is looked up once: a server, nobody, silence, or no way there."""
    url, _asked = server(200)
    port = int(url.rpartition(":")[2])
    at = {"answers": "127.0.0.1", "refuses": "127.0.0.2", "silent": "127.0.0.3", "no way": "255.255.255.255"}
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind((at["silent"], port))
        full.listen(0)
        for one in (first, second):  # after which the kernel lets nobody else in
            one.setblocking(False)
            one.connect_ex(full.getsockname())

        def lead(*names):
            asked = []

            def look_up(*of):
                asked.append(of)
                assert len(asked) == 1
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (at[name], 0)) for name in names]

            monkeypatch.setattr(internet.socket, "getaddrinfo", look_up)
            return f"http://mirror:{port}/"

        yield lead


@pytest.mark.parametrize("names", [["silent", "answers"], ["refuses", "answers"], ["no way", "answers"],
                                   ["silent", "refuses", "silent", "no way", "answers", "silent"]])
def test_one_address_that_answers_is_enough(places, names):
    assert tried(places(*names))["ok"]


@pytest.mark.parametrize(("names", "reason"), [
    (["refuses", "refuses"], "Connection refused"), (["silent", "refuses"], "no answer within 1 s"), (["no way"], "Network is unreachable"),
])
def test_where_none_of_them_answers(places, names, reason):
    (found,) = ask([places(*names)], 1)
    assert (found["ok"], found["stage"], found["reason"]) == (False, "connect", reason)


@pytest.mark.parametrize(("own", "loaded"), [("certs", []), ("to_certs", []), ("elsewhere", ["certs/all.crt"]), (None, ["certs/all.crt"])])
@pytest.mark.parametrize("error", [None, OSError])
def test_whom_apt_trusts_is_trusted_by_any_python(monkeypatch, tmp_path, own, loaded, error):
    (tmp_path / "certs").mkdir()
    (tmp_path / "to_certs").symlink_to("certs")
    told = []

    def load_verify_locations(path):
        told.append(path)
        if error:
            raise error

    context = types.SimpleNamespace(load_verify_locations=load_verify_locations)
    monkeypatch.setattr(internet, "AUTHORITIES", f"{tmp_path}/certs/all.crt")
    monkeypatch.setattr(internet.ssl, "create_default_context", lambda: context)
    monkeypatch.setattr(internet.ssl, "get_default_verify_paths", lambda: types.SimpleNamespace(capath=own and f"{tmp_path}/{own}"))
    assert internet.trust() is context
    assert told == [f"{tmp_path}/{path}" for path in loaded]


def test_a_name_that_is_looked_up_for_ever(monkeypatch):
    stuck = threading.Event()
    monkeypatch.setattr(internet.socket, "getaddrinfo", lambda *_: stuck.wait() and [])
    (found,) = ask(["http://mirror/"], 0.2)
    stuck.set()
    assert found == {"url": "http://mirror/", "ok": False, "via": "direct", "stage": "dns",
                     "reason": "no answer within 0.2 s", "seconds": None}


@pytest.mark.parametrize(("proxy", "shown"), [
    ("http://u:p@proxy:3128/", "http://proxy:3128/"),
    ("http://u:p%40x@proxy:3128/", "http://proxy:3128/"),
    ("u:p@proxy:3128", "proxy:3128"),
    ("http://u:hun/t@er2@10.0.0.1:1200", "http://10.0.0.1:1200"),
    ("http://mirror/x?token=y#z", "http://mirror/x"),
    ("proxy:3128", "proxy:3128"),
])
def test_no_secret_of_a_proxy_is_kept(proxy, shown):
    assert internet.without_secret(proxy) == shown
