#!/usr/bin/env bash
# How sure predictions are, from the command line: columns, JSON, evaluate, plan, what is refused.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$KREIN" generate friedman -n 300 -o r.csv >/dev/null || fail "generate"
"$KREIN" generate friedman -n 200 -s 2 -o t.csv >/dev/null || fail "generate"
"$KREIN" generate blobs -n 300 -o b.csv >/dev/null || fail "generate"
kernel=(-k 'gaussian(sigma=3)')
printf 'y,x1,x2,x3,x4,x5,x6,x7,x8,x9,x10\n0,9,9,9,9,9,9,9,9,9,9\n' >far.csv

for map in exact 'orf(D=64)' 'nystrom(D=64)'; do
    run train r.csv "${kernel[@]}" -m "$map" --uncertainty -o r.krein
    ok "$map: train"
    run predict r.krein t.csv --std --interval 0.9 --novelty --header
    ok "$map: predict"
    is "$map: names" "prediction,std,lower,upper,novelty" "$(head -1 out)"
    is "$map: lines" 201 "$(wc -l <out)"
    cp out one
    run predict r.krein t.csv --std --interval 0.9 --novelty -j 1
    is "$map: one thread, no names" "$(tail -n +2 one | cksum)" "$(cksum <out)"
    run predict r.krein t.csv --std=mean --json
    json "$map: the deviation of the mean is smaller" 'all(a < b for a, b in zip(j["std"], [float(l.split(",")[1]) for l in open("one").readlines()[1:]]))'
    run predict r.krein t.csv --interval 0.9 --novelty --json
    json "$map: bounds" 'all(a < p < b for a, p, b in zip(j["lower"], j["predictions"], j["upper"])) and len(j["novelty"]) == 200'
    # 1 % of such rows are above 1; of 200 hardly more than 8
    run predict r.krein far.csv --novelty
    far=$(cut -d, -f2 out)
    run predict r.krein t.csv --novelty --json
    json "$map: a row far away is novel, others are not" "$far > 1 and sum(v > 1 for v in j[\"novelty\"]) <= 8"
    run evaluate r.krein t.csv --interval 0.8 --json
    json "$map: coverage" 'j["metrics"]["interval"] == .8 and abs(j["metrics"]["coverage"] - .8) < 4 * (.8 * .2 * (1 / 300 + 1 / 200)) ** .5 and j["metrics"]["width"] > 0'
done
run evaluate r.krein t.csv
has "evaluate in text" out '^coverage +[0-9.]+ % of labels in intervals of coverage 0\.9'
run info r.krein
has "info" out '^uncertainty +std, intervals, novelty'

run train r.csv --targets 2 "${kernel[@]}" --uncertainty -o k.krein
run predict k.krein r.csv --std --interval 0.5 --header
is "two targets: names" "prediction1,prediction2,std1,std2,lower1,upper1,lower2,upper2" "$(head -1 out)"

run train b.csv "${kernel[@]}" --uncertainty -o b.krein
ok "classes"
run predict b.krein b.csv --interval 0.999 --novelty --header
is "classes: names" "prediction,set,novelty" "$(head -1 out)"
has "classes: sets of several" out '^[^,]+,[^,]+\|[^,]+,'
run predict b.krein b.csv --interval 0.9 --json
json "classes: the best is in the set" 'all(p in s for p, s in zip(j["predictions"], j["sets"]))'
run evaluate b.krein b.csv --json
json "classes: coverage" 'j["metrics"]["coverage"] > .8 and j["metrics"]["width"] >= 1'
run train b.csv --learner 'laprls(k=5)' "${kernel[@]}" --uncertainty -o s.krein
run predict s.krein b.csv --interval 0.9
ok "sets of laprls"
run train b.csv --learner svm "${kernel[@]}" --uncertainty -o s.krein
run predict s.krein b.csv --interval 0.9
ok "sets of svm"
run predict s.krein b.csv --novelty
status "novelty of svm" 2
has "novelty of svm: way out" err 'krr'

