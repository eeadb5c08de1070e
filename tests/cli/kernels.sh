#!/usr/bin/env bash
# Kernels from the command line: names, families, domains, derived parameters, matrices in files.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# fails NAME REGEX: not status 0, and the message matches
fails() { if ((rc == 0)); then fail "$1" "status 0"; else has "$1" err "$2"; fi; }

run list kernels
ok "list kernels"
for k in gaussian laplacian exponential cauchy matern rq periodic anova linear poly tanh epanechnikov tl1 \
    arccos ntk spline chi2 intersection precomputed; do
    has "list has $k" out "^$k "
done
has "families" out '^ +radial, positive definite$'
has "indefinite" out '^ +dot product, indefinite$'
has "on unit rows" out '^ +.*positive definite on unit rows$'
run help chi2
ok "help chi2"
run help sigmoid
ok "help: the other name"
has "help: tanh by its other name" out '^tanh \(kernel\)'
run help chi2
has "help: family" out '^  Additive, positive definite\.$'
run list --json
json "list --json: family" '[e["family"] for e in j["entries"] if e["name"] == "tl1"] == ["stationary, indefinite"]'

"$KREIN" generate friedman -n 120 -o f.csv >/dev/null || fail "generate"
for k in exponential rq periodic 'tanh(gamma=0.1)' epanechnikov tl1 arccos ntk; do
    run train f.csv -k "$k" -l 1e-2 -o m.krein --json
    ok "train $k"
done
run train f.csv -k tl1 -l 1e-2 -o m.krein --json
json "tl1: rho is shown" 'j["kernel"] == "tl1(rho=7)"'
run info m.krein --json
json "tl1: rho is kept" 'j["kernel"] == "tl1(rho=7)"'
run train f.csv -k 'sigmoid(gamma=0.1)' -l 1e-2 -o m.krein --json
json "sigmoid is tanh" 'j["kernel"] == "tanh(gamma=0.1, c=0)"'
run train f.csv -k 'rbf(sigma=2)' -l 1e-2 -o m.krein --json
json "rbf is gaussian" 'j["kernel"] == "gaussian(sigma=2)"'
run gram f.csv -k tl1 --scale minmax -o K.npy
has "gram: rho" out 'tl1\(rho=7\)'

# ---- domains ----
for k in chi2 intersection; do
    run train f.csv -k $k -o m.krein
    fails "$k: negative inputs" 'not negative.*--scale minmax'
    run train f.csv -k $k --scale minmax -l 1e-2 -o m.krein
    ok "$k: --scale minmax"
done
run train f.csv -k spline -o m.krein
fails "spline: outside 0 to 1" 'between 0 and 1.*--scale minmax'
run transform f.csv -k chi2 -m nystrom -D 20 -o z.npy
fails "transform: negative inputs" 'not negative'
run gram f.csv -k intersection -o K.npy
fails "gram: negative inputs" 'not negative'
run plan f.csv -k chi2
fails "plan: negative inputs" 'not negative'
run train f.csv -k 'spline(q=3.5)' --scale minmax -m rff -D 64 -l 1e-2 -o m.krein
ok "spline features"
columns() { # WIDTH FILE: 20 rows, and a target
    awk -v d="$1" 'BEGIN { for (i = 0; i < 20; i++) {
        for (j = 0; j < d; j++) printf "%.3f,", (i * (j + 3) * 0.137) % 1
        print i % 7 * 0.5 } }' >"$2"
}
columns 30 wide.csv
run train wide.csv -k spline --scale minmax -l 1 -o m.krein
ok "spline: 30 columns"
has "spline: 30 columns tell little" err 'k\(x, x\) = 9.*on 30 columns.*fewer columns'
run train wide.csv -k spline --scale minmax -m nystrom -D 10 -o m.krein
fails "spline: products of values too large" 'single precision.*fewer columns'
columns 60 wide.csv
run train wide.csv -k spline --scale minmax -m rff -D 10 -o m.krein
fails "spline: features too large" 'k\(x, x\) = 8.*single precision.*fewer columns'
columns 300 wide.csv
run gram wide.csv -k spline --scale minmax -o K.npy
fails "spline: values too large" 'on 300 columns.*few columns'
printf '1 1:0.5 2:0.1\n0 2:0.7\n1 1:0.2\n0 1:0.9 2:0.4\n' >s.libsvm
run train s.libsvm -k spline --scale none -o m.krein
fails "spline: sparse rows" 'sparse rows'
run train s.libsvm -k chi2 --scale none -l 0.1 -o m.krein
ok "chi2: sparse rows"
run gram s.libsvm -k 'anova(c=2,sigma=2)' --scale none --check
ok "anova: sparse rows"
run gram s.libsvm -k 'cauchy(sigma=2)' --scale none --check
has "rounding is no asymmetry" out '^asymmetry .*\(symmetric'

