# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which programs set the clock of this machine, by what runs: a unit file tells what should."""

from ansible_collections.llmgw.preflight.plugins.module_utils.processes import arguments_of, pids_of

# Short name -> program. ntpd is the name of three.
PROGRAMS = {"chronyd": "chrony", "ntpd": "ntpd", "openntpd": "openntpd", "systemd-timesyn": "systemd-timesyncd",
            "ptp4l": "ptp4l", "phc2sys": "phc2sys"}


def time_sources():
    """The names of those that run, each once, in alphabetical order."""
    found = set()
    for name, pids in pids_of(PROGRAMS).items():
        lines = [arguments_of(pid) for pid in pids]
        if name == "ntpd":
            found.add(_ntpd(lines))
        # chronyd(8): with -x it does not touch the clock, as in a container, and only serves the time.
        elif name != "chronyd" or not all("-x" in line for line in lines):
            found.add(PROGRAMS[name])
    return sorted(found)


def _ntpd(lines):
    """Debian starts each with its own folder of settings; OpenNTPD's processes retitle themselves to ntpd: .."""
    said = " ".join(" ".join(line) for line in lines)
    return "openntpd" if "openntpd" in said or "ntpd: " in said else "ntpsec" if "ntpsec" in said else "ntpd"