# Other learners: rows that are kept from the training.
run train r.csv --learner svr "${kernel[@]}" --uncertainty -v -o v.krein
ok "svr"
has "svr: rows kept" err '60 of 300 rows are kept from the training'
run info v.krein
has "svr: info" out '^uncertainty +intervals$'
run predict v.krein t.csv --interval 0.9 --header
is "svr: names" "prediction,lower,upper" "$(head -1 out)"
is "svr: the same width everywhere" 1 "$(awk -F, 'NR > 1 { printf "%.5g\n", $3 - $2 }' out | sort -u | wc -l)"
run predict v.krein t.csv --interval 0.99
has "svr: too few rows kept" err '60 rows are too few for intervals of coverage 0.99'
run predict v.krein t.csv --std
status "std of svr" 2
has "std of svr: way out" err '--std needs krr'
run evaluate v.krein t.csv --interval 0.8 --json
json "svr: coverage" 'abs(j["metrics"]["coverage"] - .8) < 4 * (.8 * .2 * (1 / 60 + 1 / 200)) ** .5'
run train r.csv --learner svr "${kernel[@]}" --uncertainty --holdout 0.2 --json -o v.krein
json "svr: held out rows" 'j["n"] == 192 and "coverage" in j["test"]'
run report v.krein t.csv --json
json "svr: report" '[c["asked"] for c in j["coverage"]] == [.5, .8, .9, .95]'
run train b.csv --learner kgd "${kernel[@]}" --uncertainty -o v.krein
ok "classes of kgd"
run predict v.krein b.csv --interval 0.9 --probabilities --json
json "classes of kgd: sets and probabilities" 'all(p in s for p, s in zip(j["predictions"], j["sets"])) and len(j["probabilities"]) == 300'
awk -F, -v OFS=, '{ print $0, NR == 1 ? "g" : int(NR / 20) }' r.csv >grouped.csv
for learner in svr krr; do
    run train grouped.csv --group g --learner $learner "${kernel[@]}" --uncertainty -o v.krein
    ok "groups: $learner"
    run info v.krein
    has "groups: $learner: intervals" out '^uncertainty +intervals$'
done
head -60 r.csv >few.csv
run train few.csv --learner svr "${kernel[@]}" --uncertainty -o x.krein
status "too few rows" 1
has "too few rows: way out" err '59 rows are too few.*at least 60'

run plan r.csv "${kernel[@]}" -m 'orf(D=512)' --json
cp out without
run plan r.csv "${kernel[@]}" -m 'orf(D=512)' --uncertainty --json
json "plan counts it" 'j["bytes_peak"] > json.load(open("without"))["bytes_peak"] + 4 * 512 * 512'

# Coverage on rows of real data that were kept out, at a sigma and a lambda that were chosen.
if [[ -z ${KREIN_DATA:-} || ! -d $KREIN_DATA ]]; then
    skip "coverage on real data" "KREIN_DATA is not there"
elif [[ -n $SANITIZED ]]; then
    skip "coverage on real data" "it takes long under a sanitizer"
else
    for set in boston auto-mpg space_ga cpusmall:-m:'orf(D=256)' abalone:-m:'nystrom(D=200)'; do
        IFS=: read -r -a part <<<"$set"
        "$PYTHON" - "$KREIN_DATA/${part[0]}.csv.gz" <<'END'
import gzip, random, sys
lines = gzip.open(sys.argv[1], "rt").read().splitlines()
try:
    float(lines[0].split(",")[0])
    head = []
except ValueError:
    head, lines = lines[:1], lines[1:]
random.Random(1).shuffle(lines)
n = min(len(lines) * 3 // 5, 1500)
open("fit.csv", "w").write("\n".join(head + lines[:n]) + "\n")
open("held.csv", "w").write("\n".join(head + lines[n:n + 2000]) + "\n")
END
        run train fit.csv -k gaussian -t regression --label first "${part[@]:1}" --uncertainty --json -o c.krein
        ok "${part[0]}: train"
        cp out trained
        for level in 0.5 0.8 0.9 0.95; do
            run evaluate c.krein held.csv --interval $level --json
            json "${part[0]}: coverage $level" 'abs(j["metrics"]["coverage"] - '$level') < 4 * ('$level' * (1 - '$level') * (1 / json.load(open("trained"))["n"] + 1 / j["metrics"]["n"])) ** .5'
        done
        # A fifth of the rows is kept: a quarter of those that are trained on. The kernel is the one above, C (chosen
        # with --uncertainty for svr above) is given.
        chosen=$("$PYTHON" -c 'import json; print(json.load(open("trained"))["kernel"])')
        run train fit.csv -k "$chosen" -t regression --label first --learner 'svr(C=10)' --uncertainty --json -o c.krein
        ok "${part[0]}: train svr"
        cp out trained
        for level in 0.5 0.8 0.9 0.95; do
            run evaluate c.krein held.csv --interval $level --json
            json "${part[0]}: svr: coverage $level" 'abs(j["metrics"]["coverage"] - '$level') < 4 * ('$level' * (1 - '$level') * (4 / json.load(open("trained"))["n"] + 1 / j["metrics"]["n"])) ** .5'
        done
    done
fi

run train r.csv "${kernel[@]}" -o plain.krein
run predict plain.krein t.csv --std
status "without --uncertainty" 2
has "without --uncertainty: way out" err 'trained without --uncertainty'
run evaluate plain.krein t.csv --interval 0.9
status "evaluate without --uncertainty" 2
has "evaluate without --uncertainty: way out" err 'train it with --uncertainty'
run predict b.krein b.csv --std
status "std of classes" 2
run predict r.krein t.csv --interval 1
status "coverage 1" 2
run predict r.krein t.csv --std=both
status "--std=both" 2
run quantize r.krein --bits 8 -o q.krein
has "few bits do not keep it" err 'does not keep --uncertainty'
run predict q.krein t.csv --std
status "few bits" 2
summary
