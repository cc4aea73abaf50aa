# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Why a machine could not be read, from what SSH, a shell or Python said. Pure.

The words looked for are those of OpenSSH, the C library and the shells; Ansible's own differ between its versions.
"""

from __future__ import annotations

import re

from .result import NotRead

# (cause, words), the first that fits; the causes are those of checks/login.py, which has a fix for each.
CAUSES = (
    ("options", r"bad configuration option|command-line: line \d|(?:^|\n)unknown option -- "),
    ("controller", r"sshpass|is not installed: |on a controller"),
    ("no_room", r"no usable temporary directory|no space left on device|read-only file system|disk quota exceeded"),
    ("host_key", r"host key verification failed|remote host identification has changed|host key is different"),
    ("no_name", r"could not resolve hostname|name or service not known|temporary failure in name resolution"),
    ("refused", r"connection refused"),
    ("no_route", r"no route to host|network is unreachable"),
    ("timeout", r"connection timed out|operation timed out|timed out during banner exchange"),
    ("denied", r"permission denied|authentication fail|invalid/incorrect (?:ssh )?password|too many authentication fail"),
    ("dropped", r"kex_exchange_identification|ssh_exchange_identification|connection reset by|connection closed by"),
    ("python", r"not found|no such file or directory|syntaxerror|importerror|modulenotfounderror|requires (?:a minimum of )?python"),
)


def cause_of(text: str) -> str:
    """One of the causes above, or "other"."""
    low = text.lower()
    return next((cause for cause, words in CAUSES if re.search(words, low)), "other")


def reason_of(text: str) -> str:
    """The line of ``text`` that says most, without what Ansible and ssh put around it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ""
    # ssh's own last word comes last; warnings and banners come before it.
    known = [line for line in lines if cause_of(line) != "other"]
    line = known[-1] if known else lines[-1]
    line = re.sub(r"^.*?(?:via|over) ssh: ", "", line)
    return line[:300]


def told_by(problem: Exception) -> tuple[str, str]:
    """(reason, cause) of what a connection raised, or what could not be made out of an answer."""
    said = str(getattr(problem, "message", None) or problem)
    cause = problem.cause if isinstance(problem, NotRead) else None
    return reason_of(said) or type(problem).__name__, cause or cause_of(said)
