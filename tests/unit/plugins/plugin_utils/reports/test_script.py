from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from ansible_collections.llmgw.preflight.plugins.plugin_utils.checks import names, temp
from ansible_collections.llmgw.preflight.plugins.plugin_utils.evaluate import evaluate
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import script

ABOUT = {"at": "2026-11-30T14:05:09+01:00", "version": "0.1.0", "ansible": "2.19.3", "profile": "llmgw"}
BROKEN = {"interrupted": True, "unfinished": [{"package": "openssl", "state": "half-configured"}], "held": []}
UNKEPT = {"time_sync": {"synchronised": False, "by": "kernel"}, "time_sources": []}
NOEXEC = [{"path": path, "problem": None, "noexec": True, "free_bytes": 2**40} for path in temp.FOLDERS]
WHOLE = """#!/bin/sh
# Written by llmgw.preflight: commands for db1
#
# Made at 2026-11-30T14:05:09+01:00 by version 0.1.0. Nobody has run it.
#
# Read it before you do, take out what you do not want, and run it there as root: sh db1.sh
# It holds the problems that were found there, the worst first, with what to do about each, and commands where they do that without
# a decision of yours. What has no command below it is for you to do. A command that fails is told, and the others are run all the same.

[ "$(id -u)" -eq 0 ] || { echo "This is to be run as root." >&2; exit 1; }

{
failures=0
failed() {
    failures=$((failures + 1))
    echo "FAILED with exit status $1: a command for $2" >&2
}

# FAIL apt_ready: dpkg was interrupted, and has not taken in what it did; half-configured: openssl
# -> Run dpkg --configure -a and then apt-get --fix-broken install there; dpkg --audit tells what is still amiss.
DEBIAN_FRONTEND=noninteractive dpkg --force-confdef --force-confold --configure -a || failed $? apt_ready
DEBIAN_FRONTEND=noninteractive apt-get -y --no-remove -o Dpkg::Options::=--force-confdef -o \
Dpkg::Options::=--force-confold --fix-broken install || failed $? apt_ready

# FAIL memory: 100 MB (needs 3500)
# -> Give the machine 3500 MB of memory, or move one of its roles to another machine.

# FAIL clock: 30.000 s behind the controller's (give or take 0.010 s; 1 s is allowed)
# -> Set the clock right and keep it so: timedatectl set-ntp true, or apt-get install chrony.
timedatectl set-ntp true || { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get -y install chrony; } || failed $? clock

# WARN temp: /tmp is mounted noexec
# -> Let programs be run from /tmp during the install (mount -o remount,exec /tmp), or have packages' scripts put
#    elsewhere (APT::ExtractTemplates::TempDir in /etc/apt/apt.conf.d).
mount -o remount,exec /tmp || failed $? temp

# WARN time_sync: not synchronised (says the kernel)
# -> Keep the clock right: timedatectl set-ntp true, or apt-get install chrony.
# (done by what is above)

if [ "$failures" -gt 0 ]; then
    echo "$failures of 4 commands failed." >&2
    exit 1
fi
echo "Every command worked. Run the preflight again to see what is left."
} </dev/null
""".replace("-o \\\nDpkg", "-o Dpkg")


def scripts(records, **options):
    return dict(script.scripts({**evaluate(records, **options), "about": ABOUT}))


def only(report):
    """The one script of a report."""
    (text,) = [text for name, text in script.scripts(report) if text]
    return text


def made(*problems, machine="db1"):
    """The script of a report with these problems, as (level, check, detail, fix, *commands)."""
    return only({"about": ABOUT, "machines": [{"machine": machine}], "findings": [
        {"machine": machine, "level": level, "check": check, "detail": detail, "fix": fix, "commands": list(given)}
        for level, check, detail, fix, *given in problems]})


