from __future__ import annotations

import json
import sys

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import custom, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate

ROLES = ("database", "node")


def check(expect="cpus >= `2`", **given):
    (whole,) = settings.custom_checks([{"check": "mine", "expect": expect, "fix": "Mend {machine}.", **given}], ROLES, ("cpus",))
    return whole


def verdict(record, expect, **given):
    level, detail, fix = custom.judge(check(expect, **given), custom.seen(record))[:3]
    return str(level), detail, fix


@pytest.mark.parametrize("expect", [
    "cpus >= `2`", "disks[?path == '/'].free_bytes | [0] > `1000`", "system.id == 'debian' && contains(['12', '13'], system.version)",
    "length(listening[?port == `22`]) == `1`", "local || sudo.how == 'nopasswd'", "!local", "unmeasured == `{}`",
    "login.reason == null && login.cause != 'dead' && sudo.reason == null", "reach.seconds.nothing == null",
    "unmeasured.nothing == null && sudo.null == null", "contains(keys(sudo), 'hwo') || sudo.how == 'nopasswd'",
    "not_null(reach.seconds.nothing, `5`) == `5`", "contains(keys(@), 'cpus')", "type(@) == 'object'", "merge(@, `{\"x\": 1}`).x == `1`",
    "facts.memory.swap_mb == `0`", "\n  cpus\n  >= `2`\n", "starts_with(to_string(@), '{')", "values({a: cpus})[0] == `4`",
])
def test_what_holds(record, expect):
    told = verdict(record(facts={"memory": {"swap_mb": 0}}), expect)
    assert told == ("ok", f"holds: {' '.join(expect.split())}", "")


@pytest.mark.parametrize(("given", "level", "detail", "fix"), [
    ({}, "fail", "does not hold: cpus > `9`", "Mend db1."),
    ({"level": "warn"}, "warn", "does not hold: cpus > `9`", "Mend db1."),
    ({"level": None, "detail": None, "scope": None, "roles": None}, "fail", "does not hold: cpus > `9`", "Mend db1."),
    ({"detail": " \n"}, "fail", "does not hold: cpus > `9`", "Mend db1."),
    ({"detail": "{cpus} CPUs of {`9`}"}, "fail", "4 CPUs of 9", "Mend db1."),
    ({"detail": "{system.name}, {local}, {roles}, {confinement}, {nothing.at_all}, {sudo.hwo}"},
     "fail", 'Debian GNU/Linux 12 (bookworm), false, ["database"], {"cpus": null, "memory_mb": null}, unknown, unknown', "Mend db1."),
    ({"detail": "{length(cpus)}", "fix": "{cpus > system.id}{&cpus}"}, "fail", "(length(cpus) raises JMESPathTypeError)",
     '(cpus > system.id raises TextsOrdered)"an expression"'),
])
def test_what_does_not_hold(record, given, level, detail, fix):
    assert verdict(record(), "cpus > `9`", **given) == (level, detail, fix)


