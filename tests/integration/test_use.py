"""Ways of using it: what a person sees, what a playbook gets, which variables do what."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

JUDGE = Path(__file__).parents[2] / "playbooks" / "judge.yml"


@pytest.fixture(scope="module")
def three(make_lab):
    return make_lab({"defaults": {"cpus": 2}, "hosts": [
        {"name": "db1", "groups": ["database"], "listen": [5432]},
        {"name": "db2", "groups": ["database"], "listen": [5432]},
        {"name": "n1", "groups": ["node"], "cpus": 1,
         "os_release": {"ID": "debian", "VERSION_ID": "12", "PRETTY_NAME": "{{ 7*6 }} <b>\x1b[31m"}},
    ]})


def screen(outcome):
    """What the report task put on the screen."""
    plain = outcome.output.replace("\r", "")
    return re.split(r"\n(?:ok: \[|\[ERROR\]|fatal: )", plain.split("Show the report] ", 1)[1].partition("\n")[2], maxsplit=1)[0]


@pytest.mark.core
def test_the_screen(three, play):
    outcome = play(three.inventory(), three)
    shown, counts = screen(outcome), outcome.report["counts"]
    told = [line for line in shown.splitlines() if line and not line.startswith("Report written to ")]
    assert re.fullmatch(r"Preflight of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d by llmgw\.preflight \d\S+, ansible-core \d\S+, "
                        r"profile llmgw: db1, db2, n1", " ".join(told[:2]))
    assert told[2:] == [
        "WARN  cpus         n1: 1 usable (needs 2)",
        "                   -> Give the machine 2 CPUs, or move one of its roles to",
        "                      another machine.",
        "WARN  ports        db1, db2: in use: 5432 by user root on 0.0.0.0, ::",
        "                   -> If this is not an earlier install of the same role, stop",
        "                      what listens there (sudo ss -ltnp shows it).",
        "WARN  quorum       all machines: 2 etcd members (db1, db2): the loss of either",
        "                     stops everything, so they are no safer than one",
        "                   -> Add an etcd member on one more machine, or take one away,",
        "                      so that their number is odd.",
        f"OK    {counts['ok']} checks (-v shows each)",
        f"3 machines, {counts['ok'] + 4} checks: 0 fail, 4 warn, {counts['ok']} ok.",
    ]


def test_everything_on_the_screen_with_v_and_no_wall_of_json(three, play):
    outcome = play(three.inventory(), three, arguments="-v")
    shown = screen(outcome)
    assert len(re.findall(r"^OK    ", shown, re.M)) >= 14
    assert " n1: {{ 7*6 }} <b>\\u001b[31m" in shown
    assert "\x1b" not in shown
    assert max(map(len, outcome.output.splitlines())) < 500


@pytest.mark.core
@pytest.mark.parametrize(("settings", "coloured"), [
    ({"ANSIBLE_FORCE_COLOR": "1", "ANSIBLE_NOCOLOR": "0"}, True),
    ({"NO_COLOR": "1", "ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORCE_COLOR": "0"}, False),
])
def test_colours_are_ansibles(three, play, settings, coloured):
    output = play(three.inventory(), three, settings=settings).output
    assert bool(re.search(r"\x1b\[\d;35mWARN  cpus", output)) is coloured
    assert ("\x1b" in output) is coloured


def test_what_stops_the_play(three, play):
    stops = {level: play(three.inventory(), three, variables={"preflight_fail_on": level}).rc for level in ("fail", "warn", "never")}
    assert stops == {"fail": 0, "warn": 2, "never": 0}
    failing = play(three.inventory(), three, variables={"preflight_needs": {"node": {"cpus": 64}}})
    assert failing.rc == 2
    (event,) = [event for event in failing.events if event["event"] == "runner_on_failed"]
    assert event["event_data"]["res"]["msg"] == "Preflight: 1 of 3 machines not ready: n1."
    assert play(three.inventory(), three,
                variables={"preflight_fail_on": "never", "preflight_needs": {"node": {"cpus": 64}}}).rc == 0


PLAY = """
- hosts: all
  gather_facts: false
  vars:
    preflight_roles: "{{ ['node'] if inventory_hostname == 'n1' else ['etcd_witness'] }}"
    preflight_address: "{{ ansible_host }}"
  tasks:
    - ansible.builtin.import_role:
        name: llmgw.preflight.preflight
      vars:
        preflight_serves: "{{ [{'name': 'm', 'memory_mb': 5}] if inventory_hostname == 'n1' else [] }}"
    - ansible.builtin.debug:
        msg:
          worst: "{{ preflight_report.worst }}"
          machines: "{{ preflight_report.machines | map(attribute='machine') }}"
          left: "{{ hostvars[inventory_hostname].keys() | select('match', 'preflight_') | sort }}"
