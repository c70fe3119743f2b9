# Everything is set up in .venv on first use; only python3 (with venv) and make are needed.

PYTHON ?= python3
PYTEST_ARGS ?=
BENCH ?=

VENV := .venv
OLDEST := .venv-oldest
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check

# The tests already use one process per core: one thread each is fastest. A process begins with
# neighbouring tests, which share fixtures, and takes over tests of the other when it has no more.
# Compiled files are kept: several tests start Python, which would compile the library each time.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTEST := $(ONE_THREAD) MPLBACKEND=Agg PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test test-fast test-oldest lint docs dist bench clean

help:  ## list the targets
	@echo "usage: make <target>"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(firstword $(MAKEFILE_LIST)) \
	    | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'
	@echo
	@echo "PYTHON=python3.12 picks an interpreter, PYTEST_ARGS='-k rank -x' goes to pytest."

demo: $(VENV)/.demo  ## run unassuming demo, from data to bands and verdicts
	@$(BIN)/unassuming demo

test: $(VENV)/.test  ## run all tests, long statistical ones included
	$(PYTEST) $(PYTEST_ARGS)

test-fast: $(VENV)/.test  ## run the tests that are not marked slow
	$(PYTEST) -m "not slow" $(PYTEST_ARGS)

# Old releases call what newer releases of their own dependencies deprecate.
test-oldest: $(OLDEST)/.test  ## run all tests with the oldest versions of the dependencies
	$(subst $(BIN)/python,$(OLDEST)/bin/python,$(PYTEST)) -W ignore::DeprecationWarning $(PYTEST_ARGS)

lint: $(VENV)/.lint  ## check style, types and the one-way imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs  ## build the site, with the gallery, into docs/_build/html
	@rm -rf docs/api  # so that names that are gone leave no page behind
	$(ONE_THREAD) $(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

dist: $(VENV)/.dist  ## build the wheel and the source archive, install the wheel and try it
	@rm -rf dist build
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/archives.py
	$(PYTHON) -m venv build/venv
	build/venv/bin/python -m pip -qq --disable-pip-version-check install dist/*.whl
	cd build && $(ONE_THREAD) venv/bin/python -P ../tools/smoke.py bare
	build/venv/bin/python -m pip -qq --disable-pip-version-check install "$$(echo dist/*.whl)[cli,plot]"
	cd build && $(ONE_THREAD) MPLBACKEND=Agg venv/bin/python -P ../tools/smoke.py extras

bench: $(VENV)/.bench  ## measure speed, all of it or e.g. BENCH="ranks bands"
	@$(BIN)/python -m benchmarks $(BENCH)

clean:  ## remove .venv, caches and build products
	rm -rf docs/_build docs/api docs/gallery
	rm -rf $(VENV) $(OLDEST) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp per set of extras; a change of pyproject.toml installs again.

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "unassuming needs Python 3.11 or newer: try make PYTHON=python3.12"; exit 1; }
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.created pyproject.toml
	@echo "installing unassuming[plot,cli] into $(VENV)"
	@$(PIP) install --editable '.[plot,cli]'
	@touch $@

$(VENV)/.test: $(VENV)/.created pyproject.toml
	@echo "installing unassuming[test] into $(VENV)"
	@$(PIP) install --editable '.[test]'
	@touch $@

$(OLDEST)/.test: pyproject.toml tools/oldest.py
	@echo "installing unassuming[test] into $(OLDEST), with the oldest versions of its dependencies"
	@$(PYTHON) -m venv --clear $(OLDEST)
	@$(OLDEST)/bin/python tools/oldest.py test distributed > $(OLDEST)/constraints.txt
	@$(OLDEST)/bin/python -m pip -qq --disable-pip-version-check install \
	    --constraint $(OLDEST)/constraints.txt --editable '.[test]'
	@touch $@

$(VENV)/.dist: $(VENV)/.created pyproject.toml
	@echo "installing the tools that build archives into $(VENV)"
	@$(PIP) install --editable '.[dist]'
	@touch $@

$(VENV)/.docs: $(VENV)/.created pyproject.toml
	@echo "installing unassuming[docs] into $(VENV)"
	@$(PIP) install --editable '.[docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.created pyproject.toml
	@echo "installing unassuming[bench] into $(VENV)"
	@$(PIP) install --editable '.[bench]'
	@touch $@

$(VENV)/.lint: $(VENV)/.created pyproject.toml
	@echo "installing unassuming[dev] into $(VENV)"
	@$(PIP) install --editable '.[dev]'
	@touch $@
