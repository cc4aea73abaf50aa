# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What made a report, and when."""

from __future__ import annotations

import contextlib
import datetime
import json
import typing as t
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def about(now: datetime.datetime, ansible: str, profile: str | None) -> dict[str, t.Any]:
    return {"at": now.isoformat(timespec="seconds"), "version": version(), "ansible": ansible, "profile": profile}


def version() -> str:
    """This collection's, by its MANIFEST.json where it is installed and by its galaxy.yml where it is a checkout."""
    with contextlib.suppress(OSError, KeyError, ValueError):
        return str(json.loads((ROOT / "MANIFEST.json").read_text(encoding="utf-8"))["collection_info"]["version"])
    with contextlib.suppress(OSError, KeyError, yaml.YAMLError):
        return str(yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))["version"])
    return "unknown"
