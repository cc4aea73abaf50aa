"""Writes what in docs/ is made from data: profiles.md from the profiles and their schema, checks.md from the checks, variables.md
from the role's specification, and of AWX's survey the choices among the first two."""

import ast
import json
import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PROFILES = ROOT / "roles" / "preflight" / "profiles"
SCHEMA = ROOT / "docs" / "profile.schema.json"
SPECIFICATION = ROOT / "roles" / "preflight" / "meta" / "argument_specs.yml"
SURVEY = ROOT / "docs" / "awx" / "survey.json"
FIGURES = {"cpus": "CPUs", "cpu_level": "level of x86-64", "memory_mb": "memory MB", "gpus": "GPUs", "gpu_memory_mb": "GPU memory MB",
           "disk_gb": "disk GB"}
SELDOM = ("cpu_level", "gpus", "gpu_memory_mb")  # shown only where a role asks for it
WORDS = {**FIGURES, "ports": "ports", "reaches": "who reaches whom", "packages": "packages", "writes": "waits for each write",
         "systems": "systems", "architectures": "architectures", "internet_urls": "what must answer", "needs": "needs"}
INTRO = """\
<!-- Made by `make docs` from roles/preflight/profiles and docs/profile.schema.json. -->
# Profiles

A profile is all that one kind of install asks of its machines, as one file. `preflight_profile` is the name of one that ships, or the path
of one of your own:

    ansible-playbook llmgw.preflight.preflight -i hosts.yml -e preflight_profile=kubeadm
    ansible-playbook llmgw.preflight.preflight -i hosts.yml -e preflight_profile=./profile.yml

What has a slash or an ending is a path. A relative one is looked for in the folder of the playbook, and else in the folder in which Ansible
was started.

A machine with several roles needs the largest of each figure, and all ports; of disk space the largest on each filesystem, where the
paths of one role add up. One without a role is read too, but nothing is asked of its CPUs, memory, disk and ports, and the report says so.

`preflight_needs` is put over a profile's needs: what it does not name stays, and a role that it names becomes known. `preflight_packages`
is put over the packages in them; `preflight_systems`, `preflight_architectures` and `preflight_internet_urls` stand in place of what it
says of these.
"""
FORM = """
## One of your own

The form is in [profile.schema.json](profile.schema.json), for programs, and for the editors that check a file whose first line names it:

    # yaml-language-server: $schema=https://raw.githubusercontent.com/llmgw/ansible-preflight/main/docs/profile.schema.json

{keys}

Of each role:

{role_keys}

What is not named of a role is not asked of its machines. A role may reach only ports on which the other one listens. Where the other one is
the same, its machines reach each other.

A profile is data, never a template: `{{{{ }}}}` in it stays text. It is YAML of which only what JSON has too is taken, so without tags
(`!vault`), aliases, `<<` and a key that is there twice, one document, and of 100 kB at most. Without quotes `8` is a figure; `010`, `1:30`,
`1_000`, `yes` and `2027-01-31` are texts.
"""


def load(name):
    return yaml.safe_load((PROFILES / f"{name}.yml").read_text(encoding="utf-8"))


def table(head, rows):
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in (head, ["---"] * len(head), *rows))


def keys_of(schema):
    """A table of what a mapping of the schema holds."""
    needed = schema.get("required", ())
    return table(("key", "what"), [(f"`{key}`{'' if key in needed or not needed else ' (may be left out)'}", about["description"])
                                   for key, about in schema["properties"].items()])


def ports(numbers):
    return ", ".join(map(str, numbers))


def figure_of(given):
    return "; ".join(f"{size} in `{path}`" for path, size in given.items()) if isinstance(given, dict) else str(given)


def sources(source, of):
    """A line for each text that says where figures are from."""
    by_key = source if isinstance(source, dict) else {None: source} if source else {}
    return [f"- {', '.join(filter(None, (of, WORDS.get(key))))}{': ' if of or key else ''}{text}" for key, text in by_key.items()]


