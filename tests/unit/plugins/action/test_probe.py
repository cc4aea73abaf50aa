"""What the probe and its kin make of machines that say this or that; on real ones they are tried in tests/integration."""

from __future__ import annotations

import time
import types

import pytest
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible_collections.llmgw.preflight.plugins.action import close, edges, probe, uncalled
from ansible_collections.llmgw.preflight.plugins.plugin_utils import patience, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.offset import COMMAND
from ansible_collections.llmgw.preflight.plugins.plugin_utils.result import SECTIONS
from ansible_collections.llmgw.preflight.plugins.plugin_utils.waiting import OutOfTime

NOT_ASKED = "it was not asked for"
OK = {"rc": 0, "stdout": "", "stderr": ""}


def machine(name, *roles, examined=True):
    return {"machine": name, "address": f"{name}.lan", "port": 22, "examined": examined, "roles": list(roles), "serves": [],
            "internet_urls": []}


PLAN = {"run": "r", "machines": [machine("m", "database"), machine("w", "etcd_witness")], "limits": settings.LIMITS, "gather_subset": [],
        "custom_checks": [], "left_out": [], "profile": settings.profile().as_dict(), "role_ports": True, "sampled": None}


def read(ahead=0.0, later=0.0, **sections):
    """What Python prints on a machine the clock of which is so many seconds ahead, and is set ahead by ``later`` meanwhile."""
    def now():
        return {"sections": {"login": {"ok": True, "user": "ops", "uid": 1000}, **sections}, "unmeasured": {"temp": "it would not say"},
                "started": time.time() + ahead, "ended": time.time() + ahead + later}

    return now


class Connection:
    has_pipelining, transport, host = True, "paramiko", "m"
    _shell = types.SimpleNamespace(tmpdir="none is made", get_option={"remote_tmp": "~/.ansible/tmp"}.get)

    def __init__(self, **options):
        self.options, self.become = dict(options), []

    def set_become_plugin(self, plugin):
        self.become.append(plugin)

    def set_option(self, name, value):
        if name not in self.options:
            raise KeyError(name)
        self.options[name] = value


@pytest.fixture
def action(monkeypatch):
    """action(kind, connection, ...): an action, with what the machine prints when Python is started there (printed) and to each command
    (answers), one after the other; an exception is raised. Under started and asked what it was given, under slept its pauses."""
    slept = []
    monkeypatch.setattr(patience.time, "sleep", slept.append)

    def make(kind=probe.ActionModule, connection=None, printed=(), answers=(), variables=(), delegate_to=None, become=False, keywords=None,
             **arguments):
        task = types.SimpleNamespace(args=arguments, async_val=0, check_mode=False, action="probe", diff=False, delegate_to=delegate_to,
                                     become=become, become_method="sudo", dump_attrs=lambda: keywords or {},
                                     get_play=lambda: types.SimpleNamespace(_uuid="p"))
        context = types.SimpleNamespace(check_mode=False, become=True, become_pass=None, password=None)
        templar = types.SimpleNamespace(template=lambda given: given)
        made = kind(task, connection or Connection(), context, None, templar, None)
        made.started, made.asked, made.slept = [], [], slept
        printed, answers = list(printed), list(answers)

        def next_of(left):
            what = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(what, BaseException):
                raise what
            return what() if callable(what) else what

        def start(module_name, module_args, task_vars):
            made.started.append((module_name, module_args))
            return next_of(printed)

        def command(text, sudoable=True):
            made.asked.append(text)
            return next_of(answers)

        monkeypatch.setattr(made, "_execute_module", start)
        monkeypatch.setattr(made, "_low_level_execute_command", command)
        made.variables = {"inventory_hostname": "m", "ansible_play_batch": ["m", "w"], **dict(variables)}
        return made

    return make


def done(made):
    return made.run(task_vars=made.variables)


