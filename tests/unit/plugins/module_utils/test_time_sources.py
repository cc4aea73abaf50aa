import pytest
from ansible_collections.llmgw.preflight.plugins.module_utils import time_sources


@pytest.mark.parametrize(("running", "found"), [
    ({}, []),
    ({"chronyd": ["/usr/sbin/chronyd -F 1", "/usr/sbin/chronyd -F 1"]}, ["chrony"]),
    ({"chronyd": ["/usr/sbin/chronyd -F 1 -x"]}, []),
    ({"chronyd": ["/usr/sbin/chronyd -x", "/usr/sbin/chronyd"]}, ["chrony"]),
    ({"systemd-timesyn": ["/lib/systemd/systemd-timesyncd"], "chronyd": ["chronyd"]}, ["chrony", "systemd-timesyncd"]),
    ({"ntpd": ["/usr/sbin/ntpd -p /var/run/ntpd.pid -g -u 107:113"]}, ["ntpd"]),
    ({"ntpd": ["/usr/sbin/ntpd -p /run/ntpd.pid -c /etc/ntpsec/ntp.conf -g -N -u ntpsec:ntpsec"]}, ["ntpsec"]),
    ({"ntpd": ["/usr/sbin/ntpd -f /etc/openntpd/ntpd.conf", "ntpd: ntp engine", "ntpd: dns engine"]}, ["openntpd"]),
    ({"ntpd": ["ntpd: [priv]", "ntpd: ntp engine"]}, ["openntpd"]),
    ({"openntpd": ["openntpd"], "ptp4l": ["ptp4l -i eth0"], "phc2sys": ["phc2sys -a"]}, ["openntpd", "phc2sys", "ptp4l"]),
    ({"ntpd": []}, ["ntpd"]),
])
def test_what_runs(monkeypatch, running, found):
    lines = {f"{name}{number}": line.split(" ") for name, own in running.items() for number, line in enumerate(own)}
    monkeypatch.setattr(time_sources, "pids_of", lambda names: {
        name: [f"{name}{number}" for number in range(len(own))] for name, own in running.items() if name in names})
    monkeypatch.setattr(time_sources, "arguments_of", lines.__getitem__)
    assert time_sources.time_sources() == found
