#!/usr/bin/env bash
# Inputs that must be read, and inputs that must be refused: with status 1 or 2, a message that
# names the file, the line and the way out, and nothing half-written.
#
# Here: all that is not in this list of what other files test.
#   an empty cell with --missing error, mean, drop      errors.sh (mean, drop: values here)
#   a missing file, a directory as data                 errors.sh
#   unknown kernel, key, map, learner; a value out of
#   range (status and suggestion)                       options.sh (nothing written: here)
#   a model cut off and with bits flipped, predict/info errors.sh (evaluate and the message: here)
#   columns missing, renamed, extra, none too many      errors.sh
#   places that cannot be written                       errors.sh, outputs.sh
#   features that do not fit in memory                  train.sh (kernel matrix, predict: here)
#   Ctrl-C and SIGTERM in the middle                    signals.sh
#   gzip, standard input: the same model                train.sh (each format: here)
#   the same kernel values from each format             arrays.sh (predictions: here)
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
fixed=(-k 'gaussian(sigma=1.5)' -l 1e-2)
export OMP_WAIT_POLICY=passive # many short runs, beside other tests
mkdir data

# predictions FILE [options]: of a model of FILE on test.csv, or its complaint
predictions() {
    rm -f p.krein
    "$KREIN" train "$@" -q "${fixed[@]}" -o p.krein >/dev/null 2>err || {
        head -c 200 err
        return
    }
    "$KREIN" predict p.krein test.csv -q 2>&1
}
# same NAME FILE [options]: FILE makes the same model as data/ref.csv
same() { is "$1" "$want" "$(predictions "${@:2}")"; }
# refused NAME STATUS REGEX FILE [options]: train refuses it and leaves nothing
refused() {
    local name=$1 status=$2 regex=$3
    shift 3
    run train "${fixed[@]}" -o refused.krein -q "$@"
    status "$name" "$status"
    has "$name: the message" err "^krein: .*$regex"
    is "$name: one line" 1 "$(wc -l <err | tr -d ' ')"
    is "$name: nothing on stdout" "" "$(cat out)"
    is "$name: nothing written" "" "$(find . -name 'refused*')"
}
# make_npy FILE DESCR SHAPE ORDER [BYTES]: numbers from stdin, packed; BYTES are added (or cut off)
make_npy() {
    "$PYTHON" -c '
import struct, sys
name, descr, shape, order, extra = sys.argv[1:6]
v = sys.stdin.read().split()
code = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I",
        "u8": "Q", "b1": "?", "c8": "f", "U3": "3s", "O": "Q", "S4": "f"}[descr.lstrip("<>|=")]
v = [float(x) if code in "efd" else int(float(x)) for x in v]
body = struct.pack((">" if descr[0] == ">" else "<") + "%d%s" % (len(v), code), *v) if code != "3s" else bytes(len(v) * 12)
head = "{\x27descr\x27: \x27%s\x27, \x27fortran_order\x27: %s, \x27shape\x27: %s, }" % (descr, order, shape)
head += " " * (63 - (10 + len(head)) % 64) + "\n"
extra = int(extra)
body = body + bytes(extra) if extra >= 0 else body[:extra]
open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body)
' "$1" "$2" "$3" "$4" "${5:-0}"
}

# ==== must be read =============================================================

# Whole numbers, so that every type of an array can hold them; 24 rows.
awk 'BEGIN { print "y,a,b"; for (i = 0; i < 24; i++) printf "%d,%d,%d\n", (i * i) % 23 * 5 - 40, i % 7 - 3, (i * 5) % 11 }' >data/ref.csv
printf 'a,b\n0,1\n-2,9\n3,4\n1,10\n' >test.csv
want=$(predictions data/ref.csv)
is "the reference: four numbers" 4 "$(grep -cE '^-?[0-9.]+(e-?[0-9]+)?$' <<<"$want")"

# ---- CSV ----
sed 's/$/\r/' data/ref.csv >data/crlf.csv
same "CRLF" data/crlf.csv
{ printf '\357\273\277' && cat data/ref.csv; } >data/bom.csv
same "a byte order mark" data/bom.csv
{ printf '\357\273\277' && cat data/crlf.csv; } >data/bomcrlf.csv
same "a byte order mark and CRLF" data/bomcrlf.csv --label y
{ cat data/ref.csv && printf '\n\n  \n\n'; } >data/blank.csv
same "blank lines at the end" data/blank.csv
{ cat data/crlf.csv && printf '\r\n\r\n'; } >data/blankcrlf.csv
same "blank lines at the end, CRLF" data/blankcrlf.csv
head -c -1 data/ref.csv >data/nonl.csv
same "no newline at the end" data/nonl.csv
head -c -2 data/crlf.csv >data/nocrlf.csv
same "no newline at the end, CRLF" data/nocrlf.csv
sed 's/,/ , /g; s/^/  /' data/ref.csv >data/blanks.csv
same "blanks around cells" data/blanks.csv
sed 's/\([^,]*\)/"\1"/g' data/ref.csv >data/quoted.csv
same "all cells quoted" data/quoted.csv
tail -n +2 data/ref.csv >data/bare.csv
tail -n +2 test.csv >bare_test.csv
is "no header" "$want" "$("$KREIN" train data/bare.csv -q "${fixed[@]}" -o bare.krein >/dev/null && "$KREIN" predict bare.krein bare_test.csv -q)"
sed 's/-\{0,1\}[0-9][0-9]*/&.0e0/g; s/,\([0-9]\)/,+\1/g' data/bare.csv | sed '1i y,a,b' >data/forms.csv
same "numbers as +1.0e0" data/forms.csv
for c in ';semicolon' $'\ttab' ' space' '|bar' ':colon' '!mark'; do
    name=${c:1} d=${c:0:1}
    tr ',' "$d" <data/ref.csv >"data/$name.csv"
    case $name in
    semicolon | tab | space)
        same "delimiter $name, found" "data/$name.csv"
        tail -n +2 "data/$name.csv" >"data/bare$name.csv"
        is "delimiter $name without header" "$want" "$("$KREIN" train "data/bare$name.csv" -q "${fixed[@]}" -o bare.krein >/dev/null && "$KREIN" predict bare.krein bare_test.csv -q)"
        ;;
    esac
    same "delimiter $name, given" "data/$name.csv" --delimiter "$d"