def test_a_machine_that_is_read(action):
    made = action(printed=[read(cpus=4)], answers=[{"rc": 0, "stdout": "1700000000.5"}], skip=["clock"])
    made._discovered_interpreter_key, made._discovered_interpreter = "discovered_interpreter_python", "/usr/bin/python3"
    result = done(made)
    at = result["record"].pop("at")
    assert result == {
        "changed": False, "machine": "m", "run": "", "play": "p", "_ansible_verbose_override": True,
        "ansible_facts": {"discovered_interpreter_python": "/usr/bin/python3"},
        "record": {
            "machine": "m", "address": "m", "roles": [], "local": False, "serves": [],
            "login": {"ok": True, "user": "ops", "uid": 1000}, "cpus": 4,
            "unmeasured": {**{name: NOT_ASKED for name in SECTIONS if name not in ("login", "cpus")}, "temp": "it would not say"},
        }}
    assert abs(time.time() - probe.datetime.datetime.fromisoformat(at).timestamp()) < 3600
    assert [name for name, given in made.started] == ["llmgw.preflight.probe"] and made.asked == made.slept == []


def test_it_is_read_by_who_logs_in_and_without_a_file_there(action):
    made = action(connection=Connection(pipelining=False), printed=[read()], skip=["clock"])
    done(made)
    assert (made._connection.options, made._connection.become, made._play_context.become) == ({"pipelining": True}, [None], False)
    made = action(connection=Connection(), printed=[read()], skip=["clock"])  # one that has it and no such option
    assert done(made)["record"]["login"]["ok"]
    made = action(connection=Connection(pipelining=False), printed=[read()], skip=["clock"])
    made._connection.has_pipelining = False
    done(made)
    assert made._connection.options == {"pipelining": False}


@pytest.mark.parametrize(("configured", "variables", "used"), [
    (None, {}, "auto_silent"), ("/opt/python", {}, None), (None, {"ansible_python_interpreter": "/opt/python"}, "/opt/python"),
    ("/opt/python", {"ansible_python_interpreter": "auto"}, "auto_silent")])
def test_which_python_reads_it(action, monkeypatch, configured, variables, used):
    monkeypatch.delenv("ANSIBLE_PYTHON_INTERPRETER", raising=False)
    if configured:
        monkeypatch.setenv("ANSIBLE_PYTHON_INTERPRETER", configured)
    made = action(printed=[read()], skip=["clock"], variables=variables)
    done(made)
    assert made._vars.get("ansible_python_interpreter") == used  # None: that of the configuration


@pytest.mark.parametrize(("problem", "login"), [
    (OutOfTime(), {"ok": False, "reason": "no answer within 90 s", "cause": "silent"}),
    (AnsibleConnectionFailure("Failed to connect to the host via ssh: ops@m: Permission denied (publickey)."),
     {"ok": False, "reason": "ops@m: Permission denied (publickey).", "cause": "denied"}),
    (lambda: {"module_stdout": "", "module_stderr": "", "failed": True},
     {"ok": False, "reason": "Python printed nothing", "cause": "other"}),
])
def test_a_machine_that_can_not_be_read(action, problem, login):
    made = action(printed=[problem])
    result = done(made)
    assert result["record"] == {"machine": "m", "at": result["record"]["at"], "address": "m", "roles": [], "local": False, "serves": [],
                                "login": login}
    assert len(made.started) == 1


def test_what_really_keeps_it_from_being_read_is_brought_out(action):
    made = action(printed=[AnsibleError("broken pipe")], answers=[OK, {"rc": 127, "stderr": "sh: 1: /no/python: not found"}])
    made._used_interpreter = "#!/no/python"
    assert done(made)["record"]["login"] == {"ok": False, "reason": "sh: 1: /no/python: not found", "cause": "python"}
    assert made.asked == [COMMAND, "/no/python -V"]


def test_a_login_that_is_dropped_is_tried_again(action):
    made = action(printed=[AnsibleConnectionFailure("kex_exchange_identification: Connection closed by remote host"), read()],
                  skip=["clock"])
    assert done(made)["record"]["login"]["ok"] and len(made.started) == 2 and len(made.slept) == 1


