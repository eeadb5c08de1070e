#!/usr/bin/env bash
# --checkpoint: ended by SIGTERM, SIGINT and SIGKILL half-way, the same bytes in the end; files of
# other jobs; a disk that is full. generate: nothing is left when it is stopped.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=150000
[[ $SANITIZED ]] && n=20000
"$KREIN" generate friedman -n $n -d 20 -o big.npy >/dev/null
args=(train big.npy -k 'gaussian(sigma=4)' -m 'rff(D=256)' --max-memory 100M)
[[ $SANITIZED ]] && args=(train big.npy -k 'gaussian(sigma=4)' -m 'rff(D=64)')
run "${args[@]}" -o whole.krein
ok "in one go"

# The state of sums is larger than that of the data alone.
half_way() { [[ -e state ]] && (($(stat -c %s state) > 30000)); }
for signal in TERM INT KILL; do
    rm -f state out err model.krein
    "$KREIN" "${args[@]}" -o model.krein --checkpoint state --checkpoint-every 0.001 >out 2>err &
    pid=$!
    wait_for 60 half_way
    kill -$signal $pid 2>/dev/null
    wait $pid 2>/dev/null
    rc=$?
    if [[ ! -e state ]]; then
        skip "SIG$signal" "it was faster than the signal"
        continue
    fi
    if [[ $signal == KILL ]]; then
        is "SIG$signal: status" 137 $rc
    else
        is "SIG$signal: status" 1 $rc
        has "SIG$signal: message" err '^krein: cancelled after [0-9]+ rows; the state is in state: train with the same options'
    fi
    [[ ! -e model.krein ]] && pass || fail "SIG$signal: no model yet"
    cp state kept
    run "${args[@]}" -D 128 -o model.krein --checkpoint state
    status "SIG$signal: another job" 2
    has "SIG$signal: what differs" err 'features was 0, and is 128 now'
    cmp -s state kept && pass || fail "SIG$signal: the state is not overwritten"
    run "${args[@]}" -o model.krein --checkpoint state
    ok "SIG$signal: goes on"
    has "SIG$signal: says so" err '^krein: going on from state: [1-9][0-9]* rows are done'
    cmp -s whole.krein model.krein && pass || fail "SIG$signal: the same bytes"
    [[ ! -e state ]] && pass || fail "SIG$signal: the state is gone in the end"
    no_leftovers "SIG$signal" # not even of a write that was killed
done

# Several passes: landmarks, lambda by leave-one-out, from text; killed twice.
rows=30000
[[ $SANITIZED ]] && rows=8000
"$KREIN" generate friedman -n $rows -d 10 -o big.csv >/dev/null
many=(train big.csv -k 'gaussian(sigma=4)' -m 'nystrom(D=64)' --max-memory 24M)
run "${many[@]}" -o landmarks.krein
ok "landmarks in one go"
rm -f state model.krein
killed=0
for _ in 1 2 3 4 5 6; do
    "$KREIN" "${many[@]}" -o model.krein --checkpoint state --checkpoint-every 0.001 >out 2>err &
    pid=$!
    sleep 0.$((RANDOM % 5))
    kill -KILL $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
    [[ -e model.krein ]] && break
done
run "${many[@]}" -o model.krein --checkpoint state
ok "landmarks, killed $killed times: goes on"
cmp -s landmarks.krein model.krein && pass || fail "landmarks, killed $killed times: the same bytes"
no_leftovers "landmarks"

