#!/usr/bin/env bash
# Logistic regression from the command line: what is printed, what is refused.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$KREIN" generate blobs -n 300 -o b.csv >/dev/null || fail "generate"
"$KREIN" generate friedman -n 100 -o reg.csv >/dev/null || fail "generate"
features=(-k 'gaussian(sigma=3)' -m 'orf(D=64)')

run train b.csv --learner logistic "${features[@]}" --holdout 0.3 --json -o b.krein
ok "train"
json "train: chosen" 'j["lambda"] > 0 and j["learner"].startswith("logistic(lambda=") and 0 <= j["cv"]["error"] < 0.3 and j["cv"]["folds"] == 5'
json "train: good" 'j["test"]["accuracy"] > 0.8'
cp out chosen
spec=$("$PYTHON" -c 'import json; print(json.load(open("chosen"))["learner"])')
run train b.csv --learner "$spec" "${features[@]}" --holdout 0.3 -o again.krein
ok "train with what was chosen"
has "how it ended" err 'gradient .* of the first, .* passes'
run predict b.krein b.csv --scores -o b.scores
ok "predict"
run predict again.krein b.csv --scores -o again.scores
ok "predict"
is "the same model" "$(cksum <b.scores)" "$(cksum <again.scores)"
run info b.krein
has "info" out 'logistic\(lambda='
run train b.csv --learner logistic "${features[@]}" --select 'cv(k=3)' -j 1 -o cv.krein
ok "three folds"
has "an error of three folds" out 'cross-validated'
run train b.csv --learner 'logistic(class_weights=balanced, intercept=no)' -l 1e-3 -m nystrom -D 50 -o n.krein
ok "nystrom, balanced, no intercept"
run plan b.csv --learner logistic "${features[@]}"
ok "plan"
run train b.csv --learner logistic -m exact -o e.krein
status "exact is refused" 2
has "exact: the way out" err 'nystrom'
run train reg.csv --learner logistic -o e.krein
status "numbers are refused" 1
has "numbers: the way out" err 'task'
run train b.csv --learner logistic -l 0 -o e.krein
status "lambda 0 is refused" 2
has "lambda 0: why" err 'separate'
run train b.csv --learner 'logistic(lambda=1)' -l 2 -o e.krein
status "two lambdas" 2
run train b.csv --learner 'logistic(lambda=-1)' -o e.krein
status "a negative lambda" 2
run train b.csv --learner 'logistic(class_weights=fair)' -o e.krein
status "an unknown weighting" 2
run train b.csv --learner logistic "${features[@]}" --time-limit 0.000001 -o t.krein
((rc <= 1)) && pass || fail "no time at all" "$(why)"
has "no time: says so" err 'time limit: best so far|--time-limit'
[[ -e e.krein ]] && fail "a model was written" || pass
summary