@pytest.fixture
def run(tmp_path):
    """run(text, *programs, uid=, fails=): the script, with programs that only note their arguments; (exit status, what each was called
    with, what was said)."""
    def execute(text, *programs, uid="0", fails="never", stdin=None, shell="sh"):
        folder, log = tmp_path / "bin", tmp_path / "log"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        log.write_bytes(b"")
        for name in {"id", *programs}:
            note = f'{{ printf "%s\\0" {name} "$@"; printf "\\n\\0"; }} >>{log}; case "{name} $*" in *"$FAILS"*) exit 7;; esac'
            (folder / name).write_text(f"#!/bin/sh\n{'echo $UID_THERE' if name == 'id' else note}\n")
            (folder / name).chmod(0o755)
        (tmp_path / "x.sh").write_text(text, encoding="utf-8", errors="replace")
        given = [shell] if stdin else [shell, "x.sh"]
        done = subprocess.run(given, cwd=tmp_path, env={"PATH": str(folder), "UID_THERE": uid, "FAILS": fails}, input=stdin,
                              capture_output=True, text=True, check=False, executable=f"/bin/{shell}")
        calls = [call.split("\0")[:-1] for call in log.read_text().split("\n\0")[:-1]]
        return done.returncode, calls, done.stdout + done.stderr

    return execute


def checked(text, shell="sh"):
    return subprocess.run([shell, "-n"], input=text.encode("utf-8", "replace"), check=False).returncode == 0


SHELLS = [shell for shell in ("dash", "bash") if Path("/bin", shell).exists()]


# ---------------------------------------------------------------------------------------------------------- what it holds
def test_the_whole_script(record):
    bad = record(dpkg=BROKEN, memory_mb=100, clock={"offset_s": -30.0, "error_s": 0.01}, temp=NOEXEC, **UNKEPT)
    assert scripts([bad]) == {"db1.sh": WHOLE}


def test_none_without_a_command_that_counts(record):
    waived = [{"check": "temp", "machine": "db1", "reason": "It stays so."}]
    assert scripts([record()]) == scripts([record(memory_mb=100)]) == {"db1.sh": None}
    assert scripts([record(temp=NOEXEC, memory_mb=100)], waived=waived) == {"db1.sh": None}
    with_both = scripts([record(temp=NOEXEC, dpkg=BROKEN)], waived=waived)["db1.sh"]
    assert "dpkg --force" in with_both and "remount" not in with_both


def test_each_machine_has_its_own(record):
    found = scripts([record(machine="a", temp=NOEXEC), record(machine="b"), record(machine="c", dpkg=BROKEN)])
    assert [name for name, text in found.items() if text] == ["a.sh", "c.sh"]
    assert "remount" in found["a.sh"] and "dpkg --force" not in found["a.sh"]


def test_of_one_that_was_not_read_nothing_is_said(record):
    assert scripts([record(machine="a", login={"ok": False, "reason": "no answer"}), record(machine="b")]) == {"b.sh": None}


def test_what_is_about_all_machines_is_in_none(record):
    report = {**evaluate([record(temp=NOEXEC)]), "about": ABOUT}
    report["findings"].append({"machine": None, "check": "quorum", "level": "fail", "detail": "even", "fix": "Add one.", "commands": ["x"]})
    assert "quorum" not in only(report)


# --------------------------------------------------------------------------------------------------------- how it is run
PROGRAMS = ("dpkg", "apt-get", "timedatectl", "mount")
DPKG = ["dpkg", "--force-confdef", "--force-confold", "--configure", "-a"]
BROKEN_INSTALL = ["apt-get", "-y", "--no-remove", "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold",
                  "--fix-broken", "install"]
SWITCH, REMOUNT = ["timedatectl", "set-ntp", "true"], ["mount", "-o", "remount,exec", "/tmp"]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_command_is_run_once_and_in_order(run, shell):
    assert checked(WHOLE, shell)
    assert run(WHOLE, *PROGRAMS, shell=shell) == (
        0, [DPKG, BROKEN_INSTALL, SWITCH, REMOUNT], "Every command worked. Run the preflight again to see what is left.\n")


