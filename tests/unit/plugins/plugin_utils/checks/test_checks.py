from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils import checks
from ansible_collections.llmgw.preflight.plugins.plugin_utils.model import Finding, Level, Verdict

HERE = Path(__file__).parent
ORDER = ("login", "system", "architecture", "hostname", "sudo", "packages", "apt_ready", "cpus", "cpu", "memory", "gpu", "limits", "disk",
         "disk_speed", "temp", "remote_tmp", "locale", "clock", "time_sync", "time_source", "ports", "firewall", "internet", "mirrors",
         "network")
BETWEEN = ("role_ports", "names", "identity", "clocks", "quorum", "alike", "latency")
# check -> the section of the record that it judges
SECTIONS = {"system": "system", "architecture": "architecture", "sudo": "sudo", "packages": "apt",
            "hostname": "identity", "apt_ready": "dpkg", "cpus": "cpus", "cpu": "cpu_level", "memory": "memory_mb", "gpu": "gpus",
            "limits": "confinement", "disk": "disks", "disk_speed": "disk_speed", "temp": "temp", "remote_tmp": "remote_tmp",
            "locale": "locales", "clock": "clock", "time_sync": "time_sync", "time_source": "time_sources", "ports": "listening",
            "firewall": "firewall", "internet": "internet", "mirrors": "mirrors", "network": "reach"}
# The same of those between machines, but for clocks, where the check clock says what could not be read, and quorum, which reads nothing.
SECTIONS_BETWEEN = {"names": "names", "identity": "identity", "alike": "libc", "latency": "edges"}


def near(tried):
    """What a machine has of the others when it reached each of so many ports."""
    return {"edges": {"tried": tried, "open": tried, "not_open": [], "slowest": {"machine": "db1", "seconds": 0.001},
                      "measured": ["db1", "db2", "db3", "w1"]},
            "stand_ins": {"pid": 7, "open": [2379, 2380, 5432, 8008], "held": [], "not_opened": []}}


def levels(findings):
    return {finding.check: finding.level for finding in findings}


def test_a_healthy_machine_is_ok_in_every_check_and_in_order(record, everything):
    assert list(levels(checks.judge(record(), everything)).items()) == [(check, Level.OK) for check in ORDER]
    assert checks.IDS == (*ORDER, *BETWEEN)


def test_what_nobody_asks_for_is_no_finding(record, asked):
    without = {"cpu", "gpu", "disk_speed", "locale", "firewall"}
    assert list(levels(checks.judge(record(serves=[]), asked()))) == [check for check in ORDER if check not in {*without, "ports"}]


def test_healthy_machines_are_ok_in_every_check_between_them_and_in_order(group):
    found = checks.compare(group({"db1": near(6), "db2": near(6), "w1": near(4), "n1": near(0)}))
    assert tuple(dict.fromkeys(finding.check for finding in found)) == BETWEEN
    assert {(finding.level, finding.fix) for finding in found} == {(Level.OK, "")}


def test_machines_alone_have_nothing_between_them(group):
    assert checks.compare(group({})) == checks.compare(group({"db1": near(0)})) == []


def test_a_machine_that_could_not_be_logged_in_to_has_no_other_finding(record, asked):
    found = checks.judge(record(login={"ok": False, "reason": "Connection refused"}), asked("database"))
    assert [(finding.check, finding.level) for finding in found] == [("login", Level.FAIL)]


@pytest.fixture
def everything(asked):
    """All that can be asked of a machine."""
    return asked(need=dataclasses.replace(asked("database").need, cpu_level=2, gpus=1))


@pytest.mark.parametrize("check", checks.AFTER_LOGIN, ids=lambda check: check.ID)
def test_nothing_unread_ever_passes(record, everything, check):
    section = SECTIONS[check.ID]
    unread = record(**{section: None}, unmeasured={section: "it would not say"})
    found = next(f for f in checks.judge(unread, everything) if f.check == check.ID)
    assert found == Finding("db1", check.ID, check.WORST, "could not be read: it would not say", check.FIX_UNREAD)


JUNK = ("junk", -1.5, True, [], [1], {"x": 1}, [{"port": "x"}])
OF_ITS_TYPE = (("packages", True), ("ports", []), ("internet", []), ("locale", []), ("time_source", []))


@pytest.mark.parametrize(("check", "junk"), [
    pytest.param(check, junk, id=f"{check.ID}-{junk}")
    for check in checks.AFTER_LOGIN for junk in JUNK if (check.ID, junk) not in OF_ITS_TYPE
])
def test_a_section_of_another_type_never_passes(record, everything, check, junk):
    found = levels(checks.judge(record(**{SECTIONS[check.ID]: junk}), everything))
    assert found[check.ID] == check.WORST


def test_a_rule_that_breaks_becomes_a_finding_and_the_others_still_run(record, everything, monkeypatch):
    def breaks(*_):
        raise ZeroDivisionError("no way")

    monkeypatch.setattr(checks.clock, "judge", breaks)
    found = checks.judge(record(), everything)
    assert [finding.check for finding in found] == list(ORDER)
    assert next(finding for finding in found if finding.check == "clock")[2:6] == Verdict(
        Level.FAIL, "the rule itself broke: ZeroDivisionError: no way",
        "Please report this with the machine's record; until it is mended, look at this by hand.")


BETWEEN_READ = [check for check in checks.BETWEEN if check.ID in SECTIONS_BETWEEN]


