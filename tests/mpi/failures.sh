#!/usr/bin/env bash
# failures.sh BUILD -- when one of several processes fails all end with its message, once, and
# status 1 (2 where the command is wrong); nothing is written. What several processes cannot do is
# refused with the way out.
# shellcheck source=tests/mpi/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"

# fails NAME STATUS N REGEX ARGS...
fails() {
    local name=$1 want=$2 n=$3 message=$4
    shift 4
    rm -f m.krein
    together "$n" "$@" -o m.krein
    is "$name: status" "$want" "$rc"
    once "$name" err "$message"
    is "$name: one message" 1 "$(grep -c '^krein: ' <(grep -vE '^krein: (task:|.*there are quotes|.*: .* is the label)' err))"
    is "$name: nothing printed" "" "$(cat out)"
    is "$name: nothing written" "" "$(find . -name 'm.krein*')"
    no_leftovers "$name"
}
fixed=(-D 48 -l 1e-3 -k 'gaussian(sigma=2)')

"$KREIN" generate arm -n 6000 -o good.csv >/dev/null
sed '5991s/^[^,]*,/inf,/' good.csv >bad.csv
fails "a bad cell in the last rank's rows" 1 4 '^krein: bad\.csv:5991: ' train bad.csv "${fixed[@]}"
sed '5000s/,[^,]*$/,word/' good.csv >late.csv
fails "a word in the second rank's rows" 1 2 '^krein: late\.csv:5000: ' train late.csv "${fixed[@]}"
fails "a missing file" 1 3 "^krein: .*nowhere\\.csv" train nowhere.csv
mkdir shut
together 3 train good.csv "${fixed[@]}" -o shut/deep/m.krein
is "unwritable: status" 1 "$rc"
once "unwritable" err '^krein: .*shut/deep'
fails "svm" 2 2 '^krein: svm trains in one process, and there are 2; use krr' train good.csv --learner svm -t classification

fails "askl" 2 2 '^krein: askl trains in one process, and there are 2; use krr' train good.csv --learner askl
fails "mkl" 2 2 'trains in one process' train good.csv --learner mkl --kernels 'gaussian; linear'
fails "checkpoint" 2 2 'checkpoint keeps the state of one process' train good.csv "${fixed[@]}" --checkpoint state
is "checkpoint: no state" "" "$(ls state 2>/dev/null)"
fails "time limit" 2 2 'time-limit is for one process' train good.csv --time-limit 5
fails "pcg" 2 2 'solver=pcg. runs in one process' train good.csv "${fixed[@]}" --learner 'krr(solver=pcg)'
for learner in labelprop laprls vvr; do
    fails "$learner" 2 2 "$learner trains in one process, and there are 2: its graph joins rows.*sskrr" \
        train good.csv -k gaussian --learner "$learner"
done
fails "selftrain" 2 2 'selftrain trains in one process, and there are 2: it holds all rows.*sskrr' \
    train good.csv -k gaussian --learner selftrain
fails "shuffled parts" 2 2 'order=shuffle would move rows' train good.csv "${fixed[@]}" --learner 'dckrr(parts=8, order=shuffle)'
fails "fewer parts than ranks" 2 3 'parts=2 on 3 processes' train good.csv "${fixed[@]}" --learner 'dckrr(parts=2)'
fails "binning" 2 2 '^krein: .*binning' train good.csv -k 'laplacian(sigma=2)' -m 'binning(D=64)' -l 1e-3
fails "standard input" 2 2 'cannot share standard input' train - "${fixed[@]}" <good.csv
fails "too little memory" 1 2 '^krein: .*memory' train good.csv -k gaussian -D 2000 --max-memory 20M
fails "a wrong column" 2 3 '^krein: .*nobody' train good.csv --label nobody
fails "a bad option" 2 3 '^krein: ' train good.csv --learner 'krr(bogus=1)'
"$KREIN" generate arm -n 6000 -d 3 -o narrow.csv >/dev/null
"$KREIN" train good.csv "${fixed[@]}" -q -o g.krein >/dev/null
fails "predict with other columns" 1 2 '^krein: narrow\.csv' predict g.krein narrow.csv
fails "predict: a bad cell at the end" 1 3 '^krein: late\.csv:5000: ' predict g.krein late.csv

# A rank that is killed while it works: mpirun ends the others.
"$KREIN" generate arm -n 60000 -o long.npy >/dev/null
cat >rank.sh <<'SH'
echo $$ >"pid.$OMPI_COMM_WORLD_RANK.part" && mv "pid.$OMPI_COMM_WORLD_RANK.part" "pid.$OMPI_COMM_WORLD_RANK"
exec "$@"
SH
launch 3 bash rank.sh "$KREIN" train long.npy --label first -D 1024 --select 'cv(k=10)' -o m.krein >out 2>err &
started=$!
if wait_for 60 test -e pid.1; then
    sleep 1
    kill -KILL "$(cat pid.1)"
    wait "$started"
    rc=$?
    if ((rc != 0 && rc != 124)); then pass; else fail "a rank is killed" "status $rc"; fi
else
    fail "a rank is killed" "it did not start"
    wait "$started"
fi
is "a rank is killed: no model" "" "$(find . -name 'm.krein*')"
lacks "a rank is killed: no report" out '^rows'
summary
