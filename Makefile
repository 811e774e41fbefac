# Two commands do everything from a fresh clone: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BENCH  := .venv-bench
DOCS   := .venv-docs
PEERS  := opendp pipelinedp smartnoise tumult local opacus covariance covariance-mended mostlyai dpmm odometer synthcity streams interpret surveys
# Packages of which benchmarks/referee.py runs one module: installed without their own requirements.
ALONE-covariance        := smartnoise-synth==1.0.5
ALONE-covariance-mended := smartnoise-synth==1.0.8
ALONE-mostlyai          := mostlyai-engine==2.7.3
ALONE-synthcity         := synthcity==0.2.12
BIN    := $(VENV)/bin
PIP    := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# One worker more than the two cores of a small machine: tests that start servers mostly wait. Types and import layers
# (in `make deep` also the built package and other Pythons) run beside the tests, one after the other.
WORKERS ?= 3
PROFILE ?= ci
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Keep byte code even where the environment switches it off: otherwise every test process compiles the program again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo serve test deep docs publish package proofs pythons lint types borders style format unit bench audit faults pictures notebooks clean

help:                     ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(VENV)/.demo       ## private answers with error bars from bundled data, and their price
	@$(BIN)/discreet demo

serve: $(VENV)/.demo      ## run the service with its pages on bundled data
	$(BIN)/python $(PIP) --editable '.[plot,service,client]'
	$(BIN)/discreet serve --demo

ifdef PART
test: $(VENV)/.test       ## `make test PART=ledger`: the tests and examples of one package, in seconds
	$(BIN)/pytest -q $(or $(wildcard tests/$(PART) src/discreet/$(PART)),$(error PART=$(PART) is no folder of tests/ or src/discreet/))
else
test: $(VENV)/.test       ## everything a release needs: style, types, import layers, tests, coverage
	@begin=$$(date +%s); $(MAKE) --no-print-directory style && \
	  $(MAKE) --no-print-directory --jobs 2 unit types borders && \
	  echo "make test passed in $$(($$(date +%s) - begin)) seconds"
endif

deep: $(VENV)/.deep       ## the same at full size: all random examples, long fault tests, other Pythons (up to 40 minutes)
	@begin=$$(date +%s); $(MAKE) --no-print-directory style docs && \
	  $(MAKE) --no-print-directory --jobs 2 unit types borders package proofs pythons PROFILE=deep && \
	  echo "make deep passed in $$(($$(date +%s) - begin)) seconds"

docs: $(DOCS)/.ready       ## build the site into site/; a broken link or a missing page fails
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet --strict

publish: docs              ## add the site of this release to a folder of sites by release: `make publish TO=folder`
	$(DOCS)/bin/python docs/site/versions.py site $(or $(TO),$(error say where, such as TO=published)) \
	  $$($(DOCS)/bin/python -c "from importlib.metadata import version; print(version('discreet'))")

