#!/usr/bin/env bash
# The learner deep from the command line: what is printed, files, checkpoints, what is refused.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$KREIN" generate blobs -n 300 -o b.csv >/dev/null || fail "generate"
"$KREIN" generate friedman -n 300 -o reg.csv >/dev/null || fail "generate"
kernel=(-k 'gaussian(sigma=3)')

for bits in 32 8 4 2 1; do
    run train reg.csv --learner "deep(layers=2, width=24, bits=$bits, epochs=20)" "${kernel[@]}" --json -o r$bits.krein
    ok "numbers in $bits bits"
    json "numbers in $bits bits: what was chosen" "j['learner'].startswith('deep(layers=2, width=24, bits=$bits') and j['map'] == 'deep(D=48, layers=2, bits=$bits)' and j['cv']['folds'] == 1"
    run evaluate r$bits.krein reg.csv --json
    ok "evaluate in $bits bits"
    run info r$bits.krein
    has "info in $bits bits" out "^map +deep\(D=48, layers=2, bits=$bits\)"
    KREIN_TEST_CODES=portable "$KREIN" predict r$bits.krein reg.csv >portable.txt 2>/dev/null
    "$KREIN" predict r$bits.krein reg.csv >best.txt 2>/dev/null
    if cmp -s portable.txt best.txt; then pass; else fail "$bits bits: the paths of this CPU differ"; fi
done
json_of() { "$PYTHON" -c 'import json, sys; print(json.load(open("chosen"))[sys.argv[1]])' "$1"; }
run train b.csv --learner 'deep(layers=3, memory=1e4, bits=8, epochs=20, loss=hinge)' -k gaussian --holdout 0.3 --probabilities --json -o b.krein
ok "classes by a budget"
json "classes by a budget: the width" '"width=17, bits=8" in j["learner"] and j["D"] == 34 and j["test"]["accuracy"] > 0.8'
cp out chosen
run train b.csv --learner "$(json_of learner)" -k "$(json_of kernel)" -m "$(json_of map)" --holdout 0.3 --probabilities -j 1 -o again.krein
ok "train with what was chosen"
is "the same model on one thread" "$("$KREIN" predict b.krein b.csv --scores | cksum)" "$("$KREIN" predict again.krein b.csv --scores | cksum)"
run predict b.krein b.csv --probabilities -o p.csv
ok "probabilities"
run train reg.csv --targets 2 --learner 'deep(width=16, bits=8, epochs=5)' "${kernel[@]}" -o k.krein
ok "two targets"
run plan b.csv --learner 'deep(bits=4)' "${kernel[@]}"
ok "plan"
has "plan: features" out '^features +256'
run help deep
has "help: the learner" out '^deep \(learner\)'
has "help: the map" out '^deep \(map\)'
run train reg.csv --learner 'deep(width=64, layers=4, bits=8)' "${kernel[@]}" --time-limit 0.000001 -o t.krein
((rc <= 1)) && pass || fail "no time at all" "$(why)"
run train reg.csv --learner 'deep(width=32, bits=8, epochs=1000000, patience=0)' "${kernel[@]}" --time-limit 2 -o t.krein
ok "a time limit"
has "a time limit: said" err 'deep: time limit: best of [0-9]+ epochs'

# Interrupted, it goes on to the same bytes.
epochs=400
[[ $SANITIZED ]] && epochs=30
net=(train reg.csv "${kernel[@]}" --learner "deep(width=32, bits=4, epochs=$epochs, patience=0)")
goes_on 15000 "${net[@]}"

refuse() { # option, message
    run train b.csv --learner "deep($1)" "${kernel[@]}" -o e.krein
    status "$1" 2
    has "$1: message" err "$2"
}
refuse bits=3 'bits=3 is not offered: 32, 8, 4, 2 or 1'
refuse layers=0 'layers'
refuse 'layers=7, bits=8, memory=95' 'too small for 7 layers of width 1 in 8 bits, which take 96'
refuse 'width=8, memory=1e5' 'memory says what the width is'
refuse 'bits=4, refit=yes' 'use refit=no, or bits=32'
run train b.csv --learner deep -D 100 "${kernel[@]}" -o e.krein
status "features" 2
has "features: the way out" err 'leave .* out, and give layers and width to the learner'
head -40 b.csv | awk -F, -v OFS=, 'NR > 1 { $1 = "a" } 1' >one.csv
run train one.csv --task classification --learner 'deep(bits=8)' "${kernel[@]}" -o e.krein
status "one class" 1
has "one class: said" err 'class'
[[ -e e.krein ]] && fail "a model was written" || pass
summary
