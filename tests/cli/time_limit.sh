#!/usr/bin/env bash
# Training with --time-limit ends with a model that is of use, or with a refusal. How long it takes is
# not looked at here (bench/time_limit.sh does).
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=20000
limits=(0.001 0.1 0.5)
[[ $SANITIZED ]] && n=3000 limits=(0.001 0.2)

"$KREIN" generate 'blobs(classes=8,separation=4)' -n $n -o many.csv >/dev/null || fail "generate"
"$KREIN" generate 'blobs(classes=8,separation=4)' -n 1000 -s 2 -o manytest.csv >/dev/null
"$KREIN" generate friedman -n $n -o reg.csv >/dev/null
"$KREIN" generate friedman -n 1000 -s 2 -o regtest.csv >/dev/null

# usable NAME EXPR: the last run gave a model of which EXPR holds, or was refused.
usable() {
    if ((rc == 0)); then
        json "$1" "$2"
        [[ -e t.krein ]] && pass || fail "$1: no model"
    else
        status "$1" 1
        has "$1: why" err '--time-limit'
        [[ -e t.krein ]] && fail "$1: a model was written" || pass
    fi
    rm -f t.krein
}
for seconds in "${limits[@]}"; do
    for learner in krr svm logistic dckrr; do
        run train many.csv --test manytest.csv --learner $learner --time-limit $seconds --json -o t.krein
        usable "$learner in $seconds s" 'j["test"]["error"] < 0.5'
    done
    for learner in krr svr; do
        run train reg.csv --test regtest.csv --learner $learner --time-limit $seconds --json -o t.krein
        usable "$learner in $seconds s" 'j["test"]["r2"] > 0.2'
    done
    run train many.csv --test manytest.csv --learner svm --features 4096 --time-limit $seconds --json -o t.krein
    usable "4096 features in $seconds s" 'j["test"]["error"] < 0.87 and j["D"] == 4096'
done

# What was asked for is refused before the work, with the way out.
run train many.csv -k 'gaussian(sigma=2)' --features 8192 --time-limit 0.001 -o t.krein
status "far too many features" 1
has "far too many features: the way out" err 'leave out --map and --features'
[[ -e t.krein ]] && fail "a model was written" || pass

# Time enough: as without a limit.
head -n 400 reg.csv >few.csv
run train few.csv -k gaussian -o one.krein
run train few.csv -k gaussian --time-limit 100000 -o two.krein
ok "time enough"
cmp -s one.krein two.krein && pass || fail "time enough: another model"
summary
