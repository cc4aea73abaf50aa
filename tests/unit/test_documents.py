"""What is in docs and meta for others' systems is of its form, and fits the role."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.llmgw.preflight.plugins.plugin_utils import checks, settings
from ansible_collections.llmgw.preflight.plugins.plugin_utils.reports import FILES
from tools import docs

ROOT = Path(__file__).parents[2]
AWX = ROOT / "docs" / "awx"
ROLE = yaml.safe_load((ROOT / "roles" / "preflight" / "meta" / "argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
DEFAULTS = yaml.safe_load((ROOT / "roles" / "preflight" / "defaults" / "main.yml").read_text())
QUESTIONS = {question["variable"]: question for question in json.loads((AWX / "survey.json").read_text())["spec"]}
starts_programs = pytest.mark.skipif("ansible_pytest_collections" in sys.modules, reason="ansible-test has no programs of Ansible's")
of_the_repository = pytest.mark.skipif(not (ROOT / "galaxy.yml").exists(), reason="a collection that was installed has no galaxy.yml")
TAKEN = {  # as the plan takes them
    "preflight_profile": settings.profile_file,
    "preflight_role_ports": lambda given: settings.yes_or_no(given, True, "preflight_role_ports"),
    "preflight_skip": lambda given: settings.check_ids(given, checks.IDS, "preflight_skip"),
    "preflight_fail_on": lambda given: settings.choice(given, settings.FAIL_ON, "preflight_fail_on"),
    "preflight_fit": lambda given: settings.yes_or_no(given, False, "preflight_fit"),
}
OF_A_QUESTION = {"question_name", "question_description", "variable", "type", "required", "min", "max", "choices", "default"}


def answers(question):
    """Each that a survey can give, as the extra variable that AWX makes of it."""
    return [[], *([choice] for choice in question["choices"])] if question["type"] == "multiselect" else question["choices"]


@pytest.mark.parametrize("variable", QUESTIONS)
def test_each_answer_of_the_survey_is_one_that_the_role_takes(variable):
    question, take = QUESTIONS[variable], TAKEN[variable]
    assert set(question) == OF_A_QUESTION
    assert question["type"] in ("multiplechoice", "multiselect")
    for answer in answers(question):
        take(answer)
    with pytest.raises(settings.SettingsError):
        take("x")
    if isinstance(DEFAULTS[variable], bool):
        assert question["choices"] == ["true", "false"]


@pytest.mark.parametrize("variable", ROLE)
def test_ansible_s_own_check_of_the_roles_variables_refuses_nothing(variable):
    """It comes before the plan's and tells a slip once for each machine, with all of the specification, and without its place."""
    validator = ArgumentSpecValidator({variable: ROLE[variable]})
    for given in (5, -1.5, True, "x", "{", [], ["x"], [5, {"x": 1}], {"x": ["y"]}, {5: None}):
        assert validator.validate({variable: given}).error_messages == []


@pytest.mark.parametrize("variable", QUESTIONS)
def test_who_answers_nothing_gets_the_roles_default(variable):
    default = DEFAULTS[variable]
    expected = str(default).lower() if isinstance(default, bool) else "\n".join(default) if isinstance(default, list) else default
    assert QUESTIONS[variable]["default"] == expected


def test_the_survey_offers_what_there_is():
    assert QUESTIONS["preflight_skip"]["choices"] == [check for check in checks.IDS if check != "login"]
    assert QUESTIONS["preflight_profile"]["choices"] == sorted(path.stem for path in (ROOT / "roles/preflight/profiles").glob("*.yml"))


# The arguments of awx.awx 24 that are used, and their types, by which a slip of the pen is found without it.
ARGUMENTS = {
    "awx.awx.project": {"name": "str", "organization": "str", "scm_type": "str", "scm_url": "str", "scm_update_on_launch": "bool",
                        "wait": "bool"},
    "awx.awx.job_template": {"name": "str", "organization": "str", "project": "str", "playbook": "str", "inventory": "str",
                             "credentials": "list", "execution_environment": "str", "job_slice_count": "int",
                             "ask_limit_on_launch": "bool", "ask_verbosity_on_launch": "bool", "survey_enabled": "bool",
                             "survey_spec": "dict", "extra_vars": "dict"},
    "awx.awx.workflow_job_template": {"name": "str", "organization": "str", "workflow_nodes": "list"},
}
# In place of its modules: it takes these arguments, and does nothing.
STUB = """
from ansible.module_utils.basic import AnsibleModule
module = AnsibleModule(argument_spec={{name: {{"type": kind}} for name, kind in {spec!r}.items()}})
module.exit_json(changed=False)
"""


@pytest.mark.newest
@starts_programs
def test_what_configures_awx_runs_against_arguments_of_these_types(tmp_path):
    for module, spec in ARGUMENTS.items():
        path = tmp_path / "ansible_collections" / "awx" / "awx" / "plugins" / "modules" / f"{module.rpartition('.')[2]}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUB.format(spec=spec))
    given = {"awx_scm_url": "https://git.example/preflight.git", "awx_inventory": "machines", "awx_credential": "ssh",
             "awx_slices": 3, "awx_peers": [{"machine": "n1", "address": "10.0.0.1", "roles": ["node"]}]}
    ran = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), AWX / "configure.yml", "-e", json.dumps(given)], cwd=tmp_path,
        env={**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(tmp_path), "ANSIBLE_HOME": str(tmp_path / "home"), "ANSIBLE_NOCOLOR": "1"},
        capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r"localhost +: ok=5 .* failed=0 +skipped=0 ", ran.stdout), ran.stdout


def tasks_of_configure():
    (play,) = yaml.safe_load((AWX / "configure.yml").read_text())
    return play["tasks"]


def test_what_configures_awx_uses_arguments_and_files_that_there_are():
    for task in tasks_of_configure():
        (module,) = task.keys() - {"name", "when"}
        assert task[module].keys() <= ARGUMENTS[module].keys()
        assert "playbook" not in task[module] or (AWX / task[module]["playbook"]).is_file()
        assert task[module].get("extra_vars", {}).keys() <= {*ROLE, "preflight_records"}
    assert "lookup('ansible.builtin.file', 'survey.json')" in (AWX / "configure.yml").read_text()


def test_the_workflow_runs_templates_that_are_made_and_the_judge_in_any_case():
    by_module = {}
    for task in tasks_of_configure():
        for module in task.keys() & ARGUMENTS.keys():
            by_module.setdefault(module, {})[task[module]["name"]] = task[module]
    (workflow,) = by_module["awx.awx.workflow_job_template"].values()
    slices, judge = workflow["workflow_nodes"]
    assert {node["unified_job_template"]["name"] for node in (slices, judge)} <= by_module["awx.awx.job_template"].keys()
    assert slices["related"]["always_nodes"] == [{"identifier": judge["identifier"]}]
    made = by_module["awx.awx.job_template"]
    assert made[slices["unified_job_template"]["name"]]["extra_vars"]["preflight_records_dir"] == (
        made[judge["unified_job_template"]["name"]]["extra_vars"]["preflight_records"])
    assert made["Preflight"]["job_slice_count"] == 1


@pytest.mark.parametrize("name", ["preflight", "judge"])
def test_the_wrappers_import_playbooks_that_there_are(name):
    ((play,),) = [yaml.safe_load((AWX / f"{name}.yml").read_text())]
    assert play["ansible.builtin.import_playbook"] == f"llmgw.preflight.{name}"
    assert (ROOT / "playbooks" / f"{name}.yml").is_file()


@of_the_repository
def test_the_collection_that_the_project_asks_for_is_this_one():
    (wanted,) = yaml.safe_load((AWX / "collections" / "requirements.yml").read_text())["collections"]
    this = yaml.safe_load((ROOT / "galaxy.yml").read_text())
    assert (wanted["name"], wanted["version"]) == (f"{this['namespace']}.{this['name']}", f">={this['version']}")


def test_the_execution_environments_files_are_there_and_ask_for_no_second_ansible():
    """As ansible-builder reads them: relative to the collection, one requirement a line."""
    made = yaml.safe_load((ROOT / "meta" / "execution-environment.yml").read_text())
    assert (made["version"], set(made["dependencies"])) == (3, {"python", "system"})
    python, system = ([line for line in (ROOT / made["dependencies"][kind]).read_text().splitlines() if not line.startswith("#")]
                      for kind in ("python", "system"))
    assert [re.match(r"[\w-]+", line).group() for line in python] == ["jmespath"]
    assert all(re.fullmatch(r"[a-z-]+( \[platform:(rpm|dpkg)\])?", line) for line in system)


