"""docs/troubleshooting.md cites messages that the code has, and leaves out none by which a task ends."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import ansible
import pytest
import yaml
from ansible_collections.llmgw.preflight.plugins.plugin_utils import settings

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
OURS, THEIRS = PAGE.split("\n## Ansible's own words\n")
GAP = "…"
RAISED = {"AnsibleActionFail", "AnsibleFilterError", "PartsError", "RecordsError"}


def text_of(node):
    """A text in the code, with a gap for each of its placeholders; None where it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else GAP for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):  # "... %s" % x
        text = text_of(node.left)
        return text and re.sub(r"%\w", GAP, text)
    return None


def nodes_of(path):
    return list(ast.walk(ast.parse(path.read_text("utf-8"))))


NODES = [node for path in sorted((ROOT / "plugins").rglob("*.py")) for node in nodes_of(path)]
TEXTS = set(filter(None, map(text_of, NODES)))
PLAYS = [task["ansible.builtin.assert"]["fail_msg"] for play in yaml.safe_load((ROOT / "playbooks" / "preflight.yml").read_text("utf-8"))
         for task in play["tasks"] if "ansible.builtin.assert" in task]


def cited(part):
    """The messages: code that is the first cell of a row, or begins a paragraph."""
    return re.findall(r"^(?:\| )?`([^`]+)`", part, re.MULTILINE)


def pattern(message):
    return re.compile(".*".join(re.escape(fragment.strip()) for fragment in message.split(GAP)), re.DOTALL)


@pytest.mark.parametrize("message", cited(OURS))
def test_each_message_is_one_of_the_code(message):
    assert any(pattern(message).search(text) for text in (*TEXTS, *PLAYS)), message


@pytest.mark.parametrize("message", cited(THEIRS))
def test_each_of_ansibles_is_one_of_this_ansible(message):
    there = Path(ansible.__file__).parent
    texts = {text for name in ("cli/__init__.py", "parsing/mod_args.py") for node in nodes_of(there / name) if (text := text_of(node))}
    assert any(pattern(message).search(text.replace("{0}", GAP)) for text in texts), message


def test_each_by_which_a_task_ends_is_told():
    raised = {text for node in NODES if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args
              and getattr(node.exc.func, "id", getattr(node.exc.func, "attr", None)) in RAISED
              and (text := text_of(node.exc.args[0])) and re.search(r"\w{4}", text.replace(GAP, ""))}
    ends = {*raised, settings.NO_PLAN, settings.DELEGATED}
    # These say all that is to be said.
    ends = {text for text in ends if text not in {f"{GAP}: it can not be read: {GAP}.", f"llmgw.preflight.evaluate: {GAP}"}}
    assert len(ends) > 10
    assert [text for text in sorted(ends) if not any(pattern(message).search(text) for message in cited(OURS))] == []
