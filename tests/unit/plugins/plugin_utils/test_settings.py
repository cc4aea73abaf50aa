from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import model, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Need


def needs(given):
    return settings.needs(given, "preflight_needs", settings.profile().needs)


def packages(given):
    return settings.packages(given, settings.profile().needs)


KNOWN = ", ".join(settings.LIMITS)


def test_who_reaches_whom_is_put_over_the_defaults_too():
    changed = needs({"web": {"ports": [80], "reaches": {"database": ["5432"], "web": [80]}}, "database": {"ports": [5432]}})
    assert changed["web"].reaches == (("database", 5432), ("web", 80))
    # What a role no longer listens on, none has to reach.
    assert changed["database"].reaches == (("database", 5432), ("etcd_witness", 2379), ("etcd_witness", 2380))
    assert changed["node"].reaches == (("control_plane", 7443),)


def test_defaults():
    assert needs(None) == needs({}) == settings.profile().needs
    assert settings.profile().systems == {"ubuntu": ("22.04", "24.04"), "debian": ("12",)}
    assert settings.profile().architectures == ("x86_64", "aarch64")
    assert settings.limits(None) == settings.limits({}) == settings.LIMITS
    assert settings.roles(None, ["all", "node", "database"], settings.profile().needs, "roles") == ("database", "node")
    assert settings.serves(None, "serves") == []
    assert settings.port(None, "port") == 22
    assert settings.folder(None, "dir") is settings.folder("", "dir") is None


def test_what_is_given_is_put_over_the_defaults():
    changed = needs({"database": {"disk_gb": "100"}, "cache": {"ports": [6379]}})
    assert changed["database"] == dataclasses.replace(settings.profile().needs["database"], disk_gb=({"/": 100},))
    assert changed["cache"] == Need(ports=(6379,))
    assert changed["node"] == settings.profile().needs["node"]
    assert settings.limits({"clock_warn_s": "0.5"}) == {**settings.LIMITS, "clock_warn_s": 0.5}


def test_disk_space_is_a_number_of_the_root_or_a_mapping_of_paths():
    paths = {"/var/lib/x": 25, "/var/log": 5}
    found = needs({"node": {"disk_gb": paths}, "cache": {"disk_gb": "7", "writes": ["/srv", "/srv"]}, "web": {"disk_gb": {"/": 0}},
                   "database": {"disk_gb": 0, "writes": []}})
    assert {role: need.disk_gb for role, need in found.items()} == {
        "control_plane": ({"/": 15},), "database": (), "etcd_witness": ({"/": 5},), "node": (paths,), "cache": ({"/": 7},), "web": ()}
    assert {role: settings.as_given(need)["disk_gb"] for role, need in found.items()} == {
        "control_plane": 15, "database": 0, "etcd_witness": 5, "node": paths, "cache": 7, "web": 0}
    assert (found["cache"].writes, found["database"].writes, found["etcd_witness"].writes) == (("/srv",), (), ("/var/lib/etcd",))
    together = model.together(found[role] for role in ("node", "cache", "etcd_witness"))
    assert (together.disk_gb, together.writes) == ((paths, {"/": 7}, {"/": 5}), ("/srv", "/var/lib/etcd"))
    assert {role: settings.needs({role: settings.as_given(need)}, "x", found)[role] for role, need in found.items()} == found


def test_what_is_given_is_kept_whole():
    assert settings.systems({"debian": [12, "13"]}) == {"debian": ("12", "13")}
    assert settings.roles("node", [], settings.profile().needs, "roles") == ("node",)
    assert settings.roles("node, database", [], settings.profile().needs, "roles") == ("node", "database")  # as on a command line
    assert settings.roles([], ["node"], settings.profile().needs, "roles") == ()
    assert settings.roles(["node", "node"], [], settings.profile().needs, "roles") == ("node",)
    assert settings.serves([{"name": "m", "memory_mb": 5}], "serves") == [{"name": "m", "memory_mb": 5}]
    whole = {"name": "m", "memory_mb": 5, "cpu_level": 3, "gpu_memory_mb": 40000, "disk_gb": 80}
    assert settings.serves([{**whole, "disk_gb": "80"}], "serves") == [whole]
    assert settings.urls(["https://a.b:8443/x"]) == ("https://a.b:8443/x",)
    assert settings.port("2222", "port") == settings.port(2222.0, "port") == settings.port(" 2222\n", "port") == 2222


