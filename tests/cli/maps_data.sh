#!/usr/bin/env bash
# Maps that look at the data: nystrom's landmarks, leverage, surrogate, aligned, from the data file to
# the predictions of a saved model.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=500
[[ $SANITIZED ]] && n=150
fixed=(-k 'gaussian(sigma=4)' -l 1e-4)

"$KREIN" generate friedman -n $n -o reg.csv >/dev/null || fail "generate"
"$KREIN" generate friedman -n 100 -s 2 -o regtest.csv >/dev/null
"$KREIN" generate blobs -n $n -o cls.csv >/dev/null
"$KREIN" generate blobs -n 100 -s 2 -o clstest.csv >/dev/null
sparse() { awk -F, 'NR > 1 { printf "%s", $1; for (j = 2; j <= NF; j++) if ($j > 0) printf " %d:%s", j - 1, $j; print "" }' "$1"; }
sparse reg.csv >reg.libsvm
sparse regtest.csv >regtest.libsvm

# ---- train, save, load, predict ----
for map in 'nystrom(D=40, landmarks=kmeans)' 'nystrom(D=40, landmarks=leverage)' 'leverage(D=60)' \
    'leverage(D=60, pool=2, lambda=0.1)' 'surrogate(D=60)' 'aligned(D=60)' 'aligned(D=200)' \
    'aligned(D=60, pool=5, rho=20)'; do
    for data in reg.csv cls.csv reg.libsvm; do
        test=${data/./test.}
        run train "$data" "${fixed[@]}" -m "$map" --test "$test" --json -o m.krein
        ok "train $data $map"
        cp out trained
        run evaluate m.krein "$test" --json
        ok "evaluate $data $map"
        if "$PYTHON" -c '
import json
a, b = (json.load(open(f)) for f in ("trained", "out"))
a, b = a["test"], b["metrics"]
assert all(abs(a[k] - b[k]) < 1e-6 for k in a if isinstance(a[k], float)), (a, b)
assert a.get("r2", 1) > 0.3 and a.get("error", 0) < 0.3, a
' 2>why; then pass; else fail "a loaded model is the trained one: $data $map" "$(tail -1 why)"; fi
        run predict m.krein "$test"
        ok "predict $data $map"
        is "one prediction a row: $data $map" 100 "$(grep -c . out)"
    done
done
# The same model again; the map that is reported makes it too.
run train reg.csv "${fixed[@]}" -m 'aligned(D=50)' -q -o a.krein
run train reg.csv "${fixed[@]}" -m 'aligned(D=50, pool=10, rho=0)' --threads 1 -q -o b.krein
is "the same bits" "$(cksum <a.krein)" "$(cksum <b.krein)"
run info a.krein
has "info" out '^map +aligned\(D=50, pool=10, rho=0\)'
run plan reg.csv "${fixed[@]}" -m 'leverage(D=60)'
ok "plan"

# ---- landmarks from a file ----
seq 5 5 100 >numbers.csv
(head -1 reg.csv && sed -n '6~5p' reg.csv | head -20) >rows.csv
run train reg.csv "${fixed[@]}" -m 'nystrom(file=numbers.csv)' -q -o numbers.krein
ok "row numbers"
run train reg.csv "${fixed[@]}" -m 'nystrom(file="rows.csv")' --json -o rows.krein
ok "rows"
json "features" 'j["D"] == 20 and "rows.csv" in j["map"]'
"$KREIN" predict numbers.krein regtest.csv >p1
"$KREIN" predict rows.krein regtest.csv >p2
is "rows and their numbers are the same" "$(cksum <p1)" "$(cksum <p2)"
rm rows.csv
run predict rows.krein regtest.csv
ok "the model holds its landmarks"
run train reg.csv "${fixed[@]}" -m 'nystrom(file=rows.csv)' -o r.krein
status "no such file" 1
has "no such file" err 'rows.csv'
echo 100000 >numbers.csv
run train reg.csv "${fixed[@]}" -m 'nystrom(file=numbers.csv)' -o r.krein
status "no such row" 1
has "no such row" err "numbered from 1 to $n"
seq 1 30 >numbers.csv
run train reg.csv "${fixed[@]}" -m 'nystrom(file=numbers.csv, D=10)' -o r.krein
status "more than D" 2
has "more than D" err 'raise it'
tail -n 30 reg.csv | cut -d, -f2- >inputs.csv # no header, and no label
run transform reg.csv "${fixed[@]:0:2}" -m 'nystrom(file=inputs.csv, D=30)' -o z.npy
ok "landmarks of inputs alone"
cut -d, -f2- inputs.csv >few.csv
run transform reg.csv "${fixed[@]:0:2}" -m 'nystrom(file=few.csv, D=30)' -o z.npy
status "landmarks with too few columns" 1
has "landmarks with too few columns" err 'few.csv has 9 columns; expected are 11 as in the training data or 10 with the inputs alone'

# ---- labels ----
run transform reg.csv "${fixed[@]:0:2}" -m 'aligned(D=20)' -o z.npy
ok "transform with labels"
has "transform" out '^features +20'
for map in aligned surrogate; do
    run transform reg.csv --label none "${fixed[@]:0:2}" -m $map -D 20 -o z.npy
    status "$map without labels" 2
    has "$map without labels" err "$map needs labels"
done
run transform reg.csv --label none "${fixed[@]:0:2}" -m leverage -D 20 -o z.npy
ok "leverage without labels"
run train reg.csv -k 'gaussian(sigma=1) - gaussian(sigma=3)' -m aligned -o r.krein
status "aligned, indefinite kernel" 2
has "aligned, indefinite kernel" err 'positive definite.*try '
run train reg.csv -k linear -m leverage -o r.krein
status "leverage, linear kernel" 2
has "leverage, linear kernel" err 'leverage needs stationary kernels.*try '
summary
