from __future__ import annotations

import copy
import datetime
import json
import os
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.settings.profile import FIGURES, FOLDER, MOST_BYTES, shipped

ROOT = Path(__file__).parents[4]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs" / "profile.schema.json").read_text()))
BASE = {
    "description": "web servers",
    "source": {"systems": "the maker", "needs": "the maker"},
    "systems": {"debian": ["12", "13"]},
    "architectures": ["x86_64"],
    "internet_urls": ["http://deb.debian.org/"],
    "needs": {
        "web": {"cpus": 2, "memory_mb": 900, "disk_gb": {"/srv": 5, "/var/log": 1}, "ports": [80, 443],
                "reaches": {"web": [80], "store": [5432]}, "packages": ["nginx", "libssl3t64 | libssl3"], "writes": ["/srv"],
                "source": {"cpus": "the maker"}},
        "store": {"ports": [5432], "source": "the maker"},
    },
}
KEYS = "description, source, needs, systems, architectures, internet_urls"
ROLE = "cpus, cpu_level, memory_mb, gpus, gpu_memory_mb, disk_gb, ports, reaches, packages, writes"
FIGURE = "it must be a whole number, 0 or more."
SPACE = "it must be a whole number, 0 or more, or a mapping of paths to such numbers."
PATHS = "it must be a list of paths of folders, from / on."
PORTS = "it must be a list of port numbers from 1 to 65535."
PACKAGES = "it must be a list of names of packages, or of several for one thing, such as etcd-server | etcd."
VERSIONS = 'it must be a list of versions in quotes, such as ["24.04"].'
ROLE_ID = "a role id consists of letters, digits and underscores."


def changed(path, value):
    """BASE with another value at that path, or without it where the value is KeyError."""
    if not path:
        return value
    made = inner = copy.deepcopy(BASE)
    for key in path[:-1]:
        inner = inner[key]
    if value is KeyError:
        del inner[path[-1]]
    else:
        inner[path[-1]] = copy.deepcopy(value)
    return made


def refusal(given):
    """What the code says against a profile; "" where it takes it."""
    try:
        settings.profile(given)
    except settings.SettingsError as problem:
        return str(problem)
    return ""