done
same "--delimiter tab" data/tab.csv --delimiter tab
same "--delimiter space" data/space.csv --delimiter space
same "--delimiter comma as ," data/ref.csv --delimiter ,
sed 's/,/   /g; s/^/ /; s/$/ /' data/ref.csv >data/wide.csv
same "runs of spaces" data/wide.csv
sed 's/,/;/g; s/\([0-9]\);/\1,5;/; 1s/.*/y;a;b/' data/ref.csv >data/decimal.csv
run train data/decimal.csv "${fixed[@]}" -o d.krein --json
json "decimal commas are numbers, and that is said" 'j["task"] == "regression" and any(n.startswith("amounts: y") for n in j["notes"])'

# Quoted text with delimiters, quotes and newlines: the same categories by other names.
awk -F, 'BEGIN { split("p q r", k, " ") } NR == 1 { print $0 ",c" } NR > 1 { print $0 "," k[NR % 3 + 1] }' data/ref.csv >data/plain.csv
"$PYTHON" - <<'PY'
import csv
names = {"p": "a,b", "q": "two\nlines", "r": 'say "x";\r\n,'}
rows = list(csv.reader(open("data/plain.csv")))
csv.writer(open("data/odd.csv", "w", newline="")).writerows([rows[0]] + [r[:3] + [names[r[3]]] for r in rows[1:]])
csv.writer(open("odd_test.csv", "w", newline="")).writerows([["c", "b", "a"]] + [[names[k], 4, 1] for k in "pqr"])
PY
printf 'c,b,a\np,4,1\nq,4,1\nr,4,1\n' >plain_test.csv
"$KREIN" train data/plain.csv -q "${fixed[@]}" -o plain.krein >/dev/null
run train data/odd.csv "${fixed[@]}" -o odd.krein --json
ok "quoted text with delimiters and newlines"
json "quoted text: rows and inputs" 'j["n"] == 24 and j["d"] == 5'
is "quoted text: the same predictions" "$("$KREIN" predict plain.krein plain_test.csv -q)" "$("$KREIN" predict odd.krein odd_test.csv -q)"
# Class names with a delimiter come out as they went in.
printf 'class,x\n"a,b",1\n"a,b",2\n"c ""d""",8\n"c ""d""",9\n' >data/names.csv
run train data/names.csv "${fixed[@]}" -o names.krein
ok "quoted class names"
run predict names.krein data/names.csv --scores
is "quoted class names: quoted again" '"a,b" "c ""d"""' "$(sed 's/,[^,]*$//' out | sort -u | tr '\n' ' ' | sed 's/ $//')"
# Duplicate names.
sed '1s/.*/y,a,a/' data/ref.csv >data/dup.csv
printf 'y,a,a\n0,0,1\n0,-2,9\n0,3,4\n0,1,10\n' >dup_test.csv
"$KREIN" train data/dup.csv -q "${fixed[@]}" -o dup.krein >/dev/null
is "duplicate names: by position" "$want" "$("$KREIN" predict dup.krein dup_test.csv -q)"
run train data/dup.csv "${fixed[@]}" --ignore 3 -o dup.krein --json
json "duplicate names: by number" 'j["d"] == 1'
refused "duplicate names: by name" 2 'columns 2 and 3 of data/dup\.csv.* number' data/dup.csv --ignore a
# Columns.
sed '1s/$/,k/; 2,$s/$/,7/' data/ref.csv >data/constant.csv
sed '1s/$/,k/; 2,$s/$/,7/' test.csv >k_test.csv
for scale in standard minmax; do
    "$KREIN" train data/constant.csv -q "${fixed[@]}" --scale $scale -o k.krein >/dev/null
    "$KREIN" train data/ref.csv -q "${fixed[@]}" --scale $scale -o r.krein >/dev/null
    is "a constant column, $scale" "$("$KREIN" predict r.krein test.csv -q)" "$("$KREIN" predict k.krein k_test.csv -q)"
