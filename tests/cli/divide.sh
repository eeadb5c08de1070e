#!/usr/bin/env bash
# Learning on parts of the rows, and from rows without labels.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$KREIN" generate friedman -n 400 -o f.csv >/dev/null || fail "generate"
features=(-k 'gaussian(sigma=3)' -m 'orf(D=64)')

# ---- parts ----
run train f.csv --learner 'dckrr(parts=4)' "${features[@]}" --holdout 0.25 --json -o m.krein
ok "dckrr"
json "dckrr: chosen" 'j["learner"] == "dckrr(parts=4, order=blocks)" and j["lambda"] > 0 and 0 < j["loo"]["rmse"] < 4 and j["test"]["r2"] > 0.6'
lambda=$("$PYTHON" -c 'import json; print(json.load(open("out"))["lambda"])')
run train f.csv --learner 'dckrr(parts=4)' "${features[@]}" --holdout 0.25 -l "$lambda" -j 1 -o again.krein
ok "dckrr with what was chosen"
run predict m.krein f.csv -o m.values
ok "predict"
run predict again.krein f.csv -o again.values
ok "predict"
is "the same model" "$(cksum <m.values)" "$(cksum <again.values)"
run info m.krein
has "info" out 'dckrr\(parts=4'
run train f.csv --learner 'dckrr(parts=4, order=shuffle)' -m exact --max-exact 100 -o e.krein
ok "exact, 100 rows a part"
run train f.csv --learner 'dckrr(parts=3)' -m exact --max-exact 100 -o e.krein
status "134 rows a part" 2
has "134 rows a part" err '134 rows, above --max-exact \(100\).*parts=4'
run train f.csv --learner dckrr -m exact --max-exact 100 --json -o e.krein
ok "parts by advice"
json "parts by advice" 'int(j["learner"].split("parts=")[1].split(",")[0]) >= 4'
run train f.csv --learner 'dckrr(parts=401)' "${features[@]}" -o e.krein
status "more parts than rows" 2
has "more parts than rows" err 'fewer parts'
run plan f.csv --learner 'dckrr(parts=4)'
ok "plan"
for most in 50 400; do
    run plan f.csv --learner dckrr -k 'gaussian(sigma=3)' -m exact --max-exact $most --json
    ok "plan: parts of $most rows at most"
    "$PYTHON" -c 'import json; print(int(json.load(open("out"))["flops"]))' >flops.$most
done
is "plan counts parts by --max-exact" "$(($(<flops.50) * 4 < $(<flops.400)))" 1
(head -1 f.csv && tail -n +2 f.csv | sort -g) >sorted.csv
run train sorted.csv --learner 'dckrr(parts=4)' "${features[@]}" --json -o s.krein
ok "sorted rows"
json "sorted rows are shuffled" 'j["learner"] == "dckrr(parts=4, order=shuffle)"'
has "sorted rows are shuffled" err 'variance lies between parts'
run train sorted.csv --learner 'dckrr(parts=4, order=blocks)' "${features[@]}" -o s.krein
ok "sorted rows in blocks"
has "sorted rows in blocks" err 'warning: .*use order=shuffle'

# ---- rows without labels ----
head -200 f.csv >labelled.csv
(head -1 f.csv && tail -200 f.csv) | cut -d, -f2- >unlabelled.csv
tail -200 f.csv | sed 's/^[^,]*,/,/; 1~2s/^,/?,/' | cat labelled.csv - >all.csv
run train labelled.csv --learner sskrr --unlabeled unlabelled.csv "${features[@]}" --json -o a.krein
ok "sskrr"
has "sskrr: says how many" err '399 rows; 199 have labels \(49\.9 %\)'
json "sskrr: chosen" 'j["n"] == 199 and j["learner"] == "sskrr(parts=1, order=blocks)" and j["lambda"] > 0 and j["loo"]["rmse"] < 5'
run train all.csv --learner sskrr "${features[@]}" -j 1 -o b.krein
ok "sskrr, empty labels"
is "the same model" "$(cksum <a.krein)" "$(cksum <b.krein)"
run predict a.krein unlabelled.csv
ok "predict"
is "predict: rows" 200 "$(($(wc -l <out) - $(head -1 out | grep -c predict)))"
run plan labelled.csv --learner sskrr --unlabeled unlabelled.csv "${features[@]}"
ok "plan"
run train labelled.csv --unlabeled unlabelled.csv -o c.krein
status "krr" 2
has "krr" err 'no use for rows without labels.*sskrr'
run train labelled.csv --learner sskrr -m exact -o c.krein
status "sskrr, exact" 2
has "sskrr, exact" err 'nystrom'
run train labelled.csv --learner sskrr --unlabeled nosuch.csv -o c.krein
status "no such file" 1
has "no such file" err 'nosuch\.csv'
cut -d, -f3- unlabelled.csv >narrow.csv
run train labelled.csv --learner sskrr --unlabeled narrow.csv -o c.krein
status "other columns" 1
summary