def between(group, check, **sections):
    """What the check says when db1 is like this, and two others are healthy."""
    found = check.compare(group({"db1": {**near(8), **sections}, "db2": near(8), "db3": near(8)}))
    return dict(found)


@pytest.mark.parametrize("check", BETWEEN_READ, ids=lambda check: check.ID)
def test_nothing_unread_of_one_ever_passes_between_machines(group, check):
    section = SECTIONS_BETWEEN[check.ID]
    found = between(group, check, **{section: None}, unmeasured={section: "it would not say"})
    assert found["db1"].level == check.WORST and found["db1"].fix == check.FIX_UNREAD
    assert found["db1"].detail.startswith("could not be read: ") and found["db1"].detail.endswith("it would not say")
    assert {verdict.level for machine, verdict in found.items() if machine != "db1"} <= {Level.OK}


@pytest.mark.parametrize(("check", "junk"), [
    pytest.param(check, junk, id=f"{check.ID}-{junk}") for check in BETWEEN_READ for junk in JUNK if (check.ID, junk) != ("alike", "junk")
])
def test_a_section_of_another_type_never_passes_between_machines(group, check, junk):
    assert between(group, check, **{SECTIONS_BETWEEN[check.ID]: junk})["db1"].level == check.WORST


@pytest.mark.parametrize("junk", JUNK)
def test_a_clock_of_another_type_is_not_compared_and_judged_elsewhere(group, record, asked, junk):
    assert "2 of 3 clocks" in between(group, checks.clocks, clock=junk)[None].detail
    assert levels(checks.judge(record(clock=junk), asked("database")))["clock"] == Level.FAIL


def test_a_rule_between_machines_that_breaks_becomes_a_finding_and_the_others_still_run(group, monkeypatch):
    def breaks(*dummy):
        raise ZeroDivisionError("no way")

    monkeypatch.setattr(checks.clocks, "compare", breaks)
    found = checks.compare(group({"db1": near(4), "db2": near(4)}))
    assert tuple(dict.fromkeys(finding.check for finding in found)) == BETWEEN
    assert [finding for finding in found if finding.check == "clocks"] == [Finding(
        None, "clocks", Level.FAIL, "the rule itself broke: ZeroDivisionError: no way",
        "Please report this with the machine's record; until it is mended, look at this by hand.")]


def test_every_check_is_of_one_form():
    files = {path.stem for path in Path(checks.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {*ORDER, *BETWEEN}
    assert {path.stem[5:] for path in HERE.glob("test_*.py")} - {"checks"} == files
    for check in (*checks.AFTER_LOGIN, *checks.BETWEEN):
        assert hasattr(check, "compare") == (check in checks.BETWEEN) != hasattr(check, "judge")
        assert check.ID == check.__name__.rpartition(".")[2]
        assert check.__doc__ and check.__doc__[0].isupper()
        assert check.WORST in (Level.WARN, Level.FAIL)
        assert check.FIX_UNREAD.endswith(".")


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_each_section_that_may_be_left_out_names_the_checks_that_look_at_it():
    for check, section in {**SECTIONS, **SECTIONS_BETWEEN}.items():
        assert check in checks.LOOKED_AT_BY.get(section, (check,)), f"{check} looks at {section}"


def test_each_check_asks_a_question_first():
    for check in (checks.login, *checks.AFTER_LOGIN, *checks.BETWEEN):
        assert check.__doc__.partition("?")[1] and "." not in check.__doc__.partition("?")[0], check.ID


def test_imports_run_one_way():
    plugins = Path(checks.__file__).parents[2]
    seen = {str(path.relative_to(plugins)): set(imports_of(path)) for path in plugins.rglob("*.py")}
    assert len(seen) > 30
    for path, names in seen.items():
        ours = {name for name in names if "ansible" in name or name.startswith(".")}
        if path.startswith("plugin_utils/checks/") and not path.endswith("__init__.py"):
            assert {"..model"} <= ours <= {"..model", ".."}, path  # the latter for commands
        elif path.startswith("plugin_utils/reports/"):
            steps = len(Path(path).parts) - 1  # dots that lead from there up to plugin_utils
            assert all(name == "." * steps + "model" or len(name) - len(name.lstrip(".")) < steps for name in ours), path
        elif path.startswith("plugin_utils/controller/"):
            assert all(name.startswith((".", "ansible")) for name in ours), path
        elif path.startswith("plugin_utils/"):
            assert all(name.startswith(".") and "controller" not in name for name in ours), path
        elif path.startswith("module_utils/"):
            assert not any("plugin_utils" in name for name in ours), path
            assert all(name.startswith(("ansible.module_utils", "ansible_collections.llmgw.preflight.plugins.module_utils"))
                       for name in ours), path
        elif path.startswith("modules/"):
            assert not any("plugin_utils" in name for name in ours), path


def test_a_number_that_no_machine_has_of_anything_is_not_read(record, group, everything):
    told = checks.judge(record(clock={"offset_s": 10**400, "error_s": 0}), everything)
    assert next(finding for finding in told if finding.check == "clock") == Finding(
        "db1", "clock", Level.FAIL, "could not be read: int too large to convert to float", checks.clock.FIX_UNREAD)
    far = {**near(4), "clock": {"offset_s": 10**400, "error_s": 0}}
    assert [finding for finding in checks.compare(group({"db1": far, "db2": near(4)})) if finding.check == "clocks"] == [Finding(
        None, "clocks", Level.FAIL, "could not be read: int too large to convert to float", checks.clocks.FIX_UNREAD)]
