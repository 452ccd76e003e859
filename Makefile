# Each target sets up .venv by itself and is quick when there is nothing to do.
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

.PHONY: farthest setup reproduce test outer other-cpu lint docs figures graph bench mutate battery attack playground cluster-records

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

reproduce: setup
	$(BIN)/nsr reproduce

test: setup lint
	$(PYTEST)

# The outer ring: the eager numeric tests as a CPU without vector instructions would run them, then the tests marked
# outer, and those of emitted code and of killed sweeps with 2,000 programs per target and 20 kills.
outer: setup other-cpu
	$(PYTEST) -m outer $(addprefix --ignore=,$(AT_LENGTH) $(FARTHEST))
	NSR_PROGRAMS=2000 NSR_KILLS=20 $(PYTEST) -m "outer or not outer" $(AT_LENGTH)
AT_LENGTH := tests/program/emit tests/paper/sweep/test_faults.py

# What takes longest or needs most of a machine: faults of a Dask cluster, walltimes of Slurm, the playground in a browser.
FARTHEST := tests/paper/sweep/test_dask_processes.py tests/paper/sweep/test_slurm_walltime.py tests/playground
farthest: setup
	$(PYTEST) -m "outer or not outer" $(FARTHEST)

other-cpu: setup
	ATEN_CPU_CAPABILITY=default $(PYTEST) -m "not compiled and not outer" \
	  tests/nn tests/data tests/reading tests/test_adam.py tests/test_training.py tests/test_ensemble.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The documentation as a site, docs/_build/html/index.html, without network.
docs: setup
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build/html

figures: setup
	$(BIN)/python tools/figures.py

graph: setup
	$(BIN)/python tools/import_graph.py docs/imports.svg

bench: setup
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/programs.py
	$(BIN)/python benchmarks/paths.py
	$(BIN)/python benchmarks/digits.py

# Whether tests notice changed expressions: the score of a random sample, and what survived.
mutate: setup
	$(BIN)/python tools/mutate.py --sample 60 $(OPTIONS)

battery: setup
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,bench]'
	mkdir -p runs
	$(BIN)/python benchmarks/learn.py --json runs/learn.jsonl --markdown $(OPTIONS)

# Damaged and hostile inputs over all loaders: no traceback, no hang, no more than 1 GB.
attack: setup
	$(BIN)/python benchmarks/attack.py $(OPTIONS)

# The records behind docs/cluster.md: about an hour on two quiet cores. Slurm's part needs slurm-wlm, munge and root.
cluster-records: setup
	$(BIN)/python benchmarks/dask_overhead.py --json results/dask_overhead.jsonl
	$(BIN)/python benchmarks/many_seeds.py
	$(BIN)/python benchmarks/same_records.py --json results/same_records.jsonl
	rm -f results/cluster_faults.jsonl results/sweep_simulation.jsonl
	$(BIN)/python benchmarks/cluster_faults.py --json results/cluster_faults.jsonl
	$(BIN)/python benchmarks/sweep_simulation.py --json results/sweep_simulation.jsonl
	$(BIN)/python tools/measured.py

# The page that `nsr play` opens, from playground/; needs node and npm. The result is committed.
playground:
	cd playground && npm install --no-package-lock --no-audit --no-fund --silent && npm run --silent build
