# On a fresh machine with Python 3.11 or newer: `make preflight` and `make test` do all the set-up. `make help` lists the rest.

PYTHON ?= python3
VENV ?= .venv
INVENTORY ?= playbooks/this_machine.yml
ARGS =

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check
# The caller's collections stay visible, behind this one.
THEIRS := $(or $(ANSIBLE_COLLECTIONS_PATH),$(HOME)/.ansible/collections:/usr/share/ansible/collections)

export INVENTORY
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/.collections:$(THEIRS)

.NOTPARALLEL: # the stages of `make test` keep their order
.PHONY: help preflight inventory collection packages ruff mypy ansible-lint lint sanity sanity-all units docs-lint importer lint-all
.PHONY: bench docs changelog release unit coverage browser validator pictures lab integration pytest cores all-cores test test-all clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

preflight: inventory $(VENV)/installed collection ## check the machines of INVENTORY; ARGS go to ansible-playbook
	@$(BIN)/ansible-playbook playbooks/preflight.yml -i "$$INVENTORY" $(value ARGS)

inventory:
	@case "$$INVENTORY" in *,*) ;; *) test -e "$$INVENTORY" || { \
	  echo "There is no inventory $$INVENTORY. Name a file, a folder, or hosts with a comma: make preflight INVENTORY=host1," >&2; \
	  exit 2; };; esac

test: lint release cores ## lint, release, cores, and sanity beside these
test-all: lint release all-cores ## the same, with all tests on each series of ansible-core
test test-all: BESIDE = --sanity
ifneq ($(filter test-all,$(MAKECMDGOALS)),)
MAKEFLAGS += --keep-going # shows all faults at once
endif

lint: ruff mypy ansible-lint ## ruff, mypy and ansible-lint

ruff: $(VENV)/installed-dev
	@echo "== ruff"
	@$(BIN)/ruff check

mypy: $(VENV)/installed-dev collection
	@echo "== mypy"
	@MYPYPATH=.collections $(BIN)/mypy -p ansible_collections.llmgw.preflight.plugins.plugin_utils

ansible-lint: $(VENV)/installed-dev collection
	@echo "== ansible-lint"
	@PATH="$(abspath $(BIN)):$$PATH" ANSIBLE_HOME="$(CURDIR)/.cache/ansible" $(BIN)/ansible-lint -q --nocolor

sanity: $(VENV)/installed-dev packages ## ansible-test sanity
	@echo "== ansible-test sanity"
	@$(BIN)/python tests/tools/sanity.py

# Before a release, besides `make test`: some twenty minutes.
lint-all: sanity-all units docs-lint importer ## what certification and Galaxy ask for: the next four
sanity-all: $(VENV)/installed-dev packages ## ansible-test sanity on each series of ansible-core
	@$(BIN)/python tests/tools/cores.py sanity
units: $(VENV)/installed-dev ## ansible-test units, of tests/unit
	@echo "== ansible-test units"
	@$(BIN)/python tests/tools/sanity.py units

# In a virtual environment of their own: galaxy-importer wants an older attrs.
TOOLS := .cache/release
IN_TOOLS := PATH="$(CURDIR)/$(TOOLS)/bin:$$PATH"
$(TOOLS)/installed: requirements-release.txt | $(BIN)/python
	@echo "Installing $< into $(TOOLS)"
	@$(BIN)/python -m venv --clear $(TOOLS)
	@$(TOOLS)/bin/python -m pip install -q --disable-pip-version-check -r $<
	@touch $@

docs-lint: $(TOOLS)/installed collection ## antsibull-docs on the documentation of all plugins and the role
	@echo "== antsibull-docs"
	@$(IN_TOOLS) antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs=all --disallow-unknown-collection-refs \
	  --skip-rstcheck .

