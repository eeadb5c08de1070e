#!/usr/bin/env bash
# Learned frequencies from the command line: what is printed, files, what is refused.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$KREIN" generate blobs -n 300 -o b.csv >/dev/null || fail "generate"
"$KREIN" generate friedman -n 300 -o reg.csv >/dev/null || fail "generate"
kernel=(-k 'gaussian(sigma=3)')

run train reg.csv --learner 'askl(D=32, epochs=20)' "${kernel[@]}" --json -o r.krein
ok "numbers"
json "numbers: what was chosen" 'j["learner"].startswith("askl(D=32") and j["map"].startswith("learned(D=32") and j["lambda"] > 0 and j["cv"]["folds"] == 1'
json "both errors" '0 < j["cv"]["rmse"] < 5 and 0 < j["refit"]["rmse"] < 5 and j["loo"] is None'
has "both errors: held out" err 'best: epoch .* rmse .* on 30 rows held out'
has "both errors: after the refit" err 'refit with lambda .*: rmse .* on the rows held out \(before: .*\); leave-one-out of all rows, too small, '
run train reg.csv --learner 'askl(D=32, epochs=20)' "${kernel[@]}" -o r.krein
has "both errors in text" out '^held out +[0-9.]+ rmse'
has "both errors in text: after" out '^after refit +[0-9.]+ rmse'
run train reg.csv --learner 'askl(D=32, epochs=20, refit=no)' "${kernel[@]}" --json -o n.krein
json "no refit" 'j["refit"] is None and j["cv"]["rmse"] > 0 and j["lambda"] is None'
run train reg.csv --targets 2 --learner 'askl(D=32, epochs=20)' "${kernel[@]}" --json -o k.krein
ok "two targets"
json "two targets: both errors" 'j["cv"]["rmse"] > 0 and j["refit"]["rmse"] > 0'
run train b.csv --learner 'askl(epochs=5)' -k gaussian --holdout 0.3 --json -o b.krein
ok "classes"
json "classes: good" 'j["test"]["accuracy"] > 0.8 and j["kernel"].startswith("gaussian(sigma=")'
cp out chosen
spec() { "$PYTHON" -c 'import json, sys; print(json.load(open("chosen"))[sys.argv[1]])' "$1"; }
run train b.csv --learner "$(spec learner)" -k "$(spec kernel)" -m "$(spec map)" --holdout 0.3 -j 1 -o again.krein
ok "train with what was chosen"
is "the same model on one thread" "$("$KREIN" predict b.krein b.csv --scores | cksum)" "$("$KREIN" predict again.krein b.csv --scores | cksum)"
run predict b.krein b.csv --probabilities -o p.csv
ok "probabilities of the softmax"
run info b.krein
has "info" out 'askl\(D='
run train reg.csv -m 'learned(file=r.krein)' "${kernel[@]}" -o other.krein
ok "krr on the frequencies of a model"
run transform reg.csv -m 'learned(file=r.krein)' "${kernel[@]}" -o z.npy
ok "transform by the frequencies of a model"
run train reg.csv -m 'learned(file=r.krein)' "${kernel[@]}" --learner svr -o other.krein
ok "svr on the frequencies of a model"
lacks "the columns are encoded alike" err 'otherwise'
for learner in krr svm logistic; do
    run train b.csv -m 'learned(file=b.krein)' "${kernel[@]}" --learner $learner --holdout 0.3 --json -o other.krein
    ok "$learner on the frequencies of a model"
    json "$learner on them: good" 'j["test"]["accuracy"] > 0.8 and "learned(D=" in j["map"]'
