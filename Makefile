# Every target needs nothing but Python >= 3.11: each makes the virtual environment it runs in, with what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pip leaves bytecode to the first import, as most modules of most packages are never imported: half a minute of an installation.
# It is written then, whatever the shell says of it: some fifty processes that tests start import the package.
export PYTHONDONTWRITEBYTECODE =
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# For the large sets: uv takes a third of pip's time. Where it cannot install them (an index of which only pip is told), pip does.
UV := $(PIP) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python

.PHONY: demo test nightly mutants lint driver bench validation pictures docs wheel clean

demo: $(VENV)/.run
	$(BIN)/urdf-gibbs demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist worksteal --durations 15

# Whether the tests notice small errors in the sources (validation/mutants.py): two hours on one core, not part of CI.
# make mutants JOBS=8
JOBS ?= 1
mutants: $(VENV)/.dev
	$(BIN)/python validation/mutants.py --jobs $(JOBS)

# What the tests of every run leave out for its cost: the largest robots, more random ones, the driver built again.
nightly: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist worksteal -m nightly

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# After a change in the sources of compiled code: compile them for the package (urdf_gibbs/engine/build_driver.py).
driver: $(VENV)/.dev
	$(BIN)/python -m urdf_gibbs.engine.build_driver

bench: $(VENV)/.dev
	$(BIN)/python validation/bench_calls.py
	$(BIN)/python validation/bench_load.py
	$(BIN)/python validation/bench_simulation.py
	$(BIN)/python validation/bench_sweep.py
	$(BIN)/python validation/bench_view.py
	$(BIN)/python validation/bench_autodiff.py

validation: $(VENV)/.validation
	$(BIN)/urdf-gibbs reproduce --out validation

pictures: $(VENV)/.dev
	$(BIN)/python validation/pictures.py

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --config-file docs/mkdocs.yml
	@echo docs/site/index.html

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit('urdf-gibbs needs Python 3.11 or newer, this is ' + sys.version.split()[0]) if sys.version_info < (3, 11) else None"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(PIP) -e '.[all]'
	touch $@

# By pip and before the rest: uv, which does not prefer what is built for the CPU alone, then leaves it as it is.
TORCH := torch==2.13.0
$(VENV)/.torch: | $(VENV)/bin/python
	$(PIP) $(TORCH)
	touch $@

$(VENV)/.dev: $(VENV)/.torch

$(VENV)/.validation $(VENV)/.docs $(VENV)/.dev: $(VENV)/.%: pyproject.toml | $(VENV)/bin/python
	$(UV) -e '.[$*]' || $(PIP) -e '.[$*]'
	touch $@ $(VENV)/.run

wheel: $(VENV)/.dev
	$(BIN)/python -m build --wheel

clean:
	rm -rf $(VENV) dist build docs/site validation/report.html validation/animations urdf-gibbs-demo.html validation/.mutants_cache
