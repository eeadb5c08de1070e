#!/usr/bin/env bash
# run.sh BUILD -- test_dist under mpirun, with 1 to 4 ranks; then ranks that die, leave or fail
# at the end: the others must not hang.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/mpi/launch.sh
source "$here/launch.sh"
build=$(cd "$1" && pwd)
passed=0 failed=0
summary() {
    echo "$passed passed, $failed failed${1:+, $1 skipped}"
    ((failed == 0))
    exit
}
if why=$(no_mpi "$build"); then
    echo "skipped: mpi: $why"
    summary 1
fi
export KREIN_MPI=$build/libkrein_mpi.so
work=$(mktemp -d "${TMPDIR:-/tmp}/krein-ranks.XXXXXX")
trap 'rm -rf "$work"' EXIT

check() { # name condition...
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $name"
        cat "$work/out" "$work/err"
    fi
}

for n in 1 2 3 4; do
    launch "$n" "$build/tests/test_dist" >"$work/out" 2>"$work/err"
    status=$?
    line=$(grep -E '^[0-9]+ passed' "$work/out")
    [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]] && passed=$((passed + BASH_REMATCH[1]))
    check "$n ranks" test "$status-$(grep -c ' passed, 0 failed' "$work/out")" = 0-1
done

# 124 is the time limit.
for what in die leave; do
    launch 3 "$build/tests/test_dist" "$what" >"$work/out" 2>"$work/err"
    status=$?
    check "rank 1 of 3: $what" test "$status" != 0 -a "$status" != 124
done
launch 3 "$build/tests/test_dist" late >"$work/out" 2>"$work/err"
check "rank 1 fails at the end: status" test $? = 1
check "rank 1 fails at the end: rank 0 knows why" grep -q 'too late' "$work/out"
summary