done
sed '1s/$/,e/; 2,$s/$/,/' data/ref.csv >data/hollow.csv
refused "a column without a value" 1 'data/hollow\.csv:2: column 4 \(e\) .*(--missing|--ignore)' data/hollow.csv --missing error
awk -F, -v OFS=, '{ print $2, $3, $1 }' data/ref.csv >data/last.csv
same "--label last" data/last.csv --label last
same "--label by number" data/last.csv --label 3
same "a label named y, anywhere" data/last.csv
# A class with one row.
{ awk -F, 'NR > 1 { $1 = NR % 2 ? "x" : "z"; print $1 "," $2 "," $3 }' data/ref.csv && echo w,3,50; } >data/single.csv
run train data/single.csv --json -o single.krein
ok "a class with one row"
run evaluate single.krein data/single.csv --json
json "a class with one row: known" 'j["metrics"]["classes"] == ["w", "x", "z"]'
run train data/single.csv --holdout 0.2 --json -o single.krein
ok "a class with one row, held out rows"
# Categories.
printf 'c,b,a\np,4,1\nnew,4,1\n' >new_test.csv
run predict plain.krein new_test.csv
status "a category never seen" 1
has "a category never seen: the place and the way out" err '^krein: new_test\.csv:3: column 1 \(c\) .*"new".*--unknown ignore'
printf 'c,b,a\r\np,4,"1"\r\n"p",4,1\r\n"p ""q""",4,1\r\n' >quoted_test.csv
run predict plain.krein quoted_test.csv
has "a category never seen, in quotes" err '^krein: quoted_test\.csv:4: column 1 \(c\) .*"p "q""'
run predict plain.krein new_test.csv --unknown ignore -q
ok "--unknown ignore"
is "--unknown ignore: two rows" 2 "$(wc -l <out | tr -d ' ')"
"$KREIN" train data/plain.csv -q "${fixed[@]}" --unknown ignore -o ignore.krein >/dev/null
is "--unknown ignore at training" "$(cat out)" "$("$KREIN" predict ignore.krein new_test.csv -q)"
{ echo y,c && seq 1000 | sed 's/.*/&.5,c&/' && echo 0.5,c7; } >data/thousand.csv
run train data/thousand.csv "${fixed[@]}" --categories onehot -o t.krein --json
json "1,000 categories" 'j["d"] == 1000'
# Missing cells: mean and drop as if done by hand.
sed '4s/^\([^,]*\),[^,]*,/\1,?,/; 9s/,[^,]*$/,/; 20s/,[^,]*$/,NaN/' data/ref.csv >data/hole.csv
sed '4d; 9d; 20d' data/ref.csv >data/without.csv
sed '4s/^[^,]*/?/; 9s/^[^,]*//' data/ref.csv >data/unlabelled.csv
refused "no label" 1 'data/unlabelled\.csv:4: column 1 \(y\) is "\?": .*--missing drop' data/unlabelled.csv
sed '4d; 9d' data/ref.csv >data/labelled.csv
is "no label, --missing drop" "$(predictions data/labelled.csv)" "$(predictions data/unlabelled.csv --missing drop)"
printf '1.5 1:1\n1:2\n2.5 1:4\n3.5 1:5\n' >data/unlabelled.svm
refused "LIBSVM: no label" 1 'data/unlabelled\.svm:2: .*no label.*--missing drop' data/unlabelled.svm
run train data/unlabelled.svm "${fixed[@]}" --missing drop --json -o u.krein
json "LIBSVM: no label, dropped" 'j["n"] == 3'
is "--missing drop" "$(predictions data/without.csv)" "$(predictions data/hole.csv --missing drop)"
run train data/hole.csv "${fixed[@]}" --missing mean --scale none -o mean.krein --json
json "--missing mean: all rows" 'j["n"] == 24'
"$PYTHON" - <<'PY'
rows = [line.strip().split(",") for line in open("data/hole.csv")]
gone = ("", "?", "NaN")
for c in range(3):
    known = [float(r[c]) for r in rows[1:] if r[c] not in gone]
    for r in rows[1:]:
        if r[c] in gone: r[c] = repr(sum(known) / len(known))
open("data/filled.csv", "w").write("".join(",".join(r) + "\n" for r in rows))
PY
"$KREIN" train data/filled.csv -q "${fixed[@]}" --scale none -o filled.krein >/dev/null
near() { # NAME FILE FILE: numbers equal to 1e-4
    if paste "$2" "$3" | awk 'NF != 2 || ($1 - $2)^2 > 1e-8 * (1 + $1^2) { bad = 1 } END { exit bad || NR == 0 }'; then pass; else fail "$1" "$(head -n 3 "$2" | tr '\n' ' ') and $(head -n 3 "$3" | tr '\n' ' ')"; fi
}
"$KREIN" predict mean.krein test.csv -q >one
"$KREIN" predict filled.krein test.csv -q >two
near "--missing mean" one two

