#!/usr/bin/env bash
# Files that are missing, broken or cannot be written.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
fixed=(-k 'gaussian(sigma=3)' -l 1e-6)
"$KREIN" generate friedman -n 200 -o data.csv >/dev/null
"$KREIN" train data.csv "${fixed[@]}" -o good.krein -q >/dev/null || fail "train"

# ---- missing ----
for c in 'train none.csv' 'plan none.csv' 'info none.krein' 'predict none.krein data.csv' \
    'predict good.krein none.csv' 'evaluate good.krein none.csv' 'train data.csv --test none.csv -o t.krein' \
    'transform none.csv -o z.npy' 'gram data.csv none.csv -o K.npy'; do
    # shellcheck disable=SC2086
    run $c
    status "$c" 1
    has "$c" err 'none\.(csv|krein)'
done
run train .
status "a directory as data" 1
: >empty.csv
run train empty.csv
status "an empty file" 1
has "an empty file" err 'empty.csv'
printf 'y,x\n' >header.csv
run train header.csv
status "a header alone" 1
is "no model" "" "$(find . -name 'none.krein' -o -name 'empty.krein' -o -name 'header.krein' -o -name 't.krein')"

# ---- broken data ----
printf 'y,a,b\n1,2,3\n2,3\n3,4,5\n' >short.csv
run train short.csv
status "a short line" 1
has "a short line: the place" err 'short.csv:3'
awk -F, -v OFS=, 'NR == 5 { $3 = "" } { print }' data.csv >hole.csv
run train hole.csv "${fixed[@]}" --missing error
status "an empty cell" 1
has "an empty cell: the way out" err 'hole.csv:5.*--missing'
for how in auto mean drop; do
    run train hole.csv "${fixed[@]}" --missing $how
    ok "--missing $how"
done

# ---- broken models ----
size=$(stat -c %s good.krein)
for part in 0 1 7 40 $((size / 2)) $((size - 1)); do
    head -c "$part" good.krein >cut.krein
    run predict cut.krein data.csv
    status "a model of $part bytes" 1
    is "a model of $part bytes: no output" "" "$(cat out)"
done
for at in 0 3 9 20 $((size / 3)) $((size / 2)) $((size - 2)); do
    "$PYTHON" - "$at" <<'PY'
import sys
b = bytearray(open("good.krein", "rb").read())
b[int(sys.argv[1])] ^= 0x10
open("flipped.krein", "wb").write(b)
PY
    run predict flipped.krein data.csv
    status "a bit of byte $at flipped" 1
    run info flipped.krein
    status "info: a bit of byte $at flipped" 1
done
{
    cat good.krein
    echo more
} >long.krein
run info long.krein
status "a model with more after it" 1
run predict data.csv data.csv
status "data for a model" 1

# ---- columns ----
cut -d, -f1-4 data.csv >few.csv
run predict good.krein few.csv
status "columns missing" 1
has "columns missing" err 'x[0-9]+'
sed '1s/x1,/renamed,/' data.csv >renamed.csv
run predict good.krein renamed.csv
status "a column renamed" 1
has "a column renamed" err 'x1'
sed '1s/^y,/truth,/' data.csv >truth.csv
run evaluate good.krein truth.csv
has "the label renamed" err 'label column is missing'
run evaluate good.krein truth.csv --label truth
status "the label renamed and named" 0
run evaluate good.krein truth.csv --label x1
status "an input as the label" 2
has "an input as the label" err 'x1.*is an input of the model'
awk -F, -v OFS=, 'NR == 1 { print $0, "extra" } NR > 1 { print $0, 1 }' data.csv >extra.csv
run predict good.krein extra.csv
has "an extra column: said, as an error or a warning" err 'extra'
tail -n +2 data.csv >bare.csv
run train bare.csv "${fixed[@]}" -o bare.krein
ok "no header"
run predict bare.krein bare.csv
ok "no header: the same width"
cp out plain
cut -d, -f2- bare.csv >narrow.csv
run predict bare.krein narrow.csv
is "no header: one column less" "$(cat plain)" "$(cat out)"
cut -d, -f3- bare.csv >narrower.csv
run predict bare.krein narrower.csv
status "no header: two columns less" 1
sed 's/^/0,/' bare.csv >wider.csv
run predict bare.krein wider.csv
status "no header: one column more" 1

# ---- places that cannot be written ----
run train data.csv "${fixed[@]}" -o nowhere/x.krein
status "no such directory" 1
has "no such directory" err 'nowhere'
run predict good.krein data.csv -o nowhere/p
status "predict: no such directory" 1
run generate arm -n 3 -o nowhere/x.csv
status "generate: no such directory" 1
mkdir folder
for c in "train data.csv -o folder" "train data.csv -o folder/" "predict good.krein data.csv -o folder" \
    "transform data.csv -o folder"; do
    # shellcheck disable=SC2086
    run $c
    status "$c" 1
