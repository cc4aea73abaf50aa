"""Machines that several runs read, each a part, judged as one run over all would judge them; and what outlives a job."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
JUDGE = ROOT / "playbooks" / "judge.yml"
RUNNER = Path(sys.executable).with_name("ansible-runner")
KINDS = {"control_plane": 3, "database": 6, "etcd_witness": 3, "node": 12}  # 24
NAMES = [f"{kind[:2]}{number}" for kind, many in KINDS.items() for number in range(1, many + 1)]
SLICES = [NAMES[number::3] for number in range(3)]  # as AWX makes them
FORKS = "-f 12"
COMMON = {"preflight_role_ports": False, "preflight_skip": ["disk_speed"]}  # 24 machines with one disk
RUN_S = 300


@pytest.fixture(scope="module")
def lab(make_lab):
    hosts = [{"name": f"{kind[:2]}{number}", "groups": [kind]} for kind, many in KINDS.items() for number in range(1, many + 1)]
    at = {host["name"]: host for host in hosts}
    at["da2"]["block"] = [{"to": "co2", "port": 22, "how": "reject"}]  # from one slice to another
    at["no5"]["mem_mb"] = 1024  # and of one machine alone
    at["no7"]["clock_offset_s"] = 90
    at["da4"]["block"] = [{"to": "da1", "port": 2380}]
    at["no2"]["block"] = [{"to": "co1", "port": 7443}]
    return make_lab({"defaults": {"cpus": 2, "mem_mb": 8192}, "hosts": hosts})


@pytest.fixture(scope="module")
def whole(lab, play):
    """One run over all."""
    outcome = play(lab.inventory(), lab, arguments=FORKS, variables=COMMON)
    assert outcome.rc == 2, outcome.output
    return outcome


def judged(play, records, **variables):
    """What the playbook judge says of these."""
    return play(playbook=JUDGE, variables={"preflight_records": records, **variables})


def steady(outcome):
    """The report without times, and what is measured anew: it is the same from run to run."""
    text = re.sub(r"\d[\d,]*\.\d{3} s|\d+ s |\d+\.\d ms", "# ", json.dumps(outcome.steady()))
    return json.loads(text)


def assert_what_is_wrong_is_there(outcome):
    found = {at: finding["level"] for at, finding in outcome.findings().items() if finding["level"] == "fail"}
    assert found == {("da2", "network"): "fail", ("no5", "memory"): "fail", ("no7", "clock"): "fail", ("no7", "clocks"): "fail"}
    assert outcome.findings()["da2", "network"]["detail"].startswith("does not reach co2 (")


def artifact_of(events):
    (stats,) = [event["event_data"] for event in events if event["event"] == "playbook_on_stats"]
    return stats["artifact_data"]["preflight"]


def test_one_run_over_all_finds_what_is_wrong_and_its_outcome_outlives_it(whole):
    assert_what_is_wrong_is_there(whole)
    artifact = artifact_of(whole.events)
    assert (artifact["worst"], artifact["machines"], artifact["more"]) == ("fail", 24, 0)
    assert artifact["counts"] == whole.report["counts"]
    assert {(f["machine"], f["check"]) for f in artifact["findings"]} == {
        at for at, finding in whole.findings().items() if finding["level"] == "fail"}


def test_three_slices_by_limit(lab, play, whole, tmp_path):
    records = tmp_path / "records"
    for names in SLICES:
        outcome = play(lab.inventory(), lab, arguments=f"{FORKS} --limit {','.join(names)}",
                       variables={**COMMON, "preflight_records_dir": str(records)})
        assert [machine["machine"] for machine in outcome.report["machines"]] == names
    found = judged(play, str(records))
    assert found.rc == 2, found.output
    assert_what_is_wrong_is_there(found)
    assert steady(found) == steady(whole)
    assert artifact_of(found.events)["findings"] == [
        {key: finding[key] for key in ("machine", "check", "level", "detail", "fix")}
        for finding in found.report["findings"] if finding["level"] == "fail"]


def inventory_of(lab, names):
    """One that holds these machines only, as that of a sliced job does."""
    inventory = lab.inventory()["all"]
    groups = {kind: {"hosts": dict.fromkeys(name for name in names if name in group["hosts"])}
              for kind, group in inventory["children"].items()}
    hosts = {name: inventory["hosts"][name] for name in names}
    return {"all": {"vars": inventory.get("vars", {}), "hosts": hosts, "children": groups}}


def peers_of(lab, names):
    kinds = {name: kind for kind, group in lab.inventory()["all"]["children"].items() for name in group["hosts"]}
    return [{"machine": name, "address": lab.host(name)["ip"], "roles": [kinds[name]]} for name in names]


def private_folder(lab, folder, names, variables):
    """What ansible-runner is given."""
    for part in ("inventory", "project", "env"):
        (folder / part).mkdir(parents=True)
    (folder / "inventory" / "hosts.json").write_text(json.dumps(inventory_of(lab, names)))
    (folder / "project" / "preflight.yml").write_text("- ansible.builtin.import_playbook: llmgw.preflight.preflight\n")
    (folder / "env" / "extravars").write_text(json.dumps(variables))
    (folder / "env" / "cmdline").write_text(FORKS)
    return folder


def runner_environment(folder):
    return {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"), "ANSIBLE_HOME": str(folder / "home"),
            "ANSIBLE_NOCOLOR": "1", "PATH": f"{RUNNER.parent}:{os.environ['PATH']}"}


def transmitted(lab, folder, names, variables):
    """transmit | worker | process: only the worker's process needs the machines; the events come back."""
    private_folder(lab, folder / "sent", names, variables)
    environment = runner_environment(folder)
    line = (f"{RUNNER} transmit {folder / 'sent'} -p preflight.yml | "
            f"{RUNNER} worker --private-data-dir {folder / 'worker'} | {RUNNER} process {folder / 'back'}")
    with lab.network():
        done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, timeout=RUN_S, check=False)
    artifacts = folder / "back" / "artifacts"
    events = [json.loads(path.read_text()) for path in (artifacts / "job_events").glob("*.json")]
    return int((artifacts / "rc").read_text()), events, done.stdout