@pytest.mark.parametrize(("expect", "told"), [
    ("login.reason", "gives null, which is neither true nor false"),
    ("login.reason > `1`", "gives null, which is neither true nor false"),
    ("cpus", "gives 4, which is neither true nor false"),
    ("'true'", 'gives "true", which is neither true nor false'),
    ("`1`", "gives 1, which is neither true nor false"),
    ("disks[*].path", 'gives ["/"], which is neither true nor false'),
    ("&cpus", 'gives "an expression", which is neither true nor false'),
    ("[&cpus]", 'gives ["an expression"], which is neither true nor false'),
    ("length(cpus)", "raises JMESPathTypeError: In function length(), invalid type for value: 4, expected one of: "
                     "['string', 'array', 'object'], received: \"number\""),
    ("cpus > system.id", "orders 4 and 'debian', but texts have no order"),
    ("system.version >= to_string(`11`)", "orders '9' and '11', but texts have no order"),
    ("system.version < login.user || local", "orders '9' and 'ops', but texts have no order"),
    ("length(disks[?path < mount]) == `0`", "orders '/' and '/', but texts have no order"),
    ("min_by(disks, &(path > mount)) == `null`", "orders '/' and '/', but texts have no order"),
    ("to_number('1e999') > to_array(@)", "gives null, which is neither true nor false"),
    # What is not there is null to JMESPath, and null is different from everything.
    ("time_sync.by != 'ntp'", "asks for time_sync, but that was not read: chronyc: not found"),
    ("!time_sync", "asks for time_sync, but that was not read: chronyc: not found"),
    ("@.time_sync != 'ntp'", "asks for time_sync, but that was not read: chronyc: not found"),
    ("[time_sync] != `[]`", "asks for time_sync, but that was not read: chronyc: not found"),
    ("facts.memory != `5`", "asks for facts, but none were asked for (preflight_gather_subset)"),
    ('system.id != "debian"', "asks for debian, and a text stands between single quotes: 'debian'"),
    ("sudo.hwo != 'none'", "asks for sudo.hwo, but the record does not hold that"),
    ("@.sudo.hwo != 'none' || local", "asks for sudo.hwo, but the record does not hold that"),
    ("sudo.{a: hwo}.a != 'none'", "asks for sudo.hwo, but the record does not hold that"),
    ("memry_mb != `5`", "asks for memry_mb, but the record does not hold that"),
])
def test_where_a_check_is_broken(record, expect, told):
    level, detail, fix = verdict(record(time_sync=None, unmeasured={"time_sync": "chronyc: not found"}, system={
        "id": "debian", "version": "9", "name": "Debian"}), expect, level="warn")
    assert (level, detail) == ("fail", f"this check is broken here: {expect} {told}")
    assert "preflight_custom_checks" in fix


def test_a_fact_that_is_not_there_is_asked_for_by_mistake(record):
    level, detail, fix = verdict(record(facts={"swap_mb": 0}), "facts.swap_mbb != `0`")
    assert (level, detail) == (
        "fail", "this check is broken here: facts.swap_mbb != `0` asks for facts.swap_mbb, but the record does not hold that")
    assert verdict(record(facts={"swap_mb": 0}), "contains(keys(facts), 'swap_mb') && facts.swap_mb == `0`")[0] == "ok"


def test_the_names_in_all_its_expressions():
    whole = check("login.user == 'ops' && disks[?path == `\"/\"`]", detail="{sudo.how} x {max([].y)}", fix="{keys(@)}")
    assert custom.words(whole) == {"login", "user", "disks", "path", "sudo", "how", "y"}


def test_what_is_not_read_can_be_asked_for(record):
    some = record(time_sync=None, unmeasured={"time_sync": "chronyc: not found"})
    assert verdict(some, "unmeasured.time_sync != null || time_sync.synchronised")[0] == "ok"
    assert verdict(some, "local && time_sync.synchronised")[0] == "fail"
    assert verdict(some, "cpus > `9`", detail="{time_sync.by} {unmeasured.time_sync}")[1] == "unknown chronyc: not found"


def test_a_long_expression_and_a_long_value_are_cut(record):
    expect = "contains('" + "x" * 5000 + "', hostname.a)"
    level, detail, fix = verdict(record(hostname={"a": "y" * 5000}), f"{expect} && cpus", detail="{hostname.a}")
    assert len(detail) < 500 and level == "fail"
    assert len(verdict(record(hostname={"a": "y" * 5000}), expect, detail="{hostname.a}", fix="{@}")[1]) < 250
    assert len(verdict(record(hostname={"a": "y" * 5000}), "hostname.a > `1` || hostname")[1]) < 500


@pytest.mark.parametrize("expression", ["hostname.a", f"max(['{'x' * 300}', `1`])", "'" + "x" * 300 + "'"])
def test_what_is_filled_in_is_no_longer_than_it_is_counted(record, expression):
    told = verdict(record(hostname={"a": "y" * 5000}), "cpus > `9`", fix=f"{{{expression}}}")[2]
    assert "..." in told and len(told) <= custom.VALUE_MOST == custom.longest(f"{{{expression}}}")


@pytest.mark.parametrize("hostile", ["{machine}", "{{ 7*6 }}", "{% raw %}", "`{`", "}{", "'", "\x1b[2J", "a\nb", "&machine", "<b>"])
def test_what_a_machine_says_is_data(record, hostile):
    some = record(system={"id": hostile, "name": [hostile]})
    level, detail, fix = verdict(some, "system.id == 'debian'", detail="is {system.id} and {system.name}", fix="{system.id}")
    assert detail == f"is {' '.join(hostile.split())} and {json.dumps([hostile])}"
    assert fix == " ".join(hostile.split())


