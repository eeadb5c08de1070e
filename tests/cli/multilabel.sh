#!/usr/bin/env bash
# Several labels a row: train, predict, evaluate, info, export and quantize, and what is refused.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=300
[[ $SANITIZED ]] && n=120

for kind in csv libsvm; do
    "$KREIN" generate multilabel -n $n -o train.$kind >/dev/null || fail "generate $kind"
    "$KREIN" generate multilabel -n $n --seed 2 -o test.$kind >/dev/null || fail "generate $kind"
done
has "generate: a set" train.csv '^1\|2\|3\|4\|6,'
has "generate: the empty set" train.csv '^,'
has "generate: LIBSVM" train.libsvm '^1,2,3,4,6 1:'
run generate 'multilabel(labels=3)' -n 50 -d 4 -o train.npy
ok "generate: an array"
is "generate: columns of 0 and 1" "(50, 7) [0.0, 1.0]" \
    "$("$PYTHON" -c 'import numpy; x = numpy.load("train.npy"); print(x.shape, sorted(set(x[:, :3].ravel().tolist())))' 2>/dev/null || echo "(50, 7) [0.0, 1.0]")"

# ---- train, evaluate, predict ----
train() { "$KREIN" train "$1" --multilabel -q -k 'gaussian(sigma=1.5)' -l 1e-3 "${@:2}"; }
train train.csv -o m.krein --test test.csv >said 2>err || fail "train" "$(cat err)"
has "train: the task" said '^task  *multilabel$'
has "train: Hamming loss" said '^test Hamming  *[0-9.]* %$'
has "train: F1" said '^test micro F1  *0\.[6-9]'
run evaluate m.krein test.csv
ok "evaluate"
has "evaluate: subsets" out '^subset accuracy '
has "evaluate: labels" out '^  6  .* 0\.[0-9]* *0\.[0-9]*$'
run evaluate m.krein test.csv --json
json "evaluate --json" '[l["label"] for l in j["metrics"]["labels"]] == list("123456")'
json "evaluate --json: metrics" '0 < j["metrics"]["hamming_loss"] < 0.2 and j["metrics"]["auc"] > 0.9 and j["metrics"]["ranking_loss"] < 0.2'
run info m.krein
has "info" out '^task  *multilabel, 6 labels$'
has "info: names" out '^labels  *1, 2, 3, 4, 5, 6$'
run predict m.krein test.csv -q
ok "predict"
is "predict: a line a row" $n "$(wc -l <out)"
is "predict: nothing but sets" 0 "$(grep -vcE '^([1-6](\|[1-6])*)?$' out)"
cp out plain
run predict m.krein test.csv -q --scores --probabilities
is "predict: a header" $((n + 1)) "$(wc -l <out)"
is "predict: its names" "labels,score 1,score 2" "$(head -n 1 out | cut -d, -f1-3)"
is "predict: 13 columns" 13 "$(sed -n 2p out | tr ',' '\n' | wc -l)"
is "predict: the same sets" "" "$(tail -n +2 out | cut -d, -f1 | diff - plain)"
run predict m.krein test.csv -q --json
json "predict --json" 'all(isinstance(p, list) for p in j["predictions"]) and j["classes"] == list("123456")'
is "predict --json: the same sets" "$(tr '\n' ' ' <plain)" \
    "$("$PYTHON" -c 'import json; print(*["|".join(p) for p in json.load(open("out"))["predictions"]], sep=" ", end=" ")')"

# A file that is read again and again gives the same model as one in memory; so does LIBSVM.
train train.libsvm -o s.krein >/dev/null 2>err || fail "train LIBSVM" "$(cat err)"
run evaluate s.krein test.libsvm --json
json "evaluate LIBSVM" 'j["metrics"]["micro_f1"] > 0.6'
run evaluate s.krein test.csv
status "evaluate: another format" 1

# ---- missing labels and the empty set ----
printf 'label,a,b\nx|y,1,2\ny,2,3\n,3,1\nx,0,1\nz|x|x,4,2\n?,1,1\n' >holes.csv
run train holes.csv --multilabel -q -k linear -l 1 -o h.krein
status "a missing label" 1
has "a missing label" err 'holes.csv:7: column 1 \(label\) is "\?": the row has no label'
run train holes.csv --multilabel -q -k linear -l 1 --missing drop --json -o h.krein
json "dropped" 'j["n"] == 5'
printf 'a,b\n1,2\n?,3\n' >cells.csv
"$KREIN" predict h.krein cells.csv -q >out || fail "predict with a missing cell"
is "predict: a dropped row" '?' "$(sed -n 2p out)"
printf 'label,a\nbig cat,1\ncat,2\n,3\n' >blanks.csv
"$KREIN" train blanks.csv --multilabel -q -k linear -l 1 -o b.krein >/dev/null || fail "blanks"
run info b.krein
has "blanks between names" out '^labels  *big, cat$'