@pytest.mark.newest
def test_three_slices_by_transmit_worker_and_process(lab, play, whole, tmp_path):
    records = tmp_path / "records"
    given = {**COMMON, "preflight_records_dir": str(records), "preflight_peers": peers_of(lab, NAMES)}
    for number, names in enumerate(SLICES):
        rc, events, shown = transmitted(lab, tmp_path / str(number), names, given)
        artifact = artifact_of(events)
        assert (rc, artifact["worst"]) == ((2, "fail") if {"da2", "no5", "no7"} & set(names) else (0, "ok")), shown
        assert artifact["machines"] == 8
    found = judged(play, [str(path) for path in records.iterdir()])
    assert_what_is_wrong_is_there(found)
    assert steady(found) == steady(whole)


FEW = ["co1", "da1", "da3", "no1"], ["da4", "no2"]


def test_without_peers_and_with_a_part_missing_that_is_told(lab, play, tmp_path):
    """And ports of roles between slices are said not to be tried, nor the round trips to be measured."""
    records = tmp_path / "records"
    for names in FEW:
        play(inventory_of(lab, names), lab, variables={
            "preflight_skip": ["disk_speed"], "preflight_records_dir": str(records), "preflight_fail_on": "never"})
    found = judged(play, str(records), preflight_fail_on="warn")
    assert found.rc == 2
    assert {machine: finding["detail"] for (machine, check), finding in found.findings("parts").items()} == {
        **dict.fromkeys(FEW[0], "could not be tried whether it reaches machines that its run did not know of: da4, no2"),
        **dict.fromkeys(FEW[1], "could not be tried whether it reaches machines that its run did not know of: co1, da1, da3, no1")}
    untried = {machine: finding for (machine, check), finding in found.findings("role_ports").items() if finding["level"] != "ok"}
    assert set(untried) == {"co1", "da1", "da3", "da4"}
    assert {finding["level"] for finding in untried.values()} == {"warn"}
    assert "from 1 of other batches or runs, read at another time" in untried["da1"]["detail"]
    unmeasured = {machine: finding for (machine, check), finding in found.findings("latency").items()}
    assert {finding["level"] for finding in unmeasured.values()} == {"warn"}
    assert {machine: finding["detail"].rpartition("; ")[2] for machine, finding in unmeasured.items()} == {
        **dict.fromkeys(("da1", "da3"), "could not be measured to da4"), "da4": "could not be measured to da1, da3"}
    told = {each["check"] for each in artifact_of(found.events)["findings"]}
    assert told == {"parts", "role_ports", "latency"}  # what stops the play, though none is a failure