@pytest.mark.parametrize(("text", "filled"), [
    ("", ""), ("plain", "plain"), ("} alone }", "} alone }"), ("{cpus}{cpus}", "44"), ("{ cpus }", "4"),
    ("{{a: cpus}.a}", "4"), ("{ {a: {b: cpus}}.a.b }!", "4!"),
    ("{'}'}{'{'}", "}{"), ("{'it\\'s }'}", "it's }"), ("{\"cpus\"}", "4"), ("{`\"}\"`}", "}"), ("{`{\"a\": \"}`\"}`.a || 'x'}", None),
    ("{join('', ['{', '}'])}", "{}"),
    ('{ {"}": cpus}."}" }', "4"), ("it's {cpus} o'clock", "it's 4 o'clock"), ("awk '{'{'}print $1}'", "awk '{print $1}'"),
    ("${HOME}/{cpus} ${A:-{cpus}} $${B} {'$'}{cpus} $ {cpus}", "${HOME}/4 ${A:-4} $${B} $4 $ 4"),
    ("{roles[0]}\n{machine}\n", "database db1"),  # a report has one line for each
])
def test_braces(record, text, filled):
    if filled is None:
        with pytest.raises(settings.SettingsError):
            check(detail=text)
    else:
        assert verdict(record(), "cpus > `9`", detail=text or "{''}")[1] == (filled or "does not hold: cpus > `9`")


NO_ORDER = "texts have no order: < and > are for numbers, such as to_number(...) makes of a text; or ask with == which it is"
NO_JMESPATH = "what stands in braces is a JMESPath expression, and {!r} is none ({}); a brace itself is {{'{{'}}."


@pytest.mark.parametrize(("given", "problem"), [
    ({"expect": "foo["}, "expect is 'foo[': it ends before it is complete."),
    ({"expect": "foo ]"}, "expect is 'foo ]': Unexpected token: ] at character 5."),
    ({"expect": "$foo"}, "expect is '$foo': Unknown token $ at character 1."),
    ({"expect": "cpus == 4"}, "expect is 'cpus == 4': invalid token at character 9; a number stands between backticks: `4`."),
    ({"expect": "[?a >= -1]"}, "expect is '[?a >= -1]': invalid token at character 8; a number stands between backticks: `-1`."),
    ({"expect": "a = `4`"}, "expect is 'a = `4`': Unknown token '=' at character 3; equal is written ==."),
    ({"expect": "a and b"}, "expect is 'a and b': Unexpected token: and at character 3; and is written &&."),
    ({"expect": "local != true"}, "expect is 'local != true': true stands between backticks: `true`."),
    ({"expect": "disks[?read_only == false]"}, "expect is 'disks[?read_only == false]': false stands between backticks: `false`."),
    ({"expect": "a == 'b"}, "expect is \"a == 'b\": Unclosed ' delimiter at character 6."),
    ({"expect": "disks[?path=='/'] =="}, "expect is \"disks[?path=='/'] ==\": it ends before it is complete."),
    ({"expect": "(" * 9000 + "a" + ")" * 9000}, f"expect is '{'(' * 200}...': it is nested too deeply."),
    ({"expect": "a && [lenght(b)]"}, "expect is 'a && [lenght(b)]': there is no function lenght(); there are abs, avg, ceil, "),
    ({"expect": "length(a, b)"}, "expect is 'length(a, b)': length() takes 1 of what stands between its brackets, not 2."),
    ({"expect": "a[?max_by(@)]"}, "expect is 'a[?max_by(@)]': max_by() takes 2 of what stands between its brackets, not 1."),
    ({"expect": "not_null()"}, "expect is 'not_null()': not_null() takes at least 1 of what stands between its brackets, not 0."),
    ({"expect": "facts.kernel >= '5.10'"}, f"expect is \"facts.kernel >= '5.10'\": '5.10' is a text, and {NO_ORDER}."),
    ({"expect": "'11' < system.version"}, f"expect is \"'11' < system.version\": '11' is a text, and {NO_ORDER}."),
    ({"expect": "!disks[?mount > `\"a\"`]"}, f"expect is '!disks[?mount > `\"a\"`]': 'a' is a text, and {NO_ORDER}."),
    ({"expect": "a <= 'a'"}, f"expect is \"a <= 'a'\": 'a' is a text, and {NO_ORDER}."),
    ({"detail": "{a > 'b'}"}, "detail is \"{a > 'b'}\": " + NO_JMESPATH.format("a > 'b'", f"'b' is a text, and {NO_ORDER}")),
    ({"detail": "{"}, "detail is '{': the brace at character 1 is not closed; a brace itself is {'{'}."),
    ({"detail": "x {a: {b}"}, "detail is 'x {a: {b}': the brace at character 3 is not closed; a brace itself is {'{'}."),
    ({"detail": "{'}"}, "detail is \"{'}\": the brace at character 1 is not closed; a brace itself is {'{'}."),
    ({"detail": "{}"}, "detail is '{}': " + NO_JMESPATH.format("", "it ends before it is complete")),
    ({"fix": "find -exec rm {} ;"}, "fix is 'find -exec rm {} ;': " + NO_JMESPATH.format("", "it ends before it is complete")),
    ({"fix": "awk {print $1}"}, "fix is 'awk {print $1}': " + NO_JMESPATH.format("print $1", "Unknown token $ at character 7")),
    ({"fix": "{nope(a)}"}, "fix is '{nope(a)}': what stands in braces is a JMESPath expression, and 'nope(a)' is none (there is no "),
])
def test_what_is_no_expression_is_told_with_its_place(given, problem):
    with pytest.raises(settings.SettingsError) as error:
        check(**given)
    assert str(error.value).startswith(f"preflight_custom_checks[0].{problem}")
    assert "\n" not in str(error.value)