importer: $(TOOLS)/installed release ## galaxy-importer on what release has built; a warning is a failure
	@echo "== galaxy-importer"
	@cd .cache && $(IN_TOOLS) python -m galaxy_importer.main ../dist/*.tar.gz >importer.log 2>&1 || { cat importer.log; exit 1; }
	@! grep -E 'WARNING|ERROR' .cache/importer.log

changelog: $(TOOLS)/installed ## CHANGELOG.md, out of changelogs/; shows what the next entry will be
	@$(TOOLS)/bin/python tests/tools/changelog.py

# With VERSION=1.1.0 the collection gets that version first, and what lies in changelogs/fragments becomes its entry.
release: $(VENV)/installed collection $(if $(VERSION),$(TOOLS)/installed) ## build dist/*.tar.gz, install it elsewhere, verify and run it; VERSION=1.1.0 sets the version
	@$(if $(VERSION),$(TOOLS)/bin/python tests/tools/changelog.py "$(VERSION)")
	@$(BIN)/python tests/tools/release.py

docs: $(VENV)/installed collection ## write the pages of docs/ that are made from data
	@$(BIN)/python tests/tools/docs.py

unit: ## pytest over tests/unit; here and below ARGS go to pytest
browser: packages validator ## pytest over tests/browser
lab: packages ## pytest over tests/lab
integration: packages ## pytest over tests/integration
pytest: packages validator ## pytest over all of tests
unit browser lab integration pytest: $(VENV)/installed-dev collection
	@echo "== pytest"
	@$(BIN)/python -m pytest $(if $(filter pytest,$@),,tests/$@) $(value ARGS)

coverage: $(VENV)/installed-dev collection ## pytest over tests/unit; fails where rules and reports are not wholly covered, or a folder of the rest not by 90 %
	@echo "== coverage"
	@rm -rf .cache/coverage && mkdir -p .cache/coverage
	@$(BIN)/python -m coverage run -m pytest -q tests/unit --ignore-glob='*/test_fuzz_*' $(value ARGS)
	@$(BIN)/python -m coverage combine -q; rm -f .cache/coverage/data.* # of a process that was ended while it wrote
	@fails=0; for folder in plugins/*/; do \
	  case $$folder in */plugin_utils/) least=100;; *) least=90;; esac; \
	  echo "== $$folder: at least $$least % of lines and branches"; \
	  $(BIN)/python -m coverage report --include="$$folder*" --fail-under=$$least || fails=1; \
	done; exit $$fails

cores: ## unit, browser, lab and the core set of integration, on the oldest and the newest ansible-core that can run here
cores all-cores: $(VENV)/installed-dev collection packages validator
	@$(BIN)/python tests/tools/cores.py $(if $(filter cores,$@),ends,all) $(BESIDE) $(value ARGS)

packages: | $(BIN)/python
	@$(BIN)/python tests/tools/debian.py

# Checks pages of HTML. Without npm, packages has said what is missing.
VALIDATOR := .cache/npm/node_modules/vnu-jar
validator: packages
	@test -d $(VALIDATOR) || ! command -v npm >/dev/null || { echo "Installing vnu-jar into .cache/npm"; \
	  npm install --silent --no-audit --no-fund --ignore-scripts --prefix .cache/npm vnu-jar@26.9.27; }

pictures: $(VENV)/installed-dev collection packages ## the pictures in docs/pictures, from a run on the lab
	@echo "== pictures"
	@$(BIN)/python tests/tools/pictures.py

bench: $(VENV)/installed-dev collection packages ## what a preflight costs, on the lab; ARGS go to tests/bench/bench.py
	@mkdir -p tests/output
	@PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python tests/bench/bench.py --json tests/output/bench.json $(value ARGS)

# Ansible finds a collection only in a folder of this form.
LINK := .collections/ansible_collections/llmgw/preflight
collection:
	@mkdir -p $(dir $(LINK))
	@test "$$(readlink $(LINK))" = ../../.. || ln -sfn ../../.. $(LINK)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed, and $(PYTHON) is not. Name another: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 2; }
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 2; }
	@echo '*' > $(VENV)/.gitignore # whatever its name

$(VENV)/installed: requirements.txt | $(BIN)/python
	@echo "Installing $< into $(VENV)"
	@$(PIP) -r $<
	@touch $@

$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	@echo "Installing $< into $(VENV)"
	@$(PIP) -r $<
	@touch $@

clean: ## remove all that these made
	@rm -rf $(VENV) .cache .collections dist tests/output
