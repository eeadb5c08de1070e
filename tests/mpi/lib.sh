# shellcheck shell=bash disable=SC2034,SC2154
# lib.sh BUILD -- helpers of the command line tests on several processes; sourced by them. The
# helpers of tests/cli/lib.sh, and
#
#   together N ARGS...       runs krein in N processes; leaves out, err (files) and rc
#   once NAME FILE REGEX     one line of FILE matches
#   same NAME A B TOLERANCE [each]
#                            two files say the same: words are equal, numbers too to that part of
#                            the largest in their column, or of themselves
#   report FILE              what train printed, without times, memory and the model's file
#
# Ends the test with a word where there is no MPI.
mpi_tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/mpi/launch.sh
source "$mpi_tests/launch.sh"
KREIN=$(cd "$1" && pwd)/krein
# shellcheck source=tests/cli/lib.sh
source "$mpi_tests/../cli/lib.sh"
if why=$(no_mpi "$(dirname "$KREIN")"); then
    skip "${0##*/}" "$why"
    summary
fi
unset KREIN_MPI
export OMP_NUM_THREADS=1 # as many as there are CPUs would wait for each other

same() {
    local answer
    if answer=$("$PYTHON" "$mpi_tests/same.py" "${@:2}" 2>&1); then
        pass
    else
        fail "$1" "$(tail -n 1 <<<"$answer")"
    fi
}
report() { grep -vE '^(time|peak memory|model) ' "$1"; }