def builder(folder, *line):
    """What ansible-builder says; it needs nobody for these two."""
    program = Path(sys.executable).with_name("ansible-builder")
    done = subprocess.run([program, *line], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@starts_programs
def test_ansible_builder_finds_what_an_execution_environment_needs(tmp_path):
    found = yaml.safe_load(builder(tmp_path, "introspect", ROOT / ".collections"))
    assert {kind: {line.partition("#")[0].strip() for line in lines} for kind, lines in found.items()} == {
        "python": {"jmespath>=1.0"}, "system": {"openssh-clients [platform:rpm]", "openssh-client [platform:dpkg]", "sshpass"}}


@starts_programs
def test_ansible_builder_takes_the_definition_of_the_document(tmp_path):
    (definition,) = re.findall(r"```yaml\n(version: 3\n.*?)```", (ROOT / "docs" / "awx.md").read_text(), re.DOTALL)
    (tmp_path / "execution-environment.yml").write_text(definition.replace("BASE-IMAGE:TAG", "localhost/base:1"))
    builder(tmp_path, "create", "--output-filename", "Containerfile")
    assert "localhost/base:1" in (tmp_path / "context" / "Containerfile").read_text()
    asked = yaml.safe_load((tmp_path / "context" / "_build" / "requirements.yml").read_text())
    assert [one["name"] if isinstance(one, dict) else one for one in asked["collections"]] == ["llmgw.preflight"]


# -------------------------------------------------------------------------------------------------------------------- in CI
def examples():
    return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "ci.md").read_text(), re.DOTALL)]


def steps_of(example):
    """The lines that it runs, and the files that it publishes."""
    if "jobs" in example:
        (job,) = example["jobs"].values()
        return [step.get("run", "") for step in job["steps"]], [step["with"]["path"] for step in job["steps"] if "with" in step]
    (job,) = example.values()
    return job["before_script"] + job["script"], [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]


def test_there_is_one_for_each():
    github, gitlab = examples()
    assert set(github) == {"name", True, "jobs"}  # on is true in YAML 1.1, which GitHub knows
    assert set(gitlab) == {"preflight"}


@pytest.mark.parametrize("number", [0, 1])
def test_the_job_writes_what_it_publishes(number):
    lines, published = steps_of(examples()[number])
    (line,) = [line for line in lines if line.startswith("ansible-playbook")]
    (folder,) = re.findall(r"preflight_report_dir=(\S+)", line)
    formats = json.loads(re.search(r"-e '(\{.+\})'", line)[1])["preflight_report_formats"]
    assert set(formats) <= set(FILES)
    assert {"xml", "md"} <= set(formats)
    named = re.findall(rf"{folder}/(?:preflight\.(\w+))?", " ".join([*lines, *published]))
    assert set(filter(None, named)) <= set(formats)
    assert f"{folder}/" in published


@pytest.mark.parametrize("number", [0, 1])
def test_it_is_published_also_when_the_preflight_fails(number):
    example = examples()[number]
    if number == 1:
        assert example["preflight"]["artifacts"]["when"] == "always"
        return
    (job,) = example["jobs"].values()
    at = next(number for number, step in enumerate(job["steps"]) if "ansible-playbook" in step.get("run", ""))
    assert len(job["steps"][at + 1:]) == 2
    assert {step["if"] for step in job["steps"][at + 1:]} == {"always()"}


@of_the_repository
def test_this_repositorys_own_job_runs_make_test():
    (job,) = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())["jobs"].values()
    *_before, line = [step["run"] for step in job["steps"] if "run" in step]
    script = (ROOT / line.split()[1]).read_text()
    assert script.splitlines()[-1].startswith("exec make ") and script.split()[-1] == "test"


# ------------------------------------------------------------------------------------------------------- README and docs/
PAGES = {str(path.relative_to(ROOT)): path.read_text("utf-8")
         for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "roles").rglob("*.md")) if path.name != "CHANGELOG.md"}


def rows_of(page, head):
    """The rows of the table that begins so, as lists of cells."""
    table = PAGES[page].split(f"\n{head}", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()[2:]]


def test_the_pages_are_what_make_docs_writes():
    for path, page in docs.PAGES.items():
        assert path.read_text(encoding="utf-8") == page(), "make docs"


def test_the_readme_has_the_order_of_certification():
    order = ["Requirements", "Installation", "Use", "Testing", "Support", "Release notes", "Licence"]
    assert re.findall(r"^## (.*)$", PAGES["README.md"], re.MULTILINE) == order


def test_the_readme_is_short():
    assert len(PAGES["README.md"].split()) < 1_200


