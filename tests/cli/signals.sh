#!/usr/bin/env bash
# Ctrl-C and SIGTERM in the middle of work; the restart for a better OpenBLAS.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=20000
[[ $SANITIZED ]] && n=4500
"$KREIN" generate arm -n $n -o arm.csv >/dev/null

for signal in INT TERM; do
    echo old >old.krein
    rm -f out err
    "$KREIN" train arm.csv -v -o old.krein >out 2>err &
    pid=$!
    # The task is known after reading, before the long part; a restart is told earlier.
    wait_for 60 grep -qs '^krein: task' err
    kill -$signal $pid
    start=$SECONDS
    wait $pid
    rc=$?
    is "SIG$signal: status" 1 $rc
    has "SIG$signal: message" err '^krein: cancelled; nothing was written$'
    is "SIG$signal: the old file" old "$(cat old.krein)"
    is "SIG$signal: no output" "" "$(cat out)"
    limit=5
    [[ $SANITIZED ]] && limit=30
    if ((SECONDS - start <= limit)); then pass; else fail "SIG$signal: stops soon" "$((SECONDS - start)) s"; fi
done
no_leftovers signals

# approx, in the middle of one long comparison.
if [[ ! $SANITIZED ]]; then
    "$KREIN" approx arm.csv -k 'gaussian(sigma=3)' -m 'rff(D=4096)' --rows 8000 >out 2>err &
    pid=$!
    sleep 2
    kill -INT $pid
    start=$SECONDS
    wait $pid
    is "approx: status" 1 $?
    has "approx: message" err '^krein: cancelled'
    if ((SECONDS - start <= 5)); then pass; else fail "approx: stops soon" "$((SECONDS - start)) s"; fi
fi

# A stream that does not end, waiting for input: the second signal ends it at the latest.
mkfifo pipe
rm -f out err
"$KREIN" train pipe -o fifo.krein >out 2>err &
pid=$!
exec 9>pipe
printf 'y,x\n1,2\n' >&9
kill -INT $pid
sleep 0.1
kill -INT $pid 2>/dev/null
gone() { ! kill -0 $pid 2>/dev/null; }
if wait_for 10 gone; then pass; else fail "two signals" "still there"; kill -KILL $pid; fi
exec 9>&-
wait $pid 2>/dev/null
[[ ! -e fifo.krein ]] && pass || fail "two signals: no model"

# The demo leaves nothing behind.
mkdir tmp
rm -f out err
TMPDIR=$work/tmp "$KREIN" demo >out 2>err &
pid=$!
there() { compgen -G 'tmp/krein-demo-*/test.csv' >/dev/null; }
wait_for 60 there
kill -INT $pid
wait $pid
is "demo: status" 1 $?
has "demo: message" err '^krein: cancelled'
is "demo: the folder is gone" "" "$(ls tmp)"

# ---- OpenBLAS ----
# KREIN_TEST_CORE makes the program believe that OpenBLAS has chosen that core.
"$KREIN" generate friedman -n 100 -o small.csv >/dev/null
"$KREIN" train small.csv -q -k 'gaussian(sigma=2)' -l 1e-4 -o m.krein >/dev/null
KREIN_TEST_CORE=Prescott run info -v m.krein
ok "restart"
is "restarted once" 1 "$(grep -c '^krein: OpenBLAS chose Prescott; restarted with ' err)"
has "restart: the command is run" out '^task +regression'
KREIN_TEST_CORE=Prescott run info m.krein
is "restart is silent" "" "$(cat err)"
OPENBLAS_CORETYPE=Haswell KREIN_TEST_CORE=Prescott run list
KREIN_TEST_CORE=Prescott run list -v
is "no restart where nothing is computed" "" "$(cat err)"
KREIN_TEST_CORE=Prescott run predict -v m.krein - <small.csv
ok "restart: standard input is whole"
is "restart: rows" 100 "$(wc -l <out | tr -d ' ')"
chosen=$(KREIN_TEST_CORE=Prescott "$KREIN" info -v m.krein 2>&1 >/dev/null | sed -n 's/.*restarted with //p')
OPENBLAS_CORETYPE=$chosen KREIN_TEST_CORE=Prescott run info -v m.krein
lacks "the user's choice is kept" err restarted
KREIN_REEXEC=1 KREIN_TEST_CORE=Prescott run info -v m.krein
lacks "no loop" err restarted
ok "no loop"
summary