def test_packages_stand_in_for_those_of_the_role():
    assert packages(None) == packages({}) == settings.profile().needs
    found = packages({"database": ["postgresql-17", "etcd-server|etcd"], "node": ["curl"], "etcd_witness": []})
    assert found["database"] == dataclasses.replace(settings.profile().needs["database"], packages=("postgresql-17", "etcd-server | etcd"))
    assert (found["node"].packages, found["etcd_witness"].packages) == (("curl",), ())
    assert settings.needs(None, "needs", found) == found
    assert {role: settings.as_given(need)["packages"] for role, need in found.items()} == {
        "control_plane": [], "database": ["postgresql-17", "etcd-server | etcd"], "etcd_witness": [], "node": ["curl"]}


@pytest.mark.parametrize("given", ["db1.example", "10.0.0.1", "fd77::1", "[fd77::1]", "fe80::1%eth0"])
def test_addresses(given):
    assert settings.address(given, "address") == given.strip("[]")


FIGURE = "it must be a whole number, 0 or more."
SPACE = "it must be a whole number, 0 or more, or a mapping of paths to such numbers."
PATH = "it must be the path of a folder, from / on."
PATHS = "it must be a list of paths of folders, from / on."
PORTS = "it must be a list of port numbers from 1 to 65535."
MODEL = "each model needs a name and memory_mb, may have cpu_level, gpu_memory_mb, disk_gb, all whole numbers, and has nothing else."
ROLE = "cpus, cpu_level, memory_mb, gpus, gpu_memory_mb, disk_gb, ports, reaches, packages, writes"
LEVELS = "the highest level of x86-64 is 4."
PACKAGES = "it must be a list of names of packages, or of several for one thing, such as etcd-server | etcd."
ROLE_ID = "a role id consists of letters, digits and underscores."
SYSTEM = "an os-release ID consists of small letters, digits, dots, underscores and hyphens."
VERSIONS = 'it must be a list of versions in quotes, such as ["24.04"].'
URL = "each must be the address of a web server without a password, such as http://deb.debian.org/."
SECONDS = "it must be a number, more than 0 and at most 86400 (a day, in seconds)."
ADDRESS = "it must be a host name or an IP address, without a port."


