# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is new since an earlier report, what is mended, and what remains. Pure.

Nothing is claimed that was not looked at. A problem is fixed only where this report has looked and found it well; it is new only where the
earlier one could have told it and did not. So a machine that is not examined, one that can't be logged in to any more, and a check that is
skipped hide their problems, and uncover them when they come back. Nor is fixed what is well since less is asked: a role or a model was
taken away, it needs less, a limit is wider, another system, architecture or URL will do, a check of the user's own was changed, or the
machine that was not reached is gone.
"""

from __future__ import annotations

import datetime
import math
import typing as t
from collections import Counter
from collections.abc import Iterable, Mapping

from . import checks, own, parts, waivers
from .model import Level

LEVELS = {str(level): level for level in Level}
# The checks that compare what was read of machines: of one that was not read they know nothing. The others ask the plan for the rest.
COMPARING = {check.ID for check in checks.BETWEEN} - {checks.names.ID, checks.quorum.ID}
# Those that say nothing of a machine by itself where all is well with it.
SILENT = {check.ID for check in (checks.role_ports, checks.clocks, checks.alike)}
# Where not each machine tries each other one, these tell of those that it tried, which are others in each run.
BY_LOT = {checks.network.ID, checks.names.ID}
# The figures of its roles' needs by which a check judges a machine, and the limits. With quorum to change the roles is what mends it.
NEEDS = {
    checks.alike.ID: ("ports",), checks.apt_ready.ID: ("packages",), checks.cpu.ID: ("cpu_level",), checks.cpus.ID: ("cpus",),
    checks.disk.ID: ("disk_gb",), checks.disk_speed.ID: ("writes",), checks.firewall.ID: ("ports",),
    checks.gpu.ID: ("gpus", "gpu_memory_mb"), checks.latency.ID: ("ports", "reaches"),
    checks.limits.ID: ("cpus", "memory_mb", "ports"), checks.locale.ID: ("ports",), checks.memory.ID: ("memory_mb",),
    checks.ports.ID: ("ports",), checks.role_ports.ID: ("ports", "reaches"),
}
LIMITS = {
    checks.clock.ID: ("clock_warn_s", "clock_fail_s"), checks.clocks.ID: ("clock_warn_s", "clock_fail_s"),
    checks.disk_speed.ID: ("sync_warn_s", "sync_fail_s"), checks.internet.ID: ("internet_s",),
    checks.latency.ID: ("latency_warn_s", "latency_fail_s"), checks.mirrors.ID: ("internet_s",), parts.ID: ("stale_s",),
}
# What will do, of which more is to ask less; and whose URLs are the user's to choose, where those of mirrors are the machine's.
ALLOWED = {checks.system.ID: ("systems",), checks.architecture.ID: ("architectures",)}
URLS = {checks.internet.ID: ("internet",)}
WAYS = {checks.network.ID: "reach", checks.role_ports.ID: "edges"}  # whose problems not_reached tells one by one
# What was given, and given wrong: always looked at, and nothing is said of it where it is right.
GIVEN = {waivers.ID, own.ID, parts.ID}
ALL = "/"  # what a figure that is a number is of; of disk space it is the root, where models are put
MOST = 1e300  # a record may tell of more than a float can hold

Report = Mapping[str, t.Any]
At = tuple[str | None, str]  # machine (None for all together) and check
Way = tuple[str, str, int]  # caller, callee and port
Amounts = Mapping[t.Any, float]


class NotComparable(ValueError):
    """What was given as the earlier report is none, or of another form; the message says so."""


def changes(earlier: Report, report: Report) -> dict[str, t.Any]:
    """What became of each problem; only what warns or fails is one, waived or not.

    since is when the earlier report was made. new, worse, better, fixed are lists of machine and check, and so are eased (fixed or better,
    but less is asked now, or something else by a check of one's own), waived and counting (waived now and not then, and the other way
    round), hidden (was there, or more serious, and that was not looked at this time) and uncovered (is there, or more serious, and that
    was not looked at then). remains is the number of those that are as they were, but for being waived. Raises NotComparable.
    """
    try:
        if earlier["schema_version"] != report["schema_version"]:
            raise NotComparable(f"its form is version {str(earlier['schema_version'])[:20]}, and this one's {report['schema_version']}")
        datetime.datetime.fromisoformat(earlier["about"]["at"])
        was, is_ = (one["about"].get("profile") for one in (earlier, report))
        if was and is_ and was != is_:
            raise NotComparable(f"it is of the profile {str(was)[:60]!r}, and this one of {str(is_)[:60]!r}")
        before = _View(earlier, _renamed(earlier, report))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as problem:
        raise problem if isinstance(problem, NotComparable) else NotComparable("it is no report") from problem
    now = _View(report, {})
    come = [at for at in now.problems if at not in before.problems]
    gone = [at for at in before.problems if at not in now.problems]
    unasked = {at for at in gone if now.could_tell(at) and not now.is_blind(at, before) and now.asks_less(at, before)}
    fixed = {at for at in gone if at not in unasked and now.finds_well(at) and not now.is_blind(at, before)}
    both = [at for at in now.problems if at in before.problems]
    counts_now, counted = ({at for at in both if at in view.counting} for view in (now, before))
    graver = {at for at in both if now.problems[at] > before.problems[at]}
    milder = {at for at in both if now.problems[at] < before.problems[at]}
    uncovered = {at for at in come if before.is_blind(at, now) or before.never_made(at, now)}
    uncovered |= {at for at in graver if before.is_blind(at, now)}
    hidden = {at for at in gone if at not in fixed and at not in unasked} | {at for at in milder if now.is_blind(at, before)}
    better = {at for at in milder - hidden if not now.asks_less(at, before)}
    eased = unasked | milder - hidden - better
    return {
        "since": earlier["about"]["at"],
        "new": _listed(at for at in come if at not in uncovered),
        "worse": _listed(at for at in both if at in graver and at not in uncovered),
        "better": _listed(at for at in both if at in better),
        "fixed": _listed(at for at in gone if at in fixed),
        "eased": _listed(at for at in before.problems if at in eased),
        "counting": _listed(at for at in both if at in counts_now - counted),
        "waived": _listed(at for at in both if at in counted - counts_now),
        "remains": len(both) - len(graver) - len(milder),
        "hidden": _listed(at for at in before.problems if at in hidden),
        "uncovered": _listed(at for at in now.problems if at in uncovered),
    }


class _View:
    """What one report tells, and what it can't tell."""

    def __init__(self, report: Report, renamed: Mapping[str, str]) -> None:
        self.problems: dict[At, Level] = {}  # the worst of what each check says of each machine, where it is more than ok
        self.told: set[At] = set()
        self.counting = set[At]()  # those of the problems that are not waived
        for finding in report["findings"]:
            machine, check, level = finding["machine"], finding["check"], LEVELS[finding["level"]]
            if not isinstance(check, str) or not isinstance(machine, (str, type(None))):
                raise TypeError("a finding is about one machine or about all, and of one check")
            at = (renamed.get(machine, machine) if machine else None, check)
            self.told.add(at)
            if level:
                self.problems[at] = max(level, self.problems.get(at, level))
                if not finding.get("waived"):
                    self.counting.add(at)
        machines = {renamed.get(machine["machine"], machine["machine"]): machine for machine in report["machines"]}
        self.examined = set(machines)
        self.unread = {name for name in machines if self.problems.get((name, checks.login.ID)) == Level.FAIL}
        self.read = self.examined - self.unread
        self.unread.update(renamed.get(entry["machine"], entry["machine"]) for entry in report["not_examined"])
        self.clocks = {name for name, machine in machines.items() if machine.get("clock")}
        self.made = {check for machine, check in self.told}
        self.skipped = set(report["skipped"])
        self.sampled = bool(report["sampled"])
        self.waiting = any(waiver["state"] == "waiting" for waiver in report["waivers"])
        self.known = self.examined | self.unread
        self.limits = {str(name): _number(limit) for name, limit in (report.get("limits") or {}).items()}
        self.needs = {role: {str(figure): _amounts(value) for figure, value in need.items()}
                      for role, need in (report.get("needs") or {}).items()}
        self.roles = {name: [role for role in machine.get("roles") or () if role in self.needs] for name, machine in machines.items()}
        asked = report.get("asked") or {}
        self.allowed = {check: _each(asked[key]) for check, (key,) in ALLOWED.items() if key in asked}
        self.own: dict[str, t.Any] = dict(asked.get("custom_checks") or {})
        its = {renamed.get(name, name): its for name, its in (asked.get("machines") or {}).items()}
        usual = asked.get("internet_urls") or ()
        self.urls = {name: set(its.get(name, {}).get("internet_urls", usual)) for name in machines}
        self.models = {name: {str(figure): _number(amount) for figure, amount in its[name].get("serves", {}).items()}
                       for name in its}
        self.closed: dict[At, list[Way]] = {}  # the ways of which a problem tells
        for call in report.get("not_reached") or ():
            caller, callee = (renamed.get(call[end], call[end]) for end in ("machine", "peer"))
            for check in (check for check, of in WAYS.items() if of == call["of"]):
                for machine in (caller, callee) if check == checks.role_ports.ID else (caller,):
                    self.closed.setdefault((machine, check), []).append((caller, callee, int(call["port"])))

    def could_tell(self, at: At) -> bool:
        """Whether it knows of this machine, whatever this check has to say of it."""
        return at[0] is None or at[0] in self.read

    def asks_less(self, at: At, before: _View) -> bool:
        """Whether less is asked here than there, of what this check judges by."""
        machine, check = at
        if any(self.limits.get(limit, 0) > before.limits.get(limit, math.inf) for limit in LIMITS.get(check, ())):
            return True
        if any(not self.asks_way(*way, check) for way in before.closed.get(at, ())):
            return True
        if check in before.allowed and not self.allowed.get(check, set()) <= before.allowed[check]:
            return True
        if check in self.own and check in before.own and self.own[check] != before.own[check]:  # it may also be more
            return True
        if machine and check in URLS and not before.urls.get(machine, set()) <= self.urls.get(machine, set()):
            return True
        machines = [machine] if machine is not None else self.examined & before.examined
        return any(amount > self.asked(name, figure).get(what, 0) for figure in NEEDS.get(check, ()) for name in machines
                   for what, amount in before.asked(name, figure).items())

    def asked(self, machine: str, figure: str) -> Amounts:
        """The largest of what the machine's roles ask for, and what its models ask for besides."""
        found: dict[t.Any, float] = {}
        for role in self.roles.get(machine, ()):
            for what, amount in self.needs[role].get(figure, {}).items():
                found[what] = max(amount, found.get(what, 0))
        of_models, of_roles = self.models.get(machine, {}).get(figure, 0), found.get(ALL, 0)
        if of_models:
            found[ALL] = max(of_models, of_roles) if figure == "cpu_level" else of_models + of_roles
        return found

    def asks_way(self, caller: str, callee: str, port: int, check: str) -> bool:
        """Of a machine that was not examined the roles are not known, and so not what it is asked for."""
        if caller not in self.known or callee not in self.known:
            return False
        if check == checks.network.ID or caller not in self.examined or callee not in self.examined:
            return True
        wanted = self.asked(caller, "reaches")
        return any((role, port) in wanted for role in self.roles[callee])

    def finds_well(self, at: At) -> bool:
        """Whether it looked at this, and there is no problem; only for what is not among its problems."""
        machine, check = at
        if at in self.told:
            return True
        if check in GIVEN:
            return machine is None or machine in self.examined
        if check not in SILENT or check not in self.made:
            return False
        if check == checks.clocks.ID:
            return machine is None or machine in self.clocks
        return machine in self.read

    def is_blind(self, at: At, other: _View) -> bool:
        """Whether it could not have told this, though the ``other`` could."""
        machine, check = at
        if check in self.skipped or machine in self.unread:
            return True
        if check == waivers.ID:
            return self.waiting
        if self.sampled and check in BY_LOT:
            return True
        # A clash with a machine that it knows, and did not read.
        compares = check in COMPARING or machine is None and check != checks.quorum.ID
        return compares and not other.read.isdisjoint(self.unread)

    def never_made(self, at: At, other: _View) -> bool:
        """Whether it did not make this check at all; what a task of the user's own finds may be silent while all is well."""
        return at[1] not in self.made and (at[1] in checks.IDS or at[1] in other.own or own.ID in self.skipped)