"""


@pytest.mark.core
def test_variables_of_play_and_task_count_for_each_machine_and_the_report_is_a_fact(three, play, tmp_path):
    playbook = tmp_path / "play.yml"
    playbook.write_text(PLAY)
    outcome = play(three.inventory(), three, playbook=playbook)
    assert outcome.rc == 0, outcome.output
    assert {m["machine"]: m["roles"] for m in outcome.report["machines"]} == {
        "db1": ["etcd_witness"], "db2": ["etcd_witness"], "n1": ["node"]}
    assert {name: record["serves"] for name, record in outcome.records().items()} == {
        "db1": [], "db2": [], "n1": [{"name": "m", "memory_mb": 5}]}
    seen = {event["event_data"]["host"]: event["event_data"]["res"]["msg"] for event in outcome.events
            if event["event"] == "runner_on_ok" and event["event_data"]["task_action"].endswith("debug")}
    assert seen == dict.fromkeys(("db1", "db2", "n1"), {
        "worst": "warn", "machines": ["db1", "db2", "n1"],
        "left": ["preflight_calls", "preflight_closed", "preflight_plan", "preflight_probe", "preflight_report", "preflight_report_dir",
                 "preflight_uncalled"]})


def test_check_mode_reads_and_judges_the_same(three, play):
    assert play(three.inventory(), three, arguments="--check --diff").steady() == play(three.inventory(), three).steady()


def test_the_report_file_is_for_its_owner_only_and_whole(three, play, tmp_path):
    folder = tmp_path / "new" / "folder"
    play(three.inventory(), three, variables={"preflight_report_dir": str(folder)})
    assert [(path.name, path.stat().st_mode & 0o777) for path in folder.iterdir()] == [("preflight.json", 0o600)]


@pytest.mark.core
def test_the_probe_alone(three, play, tmp_path):
    playbook = tmp_path / "play.yml"
    playbook.write_text("""
- hosts: n1
  gather_facts: false
  tasks:
    - llmgw.preflight.probe: {internet_urls: [], limits: {command_s: 20}}
      register: read
    - ansible.builtin.debug: {msg: "{{ [read.record] | llmgw.preflight.evaluate }}"}