@pytest.mark.parametrize(("check", "given", "message"), [
    (needs, 5, "preflight_needs is 5: it must be a mapping of role ids to what each needs."),
    (needs, {"node": 5}, f"preflight_needs.node is 5: it must be a mapping with some of {ROLE}."),
    (needs, {"node": {"disk_gb": -1}}, f"preflight_needs.node.disk_gb is -1: {SPACE}"),
    (needs, {"node": {"disk_gb": True}}, f"preflight_needs.node.disk_gb is True: {SPACE}"),
    (needs, {"node": {"disk_gb": 1.5}}, f"preflight_needs.node.disk_gb is 1.5: {SPACE}"),
    (needs, {"node": {"disk_gb": "x" * 99}}, f"preflight_needs.node.disk_gb is '{'x' * 76}...: {SPACE}"),
    (needs, {"node": {"disk_gb": {"/var": "x", "srv": 1, 5: 1}}},
     f"preflight_needs.node.disk_gb./var is 'x': {FIGURE}\npreflight_needs.node.disk_gb key is 'srv': {PATH}\n"
     f"preflight_needs.node.disk_gb key is 5: {PATH}"),
    (needs, {"node": {"writes": "/srv"}}, f"preflight_needs.node.writes is '/srv': {PATHS}"),
    (needs, {"node": {"writes": ["/srv", "lib"]}}, f"preflight_needs.node.writes is ['/srv', 'lib']: {PATHS}"),
    (needs, {"node": {"ports": [0]}}, f"preflight_needs.node.ports is [0]: {PORTS}"),
    (needs, {"node": {"ports": 80}}, f"preflight_needs.node.ports is 80: {PORTS}"),
    (needs, {"node": {"disk": 5}},
     f"preflight_needs.node key is 'disk': the known ones are {ROLE}."),
    (needs, {"node": {"cpu_level": 5}}, f"preflight_needs.node.cpu_level is 5: {LEVELS}"),
    (needs, {"node": {"gpus": "one"}}, f"preflight_needs.node.gpus is 'one': {FIGURE}"),
    (needs, {"node": {"reaches": {"node": [22]}}}, "preflight_needs.node.reaches.node is [22]: that role listens on no port."),
    (needs, {"node": {"reaches": {"control_plane": ["7443", 22]}}},
     "preflight_needs.node.reaches.control_plane is [22]: that role listens on 7443, 8080."),
    (needs, {"node": {"reaches": {"nobody": [22]}}},
     "preflight_needs.node.reaches.nobody is [22]: there is no such role; the known ones are control_plane, database, etcd_witness, node."),
    (needs, {"node": {"reaches": {"database": 5432}}}, f"preflight_needs.node.reaches.database is 5432: {PORTS}"),
    (needs, {"node": {"reaches": [22]}},
     "preflight_needs.node.reaches is [22]: it must be a mapping of role ids to lists of their ports."),
    (needs, {"node": {"packages": ["a b"]}}, f"preflight_needs.node.packages is ['a b']: {PACKAGES}"),
    (packages, ["postgresql"], "preflight_packages is ['postgresql']: it must be a mapping of role ids to lists of packages."),
    (packages, {"node": "postgresql"}, f"preflight_packages.node is 'postgresql': {PACKAGES}"),
    (packages, {"node": ["http://x"], "web": []}, f"preflight_packages.node is ['http://x']: {PACKAGES}\n"
     "preflight_packages key is 'web': the known role ids are control_plane, database, etcd_witness, node."),
    (needs, {"a b": {}}, f"preflight_needs key is 'a b': {ROLE_ID}"),
    (needs, {"größe": {}, "node": {"reaches": {"a b": []}}},
     f"preflight_needs key is 'größe': {ROLE_ID}\npreflight_needs.node.reaches key is 'a b': {ROLE_ID}"),
    (settings.systems, ["debian"], "preflight_systems is ['debian']: it must be a mapping of os-release IDs to lists of VERSION_IDs."),
    (settings.systems, {}, "preflight_systems is {}: it must not be empty."),
    (settings.systems, {"Red Hat": ["9"], 12: []},
     f"preflight_systems key is 'Red Hat': {SYSTEM}\npreflight_systems key is 12: {SYSTEM}"),
    (settings.systems, {"ubuntu": [22.04]}, f"preflight_systems.ubuntu is [22.04]: {VERSIONS}"),
    (settings.systems, {"ubuntu": "22.04"}, f"preflight_systems.ubuntu is '22.04': {VERSIONS}"),
    (settings.architectures, [], "preflight_architectures is []: it must not be empty."),
    (settings.architectures, "x86_64", "preflight_architectures is 'x86_64': it must be a list of texts."),
    (settings.architectures, [""], "preflight_architectures is ['']: it must be a list of texts."),
    (settings.limits, [], f"preflight_limits is []: it must be a mapping with some of {KNOWN}."),
    (settings.limits, {"clock": 1}, f"preflight_limits key is 'clock': the known ones are {KNOWN}."),
    (settings.limits, {"read_s": 0}, f"preflight_limits.read_s is 0: {SECONDS}"),
    (settings.limits, {"read_s": "soon"}, f"preflight_limits.read_s is 'soon': {SECONDS}"),
    (settings.limits, {"read_s": True}, f"preflight_limits.read_s is True: {SECONDS}"),
    (settings.limits, {"read_s": float("inf")}, f"preflight_limits.read_s is inf: {SECONDS}"),
    (settings.limits, {"read_s": 1e308},
     f"preflight_limits.read_s is 1e+308: {SECONDS}"),
    (settings.limits, {"read_s": 10**400}, f"preflight_limits.read_s is 1{'0' * 76}...: {SECONDS}"),
    (settings.limits, {"read_s": 10**5000}, f"preflight_limits.read_s is too large to be shown: {SECONDS}"),
    (settings.limits, {"clock_warn_s": 9}, "preflight_limits.clock_warn_s is 9.0: it must not be more than clock_fail_s (5)."),
    (settings.limits, {"clock_warn_s": 9, "latency_fail_s": 0.001},
     "preflight_limits.clock_warn_s is 9.0: it must not be more than clock_fail_s (5).\n"
     "preflight_limits.latency_warn_s is 0.01: it must not be more than latency_fail_s (0.001)."),
    (settings.urls, ["ftp://a/"], f"preflight_internet_urls is 'ftp://a/': {URL}"),
    (settings.urls, ["http://"], f"preflight_internet_urls is 'http://': {URL}"),
    (settings.urls, ["http://user:secret@a/"], f"preflight_internet_urls is 'http://***@a/': {URL}"),
    (settings.urls, ["http://a b/"], f"preflight_internet_urls is 'http://a b/': {URL}"),
    (settings.urls, ["http://a:x/"], f"preflight_internet_urls is 'http://a:x/': {URL}"),
])
def test_what_can_not_be_used(check, given, message):
    with pytest.raises(settings.SettingsError) as problem:
        check(given)
    assert str(problem.value) == message


