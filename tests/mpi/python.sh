#!/usr/bin/env bash
# python.sh BUILD -- estimators of the Python package with comm=: processes that have rows of their
# own fit one model; with 1 to 4 processes.
# shellcheck source=tests/mpi/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
root=$(cd "$mpi_tests/../.." && pwd)
export KREIN_LIBRARY=${KREIN_LIBRARY:-$(dirname "$KREIN")/libkrein.so} PYTHONPATH=$root/python
export PYTHONDONTWRITEBYTECODE=1
if [[ ! -e $KREIN_LIBRARY ]]; then
    skip python "the shared library was not built"
    summary
fi
if ! "$PYTHON" -c 'import numpy, scipy' 2>/dev/null; then
    skip python "no NumPy and SciPy for $PYTHON (python3-scipy)"
    summary
fi
if ! "$PYTHON" -c 'import mpi4py' 2>/dev/null; then
    skip python "no mpi4py for $PYTHON (python3-mpi4py)"
    summary
fi
for n in 1 2 3 4; do
    launch "$n" "$PYTHON" "$root/python/tests/mpi_rows.py" >out 2>err
    rc=$? command="mpi_rows.py on $n processes"
    is "$n processes: status" 0 "$rc"
    has "$n processes: what it says" out "^all good on $n, [0-9]+ checks$"
    ((rc == 0)) || { cat out; tail -n 20 err; }
done
summary