done
run train data.csv "${fixed[@]}" -o data.csv
status "the data as the model" 2
has "the data as the model" err 'overwritten'
head -n 1 data.csv | grep -q '^y,x1' && pass || fail "the data are whole"
run predict good.krein data.csv -o good.krein
status "predictions over the model" 2
has "predictions over the model" err 'good.krein is read and would be overwritten'
cp data.csv other.csv
run train data.csv "${fixed[@]}" --test other.csv -o other.csv
status "the test rows as the model" 2
ln -s data.csv link.csv
run transform data.csv -o link.csv
status "the data by another name" 2
# Root may write anywhere, so root becomes nobody for this.
as_user=()
((EUID == 0)) && as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
mkdir locked
chmod a-w,a+rx locked
chmod a+rx . && chmod a+r ./*
if ((EUID == 0)) && ! "${as_user[@]}" "$KREIN" info "$work/good.krein" >/dev/null 2>&1; then
    skip "read-only directory" "root may write anywhere, and cannot become another"
else
    for c in "train data.csv -o locked/x.krein" "predict good.krein data.csv -o locked/p" \
        "generate arm -n 3 -o locked/x.csv" "transform data.csv -o locked/z.npy"; do
        # shellcheck disable=SC2086
        "${as_user[@]}" "$KREIN" $c >out 2>err
        rc=$? command=$c
        status "$c" 1
        has "$c" err 'locked.*Permission denied'
    done
fi
if [[ -w /dev/full ]]; then
    run train data.csv "${fixed[@]}" -o /dev/full
    status "a model to a full disk" 1
    has "a model to a full disk" err 'No space left'
    run predict good.krein data.csv -o /dev/full
    status "predictions to a full disk" 1
    has "predictions to a full disk" err 'No space left'
    run generate arm -n 3000 -o /dev/full
    for c in 'predict good.krein data.csv' 'evaluate good.krein data.csv' 'info good.krein --json' \
        'generate arm -n 5000 -o -'; do
        # shellcheck disable=SC2086
        "$KREIN" $c >/dev/full 2>err
        is "$c > /dev/full" 1 $?
        has "$c > /dev/full" err 'No space left'
    done
fi
# A file under /dev is replaced whole like any other.
if [[ -d /dev/shm && -w /dev/shm ]]; then
    shared=$(mktemp -d /dev/shm/krein-cli-XXXXXX)
    run train data.csv -k 'gaussian(sigma=2)' -m 'rff(D=256)' -o "$shared/m.krein"
    run train data.csv -k 'gaussian(sigma=2)' -m 'rff(D=8)' -o "$shared/m.krein"
    run info "$shared/m.krein"
    ok "a smaller model over a larger one in /dev/shm"
    rm -rf "$shared"
fi
# A link that leads to no file yet.
ln -s new.txt later.txt
run predict good.krein data.csv -o later.txt
ok "predictions through a link to nothing"
[[ -L later.txt && -s new.txt ]] && pass || fail "the file that the link names"
# An older file stays whole when writing fails.
echo precious >keep.txt
(
    ulimit -f 1
    trap '' XFSZ
    "$KREIN" predict good.krein data.csv --scores -o keep.txt >/dev/null 2>err
    echo $? >code
)
is "file size limit: status" 1 "$(cat code)"
is "file size limit: the old file" precious "$(cat keep.txt)"
run predict good.krein data.csv -o /dev/null
ok "predict -o /dev/null"
# Names are other people's bytes: none of them reaches the terminal as a control character.
esc=$'\033' named=$'m\033[2J.krein'
{
    printf 'class\033[31m,a\033]0;t\007,b\302\233,c\177\n'
    for k in {1..40}; do printf 'u\033[2J%d,%d,%d,w\033%d\n' $((k % 2)) $((k * 7 % 13)) $((k * k % 11)) $((k % 3)); done
} >$'odd\033.csv'
clean() { if grep -q $'[\001-\010\013-\037\177]\|\302\233' out err; then fail "$1: control characters" "$(cat -v out err | head -c 300)"; else pass; fi; }
run train $'odd\033.csv' -k 'gaussian(sigma=1)' -m 'rff(D=8)' -v -o "$named"
ok "odd names"
clean "train"
for c in info evaluate; do
    run $c "$named" $([[ $c == evaluate ]] && echo "odd$esc.csv")
    ok "$c, odd names"
    clean "$c"
    has "$c shows them" out 'u\\x1b\[2J0'
done
run predict "$named" $'odd\033.csv'
has "predictions are as they are" out "^u$esc\\[2J"
sed 's/w\x1b2/w\x1b9/' $'odd\033.csv' >other.csv
run predict "$named" other.csv
status "an odd category" 1
clean "an odd category"
sed '1s/,c.*/,c/' $'odd\033.csv' >other.csv
run predict "$named" other.csv
status "an odd column" 1
clean "an odd column"
run train $'odd\033.csv' --label "no$esc"
status "an odd label" 2
clean "an odd label"
for c in "tr${esc}ain" "train data.csv --o${esc}pt" "info no${esc}such" "help x$esc" "list x$esc" "train data.csv -k x$esc" "train data.csv -o no/$esc"; do
    # shellcheck disable=SC2086
    run $c
    ((rc != 0)) && pass || fail "$c"
    clean "$c"