package: $(DOCS)/.ready    ## wheel and source archive into dist/; built twice, compared byte for byte, checked by twine
	rm -rf dist dist-again
	for target in dist dist-again; do SOURCE_DATE_EPOCH=1767225600 $(DOCS)/bin/python -m build --outdir $$target . >/dev/null || exit 1; done
	cd dist && sha256sum * | (cd ../dist-again && sha256sum --check --quiet)
	$(DOCS)/bin/python -m twine check --strict dist/*
	rm -rf dist-again

proofs: $(VENV)/.demo      ## let Coq check all theorems and write their table; Debian's Coq, skipped where there is none
	$(BIN)/python proofs/check.py

pythons:                   ## the packages that need no server, under Python 3.12 and 3.13 where installed
	tests/support/pythons.sh 3.12 3.13

lint: $(VENV)/.test       ## ruff, mypy strict, import-linter, two at a time
	@$(MAKE) --no-print-directory --jobs $(WORKERS) --output-sync=target types borders style

types: $(VENV)/.test
	$(BIN)/mypy

borders: $(VENV)/.test
	$(BIN)/lint-imports

style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell docs src .github *.md

format: $(VENV)/.test     ## fix and format the code with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

unit: $(VENV)/.test       ## the tests, and the least branch coverage of each package
	rm -f .coverage .coverage.*
	rm -f .pytest_cache/v/cache/lastfailed
	DISCREET_TESTS=$(PROFILE) $(BIN)/pytest -q --numprocesses $(WORKERS) --cov --cov-report= || \
	  DISCREET_TESTS=$(PROFILE) $(BIN)/python tests/support/again.py
	$(BIN)/python tests/support/gates.py

bench: $(VENV)/.test $(BENCH)/.ready $(PEERS:%=$(BENCH)-%/.ready)  ## the benchmark tables: ratios against other libraries and plain queries
	$(BENCH)/bin/python benchmarks/keep.py imports
	$(BENCH)/bin/python benchmarks/keep.py noise
	$(BENCH)/bin/python benchmarks/keep.py accounting
	$(BENCH)/bin/python benchmarks/keep.py mechanisms
	$(BENCH)/bin/python benchmarks/keep.py counting
	$(BENCH)/bin/python benchmarks/keep.py audit
	$(BENCH)/bin/python benchmarks/keep.py referee --peers $(BENCH)
	$(BENCH)/bin/python benchmarks/keep.py queries
	$(BENCH)/bin/python benchmarks/keep.py intake
	$(BENCH)/bin/python benchmarks/keep.py messy
	$(BENCH)/bin/python benchmarks/keep.py coming_from
	-$(BENCH)/bin/python benchmarks/keep.py utility --peers $(BENCH)
	$(BENCH)/bin/python benchmarks/keep.py ledger
	$(BIN)/python benchmarks/keep.py streams --peers $(BENCH)
	$(BENCH)/bin/python benchmarks/keep.py local --peers $(BENCH)-local/bin/python

audit: faults             ## statistical audit of all mechanisms with many runs, after the long fault tests
	$(BIN)/python benchmarks/audit_large.py

faults: $(VENV)/.test     ## the fault tests of service and ledger at full size (a quarter of an hour)
	DISCREET_TESTS=deep $(BIN)/pytest -q -rA -m slow tests/service tests/ledger

pictures: $(VENV)/.test   ## redraw the pictures of the docs
	for script in docs/pictures/*.py; do $(BIN)/python $$script || exit 1; done

notebooks: $(VENV)/.test  ## run the notebooks of the docs and store their output
	for notebook in docs/notebooks/*.ipynb; do \
	  $(BIN)/python -m jupyter execute --inplace $$notebook || exit 1; done

clean:                    ## remove everything the other targets made
	rm -rf $(VENV) $(VENV)-3.* $(DOCS) site dist $(BENCH) $(BENCH)-* .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/.demo: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --upgrade pip
	$(BIN)/python $(PIP) --editable '.[plot]'
	touch $@

$(VENV)/.test: $(VENV)/.demo tests/service/browser/setup_chromium.sh tests/service/setup_nginx.sh
	$(BIN)/python $(PIP) --group test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --target $(VENV)/generator --group generate
	tests/service/browser/setup_chromium.sh
	tests/service/setup_nginx.sh
	touch $@

$(VENV)/.deep: $(VENV)/.test
	$(BIN)/python $(PIP) --group deep
	touch $@

$(DOCS)/.ready: pyproject.toml constraints.txt
	test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python $(PIP) --upgrade pip
	$(DOCS)/bin/python $(PIP) --editable .
	$(DOCS)/bin/python $(PIP) --group docs
	touch $@

$(BENCH)/.ready: pyproject.toml constraints.txt
	test -x $(BENCH)/bin/python || $(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python $(PIP) --upgrade pip
	$(BENCH)/bin/python $(PIP) --editable .
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --group bench
	touch $@

# A peer that cannot be installed does not stop the others: the benchmark tables mark it as missing.
$(BENCH)-%/.ready: pyproject.toml
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP) --upgrade pip
	-$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --group bench-$* && \
	  { test -z '$(ALONE-$*)' || $(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(ALONE-$*); } && \
	  touch $@
