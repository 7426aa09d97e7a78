PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-all lint bench docs clean

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "DPQL needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=23'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(VENV)/.ready
	$(BIN)/python examples/recidivism/demo.py

lint: $(VENV)/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'not slow' -q

test-all: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

bench: $(VENV)/.ready
	for f in benchmarks/*.py; do echo "== $$f"; $(BIN)/python $$f || exit 1; done

docs: $(VENV)/.ready
	$(BIN)/python -m dpql.documentation

clean:
	rm -rf $(VENV) build *.egg-info