# A net: killed in the middle of its epochs, and while its last layer is solved for.
"$KREIN" generate friedman -n 3000 -d 10 -o net.csv >/dev/null
epochs=400
[[ $SANITIZED ]] && epochs=30
net=(train net.csv -k 'gaussian(sigma=4)' --learner "askl(D=64, epochs=$epochs, patience=0)")
run "${net[@]}" -o net.krein
ok "a net in one go"
grep -h 'after refit' out >whole.refit
begun() { [[ -e state ]] && (($(stat -c %s state) > 15000)); }
for signal in TERM KILL; do
    rm -f state out err model.krein
    "$KREIN" "${net[@]}" -o model.krein --checkpoint state --checkpoint-every 0.001 >out 2>err &
    pid=$!
    wait_for 60 begun
    kill -$signal $pid 2>/dev/null
    wait $pid 2>/dev/null
    if [[ ! -e state ]]; then
        skip "a net, SIG$signal" "it was faster than the signal"
        continue
    fi
    [[ $signal == TERM ]] && has "a net, SIGTERM: message" err '^krein: cancelled after [0-9]+ (steps|rows); the state is in state: train with the same options'
    run train net.csv -k 'gaussian(sigma=4)' --learner 'askl(D=64)' -o model.krein --checkpoint state
    status "a net: another job" 2
    has "a net: what differs" err 'learner was askl\(D=64, epochs'
    run "${net[@]}" -o model.krein --checkpoint state -j 1
    ok "a net, SIG$signal: goes on"
    has "a net, SIG$signal: says so" err '^krein: going on from state: [0-9]+ (steps|rows) are done'
    cmp -s net.krein model.krein && pass || fail "a net, SIG$signal: the same bytes"
    is "a net, SIG$signal: the same errors" "$(cat whole.refit)" "$(grep -h 'after refit' out)"
    no_leftovers "a net, SIG$signal"
done

# Learners without a state, and a solver without one.
run "${many[@]}" --learner 'dckrr(parts=2)' -o model.krein --checkpoint state
status "dckrr" 2
has "dckrr" err 'dckrr keeps no state to go on from; learners that do: krr, askl'
run "${many[@]}" --learner 'sskrr' -o model.krein --checkpoint state
status "sskrr" 2
run train big.csv -k 'gaussian(sigma=4)' -m 'rff(D=64)' --learner 'krr(solver=pcg)' -l 1e-3 -o pcg.krein --checkpoint state
ok "pcg"
has "pcg: warning" err 'keeps no state of conjugate gradients; krr\(solver=direct\) can be interrupted'
[[ ! -e state ]] && pass || fail "pcg: the state is gone in the end"

# Damaged, and not a checkpoint at all.
head -c 10000 kept >state
run "${args[@]}" -o model.krein --checkpoint state
status "cut off" 2
has "cut off" err 'no whole checkpoint .*remove the file to train from the start'
run "${args[@]}" -o model.krein --checkpoint whole.krein
status "a model" 2
has "a model" err 'this is a model.*not overwritten'
run info kept
status "info" 1
has "info" err 'checkpoint of a training that has not ended'
rm -f state
run "${args[@]}" -o model.krein --checkpoint big.npy
status "the data" 2
run "${args[@]}" -o model.krein --checkpoint model.krein
status "the model itself" 2
run "${args[@]}" -o model.krein --checkpoint-every 3
status "every" 2
run train - -o model.krein --checkpoint state <big.npy
status "standard input" 2
has "standard input" err 'read again'
run "${args[@]}" --learner svr -o model.krein --checkpoint state
status "svr" 2
has "svr" err 'svr keeps no state to go on from; learners that do: krr, askl'
run "${args[@]}" -o model.krein --checkpoint /dev/full
status "a device" 2

# A full disk: nothing larger than 16 kB can be written, and training ends well all the same.
(
    trap '' XFSZ
    ulimit -f 16
    "$KREIN" "${args[@]}" -o model.krein --checkpoint state --checkpoint-every 0.001
) >out 2>err
rc=$?
is "full disk: status" 0 $rc
has "full disk: warning" err 'the state could not be written, and training goes on: state: File too large'
cmp -s whole.krein model.krein && pass || fail "full disk: the same bytes"

# generate: stopped half-way, nothing is left.
rm -f out err
"$KREIN" generate friedman -n 150000000 -d 5 -o long.npy >out 2>err &
pid=$!
there() { compgen -G 'long.npy.tmp.*' >/dev/null; }
wait_for 60 there
kill -TERM $pid
wait $pid
is "generate: status" 1 $?
has "generate: message" err 'cancelled; nothing was written'
is "generate: no file" "" "$(ls long.npy* 2>/dev/null)"
no_leftovers checkpoint
summary
