# All commands of this repository; `make` lists them. Nothing but Python 3.11 and make
# needs to be there before: dependencies are installed into .venv from lock files.

PORT ?= 8000
DATA ?= var
# Only by `make HOST=…`: some shells set HOST to this machine's name by themselves.
ifneq ($(origin HOST),command line)
HOST := 127.0.0.1
endif
export PORT DATA HOST

PYTHON_IN_VENV := .venv/bin/python
PYTEST := $(PYTHON_IN_VENV) -m pytest
# Servers of one's own make the embedded ones unnecessary.
EMBEDDED := $(if $(and $(DATABASE_URL),$(REDIS_URL)),,requirements/embedded.lock)
LOCK := $(PYTHON_IN_VENV) -m uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-header $(if $(UPGRADE),--upgrade)
# What the settings ask for, where they are only read and nothing is connected to.
READ_ONLY := SECRET_KEY=check ENCRYPTION_KEYS=check REDIS_URL=redis://127.0.0.1:9/0 \
	DATABASE_URL=postgres://check@127.0.0.1:9/check

.DEFAULT_GOAL := help

.PHONY: help
help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

.PHONY: up
up: ## Start everything on this machine, until Ctrl-C [PORT=8000 DATA=var HOST=127.0.0.1]
	@sh dashboard/local/venv.sh run requirements/run.lock $(EMBEDDED)
	@exec $(PYTHON_IN_VENV) -m dashboard.local up --port "$$PORT" --data "$$DATA" --host "$$HOST"

.PHONY: doctor
doctor: ## Say what works and what does not, of what `make up` started [DATA=var]
	@sh dashboard/local/venv.sh run requirements/run.lock $(EMBEDDED)
	@exec $(PYTHON_IN_VENV) -m dashboard.local doctor --data "$$DATA"

.PHONY: dev
dev: ## Install what building and testing need into .venv
	@sh dashboard/local/venv.sh dev requirements/dev.lock

.PHONY: test
test: check ## Check, then all tests; those in a browser where a Chromium is found
	$(READ_ONLY) $(PYTHON_IN_VENV) manage.py collectstatic --no-input -v0
	$(PYTEST) tests/unit tests/integration tests/contracts
	$(PYTEST) tests/browser

.PHONY: check
check: dev ## Style, types, import rules, templates and settings
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	$(READ_ONLY) .venv/bin/mypy .
	.venv/bin/lint-imports
	.venv/bin/djlint --quiet --lint templates
	$(READ_ONLY) $(PYTHON_IN_VENV) manage.py check --fail-level WARNING

.PHONY: test-soak
test-soak: dev ## The long runs: kills under load, all rounds
	$(PYTEST) -m soak

.PHONY: test-real
test-real: dev ## Against a real model server (takes a model of 100 MB)
	$(PYTEST) -m real

.PHONY: mutate
mutate: dev ## Mutation tests of the pure modules
	.venv/bin/mutmut run

.PHONY: bench
bench: dev ## Measure, print a table, write bench.json [ONLY=name]
	$(PYTHON_IN_VENV) -m tests.bench $(if $(ONLY),--only $(ONLY))

.PHONY: lock
lock: dev ## Resolve requirements/*.in into the lock files [UPGRADE=1 for newer versions]
	$(LOCK) -o requirements/run.lock requirements/run.in
	$(LOCK) -o requirements/dev.lock requirements/dev.in
	$(LOCK) --no-deps -o requirements/embedded.lock requirements/embedded.in

.PHONY: clean
clean: ## Remove what can be made anew; data in var/ stays
	rm -rf .venv staticfiles mutants test-results bench.json .coverage* \
		.mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
