#!/usr/bin/env bash
# python.sh [test_NAME ...] -- the tests of the Python package, python/tests/test_*.py.
#
# They run on /usr/bin/python3, or the python3 of the path, whichever has NumPy and SciPy; PYTHON
# names another. What needs scikit-learn, pandas or joblib is skipped, and said so, where they are
# not installed. Environment: KREIN_LIBRARY (build/libkrein.so), KREIN (build/krein). The last line is
# "N passed, N failed[, N skipped]".
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export KREIN=${KREIN:-$PWD/build/krein} KREIN_LIBRARY=${KREIN_LIBRARY:-$PWD/build/libkrein.so}
export PYTHONDONTWRITEBYTECODE=1

interpreter=''
for candidate in "${PYTHON:-/usr/bin/python3}" python3; do
    if "$candidate" -c 'import numpy, scipy' 2>/dev/null; then
        interpreter=$candidate
        break
    fi
done
if [[ -z $interpreter ]]; then
    echo "skipped: python package: no python3 with NumPy and SciPy (scripts/deps.sh test installs them)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

# NumPy may hold the OpenBLAS that libkrein links, and then it has been loaded before: on a CPU that
# it does not know the program sets OPENBLAS_CORETYPE for itself, and the results are compared.
if [[ -z ${OPENBLAS_CORETYPE:-} ]]; then
    core=$("$interpreter" - <<'END'
import ctypes, os
library, better = ctypes.CDLL(os.environ["KREIN_LIBRARY"]), ctypes.c_char_p()
library.krein_blas_core(ctypes.byref(better))
print((better.value or b"").decode())
END
    ) || core=''
    [[ -n $core ]] && export OPENBLAS_CORETYPE=$core
fi

exec "$interpreter" python/tests/run.py "$@"
