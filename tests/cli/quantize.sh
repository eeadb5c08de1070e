#!/usr/bin/env bash
# quantize: models in a few bits from the command line.
# shellcheck source=lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KREIN" generate friedman -n 600 -o data.csv -q >/dev/null
head -401 data.csv >train.csv
{ head -1 data.csv; tail -200 data.csv; } >test.csv
run train train.csv -q -o m.krein -k gaussian -m "orf(D=256)"
ok "train"
before=$("$KREIN" evaluate m.krein test.csv --json | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["metrics"]["rmse"])')

for bits in 8 4 2 1; do
    run quantize m.krein --bits $bits --data train.csv -o s$bits.krein --json
    ok "$bits bits"
    json "$bits bits, report" "j['bits'] == $bits and 'bits=$bits' in j['map'] and j['after']['rmse'] > 0 and j['before']['rmse'] > 0"
    run evaluate s$bits.krein test.csv --json
    ok "$bits bits, evaluate"
    [[ $bits == 8 ]] && json "8 bits are as good" "abs(j['metrics']['rmse'] / $before - 1) < 0.02"
    [[ $bits == 4 ]] && json "4 bits are nearly as good" "j['metrics']['rmse'] / $before < 1.5"
    KREIN_TEST_CODES=portable "$KREIN" predict s$bits.krein test.csv >portable.txt 2>/dev/null
    "$KREIN" predict s$bits.krein test.csv >best.txt 2>/dev/null
    if cmp -s portable.txt best.txt; then pass; else fail "$bits bits: the paths of this CPU differ"; fi
done
run quantize m.krein -o s.krein
ok "8 bits without data"
has "says the size" out '^model .*s.krein .*before'
lacks "no error without data" out '^rmse'
cut -d, -f2- train.csv >rows.csv
run quantize m.krein --data rows.csv --label none -o s.krein
ok "rows without labels"
run info s8.krein
has "map" out 'deep\(.*bits=8'

for bits in 3 0 16 x; do
    run quantize m.krein --bits $bits -o no.krein
    status "$bits bits" 2
done
run quantize m.krein --bits 8
status "no output" 2
run quantize m.krein -o m.krein
status "onto the model itself" 2
run quantize m.krein --data rows.csv --label none -o rows.csv
status "onto the data" 2
has "onto the data" err 'rows.csv is read and would be overwritten'
run train train.csv -q -o n.krein -k gaussian -m "nystrom(D=20)"
run quantize n.krein --data train.csv -o n8.krein --json
ok "landmarks"
json "landmarks, report" "'nystrom(' in j['map'] and 'bits=8' in j['map'] and j['after']['rmse'] < 1.3 * j['before']['rmse']"
run train train.csv -q -o n.krein -k laplacian -m "nystrom(D=20)"
run quantize n.krein -o no.krein
status "landmarks of another kernel" 1
has "what can be" err 'gaussian.*rff'
run quantize s8.krein -o no.krein
status "twice" 1
run train train.csv -q -o n.krein -k gaussian -m "nystrom(D=20, bits=3)"
status "landmarks in 3 bits" 2
cut -d, -f1-4 train.csv >narrow.csv
run quantize m.krein --data narrow.csv -o no.krein
status "data of another width" 1
[[ -e no.krein ]] && fail "no file is left" || pass
run quantize train.csv -o no.krein
status "no model" 1

summary