@pytest.mark.parametrize(("check", "given", "message"), [
    (settings.serves, {"name": "m"}, f"v is {{'name': 'm'}}: it must be a list; {MODEL}"),
    (settings.serves, [{"name": "m"}], f"v[0] is {{'name': 'm'}}: {MODEL}"),
    (settings.serves, [{"name": "m", "memory_mb": -1}], f"v[0] is {{'name': 'm', 'memory_mb': -1}}: {MODEL}"),
    (settings.serves, [{"name": "m", "memory_mb": 1, "disk_gb": "x"}], f"v[0] is {{'name': 'm', 'memory_mb': 1, 'disk_gb': 'x'}}: {MODEL}"),
    (settings.serves, [{"name": "m", "disk_gb": 1}], f"v[0] is {{'name': 'm', 'disk_gb': 1}}: {MODEL}"),
    (settings.serves, [{"memory_mb": 1}], f"v[0] is {{'memory_mb': 1}}: {MODEL}"),
    (settings.serves, ["m"], f"v[0] is 'm': {MODEL}"),
    (settings.serves, [{"name": "m", "memory_mb": 1, "cpu_level": 5}], f"v[0].cpu_level is 5: {LEVELS}"),
    (settings.address, "10.0.0.1:22", f"v is '10.0.0.1:22': {ADDRESS}"),
    (settings.address, "a b", f"v is 'a b': {ADDRESS}"),
    (settings.address, 5, f"v is 5: {ADDRESS}"),
    (settings.port, 22.5, "v is 22.5: it must be a port number from 1 to 65535."),
    (settings.port, 0, "v is 0: it must be a port number from 1 to 65535."),
    (settings.folder, 5, "v is 5: it must be the path of a folder on the controller."),
])
def test_what_can_not_be_used_of_one_machine(check, given, message):
    with pytest.raises(settings.SettingsError) as problem:
        check(given, "v")
    assert str(problem.value) == message


def test_every_problem_is_told_at_once():
    with pytest.raises(settings.SettingsError) as problem:
        needs({"node": {"cpus": -1, "disk": 5}, "database": {"ports": "x"}})
    assert str(problem.value).splitlines() == [
        f"preflight_needs.node.cpus is -1: {FIGURE}",
        f"preflight_needs.node key is 'disk': the known ones are {ROLE}.",
        f"preflight_needs.database.ports is 'x': {PORTS}",
    ]


def test_the_deadlines_fit_into_each_other():
    limits = settings.LIMITS
    assert max(limits["command_s"], limits["reach_s"], limits["internet_s"]) < limits["read_s"] < limits["machine_s"]


@pytest.mark.parametrize(("check", "given"), [
    (settings.urls, "http://u:s3cret@mirror/"), (settings.urls, ["http://u:s3cret@mirror/"]), (settings.urls, ["u:s3cret@mirror"]),
    (settings.urls, ["http://m/?token=s3cret x"]), (settings.urls, ["http://" + "x" * 70 + ":s3cret@m/ "]),
    (settings.address, "ops:s3cret@h"), (settings.address, ["ops:s3cret@h"]),
    (settings.serves, [{"name": "x", "memory_mb": 1, "hf_token": "s3cret"}]),
])
def test_no_secret_in_a_value_that_is_refused(check, given):
    with pytest.raises(settings.SettingsError) as problem:
        check(given, "name")
    assert "s3cret" not in str(problem.value)


