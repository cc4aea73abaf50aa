"""Profiles other than llmgw's, and where the file of one's own is looked for."""

from __future__ import annotations

import pytest

PLAY = """
- hosts: all
  gather_facts: false
  roles: [llmgw.preflight.preflight]
"""
OWN = """
systems: {{{system}: ["{version}"]}}
architectures: [x86_64, aarch64, "{{{{ 7 * 6 }}}}"]
needs:
  web: {{cpus: 1, ports: [{port}], reaches: {{web: [{port}]}}}}
"""


def here(*roles):
    return {"all": {"hosts": {"localhost": {
        "ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}", "preflight_roles": list(roles)}}}}


def message_of(outcome):
    (failed,) = [event["event_data"]["res"]["msg"] for event in outcome.events if event["event"] == "runner_on_failed"]
    return failed


def test_one_that_ships(play):
    outcome = play(here("worker"), variables={"preflight_profile": "kubeadm", "preflight_internet_urls": [], "preflight_fail_on": "never"})
    assert outcome.rc == 0, outcome.output
    assert outcome.report["about"]["profile"] == "kubeadm"
    assert outcome.report["machines"][0]["roles"] == ["worker"]
    assert list(outcome.report["needs"]) == ["control_plane", "worker"]
    assert outcome.findings()["localhost", "memory"]["detail"].endswith(" MB (needs 1700)")


@pytest.mark.core
def test_a_file_of_one_s_own_is_looked_for_beside_the_play_and_then_where_ansible_was_started(play, tmp_path_factory):
    """ansible-runner starts Ansible in its own folder, beside which these lie."""
    plays, started = tmp_path_factory.mktemp("plays", numbered=False), tmp_path_factory.mktemp("started", numbered=False)
    (plays / "play.yml").write_text(PLAY)
    (plays / "own.yml").write_text(OWN.format(system="beside", version="1", port=4001))
    (started / "own.yml").write_text(OWN.format(system="started", version="2", port=4002))
    found = {}
    for given in ("own.yml", "../started/own.yml"):
        outcome = play(here("web"), playbook=plays / "play.yml", variables={"preflight_profile": given, "preflight_fail_on": "never"})
        assert outcome.rc == 0, outcome.output
        found[given] = outcome
        assert outcome.report["about"]["profile"] == given
    details = {given: {check: outcome.findings()["localhost", check]["detail"] for check in ("system", "ports")}
               for given, outcome in found.items()}
    assert details["own.yml"]["system"].endswith("is not supported (supported: beside 1)")
    assert details["own.yml"]["ports"] == "free: 4001"
    assert details["../started/own.yml"]["system"].endswith("is not supported (supported: started 2)")
    assert details["../started/own.yml"]["ports"] == "free: 4002"


@pytest.mark.core
def test_what_looks_like_a_template_in_it_stays_text(play, tmp_path):
    (tmp_path / "play.yml").write_text(PLAY)
    (tmp_path / "own.yml").write_text(OWN.format(system="{{ 7 * 6 }}", version="{{ lookup('pipe', 'id') }}", port=4003).replace(
        "{{ 7 * 6 }}: [", "none: [").replace("x86_64, aarch64, ", ""))
    outcome = play(here("web"), playbook=tmp_path / "play.yml", variables={"preflight_profile": "own.yml", "preflight_fail_on": "never"})
    assert outcome.rc == 0, outcome.output
    details = {check: outcome.findings()["localhost", check]["detail"] for check in ("system", "architecture")}
    assert details["system"].endswith("(supported: none {{ lookup('pipe', 'id') }})")
    assert details["architecture"].endswith("(supported: {{ 7 * 6 }})")


@pytest.mark.parametrize(("variables", "message"), [
    ({"preflight_profile": "kubeadmin"},
     "preflight_profile is 'kubeadmin': it must be one of kubeadm, llmgw, patroni, or the path of a file, such as ./profile.yml."),
    ({"preflight_profile": {"needs": {}}}, "preflight_profile is {'needs': {}}: it must be one of kubeadm, llmgw, patroni, or"),
    ({"preflight_profile": "kubeadm"}, "preflight_roles is 'web': the known role ids are control_plane, worker. (localhost)"),
])
def test_what_can_not_be_used_is_told_before_anything_is_read(play, variables, message):
    outcome = play(here("web"), variables=variables)
    assert outcome.rc == 2
    assert message_of(outcome).startswith(f"Nothing was read, because:\n{message}")
    assert len(message_of(outcome).splitlines()) == 2  # what can't be judged without a profile is not told besides
    assert outcome.records() == {}