# ---- scales of unscaled rows ----
printf 'y,a,b\n' >huge.csv
for i in 1 2 3 4 5 6 7 8 9; do echo "$((i * i % 7)).5,$((i % 3))e38,$((i % 5))e30"; done >>huge.csv
for k in gaussian cauchy laplacian; do
    run train huge.csv -k $k --scale none -t regression -o m.krein
    ok "$k: rows of 1e38"
    run predict m.krein huge.csv
    ok "$k: rows of 1e38: the model can be read"
done
run train huge.csv -k gaussian --scale none -t regression -m nystrom -D 5 -o m.krein
fails "nystrom: rows of 1e38" 'nystrom: inputs reach 2e\+38.*--scale standard'
run train huge.csv -k gaussian -t regression -m nystrom -D 5 -o m.krein
ok "nystrom: rows of 1e38, scaled"
printf 'y,a\n1,1e14\n2,3e14\n0,2e14\n4,5e14\n' >large.csv
run train large.csv -k poly --scale none -t regression -m nystrom -D 3 -o m.krein
fails "nystrom: large kernel values" 'nystrom: kernel values.*--scale standard'

# ---- precomputed ----
"$KREIN" gram f.csv -k 'gaussian(sigma=3)' -o K.npy >/dev/null
awk -F, -v OFS=, 'NR == 1 { print "y", "row" } NR > 1 { print $1, NR - 2 }' f.csv >rows.csv
run train rows.csv -k 'precomputed(file="K.npy")' -o m.krein
fails "precomputed: scaled" '--scale none'
run train rows.csv -k 'precomputed(file="K.npy")' --scale none -l 1e-3 -o m.krein
ok "precomputed"
"$KREIN" train -q f.csv -k 'gaussian(sigma=3)' -l 1e-3 -o g.krein >/dev/null
"$KREIN" predict m.krein rows.csv >p1 && "$KREIN" predict g.krein f.csv >p2
if "$PYTHON" -c 'a, b = ([float(x) for x in open(f)] for f in ("p1", "p2")); assert len(a) == 120 and max(abs(x - y) for x, y in zip(a, b)) < 1e-4'; then
    pass
else
    fail "precomputed predicts as the kernel does"
fi
run train rows.csv -k 'precomputed(file="K.npy")' --scale none -m nystrom -D 40 -l 1e-3 -o m.krein
ok "precomputed: nystrom"
run train f.csv -k 'precomputed(file="K.npy")' --scale none -o m.krein
fails "precomputed: ten inputs" 'one input'
sed 's/,5$/,500/' rows.csv >far.csv
run train far.csv -k 'precomputed(file="K.npy")' --scale none -o m.krein
fails "precomputed: no such row" 'row 6: 500'
run train rows.csv -k precomputed --scale none -o m.krein
fails "precomputed: no file" 'file='
run train rows.csv -k 'precomputed(file="none.npy")' --scale none -o m.krein
fails "precomputed: file is missing" 'none.npy'
summary
