from ansible_collections.llmgw.preflight.plugins.module_utils import apt_configuration
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, once


def test_apt_takes_for_https_what_it_is_told_of_http():
    options = {"acquire::http::proxy": "http://p:1", "acquire::http::proxy::a": "DIRECT", "acquire::https::proxy": "http://p:2"}
    assert apt_configuration.apt_proxy(options, "https", "b") == "http://p:2"
    assert apt_configuration.apt_proxy(options, "https", "a") == apt_configuration.DIRECT
    del options["acquire::https::proxy"]
    assert apt_configuration.apt_proxy(options, "https", "b") == "http://p:1"
    assert apt_configuration.apt_proxy({}, "https", "b") is None


def test_apt_is_asked_once_and_only_where_its_files_say_something_of_it(monkeypatch):
    calls = []
    monkeypatch.setattr(apt_configuration, "find", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr(apt_configuration, "glob", type("", (), {"glob": lambda pattern: ["/a", "/b"]}))
    dump = 'Acquire::HTTP::Proxy "http://p/";\n'
    monkeypatch.setattr(apt_configuration, "command", lambda argv, limit_s: (calls.append(argv), (0, dump, ""))[1])
    texts = {"/b": "APT::x 1;"}

    def text_of(path):
        if path not in texts:
            raise Unmeasured("no")
        return texts[path]

    monkeypatch.setattr(apt_configuration, "text_of", text_of)
    monkeypatch.setattr(apt_configuration.os.path, "exists", lambda path: path == "/a")
    assert apt_configuration.apt_configuration(1) == ({}, ["/a"])
    assert calls == []
    texts["/b"] = "Acquire { https { Verify-Peer false; } }"
    configuration = once(lambda: apt_configuration.apt_configuration(1))
    assert configuration() == configuration() == ({"acquire::http::proxy": "http://p/"}, ["/a"])
    assert calls == [["/usr/bin/apt-config", "dump", "Acquire"]]

    def command(argv, limit_s):
        raise Unmeasured("no answer")

    monkeypatch.setattr(apt_configuration, "command", command)
    assert apt_configuration.apt_configuration(1) == ({}, ["/a", "no answer"])
