#!/usr/bin/env bash
# Maps at the edges of what they take: rows of zeros, one feature.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KREIN" generate friedman -n 60 -d 5 -o f.csv >/dev/null || fail "generate"
{
    cat f.csv
    echo 1.5,0,0,0,0,0
} >zero.csv

# Rows of zeros stay so under --scale unit: the message does not ask for what was given.
for m in grff gorf digmm; do
    run train f.csv -k 'poly(degree=2)' -m $m -D 64 -l 1e-2 --scale unit -o m.krein
    ok "$m: rows of length one"
    run train f.csv -k 'poly(degree=2)' -m $m -D 64 -l 1e-2 -o m.krein
    status "$m: other rows" 1
    has "$m: other rows" err 'pass --scale unit'
    run train zero.csv -k 'poly(degree=2)' -m $m -D 64 -l 1e-2 --scale unit -o m.krein
    status "$m: a row of zeros" 1
    has "$m: a row of zeros" err 'some rows are all zeros'
done

run train f.csv -k 'gaussian(sigma=1)' -m rff -D 1 -o m.krein
status "one feature" 2
has "one feature" err 'rff: D = 1 .*1 term of the kernel: at least 2'
run train f.csv -k 'gaussian(sigma=1)' -m rff -D 2 -l 1e-2 -o m.krein
ok "two features"

# A map that approx cannot draw is shown with the D that it was given.
run approx f.csv -k 'laplacian(sigma=0.1)' -m 'binning(D=7)' -m 'rff(D=8)' --rows 50 --repeat 2 --json
ok "approx: a map that is refused"
json "approx: a map that is refused" '[r["D"] for r in j["results"]] == [7, 8] and j["results"][0]["error_mean"] is None'

# What the label is matters only to maps that look at it; the others are quiet, and take any.
printf 'a,b,y\n' >whole.csv
for i in {1..40}; do echo "$((i % 7)).5,$((i % 11)).25,$((i * 3))"; done >>whole.csv
for call in 'approx whole.csv -m rff -D 8' 'transform whole.csv -m rff -D 8 -o z.npy' \
    'transform whole.csv -m rff -D 8 -o z.libsvm' 'gram whole.csv -o K.npy' 'gram whole.csv --check'; do
    # shellcheck disable=SC2086
    run $call -k 'gaussian(sigma=1)'
    ok "$call"
    lacks "$call: nothing on the label" err '.'
done
is "labels as they were" 3,6,9 "$(cut -d' ' -f1 z.libsvm | head -3 | paste -sd,)"
run transform whole.csv -k 'gaussian(sigma=1)' -m surrogate -D 8 -o z.npy
has "a map that looks at the label" err 'whole numbers'
printf '5 1:1\n5 2:1\n5 1:3\n' >one.libsvm
run transform one.libsvm -m rff -D 2 -o z.libsvm
ok "transform with one label"
summary