def test_one_that_fails_is_told_and_the_others_are_run(run):
    assert run(WHOLE, *PROGRAMS, fails="--configure") == (
        1, [DPKG, BROKEN_INSTALL, SWITCH, REMOUNT], "FAILED with exit status 7: a command for apt_ready\n1 of 4 commands failed.\n")


def test_the_only_one_that_fails(run):
    assert run(made(("warn", "x", "d", "f", "only")), "only", fails="only")[2].endswith("\n1 of 1 command failed.\n")


def test_the_second_way_is_gone_where_the_first_one_fails(run):
    status, calls, said = run(WHOLE, *PROGRAMS, fails="set-ntp")
    assert (status, calls[2:5]) == (0, [SWITCH, ["apt-get", "update"], ["apt-get", "-y", "install", "chrony"]])
    status, calls, said = run(WHOLE, *(name for name in PROGRAMS if name != "timedatectl"))  # nor where it is not there
    assert (status, calls[2:4]) == (0, [["apt-get", "update"], ["apt-get", "-y", "install", "chrony"]])


def test_who_is_not_root_is_refused(run):
    assert run(WHOLE, *PROGRAMS, uid="1000") == (1, [], "This is to be run as root.\n")
    assert run(WHOLE, *PROGRAMS, uid="")[:2] == (1, [])  # nor where that can't be told


def test_by_standard_input_no_command_reads_the_rest_of_it(run):
    text = made(("warn", "x", "d", "f", 'read -r line; eats "$line"', "more"))
    assert run(text, "eats", "more", stdin=text)[:2] == run(text, "eats", "more")[:2] == (0, [["eats", ""], ["more"]])


@pytest.mark.parametrize("lines", range(1, WHOLE.count("\n"), 3))
def test_one_that_is_cut_short_does_nothing(run, lines):
    assert run("\n".join(WHOLE.split("\n")[:-lines - 1]), *PROGRAMS)[1] == []


# ------------------------------------------------------------------------------------------- what machines and people say
EVIL = ["a\nrm -rf /\n", "a\r\nrm -rf /", "$(rm -rf /)", "`rm -rf /`", "'; rm -rf /; '", '"; rm -rf /; "', "a\u2028rm\u2029rm\x85rm\x0brm",
        "\\", "a \\\\\\", "\0", "\x1b]0;x\x07", "\ud800", "!!", "-rf", "%s%n{0}{body}", "} </dev/null", "# x", "e" + "\u0301" * 9,
        "\u202erm", "", "x" * 9000, "w " * 500, "\U000e0001"]


@pytest.mark.parametrize("text", EVIL)
def test_no_text_leaves_its_comment(run, text):
    whole = made(("fail", text, text, text, "one"), ("warn", text, text, text), machine=f"m{text}")
    assert checked(whole)
    assert run(whole, "one", "rm") == (0, [["one"]], "Every command worked. Run the preflight again to see what is left.\n")
    assert run(whole, "one", "rm", fails="one")[:2] == (1, [["one"]])
    assert all(line.isprintable() or "\u200e" in line for line in whole.split("\n"))


def evil_records(record, text):
    """Machines whose records hold that text wherever they can, with each fault that has commands."""
    bad = record(
        machine="db1", dpkg={"interrupted": True, "unfinished": [{"package": text, "state": text}], "held": ["etcd-server"]},
        apt_sources={"problems": [text], "unread": [text], "lists_age_s": 10**8, "without_list": [text]},
        candidates=[{"package": name, "installed": None, "candidate": "1"} for name in ("postgresql", "patroni", "etcd-server", "etcd")],
        temp=[{"path": path, "problem": f"{temp.OPEN} {text}", "noexec": True, "free_bytes": 0} for path in temp.FOLDERS],
        locales=[], clock={"offset_s": 99.0, "error_s": 0.01}, time_sync={"synchronised": False, "by": text}, time_sources=[],
        names={"own": {"name": text, "addresses": None}, "looked_up": 1, "loopback": [{"machine": text, "address": text, "to": text}],
               "nobody": [{"machine": text, "address": text, "answered": True}]},
        firewall={"by": "ufw", "open": [], "unread": text},
        stand_ins={"pid": 1, "open": [2379, 2380, 5432, 8008], "held": [], "not_opened": []},
        edges={"tried": 4, "open": 4, "not_open": []})
    caller = record(
        machine="db2", address=text, identity={"machine_id": None, "host_keys": [], "hostname": text, "addresses": [text], "macs": []},
        stand_ins=bad["stand_ins"],
        edges={"tried": 4, "open": 3, "not_open": [{"machine": "db1", "port": 5432, "address": text, "outcome": "timeout"}]})
    return [bad, caller]


