# shellcheck shell=bash disable=SC2034
# lib.sh -- helpers of the command line tests; sourced by them.
#
#   run ARGS...              runs krein; leaves out, err (files) and rc
#   ok NAME                  the last run gave status 0
#   status NAME N            ... status N, and on failure one "krein: " line on stderr
#   has NAME FILE REGEX      a line of FILE matches
#   lacks NAME FILE REGEX    none does
#   is NAME WANT GOT
#   json NAME EXPR           EXPR of Python holds for j, the object that `out` holds
#   goes_on BYTES ARGS...    a training that is killed goes on to the same model
#   pass NAME / fail NAME [why] / skip NAME why
#   summary                  prints the last line and exits
#
# A script that makes no check, or calls a command that is not there, fails.
# Works in a folder of its own that is removed at the end.
set -u
: "${KREIN:?KREIN is the program to test}"
KREIN=$(cd "$(dirname "$KREIN")" && pwd)/$(basename "$KREIN")
SANITIZED=${KREIN_SANITIZED:-}
PYTHON=/usr/bin/python3
[[ -x $PYTHON ]] || PYTHON=$(command -v python3)
export LC_ALL=C
unset OPENBLAS_CORETYPE KREIN_REEXEC KREIN_TEST_CORE
passed=0 failed=0 skipped=0 rc=0

work=$(mktemp -d "${TMPDIR:-/tmp}/krein-cli-XXXXXX") || exit 1
work=$(cd "$work" && pwd)
main=$BASHPID
trap '[[ $BASHPID == "$main" ]] && { chmod -R u+w "$work"; rm -rf "$work"; } 2>/dev/null' EXIT
cd "$work" || exit 1

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAILED: $1${2:+: $2}"
}
skip() {
    skipped=$((skipped + 1))
    echo "skipped: $1: $2"
}
# A helper or a tool whose name is wrong checks nothing; bash says so in a shell of its own.
command_not_found_handle() {
    echo "$1" >>"$work/not-found"
    echo "$1: command not found" >&2
    return 127
}
summary() {
    if [[ -n ${JSON_PID:-} ]]; then
        exec {JSON[1]}>&-
        wait "$JSON_PID"
    fi
    [[ ! -e $work/not-found ]] || fail "commands that are not there" "$(sort -u "$work/not-found" | tr '\n' ' ')"
    ((passed + failed + skipped)) || fail "${0##*/}" "no check was made"
    echo "$passed passed, $failed failed, $skipped skipped"
    ((failed == 0))
    exit
}

run() {
    command=$*
    "$KREIN" "$@" >out 2>err
    rc=$?
}
why() { echo "krein $command: status $rc; $(head -c 300 err | tr '\n' ' ')"; }
ok() { if ((rc == 0)); then pass; else fail "$1" "$(why)"; fi; }
status() {
    if ((rc != $2)); then
        fail "$1" "wanted status $2; $(why)"
    elif (($2 != 0)) && ! grep -q '^krein: .' err; then
        fail "$1" "no message; $(why)"
    else
        pass
    fi
}
has() { if grep -Eq -- "$3" "$2"; then pass; else fail "$1" "no line of $2 matches '$3': $(head -c 300 "$2" | tr '\n' ' ')"; fi; }
lacks() { if grep -Eq -- "$3" "$2"; then fail "$1" "$2 matches '$3': $(grep -Em1 -- "$3" "$2")"; else pass; fi; }
is() { if [[ $2 == "$3" ]]; then pass; else fail "$1" "wanted '$2', got '$3'"; fi; }
# One Python answers all of a script: it takes longer to start than most runs of krein. Its pipes
# are the script's own, so a subshell starts another.
json_answers='
import json, os, sys
for line in iter(sys.stdin.readline, ""):
    try:
        folder, expression = line.rstrip().split("\t", 1)
        os.chdir(folder)
        text = open("out").read()
        assert text.endswith("\n") and text.count("\n") == 1, "not one line: %r" % text[:200]
        j = json.loads(text)
        assert isinstance(j, dict), "not an object"
        assert eval(expression, {"json": json, "j": j}), "does not hold in %s" % text[:600]
        print("yes", flush=True)
    except Exception as problem:
        print(type(problem).__name__, *str(problem).split(), flush=True)
'
json() {
    local question=$PWD$'\t'${2//$'\n'/ } answer=''
    if [[ $BASHPID != "$main" ]]; then
        answer=$("$PYTHON" -S -c "$json_answers" <<<"$question" 2>&1)
    else
        [[ -n ${JSON_PID:-} ]] || coproc JSON { exec "$PYTHON" -S -c "$json_answers" 2>&1; }
        printf '%s\n' "$question" >&"${JSON[1]}"
        read -r answer <&"${JSON[0]}"
    fi
    if [[ $answer == yes ]]; then pass; else fail "$1" "$2: $answer; $(why)"; fi
}
# wait_for SECONDS CONDITION...: polls; false when time is up.
wait_for() {
    local tries=$(($1 * 50))
    shift
    while ! "$@"; do
        ((tries-- > 0)) || return 1
        sleep 0.02
    done
}
# No file of a write that was given up, here or below.
no_leftovers() { is "$1: no temporary file left" "" "$(find . -name '*.tmp*')"; }
# goes_on BYTES ARGS...: a training that is killed once its state has so many bytes goes on, on one
# thread, to the model that it makes in one go.
goes_on() {
    local bytes=$1 signal pid
    shift
    begun() { [[ -e state ]] && (($(stat -c %s state) > bytes)); }
    run "$@" -o whole.krein
    ok "in one go"
    for signal in TERM KILL; do
        rm -f state out err model.krein
        "$KREIN" "$@" -o model.krein --checkpoint state --checkpoint-every 0.001 >out 2>err &
        pid=$!
        wait_for 60 begun
        kill -$signal $pid 2>/dev/null
        wait $pid 2>/dev/null
        if [[ ! -e state ]]; then
            skip "SIG$signal" "it was faster than the signal"
            continue
        fi
        run "$@" -o model.krein --checkpoint state -j 1
        ok "SIG$signal: goes on"
        cmp -s whole.krein model.krein && pass || fail "SIG$signal: the same bytes"
    done
}
