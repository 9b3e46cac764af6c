# make setup   .venv with colrun in it          make test          lint, types, all tests that run anywhere
# make lint    ruff and mypy only               make test-cluster  real engines; skipped where not installed
# make figures run the sweeps, draw figures     make soak          kills, full disks, damage: SOAK_KILLS=300 (an hour)
# make scripts rewrite those in scripts/        make clean         remove .venv and caches
PYTHON    ?= python3
PIP_FLAGS ?=
BIN       := .venv/bin
# One core per test process: torch must not start threads of its own on top.
export OMP_NUM_THREADS ?= 1
JOBS      ?= $(shell nproc 2>/dev/null || echo 2)
SOAK_KILLS ?= 300

.PHONY: setup figures scripts lint test test-cluster soak clean
setup: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "colrun needs Python 3.11 or newer; name one with: make setup PYTHON=python3.12" >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt -e '.[dev]'
	@touch $@

# Runs what is missing, so that an interrupted run goes on where it was.
figures: setup
	$(BIN)/colrun sweep rnn-alignment
	$(BIN)/colrun plot rnn-alignment

# Of every sweep but the demo, for GNU Parallel.
scripts: setup
	for sweep in $(filter-out demo,$(basename $(notdir $(wildcard sweeps/*.toml)))); do \
	  $(BIN)/colrun script parallel $$sweep -o scripts/$$sweep.sh || exit; done

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -n $(JOBS) --ignore tests/soak --ignore tests/cluster

test-cluster: setup
	$(BIN)/pytest -n $(JOBS) --dist loadfile tests/cluster

soak: setup
	SOAK_KILLS=$(SOAK_KILLS) $(BIN)/pytest -n $(JOBS) -rP tests/soak

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache
