# Krein: the front door. The build itself is CMake's; this file is what one types.
#
#   make CMAKE_FLAGS="-DCMAKE_C_COMPILER=clang"      other CMake settings
#   make check V=1                                   show the output of every test

JOBS := $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
PREFIX ?= /usr/local
DESTDIR ?=
CMAKE_FLAGS =
PYTHON ?= /usr/bin/python3
TABULAR =

# Our -j, not the jobserver of a `make -j` above us.
quiet_make = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL
build = $(quiet_make) cmake --build build -j $(JOBS) --target

.NOTPARALLEL:
.PHONY: all configure tests python demo check check-python-current asan tsan bench bench-tabular report-examples format lint install clean help

all: configure ## build the program and the libraries into build/ (the default)
	@$(build) product

configure:
	@command -v cmake >/dev/null || { echo "cmake is not here; scripts/deps.sh installs what the build needs" >&2; exit 1; }
	@mkdir -p build
	@cmake -S . -B build -DCMAKE_BUILD_TYPE=Release $(CMAKE_FLAGS) >build/configure.log 2>&1 \
	  || { cat build/configure.log >&2; exit 1; }

tests: configure ## build the tests into build/tests/ as well
	@$(build) product tests examples

python: ## build the Python wheel into build/ (docs/wheel.md)
	@scripts/deps.sh wheel
	@$(PYTHON) python/backend.py build

demo: ## install what is missing, build, and take the two-minute tour
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory all
	@build/krein demo

check: ## install what is missing, then build and test everything, again under sanitizers
	@scripts/deps.sh wheel python test
	@scripts/deps.sh mpi || echo "going on without MPI"
	@scripts/deps.sh browser || echo "going on without a browser"
	@scripts/check.sh

check-python-current: all ## the Python package with the newest NumPy, SciPy, scikit-learn and pandas, from the package index
	@scripts/deps.sh python
	@scripts/python_current.sh --install

asan: ## the unit and command line tests under the address and undefined sanitizers
	@scripts/deps.sh test
	@scripts/deps.sh mpi || echo "going on without MPI"
	@scripts/check.sh asan

tsan: ## the unit tests under the thread sanitizer (clang)
	@scripts/deps.sh test tsan
	@scripts/check.sh tsan

bench: ## build the benchmark programs into build/bench/ and run bench/run.sh
	@scripts/deps.sh bench
	@$(MAKE) --no-print-directory configure CMAKE_FLAGS="$(CMAKE_FLAGS) -DKREIN_BENCH=ON"
	@$(build) product bench
	@KREIN="$(CURDIR)/build/krein" bash bench/run.sh

report-examples: all ## four reports and pictures of them (light, dark, phone, print) into build/report-examples/
	@scripts/deps.sh browser || echo "going on without a browser: pages, no pictures"
	@KREIN="$(CURDIR)/build/krein" PYTHON="$(PYTHON)" scripts/report-examples.sh build/report-examples

bench-tabular: all ## krein beside gradient boosting on the tables of KREIN_DATA (bench/tabular.py; TABULAR="--half dev")
	@scripts/deps.sh bench
	@KREIN="$(CURDIR)/build/krein" $(PYTHON) bench/tabular.py $(TABULAR)

format: ## rewrite the C files in the style of .clang-format
	@scripts/lint.sh format

lint: ## clang-format (check only), clang-tidy and cppcheck
	@scripts/deps.sh lint
	@scripts/lint.sh

install: all ## install under PREFIX (/usr/local), inside DESTDIR where given
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(abspath $(PREFIX))"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig 2>/dev/null || true; fi

clean: ## remove everything that was built
	@rm -rf build build-check build-clang build-asan build-tsan build-lint python/krein/lib

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name text; do printf '%-27s %s\n' "$$name" "$$text"; done