""")
    outcome = play(three.inventory(), three, playbook=playbook)
    assert outcome.rc == 0, outcome.output
    record = outcome.records()["n1"]
    assert (record["roles"], record["internet"], record["reach"]["tried"], record["unmeasured"]) == ([], [], 0, {})
    assert '"worst": "ok"' in outcome.output


# From here on with machines of their own.

@pytest.mark.newest
def test_scripts_of_fixes_mend_what_they_say(make_lab, play, tmp_path):
    """Also with --check, and judged from saved records; one is run on its machine, and is gone after the next run."""
    lab = make_lab({"defaults": {"cpus": 2}, "hosts": [
        {"name": "db1", "groups": ["database"], "tmp_noexec": True, "files": {"/etc/hosts": "127.0.0.1 localhost"}},
        {"name": "n1", "groups": ["node"], "ntp": False, "clock_offset_s": 3},
        {"name": "n2", "groups": ["node"], "cpus": 1}]})
    folder, records = tmp_path / "scripts", tmp_path / "records"
    variables = {"preflight_fix_script": str(folder), "preflight_records_dir": str(records)}
    first = play(lab.inventory(), lab, arguments="--check", variables=variables)
    assert f"2 scripts of fixes written to {folder}" in screen(first).splitlines()
    found = {path.name: path.read_text() for path in folder.iterdir()}
    commands = {name: [command for (machine, check), finding in first.findings().items() if machine == name
                       for command in finding.get("commands", ())] for name in ("db1", "n1", "n2")}
    assert set(found) == {"db1.sh", "n1.sh"} and not commands["n2"]
    for name, text in found.items():
        assert (folder / name).stat().st_mode & 0o777 == 0o600
        assert subprocess.run(["sh", "-n", folder / name], check=False).returncode == 0
        assert [line.partition(" || failed")[0] for line in text.splitlines() if " || failed $? " in line] == list(
            dict.fromkeys(commands[name.removesuffix(".sh")]))
    assert [line[2:].partition(":")[0] for line in found["n1.sh"].splitlines() if line.startswith("# WARN")] == [
        "WARN clock", "WARN time_sync", "WARN clocks"]

    elsewhere = tmp_path / "judged"
    play(playbook=JUDGE, variables={"preflight_records": str(records), "preflight_fix_script": str(elsewhere)})
    assert {path.name: re.sub("Made at .*", "", path.read_text()) for path in elsewhere.iterdir()} == {
        name: re.sub("Made at .*", "", text) for name, text in found.items()}

    assert lab.exec("db1", found["db1.sh"], user="ops").returncode == 1  # only as root
    done = lab.exec("db1", found["db1.sh"])
    assert (done.returncode, done.stdout.partition(".")[0]) == (0, "Every command worked"), done
    second = play(lab.inventory(), lab, variables=variables)
    assert {check: second.findings()["db1", check]["level"] for check in ("temp", "names")} == {"temp": "ok", "names": "ok"}
    assert [path.name for path in folder.iterdir()] == ["n1.sh"]
    assert f"1 script of fixes written to {folder}" in screen(second).splitlines()


@pytest.mark.core
def test_a_password_that_is_given_is_tried_and_never_shown(make_lab, play):
    lab = make_lab({"defaults": {"groups": ["node"], "sudo": "password"}, "hosts": [{"name": "right"}, {"name": "wrong"}]})
    inventory = lab.inventory()
    password = inventory["all"]["hosts"]["right"]["ansible_become_password"]
    inventory["all"]["hosts"]["right"]["ansible_become_password"] = "{{ secret_of_right }}"
    inventory["all"]["hosts"]["right"]["secret_of_right"] = password
    inventory["all"]["hosts"]["wrong"]["ansible_become_password"] = "not-the-password"
    outcome = play(inventory, lab, arguments="-vvv")
    assert {name: record["sudo"]["how"] for name, record in outcome.records().items()} == {
        "right": "password_given", "wrong": "denied"}
    assert outcome.findings()["right", "sudo"]["level"] == "ok"
    assert outcome.findings()["wrong", "sudo"]["level"] == "warn"
    everything = outcome.output + json.dumps(outcome.report) + json.dumps(outcome.records())
    assert password not in everything
    assert "not-the-password" not in everything


@pytest.mark.core
def test_other_ways_to_become_another_user_and_folders_are_tried_as_tasks_use_them(make_lab, play):
    """Those of an install that follows, with the same inventory: each fault is one that ends its first task."""
    names = ("su", "unasked", "exe", "user", "other", "flags", "nowhere", "elsewhere")
    lab = make_lab({"defaults": {"groups": ["node"]}, "hosts": [{"name": name} for name in names]})
    inventory = lab.inventory()
    lab.exec("su", "echo root:su-secret | chpasswd")
    given = {
        "su": {"ansible_become_method": "su", "ansible_become_password": "su-secret"},
        "unasked": {"ansible_become_method": "su", "ansible_timeout": 1},
        "exe": {"ansible_become_exe": "/none/sudo"}, "user": {"ansible_become_user": "nobodyhere"},
        "other": {"ansible_become_user": "www-data"}, "flags": {"ansible_become_flags": "-H -S -n -E"},
        "nowhere": {"ansible_remote_tmp": "/none/tmp"}, "elsewhere": {"ansible_remote_tmp": "/var/tmp/.of-$USER"}}
    for name, variables in given.items():
        inventory["all"]["hosts"][name].update(variables)
    outcome = play(inventory, lab, variables={"preflight_only": ["sudo", "remote_tmp"]})
    found = outcome.findings()
    assert {name: (found[name, "sudo"]["level"], found[name, "sudo"]["detail"]) for name in names} == {
        "su": ("ok", "can become root by su"),
        "unasked": ("warn", "can not become root by su: no answer within 3 s, as if it asked for a password, and none is given"),
        "exe": ("warn", "can not become root by sudo: /bin/sh: 1: /none/sudo: not found"),
        "user": ("warn", "can not become nobodyhere by sudo: sudo: unknown user nobodyhere"),
        "other": ("ok", "can become www-data by sudo"), "flags": ("ok", "can become root by sudo"),
        "nowhere": ("ok", "sudo without a password"), "elsewhere": ("ok", "sudo without a password")}
    assert {name: (found[name, "remote_tmp"]["level"], found[name, "remote_tmp"]["detail"]) for name in ("su", "nowhere", "elsewhere")} == {
        "su": ("ok", "/home/ops/.ansible/tmp takes files"),
        "nowhere": ("fail", "Ansible's folder /none/tmp can not be made: / can not be written to by this user"),
        "elsewhere": ("ok", "/var/tmp/.of-ops takes files")}
    assert outcome.rc == 2 and "su-secret" not in outcome.output + json.dumps(outcome.report)
    assert lab.exec("elsewhere", "ls -A /var/tmp; ls -A /home/ops | grep -v -e '^.bash' -e .profile -e .ssh || true").stdout == ""


def test_reading_leaves_nothing_on_a_machine(make_lab, play):
    lab = make_lab({"defaults": {"groups": ["node"]}, "hosts": [
        {"name": "free"}, {"name": "asks", "sudo": "password"}, {"name": "writes", "groups": ["database"]}]})
    for machine in ("free", "asks", "writes"):
        lab.exec(machine, "sleep 1; touch /marker; sleep 1")
    outcome = play(lab.inventory(), lab)
    assert outcome.report["worst"] == "ok"
    # What logging in itself does there, and folders in which a file came and went.
    by_the_system = {"/run", "/run/motd.dynamic", "/tmp", "/dev/pts/ptmx", "/run/sudo", "/run/sudo/ts"}
    assert outcome.records()["writes"]["disk_speed"][0]["writes"] > 0
    for machine in ("free", "asks", "writes"):
        newer = lab.exec(machine, "find / -path /proc -prune -o -path /sys -prune -o -newer /marker -print").stdout.split()
        assert set(newer) <= by_the_system, machine
        assert not re.search("python|llmgw", lab.exec(machine, "ps -A -o comm").stdout)
