#!/usr/bin/env bash
# train, predict, evaluate, plan, info on small data: what is printed, JSON, files.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=600
[[ $SANITIZED ]] && n=200
fixed=(-k 'gaussian(sigma=3)' -l 1e-6)

"$KREIN" generate friedman -n $n -o reg.csv >/dev/null || fail "generate"
"$KREIN" generate friedman -n 150 -s 2 -o regtest.csv >/dev/null
"$KREIN" generate blobs -n $n -o num.csv >/dev/null
# Class names: 0 -> red, 1 -> green, ...
rename() { awk -F, -v OFS=, 'BEGIN { split("red,green,blue,black,white,pink,grey,brown,gold,lime", c, ",") } NR > 1 { $1 = c[$1 + 1] } { print }' "$1"; }
rename num.csv >cls.csv
classes=$(tail -n +2 cls.csv | cut -d, -f1 | sort -u | tr '\n' ' ')

# ---- regression ----
run train reg.csv --test regtest.csv
ok "train"
for word in rows inputs task kernel map lambda leave-one-out 'test rmse' time 'peak memory' model; do
    has "train says $word" out "^$word  "
done
has "train: regression" out '^task +regression'
[[ -s reg.krein ]] && pass || fail "default name of the model"
run train reg.csv --test regtest.csv --json -o reg.krein
ok "train --json"
json "train: keys" 'list(j) [:9] == ["command", "n", "d", "task", "learner", "kernel", "map", "D", "lambda"] and {"weights", "seconds", "peak_rss_bytes", "model_bytes", "loo", "test"} <= set(j)'
json "train: values" "j['command'] == 'train' and j['n'] == $n and j['task'] == 'regression' and j['weights'] is None"
json "train: seconds" 'set(j["seconds"]) == {"read", "select", "fit", "total"} and all(v >= 0 for v in j["seconds"].values())'
json "train: sizes" 'j["peak_rss_bytes"] > 1e6 and j["model_bytes"] > 100'
json "train: loo and test" 'j["loo"]["rmse"] > 0 and set(j["test"]) == {"n", "rmse", "mae", "r2"} and j["test"]["n"] == 150 and j["test"]["r2"] > 0.5'
is "model_bytes" "$(stat -c %s reg.krein)" "$("$PYTHON" -c 'import json; print(json.load(open("out"))["model_bytes"])')"
cp out chosen
# "kernel", "map" and the metric given back, with lambda, reproduce the model.
read_key() { "$PYTHON" -c 'import json, sys; print(repr(json.load(open("chosen"))[sys.argv[1]]).strip("\x27"))' "$1"; }
run train reg.csv -k "$(read_key kernel)" -m "$(read_key map)" -l "$(read_key lambda)" --metric file=reg.krein -o again.krein
ok "train with what was chosen"
"$KREIN" predict reg.krein regtest.csv >p1 && "$KREIN" predict again.krein regtest.csv >p2
if "$PYTHON" -c 'a, b = ([float(x) for x in open(f)] for f in ("p1", "p2")); assert len(a) == 150 and max(abs(x - y) for x, y in zip(a, b)) < 1e-4'; then
    pass
else
    fail "what was chosen gives the same predictions"
fi
run train reg.csv "${fixed[@]}" --json -o r.krein
json "no test: null" 'j["test"] is None'
run train reg.csv "${fixed[@]}" --holdout 0.25 --json -o r.krein
json "holdout" "j['n'] + j['test']['n'] == $n and abs(j['test']['n'] - $n / 4) <= 2"
run train reg.csv -k 'gaussian(sigma=3)' -m orf -D 64 -l auto --json -o f.krein
json "features" 'j["D"] == 64 and "orf" in j["map"] and j["lambda"] > 0'
mkdir sub
cp reg.csv sub/my.data.csv
gzip -k sub/my.data.csv
run train sub/my.data.csv.gz "${fixed[@]}"
ok "gzip"
[[ -s my.data.krein ]] && pass || fail "the model of DIR/x.csv.gz is ./x.krein"
run train - "${fixed[@]}" -o stdin.krein <reg.csv
ok "train -"
"$KREIN" train reg.csv "${fixed[@]}" -q -o file.krein >/dev/null
is "stdin gives the same model" "$(cksum <file.krein)" "$(cksum <stdin.krein)"
run train -q reg.csv "${fixed[@]}" -o r.krein
is "quiet" "" "$(cat err)"

