#!/usr/bin/env bash
# multiclass.sh -- one machine for all classes: svm(multi=crammer) and svm(multi=gmnp) on the kernel matrix, the l1
# penalty, and the weighing mcmkl.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

n=240
[[ $SANITIZED ]] && n=120
"$PYTHON" - "$n" <<'PY'
import math, random, sys
random.seed(7)
def rows(name, n):
    with open(name, "w") as f:
        f.write("class,a,b,c\n")
        for i in range(n):
            k = i % 3
            t = random.uniform(0, 2 * math.pi)
            r = 1 + k + random.gauss(0, 0.25)
            f.write(f"{'xyz'[k]},{r * math.cos(t):.6f},{r * math.sin(t):.6f},{random.gauss(0, 1):.6f}\n")
rows("many.csv", int(sys.argv[1]))
rows("manytest.csv", 150)
PY
gauss=(-k 'gaussian(sigma=1)')

# ---- the kernel matrix ----
for multi in crammer gmnp; do
    run train many.csv --learner "svm(multi=$multi)" "${gauss[@]}" --test manytest.csv --probabilities -o $multi.krein --json
    ok "$multi"
    json "$multi: the kernel matrix is the default" 'j["map"] == "exact" and j["cv"]["folds"] == 5'
    json "$multi: good" 'j["test"]["accuracy"] > 0.85 and j["test"]["log_loss"] < 0.5'
    run predict $multi.krein manytest.csv --scores --json
    json "$multi: a score a class" 'all(len(s) == 3 for s in j["scores"])'
    run train many.csv -j 1 --learner "svm(C=4, multi=$multi)" "${gauss[@]}" -o t1.krein
    run train many.csv -j 2 --learner "svm(C=4, multi=$multi)" "${gauss[@]}" -o t2.krein
    ok "$multi: two threads"
    cmp -s t1.krein t2.krein && pass || fail "$multi: the same model on one and two threads"
    run train many.csv --learner "svm(C=4, multi=$multi, intercept=no)" "${gauss[@]}" -m exact -o m.krein
    ok "$multi: no intercept"
    run plan many.csv --learner "svm(multi=$multi)" "${gauss[@]}" -m exact --json
    ok "$multi: plan"
done

# Kernel values from a file: the same machine.
"$KREIN" gram many.csv --label class "${gauss[@]}" -o K.npy >/dev/null || fail "gram"
awk -F, -v OFS=, 'NR == 1 { print "class", "row" } NR > 1 { print $1, NR - 2 }' many.csv >rows.csv
for multi in crammer gmnp; do
    run train rows.csv -k 'precomputed(file="K.npy")' --scale none --learner "svm(C=4, multi=$multi)" -o p.krein
    ok "$multi: precomputed"
    "$KREIN" train -q many.csv --learner "svm(C=4, multi=$multi)" "${gauss[@]}" -m exact -o g.krein >/dev/null
    "$KREIN" predict p.krein rows.csv --scores --json >p1 2>/dev/null
    "$KREIN" predict g.krein many.csv --scores --json >p2 2>/dev/null
    if "$PYTHON" -c '
import json
a, b = (json.load(open(f))["scores"] for f in ("p1", "p2"))
assert len(a) == len(b) > 100
assert max(abs(x - y) for r, s in zip(a, b) for x, y in zip(r, s)) < 0.05'; then pass; else fail "$multi: precomputed predicts as the kernel does"; fi
done
# A matrix that is none of a positive definite kernel.
"$PYTHON" - <<'PY'
import numpy as np
K = np.load("K.npy")
np.save("bad.npy", (2 * np.eye(len(K)) - K).astype(K.dtype))
PY
run train rows.csv -k 'precomputed(file="bad.npy")' --scale none --learner "svm(C=100, multi=crammer)" -o p.krein
status "not positive" 1
has "not positive: says so" err 'not positive semidefinite.*spectrum=clip'
run train rows.csv -k 'precomputed(file="bad.npy")' --scale none --learner "svm(C=100, multi=crammer, spectrum=clip)" -o p.krein
ok "not positive, clipped"

# Weights are copies.
awk -F, -v OFS=, 'NR == 1 { print $0, "w"; next } { print $0, int(NR / 3) % 3 }' many.csv >w.csv
awk -F, 'NR == 1 { print; next } { for (i = 0; i < int(NR / 3) % 3; i++) print }' many.csv >copies.csv
for multi in crammer gmnp; do
    run train w.csv --weights w --learner "svm(C=4, multi=$multi, tol=1e-6)" "${gauss[@]}" --scale none -m exact -o w.krein
    ok "$multi: weights"
    run train copies.csv --learner "svm(C=4, multi=$multi, tol=1e-6)" "${gauss[@]}" --scale none -m exact -o c.krein
    "$KREIN" predict w.krein manytest.csv --scores --json >p1 2>/dev/null
    "$KREIN" predict c.krein manytest.csv --scores --json >p2 2>/dev/null
    if "$PYTHON" -c '