# ---- LIBSVM, NPY ----
awk -F, 'NR > 1 { print $1 " 1:" $2 " 2:" $3 }' data/ref.csv >data/ref.libsvm
awk -F, 'NR > 1 { print "0 1:" $1 " 2:" $2 }' test.csv >test.libsvm
none=(--scale none)
"$KREIN" train data/ref.csv -q "${fixed[@]}" "${none[@]}" -o n.krein >/dev/null
unscaled=$("$KREIN" predict n.krein test.csv -q)
libsvm() { "$KREIN" train "$1" -q "${fixed[@]}" "${none[@]}" -o l.krein >/dev/null && "$KREIN" predict l.krein test.libsvm -q; }
libsvm data/ref.libsvm >one
echo "$unscaled" >two
near "LIBSVM" one two
{ echo '# a comment' && sed '3s/$/ # behind a row/; 5s/ 1:/ qid:3 1:/; s/$/\r/' data/ref.libsvm && echo; } | head -c -3 >data/odd.libsvm
is "LIBSVM with comments, qid, CRLF, no last newline" "$(cat one)" "$(libsvm data/odd.libsvm)"
awk '{ print ($1 > 0 ? "big" : "small"), $2, $3 }' data/ref.libsvm >data/words.libsvm
run train data/words.libsvm "${fixed[@]}" -o w.krein --json
json "LIBSVM with classes in words" 'j["task"] == "classification" and j["n"] == 24 and j["d"] == 2'
run evaluate w.krein data/words.libsvm --json
json "LIBSVM with classes in words: names" 'j["metrics"]["classes"] == ["big", "small"]'
tr ',' ' ' <data/bare.csv >numbers
"$PYTHON" -c 'rows = [l.split() for l in open("numbers")]; print(*[r[c] for c in range(3) for r in rows])' >columns
array() { "$KREIN" train "$1" -q "${fixed[@]}" -o a.krein >/dev/null && "$KREIN" predict a.krein bare_test.csv -q; }
for type in '<f4' '<f8' '>f4' '>f8' '|i1' '<i2' '>i2' '<i4' '<i8' '>i8'; do
    make_npy data/a.npy "$type" '(24, 3)' False <numbers
    is "NPY $type" "$want" "$(array data/a.npy)"
    [[ $SANITIZED && $type != [\<\>]?[48] ]] && continue
    make_npy data/f.npy "$type" '(24, 3)' True <columns
    is "NPY $type, Fortran order" "$want" "$(array data/f.npy)"
done
awk '{ print $1 + 100, $2 + 3, $3 }' numbers >positive
for type in '|u1' '<u2' '<u4' '>u4' '<u8'; do
    make_npy data/u.npy "$type" '(24, 3)' False <positive
    is "NPY $type" "$("$KREIN" gram data/bare.csv -q "${fixed[@]:0:2}" -o k.npy >/dev/null && cksum <k.npy)" \
        "$("$KREIN" gram data/u.npy -q "${fixed[@]:0:2}" -o k.npy >/dev/null && cksum <k.npy)"
done
cut -d' ' -f1 numbers | make_npy data/labels.npy '<i4' '(24,)' False
cut -d' ' -f2- numbers | make_npy data/inputs.npy '<f4' '(24, 2)' False
is "--labels FILE.npy" "$want" "$("$KREIN" train data/inputs.npy --labels data/labels.npy -q "${fixed[@]}" -o a.krein >/dev/null && "$KREIN" predict a.krein bare_test.csv -q)"
make_npy data/a.npy '<f4' '(24, 3)' False <numbers
for file in ref.csv semicolon.csv ref.libsvm a.npy f.npy; do
    gzip -c "data/$file" >"data/$file.gz"
    { head -c 150 "data/$file" | gzip -c && tail -c +151 "data/$file" | gzip -c; } >"data/two-$file.gz"
    for form in "data/$file.gz" "data/two-$file.gz"; do
        "$KREIN" gram "data/$file" -q "${fixed[@]:0:2}" -o k1.npy >/dev/null && "$KREIN" gram "$form" -q "${fixed[@]:0:2}" -o k2.npy >/dev/null &&
            cmp -s k1.npy k2.npy && pass || fail "gzip: $form"
        rm -f k1.npy k2.npy
    done
done

# ---- large ----
wide=100000
[[ $SANITIZED ]] && wide=20000
awk -v d=$wide 'BEGIN { for (i = 1; i <= 6; i++) { printf "%.1f", i * i / 2; for (j = 0; j < d; j++) printf ",%d", (i * j) % 7; print "" } }' >data/wide.csv
run train data/wide.csv -k 'gaussian(sigma=400)' -l 1e-3 -o wide.krein --json
ok "$wide columns"
json "$wide columns" "j['n'] == 6 and j['d'] == $wide"
run predict wide.krein data/wide.csv
is "$wide columns: predictions" 6 "$(wc -l <out | tr -d ' ')"
awk -v d=$wide 'BEGIN { for (i = 1; i <= 6; i++) { printf "%.1f", i * i / 2; for (j = i; j <= d; j += 3) printf " %d:1", j; print "" } }' >data/wide.libsvm
run train data/wide.libsvm -k 'gaussian(sigma=400)' -l 1e-3 -o wide.krein --json
json "$wide sparse columns" "j['n'] == 6 and $wide - 2 <= j['d'] <= $wide"
rm -f data/wide.*
room=$(df -Pk . | awk 'NR == 2 { print $4 }')
if [[ $SANITIZED ]]; then
    skip "10^7 rows" "too slow under a sanitizer"
elif ((room < 300000)); then
    skip "10^7 rows" "no room in $work"