@pytest.mark.parametrize(("found", "reads", "ok", "starts"), [(True, 1, True, 2), (True, 2, False, 2), (False, 1, False, 1)])
def test_python_is_searched_for_once_more_where_what_was_found_is_none(action, found, reads, ok, starts):
    key = "discovered_interpreter_python"

    def none():
        if found:  # as Ansible does it when it has searched for one
            made._discovered_interpreter_key, made._discovered_interpreter = key, "/no/python"
            made._vars["ansible_facts"][key] = "/no/python"
        return {"module_stdout": "", "module_stderr": "/no/python: not found", "failed": True}

    made = action(printed=[*[none] * reads, read()], variables={"ansible_facts": {"x": 1}}, skip=["clock"])
    assert done(made)["record"]["login"]["ok"] is ok
    assert (len(made.started), made._vars["ansible_facts"]) == (starts, {"x": 1} if ok or not found else {"x": 1, key: "/no/python"})


@pytest.mark.parametrize(("transport", "ahead", "later", "answer", "clock", "asked"), [
    ("local", 0, 0, None, 0, 0), ("local", 100, 0, None, 100, 0), ("paramiko", 0, 0, "", 0, 1), ("paramiko", -50, 0, "", -50, 1),
    ("paramiko", 0, 0, AnsibleError("Connection refused"), 0, 1), ("paramiko", 0, 0, RuntimeError("a plugin broke"), 0, 1),
    ("paramiko", 0, 0, OutOfTime(), 0, 1), ("paramiko", 0, 100, "", "one of the two clocks was set while they were compared", 1),
    ("paramiko", 0, 0, "1700000000.\n", "one of the two clocks was set while they were compared", 2),
])
def test_the_clock(action, transport, ahead, later, answer, clock, asked):
    connection = Connection()
    connection.transport = transport
    answer = {"rc": 0, "stdout": answer} if isinstance(answer, str) else answer
    made = action(connection=connection, printed=[read(ahead, later)], answers=[answer], limits={"clock_warn_s": 20, "clock_fail_s": 200})
    record = done(made)["record"]
    if isinstance(clock, str):
        assert "clock" not in record and record["unmeasured"]["clock"] == clock
    else:
        assert abs(record["clock"]["offset_s"] - clock) <= record["clock"]["error_s"] + 0.001 and "clock" not in record["unmeasured"]
    assert made.asked == [COMMAND] * asked


FACTS = {"ansible_facts": {"ansible_distribution": "Debian", "discovered_interpreter_python": "x"}, "changed": False}


@pytest.mark.parametrize(("printed", "facts"), [
    (FACTS, {"distribution": "Debian"}),
    (OutOfTime(), "no answer within 30 s"),
    (AnsibleConnectionFailure("Failed to connect to the host via ssh: No route to host"), "No route to host"),
    ({"failed": True, "msg": "Bad subset"}, "Bad subset"),
])
def test_facts_of_ansibles_own(action, printed, facts):
    made = action(printed=[read(), printed], skip=["clock"], gather_subset=["distribution"])
    record = done(made)["record"]
    assert (record.get("facts"), record["unmeasured"].get("facts")) == ((facts, None) if isinstance(facts, dict) else (None, facts))
    assert made.started[1] == ("ansible.builtin.setup", {"gather_subset": ["distribution"], "fact_path": ""})


def test_facts_for_which_the_machines_own_time_does_not_do(action):
    def late():
        made._end = time.monotonic() - 1
        raise OutOfTime()

    made = action(printed=[read(), late], skip=["clock"], gather_subset=["distribution"])
    assert done(made)["record"]["unmeasured"]["facts"] == "no answer within 90 s"


@pytest.mark.parametrize("given", [{"plan": PLAN}, {"plan": {}, "variables": {"preflight_plan": PLAN}}])
def test_a_machine_of_a_plan(action, given):
    made = action(printed=[read()], answers=[OK], **given)
    result = done(made)
    assert (result["run"], result["record"]["address"], result["record"]["roles"]) == ("r", "m.lan", ["database"])
    assert result["record"]["unmeasured"]["stand_ins"] == "the machine does not tell of them"
    stand_ins = made.started[0][1]["arguments"]["stand_ins"]
    assert 0 < stand_ins.pop("within_s") <= 90
    assert stand_ins == {"ports": {2379: 1, 2380: 1}, "token": "r", "me": 0, "lifetime_s": 900}


def test_what_is_no_plan_to_read_by(action):
    for given, told in (({"plan": {}}, "There is no plan to go by"), ({"plan": PLAN, "delegate_to": "x"}, "The preflight is delegated")):
        with pytest.raises(AnsibleActionFail, match=told):
            done(action(printed=[read()], **given))


