# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What apt makes of its own sources, and how old the package lists are that it has of them.

apt itself is asked, since it alone knows every form that they may have. It says what it would fetch; nothing is fetched, locked or
written by that.
"""

import os
import re
import time

from ansible_collections.llmgw.preflight.plugins.module_utils.internet import without_secret
from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, command, find

LISTS = "/var/lib/apt/lists"
# What an apt-get update leaves its time on: not on the folder, if there was nothing new.
STAMPS = (LISTS, LISTS + "/partial", "/var/lib/apt/periodic/update-success-stamp")
NO_LISTS = ("lock", "partial", "auxfiles")
DENIED = "(13: Permission denied)"
LAST_WORD = "The list of sources could not be read."  # of apt, after what is wrong with it
MOST = 20  # problems, and files
WORDS = 500  # characters of a problem


class Source(object):
    """One source, as apt has it: where its release file is to be fetched, and what the file is called that holds it here."""

    def __init__(self, release, file):
        self.address = re.sub(r"/(In)?Release$", "", release)  # may hold a name and a password
        self.file = re.sub(r"(In)?Release$", "", file)

    @property
    def name(self):
        """As people write it: the address and the suite."""
        base, dists, suite = without_secret(self.address).rpartition("/dists/")
        return base + " " + suite if dists else suite


def ask_apt(limit_s):
    """(sources, problems that apt has with them, files that this user may not read)."""
    path = find("apt-get")
    if not path:
        raise Unmeasured("apt-get is not there")
    status, out, err = command([path, "update", "--print-uris"], limit_s)
    problems, unread = [], []
    for kind, said in re.findall(r"^([EW]): (.{,%d})" % (WORDS + 1), err, re.M):
        if DENIED in said:  # which a file with a proxy's password is to be, and it names no sources
            unread += [path for path in re.findall(r"/\S+", said)[:1] if "/apt.conf" not in path]
        elif kind == "E":
            problems.append(told_by_apt(said))
    if status and not problems:
        raise Unmeasured("apt-get update --print-uris ends with exit status %d" % status)
    if unread or len(problems) > 1:
        problems = [problem for problem in problems if problem != LAST_WORD]
    # In an order of its own, which says nothing.
    found = [Source(*target) for target in sorted(set(re.findall(r"^'([^']+/(?:In)?Release)' (\S+)", out, re.M)))]
    return found, list(dict.fromkeys(problems))[:MOST], list(dict.fromkeys(unread))[:MOST]


def told_by_apt(said):
    """A line without the name and password of an address, and of a length that can be looked through for them."""
    if len(said) > WORDS:
        said = said[:WORDS].rpartition(" ")[0] + " .."  # half an address could end before the @ that shows a password
    return re.sub(r"://\S*@", "://", said)


def apt_sources(asked):
    """problems, unread; lists_age_s, None where there are no package lists; and without_list: the sources of which there is none."""
    sources, problems, unread = asked()
    try:
        names = set(os.listdir(LISTS)).difference(NO_LISTS)
    except FileNotFoundError:  # none were ever fetched
        names = set()
    except OSError:
        return {"problems": problems, "unread": unread + [LISTS], "lists_age_s": _age(), "without_list": []}
    return {
        "problems": problems,
        "unread": unread,
        "lists_age_s": _age() if names else None,
        "without_list": [source.name for source in sources if not names & {source.file + "InRelease", source.file + "Release"}][:MOST],
    }


def _age():
    return round(max(0, time.time() - max(changed(path) for path in STAMPS)))


def changed(path):
    """When, by its time; 0 where it is not there."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0