def section(name):
    profile = load(name)
    roles, reaches, waits, told = [], [], [], sources(profile.get("source"), "")
    shown = [figure for figure in FIGURES if figure not in SELDOM or any(figure in need for need in profile["needs"].values())]
    with_packages = any("packages" in need for need in profile["needs"].values())
    for role, need in profile["needs"].items():
        figures = [figure_of(need.get(figure, "not asked")) for figure in shown]
        roles.append((f"`{role}`", *figures, ports(need.get("ports", ())) or "none",
                      *(["; ".join(need.get("packages", ())) or "not asked"] if with_packages else [])))
        waits += [(f"`{role}`", ", ".join(f"`{path}`" for path in need["writes"]))] if need.get("writes") else []
        reaches += [(f"`{role}`", f"`{other}`", ports(numbers)) for other, numbers in need.get("reaches", {}).items()]
        told += sources(need.get("source"), f"`{role}`")
    rest = (
        ("systems (os-release ID and VERSION_ID)", "; ".join(f"{name} {', '.join(known)}" for name, known in profile["systems"].items())),
        ("architectures", ", ".join(profile["architectures"])),
        ("must answer", ", ".join(f"`{url}`" for url in profile.get("internet_urls", ())) or "nothing"),
    )
    return "\n\n".join((
        f"## `{name}`", profile["description"],
        table(("role", *(FIGURES[figure] for figure in shown), "ports", *(["packages"] if with_packages else [])), roles),
        table(("role", "must reach", "on"), reaches),
        *([table(("role", "waits for each write in"), waits)] if waits else []),
        table(("of all machines", ""), rest), "Where this is from:", "\n".join(told)))


def profiles():
    """docs/profiles.md, as it must be."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    names = sorted(path.stem for path in PROFILES.glob("*.yml"))
    listed = table(("profile", "what"), [(f"[`{name}`](#{name})", load(name)["description"]) for name in names])
    form = FORM.format(keys=keys_of(schema), role_keys=keys_of(schema["$defs"]["role"]))
    return "\n".join((INTRO, listed, form, "\n\n".join(map(section, names)))) + "\n"


CHECKS = """\
<!-- Made by `make docs` from plugins/plugin_utils/checks. -->
# Checks

In the order of a report. `preflight_only` and `preflight_skip` choose among them, `preflight_waivers` lets one that warns or fails be
lived with, and [own checks](own-checks.md) stand beside them. What a role needs is in its [profile](profiles.md); thresholds are in
`preflight_limits`.

What could not be read is said with the reason, at the worst level that the check can reach, so that it never passes for good. Where that
would alarm for nothing, the check says below what it does instead.

Below each stands what its findings advise, each where it applies; `…` stands for what differs.
"""


def text_of(node):
    """A text in the code, with … for what differs; nothing where it is none."""
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def fixes(check):
    """What a check advises, in the order in which it stands in its file: the texts there that are sentences."""
    tree = ast.parse(Path(check.__file__).read_text(encoding="utf-8"))
    named = {statement.value.lineno: getattr(check, statement.targets[0].id) for statement in tree.body  # with its figures
             if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.JoinedStr)}
    left_out = {part for node in ast.walk(tree) for part in (
        node.values if isinstance(node, ast.JoinedStr) else [node.value] if isinstance(node, ast.Expr) else [])}  # and docstrings
    found = sorted((node.lineno, text_of(node)) for node in set(ast.walk(tree)) - left_out if text_of(node))
    told = [re.sub(r"(\{\w*\})+", "…", named.get(line, text)) for line, text in found]
    return list(dict.fromkeys(text.rstrip(".") + "." for text in told if re.match(r"[A-Z][a-z]+ |[a-z].* .*\.$", text)))


def section_of(check):
    told = "\n".join(f"- {fix}" for fix in fixes(check))
    return f"### `{check.ID}`\n\n{check.__doc__.strip()}\n\nWhat to do:\n\n{told}\n"


def checks():
    """docs/checks.md, as it must be."""
    package = package_of_checks()
    parts = (("On each machine", (package.login, *package.AFTER_LOGIN)), ("Between the machines", package.BETWEEN))
    told = [(f"`{check.ID}`", check.__doc__.strip().splitlines()[0],
             str(getattr(check, "WORST", "fail"))) for name, of in parts for check in of]
    listed = table(("check", "asks", "at worst"), [(f"[{check}](#{check.strip('`')})", asks, worst) for check, asks, worst in told])
    sections = [f"## {name}\n\n" + "\n".join(map(section_of, of)) for name, of in parts]
    return "\n".join((CHECKS, listed, "", *sections))


VARIABLES = """\
<!-- Made by `make docs` from roles/preflight/meta/argument_specs.yml. -->
# Variables