def test_a_fault_on_a_port_between_slices_is_found(lab, play, tmp_path):
    """By two slices that know of each other, as by one run over both, which has stand-ins on both sides."""
    common = {"preflight_skip": ["disk_speed"], "preflight_limits": {"reach_s": 4}}
    one = play(inventory_of(lab, FEW[0] + FEW[1]), lab, variables=common)
    records = tmp_path / "records"
    for names in FEW:
        play(inventory_of(lab, names), lab, variables={
            **common, "preflight_records_dir": str(records), "preflight_peers": peers_of(lab, FEW[0] + FEW[1])})
    found = judged(play, str(records))
    assert (one.rc, found.rc) == (2, 2)
    failures = [{machine: finding["detail"] for (machine, check), finding in outcome.findings("role_ports").items()
                 if finding["level"] == "fail"} for outcome in (one, found)]
    assert failures[0] == {"co1": "is not reached on 7443 (from no2: no answer)", "da1": "is not reached on 2380 (from da4: no answer)"}
    assert {machine: detail.partition(";")[0] for machine, detail in failures[1].items()} == failures[0]
    assert failures[1]["da1"].endswith(
        "; 2379, 5432, 8008 from 1 of other batches or runs: refused, since nothing listens there yet, or by a firewall")
    for outcome in (one, found):
        assert {machine: finding["level"] for (machine, check), finding in outcome.findings("latency").items()} == {
            "da1": "ok", "da3": "ok", "da4": "ok"}
    others = [{at: finding["level"] for at, finding in outcome.findings().items() if at[1] != "role_ports"} for outcome in (one, found)]
    assert others[0] == others[1]


def test_every_way_to_run_it_gives_the_same_report(lab, whole, tmp_path):
    """By ansible-playbook, ansible-runner run, and transmit | worker | process; what is shown too."""
    names = ["co1", "da3", "no5"]
    reports, shown = {}, {}
    for way in ("ansible-playbook", "run", "transmit"):
        variables = {**COMMON, "preflight_report_dir": str(tmp_path / way / "reports")}
        folder = private_folder(lab, tmp_path / way / "sent", names, variables)
        environment = runner_environment(tmp_path / way)
        with lab.network():
            line = {
                "ansible-playbook": f"ansible-playbook llmgw.preflight.preflight -i {folder}/inventory -e @{folder}/env/extravars",
                "run": f"ansible-runner run {folder} -p preflight.yml",
                "transmit": f"ansible-runner transmit {folder} -p preflight.yml | ansible-runner worker --private-data-dir "
                            f"{tmp_path / way / 'worker'} | ansible-runner process {tmp_path / way / 'back'}"}[way]
            done = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], env=environment, capture_output=True, text=True,
                                  timeout=RUN_S, check=False)
        assert done.returncode == 2, done.stdout + done.stderr
        report = json.loads((tmp_path / way / "reports" / "preflight.json").read_text())
        reports[way] = steady(dataclasses.replace(whole, report=report))
        shown[way] = [re.sub(r"\d+(\.\d+)? (ms|s)\b", "#", text) for text in done.stdout.splitlines()
                      if text.startswith(("FAIL", "WARN", "OK", "     "))]
    assert reports["ansible-playbook"] == reports["run"] == reports["transmit"]
    assert shown["ansible-playbook"] == shown["run"] == shown["transmit"] != []


@pytest.mark.core
def test_the_outcome_arrives_though_the_job_fails(play, tmp_path):
    outcome = play(variables={"preflight_needs": {"node": {"cpus": 4096}}, "preflight_internet_urls": [], "preflight_stats_key": "gate",
                              "preflight_skip": ["disk_speed"], "preflight_records_dir": str(tmp_path / "records")})
    assert outcome.rc == 2, outcome.output
    (stats,) = [event["event_data"] for event in outcome.events if event["event"] == "playbook_on_stats"]
    (artifact,) = stats["artifact_data"].values()
    assert list(stats["artifact_data"]) == ["gate"]
    assert (artifact["worst"], artifact["machines"]) == ("fail", 1)
    assert ("localhost", "cpus") in {(finding["machine"], finding["check"]) for finding in artifact["findings"]}
    (records,) = (tmp_path / "records").iterdir()
    assert records.stat().st_mode & 0o777 == 0o600
    again = play(playbook=JUDGE, variables={"preflight_records": str(records)})
    assert again.rc == 2
    assert again.steady() == outcome.steady()


def test_the_judge_has_limits_and_waivers_of_its_own_and_a_limit_does_not_pass_over_it(play, tmp_path):
    made = play(variables={"preflight_needs": {"node": {"cpus": 4096}}, "preflight_only": ["cpus"], "preflight_records_dir": str(tmp_path),
                           "preflight_fail_on": "never", "preflight_stats_key": ""})
    assert made.rc == 0, made.output
    elsewhere = {"all": {"hosts": {"web1": {"ansible_host": "192.0.2.1"}, "web2": {}}}}
    found = play(elsewhere, playbook=JUDGE, arguments="--limit web1", variables={"preflight_records": str(tmp_path)})
    assert (found.rc, found.findings()["localhost", "cpus"]["level"]) == (2, "fail")
    waiver = {"check": "cpus", "reason": "a lab", "until": "2099-12-31"}
    waived = judged(play, str(tmp_path), preflight_waivers=[waiver])
    assert (waived.rc, waived.report["waived"]) == (0, 1), waived.output
    stale = judged(play, str(tmp_path), preflight_limits={"stale_s": 0.001}, preflight_waivers=[waiver])
    assert stale.rc == 2
    assert stale.findings()["localhost", "parts"]["detail"].endswith("; 0.001 s is allowed)")
    wrong = judged(play, str(tmp_path), preflight_limits={"stale": 1}, preflight_waivers=[waiver])
    assert (wrong.rc, wrong.report) == (2, None)
    assert "preflight_limits" in wrong.output


