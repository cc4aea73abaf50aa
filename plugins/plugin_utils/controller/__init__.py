# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What Ansible alone can tell on the controller: variables worked out, inventories read, how it logs in and becomes another user.

These import Ansible. What judges and reports does not, and does not import these.
"""