done
run predict other.krein b.csv -o p.csv
ok "predict by the frequencies of a model"
run train reg.csv --scale minmax -m 'learned(file=r.krein)' "${kernel[@]}" -o other.krein
ok "columns that are encoded otherwise"
has "encoded otherwise: said" err 'its --scale is standard, here it is minmax; take its encoding by --metric file=MODEL'
run pca reg.csv -m 'learned(file=r.krein)' "${kernel[@]}" --components 2 -o c.csv
ok "components of the frequencies of a model"
run train b.csv --learner 'askl(D=8, epochs=2, loss=hinge)' "${kernel[@]}" --probabilities -o h.krein
ok "calibrated probabilities"
run plan b.csv --learner askl "${kernel[@]}"
ok "plan"
for option in norm=frobenius norm=trace norm=l1 norm=group schedule=constant schedule=step schedule=cosine \
    schedule=warmup clip=0.1 optimizer=sgd optimizer=adam optimizer=adadelta; do
    run train b.csv --learner "askl(D=16, epochs=2, $option)" "${kernel[@]}" -o p.krein
    ok "$option"
done
for loss in hinge hinge2 square softmax logistic; do
    run train b.csv --learner "askl(D=16, epochs=2, loss=$loss)" "${kernel[@]}" --probabilities -o p.krein
    ok "loss=$loss, with probabilities"
    run evaluate p.krein b.csv --json
    json "loss=$loss" '0 <= j["metrics"]["log_loss"] < 1.2'
done
for preset in sk nsk skl nskl askl joint; do
    run train b.csv --learner "askl(preset=$preset, D=16, epochs=2)" "${kernel[@]}" -o p.krein
    ok "preset $preset"
done
head -n 100 reg.csv | sed 's/^[^,]*,/,/' >more.csv
run train reg.csv --learner 'askl(D=16, epochs=2)' "${kernel[@]}" --unlabeled more.csv -o u.krein
ok "rows without labels"

# ---- a mixture ----
run train reg.csv --learner 'askl(form=mixture, q=2, D=32, epochs=2)' "${kernel[@]}" --json -o mix.krein
ok "a mixture"
json "a mixture: what was chosen" '"form=mixture, q=2" in j["learner"] and "spectrum=stationary" in j["map"]'
has "a mixture: said" err 'a mixture of 2 components from .* rows: log evidence'
run info mix.krein --json
json "a mixture: info" 'j["facts"]["components"] == 2 and "mixture.means" in [a["name"] for a in j["arrays"]]'
for map in exact 'nystrom(D=20)' 'rff(D=32)' 'leverage(D=32)'; do
    run train reg.csv -k 'spectral(file=mix.krein)' -m "$map" -o s.krein
    ok "the mixture as a kernel: $map"
done
run gram reg.csv -k 'spectral(file=mix.krein)' -o K.npy
ok "gram of a mixture"
run approx reg.csv -k 'spectral(q=3)' -m rff -D 16 --rows 50 --repeat 2
ok "approx of a drawn mixture"
run select reg.csv --kernels 'spectral(q=2, sigma=1..4:3); spectral(file=mix.krein); gaussian(sigma=3)' --json
ok "select among mixtures"
json "select among mixtures" 'j["scored"] == 5'
run train reg.csv -k 'spectral(file=r.krein)' -o e.krein
status "a model without a mixture" 2
has "without a mixture: the way out" err 'no spectral mixture; give a model .* askl\(form=mixture\)'
run train b.csv --task regression -k 'spectral(file=mix.krein)' -o e.krein
status "a mixture of other columns" 1
run train reg.csv -k 'spectral(file=none.krein)' -o e.krein
status "a mixture that is not there" 1
has "not there" err 'none.krein'
run train reg.csv -k 'spectral(file=mix.krein, seed=3)' -o e.krein
status "a seed of a file" 2
run train reg.csv --learner 'askl(form=mixture, preset=nskl)' "${kernel[@]}" -o e.krein
status "a mixture with a preset" 2