def test_each_page_of_docs_is_named_in_the_readme_or_by_a_page_that_is():
    seen, more = set(), {"README.md"}
    while more:
        page = more.pop()
        seen.add(page)
        named = {os.path.normpath(Path(page).parent / target) for target in re.findall(r"\]\(([\w./-]+\.md)", PAGES[page])}
        more |= named & PAGES.keys() - seen
    assert {page for page in PAGES if page.startswith("docs/")} - seen == set()


def test_each_variable_is_told_and_no_other():
    assert [row[0] for row in rows_of("docs/variables.md", "| variable | what")] == [f"[`{name}`](#{name})" for name in ROLE]


def test_each_default_that_the_readme_tells_is_one():
    told = 0
    for variables, defaults, _what in rows_of("README.md", "| variable | default"):
        names, cells = re.findall(r"`(\w+)`", variables), defaults.split(", ")
        for name, cell in zip(names, cells if len(cells) == len(names) else cells[:1] * len(names), strict=True):
            if cell.startswith("`") and name in DEFAULTS:
                assert yaml.safe_load(cell.strip("`")) == DEFAULTS[name], name
                told += 1
            elif cell == "none":
                assert not DEFAULTS.get(name), name
    assert told > 2


def test_each_role_playbook_and_plugin_of_the_collection_that_a_page_names_is_there():
    folders = ("roles", "playbooks", "plugins/modules", "plugins/filter")
    there = {"plugins", *(path.stem for folder in folders for path in (ROOT / folder).iterdir())}
    named = {name for text in PAGES.values() for name in re.findall(r"\bllmgw\.preflight\.(\w+)", text)}
    assert len(named) > 5
    assert named - there == set()


def test_no_page_speaks_of_a_variable_that_there_is_not():
    others = {"preflight_report", "preflight_plan", "preflight_probe", "preflight_hosts", "preflight_records", "preflight_version"}
    for page, text in PAGES.items():
        assert set(re.findall(r"\bpreflight_[a-z_]*[a-z]\b(?![.*])", text)) - {*ROLE, *others} == set(), page


def test_each_limit_is_told_with_what_it_is():
    told = {name: float(value) for row in rows_of("docs/limits.md", "| limit | default")
            for name, value in zip(re.findall(r"`(\w+)`", row[0]), row[1].split(", "), strict=True)}
    assert told == settings.LIMITS


def test_each_check_is_told():
    assert [row[0] for row in rows_of("docs/checks.md", "| check | asks")] == [f"[`{check}`](#{check})" for check in checks.IDS]


def test_each_fix_of_a_report_is_told_with_its_check():
    found = [finding for finding in json.loads((ROOT / "tests" / "integration" / "every_level.json").read_text("utf-8"))["findings"]
             if finding["fix"]]
    assert len(found) > 30
    for finding in found:
        section = PAGES["docs/checks.md"].split(f"\n### `{finding['check']}`\n")[1].split("\n### ")[0]
        told = "|".join(".+".join(map(re.escape, fix.split("…"))) for fix in re.findall(r"^- (.*)\.$", section, re.MULTILINE))
        assert re.fullmatch(rf"(?:(?:{told})(?:, or .+)?\. ?)+", finding["fix"]), finding


def anchors(text):
    """Of a page's heads, as GitHub makes them."""
    return {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_points_at_is_there(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", PAGES[page], flags=re.DOTALL)):
        if "://" in target:
            continue
        name, _hash, anchor = target.partition("#")
        there = (ROOT / page).parent / name if name else ROOT / page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there.read_text("utf-8")), target


@of_the_repository
def test_what_the_collections_file_leaves_out_is_there():
    """But for what is made here, and for fragments, of which a release leaves none; see also tests/tools/release.py."""
    made = {"changelogs/fragments", ".git", ".venv*", ".collections", ".cache", "*/.cache", ".ansible", "dist", "tests/output", "*.tar.gz"}
    left_out = yaml.safe_load((ROOT / "galaxy.yml").read_text())["build_ignore"]
    assert set(left_out) > made
    assert [name for name in left_out if name not in made and not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", ["docs/how-it-works.md", "CONTRIBUTING.md", "README.md"])
def test_the_files_and_folders_that_a_page_names_are_there(page):
    named = re.findall(r"`((?:plugins|roles|tests|docs|examples|meta)/[\w./-]+)`", PAGES[page])
    assert [name for name in named if not (ROOT / name).exists() and "role_name" not in name] == []
