# make setup   .venv with colrun in it          make test          lint, types, all tests that run anywhere
# make lint    ruff and mypy only               make test-cluster  real engines; skipped where not installed
# make figures the paper's own figures and the  make soak          kills, full disks, damage: SOAK_KILLS=300 (half an hour)
#              sweeps they need                 make fig-NAME      one figure and the sweeps it needs
# make beyond  those of questions that the      make keep          results/ → results/paper/, which the repository keeps
#              paper does not ask               make scripts       rewrite those in scripts/
# make paper   all of it and the grids of       make clean         remove .venv and caches
#              shapes, claims and the report    make bench         speed against two references, the peak and JAX
PYTHON    ?= python3
PIP_FLAGS ?=
BIN       := .venv/bin
# One core per test process: torch must not start threads of its own on top.
export OMP_NUM_THREADS ?= 1
JOBS      ?= $(shell nproc 2>/dev/null || echo 2)
SOAK_KILLS ?= 300

SWEEPS    := $(filter-out demo,$(basename $(notdir $(sort $(wildcard sweeps/*.toml)))))
FIGURES   := rnn-alignment meta-alignment meta-ablation state-decay gru-alignment step-size
DRAWINGS  := columns stop-gradient
BEYOND    := cost estimators tradeoff grouping learning
FORMATS   ?= png,pdf,svg

.PHONY: setup bench figures beyond paper keep scripts lint test test-cluster test-lanes soak clean
setup: .venv/installed

.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "colrun needs Python 3.11 or newer; name one with: make setup PYTHON=python3.12" >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt -e '.[dev]'
	@touch $@

# Sweeps run what is missing, so that whatever was interrupted goes on where it was.
figures: setup
	$(BIN)/colrun sweep $(FIGURES)
	$(BIN)/colrun plot $(FIGURES) $(DRAWINGS)

beyond: setup
	$(BIN)/colrun sweep $(filter $(BEYOND),$(SWEEPS))
	$(BIN)/colrun plot $(BEYOND)

paper: setup
	$(BIN)/colrun sweep $(SWEEPS)
	$(BIN)/colrun plot --format $(FORMATS)
	$(BIN)/colrun claims
	$(BIN)/colrun report

# One core, some minutes; jax is installed for it alone.
bench: setup
	$(BIN)/pip install --quiet --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks.against_jax
	$(BIN)/colrun bench

# A figure shows the sweep of its name, but for these.
SWEEPS_OF_rnn-alignment-seeds  := rnn-alignment
SWEEPS_OF_meta-alignment-seeds := meta-alignment
SWEEPS_OF_gru-alignment-seeds  := gru-alignment
SWEEPS_OF_tradeoff             := estimators cost
fig-%: setup
	$(if $(filter $*,$(DRAWINGS)),,$(BIN)/colrun sweep $(or $(SWEEPS_OF_$*),$*))
	$(BIN)/colrun plot $* --format $(FORMATS)

keep: setup
	$(BIN)/python -m colrun.store.kept results results/paper $(SWEEPS)

# Of every sweep but the demo, for GNU Parallel.
scripts: setup
	for sweep in $(SWEEPS); do \
	  $(BIN)/colrun script parallel $$sweep -o scripts/$$sweep.sh || exit; done

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -n $(JOBS) --ignore tests/soak --ignore tests/cluster --ignore tests/lanes

# Learners in compiled lanes against plain ones: some minutes of compiling; no command uses them yet.
test-lanes: setup
	$(BIN)/pytest -n $(JOBS) tests/lanes

test-cluster: setup
	$(BIN)/pytest -n $(JOBS) --dist loadfile tests/cluster

soak: setup
	SOAK_KILLS=$(SOAK_KILLS) $(BIN)/pytest -n $(JOBS) -rP tests/soak

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache
