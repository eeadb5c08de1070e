#!/usr/bin/env bash
# pca: components, scores, the model and new rows; calls and data that are wrong.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KREIN" generate friedman -n 300 -o f.csv >out || exit 1
"$KREIN" generate friedman -n 40 -s 2 -o new.csv >out || exit 1

# ---- scores and model ----
run pca f.csv --components 3 -o s.csv --model m.krein
ok pca
has "says the kernel" out '^kernel +gaussian\(sigma=[0-9.]+\)$'
has "says the map" out '^map +exact$'
has "a table" out '^component +variance +ratio +cumulative$'
has "the third" out '^3 +[0-9.e-]+ +[0-9.]+% +[0-9.]+%$'
has "sigma is said" err 'sigma set to .*median'
is "header" pc1,pc2,pc3 "$(head -n 1 s.csv)"
is "one line a row" 301 "$(wc -l <s.csv)"
run predict m.krein f.csv
ok "predict"
is "predict gives the scores" "$(tail -n +2 s.csv)" "$(cat out)"
run predict m.krein f.csv --scores
is "--scores says them once" "$(tail -n +2 s.csv)" "$(cat out)"
run predict m.krein new.csv
is "new rows" 40 "$(grep -Ec '^[^,]+,[^,]+,[^,]+$' out)"
cut -d, -f2- new.csv >unlabelled.csv
cp out want
run predict m.krein unlabelled.csv
is "new rows without the label column" "$(cat want)" "$(cat out)"
run predict m.krein new.csv --json
json "predict --json" 'len(j["predictions"]) == 40 and len(j["predictions"][0]) == 3'
run info m.krein
ok info
has "info: learner" out '^learner +kpca\(components=3\)$'
has "info: components" out '^components +3$'
has "info: variance" out '^1 +[0-9.e-]+ +[0-9.]+% +[0-9.]+%$'
lacks "info: no task" out '^(task|lambda|probabilities) '
run info m.krein --json
json "info --json" 'j["task"] is None and j["lambda"] is None and len(j["variance"]) == 3 and sum(j["variance"]) < j["variance_total"]'
run evaluate m.krein f.csv
status "evaluate" 2
has "evaluate" err 'nothing to evaluate; use predict'

# ---- other outputs ----
run pca f.csv --components 3 -o - -q
is "-o -" "$(cat s.csv)" "$(cat out)"
run pca f.csv --components 3 -o -
has "-o -: the table on stderr" err '^component '
run pca f.csv --components 3 -o s.npy
ok ".npy"
is ".npy: bytes" $((128 + 300 * 3 * 8)) "$(wc -c <s.npy)"
run pca f.csv --components 3 -o s.csv.gz
is ".csv.gz" "$(cat s.csv)" "$(zcat s.csv.gz)"
run pca f.csv --components 2 --json
ok --json
json "--json" 'j["command"] == "pca" and j["n"] == 300 and j["d"] == 10 and j["D"] == 300 and j["components"] == 2 and j["map"] == "exact" and "sigma=" in j["kernel"]'
json "--json: variance" 'len(j["variance"]) == len(j["ratio"]) == 2 and j["variance"][0] >= j["variance"][1] > 0 and abs(j["ratio"][0] - j["variance"][0] / j["total"]) < 1e-12'
json "--json: nothing written" 'j["output"] is None and j["model"] is None and j["seconds"] > 0'
run pca f.csv -m 'orf(D=64)' -o z.csv --model z.krein --json
json "features" 'j["map"].startswith("orf(D=64") and j["D"] == 64 and j["output"] == "z.csv" and j["model"] == "z.krein" and j["components"] == 2'
run predict z.krein f.csv
is "features: predict gives the scores" "$(tail -n +2 z.csv)" "$(cat out)"
for map in exact 'orf(D=64)' 'nystrom(D=32)'; do
    run pca f.csv -m "$map" --components 4 -j 1 -o one.csv -q
    run pca f.csv -m "$map" --components 4 -j 3 -o three.csv -q
    is "threads: $map" "$(cat one.csv)" "$(cat three.csv)"