import json
a, b = (json.load(open(f))["scores"] for f in ("p1", "p2"))
assert max(abs(x - y) for r, s in zip(a, b) for x, y in zip(r, s)) < 0.02'; then pass; else fail "$multi: weights are copies"; fi
done

# ---- an l1 penalty ----
run train many.csv --learner 'svm(multi=crammer, penalty=l1)' -k linear --test manytest.csv -o l1.krein --json
ok "l1"
json "l1: features" 'j["map"].startswith("explicit") and "penalty=l1" in j["learner"]'
run train many.csv --learner 'svm(C=0.01, multi=crammer, penalty=l1)' -k 'poly(degree=2)' -m explicit -o l1.krein
ok "l1, quadratic"
"$KREIN" generate moons -n $n --noise 0.15 -o two.csv >/dev/null
run train two.csv --learner 'svm(multi=crammer, penalty=l1)' -k 'poly(degree=3)' -m explicit -o l1.krein --json
ok "l1, two classes"
run evaluate l1.krein two.csv --json
json "l1, two classes: good" 'j["metrics"]["accuracy"] > 0.85'

# ---- several kernels ----
family='gaussian(sigma=0.25..8:4); linear'
for p in 1 2; do
    run train many.csv --learner "mkl(method=mcmkl, p=$p, base=svm, multi=crammer)" --kernels "$family" --test manytest.csv -o m$p.krein --json
    ok "mcmkl, p=$p"
    json "mcmkl, p=$p: good" 'j["test"]["accuracy"] > 0.75 and "multi=crammer" in j["learner"] and len(j["weights"]) == 5'
    json "mcmkl, p=$p: weights" 'abs(sum(w["weight"] for w in j["weights"]) - 1) < 1e-9 and min(w["weight"] for w in j["weights"]) >= 0'
    spec=$("$PYTHON" -c 'import json; print(json.load(open("out"))["learner"])')
    run train many.csv --learner "$spec" --kernels "$family" -j 1 -o again.krein
    ok "mcmkl, p=$p: the spec that is reported"
done
run train many.csv --learner "mkl(method=mcmkl, p=1, cost=2)" --kernels "$family" -o m.krein --json
ok "mcmkl with krr, cost given"
json "mcmkl: the linear kernel is of no use" '[w["weight"] for w in j["weights"] if w["kernel"] == "linear"][0] < 0.05'
run train many.csv --learner "mkl(method=mcmkl, base=svm, multi=crammer)" --kernels "gaussian(sigma=0.25..8:4)" -D 400 -m rff -o m.krein
ok "mcmkl, features"
run train w.csv --weights w --learner "mkl(method=mcmkl, cost=2)" --kernels "$family" -o m.krein
ok "mcmkl with weights"

# ---- wrong ----
wrong() { # NAME STATUS REGEX ARGS...
    local name=$1 code=$2 regex=$3
    shift 3
    run train "$@" -o wrong.krein
    status "$name" "$code"
    has "$name" err "$regex"
}
wrong "gmnp on features" 2 'multi=gmnp.*kernel matrix.*multi=crammer' many.csv --learner 'svm(multi=gmnp)' "${gauss[@]}" -m rff
wrong "crammer and hinge2" 2 'multi=crammer.*hinge loss.*gmnp' many.csv --learner 'svm(multi=crammer, loss=hinge2)' "${gauss[@]}"
wrong "indefinite as it is" 2 'positive definite.*spectrum=clip' many.csv --learner 'svm(multi=crammer)' -k tanh -m exact
wrong "l1 and pairs" 2 'multi=crammer' many.csv --learner 'svm(penalty=l1)' "${gauss[@]}"
wrong "l1 and the kernel matrix" 2 'works on features' many.csv --learner 'svm(multi=crammer, penalty=l1)' "${gauss[@]}" -m exact
wrong "l1 and many features" 2 '4096 weights' many.csv --learner 'svm(multi=crammer, penalty=l1, C=1)' "${gauss[@]}" -m rff -D 4000
wrong "no such word" 2 'ovr\|ovo\|crammer\|gmnp|ovr' many.csv --learner 'svm(multi=ws)'
wrong "mcmkl: cost" 2 'cost' many.csv --learner 'mkl(method=mcmkl, cost=0)' --kernels "$family"
wrong "mcmkl: p" 2 'p' many.csv --learner 'mkl(method=mcmkl, p=0.5)' --kernels "$family"
wrong "multi of krr" 2 'multi' many.csv --learner 'mkl(method=mcmkl, base=krr, multi=crammer)' --kernels "$family"
wrong "too little memory" 1 'max-memory' many.csv --learner 'svm(multi=crammer)' "${gauss[@]}" -m exact --max-memory 300k
"$KREIN" generate friedman -n 60 -o reg.csv >/dev/null
wrong "mcmkl for numbers" 1 'for classes' reg.csv --learner 'mkl(method=mcmkl)' --kernels "$family" -t regression
awk -F, 'NR == 1 || $1 == "x"' many.csv >single.csv
wrong "one class" 1 'class' single.csv --learner 'svm(multi=crammer)' --task classification
[[ ! -e wrong.krein ]] && pass || fail "no model of what is refused"
no_leftovers "multiclass"
summary