def test_a_fix_that_reports_would_cut_is_refused():
    assert check(fix="x" * 600 + "{cpus}{machine}")["fix"]
    for fix, length in (("x" * 601 + "{cpus}{machine}", "1,001"), ("x" * 1001, "1,001")):
        with pytest.raises(settings.SettingsError) as error:
            check(fix=fix)
        assert str(error.value) == (f"preflight_custom_checks[0].fix can be of {length} characters, each part in braces counted as 200: "
                                    "1,000 at most, since reports would cut it.")


@pytest.mark.parametrize(("given", "problem"), [
    ({"a": 1}, "preflight_custom_checks is {'a': 1}: it must be a list of checks."),
    ("x", "preflight_custom_checks is 'x': it must be a list of checks."),
    (5, "preflight_custom_checks is 5: it must be a list of checks."),
    (["x"], "preflight_custom_checks[0] is 'x': it must be a mapping of check, expect, fix and, if need be, roles, scope, level, detail."),
    ([{}], "preflight_custom_checks[0].check is '': it must be an id of its own.\n"
           "preflight_custom_checks[0].expect is '': it must be a JMESPath expression.\n"
           "preflight_custom_checks[0].fix is '': it must say what to do."),
    ([{"check": 5, "expect": True, "fix": [], "detail": {}}],
     "preflight_custom_checks[0].check is 5: it must be an id of its own.\n"
     "preflight_custom_checks[0].expect is True: it must be a JMESPath expression.\n"
     "preflight_custom_checks[0].detail is {}: it must be a text.\n"
     "preflight_custom_checks[0].fix is []: it must say what to do."),
    ([{"check": "a", "expect": "`true`", "fix": "x", "exepct": 1, 5: 6}],
     "preflight_custom_checks[0] key is 'exepct': the known ones are check, expect, scope, roles, level, detail, fix.\n"
     "preflight_custom_checks[0] key is 5: the known ones are check, expect, scope, roles, level, detail, fix."),
    ([{"check": "a", "expect": "`true`", "fix": "x"}, {"check": "a", "expect": "`true`", "fix": "x"}],
     "preflight_custom_checks[1].check is 'a': another check has this id."),
    *(([{"check": taken, "expect": "`true`", "fix": "x"}], f"preflight_custom_checks[0].check is '{taken}': another check has this id.")
      for taken in ("cpus", "waivers", "own_findings")),
    *(([{"check": bad, "expect": "`true`", "fix": "x"}],
       f"preflight_custom_checks[0].check is {bad!r}: an id consists of small letters, digits and underscores, a letter first, 60 at most.")
      for bad in ("A", "1a", "a-b", "a b", "ä", "a\n", " a", "a" * 61)),
    ([{"check": "a", "expect": "`true`", "fix": "x", "roles": ["databse"]}],
     "preflight_custom_checks[0].roles is ['databse']: it must be a list of role ids; the known ones are database, node."),
    ([{"check": "a", "expect": "`true`", "fix": "x", "roles": 5}],
     "preflight_custom_checks[0].roles is 5: it must be a list of role ids; the known ones are database, node."),
    ([{"check": "a", "expect": "`true`", "fix": "x", "level": "ok", "scope": ["all"]}],
     "preflight_custom_checks[0].scope is ['all']: it must be one of machine, all.\n"
     "preflight_custom_checks[0].level is 'ok': it must be one of warn, fail."),
])
def test_what_is_no_check(given, problem):
    with pytest.raises(settings.SettingsError) as error:
        settings.custom_checks(given, ROLES, ("cpus",))
    assert str(error.value) == problem