All that the role takes. `preflight_roles`, `preflight_address`, `preflight_port`, `preflight_serves`, `preflight_internet_urls` and
`preflight_own_findings` may differ from machine to machine; the others must be the same for all, since there is one judgement.

Two more are of a playbook only, to be given with `-e`: `preflight_hosts` of `llmgw.preflight.preflight`, the pattern of the machines to
examine (without it `all`), and `preflight_records` of `llmgw.preflight.judge`, see [several runners](runner.md#several-runners).
"""


def variables():
    """docs/variables.md, as it must be."""
    options = yaml.safe_load(SPECIFICATION.read_text(encoding="utf-8"))["argument_specs"]["main"]["options"]
    first = {name: re.split(r"(?<=\.) ", next(sentences(about)))[0] for name, about in options.items()}
    listed = table(("variable", "what"), [(f"[`{name}`](#{name})", sentence) for name, sentence in first.items()])
    return "\n".join((VARIABLES, listed, "", *(variable(name, about) for name, about in options.items())))


def variable(name, about):
    default = f"Default: `{json.dumps(about['default'])}`\n\n" if about.get("default") not in (None, "") else ""
    keys = "".join(f"- `{key}`{'' if one.get('required') else ' (may be left out)'}: {' '.join(sentences(one))}{choices(one)}\n"
                   for key, one in about.get("options", {}).items())
    return f"## `{name}`\n\n{default}{' '.join(sentences(about))}\n" + (f"\n{keys}" if keys else "")


def choices(about):
    told = " or ".join(f"`{choice}`" for choice in about.get("choices", ()))
    return told and f" It is {told}" + (f"; without it `{about['default']}`." if "default" in about else ".")


def sentences(about):
    """Its description, with Ansible's markup as Markdown has it."""
    given = about["description"]
    for text in [given] if isinstance(given, str) else given:
        text = re.sub(r"\bR?[CVO]\(([^()#]*)#module:((?:[^()]|\([^()]*\))*)\)", r"`\2` of `\1`", text)
        text = re.sub(r"\b(?:RV|[CVO])\((?:[^()#]*#\w+:(?:main:)?)?((?:[^()]|\([^()]*\))*)\)", r"`\1`", text)
        yield re.sub(r"\b[MP]\(([^()#]*)(?:#\w+)?\)", r"`\1`", text)


def package_of_checks():
    sys.path.insert(0, str(ROOT / ".collections"))
    from ansible_collections.llmgw.preflight.plugins.plugin_utils import checks as package
    return package


def survey():
    """docs/awx/survey.json, as it must be: as it is, with the choices that there are."""
    made = json.loads(SURVEY.read_text(encoding="utf-8"))
    choices = {"preflight_profile": sorted(path.stem for path in PROFILES.glob("*.yml")),
               "preflight_skip": [check for check in package_of_checks().IDS if check != "login"]}
    for question in made["spec"]:
        question["choices"] = choices.get(question["variable"], question["choices"])
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


PAGES = {ROOT / "docs" / "profiles.md": profiles, ROOT / "docs" / "checks.md": checks, ROOT / "docs" / "variables.md": variables,
         SURVEY: survey}


def main():
    for path, page in PAGES.items():
        path.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