# ---- predict ----
run predict reg.krein regtest.csv
ok "predict"
is "one line a row" 150 "$(wc -l <out | tr -d ' ')"
is "numbers only" "" "$(grep -vE '^-?[0-9.]+(e[-+][0-9]+)?$' out)"
cp out plain
cut -d, -f2- regtest.csv >nolabel.csv
run predict reg.krein nolabel.csv
is "without the label column" "$(cat plain)" "$(cat out)"
run predict reg.krein - <regtest.csv
is "predict -" "$(cat plain)" "$(cat out)"
run predict reg.krein regtest.csv -o p.txt
ok "predict -o"
is "predict -o" "$(cat plain)" "$(cat p.txt)"
is "predict -o: nothing on stdout" "" "$(cat out)"
run predict reg.krein regtest.csv -o -
is "predict -o -" "$(cat plain)" "$(cat out)"
run predict reg.krein regtest.csv -o p.txt --json
json "predict -o --json" 'set(j) == {"command", "model", "n", "output", "seconds"} and j["command"] == "predict" and j["n"] == 150 and j["output"] == "p.txt" and j["model"] == "reg.krein"'
run predict reg.krein regtest.csv --json
json "predict --json" 'j["output"] is None and len(j["predictions"]) == 150 and all(isinstance(p, float) for p in j["predictions"])'
# Columns by name, in any order.
awk -F, -v OFS=, '{ out = $NF; for (i = NF - 1; i >= 1; i--) out = out OFS $i; print out }' regtest.csv >reversed.csv
run predict reg.krein reversed.csv
is "columns by name" "$(cat plain)" "$(cat out)"
# Missing cells.
awk -F, -v OFS=, 'NR == 3 { $2 = "" } { print }' nolabel.csv >holes.csv
run predict reg.krein holes.csv --missing error
status "missing cell" 1
run predict reg.krein holes.csv --missing drop
ok "missing drop"
is "missing drop: an empty line" "" "$(sed -n 2p out)"
is "missing drop: the others" "$(sed 2d plain | cksum)" "$(sed 2d out | cksum)"
# An id passed through.
awk -F, -v OFS=, 'NR == 1 { print "name", $0 } NR > 1 { print "row " NR, $0 }' nolabel.csv >id.csv
run predict reg.krein id.csv --id name
ok "predict --id"
is "predict --id" "row 2,$(sed -n 1p plain)" "$(sed -n 1p out)"

# ---- classification ----
run train cls.csv --holdout 0.3
ok "train classes"
has "train classes" out '^task +classification'
has "train classes" out '^test error +[0-9.]+ %'
run train cls.csv --json
json "classes: loo" 'set(j["loo"]) == {"error"} and j["task"] == "classification"'
run evaluate cls.krein cls.csv
ok "evaluate"
has "evaluate: confusion" out '^confusion'
run evaluate cls.krein cls.csv --json
json "evaluate: keys" 'set(j) == {"command", "model", "metrics", "seconds"} and {"n", "accuracy", "error", "macro_precision", "macro_recall", "macro_f1", "confusion", "classes"} <= set(j["metrics"])'
json "evaluate: classes" "' '.join(sorted(j['metrics']['classes'])) == '$classes'.strip()"
json "evaluate: confusion" "sum(map(sum, j['metrics']['confusion'])) == $n == j['metrics']['n']"
json "evaluate: sums" 'abs(j["metrics"]["accuracy"] + j["metrics"]["error"] - 1) < 1e-12 and abs(sum(r[i] for i, r in enumerate(j["metrics"]["confusion"])) / j["metrics"]["n"] - j["metrics"]["accuracy"]) < 1e-12'
run predict cls.krein cls.csv
is "predict: class names" "$classes" "$(sort -u out | tr '\n' ' ')"
cp out plain
run predict cls.krein cls.csv --scores
is "scores: class first" "$(cat plain)" "$(cut -d, -f1 out)"
k=$(wc -w <<<"$classes")
is "scores: so many" "$((k == 2 ? 2 : k + 1))" "$(awk -F, 'NR == 1 { print NF }' out)"
run predict cls.krein cls.csv --scores --json
json "scores in JSON" "len(j['scores']) == $n == len(j['predictions'])"
run evaluate reg.krein regtest.csv --json
json "evaluate: regression" 'set(j["metrics"]) == {"n", "rmse", "mae", "r2"}'
run evaluate reg.krein regtest.csv --scale none
ok "evaluate --scale"
has "the model decides" err 'warning: --scale is ignored'
sed 's/^red,/violet,/' cls.csv >newclass.csv
run evaluate cls.krein newclass.csv
status "a class never seen" 1
has "a class never seen" err 'violet'

# ---- several targets ----
awk -F, -v OFS=, 'NR == 1 { print "z", $0 } NR > 1 { print -$1, $0 }' reg.csv >two.csv
run train two.csv --targets 2 "${fixed[@]}"
ok "train --targets"
run predict two.krein two.csv
is "two numbers a line" 2 "$(awk -F, 'NR == 1 { print NF }' out)"