def _amounts(value: t.Any) -> Amounts:
    """How much of what: a figure is of one thing, a port or a package is one of itself, and a role is reached on each of its ports."""
    if isinstance(value, list):
        return dict.fromkeys(value, 1)
    if not isinstance(value, Mapping):
        return {ALL: _number(value)}
    found: dict[t.Any, float] = {}
    for what, amount in value.items():
        found.update({(what, one): 1 for one in amount} if isinstance(amount, list) else {what: _number(amount)})
    return found


def _number(value: t.Any) -> float:
    return float(min(value, MOST))


def _each(value: t.Any) -> set[t.Any]:
    """Each architecture, or each system and each of its versions."""
    return {*value, *((what, one) for what, each in value.items() for one in each)} if isinstance(value, Mapping) else set(value)


def _renamed(earlier: Report, report: Report) -> dict[str, str]:
    """Those machines of the earlier report that are in this one under another name, by their address."""
    before, now = _names(earlier), _names(report)
    then, at = _by_address(earlier), _by_address(report)
    return {name: at[address] for address, name in then.items() if address in at and name not in now and at[address] not in before}


def _names(report: Report) -> set[str]:
    return {entry["machine"] for part in ("machines", "not_examined") for entry in report[part]}


def _by_address(report: Report) -> dict[str, str]:
    times = Counter(machine.get("address") for machine in report["machines"])
    return {address: machine["machine"] for machine in report["machines"] if times[address := machine.get("address")] == 1 and address}


def _listed(ats: Iterable[At]) -> list[dict[str, t.Any]]:
    return [{"machine": machine, "check": check} for machine, check in ats]
