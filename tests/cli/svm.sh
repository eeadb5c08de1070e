#!/usr/bin/env bash
# Support vector machines as a user trains them: svm for classes, svr for numbers, C given or chosen,
# what is printed, JSON, and what is refused.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=500
[[ $SANITIZED ]] && n=200

"$KREIN" generate moons -n $n --noise 0.15 -o two.csv >/dev/null || fail "generate"
"$KREIN" generate moons -n 300 -s 2 --noise 0.15 -o twotest.csv >/dev/null
"$KREIN" generate 'blobs(classes=4,separation=3)' -n $n -o num.csv >/dev/null
awk -F, -v OFS=, 'BEGIN { split("red,green,blue,black", c, ",") } NR > 1 { $1 = c[$1 + 1] } { print }' num.csv >many.csv
"$KREIN" generate friedman -n $n -o reg.csv >/dev/null
"$KREIN" generate friedman -n 150 -s 2 -o regtest.csv >/dev/null
gauss=(-k 'gaussian(sigma=0.7)')

# ---- list and help ----
run list learners
has "list: svm" out '^ *svm +support vector machine'
has "list: svr" out '^ *svr +support vector regression'
run list learners --json
json "list --json" '{"svm", "svr"} <= {e["name"] for e in j["entries"]}'
for name in svm svr; do
    run help $name
    ok "help $name"
    for word in C intercept tol; do has "help $name: $word" out "^ +$word "; done
    has "help $name: default" out 'default 0.001'
done
run help svm
has "help svm: words" out 'hinge\|hinge2; default hinge'
run help svr
has "help svr: epsilon" out '^ +epsilon '

# ---- two classes ----
run train two.csv --learner svm "${gauss[@]}" -m 'rff(D=200)' --test twotest.csv -o two.krein
ok "svm, C chosen"
has "svm: says C" out '^learner +svm\(C=[0-9.]+'
has "svm: lambda" out '^lambda +[0-9]'
has "svm: cross-validated" out '^cross-validated [0-9.]+ % error'
lacks "svm: no leave-one-out" out 'leave-one-out'
run train two.csv --learner svm "${gauss[@]}" -m 'rff(D=200)' --test twotest.csv -o again.krein --json
json "svm --json" 'j["loo"] is None and j["cv"]["folds"] == 5 and 0 <= j["cv"]["error"] < 0.1 and set(j["cv"]) == {"error", "folds"}'
json "svm --json: good" 'j["test"]["accuracy"] > 0.95 and j["learner"].startswith("svm(C=")'
json "svm --json: lambda" "abs(j['lambda'] * 2 * $n * float(j['learner'].split('C=')[1].split(',')[0].rstrip(')')) - 1) < 1e-9"
cmp -s two.krein again.krein && pass || fail "the same call, the same model"
spec=$("$PYTHON" -c 'import json; print(json.load(open("out"))["learner"])')
run train two.csv --learner "$spec" "${gauss[@]}" -m 'rff(D=200)' -o given.krein --json
json "C given" 'j["loo"] is None and j["cv"] is None'
cmp -s two.krein given.krein && pass || fail "the reported spec, the same model"
run train two.csv --learner svm "${gauss[@]}" -m 'rff(D=200)' --threads 3 -o threads.krein
cmp -s two.krein threads.krein && pass || fail "three threads, the same model"
run train two.csv --learner 'svm(C=4)' "${gauss[@]}" -m 'rff(D=200)' -o c.krein
ok "C=4"
run train two.csv --learner svm -l "$("$PYTHON" -c "print(1 / (8 * $n))")" "${gauss[@]}" -m 'rff(D=200)' -o l.krein --json
json "lambda as C" 'abs(float(j["learner"].split("C=")[1].split(",")[0].rstrip(")")) - 4) < 1e-9'
run evaluate two.krein twotest.csv --json
json "evaluate" 'j["metrics"]["error"] < 0.05'
run predict two.krein twotest.csv --scores --json
json "predict: one score of two classes" 'all(len(s) == 1 for s in j["scores"]) and j["n"] == 300'
run info two.krein
has "info" out 'svm\(C='