else
    run generate sine -n 10000000 -o data/big.npy
    ok "10^7 rows are written"
    run train data/big.npy -m orf -D 16 -l 1e-3 -k 'gaussian(sigma=1)' --max-memory 64M -o big.krein --json
    ok "10^7 rows in 64 MB"
    json "10^7 rows: all of them, in little memory" 'j["n"] == 10000000 and j["peak_rss_bytes"] < 120 * 2**20'
    run evaluate big.krein data/big.npy --max-memory 64M --json
    json "10^7 rows: evaluated" 'j["metrics"]["n"] == 10000000 and 0 < j["metrics"]["rmse"] < 1'
    rm -f data/big.npy
fi

# ==== must be refused ==========================================================

# ---- little or nothing there ----
: >data/empty
refused "an empty file" 1 'data/empty: .*empty' data/empty
gzip -c data/empty >data/empty.gz
refused "an empty file, gzipped" 1 'data/empty\.gz: .*empty' data/empty.gz
printf '\n\n\n' >data/newlines.csv
refused "newlines alone" 1 'data/newlines\.csv: .*empty' data/newlines.csv
printf '\357\273\277' >data/mark.csv
refused "a byte order mark alone" 1 'data/mark\.csv: .*empty' data/mark.csv
printf 'y,a,b\n' >data/header.csv
refused "only a header" 1 'data/header\.csv: only a header' data/header.csv
printf '# nothing\n\n' >data/none.libsvm
refused "LIBSVM without a row" 1 'data/none\.libsvm: .*empty' data/none.libsvm --format libsvm
printf 'y,a\n1,2\n' >data/one.csv
refused "one row" 1 'data/one\.csv: 1 usable row; at least two' data/one.csv
printf 'y,a\n1,2\n2,\n3,\n' >data/onedrop.csv
refused "one row left by --missing drop" 1 'data/onedrop\.csv: 1 usable row; at least two' data/onedrop.csv --missing drop
printf 'y\n1\n2\n3\n' >data/d0.csv
refused "no inputs" 1 'data/d0\.csv: no column is left.*--label' data/d0.csv
refused "no inputs left by --ignore" 1 'data/ref\.csv: no column is left.*--ignore' data/ref.csv --ignore a,b
lacks "no inputs left by --ignore: not the label's fault" err '--label'
run transform data/d0.csv --label none --id y -o z.npy
status "no inputs, no label" 1
lacks "no inputs, no label: not the label's fault" err 'label'
printf '1\n2\n1\n' >data/d0.libsvm
refused "LIBSVM without an entry" 1 'data/d0\.libsvm: .*no inputs' data/d0.libsvm --format libsvm
printf 'y,a\nr,1\nr,2\nr,3\n' >data/class.csv
refused "one class only" 1 'data/class\.csv: .*one class only \("r"\).*--label' data/class.csv
printf 'y,a\n4,1\n4,2\n4,3\n' >data/class.csv
refused "one class only, a number" 1 'data/class\.csv: .*one class only' data/class.csv -t classification
refused "no such label" 2 '--label size: no such column in data/ref\.csv; there are y, a, b' data/ref.csv --label size
refused "no such number" 2 '--label 4: no such column in data/ref\.csv; .*from 1 to 3' data/ref.csv --label 4
refused "no such label, no header" 2 '--label y: .*data/bare\.csv' data/bare.csv --label y
for option in weights group ignore id; do
    refused "no such column: --$option" 2 "--$option nix: no such column in data/ref\.csv" data/ref.csv --$option nix
done

# ---- rows ----
sed '7s/,[^,]*$//' data/ref.csv >data/short.csv
refused "a short row" 1 'data/short\.csv:7: 2 cells where 3.*--delimiter' data/short.csv
sed '11s/$/,5/' data/ref.csv >data/long.csv
refused "a long row" 1 'data/long\.csv:11: 4 cells where 3.*--delimiter' data/long.csv
sed '5s/.*//' data/ref.csv >data/gap.csv
refused "a blank line between rows" 1 'data/gap\.csv:5: a blank line.*remove' data/gap.csv
sed '5s/.*//' data/crlf.csv >data/gapcrlf.csv
refused "a blank line between rows, CRLF" 1 'data/gapcrlf\.csv:5: a blank line.*remove' data/gapcrlf.csv
# Lines are those of an editor, also behind a newline in quotes: row 2 begins in line 3.
printf 'y,c\n1.5,"two\nlines"\n2.5,b\n3.5,b,9\n4.5,b\n' >data/lines.csv
refused "a long row behind a newline in quotes" 1 'data/lines\.csv:5: 3 cells where 2.*--delimiter' data/lines.csv
sed '6s/,\([^,]*\)$/,"\1/' data/ref.csv >data/open.csv
refused "a quote without end" 1 'data/open\.csv:6: .*quote' data/open.csv
sed '6s/,\([^,]*\)$/,"\1"x/' data/ref.csv >data/behind.csv
refused "text behind a quote" 1 'data/behind\.csv:6: .*quote' data/behind.csv
for v in NaN nan -nan '' '?'; do
    sed "8s/,[^,]*\$/,$v/" data/ref.csv >data/v.csv
    refused "a cell '$v'" 1 'data/v\.csv:8: column 3 \(b\) .*--missing (drop|mean)' data/v.csv --missing error
    sed "8s/^[^,]*/$v/" data/ref.csv >data/v.csv
    refused "a label '$v'" 1 'data/v\.csv:8: column 1 \(y\) .*label' data/v.csv