def test_all_that_the_judge_can_not_use_is_told_at_once(play, tmp_path):
    found = judged(play, [str(tmp_path), "/none"], preflight_limits={"stale": 1}, preflight_fail_on="error",
                   preflight_report_formats="html,pdf", preflight_report_mode="0777", preflight_report_dir="/dev/null/x",
                   preflight_stats_key="a-b", preflight_fit="maybe", preflight_waivers=[5],
                   preflight_report_dirs="x", preflight_skip="cpus")
    assert (found.rc, found.report) == (2, None)
    (told,) = [event["event_data"]["res"]["msg"] for event in found.events if event["event"] == "runner_on_failed"]
    begins = ["Nothing was judged, because:", "preflight_fit is 'maybe'", "preflight_fail_on is 'error'",
              "preflight_report_dir is '/dev/null/x'", "preflight_report_formats is 'pdf'", "preflight_report_mode is '0777'",
              "preflight_stats_key is 'a-b'", "preflight_limits key is 'stale'", "preflight_waivers[0] is 5",
              f"preflight_records is '{tmp_path}'", "preflight_records is '/none'"]
    assert [line[:len(begin)] for line, begin in zip(told.splitlines(), begins, strict=True)] == begins
    said = " ".join(found.output.split())
    assert "Is preflight_report_dir meant?" in said
    assert "preflight_skip has no effect here: what the runs were told that read the machines counts." in said


def test_the_judge_takes_what_the_role_takes(play, tmp_path):
    made = play(variables={"preflight_only": "cpus", "preflight_records_dir": str(tmp_path)})
    assert made.rc == 0, made.output
    found = judged(play, str(tmp_path), preflight_fail_on=None, preflight_report_formats="json,html", preflight_report_mode="",
                   preflight_fit="no", preflight_report_dir=str(tmp_path / "reports"), preflight_limits="", preflight_report_dirs="x")
    assert found.rc == 0, found.output
    assert sorted(path.name for path in (tmp_path / "reports").iterdir()) == ["preflight.html", "preflight.json"]
    assert "preflight_report_dirs is no variable of the preflight, so nothing is done with it. Is preflight_report_dir meant?" in " ".join(
        found.output.split())


@pytest.mark.parametrize(("given", "told"), [
    ({"preflight_records": "{folder}"}, "{folder}/preflight-records-x.json: it is no JSON, or cut short."),
    ({"preflight_records": ["{folder}/none"]},
     "preflight_records is '{folder}/none': there is no such file, or no preflight-records-*.json in it."),
    ({}, "There is no part to judge, so there is nothing to call good: let preflight_records name files or folders."),
], ids=["damaged", "missing", "not named"])
def test_what_can_not_be_judged_publishes_nothing(play, tmp_path, given, told):
    (tmp_path / "preflight-records-x.json").write_text("{")
    outcome = play(playbook=JUDGE, variables=json.loads(json.dumps(given).replace("{folder}", str(tmp_path))))
    assert (outcome.rc, outcome.report) == (2, None)
    assert [event["event_data"]["res"]["msg"] for event in outcome.events if event["event"] == "runner_on_failed"] == [
        f"Nothing was judged, because:\n{told.format(folder=tmp_path)}"]
    assert "Traceback" not in outcome.output and "An exception occurred" not in outcome.output
    (stats,) = [event["event_data"] for event in outcome.events if event["event"] == "playbook_on_stats"]
    assert not stats.get("artifact_data")


@pytest.mark.core
@pytest.mark.parametrize("key", ["", None])
def test_nothing_is_published_where_nobody_wants_it(play, tmp_path, key):
    outcome = play(variables={"preflight_only": ["cpus"], "preflight_stats_key": key, "preflight_records_dir": str(tmp_path)})
    for each in (outcome, judged(play, str(tmp_path), preflight_stats_key=key)):
        assert each.rc == 0, each.output
        (stats,) = [event["event_data"] for event in each.events if event["event"] == "playbook_on_stats"]
        assert not stats.get("artifact_data")
