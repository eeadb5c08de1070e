#!/usr/bin/env bash
# The option parser: every form of an option, strict numbers, sizes, words.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# generate is fast and shows what was understood.
rows() { wc -l <"$1" | tr -d ' '; }
run generate arm -n 7 -o a.csv
ok "-n 7"
is "-n 7" 8 "$(rows a.csv)"
run generate arm -n7 -ob.csv
ok "-n7 -ob.csv"
is "-n7" 8 "$(rows b.csv)"
run generate arm --rows 7 --output c.csv
ok "--rows 7"
run generate arm --rows=7 --output=d.csv
ok "--rows=7"
run generate --rows=7 --output=e.csv -- arm
ok "--"
run generate -qv -n 3 -n 7 -o f.csv arm
ok "combined flags, last one counts"
for f in b c d e f; do is "$f.csv is a.csv" "$(cat a.csv)" "$(cat $f.csv)"; done
run generate arm -qn 7 -o g.csv
ok "flag and value together"
run generate arm -n 7 -s 1 -o h.csv
is "seed 1 is the default" "$(cat a.csv)" "$(cat h.csv)"
run generate arm -n 7 --seed 18446744073709551615 -o i.csv
ok "64-bit seed"
lacks "another seed, other data" i.csv "$(sed -n 2p a.csv | cut -d, -f2)"

bad() { # name args...: status 2 and a message with the option's name
    local name=$1
    shift
    run "$@"
    status "$name" 2
}
bad "seed too large" generate arm -n 7 -o x.csv --seed 18446744073709551616
bad "seed negative" generate arm -n 7 -o x.csv --seed -1
for n in 0 -3 7.5 7x x '' 1e3 ' 7' 0x10 nan 99999999999999999999; do bad "rows '$n'" generate arm -n "$n" -o x.csv; done
for s in -1 nan inf x '' 1x 0x1; do bad "noise '$s'" generate arm -n 7 --noise "$s" -o x.csv; done
run generate arm -n 7 --noise 0 -o j.csv
ok "noise 0"
for j in 0 4097 -1 1.5 two; do bad "threads $j" generate arm -n 7 -o x.csv -j "$j"; done
for size in '' x 0 -1G 1.5X 1GG 1.5.5G G .G 1e3 99999999T nan 0x10; do
    bad "size '$size'" generate arm -n 7 -o x.csv --max-memory "$size"
    has "size '$size'" err 'max-memory needs'
done
for size in 64M 0.5G 1g 1T 100000000 65536K 1.5G; do
    run generate arm -n 7 -o k.csv --max-memory $size
    ok "size $size"
done
is "nothing was written" "" "$(find . -name 'x.csv*')"

bad "unknown option" train a.csv --lamda 1
has "unknown option" err 'unknown option --lamda; did you mean --lambda\?'
bad "far from all" train a.csv --zzzzzzzzzz
has "far from all" err "krein help train"
bad "unknown letter" train a.csv -Z
bad "letter among flags" train a.csv -qZ
bad "value for a flag" train a.csv --json=yes
has "value for a flag" err 'takes no value'
bad "value missing" train a.csv --kernel
has "value missing" err '--kernel needs EXPR'
bad "value missing, short" train a.csv -k
bad "empty value" train a.csv -o ''
bad "no operand" train
has "no operand" err 'usage: krein train'
bad "too many operands" train a.csv b.csv
bad "one of two operands" predict m.krein
for c in train predict evaluate plan transform gram generate info; do bad "$c alone" $c; done
bad "task" train a.csv -t ranking
has "task" err 'auto\|regression\|classification'
bad "scale" train a.csv --scale big
bad "missing" train a.csv --missing maybe
bad "unknown" train a.csv --unknown maybe
bad "format" train a.csv --format xls
bad "delimiter" train a.csv --delimiter ab
bad "targets" train a.csv --targets 0
for h in 0 1 -0.5 1.5 x nan; do bad "holdout $h" train a.csv --holdout $h; done
for l in -1 x automatic nan inf; do bad "lambda $l" train a.csv -l $l; done
for t in 0 -1 x; do bad "time limit $t" train a.csv --time-limit $t; done
for D in 0 -1 2.5 x; do bad "features $D" train a.csv -D $D; done
bad "test and holdout" train a.csv --test b.csv --holdout 0.2
bad "stdin without -o" train -
has "stdin without -o" err '-o'
bad "model to stdout" train a.csv -o -
for c in 'transform a.csv' 'gram a.csv' 'generate arm -n 3'; do
    # shellcheck disable=SC2086
    bad "$c without -o" $c
    has "$c without -o" err '-o FILE is required'
done
bad "generate without -n" generate arm -o x.csv
bad "json and stdout" generate arm -n 3 -o - --json
bad "spec: name" generate arn -n 3 -o x.csv
has "spec: name" err 'arm'
bad "spec: key" generate 'spiral(turn=3)' -n 3 -o x.csv
has "spec: key" err 'turns'
bad "format of the name" generate arm -n 3 -o x.dat
bad "kernel" train a.csv -k 'gausian'
has "kernel" err 'gaussian'
bad "kernel option" train a.csv -k 'gaussian(sgma=2)'
bad "kernel range" train a.csv -k 'gaussian(sigma=-2)'
bad "map" train a.csv -m 'orff(D=100)'
bad "learner" train a.csv --learner nothing
bad "select" train a.csv --select nothing
is "no model was written" "" "$(find . -name '*.krein*')"
summary