done
for v in inf -Inf Infinity 1e400 -1e400 1e309; do
    sed "8s/,[^,]*\$/,$v/" data/ref.csv >data/v.csv
    refused "a cell $v" 1 'data/v\.csv:8: column 3 \(b\) is not finite: .*write a finite number' data/v.csv
    refused "a cell $v, --missing mean" 1 'data/v\.csv:8: column 3 \(b\) is not finite' data/v.csv --missing mean
    sed "8s/^[^,]*/$v/" data/ref.csv >data/v.csv
    refused "a label $v" 1 'data/v\.csv:8: column 1 \(y\) is not finite' data/v.csv
done
for v in 1e39 -3.5e38; do
    sed "8s/,[^,]*\$/,$v/" data/ref.csv >data/v.csv
    refused "a cell $v" 1 'data/v\.csv:8: column 3 \(b\) is too large.*change the unit' data/v.csv
done
refused "a negative weight" 1 'data/ref\.csv:2: .*weight' data/ref.csv --weights a
sed '1s/$/,w/; 2,$s/$/,0/' data/ref.csv >data/zero.csv
refused "all weights zero" 1 'weights are zero' data/zero.csv --weights w
{ echo y,c && seq 1001 | sed 's/.*/&.5,c&/'; } >data/cats.csv
refused "1,001 categories" 1 'data/cats\.csv: column 2 \(c\) has 1001 .*1000.*--ignore 2' data/cats.csv --categories onehot

# A word in a numeric column, far behind the first 1,000 rows.
rows=1000000
[[ $SANITIZED ]] && rows=50000
{ echo y,x && seq "$rows" | sed 's/.*/&.5,&/; '"$rows"'s/,.*/,word/'; } >data/late.csv
features=(-m orf -D 16)
refused "a word in row $rows" 1 "data/late\.csv:$((rows + 1)): column 2 \(x\) .*\"word\".*--ignore" data/late.csv "${features[@]}"
{ seq "$rows" | sed 's/.*/&.5,&/; '"$rows"'s/^[^,]*/word/'; } >data/late.csv
refused "a word as the label of row $rows, no header" 1 "data/late\.csv:$rows: column 1.*\"word\"" data/late.csv "${features[@]}"
{ echo y,x && seq "$rows" | sed 's/.*/&.5,&/; '"$rows"'s/$/,1/'; } >data/late.csv
refused "a long row $rows" 1 "data/late\.csv:$((rows + 1)): " data/late.csv "${features[@]}"
# The same while predicting: what came before has been printed, the status says the rest.
{ echo a,b && seq 3000 | sed 's/.*/1,2/; 2500s/2$/word/'; } >late_test.csv
"$KREIN" train data/ref.csv -q "${fixed[@]}" -o m.krein >/dev/null
run predict m.krein late_test.csv -o refused.csv
status "predict: a word in row 2500" 1
has "predict: a word in row 2500" err '^krein: late_test\.csv:2501: .*"word"'
is "predict: nothing written" "" "$(find . -name 'refused*')"
rm -f data/late.csv

# ---- gzip ----
for part in 12 60 $(($(stat -c %s data/two-ref.csv.gz) - 3)); do
    head -c "$part" data/two-ref.csv.gz >data/cut.csv.gz
    refused "a gzip of $part bytes" 1 'data/cut\.csv\.gz: .*gzip.*truncated.*gunzip' data/cut.csv.gz