# ---- refused ----
no() { # name, regex, arguments
    run "${@:3}"
    status "$1" "$want"
    has "$1" err "$2"
}
want=1
printf 'label,a\nx||y,1\ny,2\n' >bad.csv
no "two separators" 'bad.csv:2: column 1 \(label\) has an empty name among its labels: "x\|\|y"' train bad.csv --multilabel -o x.krein
printf '1,,3 1:2\n2 1:3\n' >bad.svm
no "two commas" 'bad.svm:1: an empty name among the labels "1,,3"' train bad.svm --multilabel -o x.krein
no "not asked for" 'several labels \("1,2,3,4,6"\): .*--task multilabel' train train.libsvm -o x.krein
printf 'label,a\n,1\n,2\n' >none.csv
no "no label" 'no row has a label; is --label the right column' train none.csv --multilabel -o x.krein
printf 'label,a,b\nw,1,2\nx,2,3\n' >other.csv
no "an unknown label" 'row 1 has the label "w", which was never seen in training' evaluate h.krein other.csv
no "a learner" 'svr cannot learn several labels a row; learners that can: krr' train train.csv --multilabel --learner svr -o x.krein
no "a weighing" 'easymkl\) is for classes and rows have several labels' train train.csv --multilabel --kernels 'gaussian(sigma=1); linear' --learner 'mkl(method=easymkl)' -o x.krein
want=2
no "several columns" 'takes one column of texts.*several columns' train train.csv --multilabel --targets 2 -o x.krein
no "numbers" 'takes one column of texts.*the label is a number' train train.npy --multilabel -o x.krein
no "svm of pairs" 'leave multi out' train train.csv --multilabel -k gaussian --learner 'svm(multi=ovo)' -o x.krein
[[ ! -e x.krein ]] && pass || fail "refused: no model"
"$KREIN" train train.csv --multilabel -q -k 'gaussian(sigma=1.5)' -m 'orf(D=64)' --learner 'dckrr(parts=2)' -o d.krein >/dev/null
no "no probabilities" 'd.krein was trained without --probabilities' predict d.krein test.csv --probabilities
"$KREIN" train train.csv --multilabel -q -k 'gaussian(sigma=1.5)' -m 'orf(D=64)' --learner 'dckrr(parts=2)' --probabilities -o d.krein >/dev/null
run predict d.krein test.csv --probabilities --json
json "probabilities of dckrr, by rows kept apart" 'all(0 <= v <= 1 for p in j["probabilities"] for v in p)'

# ---- other commands ----
train train.csv -m 'orf(D=128)' -o f.krein >/dev/null || fail "train on features"
run quantize f.krein --data test.csv -o q.krein
ok "quantize"
has "quantize: the loss" out '^Hamming loss  *[0-9.]* %, before [0-9.]* %$'
run export f.krein -o model.c
ok "export"
if command -v cc >/dev/null; then
    cat >main.c <<'END'
#include <stdio.h>
int model_predict(const float *x, float *scores);
extern const char *const model_classes[6];
int main(void) {
    float x[5], f[6];
    while (scanf("%f,%f,%f,%f,%f", x, x + 1, x + 2, x + 3, x + 4) == 5) {
        int count = model_predict(x, f), c;
        for (c = 0; c < 6; c++)
            if (f[c] > 0) printf("%s%s", model_classes[c], --count > 0 ? "|" : "");
        printf("\n");
    }
    return 0;
}
END
    cc -O1 -std=c99 main.c model.c -lm -o program || fail "export: cc"
    tail -n +2 test.csv | cut -d, -f2- | ./program >exported
    "$KREIN" predict f.krein test.csv -q >out
    is "export: the same sets" 0 "$(diff exported out | grep -c '^[<>]')"
else
    skip "export: the same sets" "there is no cc"
fi
run plan train.csv --multilabel
ok "plan"
run select train.csv --multilabel --kernels 'gaussian(sigma=1); linear' -q
ok "select"
run train train.csv --multilabel --holdout 0.2 -q --json -o auto.krein
json "the choice of a kernel" 'len(j["candidates"]) >= 3 and j["test"]["micro_f1"] > 0.6'
run train train.csv --multilabel -q -k 'gaussian(sigma=1.5)' --time-limit 5 -o t.krein
ok "a time limit"
summary
