"""Each line of SECURITY.md's threats names tests that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines()
        if line.startswith("| ") and not line.startswith(("| what it might try", "| what might happen"))]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_each_line_of_the_threats_has_tests_that_there_are(row):
    assert len(row) == 3
    tests = re.findall(r"`(tests/\S+\.py)::(test_\w+)`", row[2])
    assert tests and row[2].count("`") == 2 * len(tests)
    for file, name in tests:
        there = ast.parse((ROOT / file).read_text("utf-8")).body
        assert name in {node.name for node in there if isinstance(node, ast.FunctionDef)}, f"{file} has no {name}"


def test_there_are_threats_by_each():
    assert re.findall(r"^### (.*)$", PAGE, re.MULTILINE) == [
        "A machine that is not to be trusted", "A value of the inventory that is not to be trusted", "Who reads reports"]
    assert len(ROWS) > 20


def test_no_argument_takes_a_secret():
    """As SECURITY.md says. What is called like one would need no_log."""
    for path in sorted((ROOT / "plugins" / "action").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [key.value for key in node.keys if isinstance(key, ast.Constant)] if isinstance(node, ast.Dict) and any(
                isinstance(value, ast.Dict) and any(isinstance(key, ast.Constant) and key.value == "type" for key in value.keys)
                for value in node.values) else []
            assert [name for name in names if re.search(r"pass|secret|token|key$|credential", str(name)) and name != "stats_key"] == []