done
"$PYTHON" - <<'PY'
b = bytearray(open("data/ref.csv.gz", "rb").read())
b[-6] ^= 1
open("data/crc.csv.gz", "wb").write(b)
b[-6] ^= 1
b[len(b) // 2] ^= 0xff
open("data/bad.csv.gz", "wb").write(b)
PY
refused "a gzip with a wrong check sum" 1 'data/crc\.csv\.gz: .*gzip' data/crc.csv.gz
refused "a gzip with a wrong byte" 1 'data/bad\.csv\.gz: .*gzip' data/bad.csv.gz
head -c 40 data/a.npy.gz >data/cut.npy.gz
refused "an NPY in a truncated gzip" 1 'data/cut\.npy\.gz: .*truncated' data/cut.npy.gz
printf 'y,a\0b\n1,2\n' >data/nul.csv
refused "a NUL byte" 1 'data/nul\.csv: .*(NUL|binary)' data/nul.csv
printf '\377\376y\0,\0a\0\n\0' >data/utf16.csv
refused "UTF-16" 1 'data/utf16\.csv: .*UTF-16' data/utf16.csv

# ---- NPY ----
npy() { # NAME REGEX DESCR SHAPE NUMBERS [BYTES]
    seq "$5" | make_npy data/n.npy "$3" "$4" False "${6:-0}"
    refused "NPY: $1" 1 "data/n\.npy: .*$2" data/n.npy
}
npy "complex" "c8" '<c8' '(6, 3)' 36
npy "text" "U3" '<U3' '(6, 3)' 18
npy "bytes" "S4" '|S4' '(6, 3)' 18
npy "objects" "O" '|O' '(6, 3)' 18
npy "five dimensions" "dimension" '<f4' '(2, 3, 3, 1, 1)' 18
npy "no dimension" "dimension" '<f4' '()' 1
npy "more rows than there are" "shorter than its shape" '<f4' '(7, 3)' 18
npy "fewer rows than there are" "longer than its shape" '<f4' '(5, 3)' 18
npy "one byte short" "shorter than its shape" '<f4' '(6, 3)' 18 -1
npy "one byte more" "longer than its shape" '<f4' '(6, 3)' 18 1
npy "far more rows" "shorter than its shape" '<f4' '(1000000000000, 3)' 18
npy "a shape that overflows" "shape" '<f8' '(4611686018427387904, 4)' 16
npy "a shape beyond 64 bits" "shape" '<f8' '(99999999999999999999, 3)' 18
npy "a negative shape" "shape" '<f4' '(-6, 3)' 18
npy "no rows" "empty: no rows" '<f4' '(0, 3)' 0
npy "no columns" "empty: no columns" '<f4' '(6, 0)' 0
npy "half precision" "f2" '<f2' '(6, 3)' 18
seq 18 | make_npy data/good.npy '<f4' '(6, 3)' False
for part in 6 8 10 40 127; do
    head -c $part data/good.npy >data/n.npy
    refused "NPY: $part bytes" 1 'data/n\.npy: .*header' data/n.npy --format npy
done
sed 's/descr/DESCR/' data/good.npy >data/n.npy
refused "NPY: a header without type" 1 'data/n\.npy: .*header' data/n.npy
"$PYTHON" - <<'PY'
import struct
b = bytearray(open("data/good.npy", "rb").read())
b[6] = 9
open("data/version.npy", "wb").write(b)
b[6] = 1
b[8:10] = struct.pack("<H", 65000)
open("data/header.npy", "wb").write(b)
v = open("data/good.npy", "rb").read()
for name, x in ("nan", float("nan")), ("inf", float("inf")):
    open("data/%s.npy" % name, "wb").write(v[:-8] + struct.pack("<f", x) + v[-4:])
PY
refused "NPY: version 9" 1 'data/version\.npy: .*9\.0.*3\.0' data/version.npy
refused "NPY: a header beyond the end" 1 'data/header\.npy: .*header' data/header.npy
refused "NPY: a NaN" 1 'data/nan\.npy:6: column 2 .*--missing' data/nan.npy --missing error
printf '1 2\nnan 3\n4 5\n6.5 7\n' | make_npy data/unlabelled.npy '<f8' '(4, 2)' False
refused "NPY: no label" 1 'data/unlabelled\.npy:2: column 1 is NaN: .*--missing drop' data/unlabelled.npy
run train data/unlabelled.npy "${fixed[@]}" --missing drop --json -o u.krein
json "NPY: no label, dropped" 'j["n"] == 3'
refused "NPY: an infinity" 1 'data/inf\.npy:6: column 2 .*finite' data/inf.npy
cut -d' ' -f1 numbers | head -n 20 | make_npy data/few.npy '<i4' '(20,)' False
refused "NPY: fewer labels than rows" 1 'data/few\.npy has fewer rows than data/inputs\.npy' data/inputs.npy --labels data/few.npy
printf 'y,a\n1,2\n2,3\n' >data/not.npy
refused "a CSV as --format npy" 1 'data/not\.npy: not an NPY' data/not.npy --format npy

# ---- LIBSVM ----
libsvm_row() { # NAME REGEX ENTRIES
    sed "7s/ .*/ $3/" data/ref.libsvm >data/l.libsvm
    refused "LIBSVM: $1" 1 "data/l\.libsvm:7: .*$2" data/l.libsvm --format libsvm
}
libsvm_row "index 0" 'below 1.*count from 1' '0:1 1:2'
libsvm_row "a negative index" 'below 1' '-1:1'
libsvm_row "descending" 'ascend.*sort' '3:1 2:1'
libsvm_row "the same index twice" 'ascend.*sort' '2:1 2:3'
libsvm_row "index 2^31" 'above 2147483647' '2147483648:1'
libsvm_row "index 10^20" 'above 2147483647' '100000000000000000000:1'
libsvm_row "a word" 'not a number.*"x"' '1:x'
libsvm_row "nothing behind the colon" 'not a number' '1: 2:3'
libsvm_row "no colon" 'index:value' '1:2 5'
libsvm_row "infinity" 'finite' '1:inf'
libsvm_row "1e400" 'finite' '1:1e400'
libsvm_row "NaN" 'missing' '1:nan'
sed '7s/^[^ ]*/word/' data/ref.libsvm >data/l.libsvm
run train data/l.libsvm "${fixed[@]}" -t regression -o refused.krein
status "LIBSVM: a word as the label of a regression" 1
has "LIBSVM: a word as the label of a regression" err 'data/l\.libsvm'

# ---- specs (status 2; more in options.sh) ----
spec() { # NAME REGEX options...
    refused "$1" 2 "$2" data/ref.csv "${@:3}"
}
spec "an unknown kernel" "gausian.*gaussian" -k gausian
spec "an unknown key" "sgma.*sigma" -k 'gaussian(sgma=2)'
for v in 0 -2 nan inf 1e400 1e31; do spec "sigma=$v" "sigma" -k "gaussian(sigma=$v)"; done
for v in 0 65 2.5 -1; do spec "degree=$v" "degree" -k "poly(degree=$v)"; done
for k in 'gaussian(sigma=2' 'gaussian(sigma=2))' '(gaussian(sigma=2)' 'gaussian)' 'gaussian(sigma=(2)' '2*(linear + (poly)'; do
    spec "unbalanced: $k" "column [0-9]+: (expected|unexpected|sigma needs)" -k "$k"
done
for k in 'gaussian +' '* gaussian' 'gaussian gaussian' 'gaussian(sigma)' 'gaussian(sigma=)' 'gaussian(sigma=2,,)' \
    'gaussian(sigma=2, sigma=3)' '()' '2' ' ' 'gaussian(sigma=2;nu=3)'; do
    spec "not a kernel: $k" "column [0-9]+: " -k "$k"
done
spec "D=0" "D" -m 'orf(D=0)'
spec "a map for another kernel" "linear|poly" -k linear -m 'rff(D=10)'
spec "unbalanced map" "column 9: expected" -m 'orf(D=10'

# ---- lambda = 0 ----
awk -F, -v OFS=, '{ print } NR == 9 { print $1 + 1, $2, $3 }' data/ref.csv >data/equal.csv
refused "lambda = 0, two equal rows" 1 'singular.*lambda = 0.*--lambda' data/equal.csv -m exact -l 0
refused "lambda = 0, a kernel of low rank" 1 'lambda = 0.*--lambda' data/ref.csv -m exact -k linear -l 0
refused "lambda = 0, more features than rows" 1 'linearly dependent.*lambda = 0.*--lambda' data/ref.csv -m 'orf(D=64)' -l 0
refused "lambda = 0, more features than rows, with phases" 1 'linearly dependent.*--lambda' data/equal.csv -m 'rff(D=40, phase=yes)' -l 0
run train data/ref.csv -k 'gaussian(sigma=0.5)' -m exact -l 0 -o zero.krein
ok "lambda = 0, a regular matrix"
"$KREIN" predict zero.krein data/ref.csv -q >one
tail -n +2 data/ref.csv | cut -d, -f1 >two
near "lambda = 0 interpolates" one two

# ---- models ----
size=$(stat -c %s m.krein)
places=(0 1 2 3 4 5 6 7 8 9 10 11)
[[ $SANITIZED ]] && places=(0 1 4 8 11)
for i in "${places[@]}"; do
    at=$((size * i / 12))
    head -c $at m.krein >cut.krein
    run evaluate cut.krein data/ref.csv --json
    status "a model of $at bytes" 1
    has "a model of $at bytes: named" err '^krein: cut\.krein: '
    is "a model of $at bytes: no JSON" "" "$(cat out)"
    "$PYTHON" -c '
import sys
at = int(sys.argv[1])
b = bytearray(open("m.krein", "rb").read())
for k in (at, (at * 7 + 13) % len(b), (at * 31 + 5) % len(b)): b[k] ^= 1 << (k % 8)
open("flipped.krein", "wb").write(b)' $at
    run predict flipped.krein data/ref.csv -o refused.csv
    status "three bits flipped from byte $at" 1
    has "three bits flipped from byte $at: named" err '^krein: flipped\.krein: '
done
is "broken models: nothing written" "" "$(find . -name 'refused*')"
run predict test.csv test.csv
status "a CSV as the model" 1
has "a CSV as the model" err '^krein: test\.csv: .*model'

# ---- nothing in it: arrays that are not there (the sanitizers look at them) ----
{
    printf '1\n2\n'
    for k in {1..60}; do echo $((k % 3)); done
    printf '3 1:1\n'
} >rare.libsvm
for map in 'nystrom(D=4)' 'rff(D=4)' exact; do
    run train rare.libsvm --task regression -k 'gaussian(sigma=1)' -m "$map" -o rare.krein
    ok "rows without entries, $map"
done
head -n 40 rare.libsvm >none.libsvm
run predict rare.krein none.libsvm --format libsvm
ok "no entries at all"
printf 'id,y,c\n' >names.csv
for k in {1..40}; do printf ',%d,%s\n' $((k % 2)) "w$((k % 3))" >>names.csv; done
run train names.csv --label y --ignore id -k 'gaussian(sigma=1)' -m 'rff(D=4)' -o names.krein
ok "words alone"
run predict names.krein names.csv --id id
ok "empty ids"
cut -d, -f1,3 names.csv >unlabelled.csv
run predict names.krein unlabelled.csv
ok "words alone, without a label"

# ---- memory ----
"$KREIN" generate friedman -n 3000 -o data/f.csv >/dev/null
memory='[0-9.]+ [kMGT]?B.*(max-memory|features|rows)'
refused "a kernel matrix that does not fit" 1 "$memory" data/f.csv -m exact --max-memory 20M
refused "a budget of 1 kB" 1 "$memory" data/ref.csv --max-memory 1K
refused "more rows than --max-exact" 2 '3,?000.*(max-exact|2,?000)' data/f.csv -m exact --max-exact 2000
run predict m.krein test.csv --max-memory 1K -o refused.csv
status "predict in 1 kB" 1
has "predict in 1 kB" err "$memory"
is "memory: nothing written" "" "$(find . -name 'refused*')"

no_leftovers inputs
summary