done
run pca f.csv --components 25 -q
has "many: the first" out '^19 '
lacks "many: not all" out '^20 '
has "many: the last" out '^25 '

# ---- dropped rows, ids, labels ----
cat >t.csv <<'CSV'
who,a,b,class
x1,1,2,A
"x,2",3,1,B
x3,,5,A
x4,0,7,B
x5,4,4,A
CSV
run pca t.csv --id who --missing drop -o - -q --model t.krein
ok "dropped rows"
is "dropped rows: header" who,pc1,pc2 "$(head -n 1 out)"
is "dropped rows: an empty line" "" "$(sed -n 4p out)"
has "ids" out '^"x,2",'
is "lines" 6 "$(wc -l <out)"
cp out want
run predict t.krein t.csv --id who
is "predict: ids and empty lines" "$(tail -n +2 want)" "$(cat out)"
run pca t.csv --missing drop --ignore who --label none -q --components 1 --json
json "--label none: the class is an input" 'j["d"] == 4'
printf '1 1:1 3:2\n-1 2:1\n1 1:2 2:1\n-1 3:1\n' >t.libsvm
run pca t.libsvm -k linear --components 2 -o sparse.csv -q
ok "sparse rows"
is "sparse rows" 5 "$(wc -l <sparse.csv)"

# ---- indefinite kernels ----
mixed='gaussian(sigma=2) - gaussian(sigma=6)'
run pca f.csv -k "$mixed" -q
ok "indefinite"
has "indefinite: the negative part" out '^negative part +[0-9.]+ % of the spectrum'
run pca f.csv -k "$mixed" -m 'rff(D=64)' -q --json
json "indefinite features" '0 < j["negative_mass"] < 1'

# ---- bad calls and data ----
rm -f bad*
bad() { # NAME STATUS MESSAGE ARGS...
    run pca "${@:4}"
    status "$1" "$2"
    has "$1" err "$3"
}
bad "more components than rank" 1 'rank 10; use --components 10 or fewer$' f.csv -k linear --components 11 -o bad.csv --model bad.krein
bad "more than features" 1 'rank 8; .*, or more features$' f.csv -m 'orf(D=8)' --components 9 -o bad.csv
bad "no components" 2 'components needs a whole number from 1' f.csv --components 0
bad "negative" 2 'components needs a whole number from 1' f.csv --components=-2
bad "kernel" 2 'gaussian' f.csv -k gausian -o bad.csv
bad "labels" 2 'fitted to labels' f.csv -m aligned -o bad.csv
bad "max-exact" 2 'above --max-exact' f.csv -m exact --max-exact 100 -o bad.csv
bad "features of exact" 2 'has no --features' f.csv -m exact -D 10 -o bad.csv
bad "one file for both" 2 'same file' f.csv -o bad --model bad
bad "model to stdout" 2 'model takes a file' f.csv --model -
bad "over the data" 2 'would be overwritten' f.csv -o f.csv
bad "the model over the data" 2 'would be overwritten' f.csv --model f.csv
bad "json and stdout" 2 'both want standard output' f.csv --json -o -
bad "no folder" 1 'cannot be written' f.csv -o nowhere/bad.csv
bad "memory" 1 'max-memory' f.csv -m exact --max-memory 500K -o bad.csv
printf 'a,b\n1,2\n' >one.csv
bad "one row" 1 'at least two' one.csv --label none -o bad.csv
printf 'a,b\n1,2\n1,2\n1,2\n' >same.csv
bad "constant data" 1 'do not vary' same.csv --label none -k 'gaussian(sigma=1)' -o bad.csv
bad "constant data, features" 1 'do not vary' same.csv --label none -k 'gaussian(sigma=1)' -m 'orf(D=4)' -o bad.csv
is "nothing was written" "" "$(find . -name 'bad*')"
no_leftovers pca
summary
