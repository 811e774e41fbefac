# Two commands do everything from a fresh clone: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BENCH  := .venv-bench
PEERS  := opendp pipelinedp smartnoise tumult local
BIN    := $(VENV)/bin
PIP    := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
WORKERS ?= 2
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1

.PHONY: help demo serve test lint format unit bench audit pictures notebooks clean

help:                     ## say what each target does
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(VENV)/.demo       ## private answers with error bars from bundled data, and what they cost
	@$(BIN)/discreet demo

serve: $(VENV)/.demo      ## the curator as a service with its pages, on bundled data
	$(BIN)/python $(PIP) --editable '.[plot,service,client]'
	$(BIN)/discreet serve --demo

test: lint unit           ## everything: style, types, room borders, tests, coverage

lint: $(VENV)/.test       ## ruff, mypy strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.test     ## put the code into its house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

unit: $(VENV)/.test       ## the tests, with 100 % of branches in the rooms that promise
	rm -f .coverage .coverage.*
	$(BIN)/pytest --numprocesses $(WORKERS) --dist loadgroup --cov --cov-report=
	$(BIN)/coverage report --include='src/discreet/noise/*' --fail-under=100
	$(BIN)/coverage report --include='src/discreet/privacy/*' --fail-under=99.9
	$(BIN)/coverage report --include='src/discreet/mechanisms/*' --fail-under=99.9
	$(BIN)/coverage report --include='src/discreet/query/*' --fail-under=99.5
	$(BIN)/coverage report

bench: $(BENCH)/.ready $(PEERS:%=$(BENCH)-%/.ready)  ## the benchmark tables: ratios against peers and the physical limit
	$(BENCH)/bin/python benchmarks/imports.py
	$(BENCH)/bin/python benchmarks/noise.py
	$(BENCH)/bin/python benchmarks/accounting.py
	$(BENCH)/bin/python benchmarks/mechanisms.py
	$(BENCH)/bin/python benchmarks/counting.py
	$(BENCH)/bin/python benchmarks/audit.py
	$(BENCH)/bin/python benchmarks/queries.py
	$(BENCH)/bin/python benchmarks/ledger.py
	$(BENCH)/bin/python benchmarks/local.py --peers $(BENCH)-local/bin/python

audit: $(VENV)/.test      ## attack everything that promises, with many runs; races and deaths at full size (long)
	$(BIN)/python benchmarks/audit_large.py
	DISCREET_FULL=1 $(BIN)/pytest tests/ledger tests/curator -k 'race or kill or death or die'

pictures: $(VENV)/.test   ## draw the pictures of the docs again
	for script in docs/pictures/*.py; do $(BIN)/python $$script || exit 1; done

notebooks: $(VENV)/.test  ## run the notebooks of the docs again and keep what they show
	for notebook in docs/notebooks/*.ipynb; do \
	  $(BIN)/python -m jupyter execute --inplace $$notebook || exit 1; done

clean:                    ## remove what the other targets made
	rm -rf $(VENV) $(BENCH) $(BENCH)-* .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/.demo: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --upgrade pip
	$(BIN)/python $(PIP) --editable '.[plot]'
	touch $@

$(VENV)/.test: $(VENV)/.demo
	$(BIN)/python $(PIP) --group test
	tests/service/browser/setup_chromium.sh
	touch $@

$(BENCH)/.ready: pyproject.toml constraints.txt
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP) --upgrade pip
	$(BENCH)/bin/python $(PIP) --editable .
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --group bench
	touch $@

# A peer that cannot be installed here does not stop the others: the table then says so.
$(BENCH)-%/.ready: pyproject.toml
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP) --upgrade pip
	-$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --group bench-$* && touch $@