def test_nothing_that_steers_a_terminal_is_taken_from_a_command(action, monkeypatch):
    monkeypatch.setattr(probe.ActionBase, "_low_level_execute_command", lambda self, *given, **named: {"rc": 0, "stdout": "a\x1b[2J\nb"})
    answer = probe.ActionModule._low_level_execute_command(action(), "x")
    assert answer == {"rc": 0, "stdout": "a\ufffd[2J\nb", "stdout_lines": ["a\ufffd[2J", "b"], "stderr": "", "stderr_lines": []}


# ----------------------------------------------------------------------------------------------------------- sudo
@pytest.mark.parametrize(("answer", "sudo"), [
    ({"rc": 0, "stdout": "hello\n0\n"}, {"how": "password_given"}),
    ({"rc": 0, "stdout": "1000\n"}, {"how": "denied", "reason": "1000"}),
    ({"rc": 1, "stdout": "", "stderr": "sudo: s3cret is wrong"}, {"how": "denied", "reason": "sudo: *** is wrong"}),
    ({"rc": 1}, {"how": "denied", "reason": "the password that was given does not work"}),
    (AnsibleError("Incorrect sudo password"), {"how": "denied", "reason": "Incorrect sudo password"}),
    (RuntimeError("a plugin of somebody's own broke on s3cret"), {"how": "denied", "reason": "a plugin of somebody's own broke on ***"}),
    (OutOfTime(), "no answer after the password was given"),
])
@pytest.mark.parametrize("by_variable", [True, False])
def test_a_password_for_sudo(action, answer, sudo, by_variable):
    made = action(printed=[read(sudo={"how": "password"})], answers=[answer], skip=["clock"],
                  variables={"ansible_become_password": "s3cret"} if by_variable else {})
    made._play_context.become_pass = None if by_variable else "s3cret"
    record = done(made)["record"]
    assert record.get("sudo", record["unmeasured"].get("sudo")) == sudo
    assert made.asked == ["id -u"] and made._connection.become[-2] and made._connection.become[-1] is None  # nothing later becomes root


@pytest.mark.parametrize("sudo", [{"how": "password"}, {"how": "nopasswd"}, ["junk"]])
@pytest.mark.parametrize("variables", [{}, {"ansible_become_password": ""}])
def test_without_a_password_sudo_is_let_be(action, sudo, variables):
    made = action(printed=[read(sudo=sudo)], skip=["clock"], variables=variables)
    assert (done(made)["record"]["sudo"], made.asked) == (sudo, [])


@pytest.mark.parametrize(("variables", "keywords", "by", "user"), [
    ({"ansible_become_method": "su"}, {}, "su", "root"),
    ({"ansible_become_exe": "/opt/sudo"}, {}, "sudo", "root"),
    ({"ansible_become_flags": "-H"}, {}, "sudo", "root"),
    ({"ansible_become_user": "app"}, {}, "sudo", "app"),
    ({"ansible_become_user": "app"}, {"become_user": "other"}, "sudo", "app"),
    ({}, {"become_user": "app"}, "sudo", "app"),
    ({}, {"become_exe": "/opt/sudo"}, "sudo", "root"),
])
@pytest.mark.parametrize(("answer", "told"), [
    ({"rc": 0, "stdout": "hello\n0\n"}, {"how": "become"}),
    ({"rc": 1, "stderr": "sudo: unknown user app\nsudo: error initializing audit plugin"},
     {"how": "no_become", "reason": "sudo: unknown user app"}),
    ({"rc": 1, "stderr": "sudo: invalid option -- 'Q'\nusage: sudo -h | -K\nusage: sudo [-h host]\n[-u user] file ..."},
     {"how": "no_become", "reason": "sudo: invalid option -- 'Q'"}),
    ({"rc": 1, "stderr": "usage: sudo -h | -K"}, {"how": "no_become", "reason": "usage: sudo -h | -K"}),
    ({"rc": 127, "stdout": "", "stderr": "/bin/sh: 1: /opt/sudo: not found"},
     {"how": "no_become", "reason": "/bin/sh: 1: /opt/sudo: not found"}),
    ({"rc": 1}, {"how": "no_become", "reason": "it says nothing of why"}),
    (AnsibleError("Timeout (12s) waiting for privilege escalation prompt: \nPassword: "),
     {"how": "no_become", "reason": "no answer within 12 s, as if it asked for a password, and none is given"}),
])
def test_another_way_to_become_another_user_is_tried_by_ansible(action, variables, keywords, by, user, answer, told):
    made = action(printed=[read()], answers=[answer], skip=["clock"], variables=variables, keywords=keywords)
    assert done(made)["record"]["sudo"] == {"by": by, "user": user, **told}
    assert made.asked == ["id -u"] and made._connection.become[-1] is None
    assert made.started[0][1]["arguments"]["skip"] == ["clock", "sudo"]  # one refusal by mail is enough