def test_nothing_given_is_no_check():
    for nothing in (None, "", " ", [], ()):
        assert settings.custom_checks(nothing, ROLES, ()) == []


def test_without_jmespath_only_such_checks_can_not_be_used(record, monkeypatch):
    monkeypatch.setitem(sys.modules, "jmespath", None)
    two = [{"check": name, "expect": "foo[", "fix": "{", "level": "warn"} for name in ("a", "B")]
    with pytest.raises(settings.SettingsError) as error:
        settings.custom_checks(two, ROLES, ())
    assert str(error.value).splitlines() == [
        "preflight_custom_checks: the Python package jmespath is needed on the controller for them "
        f"({sys.executable} -m pip install jmespath).",
        "preflight_custom_checks[1].check is 'B': an id consists of small letters, digits and underscores, a letter first, 60 at most.",
    ]
    assert settings.custom_checks([], ROLES, ()) == []
    assert evaluate([record()])["worst"] == "ok"


def findings(records, *checks, **given):
    report = evaluate(records, custom_checks=[{"fix": "Mend it.", **check} for check in checks], **given)
    names = {check["check"] for check in checks}
    return {(finding["machine"], finding["check"]): (finding["level"], finding["detail"]) for finding in report["findings"]
            if finding["check"] in names}


DEAD = {"machine": "n1", "roles": ["node"], "login": {"ok": False, "reason": "refused", "cause": "refused"}}


def test_of_which_machines_it_is_asked(record):
    records = [record(), record(machine="db2"), DEAD]
    every = {"check": "every", "expect": "cpus == `4`"}
    some = {"check": "some", "expect": "cpus == `4`", "roles": "node"}
    assert set(findings(records, every, some)) == {("db1", "every"), ("db2", "every")}
    assert set(findings([record(roles=["node"])], every, some)) == {("db1", "every"), ("db1", "some")}
    assert findings(records, every, skip=["every"]) == {}
    assert set(findings(records, every, some, only=["every"])) == {("db1", "every"), ("db2", "every")}


def test_of_all_together(record):
    records = [record(), record(machine="db2", cpus=8)]
    found = findings(
        records,
        {"check": "count", "scope": "all", "expect": "length(@) == `2`"},
        {"check": "databases", "scope": "all", "expect": "length(@) == `2`", "roles": ["database"]},
        {"check": "nodes", "scope": "all", "expect": "length(@) == `2`", "roles": ["node"], "detail": "{length(@)} nodes"},
        {"check": "same", "scope": "all", "expect": "max([].cpus) == min([].cpus)", "level": "warn",
         "detail": "from {min([].cpus)} on {min_by(@, &cpus).machine} to {max([].cpus)}"},
        {"check": "null", "scope": "all", "expect": "[5].cpus"})
    assert found == {
        (None, "count"): ("ok", "holds: length(@) == `2`"),
        (None, "databases"): ("ok", "holds: length(@) == `2`"),
        (None, "nodes"): ("fail", "0 nodes"),
        (None, "same"): ("warn", "from 4 on db1 to 8"),
        (None, "null"): ("fail", "this check is broken here: [5].cpus gives null, which is neither true nor false"),
    }


