# Everything a contributor runs. `make help` lists it; CI runs `make test` and `make check-wheel`.
#
# A fresh machine needs Python 3.11 or newer, cargo and make. uv is used where it is installed,
# and otherwise put into a folder of this project's own (.venv-tools).

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
TOOLS := .venv-tools
UV := $(shell command -v uv 2>/dev/null || echo $(TOOLS)/bin/uv)
RUN := $(UV) run --no-sync
NATIVE := python/ssdscope/_native.abi3.so
OUT := out
DIST := dist

.PHONY: help setup profiled system lab demo test test-rust test-python calibration decisions kills lint \
  format check-stubs check-speed docs screenshots bench wheel check-wheel clean

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(TOOLS)/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "ssdscope needs Python 3.11 or newer; try: make PYTHON=python3.12 setup" >&2; exit 2; }
	$(PYTHON) -m venv $(TOOLS) \
	  || { echo "hint: on Debian and Ubuntu, apt-get install python3-venv" >&2; exit 2; }
	$(TOOLS)/bin/python -m pip install --quiet 'uv>=0.9'

# uv restores the package from its cache without the compiled module if that was deleted while
# the sources stayed (uv issue 11390); only then is the rebuild forced. Bytecode is made here, as
# not every environment lets Python write it: without, a start takes twice as long.
setup: $(filter $(TOOLS)/%,$(UV)) ## Build the package and its environment
	$(UV) sync --quiet --compile-bytecode
	@test -e $(NATIVE) || $(UV) sync --quiet --reinstall-package ssdscope
	@$(RUN) python -m compileall -q python/ssdscope

system: ## Install what some tests need by apt, where that is possible
	@sh scripts/setup-system.sh

# ONLY=nvme,refusals chooses suites and kinds; LAB passes other options of `python -m tests.lab`.
lab: setup ## Try real kernel drivers in QEMU: ONLY=nvme,refusals (10 to 60 minutes; needs root)
	@sh scripts/setup-lab.sh $(OUT)/lab
	@$(RUN) python -m tests.lab $(if $(ONLY),--only '$(ONLY)') $(LAB)

profiled: setup ## Build the compiled module by a profile of its work: a tenth to a sixth faster
	sh scripts/build-profiled.sh

demo: setup ## Look into a simulated drive of a paper and write a page about it, in a minute
	@mkdir -p $(OUT)
	$(RUN) python examples/make_trace.py $(OUT)/checkpoints.spc
	$(RUN) ssdscope characterize sim:ryu-a --budget 20s \
	  --trace $(OUT)/checkpoints.spc --seed 1 -O $(OUT)/demo.html --json $(OUT)/demo.json
	@echo
	@echo "The page is $(CURDIR)/$(OUT)/demo.html"

test: system setup lint test-rust check-stubs check-speed test-python ## Run everything CI runs, but for check-wheel

test-rust:
	cargo test --workspace --quiet
	cargo test --release --quiet -p ssdscope-sim --test determinism --test theory --test mqsim_gc
	cargo test --release --quiet -p ssdscope-sim --lib ten_million

# Side by side on all cores; a core that has none left takes tests over from another. Each core is
# busy with its own then, and threads of BLAS would only wait for each other.
SIDE_BY_SIDE := -n auto --dist worksteal
test-python calibration decisions: export OMP_NUM_THREADS = 1
test-python calibration decisions: export OPENBLAS_NUM_THREADS = 1

test-python:
	$(RUN) pytest $(SIDE_BY_SIDE)

calibration: setup ## Try what only many drives or repetitions decide (minutes)
	$(RUN) pytest $(SIDE_BY_SIDE) -m calibration

kills: export SSDSCOPE_KILLS ?= 60
kills: setup ## Kill every long command at 60 moments and run it again (half an hour); prints its seed
	$(RUN) pytest -rA -n auto --dist worksteal tests/integration/test_kills.py

# The hook that counts is compiled into the tests, so they get a cache of bytecode of their own.
decisions: setup ## Count what the tests decide, and what each takes of a processor
	PYTHONPYCACHEPREFIX=$(OUT)/pycache $(RUN) python -m pytest -q $(SIDE_BY_SIDE) \
	  -p tests.decisions -o enable_assertion_pass_hook=true

lint: setup ## Formatting, clippy, ruff, mypy; warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(RUN) ruff format --check
	$(RUN) ruff check
	$(RUN) mypy

format: setup ## Format both languages
	cargo fmt --all
	$(RUN) ruff format
	$(RUN) ruff check --fix

check-stubs: setup ## Compare the type stub of the native module with the module
	$(RUN) python -m mypy.stubtest ssdscope._native --allowlist scripts/stubtest-allowlist

check-speed: setup ## Count instructions; none may be 3 % above its last value
	$(RUN) python benchmarks/instructions.py --check

docs: setup ## Run the commands on the pages of docs/ and renew the outputs shown there
	$(RUN) python scripts/docs_outputs.py --renew
	$(RUN) python -m scripts.notebook --renew

screenshots: setup ## Take the pictures of the page in docs/images anew (minutes; needs chromium)
	$(RUN) python scripts/screenshots.py

bench: setup ## Print the figures of speed and memory (minutes; wants a quiet machine)
	$(RUN) python benchmarks/run.py

wheel: $(filter $(TOOLS)/%,$(UV)) ## Build dist/ssdscope-….whl, to install without cargo, and the source archive
	UV=$(UV) sh scripts/build-wheel.sh $(DIST)

check-wheel: setup wheel ## Try the wheel and the archive away from here (minutes)
	SSDSCOPE_DIST=$(CURDIR)/$(DIST) $(RUN) pytest -q tests/e2e/test_wheel.py

clean: ## Remove what was built
	rm -rf $(OUT) $(DIST) .venv .mypy_cache .pytest_cache .ruff_cache $(NATIVE)
	cargo clean