@pytest.mark.parametrize(("answer", "told"), [
    ({"rc": 0, "stdout": "1000\n"}, {"by": "su", "user": "root", "how": "no_become", "reason": "1000"}),
    (AnsibleError("Timeout (12s) waiting for privilege escalation prompt: "),
     {"by": "su", "user": "root", "how": "no_become", "reason": "no answer within 12 s"}),
    (OutOfTime(), "no answer after the password was given"),
])
def test_one_that_was_given_a_password(action, answer, told):
    made = action(printed=[read()], answers=[answer], skip=["clock"],
                  variables={"ansible_become_method": "su", "ansible_become_password": "s3cret"})
    record = done(made)["record"]
    assert record.get("sudo", record["unmeasured"].get("sudo")) == told


def test_ways_that_can_not_be_tried(action):
    made = action(printed=[read()], answers=[OutOfTime()], skip=["clock"], variables={"ansible_become_method": "su"})
    assert done(made)["record"]["unmeasured"]["sudo"] == "no answer from su"
    made = action(printed=[read()], skip=["clock"], variables={"ansible_become_method": "nosuch"})
    assert done(made)["record"]["sudo"] == {"how": "no_become", "by": "", "user": "", "reason": "there is no become plugin nosuch"}
    assert made.asked == []


def test_where_no_task_becomes_another_user_its_way_is_not_tried(action):
    made = action(printed=[read(sudo={"how": "nopasswd"})], skip=["clock"], become=True,
                  variables={"ansible_become_method": "su", "ansible_become": "no"})
    assert (done(made)["record"]["sudo"], made.asked) == ({"how": "nopasswd"}, [])


def test_where_nobody_looks_at_it_nothing_is_tried(action):
    made = action(printed=[read()], skip=["clock", "sudo"], variables={"ansible_become_method": "su"})
    assert "sudo" not in done(made)["record"] and made.asked == []


@pytest.mark.parametrize(("become", "answer", "sudo"), [
    (False, None, {"how": "root"}),
    (True, {"rc": 0, "stdout": "0"}, {"how": "root"}),
    (True, {"rc": 127, "stderr": "sh: sudo: not found"},
     {"how": "no_become", "by": "sudo", "user": "root", "reason": "sh: sudo: not found"}),
])
@pytest.mark.parametrize("by_variable", [True, False])
def test_a_root_for_whom_tasks_call_sudo_all_the_same(action, become, answer, sudo, by_variable):
    made = action(printed=[read(sudo={"how": "root"})], answers=[answer], skip=["clock"], become=become is not by_variable,
                  variables={"ansible_become": become} if by_variable else {})
    assert (done(made)["record"]["sudo"], made.asked) == (sudo, ["id -u"] if become else [])


def test_a_password_that_sudo_remembers_is_neither_used_nor_left(action):
    for variables, flags in (({"ansible_become_flags": "-E"}, "-E -k"), ({"ansible_become_exe": "/opt/sudo"}, "-H -S -n -k"),
                             ({"ansible_become_exe": "/opt/pbrun"}, "-H -S -n"), ({"ansible_become_method": "su"}, "")):
        made = action(printed=[read()], answers=[OK], skip=["clock"], variables=variables)
        done(made)
        assert made._connection.become[-2].get_option("become_flags") == flags