CHECKS = ("login", "disk", "mine")


@pytest.mark.parametrize(("given", "ids"), [
    (None, ()), ("", ()), ([], ()), (["disk"], ("disk",)), ("disk", ("disk",)), (" disk , mine,", ("disk", "mine")),
    (("mine", "disk", "mine"), ("mine", "disk")),
])
def test_ids_of_checks(given, ids):
    assert settings.check_ids(given, CHECKS, "preflight_only") == settings.check_ids(given, CHECKS, "preflight_skip") == ids


@pytest.mark.parametrize(("given", "problem"), [
    (["dsik", "disk", "mien"], "v_skip is 'dsik': the known checks are login, disk, mine.\n"
                               "v_skip is 'mien': the known checks are login, disk, mine."),
    (["login"], "v_skip is 'login': this one can not be skipped."),
    ({"disk": 1}, "v_skip is {'disk': 1}: it must be a list of texts."),
    ([5], "v_skip is [5]: it must be a list of texts."),
    (True, "v_skip is True: it must be a list of texts."),
])
def test_what_is_no_id_of_a_check(given, problem):
    with pytest.raises(settings.SettingsError) as error:
        settings.check_ids(given, CHECKS, "v_skip")
    assert str(error.value) == problem


def test_the_login_may_be_the_only_check():
    assert settings.check_ids(["login"], CHECKS, "preflight_only") == ("login",)


@pytest.mark.parametrize(("given", "subset"), [
    (None, ()), ([], ()), ("", ()), ("!all, network", ("!all", "network")), (["min", "!network", "min"], ("min", "!network")),
])
def test_facts_to_gather(given, subset):
    assert settings.gather_subset(given, {"all", "min", "network"}) == subset


@pytest.mark.parametrize("bad", ["netwrok", "!netwrok", "!", "!!network", "Network"])
def test_facts_that_there_are_not(bad):
    with pytest.raises(settings.SettingsError) as error:
        settings.gather_subset([bad, "min"], {"min", "all", "network"})
    assert str(error.value) == f"preflight_gather_subset is '{bad}': the known subsets are all, min, network."


# --------------------------------------------------------------------------------------- of several runs, and of what outlives a job
def test_peers_are_told_by_name_and_what_else_is_needed():
    assert settings.peers(None, ["node"]) == settings.peers([], ["node"]) == []
    assert settings.peers([{"machine": "n1"}, {"machine": "n2", "address": "[fd00::2]", "port": "2222", "roles": "node"}], ["node"]) == [
        {"machine": "n1", "address": "n1", "port": 22, "roles": [], "serves": [], "internet_urls": []},
        {"machine": "n2", "address": "fd00::2", "port": 2222, "roles": ["node"], "serves": [], "internet_urls": []}]


@pytest.mark.parametrize(("given", "problem"), [
    ("n1", "preflight_peers is 'n1': it must be a list of machine, address and, if need be, port and roles."),
    ({"machine": "n1"}, "preflight_peers is {'machine': 'n1'}: it must be a list of machine, address and, if need be, port and roles."),
    (["n1"], "preflight_peers[0] is 'n1': it must be a mapping of machine, address, port, roles."),
    ([{"address": "n1"}], "preflight_peers[0] is {'address': 'n1'}: it must be a mapping of machine, address, port, roles."),
    ([{"machine": "n1", "user": "x"}], "it must be a mapping of machine, address, port, roles."),
    ([{"machine": " "}], "preflight_peers[0].machine is ' ': it must be the machine's name in the inventory of the run that reads it."),
    ([{"machine": "n1\x1b[2J"}], r"preflight_peers[0].machine is 'n1\x1b[2J': "),
    ([{"machine": "n1"}, {"machine": "n1"}], "preflight_peers is 'n1': each machine must be there once."),
    ([{"machine": "n1", "address": "a b"}], "preflight_peers[0].address is 'a b': "),
    ([{"machine": "n1", "port": 0}], "preflight_peers[0].port is 0: "),
    ([{"machine": "n1", "roles": ["web"]}], "preflight_peers[0].roles is 'web': the known role ids are node."),
])
def test_peers_that_can_not_be_used(given, problem):
    with pytest.raises(settings.SettingsError) as raised:
        settings.peers(given, ["node"])
    (line,) = str(raised.value).splitlines()
    assert problem in line


