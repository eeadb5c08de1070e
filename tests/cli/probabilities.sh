#!/usr/bin/env bash
# Probabilities: what train, predict, evaluate and info say of them, for the learners that have them.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=400
[[ $SANITIZED ]] && n=150

"$KREIN" generate 'blobs(classes=4,separation=1)' -n $n -o num.csv >/dev/null || fail "generate"
"$KREIN" generate moons -n $n --noise 0.3 -o two.csv >/dev/null || fail "generate"
"$KREIN" generate sine -n 60 -o reg.csv >/dev/null
awk -F, -v OFS=, 'BEGIN { split("red,green,a \"b\",black", c, ",") } NR == 1 { $(NF + 1) = "name" } NR > 1 { $1 = c[$1 + 1]; gsub(/"/, "\"\"", $1); $1 = "\"" $1 "\""; $(NF + 1) = "r" NR } { print }' num.csv >many.csv

# ---- models without ----
"$KREIN" train many.csv -q -k 'gaussian(sigma=2)' -l 1e-3 --id name -o ridge.krein >/dev/null || fail "train krr"
"$KREIN" train reg.csv -q -k 'gaussian(sigma=2)' -l 1e-3 -o reg.krein >/dev/null || fail "train krr"
run predict ridge.krein many.csv --probabilities
status "predict: none" 2
has "predict: none" err 'ridge.krein was trained without --probabilities; train it again'
[[ ! -s out ]] && pass || fail "predict: none: nothing is printed"
run predict ridge.krein many.csv --probabilities -o p.csv
status "predict -o: none" 2
[[ ! -e p.csv ]] && pass || fail "predict -o: none: no file"
run predict reg.krein reg.csv --probabilities --json
status "predict: numbers" 2
has "predict: numbers" err 'reg.krein predicts numbers'
run evaluate ridge.krein many.csv --json
json "evaluate: none" '"log_loss" not in j["metrics"] and "auc" not in j["metrics"]'
run info ridge.krein --json
json "info: none" 'j["probabilities"] is False'

# ---- learners that have them ----
have() { "$KREIN" list learners --json | "$PYTHON" -c 'import json, sys; sys.exit(sys.argv[1] not in [e["name"] for e in json.load(sys.stdin)["entries"]])' "$1"; }

# The predictions in `out` (JSON) and the metrics in `metrics` (JSON of evaluate) against the labels:
# probabilities in [0, 1] that add up to one, log loss and area under the curve the obvious way.
cat >check.py <<'PY'
import csv, json, math, sys
j, m = json.load(open("out")), json.load(open("metrics"))["metrics"]
labels = [r[0] for r in list(csv.reader(open(sys.argv[1])))[1:]]
classes = j["classes"]
if sys.argv[2] == "numbers":
    labels, classes = [float(x) for x in labels], [float(c) for c in classes]
assert [str(c) for c in j["classes"]] == [str(c) for c in m["classes"]], "classes"
assert len(j["probabilities"]) == len(labels) == j["n"]
for p in j["probabilities"]:
    assert len(p) == len(classes) and all(0 <= x <= 1 for x in p) and abs(sum(p) - 1) < 1e-12, p
true = [p[classes.index(y)] for p, y in zip(j["probabilities"], labels)]
loss = -sum(math.log(max(t, 1e-15)) for t in true) / len(true)
assert abs(loss - m["log_loss"]) <= 1e-10 * loss, (loss, m["log_loss"])
assert loss < 0.9 * math.log(len(classes)), "the probabilities say little: %g" % loss
if len(classes) == 2:
    f = [s[0] for s in j["scores"]]
    high = [s for s, y in zip(f, labels) if y == classes[1]]
    low = [s for s, y in zip(f, labels) if y == classes[0]]
    area = sum((a > b) + (a == b) / 2 for a in high for b in low) / len(high) / len(low)
    assert abs(area - m["auc"]) < 1e-10 and area > 0.8, (area, m["auc"])
else:
    assert "auc" not in m
# On average the rows of a class are as many as the probabilities say.
for k, c in enumerate(classes):
    mean = sum(p[k] for p in j["probabilities"]) / len(labels)
    share = labels.count(c) / len(labels)
    assert abs(mean - share) < 0.1, (c, mean, share)
PY

try() { # learner data numbers|text [options]
    local name="$1 on $2" learner=$1 data=$2 kind=$3 classes
    shift 3
    run train "$data" --learner "$learner" --probabilities -k 'gaussian(sigma=2)' -m 'orf(D=128)' -o p.krein "$@"
    ok "$name: train"
    run info p.krein --json
    json "$name: info" 'j["probabilities"] is True'
    classes=$("$PYTHON" -c 'import json; print(len(json.load(open("out"))["classes"]))')
    run evaluate p.krein "$data" --json
    ok "$name: evaluate"
    cp out metrics
    run evaluate p.krein "$data"
    has "$name: evaluate says log loss" out '^log loss +[0-9]'
    if ((classes == 2)); then has "$name: evaluate says AUC" out '^AUC +[0-9]'; else lacks "$name: no AUC" out '^AUC'; fi
    run predict p.krein "$data" --probabilities --scores --json
    ok "$name: predict --json"
    if "$PYTHON" check.py "$data" "$kind" 2>wrong; then pass; else fail "$name: numbers" "$(tail -n 1 wrong)"; fi
    cp out both
    run predict p.krein "$data" --probabilities
    ok "$name: predict"
    cp out lines
    run predict p.krein "$data" --probabilities -j 1
    if cmp -s out lines; then pass; else fail "$name: threads"; fi
    if "$PYTHON" - "$classes" 2>wrong <<'PY'
import csv, json, sys
j, rows = json.load(open("both")), list(csv.reader(open("lines")))
assert all(len(r) == 1 + int(sys.argv[1]) for r in rows) and len(rows) == j["n"]
assert [r[0] for r in rows] == [str(p) for p in j["predictions"]]
for r, p in zip(rows, j["probabilities"]):
    assert abs(sum(map(float, r[1:])) - 1) < 1e-6
    assert max(abs(float(a) - b) for a, b in zip(r[1:], p)) < 1e-6
PY
    then pass; else fail "$name: lines" "$(tail -n 1 wrong)"; fi
}