done
# A limit of the address space: the work is done or refused, and does not wait for ever.
if [[ $SANITIZED ]]; then
    skip "ulimit -v" "a sanitizer maps terabytes"
else
    for kb in 80000 140000 220000 300000 500000; do
        for c in --version "predict good.krein data.csv" "train data.csv -m rff(D=64) -k gaussian(sigma=2) -o x.krein"; do
            # shellcheck disable=SC2086
            (ulimit -v $kb && exec timeout -s KILL 100 "$KREIN" $c >out 2>err)
            rc=$?
            if ((rc == 0)); then
                pass
            else
                is "$kb kB, $c" 1 $rc
                has "$kb kB, $c" err 'the address space is limited to [0-9.]* MB \(ulimit -v\)'
            fi
        done
    done
fi
# Memory that the process had before it became this program is not its own.
if [[ $SANITIZED || ! -r /proc/self/status ]]; then
    skip "peak memory" "a sanitizer, or no /proc"
else
    "$PYTHON" - "$KREIN" train data.csv "${fixed[@]}" -o x.krein --json >out 2>err <<'PY'
import os, sys
held = b"x" * (400 << 20)
os.execv(sys.argv[1], sys.argv[1:])
PY
    json "peak memory" '0 < j["peak_rss_bytes"] < 200 << 20'
fi
# Targets whose squares overflow, or vanish.
for size in e200 e-200; do
    awk -F, -v OFS=, -v size=$size 'NR > 1 { $1 = $1 size } { print }' data.csv >huge.csv
    for how in 'krr -D 16' 'svr(C=1) -D 16' 'krr -m exact' 'kgd -m exact' 'svr -m exact'; do
        # shellcheck disable=SC2086
        run train huge.csv "${fixed[@]::2}" --learner $how -o huge.krein
        status "targets of $size, $how" 1
        has "targets of $size, $how" err 'huge.csv: the largest label is [0-9.]+e[+-].*change the unit of the labels'
    done
done
is "huge targets: no model" "" "$(find . -name huge.krein)"
# Those of a large unit are no trouble.
awk -F, -v OFS=, 'NR > 1 { $1 = $1 "e100" } { print }' data.csv >huge.csv
for learner in krr kgd svr; do
    run train huge.csv "${fixed[@]::2}" --learner $learner -m exact --test huge.csv --json -o huge.krein
    ok "targets of e100, $learner"
    cp out huge
    run train data.csv "${fixed[@]::2}" --learner $learner -m exact --test data.csv --json -o huge.krein
    json "targets of e100, $learner" 'abs(json.load(open("huge"))["test"]["r2"] - j["test"]["r2"]) < 0.02'
done
# Kernel values whose products single precision does not hold.
awk 'BEGIN { print "y,a"; for (i = 0; i < 2200; i++) print sin(i) "," 3e6 * sin(7 * i) }' >wide.csv
run train wide.csv -k "poly(degree=3,c=1)" -m "nystrom(D=1024)" --learner "krr(solver=pcg)" --scale none -l 1e-3 -o wide.krein
status "kernel values that are too large" 1
has "kernel values that are too large" err 'kernel values on the landmarks are of the size .*use --scale standard'
run train data.csv "${fixed[@]::2}" --learner kgd -D 16 -o kgd.krein
status "kgd on features" 2
has "kgd on features: the way out" err 'takes no features: use --map exact'
# A reader that goes away.
"$KREIN" generate friedman -n 20000 -o long.csv >/dev/null
{
    "$KREIN" predict good.krein long.csv 2>err
    echo $? >code
} | head -n 1 >/dev/null
wait_for 20 test -s code
is "closed pipe: status" 1 "$(cat code)"
is "closed pipe: quiet" "" "$(cat err)"
{
    "$KREIN" generate arm -n 200000 -o - 2>err
    echo $? >code2
} | head -n 1 >/dev/null
wait_for 20 test -s code2
is "generate to a closed pipe: status" 1 "$(cat code2)"
is "generate to a closed pipe: quiet" "" "$(cat err)"
# One word makes a column of numbers text.
awk 'BEGIN { print "y,a"; for (i = 0; i < 1500; i++) print i % 7 "." i "," (i == 40 ? "bad" : i / 8) }' >word.csv
run train word.csv -o word.krein
status "a word among numbers" 1
has "a word among numbers" err 'word.csv: column 2 \(a\) is taken for text because of a cell "bad"'
no_leftovers errors
summary
