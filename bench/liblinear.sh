#!/usr/bin/env bash
# liblinear.sh [--small] -- linear support vector machines on the same 50,000 x 1,000 dense features, krein's
# solver beside LIBLINEAR's (bench_svm.c). The features are orf's of ijcnn1 (KREIN_DATA), or of generated
# rows where that is not there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
KREIN=${KREIN:-$here/../build/krein}
bench=$(dirname "$KREIN")/bench/bench_svm
[[ -x $bench ]] || { echo "bench_svm: skipped, LIBLINEAR was not there when it was built (liblinear-dev)"; exit 0; }
data=${KREIN_DATA:-$here/../../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
file=$data/ijcnn1.train.csv.gz
if [[ ! -f $file || ${1:-} == --small ]]; then
    file=$work/rows.csv
    "$KREIN" generate checkerboard -n "$([[ ${1:-} == --small ]] && echo 5000 || echo 50000)" -o "$file" -q
fi
"$KREIN" transform "$file" -k "gaussian(sigma=2)" -m "orf(D=1000)" -o "$work/z.npy" -q >/dev/null
"${PYTHON:-/usr/bin/python3}" - "$file" "$work/y.npy" <<'END'
import sys
import numpy as np
import pandas as pd
header = pd.read_csv(sys.argv[1], nrows=1, header=None).iloc[0, 0] == "y"
y = pd.read_csv(sys.argv[1], header=0 if header else None).iloc[:, 0].to_numpy(float)
np.save(sys.argv[2], np.where(y == np.unique(y)[1], 1.0, -1.0))
END
"$bench" "$work/z.npy" "$work/y.npy" 0.1 1 8 64