# ---- defaults, exact, several classes ----
run train two.csv --learner svm -o default.krein --json --test twotest.csv
ok "svm by default"
json "the kernel matrix is the default for few rows" 'j["map"] == "exact" and j["test"]["accuracy"] > 0.95 and j["cv"]["folds"] == 5'
for multi in ovr ovo; do
    run train many.csv --learner "svm(C=1, multi=$multi)" -k 'gaussian(sigma=2)' -m 'nystrom(D=60)' --probabilities -o many.krein --json
    ok "svm $multi"
    run evaluate many.krein many.csv --json
    json "svm $multi: good" 'j["metrics"]["accuracy"] > 0.8 and j["metrics"]["log_loss"] < 1'
    run predict many.krein many.csv --probabilities --json
    json "svm $multi: probabilities" 'all(abs(sum(p) - 1) < 1e-9 for p in j["probabilities"])'
done
run train many.csv --learner 'svm(C=1, class_weights=balanced, loss=hinge2)' -k linear -m explicit -o m.krein
ok "balanced, hinge2, linear"

# ---- numbers ----
run train reg.csv --learner svr -k 'gaussian(sigma=3)' -m 'orf(D=150)' --test regtest.csv -o reg.krein
ok "svr"
has "svr: says C and epsilon" out '^learner +svr\(C=[0-9.]+, epsilon=[0-9.]+'
has "svr: cross-validated" out '^cross-validated [0-9.]+ rmse'
run train reg.csv --learner svr -k 'gaussian(sigma=3)' -m 'orf(D=150)' --test regtest.csv -o reg.krein --json
json "svr --json" 'j["loo"] is None and set(j["cv"]) == {"rmse", "folds"} and j["test"]["r2"] > 0.6'
run predict reg.krein regtest.csv
ok "svr predict"
is "svr: a number for each row" 150 "$(wc -l <out)"

# ---- where the held-out error comes from, for krr too ----
run train reg.csv -k 'gaussian(sigma=3)' -o r.krein --json
json "krr: leave-one-out" 'j["cv"] is None and j["loo"]["rmse"] > 0'
for map in exact 'rff(D=64)'; do
    run train reg.csv -k 'gaussian(sigma=3)' -m "$map" --select 'cv(k=4)' -o r.krein --json
    json "krr --select cv, $map" 'j["loo"] is None and j["cv"]["rmse"] > 0 and j["cv"]["folds"] == 4'
done
run train reg.csv -k 'gaussian(sigma=3)' --select 'cv(k=4)' -o r.krein
has "krr --select cv: text" out '^cross-validated [0-9.]+ rmse'
run train two.csv --learner kgd "${gauss[@]}" -o r.krein --json
json "kgd" 'j["loo"] is None and j["cv"]["error"] >= 0 and j["cv"]["folds"] == 5 and j["lambda"] is None'
run info r.krein --json
json "kgd: no lambda in the model" 'j["lambda"] is None'
run info r.krein
ok "kgd: info"
lacks "kgd: no lambda in info" out '^lambda'
run train two.csv --learner kgd "${gauss[@]}" -o r.krein
ok "kgd: text"
lacks "kgd: no lambda in the report" out '^lambda'
run evaluate r.krein two.csv
ok "kgd: the model is read"
run train two.csv --learner svm "${gauss[@]}" -m 'rff(D=50)' --select 'cv(k=3)' -o r.krein --json
json "svm --select cv" 'j["cv"]["folds"] == 3'

# ---- memory, plan, time ----
run plan two.csv --learner svm "${gauss[@]}" -m 'rff(D=200)' --json
ok "plan"
run train two.csv --learner svm "${gauss[@]}" -m 'rff(D=200)' --max-memory 1M -o no.krein
status "too little memory" 1
has "too little memory: the way out" err '--max-memory'
run train two.csv --learner 'svm(tol=1e-9)' "${gauss[@]}" -m 'rff(D=400)' --time-limit 0.01 -o t.krein
((rc <= 1)) && pass || fail "--time-limit" "$(why)"
has "--time-limit: says how far it came" err 'duality gap|--time-limit: svm on'