def test_what_holds_of_no_machine_is_no_pass(record):
    of_nobody = {"scope": "all", "roles": ["node", "etcd_witness"]}
    expects = {"same": "max([].cpus) == min([].cpus)", "nothing": "[0].cpus", "error": "max_by(@, &cpus).cpus > abs('x')",
               "few": "length(@) < `3`"}
    found = findings([record()], {"check": "enough", "expect": "length(@) >= `3`", "detail": "{length(@)}", **of_nobody},
                     *({"check": name, "expect": expect, "level": "fail", **of_nobody} for name, expect in expects.items()))
    assert found == {(None, "enough"): ("fail", "0"), **{
        (None, name): ("warn", f"no machine has the role node or etcd_witness, so there was none to ask: {expect}")
        for name, expect in expects.items()}}


def test_of_all_together_what_is_not_known_does_not_pass(record):
    records = [record(), record(machine="db2", time_sync=None, unmeasured={"time_sync": "chronyc: not found"}), DEAD]
    others = [{"machine": "db3", "roles": ["database"], "examined": False, "address": "10.0.0.9"}]
    count = {"check": "count", "scope": "all", "roles": ["node", "database"],
             "expect": "length(@) == `4` && length([?login.ok]) == `2` && !contains([].address, '10.0.0.1')"}
    cpus = {"check": "few", "scope": "all", "expect": "sum([].cpus) < `100`", "level": "warn", "roles": ["database"]}
    dead = {"check": "dead", "scope": "all", "expect": "!([?cpus < `2`])"}
    read = {"check": "read", "scope": "all", "expect": "!([?login.ok] | [?cpus < `2`])"}
    unread = {"check": "unread", "scope": "all", "expect": "[].time_sync != `5`"}
    found = findings(records, count, cpus, dead, read, unread, others=others)
    assert found == {
        (None, "count"): ("fail", f"this check is broken here: {count['expect']} asks for address of n1, but that machine could not be "
                                  "read"),
        (None, "few"): ("warn", "can not be told yet: sum([].cpus) < `100` asks for cpus of db3, but that machine was not examined"),
        (None, "dead"): ("fail", "this check is broken here: !([?cpus < `2`]) asks for cpus of n1, but that machine could not be read"),
        (None, "read"): ("ok", "holds: !([?login.ok] | [?cpus < `2`])"),
        (None, "unread"): ("fail", "this check is broken here: [].time_sync != `5` asks for time_sync of db2, but that was not read: "
                                   "chronyc: not found"),
    }


def test_each_record_is_made_ready_once(record, monkeypatch):
    made = []
    seen = custom.seen
    monkeypatch.setattr(custom, "seen", lambda one: made.append(one["machine"]) or seen(one))
    records = [record(machine=name) for name in ("db1", "db2", "db3")]
    scopes = ("machine", "all", "machine", "all")
    checks = [{"check": f"c{number}", "expect": "`true`", "scope": scope} for number, scope in enumerate(scopes)]
    assert len(findings(records, *checks)) == 2 * 3 + 2
    assert made == ["db1", "db2", "db3"]
    findings(records)
    assert made == ["db1", "db2", "db3"]


def test_a_record_is_not_changed_by_it(record):
    one = record()
    before = json.dumps(one)
    findings([one], {"check": "a", "expect": "sort_by(listening, &port) && reverse(roles) == `[]`"})
    assert json.dumps(one) == before


def test_kinds_of_texts_of_others_are_plain_to_it(record):
    class Text(str):
        pass

    class Mapping(dict):
        pass

    class Listed(list):
        pass

    one = record(system=Mapping({Text("id"): Text("debian")}), roles=Listed([Text("database")]))
    found = findings([one], {"check": Text("a"), "expect": Text("contains(roles, 'database') && length(system.id) == `6`")},
                     {"check": "b", "expect": "length(keys(system)) == `1`", "roles": Listed([Text("database")])})
    assert [level for level, detail in found.values()] == ["ok", "ok"]