found=0
for learner in krr logistic svm 'svm(multi=ovo)' 'svm(multi=ovr)' 'svm(multi=crammer)'; do
    have "${learner%%(*}" || continue
    found=1
    try "$learner" many.csv text --id name
    try "$learner" two.csv numbers
done
if ((!found)); then
    skip "learners with probabilities" "neither logistic nor svm is here"
    summary
fi

# Nothing but the option: the default learner, on the kernel matrix.
run train two.csv --probabilities --holdout 0.3 -v -o two.krein
ok "the default learner"
has "the default learner: said" err 'calibrated on leave-one-out scores of'
has "the default learner: log loss" out '^test log loss +[0-9]'
has "the default learner: AUC" out '^test AUC +[0-9]'
run info two.krein
has "the default learner: info" out '^probabilities +yes'
run predict two.krein two.csv --scores --probabilities
is "the default learner: the more the score, the more probable" 1 "$(sort -t, -g -k2 out | awk -F, '$4 < last - 1e-9 || $3 + $4 < 1 - 1e-5 || $3 + $4 > 1 + 1e-5 { bad = 1 } { last = $4 } END { print !bad }')"
# Rows of a group know each other, and conjugate gradients have no leave-one-out.
awk -F, -v OFS=, 'NR == 1 { print $0, "g" } NR > 1 { print $0, "g" int(NR / 5) }' two.csv >groups.csv
run train groups.csv --group g --probabilities -k 'gaussian(sigma=1)' -l 1e-3 -v -o g.krein
ok "groups"
has "groups: said" err 'calibrated on scores of 5 folds of'
sed 's/,g[0-9][0-9]*$/,one/' groups.csv >one.csv
run train one.csv --group g --probabilities -k 'gaussian(sigma=1)' -l 1e-3 -o none.krein
((rc != 0)) && pass || fail "one group"
has "one group" err 'all rows are in one group.*leave --probabilities out'
run train two.csv --learner 'krr(solver=pcg)' --probabilities -k 'gaussian(sigma=1)' -D 64 -v -o g.krein
ok "pcg"
has "pcg: said" err 'calibrated on scores of 5 folds of'

# What follows does not depend on the learner.
learner=svm
have svm || learner=logistic
fit=(--learner $learner --probabilities -k 'gaussian(sigma=2)' -m 'orf(D=64)')
run train many.csv "${fit[@]}" --id name --holdout 0.3 -o h.krein
ok "holdout"
has "holdout: log loss" out '^test log loss +[0-9]'
run train two.csv "${fit[@]}" --test two.csv --json -o t.krein
json "test: metrics" 'j["test"]["log_loss"] > 0 and 0.5 < j["test"]["auc"] <= 1'
run predict h.krein many.csv --id name --scores --probabilities
ok "id, scores and probabilities"
is "id, class, scores, probabilities" 1 "$("$PYTHON" -c 'import csv, json; r = list(csv.reader(open("out"))); print(int(all(len(x) >= 2 + 4 + 4 and x[0][0] == "r" and abs(sum(map(float, x[-4:])) - 1) < 1e-6 for x in r)))')"
run predict h.krein many.csv --probabilities --json -o p.csv
ok "--json -o"
json "--json -o: classes" 'j["classes"] == ["a \"b\"", "black", "green", "red"] and "probabilities" not in j'
[[ -s p.csv ]] && pass || fail "--json -o: the file"
(
    head -n 3 two.csv
    sed -n '4s/,[^,]*$/,/p' two.csv
    sed -n 5p two.csv
) >hole.csv
run predict t.krein hole.csv --missing drop --probabilities
ok "a dropped row"
is "a dropped row is an empty line" "" "$(sed -n 3p out)"
run predict t.krein hole.csv --missing drop --probabilities --json
json "a dropped row is null" 'j["probabilities"][2] is None and len(j["probabilities"]) == 4'
run train reg.csv "${fit[@]}" -t regression -o r.krein
((rc != 0)) && pass || fail "numbers have no probabilities"
run plan many.csv "${fit[@]}" --id name
ok "plan --probabilities"
if have svm; then
    "$KREIN" train two.csv --learner svm -q -k 'gaussian(sigma=2)' -m 'orf(D=64)' -o plain.krein >/dev/null
    run predict plain.krein two.csv --probabilities
    status "svm without" 2
    has "svm without" err 'trained without --probabilities'
fi
summary