def test_all_that_is_wrong_with_peers_is_told_at_once():
    with pytest.raises(settings.SettingsError) as raised:
        settings.peers([{"machine": "n1", "address": "a b", "port": 0, "roles": ["web"]}, 5], ["node"])
    assert [line.split()[0] for line in str(raised.value).splitlines()] == [
        "preflight_peers[0].address", "preflight_peers[0].port", "preflight_peers[0].roles", "preflight_peers[1]"]


def test_a_key_is_a_name():
    assert settings.key("", "k") is settings.key(None, "k") is None
    assert settings.key("site_a", "k") == "site_a"
    for given in ("a b", "1a", "a-b", "größe", "{{ x }}", 5, ["x"], {"a": 1}, True):
        with pytest.raises(settings.SettingsError, match="k is .+: it must consist of letters, digits and underscores"):
            settings.key(given, "k")


@pytest.mark.parametrize("word", ["class", "None", "none", "true", "in"])
def test_a_key_that_set_stats_does_not_take_is_told_before_anything_is_read(word):
    with pytest.raises(settings.SettingsError, match=f"^k is '{word}': this word is no name to Ansible"):
        settings.key(word, "k")


def test_saved_records_may_be_older_than_a_deadline_is_long():
    day = 86400
    assert settings.limits(None)["stale_s"] == day
    assert settings.limits({"stale_s": 366 * day})["stale_s"] == 366 * day
    with pytest.raises(settings.SettingsError, match=r"preflight_limits.stale_s is .+ at most 31622400 \(a year, in seconds\)"):
        settings.limits({"stale_s": 366 * day + 1})
    with pytest.raises(settings.SettingsError, match=r"at most 86400 \(a day, in seconds\)"):
        settings.limits({"read_s": day + 1})


def test_the_limit_that_is_no_time_is_not_told_as_one():
    assert settings.limits({"all_pairs": 100_000})["all_pairs"] == 100_000
    with pytest.raises(settings.SettingsError, match=r"all_pairs is 0: .+ more than 0 and at most 1000000 \(machines\)\.$"):
        settings.limits({"all_pairs": 0})


@pytest.mark.parametrize("large", [10**15, "9" * 5000, 1e300])
def test_a_figure_that_is_not_the_same_to_every_reader(large):
    with pytest.raises(settings.SettingsError, match="it must be a whole number, 0 or more.$"):
        needs({"node": {"memory_mb": large}})
    assert needs({"node": {"memory_mb": 10**15 - 1}})["node"].memory_mb == 10**15 - 1


def test_a_problem_is_one_line_whatever_the_name_is():
    with pytest.raises(settings.SettingsError) as problem:
        settings.systems({"a\nb": 5})
    assert str(problem.value).splitlines()[1] == f"preflight_systems.a\\nb is 5: {VERSIONS}"


def test_an_expression_with_a_number_without_end():
    check = {"check": "a", "expect": f"cpus[{'9' * 5000}]", "fix": "f"}
    with pytest.raises(settings.SettingsError, match=r"^preflight_custom_checks\[0\].expect is 'cpus\[999.*Exceeds the limit"):
        settings.custom_checks([check], (), ())


KNOWN_VARIABLES = ("preflight_roles", "preflight_waivers", "preflight_skip", "ansible_host")


def test_a_variable_that_is_nearly_called_like_one_of_the_role_is_told():
    others = ("preflight_skip", "preflight_ansible_hosts", "preflight_licence", "waivers", "ansible_hots")
    assert settings.misspelt(["preflight_waiver", "preflight_skips", *others], KNOWN_VARIABLES) == [
        f"{name} is no variable of the preflight, so nothing is done with it. Is {meant} meant?"
        for name, meant in (("preflight_skips", "preflight_skip"), ("preflight_waiver", "preflight_waivers"))]
    assert settings.misspelt(KNOWN_VARIABLES, KNOWN_VARIABLES) == []