@pytest.fixture
def file(tmp_path):
    def write(content, name="own.yml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)
    return write


def test_those_that_ship():
    assert shipped() == ["kubeadm", "llmgw", "patroni"]
    for name in shipped():
        content = yaml.safe_load((FOLDER / f"{name}.yml").read_text())
        SCHEMA.validate(content)
        found = settings.profile(name)
        assert found.name == name
        assert found.as_dict() == {**settings.profile(content).as_dict(), "name": name}
        assert settings.profile(found.as_dict()) == found
    assert settings.profile() == settings.profile(None) == settings.profile("llmgw")


@pytest.mark.parametrize("name", ["kubeadm", "patroni"])
def test_each_figure_of_other_makers_has_a_source_and_each_that_is_left_out_a_reason(name):
    content = yaml.safe_load((FOLDER / f"{name}.yml").read_text())
    assert set(content["source"]) == set(FIGURES) - {"needs"}
    for told in content["source"].values():
        assert "https://" in told
    for need in content["needs"].values():
        assert set(need["source"]) == {"cpus", "memory_mb", "disk_gb", "ports", "reaches", *need} - {"source"}
        for key, told in need["source"].items():
            assert key in need or "https://" not in told
    assert "https://" in need["source"]["ports"]


def test_the_role_s_documentation_names_those_that_ship():
    options = yaml.safe_load((ROOT / "roles/preflight/meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    assert f"({', '.join(f'C({name})' for name in shipped())})" in options["preflight_profile"]["description"][0]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA.schema)


@pytest.mark.parametrize(("path", "value", "message"), [
    (("needs",), KeyError, "needs is not there, and must be."),
    (("systems",), {}, "systems is {}: it must not be empty."),
    (("architectures",), [], "architectures is []: it must not be empty."),
    (("internet_urls",), None, "internet_urls is None: it must not be empty."),
    (("roles",), {}, f"key is 'roles': the known ones are {KEYS}."),
    (("name",), 5, f"key is 'name': the known ones are {KEYS}."),
    (("description",), 5, "description is 5: it must be a text."),
    (("source",), [], "source is []: it must be a text, or a mapping of some of needs, systems, architectures, internet_urls to texts."),
    (("source", "cpus"), "x", "source key is 'cpus': the known ones are needs, systems, architectures, internet_urls."),
    (("source", "systems"), " ", "source.systems is ' ': it must be a text."),
    (("systems", "debian"), "12", f"systems.debian is '12': {VERSIONS}"),
    (("systems", "debian"), [12], f"systems.debian is [12]: {VERSIONS}"),
    (("systems", "Debian"), ["12"],
     "systems key is 'Debian': an os-release ID consists of small letters, digits, dots, underscores and hyphens."),
    (("architectures",), "x86_64", "architectures is 'x86_64': it must be a list of texts."),
    (("internet_urls", 0), "http://me:secret@a/",
     "internet_urls is 'http://***@a/': each must be the address of a web server without a password, such as http://deb.debian.org/."),
    (("needs",), ["web"], "needs is ['web']: it must be a mapping of role ids to what each needs."),
    (("needs", "web server"), {}, f"needs key is 'web server': {ROLE_ID}"),
    (("needs", "größe"), {}, f"needs key is 'größe': {ROLE_ID}"),
    (("needs", "web"), None, f"needs.web is None: it must be a mapping with some of {ROLE}, source."),
    (("needs", "web", "cpu"), 2, f"needs.web key is 'cpu': the known ones are {ROLE}, source."),
    (("needs", "web", "cpus"), -1, f"needs.web.cpus is -1: {FIGURE}"),
    (("needs", "web", "cpus"), "2", f"needs.web.cpus is '2': {FIGURE}"),
    (("needs", "web", "cpus"), True, f"needs.web.cpus is True: {FIGURE}"),
    (("needs", "web", "memory_mb"), 0.5, f"needs.web.memory_mb is 0.5: {FIGURE}"),
    (("needs", "web", "disk_gb"), "5", f"needs.web.disk_gb is '5': {SPACE}"),
    (("needs", "web", "disk_gb", "/srv"), -1, f"needs.web.disk_gb./srv is -1: {FIGURE}"),
    (("needs", "web", "disk_gb", "srv"), 1, "needs.web.disk_gb key is 'srv': it must be the path of a folder, from / on."),
    (("needs", "web", "writes"), "/srv", f"needs.web.writes is '/srv': {PATHS}"),
    (("needs", "web", "writes", 0), "/srv\n", f"needs.web.writes is ['/srv\\n']: {PATHS}"),
    (("needs", "web", "ports"), [80, 65536], f"needs.web.ports is [80, 65536]: {PORTS}"),
    (("needs", "web", "ports"), ["80"], f"needs.web.ports is ['80']: {PORTS}"),
    (("needs", "web", "reaches"), [80], "needs.web.reaches is [80]: it must be a mapping of role ids to lists of their ports."),
    (("needs", "web", "packages"), "nginx", f"needs.web.packages is 'nginx': {PACKAGES}"),
    (("needs", "web", "packages", 0), "Nginx", f"needs.web.packages is ['Nginx', 'libssl3t64 | libssl3']: {PACKAGES}"),
    (("needs", "web", "reaches", "store"), 5432, f"needs.web.reaches.store is 5432: {PORTS}"),
    (("needs", "web", "source", "ports"), 80, "needs.web.source.ports is 80: it must be a text."),
    (("needs", "web", "source"), 80, f"needs.web.source is 80: it must be a text, or a mapping of some of {ROLE} to texts."),
])
def test_what_the_schema_refuses_the_code_refuses_with_the_file_the_key_and_what_is_allowed(file, path, value, message):
    content = changed(path, value)
    assert not SCHEMA.is_valid(content)
    place = file(json.dumps(content))  # JSON is YAML
    assert refusal(place) == f"preflight_profile {place}: {message}"


def test_every_problem_is_told_at_once(file):
    place = file("needs: {a: {cpus: -1, port: 80}}\nsystem: {}\narchitectures: x86_64\n")
    assert refusal(place).splitlines() == [f"preflight_profile {place}: {told}" for told in (
        f"key is 'system': the known ones are {KEYS}.",
        f"needs.a.cpus is -1: {FIGURE}",
        f"needs.a key is 'port': the known ones are {ROLE}, source.",
        "systems is not there, and must be.",
        "architectures is 'x86_64': it must be a list of texts.",
    )]


@pytest.mark.parametrize(("path", "value", "message"), [
    (("needs", "web", "reaches", "store"), [5432, 22, 23], "needs.web.reaches.store is [22, 23]: that role listens on 5432."),
    (("needs", "web", "reaches", "disk"), [80], "needs.web.reaches.disk is [80]: there is no such role; the known ones are web, store."),
    (("needs", "web", "reaches", "disk"), [], "needs.web.reaches.disk is []: there is no such role; the known ones are web, store."),
    (("needs", "store", "ports"), [], "needs.web.reaches.store is [5432]: that role listens on no port."),
])
def test_what_only_the_code_can_see(path, value, message):
    content = changed(path, value)
    SCHEMA.validate(content)
    assert refusal(content) == f"preflight_profile: {message}"


def places(content, path=()):
    yield path
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


ODD = [KeyError, None, True, 0, 1, 2.0, -1, 1.5, 65535, 65536, 10**30, float("inf"), "", " ", "5", "x", "a b", "x\n", "{{ 7 * 6 }}",
       datetime.date(2026, 1, 1), b"x", [], [None], ["x"], [" "], [80], [80.0], ["80"], [0], {}, {"x": "y"}, {"x": 1}, {"web": [80]},
       {"cpus": "x"}, {"web": {}}, "a|b", "a1 |b2|c3", "a1 | | b2", "a1 | b2\n", "g++", ["g++ | libx-y.2"], ["a"], ["a1\n"],
       "/", "/x y/é", "/x\n", "/x\x7f", ["/"], {"/": 1}, {"/x": 1.0, "/y/": 0}, {"/x": -1}, {"/x\n": 1}, {"": 1}]
ODD_KEYS = ["surplus", "", "Web", "größe", "web\n", "1", "web-1", "cpus", "source"]
ODD_URLS = ["http://a", "https://a/", "HTTP://a/", "ftp://a/", "a", "//a/", "http://", "http:///x", "http://:80/", "http://a:80", "http://a:/",
            "http://a:0/", "http://a:65535/", "http://a:65536/", "http://a:x/", "http://a b/", "http://a/ b", "http://a/\n", " http://a/",
            "http://u@a/", "http://u:p@a/", "http://a/@", "http://a?@", "http://a#@", "http://[::1]/", "http://[::1]:80/", "http://[::1/",
            "http://[x]/", "http://a]/", "http://a/{{x}}"]


@pytest.mark.newest
def test_schema_and_code_refuse_the_same_and_take_the_same():
    cases = [(path, value) for path in places(BASE) if path for value in ODD]
    cases += [((*path, key), value) for path, inner in ((path, at(path)) for path in places(BASE)) if isinstance(inner, dict)
              for key in ODD_KEYS for value in ("x", 1, {}, [80], ["x"])]
    cases += [(("internet_urls", 0), url) for url in ODD_URLS]
    taken, refused = 0, 0
    for path, value in cases:
        content = changed(path, value)
        told = refusal(content)
        if told and all("that role listens on" in line or "there is no such role" in line for line in told.splitlines()):
            told = ""  # see above
        assert SCHEMA.is_valid(content) is not bool(told), (path, value, told)
        taken, refused = taken + (not told), refused + bool(told)
    assert min(taken, refused) > 100


def at(path):
    inner = BASE
    for key in path:
        inner = inner[key]
    return inner


@pytest.mark.parametrize(("text", "message"), [
    ("", f"is empty: it must be a mapping of {KEYS}."),
    ("# nothing\n", f"is empty: it must be a mapping of {KEYS}."),
    ("- needs\n", f"holds no mapping: it must be a mapping of {KEYS}."),
    ("$ANSIBLE_VAULT;1.1;AES256\n6162\n", f"holds no mapping: it must be a mapping of {KEYS}."),
    ("needs:\n  web: {cpus: 1\nsystems: {}\n", "can not be read: line 3: expected ',' or '}', but got ':'."),
    ("needs: {}\n---\nneeds: {}\n", "can not be read: line 2: a second document begins there, and a profile is one."),
    (b"needs: \xff\n", "can not be read: invalid start byte."),
    (b"needs: \x07\n", "can not be read: special characters are not allowed."),
    ("needs: {}\nsystems: {}\n'needs': {}\n", "can not be read: line 3: the key 'needs' is there twice."),
    ("description: !vault |\n  6162\n", "can not be read: line 1: there is a tag (!vault), and a profile has none."),
    ("a: 1\nb: !!python/object/apply:os.mkdir [made]\n",
     "can not be read: line 2: there is a tag (tag:yaml.org,2002:python/object/apply:os.mkdir), and a profile has none."),
    ("architectures: !!set {x86_64}\n", "can not be read: line 1: there is a tag (tag:yaml.org,2002:set), and a profile has none."),
    ("a: &a [1]\nb: *a\n", "can not be read: line 2: there is an alias (*a), and a profile has none."),
    ("needs: {{ needs }}\n", "can not be read: line 1: a key is no text (a profile is data: it has no templates)."),
    ("[" * 500, "can not be read: it is nested too deeply."),
    ("#" * (MOST_BYTES + 1), "is larger than 100 kB, which no profile is."),
])
def test_a_file_that_is_no_profile(file, tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    place = file(text)
    assert refusal(place) == f"preflight_profile {place} {message}"
    assert os.listdir() == ["own.yml"]  # nothing in it was done


@pytest.mark.parametrize(("line", "message"), [
    ("    cpus: 010", "needs.web.cpus is '010': it must be a whole number, 0 or more."),  # eight to YAML 1.1, and so on
    ("    cpus: 1:30", "needs.web.cpus is '1:30': it must be a whole number, 0 or more."),
    ("    cpus: 0x10", "needs.web.cpus is '0x10': it must be a whole number, 0 or more."),
    ("    cpus: 1_0", "needs.web.cpus is '1_0': it must be a whole number, 0 or more."),
    ("    cpus: yes", "needs.web.cpus is 'yes': it must be a whole number, 0 or more."),
    ("    cpus: true", "needs.web.cpus is True: it must be a whole number, 0 or more."),
    ("    cpus: ", "needs.web.cpus is None: it must be a whole number, 0 or more."),
    ("    cpus: 2027-01-31", "needs.web.cpus is '2027-01-31': it must be a whole number, 0 or more."),
    ("    ports: [22:22]", "needs.web.ports is ['22:22']: it must be a list of port numbers from 1 to 65535."),
    ("    <<: {cpus: 1}", "needs.web key is '<<': the known ones are cpus, "),
    ("  <<: {db: {cpus: 1}}", "needs key is '<<': a role id consists of letters, digits and underscores."),
    ("2027-13-45: x", "key is '2027-13-45': the known ones are description, "),
])
def test_what_yaml_makes_more_of_than_json_is_told_as_it_is_written(file, line, message):
    place = file(f"needs:\n  web:\n    memory_mb: 5\n{line}\n")
    assert refusal(place).splitlines()[0].startswith(f"preflight_profile {place}: {message}")


def test_without_quotes_only_a_figure_is_none_of_the_texts(file):
    place = file("needs:\n  on: {cpus: 2.0, memory_mb: 1e3, disk_gb: 0}\nsystems: {debian: ['12']}\ndescription: 22:22\n"
                 "architectures: [2027-01-31, ~x, 0x1, 1.]\n")
    found = settings.profile_file(place)
    assert (found.needs["on"].cpus, found.needs["on"].memory_mb) == (2, 1000)
    assert found.architectures == ("2027-01-31", "~x", "0x1", "1.")


@pytest.mark.parametrize("given", [False, 0, [], {}])
def test_what_is_no_name_is_not_the_default(given):
    with pytest.raises(settings.SettingsError, match=rf"^preflight_profile is {re.escape(str(given))}: it must be one of "):
        settings.profile_file(given)


def test_nothing_of_a_file_that_is_none_is_shown(file):
    told = refusal(file("password: 'hunter2\n"))
    assert told and "hunter2" not in told


def test_a_file_of_any_size_is_refused_at_once(file):
    place = file("needs: {}\n")
    os.truncate(place, 2**40)  # with a hole
    assert refusal(place) == f"preflight_profile {place} is larger than 100 kB, which no profile is."


def test_what_is_no_file(tmp_path):
    for given, message in (
            ("kubeadmin", "preflight_profile is 'kubeadmin': it must be one of kubeadm, llmgw, patroni, or the path of a file, such as "
                          "./profile.yml."),
            (5, "preflight_profile is 5: it must be one of kubeadm, llmgw, patroni, or the path of a file, such as ./profile.yml."),
            ("\0.yml", "preflight_profile is '\\x00.yml': it must be one of kubeadm, llmgw, patroni, or the path of a file, such as "
                       "./profile.yml."),
            (f"{tmp_path}/absent.yml", f"preflight_profile is '{tmp_path}/absent.yml': there is no {tmp_path}/absent.yml."),
            (f"{tmp_path}", f"preflight_profile {tmp_path} is a folder: it must be a file."),
            ("/dev/null", "preflight_profile /dev/null is no file: it must be a file.")):
        assert refusal(given) == message


def test_a_file_that_may_not_be_read(file, monkeypatch):
    def closed(*_given):
        raise PermissionError(13, "Permission denied")

    place = file("needs: {}\n")
    monkeypatch.setattr("builtins.open", closed)  # root may read everything
    assert refusal(place) == f"preflight_profile {place} can not be read: Permission denied."


def test_a_relative_path_is_looked_for_beside_the_play_first(file, tmp_path, monkeypatch):
    def of(role):
        return json.dumps({**BASE, "needs": {role: {}}})

    def roles(given):
        return list(settings.profile_file(given, "preflight_profile", (f"{tmp_path}/plays", f"{tmp_path}/start")).needs)

    file(of("beside"), "plays/own.yml")
    file(of("start"), "start/own.yml")
    file(of("only_there"), "start/other.yml")
    file(of("not_it"), "start/kubeadm")
    monkeypatch.chdir(tmp_path / "start")
    assert roles("own.yml") == ["beside"]
    assert roles("../start/own.yml") == ["start"]
    assert roles("other.yml") == ["only_there"]
    assert roles("kubeadm") == ["control_plane", "worker"]  # a name is a name, whatever lies there
    assert roles("./kubeadm") == ["not_it"]
    monkeypatch.setenv("HOME", f"{tmp_path}/start")
    assert roles("~/other.yml") == ["only_there"]
    assert roles(None) == list(settings.profile("llmgw").needs)
    with pytest.raises(settings.SettingsError) as problem:
        roles("absent.yml")
    assert str(problem.value) == (
        f"preflight_profile is 'absent.yml': there is no {tmp_path}/plays/absent.yml and no {tmp_path}/start/absent.yml.")


def test_what_looks_like_a_template_stays_text(file):
    found = settings.profile(file(json.dumps({**BASE, "architectures": ["{{ 7 * 6 }}"], "internet_urls": ["http://a/{{x}}"]})))
    assert found.architectures == ("{{ 7 * 6 }}",)
    assert found.internet_urls == ("http://a/{{x}}",)


def machines(record, **by_name):
    """Records of machines that differ in what must, each with its role or roles."""
    return [record(**{
        "machine": name, "address": f"10.0.0.{number}", "listening": [], "internet": [],
        "identity": {"machine_id": f"{number:032x}", "host_keys": [f"SHA256:{number}"], "hostname": name, "addresses": [f"10.0.0.{number}"],
                     "macs": [f"52:54:00:00:00:{number:02x}"]}, **sections,
    }) for number, (name, sections) in enumerate(by_name.items(), 1)]


def said(report, check):
    return {finding["machine"]: (finding["level"], finding["detail"]) for finding in report["findings"] if finding["check"] == check}


def test_kubeadm(record):
    slow = {"edges": {"tried": 1, "open": 1, "not_open": [], "slowest": {"machine": "c1", "seconds": 0.05}}}
    of_two = machines(record, c1={"roles": ["control_plane"], "cpus": 1}, c2={"roles": ["control_plane"], "memory_mb": 800, **slow},
                      w1={"roles": ["worker"], "cpus": 1, "memory_mb": 1960, "disks": [{"path": "/", "free_bytes": 0}],
                          "libc": "glibc 2.31"})
    report = evaluate(of_two, profile="kubeadm")
    assert said(report, "cpus") == {
        "c1": ("warn", "1 usable (needs 2)"), "c2": ("ok", "4 usable (needs 2)"), "w1": ("ok", "1 usable (needs 0)")}
    assert said(report, "memory")["c2"] == ("fail", "800 MB (needs 1700)")
    assert said(report, "memory")["w1"] == ("ok", "1960 MB (needs 1700)")
    assert said(report, "disk")["w1"] == ("ok", "0 GB free on / (needs 0)")
    assert said(report, "ports")["w1"] == ("ok", "free: 10250, 10256")
    assert said(report, "quorum") == {
        None: ("warn", "2 etcd members (c1, c2): the loss of either stops everything, so they are no safer than one")}
    assert said(report, "latency") == {"c2": ("warn", "50.0 ms to c1 and back (10 ms is allowed)")}
    assert said(report, "alike") == {}  # nobody has PostgreSQL
    of_three = machines(record, **{f"c{number}": {"roles": ["control_plane"]} for number in (1, 2, 3)})
    assert said(evaluate(of_three, profile="kubeadm"), "quorum") == {None: ("ok", "3 etcd members (c1, c2, c3): 1 may be lost")}


def test_patroni(record):
    both = {"roles": ["postgresql", "etcd"]}
    report = evaluate(machines(record, p1=both, p2=both, p3={**both, "libc": "glibc 2.31"},
                               h1={"roles": ["haproxy"], "libc": "glibc 2.31"}), profile="patroni")
    assert said(report, "quorum") == {None: ("ok", "3 etcd members (p1, p2, p3): 1 may be lost")}
    assert said(report, "alike") == {
        None: ("warn", "the 3 with PostgreSQL have not the same libc: glibc 2.36 (p1, p2), glibc 2.31 (p3)")}
    assert said(report, "ports")["p1"] == ("ok", "free: 5432, 8008, 2379, 2380")
    assert said(report, "memory")["p1"] == ("ok", "7950 MB (needs 1907)")
    assert said(report, "memory")["h1"] == ("ok", "7950 MB (needs 0)")


@pytest.mark.parametrize("name", shipped())
def test_whoever_a_profile_lets_nobody_reach_is_told_by_name(record, name):
    """Each pair of roles of it, tried between two machines: who must reach whom is what the profile says."""
    needs = settings.profile(name).needs
    for caller, need in needs.items():
        for callee in needs:
            ports = [port for role, port in need.reaches if role == callee]
            stand_ins = {"pid": 1, "open": list(needs[callee].ports), "held": [], "not_opened": []}
            failed = [{"machine": "b", "port": port, "outcome": "timeout"} for port in ports]
            report = evaluate(machines(
                record, a={"roles": [caller], "stand_ins": {**stand_ins, "open": []}, "edges": {
                    "tried": len(ports), "open": 0, "not_open": failed, "slowest": None}},
                b={"roles": [callee], "stand_ins": stand_ins, "edges": {"tried": 0, "open": 0, "not_open": [], "slowest": None}}),
                profile=name)
            told = said(report, "role_ports").get("b", ("", ""))
            assert (told[0] == "fail") is bool(ports), (caller, callee, told)
            for port in ports:
                assert str(port) in told[1]


def test_what_a_user_gives_besides_is_put_over_the_profile(record):
    one = machines(record, c1={"roles": ["control_plane"], "system": {"id": "fedora", "version": "43", "name": "Fedora 43"}})
    assert said(evaluate(one, profile="kubeadm"), "system") == {
        "c1": ("fail", "Fedora 43 is not supported (supported: ubuntu 22.04, 24.04, 26.04; debian 11, 12, 13)")}
    report = evaluate(one, profile="kubeadm", needs={"control_plane": {"disk_gb": 50}, "gateway": {"reaches": {"control_plane": [6443]}}},
                      systems={"fedora": ["43"]}, architectures=["riscv64"])
    assert said(report, "system") == {"c1": ("ok", "Fedora 43")}
    assert said(report, "architecture") == {"c1": ("fail", "x86_64 is not supported (supported: riscv64)")}
    assert said(report, "disk") == {"c1": ("warn", "40 GB free on / (needs 50)")}
    assert said(report, "cpus") == {"c1": ("ok", "4 usable (needs 2)")}  # as the profile has it
    assert report["needs"]["gateway"]["reaches"] == {"control_plane": [6443]}
    assert report["needs"]["worker"]["ports"] == [10250, 10256]


@pytest.mark.parametrize(("given", "message"), [
    ({"records": [{"machine": "db1", "roles": ["database"]}]}, "roles of db1 is 'database': the known role ids are control_plane, worker."),
    ({"needs": {"worker": {"reaches": {"database": [5432]}}}},
     "needs.worker.reaches.database is [5432]: there is no such role; the known ones are control_plane, worker."),
    ({"needs": {"worker": {"source": "me"}}}, f"needs.worker key is 'source': the known ones are {ROLE}."),
])
def test_what_another_profile_does_not_know(given, message):
    with pytest.raises(settings.SettingsError) as problem:
        evaluate(**{"records": [{"machine": "w1", "roles": ["worker"]}], "profile": "kubeadm", **given})
    assert str(problem.value) == message
