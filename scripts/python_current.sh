#!/usr/bin/env bash
# python_current.sh [--install] [test_NAME ...] -- the tests of the Python package with the current releases.
#
# KREIN_PYTHON_CURRENT names a Python that has the newest NumPy, SciPy, scikit-learn and pandas of the Python
# package index, for example that of a venv. Where it is not set the tests are skipped, and that is said.
# --install makes such a venv, build/python-current, or brings it up to date, and uses it (make
# check-python-current). Environment otherwise and last line as for scripts/python.sh.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
packages=(numpy scipy scikit-learn pandas tqdm)
folder=build/python-current

skip() { # why
    echo "skipped: python package with current releases: $1"
    echo "0 passed, 0 failed, 1 skipped"
}

# 0 where the venv is there and up to date.
install() {
    mkdir -p build
    if [[ ! -x $folder/bin/pip ]]; then
        rm -rf "$folder"
        "${PYTHON:-/usr/bin/python3}" -m venv "$folder" >build/python-current.log 2>&1 || return 1
    fi
    "$folder/bin/pip" install -q --disable-pip-version-check --timeout 15 --retries 1 --only-binary :all: \
        --upgrade "${packages[@]}" >build/python-current.log 2>&1
}

interpreter=${KREIN_PYTHON_CURRENT:-}
if [[ ${1:-} == --install ]]; then
    shift
    if ! install; then
        tail -n 5 build/python-current.log >&2
        skip "no venv with ${packages[*]} could be made (all of it: build/python-current.log)"
        exit 1
    fi
    interpreter=$folder/bin/python
fi
if [[ -z $interpreter ]]; then
    skip "KREIN_PYTHON_CURRENT names no Python (make check-python-current makes one and runs them)"
    exit 0
fi
if ! "$interpreter" -c 'import numpy, scipy, sklearn, pandas; assert int(numpy.__version__.split(".")[0]) > 1'; then
    echo "FAILED: $interpreter (KREIN_PYTHON_CURRENT) does not have NumPy 2, SciPy, scikit-learn and pandas"
    echo "0 passed, 1 failed"
    exit 1
fi
PYTHON=$interpreter exec scripts/python.sh "$@"