@pytest.mark.parametrize("text", EVIL)
def test_no_record_gives_another_command(run, record, text):
    found = scripts(evil_records(record, text))
    assert checked(found["db1.sh"])
    programs = ("dpkg", "apt-get", "apt-mark", "timedatectl", "mount", "chmod", "localedef", "getent", "ufw", "rm", "systemctl")
    status, calls, said = run(found["db1.sh"], *programs)
    assert status == 0, said
    assert calls == [
        ["apt-get", "update"], DPKG, BROKEN_INSTALL, ["apt-mark", "unhold", "etcd-server"],
        ["chmod", "1777", "/tmp"], ["chmod", "1777", "/var/tmp"], SWITCH,
        ["apt-get", "update"], ["apt-get", "-y", "install", "locales"], ["localedef", "-i", "en_US", "-f", "UTF-8", "en_US.UTF-8"]]


@pytest.mark.parametrize("name", ["db1", "db1.example.org", "DB-1", "localhost"])
def test_a_hostname_that_is_one_gets_its_line(run, record, name):
    found = scripts([record(names={"own": {"name": name, "addresses": None}, "looked_up": 0, "nobody": [], "loopback": []}),
                     record(machine="db2")])["db1.sh"]
    assert run(found, "getent")[:2] == (0, [["getent", "ahosts", name]])  # it is there already
    (command,) = [line for line in found.splitlines() if line.startswith("getent")]
    assert command == f"getent ahosts {name} >/dev/null || printf '\\n127.0.1.1 %s\\n' {name} >>/etc/hosts || failed $? names"


def test_a_line_for_the_hostname_is_one_of_its_own(run, tmp_path):
    (command,) = names._commands({"own": {"name": "db1", "addresses": None}})
    (tmp_path / "hosts").write_text("127.0.0.1 localhost")  # without an end
    text = made(("warn", "names", "d", "f", command.replace("/etc/hosts", "hosts")))
    assert run(text, "getent", fails="getent")[0] == 0
    assert (tmp_path / "hosts").read_text() == "127.0.0.1 localhost\n127.0.1.1 db1\n"


# --------------------------------------------------------------------------------------------------------------- names of files
def test_names_of_files():
    machines = ["db1", "node-1.example.org", "a/b", "a b", "../../x", "..", ".hidden", "-rf", "a%2Fb", "\u00e4", "\ud800", "a\nb", "$(x)",
                "", "DB1", "x" * 250, "x" * 251, "con"]
    found = script.file_names(machines)
    assert [found[name] for name in machines[:13]] == [
        "db1.sh", "node-1.example.org.sh", "a%2Fb.sh", "a%20b.sh", "%2E.%2F..%2Fx.sh", "%2E..sh", "%2Ehidden.sh", "%2Drf.sh", "a%252Fb.sh",
        "%C3%A4.sh", "%ED%A0%80.sh", "a%0Ab.sh", "%24%28x%29.sh"]
    assert len({name.lower() for name in found.values()}) == len(machines)
    assert all(len(name) < 235 and name[0] not in "-." for name in found.values() if name != ".sh")


def test_of_no_report_two_machines_have_one_file():
    assert len(set(script.file_names(["x" * 300 + end for end in "abc"]).values())) == 3
