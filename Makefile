# Trainfare. `make help` lists all targets. Needs Python 3.11, make and git; everything else goes into .venv.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
FACTS ?= $(TRAINFARE_FACTS)
NEED_FACTS = $(or $(FACTS),$(error say where the facts are: make $@ FACTS=folder))
INSTALL := $(BIN)/pip --disable-pip-version-check -qq install

.PHONY: help setup run test bench lint format types arrows openapi readme lock data calibrate evaluate clean

help: ## list all targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(VENV)/.app ## create .venv with what the service needs

run: $(VENV)/.app ## set up, migrate, load the embedded data, serve on 127.0.0.1:8000
	@$(BIN)/trainfare serve

test: $(VENV)/.dev ## set up, then lint, types, arrows and every test (SQLite and PostgreSQL)
	@$(MAKE) lint types arrows
	$(BIN)/pytest

bench: $(VENV)/.test ## measure candidates, cold and warm answers, catalogue load, memory
	@$(BIN)/python -m tests.perf.bench

lint: $(VENV)/.dev ## check style with ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev ## repair style with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(VENV)/.dev ## check types with mypy --strict
	$(BIN)/mypy

arrows: $(VENV)/.dev ## check who may import whom, and that no dependency is unused or undeclared
	$(BIN)/lint-imports
	$(BIN)/deptry .

openapi: $(VENV)/.app ## write openapi/openapi.json
	$(BIN)/python -m tools.write_openapi

readme: $(VENV)/.app ## write what a recommendation prints into both READMEs
	$(BIN)/python -m tools.readme

lock: $(VENV)/.dev ## write requirements/*.txt from pyproject.toml (UPGRADE=1 takes newer versions)
	$(BIN)/python -m tools.lock $(if $(UPGRADE),--upgrade)

data: $(VENV)/.app ## rebuild app/data from a folder of facts (FACTS=folder)
	$(BIN)/python -m tools.make_data $(NEED_FACTS)

calibrate: $(VENV)/.test ## refit app/data/calibration.toml from facts (FACTS=folder)
	$(BIN)/python -m tools.calibrate $(NEED_FACTS)

evaluate: $(VENV)/.app ## compare the estimates with measured runs (FACTS=folder), write docs/accuracy.md
	$(BIN)/python -m tools.evaluate $(NEED_FACTS)

clean: ## remove what the targets above made
	rm -rf $(VENV) var build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

# The stamps say how far .venv has come: an interrupted step is done again, a finished one costs nothing.
$(VENV)/.created:
	@test -n "$(PYTHON)" && $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11'; exit 1; }
	@echo 'Creating .venv ...'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.main: requirements/build.txt requirements/main.txt | $(VENV)/.created
	@echo 'Installing the service (half a minute the first time) ...'
	@$(INSTALL) --require-hashes -r requirements/build.txt -r requirements/main.txt
	@touch $@

$(VENV)/.app: pyproject.toml $(VENV)/.main
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.app
	@echo 'Installing the test tools ...'
	@$(INSTALL) --require-hashes --no-deps -r requirements/test.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.test
	@echo 'Installing the checkers ...'
	@$(INSTALL) --require-hashes --no-deps -r requirements/dev.txt
	@touch $@
