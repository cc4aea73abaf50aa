# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What is asked of the machines by default, and how what a user gives instead is checked.

Pure. Every function takes what the user gave and returns it whole and of one type, or raises SettingsError, whose
message holds every problem found: the variable, its value, and what is allowed.
"""

from __future__ import annotations

from .judging import check_ids, custom_checks, gather_subset, nothing_hidden, waivers
from .limits import LIMITS, limits
from .machine import address, port, roles, serves
from .needs import architectures, as_given, needs, packages, systems
from .peers import peers
from .profile import Profile, profile, profile_file
from .settle import Settle
from .values import SettingsError, choice, choices, folder, key, misspelt, texts, urls, yes_or_no

__all__ = [
    "LIMITS", "Profile", "SettingsError", "Settle", "address", "architectures", "as_given", "check_ids", "choice", "choices",
    "custom_checks", "folder", "gather_subset", "key", "limits", "misspelt", "needs", "nothing_hidden",
    "packages", "peers", "port", "profile", "profile_file", "roles", "serves", "systems", "texts", "urls", "waivers",
    "yes_or_no",
]

NO_PLAN = ("There is no plan to go by, since the task that settles it did not run. Let the play begin with it or before "
           "(--start-at-task), and let no condition (when) keep the role from the first machine of the play: Ansible asks it there "
           "for all of them. On include_role it is asked for each machine by itself.")

DELEGATED = ("The preflight is delegated (delegate_to): then another machine would be read in place of this one. Take delegate_to away.")

# The worst level at which the play still goes on is the one below.
FAIL_ON = ("fail", "warn", "never")
