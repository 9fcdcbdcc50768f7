# Trainfare. `make help` lists all targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv

.PHONY: help setup run test bench lint types arrows openapi lock data evaluate calibrate check clean

help: ## list all targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.main: requirements/main.txt pyproject.toml | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/main.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.test: requirements/test.txt $(VENV)/.main
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/test.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.test
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

setup: $(VENV)/.main ## create .venv with what the service needs

run: $(VENV)/.main ## set up, migrate, load the embedded data, serve on 127.0.0.1:8000
	$(BIN)/trainfare serve

test: $(VENV)/.dev ## set up and run every check and test (SQLite and PostgreSQL)
	$(MAKE) --no-print-directory lint types arrows
	$(BIN)/pytest

bench: $(VENV)/.test ## measure candidates, cold and warm answers, catalogue load, memory
	$(BIN)/python -m tests.perf.bench

lint: $(VENV)/.dev ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## mypy --strict
	$(BIN)/mypy

arrows: $(VENV)/.dev ## the imports design allows, and unused dependencies
	$(BIN)/lint-imports
	$(BIN)/deptry .

openapi: $(VENV)/.main ## write openapi/openapi.json
	$(BIN)/python -m tools.write_openapi

lock: $(VENV)/.dev ## resolve and write hash-locked requirements
	$(BIN)/python -m tools.lock

data: $(VENV)/.main ## rebuild app/data from a folder of facts (FACTS=...)
	$(BIN)/python -m tools.make_data $(FACTS)

calibrate: $(VENV)/.test ## refit app/data/calibration.toml from facts (FACTS=...)
	$(BIN)/python -m tools.calibrate $(FACTS)

evaluate: $(VENV)/.main ## compare the estimates with measured runs (FACTS=...), write docs/accuracy.md
	$(BIN)/python -m tools.evaluate $(FACTS)

clean: ## remove what the targets above made
	rm -rf $(VENV) var .mypy_cache .ruff_cache .pytest_cache *.egg-info
