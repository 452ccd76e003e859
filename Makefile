# Each target sets up .venv by itself and is quick when there is nothing to do.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup reproduce test coverage programs faults lint bench battery

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

reproduce: setup
	$(BIN)/nsr reproduce

test: setup lint
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

coverage: setup
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal --cov --cov-report term

programs: setup
	NSR_PROGRAMS=2000 $(BIN)/python -m pytest --numprocesses 2 tests/program/emit

faults: setup
	NSR_KILLS=20 $(BIN)/python -m pytest --numprocesses 2 tests/sweep/test_faults.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/programs.py
	$(BIN)/python benchmarks/paths.py
	$(BIN)/python benchmarks/digits.py

battery: setup
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,bench]'
	mkdir -p runs
	$(BIN)/python benchmarks/learn.py --json runs/learn.json --markdown