@pytest.mark.parametrize(("given", "found"), [
    (None, True), (False, False), (" Yes ", True), ("false", False), ("no", False), ("true", True)])
def test_yes_or_no(given, found):
    assert settings.yes_or_no(given, True, "x") is found


@pytest.mark.parametrize(("check", "given", "message"), [
    (settings.yes_or_no, (1, True, "x"), "x is 1: it must be true or false."),
    (settings.yes_or_no, ("perhaps", True, "x"), "x is 'perhaps': it must be true or false."),
    (settings.choice, ("c", ("a", "b"), "x"), "x is 'c': it must be one of a, b."),
    (settings.choice, (["a"], ("a", "b"), "x"), "x is ['a']: it must be one of a, b."),
    (settings.choices, ("a,c,d", ("a", "b"), (), "x"), "x is 'c': it must be one of a, b.\nx is 'd': it must be one of a, b."),
    (settings.choices, (5, ("a", "b"), (), "x"), "x is 5: it must be a list of texts."),
    (settings.folder, (5, "x"), "x is 5: it must be the path of a folder on the controller."),
    (settings.folder, ("a\0b", "x"), r"x is 'a\x00b': it must be the path of a folder on the controller."),
    (settings.roles, (5, (), ("a",), "x"), "x is 5: it must be a list of role ids; the known role ids are a."),
    (settings.texts, ("a", (), "x"), "x is 'a': it must be a list of texts."),
])
def test_what_plain_values_must_be(check, given, message):
    with pytest.raises(settings.SettingsError) as problem:
        check(*given)
    assert str(problem.value) == message


def test_plain_values_that_are_none_or_good():
    assert [settings.folder(given, "x") for given in (None, "", "~/a")] == [None, None, "~/a"]
    assert settings.texts(None, ["a"], "x") == ("a",)
    assert settings.choice("a", ("a", "b"), "x") == "a"


@pytest.mark.parametrize(("given", "found"), [
    (["b", "a"], ["b", "a"]), ("b, a,b", ["b", "a"]), (None, ["a"]), ("", ["a"]), ([], ["a"])])
def test_where_several_may_be_chosen(given, found):
    assert settings.choices(given, ("a", "b"), ("a",), "x") == found


def test_blanks_around_a_name_are_none_of_it():
    assert settings.peers([{"machine": " db1 "}], [])[0]["machine"] == settings.peers([{"machine": " db1 "}], [])[0]["address"] == "db1"
    assert settings.serves([{"name": " m\n", "memory_mb": 1}], "x")[0]["name"] == "m"
    assert settings.systems({" debian ": [" 12"]}) == {"debian": ("12",)}
    assert settings.architectures([" x86_64"]) == ("x86_64",)
    assert settings.waivers([{"check": "disk", "machine": " db* ", "reason": " x "}])[0] == {
        "check": "disk", "machine": ["db*"], "reason": "x", "until": None}


@pytest.mark.parametrize("nothing", [None, ""])
def test_of_a_choice_the_first_is_the_default(nothing):
    assert settings.choice(nothing, settings.FAIL_ON, "fail_on") == "fail"


@pytest.mark.parametrize("given", [False, 0, [], " "])
def test_what_is_not_a_choice_is_not_the_default(given):
    with pytest.raises(settings.SettingsError):
        settings.choice(given, settings.FAIL_ON, "fail_on")


def test_a_check_with_a_secret_is_not_saved():
    checks = [{"expect": "user == 'hidden'", "detail": "", "fix": "x"}, {"expect": "x", "detail": "", "fix": "hidden"},
              {"expect": "user == 'aGlkZGVu'", "detail": "is HIDDEN", "fix": "x"}]
    assert settings.nothing_hidden(checks, {"other"}) is settings.nothing_hidden(checks, set()) is None
    with pytest.raises(settings.SettingsError) as error:
        settings.nothing_hidden(checks, {"hidden", "other"})
    assert [line.partition(" holds a text of a vault")[0] for line in str(error.value).splitlines()] == [
        "preflight_custom_checks[0].expect", "preflight_custom_checks[1].fix", "preflight_custom_checks[2].expect",
        "preflight_custom_checks[2].detail"]
