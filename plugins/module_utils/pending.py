# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What a machine still has before it: a reboot, or the rest of cloud-init's first start."""

import json
import os

from ansible_collections.llmgw.preflight.plugins.module_utils.reading import Unmeasured, text_of

REBOOT = "/run/reboot-required"  # by update-notifier, unattended-upgrades and kernel packages
CLOUD_INIT = "/run/cloud-init"
MOST = 20  # packages


def pending():
    """reboot, and the packages that ask for it; cloud_init: the stage that it is at, None where it has ended."""
    return {"reboot": os.path.exists(REBOOT), "reboot_for": _reboot_for(), "cloud_init": _cloud_init()}


def _reboot_for():
    try:
        return list(dict.fromkeys(text_of(REBOOT + ".pkgs").split()))[:MOST]
    except Unmeasured:  # it need not be there
        return []


def _cloud_init():
    """It is at it from when it writes its status until it writes its result, see cloudinit/cmd/status.py."""
    status, result = (os.path.join(CLOUD_INIT, name + ".json") for name in ("status", "result"))
    if os.path.exists(result) or not os.path.exists(status):
        return None
    try:
        return str(json.loads(text_of(status))["v1"]["stage"] or "")
    except (Unmeasured, ValueError, KeyError, TypeError):  # just being written
        return ""
