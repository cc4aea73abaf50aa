# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The report as JSON, for programs."""

from __future__ import annotations

import json
import typing as t


def write(report: dict[str, t.Any]) -> str:
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"