# ---- the figure ----
svg() { # name curves markers
    "$PYTHON" - "$2" "$3" <<'PY'
import sys, xml.etree.ElementTree as t
root = t.parse("f.svg").getroot()
lines = [e for e in root.iter() if e.get("class", "").startswith("line")]
marks = [e for e in root.iter() if e.tag.endswith("use")]
assert root.tag.endswith("svg") and len(lines) == 3 * int(sys.argv[1]), len(lines)
assert len(marks) == int(sys.argv[2]), len(marks)
for e in lines:  # all points are inside of the frames
    for x, y in (p.split() for p in e.get("d")[1:].split("L") if "h" not in p):
        assert 66 <= float(x) <= 956 and 40 <= float(y) <= 340, (x, y)
PY
    is "$1" 0 $?
}
run info r.krein --plot f.svg
ok "info --plot of trained frequencies"
svg "two curves in both plots, with a marker for each of 10 inputs and 40 bins" 2 $((2 * (10 + 40) + 2))
has "the curves have names" f.svg 'at the start'
run info mix.krein --plot f.svg --json
ok "info --plot of a mixture"
json "info --plot --json" 'j["command"] == "info"'
svg "of a mixture" 2 102
for map in 'learned(D=16)' 'orf(D=16)' 'sorf(D=16)'; do
    run train reg.csv -m "$map" "${kernel[@]}" -o drawn.krein
    run info drawn.krein --plot f.svg
    ok "info --plot of $map"
    svg "one curve of $map" 1 51
done
rm f.svg
for map in exact 'nystrom(D=10)' 'auto(D=10)'; do
    run train reg.csv -m "$map" "${kernel[@]}" -o drawn.krein
    run info drawn.krein --plot f.svg
    status "info --plot of $map" 2
    has "info --plot of $map: why" err 'no frequencies'
    is "nothing else is printed" 0 "$(wc -c <out)"
done
[[ -e f.svg ]] && fail "a figure was written" || pass
run info r.krein --plot f.png
status "info --plot to another format" 2
has "another format: why" err 'in \.svg'
run info r.krein --plot nowhere/f.svg
status "info --plot that cannot be written" 1

# ---- odd input ----
run train reg.csv --learner 'askl(D=16, rate=1e30, optimizer=sgd)' "${kernel[@]}" -o d.krein
ok "a rate that diverges"
has "diverges: said" err 'rate=1e\+30 is too large; the state of epoch 0 is kept'
run train reg.csv --learner 'askl(D=1, batch=100000, epochs=2)' "${kernel[@]}" -o d.krein
ok "one feature, a batch of all rows"
has "a batch of all rows" err '2 epochs, 2 steps'
awk -F, 'NR == 1 { print "y,a,b" } NR > 1 { print $1 ",1,2" }' reg.csv >constant.csv
run train constant.csv --learner 'askl(D=8, epochs=2)' "${kernel[@]}" -o d.krein
ok "constant inputs"
has "constant inputs: said" err 'no epoch was better than the start'
awk -F, -v OFS=, 'NR > 1 { $1 = 1 } { print }' b.csv >one.csv
run train one.csv --task classification --learner askl "${kernel[@]}" -o e.krein
status "one class" 1
has "one class: said" err 'class'
for bad in epochs=0 D=0 batch=0 rate=-1 lambda_a=-1 clip=-1 norm=best loss=best schedule=best optimizer=best; do
    run train reg.csv --learner "askl($bad)" "${kernel[@]}" -o e.krein
    status "$bad" 2
    has "$bad: what may stand there" err 'takes|one of|rate'
done
run train reg.csv --learner 'askl(loss=hinge)' "${kernel[@]}" -o e.krein
status "hinge of numbers" 2
run train reg.csv --learner askl -m rff "${kernel[@]}" -o e.krein
status "another map" 2
has "another map: the way out" err 'map=learned'
run train reg.csv --learner askl -k poly -o e.krein
status "a kernel without a measure" 2
run train reg.csv --learner 'askl(refit=no)' -l 1 "${kernel[@]}" -o e.krein
status "lambda without refit" 2
run train reg.csv -m 'learned(file=none.krein)' "${kernel[@]}" -o e.krein
((rc > 0)) && pass || fail "a model that is not there" "$(why)"
has "a model that is not there" err 'none.krein'
run train b.csv --task regression -m 'learned(file=r.krein)' "${kernel[@]}" -o e.krein
status "a model of other columns" 1
run train reg.csv --learner 'askl(D=64)' "${kernel[@]}" --time-limit 0.000001 -o t.krein
((rc <= 1)) && pass || fail "no time at all" "$(why)"
[[ -e e.krein ]] && fail "a model was written" || pass
summary
