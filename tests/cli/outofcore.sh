#!/usr/bin/env bash
# Files larger than --max-memory, of every format: what streams gives the same as in memory.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=95000 cells=240000 budget=9984K
[[ $SANITIZED ]] && cells=60000
"$KREIN" generate friedman -n $n -d 10 -q -o big.csv >/dev/null
"$KREIN" generate friedman -n $n -d 10 -q -o big.libsvm >/dev/null
"$KREIN" generate friedman -n $cells -d 10 -q -o big.npy >/dev/null
for file in big.*; do
    [[ $SANITIZED && $file == *.npy ]] && continue
    (($(stat -c %s "$file") > ${budget%K} * 1024)) && pass || fail "$file is large"
done

# Both ways, and whether they gave the same file. krein says where rows of text are not kept.
both() { # title file output arguments...
    local title="$1, $2" file=$2 out=$3
    shift 3
    run "$1" $file "${@:2}" -o in.$out
    ok "$title in memory"
    run "$1" $file "${@:2}" -o out.$out --max-memory $budget
    ok "$title from the file"
    [[ $file == *.npy ]] || has "$title: it did not fit" err 'does not fit in memory; it is read in several passes'
    cmp -s in.$out out.$out && pass || fail "$title: the same bytes"
    rm -f in.$out
}

kernel=(-k 'gaussian(sigma=4)' -m 'rff(D=32)')
for file in big.csv big.libsvm big.npy; do
    both "krr" $file krein train "${kernel[@]}"
    both "pca" $file csv pca "${kernel[@]}" --components 3
    [[ $SANITIZED && $file != big.csv ]] && continue
    both "krr, nystrom" $file krein train -k 'gaussian(sigma=4)' -m 'nystrom(D=32)'
    both "krr, pcg" $file krein train "${kernel[@]}" --learner 'krr(solver=pcg)' -l 0.1
    both "dckrr" $file krein train "${kernel[@]}" --learner 'dckrr(parts=3)' -l 1e-4
    both "dckrr, shuffled" $file krein train "${kernel[@]}" --learner 'dckrr(parts=3, order=shuffle)' -l 1e-4
    both "sskrr" $file krein train "${kernel[@]}" --learner 'sskrr(parts=2)' -l 1e-4
    run transform $file "${kernel[@]}" -o one.npy
    ok "transform, $file in memory"
    run transform $file "${kernel[@]}" -o two.npy --max-memory $budget
    ok "transform, $file"
    cmp -s one.npy two.npy && pass || fail "transform, $file: the same bytes"
    rm -f one.npy two.npy
    for what in predict evaluate; do
        run $what out.krein $file
        ok "$what, $file in memory"
        grep -v '^seconds' out >one
        run $what out.krein $file --max-memory $budget
        ok "$what, $file"
        grep -v '^seconds' out >two
        cmp -s one two && pass || fail "$what, $file: the same lines"
    done
done

# ---- what does not fit says why ----
run train big.csv -D 32 --max-memory 10M -o no.krein
status "a choice that does not fit" 1
has "a choice that does not fit" err 'choosing the kernel needs .* of the memory budget are left; give it'
run plan big.csv -D 32 --max-memory 10M
has "the plan of a choice that does not fit" err 'choosing the kernel takes most of it'
run train big.csv -k gaussian -D 32 --max-memory 20M -o no.krein
status "a search that does not fit" 1
has "a search that does not fit" err 'choosing the kernel.s parameters takes most of it'
run generate friedman -n 1000000000000000 -d 50 -o huge.npy
status "more than the disk" 1
has "more than the disk" err 'huge.npy: the rows take .* and the disk has room for'
[[ -e huge.npy ]] && fail "more than the disk: nothing is written" || pass
# A name for each of many columns counts in full.
"$PYTHON" - <<'PY'
d = 300000
with open("wide.csv", "w") as f:
    f.write("y," + ",".join("c%d" % j for j in range(d)) + "\n")
    for i in range(4):
        f.write("%d," % (i % 2) + ",".join(str((i + j) % 7) for j in range(d)) + "\n")
PY
if [[ $SANITIZED ]]; then
    skip "many columns" "the sanitizer has another malloc"
else
    "$PYTHON" - "$KREIN" train wide.csv --max-memory 60M -k 'gaussian(sigma=1)' -m 'rff(D=2)' -o no.krein >out 2>err <<'PY'
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
print("status", code, "megabytes", most, "near" if most < 60 + 30 else "far")
PY
    has "many columns are refused" err 'out of memory: .* of the 60.0 MB budget are in use'
    has "many columns take what they may" out '^status 1 megabytes [0-9]* near$'
fi
no_leftovers outofcore
summary
