# Everything runs from .venv, which is made on first use; `make clean` removes what is built and keeps it.
PYTHON ?= python3
BIN := .venv/bin
ASV := $(BIN)/asv --config benchmarks/asv.conf.json

.PHONY: demo test slow lint docs papers bench bench-smoke bench-check versus nojit boundscheck clean
.NOTPARALLEL:

demo: .venv/.demo
	$(BIN)/fastfair demo --seed 0 --output build/demo --plots

test: .venv/.test
	$(BIN)/pytest -n 2 -m "not slow" --doctest-modules tests fastfair

# One test builds commits with asv.
slow: .venv/.test .venv/.bench
	$(BIN)/pytest -m slow

# kernels/ is installed as fastfair.kernels, so mypy is shown a copy with everything in its place.
lint: .venv/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf build/typing
	mkdir -p build/typing
	cp -R fastfair build/typing/fastfair
	cp -R kernels build/typing/fastfair/kernels
	cd build/typing && ../../$(BIN)/mypy --config-file ../../pyproject.toml fastfair

# The builders run inside docs/, where the examples find their sample files. `make docs PAPERS=` has the papers' pages
# from a complete run, ten minutes instead of one and a half.
PAPERS ?= --quick
docs: .venv/.docs
	rm -rf docs/generated
	$(BIN)/fastfair papers $(PAPERS) --output docs/generated/papers
	cd docs && ../$(BIN)/sphinx-build -q -W --keep-going -b html . ../build/docs
	cd docs && ../$(BIN)/sphinx-build -q -W --keep-going -b doctest . ../build/doctest
	@echo "build/docs/index.html"

papers: .venv/.demo
	$(BIN)/fastfair papers --output build/papers

# asv asks about the machine unless it has been told to take what it finds.
bench: .venv/.bench
	$(ASV) machine --yes
	$(ASV) run --quick --show-stderr "HEAD^!"

# Every benchmark once, in .venv: fails where one raises.
bench-smoke: .venv/.bench
	$(ASV) machine --yes
	$(ASV) run --python=same --quick --show-stderr --dry-run

# Fails where HEAD is slower than the last release, or than the commit before it.
bench-check: .venv/.bench
	$(BIN)/python -m benchmarks.check

versus: .venv/.bench
	$(BIN)/python -m benchmarks.versus --output build/versus

nojit: .venv/.test
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 -m "not slow and not jit" \
		--cov=fastfair --cov=kernels --cov-branch --cov-report=term-missing:skip-covered

boundscheck: .venv/.test
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n 2 -m "not slow"

clean:
	rm -rf build docs/generated .asv .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find fastfair kernels tests benchmarks docs -name __pycache__ -prune -exec rm -rf {} +

# mypy finds other errors where a package is missing, so linting installs what the tests do.
EXTRAS_demo := demo
EXTRAS_test := test,demo
EXTRAS_lint := lint,test,demo
EXTRAS_docs := docs
EXTRAS_bench := bench,test,demo

.venv/.%: pyproject.toml | $(BIN)/python
	$(BIN)/pip install -q --disable-pip-version-check -e ".[$(EXTRAS_$*)]"
	@touch $@

$(BIN)/python:
	$(PYTHON) -m venv .venv
