# make bench   set up and run the main job: ResNet-50 to its target, three times (RUNS=3)
# make bench ALL=1   the same for all models, once each (RUNS=1), and one table of them
# make test    set up and pass the tests
# make check   style, types, layers, generated pages
# make lint    mend what ruff can mend
# make docs    write the generated pages anew
# make setup   only set up
# make catalogue   build the packaged results anew: REPOS="OWNER/REPO=PATH ...", else public clones
# make clean   remove what the above have made, but no results

.PHONY: bench test check lint docs catalogue setup clean
.DEFAULT_GOAL := help

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
RUNS ?= $(if $(ALL),1,3)
JOBS ?= 2
TORCH := $(shell sed -n 's/^torch==//p' constraints.txt)
CPU_INDEX := https://download.pytorch.org/whl/cpu

# Linux without an NVIDIA driver: the CPU build of torch, a tenth of the size of the default one.
WANTS_CPU_TORCH := $(shell [ "$$(uname -s)" = Linux ] && [ ! -e /proc/driver/nvidia/version ] && \
	! command -v nvidia-smi >/dev/null && echo yes)

help:
	@sed -n 's/^# make/make/p' Makefile

setup: .venv/ready

.venv/ready: pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "trainmark needs Python 3.11 or newer on the PATH." >&2; exit 2; }
	@echo "Setting up .venv with $(PYTHON): about 1.5 GB to fetch, a few minutes, once."
	@$(PYTHON) -m venv .venv
ifeq ($(WANTS_CPU_TORCH),yes)
	@$(PIP) install --no-deps --retries 0 --extra-index-url $(CPU_INDEX) torch==$(TORCH)+cpu \
		|| echo "No CPU build of torch $(TORCH) to be had; taking the default one."
endif
	@$(PIP) install --constraint constraints.txt --editable '.[all,dev]'
	@touch .venv/ready

bench: setup
	@$(BIN)/trainmark run $(if $(ALL),all,resnet50) --runs $(RUNS)

test: setup
	@$(BIN)/pytest -n $(JOBS)

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/make_help.py --check
	$(BIN)/python docs/make_claims.py --check
	$(BIN)/python docs/make_workloads.py --check

lint: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup
	$(BIN)/python docs/make_help.py
	$(BIN)/python docs/make_claims.py
	$(BIN)/python docs/make_workloads.py
	$(BIN)/python -m tests.docs.examples

# Exit status 1 of an import says that published files are damaged, which some are.
ROUNDS := 0.5 0.6 0.7 1.0 1.1 2.0 2.1 3.0 3.1 4.0 4.1 5.0 5.1
REPOS ?= $(ROUNDS:%=https://github.com/mlcommons/training_results_v%)
catalogue: setup
	@$(BIN)/trainmark import --catalogue build/catalogue --out src/trainmark/catalogue/data \
		$(REPOS) || test $$? -eq 1

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name '*.egg-info' -type d -prune -exec rm -rf {} +
