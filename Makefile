# With only Python and make on a fresh machine:
#   make demo    train a tree on bundled data, scan it, write the report
#   make test    everything that is checked before a change lands
#   make docs    the site, in build/site; every warning is an error
#   make test-oldest  the suite on the oldest versions that pyproject.toml declares
#   make check-fast  in a minute: style, names and imports, and the core with few examples of each law
#   make deep    a thousand examples of each law, and all of the many cases that others sample
#   make audit-private  what private trainers give away, replayed on neighbours, and whether they fail
#   make lock  write down the versions that the tests ran on; LOCK=requirements/development.txt
#                before any other target installs these very versions
#   make inventory FOLDERS="a b"  the attributes of all classes, from pickles of tools/inventory.py
#   make fuzz   half an hour of damaged files: read, and compared with what the libraries load;
#                SECONDS=60 makes it shorter, MUTANTS=500000 compares so many pickles, however long
#                that takes, and goes on where it stopped (STATE=.fuzz.json, SEED=0)
#   make bench   measure against peers and floors, write benchmarks/RESULTS.md (hours); installs the
#                peers into .peers; bench-short prints, in five minutes, and bench-quick in one
#   make scale   CPU and memory against leaves, trees, rows, …: figures and exponents
#   make paper   the tables of Wakabayashi et al. (2024) again (TREEAUDIT_DATA names the data)

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
LOCK   ?=
PEERS  := .peers
DOCS ?= .docs
CORE   := $(addprefix tests/,model table findings dp defenses test_imports.py test_size.py test_words.py)
SECONDS ?= 600
SEED   ?= 0
STATE  ?= .fuzz.json
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(LOCK),--constraint $(LOCK)) --editable

.PHONY: demo docs test lint types check check-fast test-oldest deep audit-private bench bench-short bench-quick scale paper fuzz golden inventory lock clean

# Every process would read, rewrite and compile all tests again.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

demo: $(VENV)/demo
	$(BIN)/treeaudit demo --force

test: lint types check

lint: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test
	$(BIN)/mypy

check: $(VENV)/test
	$(PYTEST)

check-fast: lint
	HYPOTHESIS_PROFILE=fast $(PYTEST) -m "not slow and not libraries and not browser" $(CORE)

deep: $(VENV)/test
	HYPOTHESIS_PROFILE=deep $(PYTEST) -m "hypothesis or sampled"

# The views of other libraries, the browser and the notebooks are left to `make test`.
test-oldest:
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check --requirement requirements/oldest.txt --editable .
	$(VENV)-oldest/bin/python -m pytest -n auto -m "not libraries and not browser and not slow"

audit-private: $(VENV)/test
	$(PYTEST) tests/trainers/test_aborts.py tests/trainers/test_transcripts.py tests/trainers/test_private_search.py

bench: $(VENV)/test $(PEERS)/ready
	$(BIN)/python -m benchmarks

bench-short bench-quick: $(VENV)/test $(PEERS)/ready
	$(BIN)/python -m benchmarks --size $(@:bench-%=%)

scale: $(VENV)/test $(PEERS)/ready
	$(BIN)/python -m benchmarks.scale

paper: $(VENV)/test
	$(BIN)/python -m benchmarks.paper_tables

ifdef MUTANTS
fuzz: $(VENV)/test
	$(BIN)/python -m tests.fuzz.oracle --mutants $(MUTANTS) --seed $(SEED) --state $(STATE) --keep .fuzz
else
fuzz: $(VENV)/test
	$(BIN)/python -m tests.fuzz.mutate --seconds $(SECONDS) --seed $(SEED) --keep .fuzz
	$(BIN)/python -m tests.fuzz.oracle --seconds $(SECONDS) --seed $(SEED) --keep .fuzz
	$(BIN)/python -m tests.fuzz.oracle_formats --seconds $(SECONDS) --seed $(SEED) --keep .fuzz
endif

golden: $(VENV)/test
	$(BIN)/python -m pytest -q tests/cli tests/reports tests/contracts --update-golden

inventory: $(VENV)/test
	$(BIN)/python tools/inventory.py collect $(FOLDERS)

# The site, in build/site: open index.html. A warning, such as a link to nothing, is an error.
docs: $(DOCS)/ready
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet

lock: $(VENV)/test
	{ echo "# The versions that \`make test\` ran on, under $$($(BIN)/python --version); \`make lock\` renews them."; \
	  $(BIN)/python -m pip freeze --exclude-editable; } > requirements/development.txt

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# What treeaudit is measured beside; never mixed with what it is developed with.
$(PEERS)/ready: benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/peers.txt --editable .
	@touch $@

# What builds the site; never mixed with what it documents.
$(DOCS)/ready: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

$(VENV)/demo: $(BIN)/python pyproject.toml
	$(INSTALL) .
	@touch $@

$(VENV)/test: $(BIN)/python pyproject.toml
	$(INSTALL) '.[test,browser,libraries]'
	@touch $@ $(VENV)/demo

clean:
	rm -rf $(VENV) $(PEERS) $(DOCS) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis treeaudit-demo
