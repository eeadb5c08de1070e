#!/usr/bin/env bash
# Several files by a pattern: the bytes of the model and of predictions are those of one file with
# all rows; errors name the file and its line; files that do not go together.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$PYTHON" - <<'EOF'
import random
random.seed(3)
cuts = [0, 500, 501, 1600, 2400]
rows = [[random.random(), random.gauss(0, 1), random.choice(["red", "blue", "green"])]
        for _ in range(cuts[-1])]
y = ["yes" if a + b > 0.4 else "no" for a, b, _ in rows]
header = "kind,a,b,colour\n"
csv = ["%s,%.6f,%.6f,%s\n" % (l, a, b, c) for l, (a, b, c) in zip(y, rows)]
svm = ["%d 1:%.6f 3:%.6f\n" % (l == "yes", a, b) for l, (a, b, _) in zip(y, rows)]
open("all.csv", "w").write(header + "".join(csv))
open("all.svm", "w").write("".join(svm))
def npy(name, part):
    import struct
    d = len(part[0])
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (len(part), d)
    head += " " * ((64 - (10 + len(head) + 1) % 64) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack("<%df" % (d * len(part)), *[v for r in part for v in r]))
numbers = [[a, b] for a, b, _ in rows]
labels = [[float(l == "yes")] for l in y]
npy("all.npy", numbers)
npy("lab.npy", labels)
for k in range(4):
    s = slice(cuts[k], cuts[k + 1])
    open("part-%d.csv" % k, "w").write(header + "".join(csv[s]))
    open("part-%d.svm" % k, "w").write("".join(svm[s]))
    npy("part-%d.npy" % k, numbers[s])
    npy("label-%d.npy" % k, labels[s])
EOF
same() { cmp -s "$2" "$3" && pass || fail "$1" "$2 and $3 differ"; }

# The kernel is chosen from the rows for csv, and given for the rest, which then takes less time.
given=()
for kind in csv svm; do
    run train all.$kind -D 64 "${given[@]}" -o all.$kind.krein
    ok "$kind: one file"
    run train "part-*.$kind" -D 64 "${given[@]}" -o parts.$kind.krein
    ok "$kind: its parts"
    same "$kind: the same model" all.$kind.krein parts.$kind.krein
    run predict all.$kind.krein all.$kind -o all.txt
    run predict parts.$kind.krein "part-?.$kind" -o parts.txt
    ok "$kind: predictions"
    same "$kind: the same predictions" all.txt parts.txt
    run evaluate all.$kind.krein all.$kind
    cp out all.txt
    run evaluate all.$kind.krein "part-[0-3].$kind"
    ok "$kind: evaluation"
    same "$kind: the same evaluation" <(grep -v seconds all.txt) <(grep -v seconds out)
    given=(-k 'gaussian(sigma=2)' -l 1e-3)
done
run train all.npy --labels lab.npy -D 64 "${given[@]}" -o all.npy.krein
ok "npy: one file"
run train 'part-*.npy' --labels 'label-?.npy' -D 64 "${given[@]}" -o parts.npy.krein
ok "npy: its parts, and parts of the labels cut elsewhere"
same "npy: the same model" all.npy.krein parts.npy.krein
run train all.npy --labels 'label-*.npy' -D 64 "${given[@]}" -o mixed.krein
same "npy: parts of the labels only" all.npy.krein mixed.krein

run train all.csv -D 64 "${given[@]}" -o given.krein
gzip part-1.csv part-3.csv
run train 'part-*.csv*' -D 64 "${given[@]}" -o zipped.krein
ok "some parts are compressed"
same "some parts are compressed" given.krein zipped.krein
gunzip part-1.csv.gz part-3.csv.gz
run train all.csv -D 64 "${given[@]}" --test 'part-*.csv' -o test.krein
ok "--test"
same "--test" given.krein test.krein
run train 'part-*.csv' -D 64 "${given[@]}"
ok "the model's name"
[[ -e part.krein ]] && pass || fail "the model's name" "$(echo *.krein)"
run train 'part-*.csv' -o part-2.csv
status "output is one of the files" 2
has "output is one of the files" err 'part-2.csv is read and would be overwritten'

run train 'nothing-*.csv' -o x.krein
status "no match" 1
has "no match" err 'nothing-\*.csv: there is no such file, and none that matches it as a pattern'
sed -i '700s/,[0-9.-]*,/,inf,/' part-2.csv
run train 'part-*.csv' -o x.krein
status "an infinite number" 1
has "an infinite number" err '^krein: part-2.csv:700: column 2 \(a\) is not finite'
cp part-0.svm part-9.csv
run train 'part-*.csv' -o x.krein
status "mixed formats" 1
has "mixed formats" err 'part-9.csv looks like libsvm, but part-0.csv like csv'
printf 'kind,a,b,color\nyes,1,2,red\n' >part-9.csv
run train 'part-*.csv' -o x.krein
status "another header" 1
has "another header" err 'part-9.csv: the header has "color" for column 4, that of part-0.csv "colour"'
[[ ! -e x.krein ]] && pass || fail "nothing is written"

# Interrupted in one of several files, and gone on with.
n=40000
[[ $SANITIZED ]] && n=20000
"$KREIN" generate friedman -n $n -d 10 -o big.csv >/dev/null
{ read -r header; split -l $((n / 3)) -d - big-; } <big.csv
for part in big-0?; do { echo "$header"; cat "$part"; } >"$part.csv"; done
args=(-k 'gaussian(sigma=4)' -m 'rff(D=64)' --lambda 1e-4)
run train big.csv "${args[@]}" -o whole.krein
ok "a larger file"
args=(train 'big-0?.csv' "${args[@]}" -o resumed.krein --checkpoint state)
"$KREIN" "${args[@]}" --checkpoint-every 0.001 >out 2>err &
pid=$!
begun() { [[ -e state ]] || ! kill -0 $pid 2>/dev/null; }
wait_for 60 begun
kill -KILL $pid 2>/dev/null
wait $pid 2>/dev/null
if [[ -e state ]]; then
    run "${args[@]}"
    ok "goes on"
    same "goes on" whole.krein resumed.krein
    no_leftovers "goes on"
else
    skip "goes on" "it was faster than the signal"
fi
summary