def test_the_folder_of_ansible_s_own_is_the_one_that_tasks_use(action):
    made = action(printed=[read(remote_tmp={"path": "/home/ops/.ansible/tmp", "problem": None})], skip=["clock"])
    assert done(made)["record"]["remote_tmp"] == {"path": "/home/ops/.ansible/tmp", "problem": None}
    assert made.started[0][1]["arguments"]["remote_tmp"] == "~/.ansible/tmp"


# ------------------------------------------------------------------------------------------ ports, and who waits on them
STAND_INS = {"pid": 4711, "open": [2379, 2380], "held": [], "not_opened": []}


def left(name, calls=None, **changed):
    """What the tasks before have left of a machine."""
    record = {"login": {"ok": True}, "stand_ins": STAND_INS, **changed}
    result = {"machine": name, "run": "r", "play": "p"}
    return {"preflight_probe": {**result, "record": record}, **({} if calls is None else {"preflight_calls": {**result, **calls}})}


BOTH = {"hostvars": {"m": left("m"), "w": left("w")}}
FOUND = {"tried": 2, "open": 2, "not_open": []}


@pytest.mark.parametrize(("printed", "found"), [
    ({"edges": FOUND}, {"edges": {**FOUND, "asked": 2}}),
    ({"edges": {**FOUND, "asked": 99}}, {"edges": {**FOUND, "asked": 2}}),
    (OutOfTime(), {"reason": "no answer within 90 s"}),
    (AnsibleConnectionFailure("Failed to connect to the host via ssh: Connection timed out"), {"reason": "Connection timed out"}),
    (RuntimeError(), {"reason": "RuntimeError"}),
    ({"module_stdout": "what", "module_stderr": ""}, {"reason": "what"}),
])
def test_ports_are_tried_and_there_is_a_result_whatever_comes(action, printed, found):
    made = action(edges.ActionModule, printed=[printed], variables=BOTH, plan=PLAN)
    assert done(made) == {"changed": False, "machine": "m", "run": "r", "play": "p", "_ansible_verbose_override": True, **found}
    assert [(name, len(given["arguments"]["edges"])) for name, given in made.started] == [("llmgw.preflight.edges", 2)]


def test_a_machine_that_was_not_read_tries_nothing(action):
    made = action(edges.ActionModule, variables={"hostvars": {"m": left("m", login={"ok": False}), "w": left("w")}}, plan=PLAN)
    assert {"edges", "reason"}.isdisjoint(done(made)) and made.started == []


@pytest.mark.parametrize(("of_m", "of_w", "waiting"), [
    (left("m", {"edges": FOUND}), left("w", {"edges": FOUND}), []),
    (left("m", {"edges": {"not_open": [{"machine": "w"}]}}), left("w", {"edges": FOUND}), ["w"]),
    (left("m", {"edges": FOUND}), left("w"), ["m", "w"]),  # of which it is not known whom it reached
    (left("m", login={"ok": False}), left("w", {"edges": FOUND}), []),  # whose calls nobody waits for
    (left("m", {"reason": "x"}, stand_ins={**STAND_INS, "pid": None}), left("w", {"reason": "x"}), ["w"]),  # the other has none
])
def test_who_still_waits(action, of_m, of_w, waiting):
    made = action(uncalled.ActionModule, variables={"hostvars": {"m": of_m, "w": of_w}}, plan=PLAN)
    assert done(made) == {"changed": False, "machines": waiting, "_ansible_verbose_override": True}


@pytest.mark.parametrize(("pid", "answer", "alive", "commands"), [
    (None, None, None, 0),
    (4711, {"stdout": "ended\n"}, True, 1),
    (4711, {"stdout": "gone\n"}, False, 1),
    (4711, {"stdout": "what\n"}, None, 1),
    (4711, AnsibleError("Connection refused"), None, 1),
    (4711, OutOfTime(), None, 1),
])
def test_stand_ins_are_ended(action, pid, answer, alive, commands):
    variables = {"hostvars": {"m": left("m", stand_ins={**STAND_INS, "pid": pid})}}
    made = action(close.ActionModule, answers=[answer], variables=variables, plan=PLAN, machine="m")
    assert done(made) == {"changed": False, "alive": alive, "_ansible_verbose_override": True}
    assert made.asked == [close.COMMAND.format(pid=pid)] * commands