# ---- info, plan ----
run info cls.krein
ok "info"
for word in model task classes 'trained on' kernel map lambda seed; do has "info says $word" out "^$word  "; done
run info cls.krein --json
json "info" "j['command'] == 'info' and ' '.join(sorted(j['classes'])) == '$classes'.strip() and j['n'] == $n and j['bytes'] == $(stat -c %s cls.krein)"
json "info: keys" '{"model", "task", "n", "d", "D", "inputs", "outputs", "classes", "learner", "kernel", "map", "scale", "lambda", "seed", "negative", "probabilities", "bytes"} <= set(j)'
run info reg.krein --json
json "info: regression" 'j["classes"] is None and j["task"] == "regression"'
json "info: arrays" '{"weights", "intercepts", "encoding.centre", "encoding.factor"} <= {a["name"] for a in j["arrays"]} and all(a["rows"] > 0 and a["columns"] > 0 for a in j["arrays"])'
run plan reg.csv
ok "plan"
has "plan" out '^fits +yes'
run plan reg.csv --json
json "plan" "j['command'] == 'plan' and j['n'] == $n and j['fits'] is True and j['bytes_peak'] > 0 and j['flops'] > 0 and j['passes'] >= 1 and j['D'] > 0"
[[ ! -e plan.krein ]] && pass || fail "plan writes nothing"
run plan reg.csv -m orf -D 100000 --max-memory 64M --json
status "plan that does not fit" 1
json "plan that does not fit" 'j["fits"] is False and j["bytes_peak"] > 64 * 2**20'
has "plan that does not fit: a way out" err 'features|max-memory'
run train reg.csv -m orf -D 100000 --max-memory 64M -o big.krein
status "train that does not fit" 1
has "train that does not fit: numbers" err '[0-9.]+ [kMGT]B.*[0-9.]+ [kMGT]B'
has "train that does not fit: a way out" err 'features|max-memory'
[[ ! -e big.krein ]] && pass || fail "no model of what does not fit"

# ---- threads ----
"$KREIN" generate arm -n $((n * 4)) -o arm.csv >/dev/null
for options in '-m orf -D 128' '-m exact' '-m nystrom -D 64'; do
    # shellcheck disable=SC2086
    "$KREIN" train arm.csv -q -j 1 $options -k 'gaussian(sigma=3)' -o t1.krein >/dev/null &&
        "$KREIN" train arm.csv -q -j 2 $options -k 'gaussian(sigma=3)' -o t2.krein >/dev/null
    is "$options: the same model on one and two threads" "$(cksum <t1.krein)" "$(cksum <t2.krein)"
done
"$KREIN" train reg.csv -q -j 1 -o t1.krein >/dev/null && "$KREIN" train reg.csv -q -j 2 -o t2.krein >/dev/null
is "no options: the same model on one and two threads" "$(cksum <t1.krein)" "$(cksum <t2.krein)"
# The kernel matrix is a default that gives way: to options and weights it does not take.
awk -F, -v OFS=, 'NR == 1 { print "class,a,b,w"; next } { print ($1 > 14 ? "up" : "down"), $2, $3, 1 + NR % 3 }' \
    <("$KREIN" generate friedman -n 120 -o -) >machine.csv
run train machine.csv --ignore w -k 'gaussian(sigma=1)' --learner 'svm(C=1, multi=crammer)' -o machine.krein
ok "svm(multi=crammer) without a map"
has "svm(multi=crammer) without a map: the kernel matrix" out '^map +exact'
for learner in 'svm(C=1, intercept=no)'; do
    run train machine.csv --ignore w -k 'gaussian(sigma=1)' --learner "$learner" -o machine.krein
    ok "$learner without a map"
    has "$learner without a map: features" out '^map +orf'
    run train machine.csv --ignore w -k 'gaussian(sigma=1)' --learner "$learner" -m exact -o machine.krein
    status "$learner, exact" 2
done
run train machine.csv --weights w -k 'gaussian(sigma=1)' --learner 'svm(C=1)' -o machine.krein
ok "svm with weights"
has "svm with weights: the kernel matrix" out '^map +exact'
run train machine.csv --weights w -k 'gaussian(sigma=1)' --learner krr -o machine.krein
has "krr with weights: the kernel matrix" out '^map +exact'
run train machine.csv --ignore w -k 'gaussian(sigma=1)' --learner 'svm(C=1, spectrum=clip)' -D 16 -o machine.krein
status "spectrum=clip on features" 2
run train machine.csv --ignore w -k 'gaussian(sigma=1)' --learner logistic -D 16 -o machine.krein
has "logistic: what the error is" out '^cross-validated'

# ---- weights in the metrics, and what is said of numbers ----
"$KREIN" generate friedman -n 200 -o f.csv >/dev/null || fail "generate"
awk -F, -v OFS=, 'NR == 1 { print $0, "w"; next } { print $0, NR % 3 }' f.csv >w.csv
awk -F, 'NR == 1 { print; next } { for (i = 0; i < NR % 3; i++) print }' f.csv >copies.csv
run train f.csv -k 'gaussian(sigma=3)' -l 1e-3 -o m.krein
run evaluate m.krein w.csv --weights w
ok "evaluate with weights"
is "n counts rows" "$(awk '$1 == "rows" { print $2 }' out)" 200
awk '$1 ~ /rmse|mae|r2/' out >weighted
run evaluate m.krein copies.csv
is "weights are copies" "$(<weighted)" "$(awk '$1 ~ /rmse|mae|r2/' out)"
run evaluate m.krein f.csv
[[ $(<weighted) != "$(awk '$1 ~ /rmse|mae|r2/' out)" ]] && pass || fail "weights count"
for learner in krr kgd; do
    run train f.csv -v --learner $learner -o m.krein
    ok "$learner -v"
    has "$learner -v: losses" err 'loss [0-9]'
    lacks "$learner -v: no error rate of numbers" err nan
done
no_leftovers train
summary
