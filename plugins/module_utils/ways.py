# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Tries the ports that this machine will need of the others: what the action edges asks for."""

from ansible_collections.llmgw.preflight.plugins.module_utils.calls import call, excuse
from ansible_collections.llmgw.preflight.plugins.module_utils.elsewhere import call_elsewhere, measure, together


def main(asked, begun):
    near = call(asked["edges"], asked["reach_s"], asked["token"], asked["me"])
    excuse(asked["absent"], asked["token"])
    far, measured = call_elsewhere(asked["elsewhere"], asked["reach_s"]), measure(asked["round_trips"], asked["reach_s"])
    return {"edges": together(near, far, measured)}
