# A fresh clone needs only Python 3.11 or newer and make: every target that runs something first sees to .venv.
PYTHON ?= python3
WORKERS ?= 2
DEMO ?= instances/tiny/preempt-one-is-enough.json

BIN := .venv/bin
READY := .venv/.ready

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv browser demo test live outside proofs cover lint format bench bench-quick docs mutants corpora adapters real study-openb lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(READY) ## set up .venv from the lock file; the other targets do it when needed

# The lock names everything: nothing is resolved anew (--no-deps), so no later release of anything changes what is set up.
$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	@echo "Setting up .venv; this takes a minute or two, once."
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q cpsched
	@$(BIN)/python -m pip check
	@touch $@

# The report is tested in a real Chromium. Where it cannot be installed, those tests say that they did not run.
browser: ## install Chromium for the report's tests, if it is missing and apt-get may
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
		command -v $$name >/dev/null && exit 0; \
	done; \
	if [ "$$(id -u)" = 0 ]; then as_root=; else as_root="sudo -n"; fi; \
	if command -v apt-get >/dev/null && $$as_root true 2>/dev/null; then \
		echo "Installing Chromium for the report's tests."; \
		$$as_root apt-get update -qq && \
		$$as_root env DEBIAN_FRONTEND=noninteractive \
			apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null && exit 0; \
	fi; \
	echo "No Chromium, and none could be installed: the tests in tests/browser will not run."

demo: $(READY) ## find the provably best decision for a small cluster (DEMO=FILE for another)
	$(BIN)/cpsched solve $(DEMO)

test: $(READY) browser ## run the tests (ARGS="-k gang" for some of them)
	@echo "tests/live does not run here, because it needs a real control plane: make live"
	@echo "tests/outside does not run here, because it needs programs written by others: make outside"
	$(BIN)/python -m pytest --quiet -n $(WORKERS) $(ARGS)

# Not part of `make test`: it builds Kubernetes from released modules, once, into XDG_CACHE_HOME or ~/.cache.
live: $(READY) ## test against a real control plane on loopback (needs Go, etcd and openssl; 10 minutes to build, once)
	@$(BIN)/python -m tests.live.build
	$(BIN)/python -m pytest --quiet -n 0 tests/live $(ARGS)

# VeriPB is built by cargo from its released crate, once, into XDG_CACHE_HOME or ~/.cache; viprchk is asked where it is installed.
OUTSIDE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/cpsched-outside
outside: $(READY) ## have proofs checked by programs written by others (VeriPB by cargo, ten minutes to build, once)
	@command -v veripb >/dev/null || test -x $(OUTSIDE)/bin/veripb || ! command -v cargo >/dev/null || \
		nice cargo install --quiet --locked veripb --version 3.0.2 --root $(OUTSIDE)
	PATH="$$PATH:$(OUTSIDE)/bin" $(BIN)/python -m tests.outside $(ARGS)

proofs: $(READY) ## write the table of docs/proofs.md anew: how many levels have a proof (minutes)
	$(BIN)/python -m tests.benchmark proofs --write

cover: $(READY) browser ## run the tests and show the lines they leave out
	$(BIN)/python -m pytest --quiet -n $(WORKERS) --cov $(ARGS)

lint: $(READY) ## check style, types, imports and spelling
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell

format: $(READY) ## format the code and mend what ruff can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY) ## run the benchmarks and print their tables (hours)
	$(BIN)/python -m tests.benchmark

bench-quick: $(READY) ## the optimum beside other models on a few sessions (minutes)
	$(BIN)/python -m tests.benchmark grid --seeds 2 --every 16
	$(BIN)/python -m tests.benchmark optimum --seeds 2
	$(BIN)/python -m tests.benchmark vectorpack --every 10

docs: $(READY) ## build the documentation as a site into build/site, links checked, without a network
	$(BIN)/mkdocs build --quiet

mutants: $(READY) ## change the rules one operator at a time and see that tests notice (minutes; ARGS="gang --number 0")
	$(BIN)/python -m tests.mutants $(ARGS)

real: $(READY) ## write docs/real-*.md anew: real decisions against the optimum (minutes; goes on where it stopped)
	$(BIN)/python -m tests.real

adapters: $(READY) ## build the real schedulers as engines from released modules (needs Go; 10 minutes of CPU each, once)
	@$(BIN)/python -m tests.go.adapters $(ARGS)

corpora: $(READY) ## write build/corpora/*.jsonl.gz: issues, smoke (200 cases), nightly (2,000), each proved (ARGS=smoke for one)
	$(BIN)/python -m tests.corpora --jobs $(WORKERS) $(ARGS)

STUDY := build/study-openb
study-openb: $(READY) ## write docs/studies/openb anew from the trace: TRACE=DIR PUBLISHED=DIR (minutes; goes on where it stopped)
	@test -n "$(TRACE)" -a -n "$(PUBLISHED)" || { echo "Give TRACE=DIR (openb_*.csv) and PUBLISHED=DIR (analysis_allo_discrete.csv)."; exit 2; }
	$(BIN)/cpsched generate openb --trace $(TRACE) --set nodes=10,20,40 --set fill=60,80,95 --count 3 -o $(STUDY)/instances
	$(BIN)/cpsched generate openb --trace $(TRACE) --set nodes=80 --set fill=60,80,95 --count 2 -o $(STUDY)/instances
	$(BIN)/cpsched study $(STUDY)/volcano --file docs/studies/openb/volcano.yaml --workers $(WORKERS)
	$(BIN)/cpsched study $(STUDY)/kube --file docs/studies/openb/kube.yaml --workers $(WORKERS)
	$(BIN)/python docs/studies/openb/collect.py $(STUDY)/volcano $(STUDY)/kube
	$(BIN)/python docs/studies/openb/allocation.py $(TRACE) $(PUBLISHED)
	$(BIN)/python docs/studies/openb/page.py

lock: ## write requirements.lock anew from pyproject.toml (UPGRADE=1 takes newer versions too)
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip install --quiet uv
	build/lock/bin/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 \
		--fork-strategy fewest --generate-hashes --no-emit-index-url --no-emit-find-links \
		--no-header --no-annotate --quiet $(if $(UPGRADE),--upgrade) --output-file requirements.lock

clean: ## remove build products and caches; .venv stays
	rm -rf build dist htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find cpsched tests -name __pycache__ -type d -prune -exec rm -rf {} +
