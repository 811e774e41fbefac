# Two commands do everything from a fresh clone: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BENCH  := .venv-bench
DOCS   := .venv-docs
PEERS  := opendp pipelinedp smartnoise tumult local
BIN    := $(VENV)/bin
PIP    := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# One more than the two cores of a small machine: a worker waits for servers half of its time. What else must pass
# (types, borders; in `make deep` the package and other Pythons) runs beside the tests, one after the other.
WORKERS ?= 3
PROFILE ?= ci
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Byte code is kept even where the environment says otherwise: without it every worker, and every process that a test
# starts, would compile the program anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo serve test deep docs publish package pythons lint types borders style format unit bench audit faults pictures notebooks clean

help:                     ## say what each target does
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

demo: $(VENV)/.demo       ## private answers with error bars from bundled data, and what they cost
	@$(BIN)/discreet demo

serve: $(VENV)/.demo      ## the curator as a service with its pages, on bundled data
	$(BIN)/python $(PIP) --editable '.[plot,service,client]'
	$(BIN)/discreet serve --demo

ifdef ROOM
test: $(VENV)/.test       ## `make test ROOM=ledger`: the tests and examples of one room, in seconds
	$(BIN)/pytest -q $(or $(wildcard tests/$(ROOM) src/discreet/$(ROOM)),$(error there is no room $(ROOM)))
else
test: $(VENV)/.test       ## everything a release needs: style, types, room borders, tests, coverage
	@begin=$$(date +%s); $(MAKE) --no-print-directory style && \
	  $(MAKE) --no-print-directory --jobs 2 unit types borders && \
	  echo "make test passed in $$(($$(date +%s) - begin)) seconds"
endif

deep: $(VENV)/.deep       ## the same at full size: every example, long faults, rare environments (up to 40 minutes)
	@begin=$$(date +%s); $(MAKE) --no-print-directory style docs && \
	  $(MAKE) --no-print-directory --jobs 2 unit types borders package pythons PROFILE=deep && \
	  echo "make deep passed in $$(($$(date +%s) - begin)) seconds"

docs: $(DOCS)/.ready       ## the site, into site/; a broken link or a missing page stops it
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet --strict

publish: docs              ## the site of this release beside those of earlier ones: `make publish TO=folder`
	$(DOCS)/bin/python docs/site/versions.py site $(or $(TO),$(error say where, such as TO=published)) \
	  $$($(DOCS)/bin/python -c "from importlib.metadata import version; print(version('discreet'))")

package: $(DOCS)/.ready    ## wheel and source into dist/, built twice alike and checked as an index would
	rm -rf dist dist-again
	for target in dist dist-again; do SOURCE_DATE_EPOCH=1767225600 $(DOCS)/bin/python -m build --outdir $$target . >/dev/null || exit 1; done
	cd dist && sha256sum * | (cd ../dist-again && sha256sum --check --quiet)
	$(DOCS)/bin/python -m twine check --strict dist/*
	rm -rf dist-again

pythons:                   ## the rooms that need no server, under every other Python that is here
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
	$(BIN)/codespell docs src README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md

format: $(VENV)/.test     ## put the code into its house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

unit: $(VENV)/.test       ## the tests, with every branch in the rooms that promise
	rm -f .coverage .coverage.*
	rm -f .pytest_cache/v/cache/lastfailed
	DISCREET_TESTS=$(PROFILE) $(BIN)/pytest -q --numprocesses $(WORKERS) --cov --cov-report= || \
	  DISCREET_TESTS=$(PROFILE) $(BIN)/python tests/support/again.py
	$(BIN)/python tests/support/gates.py

bench: $(BENCH)/.ready $(PEERS:%=$(BENCH)-%/.ready)  ## the benchmark tables: ratios against peers and the physical limit
	$(BENCH)/bin/python benchmarks/keep.py imports
	$(BENCH)/bin/python benchmarks/keep.py noise
	$(BENCH)/bin/python benchmarks/keep.py accounting
	$(BENCH)/bin/python benchmarks/keep.py mechanisms
	$(BENCH)/bin/python benchmarks/keep.py counting
	$(BENCH)/bin/python benchmarks/keep.py audit
	$(BENCH)/bin/python benchmarks/keep.py queries
	$(BENCH)/bin/python benchmarks/keep.py intake
	$(BENCH)/bin/python benchmarks/keep.py coming_from
	-$(BENCH)/bin/python benchmarks/keep.py utility --peers $(BENCH)
	$(BENCH)/bin/python benchmarks/keep.py ledger
	$(BENCH)/bin/python benchmarks/keep.py local --peers $(BENCH)-local/bin/python

audit: faults             ## attack everything that promises, with many runs, and the faults at full size (long)
	$(BIN)/python benchmarks/audit_large.py

faults: $(VENV)/.test     ## full size: the storm around a service, every schedule, a year of one ledger (a quarter of an hour)
	DISCREET_TESTS=deep $(BIN)/pytest -q -rA -m slow tests/service tests/ledger

pictures: $(VENV)/.test   ## draw the pictures of the docs again
	for script in docs/pictures/*.py; do $(BIN)/python $$script || exit 1; done

notebooks: $(VENV)/.test  ## run the notebooks of the docs again and keep what they show
	for notebook in docs/notebooks/*.ipynb; do \
	  $(BIN)/python -m jupyter execute --inplace $$notebook || exit 1; done

clean:                    ## remove what the other targets made
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

# A peer that cannot be installed here does not stop the others: the table then says so.
$(BENCH)-%/.ready: pyproject.toml
	test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP) --upgrade pip
	-$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --group bench-$* && touch $@
