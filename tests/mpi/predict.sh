#!/usr/bin/env bash
# predict.sh BUILD -- predict, evaluate and select on several processes say what one says: the same
# bytes of predictions, the same numbers. Where rows are dropped they stand elsewhere in their block,
# which float32 may round otherwise.
# shellcheck source=tests/mpi/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
data() { "$PYTHON" "$mpi_tests/data.py" "$@"; }

# Three blocks; ids; rows with missing cells are empty lines.
data mixed mixed.csv
gzip -k mixed.csv
fixed=(-D 48 -l 1e-3 -k 'gaussian(sigma=2)')
"$KREIN" train mixed.csv --id id --ignore w,g --missing drop "${fixed[@]}" --learner logistic -q -o p.krein >/dev/null
ranks=(1 2 3 4)
run predict p.krein mixed.csv --id id --scores -o one.csv
ok predict
is "predict: dropped rows are empty" 47 "$(grep -c '^$' one.csv)"
for n in "${ranks[@]}"; do
    together "$n" predict p.krein mixed.csv --id id --scores -o "many$n.csv"
    ok "predict on $n"
    is "predict on $n: bytes" "" "$(cmp one.csv "many$n.csv" 2>&1)"
done
run predict p.krein mixed.csv --probabilities
cp out one.csv
together 4 predict p.krein mixed.csv.gz --probabilities
ok "probabilities on 4"
is "probabilities on 4: bytes, on standard output" "" "$(cmp one.csv out 2>&1)"

run evaluate p.krein mixed.csv --json
cp out one.json
for n in "${ranks[@]}"; do
    together "$n" evaluate p.krein mixed.csv --json
    ok "evaluate on $n"
    json "evaluate on $n" 'len(j["metrics"]) > 5 and all(abs(v - w) <= 1e-6 * abs(w) if isinstance(w, float) else v == w for v, w in zip(j["metrics"].values(), json.load(open("one.json"))["metrics"].values()))'
done
has "evaluate: log loss" one.json '"log_loss":0\.[0-9]'

# Sets of labels, whose numbers in a process are its own.
"$KREIN" generate multilabel -n 4500 -o sets.csv >/dev/null
"$KREIN" train sets.csv --multilabel "${fixed[@]}" -q -o l.krein >/dev/null
run evaluate l.krein sets.csv --json
cp out one.json
together 3 evaluate l.krein sets.csv --json
json "label sets on 3" 'j["metrics"]["n"] == 4500 and all(abs(j["metrics"][k] - v) <= 1e-9 for k, v in json.load(open("one.json"))["metrics"].items() if isinstance(v, float))'
json "label sets on 3: each label" 'j["metrics"]["labels"] == json.load(open("one.json"))["metrics"]["labels"]'
run predict l.krein sets.csv --scores -o one.csv
together 3 predict l.krein sets.csv --scores -o many.csv
is "label sets on 3: bytes" "" "$(cmp one.csv many.csv 2>&1)"

# Two classes have an area; numbers; an .npy and labels beside it.
data sparse s.libsvm
"$KREIN" train s.libsvm "${fixed[@]}" --learner logistic -q -o s.krein >/dev/null
run evaluate s.krein s.libsvm
cp out one.txt
together 4 evaluate s.krein s.libsvm
ok "area"
same "area" one.txt out 0
once "area" out '^AUC|^auc|[aA]rea'
data arrays a
"$KREIN" train a.npy --labels a_y.npy "${fixed[@]}" -q -o a.krein >/dev/null
run evaluate a.krein a.npy --labels a_y.npy
cp out one.txt
together 2 evaluate a.krein a.npy --labels a_y.npy
same "numbers" one.txt out 1e-4 each
run predict a.krein a.npy
cp out one.csv
together 3 predict a.krein a.npy
is "numbers: bytes" "" "$(cmp one.csv out 2>&1)"
head -n 5 s.libsvm >few.libsvm
run predict s.krein few.libsvm
cp out one.csv
together 6 predict s.krein few.libsvm
is "more ranks than rows: bytes" "" "$(cmp one.csv out 2>&1)"
: >none.libsvm
run predict s.krein none.libsvm
was=$rc
together 2 predict s.krein none.libsvm
is "no rows: as in one process" "$was" "$rc"
together 3 train s.libsvm "${fixed[@]}" --test few.libsvm -o t.krein
ok "a test set that one rank has"
once "a test set that one rank has" out '^test rows +2$'

# select: tables
kernels=(--kernels 'gaussian(sigma=0.5..8:5); laplacian(sigma=2); linear')
select_as_one() { # name N args...
    local name=$1 n=$2
    shift 2
    run select "$@"
    ok "$name"
    grep -v '^time' out >one.txt
    together "$n" select "$@"
    ok "$name on $n"
    grep -v '^time' out >many.txt
    same "$name on $n" one.txt many.txt 2e-3 each
}
select_as_one "by features" 3 s.libsvm "${kernels[@]}" -D 32 -c loo -c 'cv(k=3)' -c ckta
select_as_one "by features, with groups" 2 mixed.csv --ignore id --missing mean --weights w --group g "${kernels[@]}" -D 32 -c 'cv(k=3)' -c gcv
data arrays b 900
select_as_one "by matrices" 4 b.npy --labels b_y.npy "${kernels[@]}" -c loo -c evidence
summary
