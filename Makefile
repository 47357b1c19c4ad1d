# The course's verbs. `make help` lists them; README.md has the commands behind them.
.DEFAULT_GOAL := help
CHAPTER ?= 00
.PHONY: help setup upgrade lab slides test test-gpu check baseline test-code test-notebooks golden reports sass record notebooks doctor clean fuzz bench-simulator

PYTHON ?= python3
PY := .venv/bin/python
START := notebooks/00_start_here.ipynb
NOTEBOOKS ?= notebooks
CELL_TIMEOUT ?= 120
WORKERS ?= 2
ARGS ?=
EXTRAS ?=
SEEDS ?= 0:10000
# JupyterLab refuses to start as root, which is who you are in most containers.
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
JUPYTERLAB = $(PY) -m jupyterlab --ServerApp.root_dir="$(CURDIR)" $(AS_ROOT) \
    --LabApp.app_settings_dir="$(CURDIR)/notebooks/lab_settings" \
    --LabApp.extra_labextensions_path="$(CURDIR)/notebooks/lab_extensions"

help:             ## list the verbs
	@awk -F ':.*## *' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

setup:            ## make .venv and install everything into it (EXTRAS="dsl libraries"); nothing to do when it is current
	@$(PYTHON) -I setup_environment.py $(EXTRAS)

# The lock and environment.yml change, for you to commit. TESTS names what is to pass.
upgrade: export TESTS ?= test
upgrade: setup    ## lock and install the newest of all, test it, say which counts moved
	@$(PY) upgrade_environment.py

# The notebooks open as copies in work/, which no update of the course touches.
# The settings: ask nothing at the first start, and keep widgets in saved notebooks.
lab: export COURSEKIT_WORK := $(CURDIR)/work
lab: setup        ## open the start notebook (on a server: make lab ARGS=--no-browser)
	@$(PY) -m coursekit.exercises.cells.working_copies
	@$(JUPYTERLAB) --LabApp.default_url="/lab/tree/$(subst $(CURDIR)/,,$(COURSEKIT_WORK))/$(START)" $(ARGS)

slides: export COURSEKIT_WORK := $(CURDIR)/work
slides: setup     ## present a chapter as slides, with its kernel: make slides CHAPTER=09
	@$(PY) -m coursekit.exercises.cells.working_copies
	@set -- notebooks/$(CHAPTER)*.ipynb; chapter=$$(basename "$$1"); \
	    if [ ! -f "notebooks/$$chapter" ]; then echo "make slides: no chapter '$(CHAPTER)'; write for example CHAPTER=09 or CHAPTER=10a" >&2; exit 1; fi; \
	    $(JUPYTERLAB) --LabApp.default_url="/lab/tree/$(subst $(CURDIR)/,,$(COURSEKIT_WORK))/notebooks/$$chapter?present" $(ARGS)

# Kernels of Triton, CuTe and Helion are tested too.
test: override EXTRAS += dsl
test: setup check test-code test-notebooks  ## check the code, run every test and every notebook

check: setup      ## check style, format and types, of code and notebooks (seconds)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy | $(PY) -m mypy_baseline filter || \
	    { echo "make check: see above; if complaints are gone, run 'make baseline'" >&2; exit 1; }

# tests/repository/test_types.py then says which number to lower.
baseline: setup   ## take the complaints about types that are gone out of the baseline
	@$(PY) -m mypy | $(PY) -m mypy_baseline sync

# Without nbval, which takes each process seconds to import.
test-code:
	@$(PY) -m pytest -p no:nbval -n $(WORKERS) --dist worksteal tests $(ARGS)

# NOTEBOOKS, CELL_TIMEOUT and PY are variables so that the harness can be tested itself.
# Notebooks with exercises run twice: as given, and with the solutions filled in.
test-notebooks:
	@$(PY) -m pytest -c pyproject.toml --nbval-lax --nbval-current-env --solutions \
	    --nbval-cell-timeout=$(CELL_TIMEOUT) -n $(WORKERS) --dist loadscope --color=no $(NOTEBOOKS)

.PHONY: test-fast
test-fast: setup check  ## while you work: all tests but what tests/slow.toml leaves out (minutes)
	@$(PY) -m pytest -p no:nbval -n $(WORKERS) --dist worksteal -m "not slow" tests $(ARGS)

test-gpu: setup   ## the tests that need an NVIDIA GPU, and every notebook on it
	@nvidia-smi -L || { echo "make test-gpu: no NVIDIA GPU here; make test needs none" >&2; exit 1; }
	@$(PY) -m pytest -m gpu tests $(ARGS)
	@$(MAKE) --no-print-directory test-notebooks

.PHONY: test-browser
test-browser: setup  ## every notebook in a browser: run, widgets by mouse and keys, exports, accessibility (ARGS="-k 05")
	@$(PY) -m pytest -p no:nbval -n $(WORKERS) --dist worksteal -m "browser or not gpu" tests/*/test_*_browser.py $(ARGS)

golden: setup     ## on an H200: record counters and resident blocks for the tests
	@$(PY) tests/support/nsight_compare.py tests/golden/ncu_h200.json
	@$(PY) tests/support/occupancy_h200.py tests/golden/occupancy_h200.json

reports: setup    ## on a GPU: record the reports of Nsight Compute (ARGS="start/vec_add"; default all)
	@$(PY) -m coursekit report $(ARGS)

sass: setup       ## compare the course's kernels with machine code, for machines without nvdisasm
	@$(PY) -m coursekit.analysis.machine_code

record: setup     ## on a GPU: measure the recorded times anew (ARGS="first/vec_add"; default all)
	@$(PY) -m coursekit record $(ARGS)

notebooks: setup  ## run the notebooks in place without a GPU and store their outputs (ARGS="notebooks/00_start_here.ipynb")
	@$(PY) notebooks/execute.py $(ARGS)

.PHONY: chapters lint-notebooks
chapters: setup   ## write minutes, links, README's table and coverage.md (ARGS="notebooks/00_start_here.ipynb"; default all)
	@$(PY) notebooks/course_chapters.py $(ARGS)
	@$(PY) notebooks/coverage_table.py
	@$(PY) notebooks/companion_pages.py
	@$(PY) notebooks/instructor_schedules.py

lint-notebooks: setup  ## count what keeps lessons from good (ARGS=notebooks/00_start_here.ipynb lists, ARGS=--lower)
	@$(PY) tests/support/lint_notebooks.py $(ARGS)

.PHONY: drawings
drawings: setup   ## draw assets/drawings/*.svg anew, for you to look at and commit
	@$(PY) assets/drawings

doctor: setup     ## what is installed, what is missing, and how to get it
	@$(PY) -m coursekit doctor

clean:            ## remove .venv and the tools' caches; your own work stays
	rm -rf .venv build coursekit.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis

fuzz: setup       ## run random PTX on every engine of the simulator and compare (SEEDS=0:10000)
	@$(PY) tests/support/ptx_fuzz.py --seeds $(SEEDS) --processes $(WORKERS) $(ARGS)

bench-simulator: setup  ## time the simulator against C and Numba's, on one core (ARGS="--json FILE --full")
	@$(PY) tests/speed/simulator.py $(ARGS)
