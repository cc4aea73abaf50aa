# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What Python on a machine is given to run: module_utils/start.py, with the sources of those readers that are needed. Pure."""

from __future__ import annotations

import base64
import re
import typing as t
import zlib
from collections.abc import Mapping
from pathlib import Path

OURS = "ansible_collections.llmgw.preflight.plugins.module_utils"
FOLDER = Path(__file__).parents[1] / "module_utils"
IMPORTED = re.compile(rf"^from {re.escape(OURS)}(?:\.(\w+)| import (\w+))", re.MULTILINE)
# The oldest Python for which our readers are written. ansible-core's own oldest is told nowhere but in what it looks for by itself.
OLDEST = (3, 6)
FALLBACKS = "INTERPRETER_PYTHON_FALLBACK"


def packed(main: str, oldest_python: tuple[int, int]) -> str:
    """What the last lines of modules/probe.py run: the function main of that module, with all that it imports."""
    start = (FOLDER / "start.py").read_text("utf-8")
    whole = f"{start}\nstart({sources_of(main)!r}, {OURS + '.' + main!r}, {oldest_python!r}, GIVEN['arguments'], STARTED)\n"
    return base64.b64encode(zlib.compress(whole.encode("utf-8"), 9)).decode("ascii")


def sources_of(main: str) -> dict[str, str]:
    """Full name -> source of a module of module_utils, and of those that it needs."""
    found: dict[str, str] = {}
    left = [main]
    while left:
        name = left.pop()
        if f"{OURS}.{name}" not in found:
            found[f"{OURS}.{name}"] = source = (FOLDER / f"{name}.py").read_text("utf-8")
            left += [module or imported for module, imported in IMPORTED.findall(source)]
    return found


def oldest_python(definitions: Mapping[str, t.Any]) -> tuple[int, int]:
    """The oldest Python that both ansible-core and our readers can use, by the definitions of ansible-core's settings."""
    minors = [int(found.group(1)) for name in definitions[FALLBACKS]["default"] if (found := re.fullmatch(r"python3\.(\d+)", str(name)))]
    return max(OLDEST, (3, min(minors, default=0)))
