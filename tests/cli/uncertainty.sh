#!/usr/bin/env bash
# How sure predictions are, from the command line: columns, JSON, evaluate, plan, what is refused.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$KREIN" generate friedman -n 300 -o r.csv >/dev/null || fail "generate"
"$KREIN" generate friedman -n 200 -s 2 -o t.csv >/dev/null || fail "generate"
"$KREIN" generate blobs -n 300 -o b.csv >/dev/null || fail "generate"
kernel=(-k 'gaussian(sigma=3)')

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
    run evaluate r.krein t.csv --interval 0.8 --json
    json "$map: coverage" 'j["metrics"]["interval"] == .8 and abs(j["metrics"]["coverage"] - .8) < 4 * (.8 * .2 * (1 / 300 + 1 / 200)) ** .5 and j["metrics"]["width"] > 0'
done
run evaluate r.krein t.csv
has "evaluate in text" out '^coverage +[0-9.]+ % of labels in intervals of coverage 0\.9'
run info r.krein
has "info" out '^uncertainty +std, intervals, novelty'
printf 'y,x1,x2,x3,x4,x5,x6,x7,x8,x9,x10\n0,9,9,9,9,9,9,9,9,9,9\n' >far.csv
for map in exact 'orf(D=64)' 'nystrom(D=64)'; do
    run train r.csv "${kernel[@]}" -m "$map" --uncertainty -o e.krein
    run predict e.krein far.csv --novelty
    far=$(cut -d, -f2 out)
    run predict e.krein t.csv --novelty --json
    # 1 % of such rows are above 1; of 200 hardly more than 8
    json "$map: a row far away is novel, others are not" "$far > 1 and sum(v > 1 for v in j[\"novelty\"]) <= 8"
done

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
run train r.csv --learner svr "${kernel[@]}" --uncertainty -o x.krein
status "svr" 2
has "svr: way out" err 'use krr'
run train b.csv --learner logistic --uncertainty -o x.krein
has "logistic: way out" err 'krr, laprls, svm'
run quantize r.krein --bits 8 -o q.krein
has "few bits do not keep it" err 'does not keep --uncertainty'
run predict q.krein t.csv --std
status "few bits" 2
summary
