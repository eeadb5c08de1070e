#!/usr/bin/env bash
# auto, binning, hybrid, the default map of sums, sparse features.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

n=1500
"$KREIN" generate friedman -n $n -d 5 -q -o data.csv >/dev/null
"$KREIN" generate friedman -n 200 -d 5 -s 2 -q -o new.csv >/dev/null
head -n 301 data.csv >few.csv # where much is tried

# again KERNEL MAP: a model made again from the specs that it reports has the same predictions
again() {
    run train data.csv -k "$1" ${2:+-m "$2"} -D 200 -l 1e-4 -o a.krein --json
    ok "train $1 $2"
    spec() { "$PYTHON" -c 'import json, sys; print(json.load(open("out"))[sys.argv[1]])' "$1"; }
    kernel=$(spec kernel) map=$(spec map)
    case $map in "$3"*) pass ;; *) fail "map of $1" "$map" ;; esac
    run train data.csv -k "$kernel" -m "$map" -l 1e-4 -o b.krein
    ok "train again: $map"
    run predict a.krein new.csv -o a.txt
    ok "predict $1 $2"
    run predict b.krein new.csv -o b.txt
    is "same predictions: $1 $2" "$(cksum <a.txt)" "$(cksum <b.txt)"
    run info a.krein
    ok "info $1 $2"
    has "info names the map" out "^map +${3%%(*}"
}
again 'gaussian(sigma=2) + 0.5*linear' '' 'auto(D=200)'
again 'gaussian(sigma=2) - 0.1*poly(degree=2) + laplacian(sigma=4)' '' 'auto(D=200)'
again 'linear' '' explicit
again 'laplacian(sigma=8)' 'binning' 'binning(D=200)'
again '0.5*laplacian(sigma=8)' 'hybrid(share=0.25)' 'hybrid(D=200, share=0.25)'
again 'gaussian(sigma=2) + tl1' '' 'auto(D=200)'
again 'gaussian(sigma=2) - 0.2*linear*tl1 + 0.5*linear' '' 'auto(D=200)'
again 'tl1 + 0.1*tanh' '' 'nystrom(D=200, landmarks=uniform, bits=32)'

# a free parameter of one term is selected with the map of the whole
run train few.csv -k 'gaussian + 0.5*linear' -D 128 -o a.krein
ok "a free parameter beside linear"
has "selected" out 'sigma='
run plan data.csv -k 'gaussian(sigma=2) + 0.5*linear' -D 200
ok plan
has "plan names the map" out 'auto\(D=200\)'
run plan data.csv -k 'gaussian + tl1' -D 200
ok "plan with landmarks"
has "plan names the map of a sum with landmarks" out 'auto\(D=200\)'
run train few.csv -k 'gaussian + tl1' -D 64 -o a.krein
ok "a free parameter beside landmarks"
has "selected beside landmarks" out 'sigma='
run approx data.csv -k 'gaussian(sigma=2) + 0.3*linear*matern(sigma=3)' -m auto -m orf -D 64 --rows 200
status "approx: orf does not take it" 2
run approx data.csv -k 'gaussian(sigma=2) + 0.3*linear*matern(sigma=3)' -m auto -m nystrom -D 64 --rows 200
ok "approx with landmarks in a sum"
has "approx names both" out '^auto\(D=64\) +64 +0\.'
run train data.csv -k 'gaussian(sigma=2)*linear' -m 'auto(D=50)' -l 1e-3 -o a.krein
ok "auto of one term"
run train data.csv -k linear -D 3 -l 1e-3 -o a.krein
ok "linear by fewer features than columns"
has "all columns all the same" out '^map +explicit'
has "and that it says so" err 'explicit makes 5 features, one for each column, not 3; .*--map nystrom'
run train data.csv -k 'laplacian(sigma=0.001)' -m 'binning(D=50)' -l 1 -o a.krein
status "binning refuses" 2
has "binning names a way out" err 'raise D or sigma'

# ---- sparse features ----
run transform data.csv -k 'laplacian(sigma=8)' -m 'binning(D=300)' -o z.libsvm
ok "transform to .libsvm"
run transform data.csv -k 'laplacian(sigma=8)' -m 'binning(D=300)' -o z.npy
if "$PYTHON" - <<'PY'; then pass; else fail "z.libsvm is z.npy"; fi
import ast, struct
b = open("z.npy", "rb").read()
n = struct.unpack("<H", b[8:10])[0]
rows, D = ast.literal_eval(b[10:10 + n].decode())["shape"]
v = struct.unpack("<%df" % (rows * D), b[10 + n:])
labels = [float(l.split(",")[0]) for l in list(open("data.csv"))[1:]]
count = set()
for i, line in enumerate(open("z.libsvm")):
    f = line.split()
    assert abs(float(f[0]) - labels[i]) <= 1e-6 * abs(labels[i])
    got = {int(c) - 1: float(x) for c, x in (p.split(":") for p in f[1:])}
    want = {j: v[i * D + j] for j in range(D) if v[i * D + j] != 0}
    assert got.keys() == want.keys() and all(abs(got[j] - want[j]) < 1e-6 for j in want)
    count.add(len(got))
assert i == rows - 1 and len(count) == 1
PY
head -n 300 z.libsvm >few.libsvm
run train few.libsvm -k linear -l 1e-3 -o z.krein
ok "features in, model out"
run transform data.csv -k 'gaussian(sigma=1) - 0.5*linear' -D 40 -o y.libsvm.gz
ok "dense features as .libsvm.gz"
is "rows of it" $n "$(zcat y.libsvm.gz | wc -l)"
if [[ -f y.sign.npy ]]; then pass; else fail "signs beside it"; fi
run transform data.csv -k 'gaussian(sigma=2) - 0.3*linear*gaussian(sigma=2)' -D 40 -o m.npy
ok "transform with landmarks in a sum"
if "$PYTHON" - <<'PY'; then pass; else fail "m.sign.npy: 20 of each"; fi
b = open("m.sign.npy", "rb").read()[-40:]
assert b == b"\x01" * 20 + b"\xff" * 20
assert b"(1500, 40)" in open("m.npy", "rb").read(128)
PY
summary