# The solver ends at its ten millionth step.
awk 'BEGIN { for (i = 1; i <= 24; i++) print (sin(i * i) > 0 ? "a" : "b") "," sin(7 * i) "," cos(5 * i * i) "," sin(3 * i * i + 1) }' >hard.csv
run train hard.csv --learner 'svm(C=1e8, tol=1e-9)' -k linear -m exact -o h.krein
ok "the solver gives up"
has "the solver gives up: the warning" err '^krein: warning: 1 of 1 machines with C = 1e\+08 have not reached tol = 1e-09 in as many steps'

# ---- weights on the kernel matrix: rows as often as they say ----
awk -F, -v OFS=, 'NR == 1 { print $0, "w"; next } { print $0, NR % 4 }' two.csv >weighed.csv
awk -F, -v OFS=, 'NR == 1 { print; next } { for (k = 0; k < NR % 4; k++) print }' two.csv >repeated.csv
run train weighed.csv --weights w --learner 'svm(C=2, tol=1e-6)' "${gauss[@]}" --scale none -o weighed.krein --json
json "weights: the kernel matrix" 'j["map"] == "exact"'
run train repeated.csv --learner 'svm(C=2, tol=1e-6)' "${gauss[@]}" --scale none -m exact -o repeated.krein --json
"$KREIN" predict weighed.krein twotest.csv --scores -o weighed.out -q
"$KREIN" predict repeated.krein twotest.csv --scores -o repeated.out -q
is "weights: as repeated rows" 0 "$(paste -d, weighed.out repeated.out | awk -F, '{ d = $2 - $4; if ($1 != $3 || d * d > 1e-6) n++ } END { print n + 0 }')"

# ---- wrong ----
wrong() { # NAME STATUS REGEX ARGS...
    local name=$1 code=$2 regex=$3
    shift 3
    run train "$@" -o wrong.krein
    status "$name" "$code"
    has "$name" err "$regex"
}
wrong "C=0" 2 'C' two.csv --learner 'svm(C=0)'
wrong "C=-1" 2 'C' two.csv --learner 'svm(C=-1)'
wrong "C=x" 2 'C' two.csv --learner 'svm(C=x)'
wrong "epsilon<0" 2 'epsilon' reg.csv --learner 'svr(epsilon=-1)'
wrong "no such loss" 2 'hinge\|hinge2|hinge2' two.csv --learner 'svm(loss=l1)'
wrong "no such option" 2 'gamma' two.csv --learner 'svm(gamma=1)'
wrong "classes for svr" 1 'svr is for regression.*--task regression' many.csv --learner svr
wrong "numbers for svm" 1 'svm is for classification.*--task classification' reg.csv --learner svm
wrong "lambda and C" 2 'one of the two' two.csv --learner 'svm(C=1)' -l 3 "${gauss[@]}"
wrong "lambda 0" 2 'lambda 0' two.csv --learner svm -l 0 "${gauss[@]}"
wrong "spectrum on features" 2 'map=exact' two.csv --learner 'svm(spectrum=flip)' -m rff
wrong "probabilities of svr" 2 'probabilities are for classes and the labels are numbers' reg.csv --learner svr --probabilities
awk -F, -v OFS=, '{ print $0, NR == 1 ? "g" : "all" }' two.csv >group.csv
wrong "one group" 1 'one group' group.csv --learner svm --group g "${gauss[@]}" -m 'rff(D=20)'
awk -F, -v OFS=, 'NR == 1 || $1 == 0' two.csv >one.csv
wrong "one class" 1 'class' one.csv --learner svm --task classification
awk -F, -v OFS=, '{ print $0, NR == 1 ? "w" : 0 }' two.csv >zero.csv
awk -F, -v OFS=, '{ print $0, NR == 1 ? "w" : $1 == 0 }' two.csv >oneway.csv
wrong "weights of one class" 1 'with a weight are of one class' oneway.csv --learner svm --weights w "${gauss[@]}" -m exact
wrong "weights 0" 1 'all row weights are zero' zero.csv --learner svm --weights w "${gauss[@]}" -m 'rff(D=20)'
[[ ! -e wrong.krein ]] && pass || fail "no model of what is refused"
no_leftovers "svm"
summary
