# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The report as JSON, for programs; its form is in docs/report.schema.json."""

from __future__ import annotations

import json
import re
import typing as t

# Half of a pair, which stands for a byte that is no UTF-8; many programs refuse it, and no file of UTF-8 can hold it.
HALVES = re.compile("[\ud800-\udfff]")
# What would steer a terminal, turn a line round or break it where this file is shown; the encoder escapes what is below a space.
STEERING = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def write(report: dict[str, t.Any]) -> str:
    """A finding a line, and so is each entry of the other lists, so that the file can be searched and compared line by line."""
    try:
        told = _lines(report, "")
    except ValueError:  # JSON has no NaN and no Infinity
        told = _lines(json.loads(json.dumps(report), parse_constant=lambda name: None), "")
    if not told.isascii() or "\x7f" in told:  # which is seldom, and found out at once
        told = STEERING.sub(lambda sign: f"\\u{ord(sign.group()):04x}", HALVES.sub("\ufffd", told))
    return told + "\n"


def _lines(value: t.Any, indent: str) -> str:
    """On several lines where it is the report itself, a list of mappings in it, or a mapping with such lists."""
    inner = f"{indent} "
    if isinstance(value, dict) and (not indent or any(map(_is_long, value.values()))):
        return f"{{\n{_joined((f'{_text(key)}: {_lines(part, inner)}' for key, part in value.items()), inner)}\n{indent}}}"
    if _is_long(value):
        return f"[\n{_joined(map(_text, value), inner)}\n{indent}]"
    return _text(value)


def _is_long(value: t.Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _joined(parts: t.Iterable[str], indent: str) -> str:
    return ",\n".join(indent + part for part in parts)


def _text(value: t.Any) -> str:
    return ENCODER.encode(value)
