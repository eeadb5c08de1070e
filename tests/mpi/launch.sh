# shellcheck shell=bash
# launch.sh -- how tests start several processes; sourced by them.
#
#   no_mpi BUILD       prints why there is no MPI to test with; false when there is
#   launch N ARGS...   runs ARGS in N processes, more than CPUs where need be
#   together N ARGS... the program in N processes, for the checks of tests/cli/lib.sh
#   once NAME FILE REGEX   one line of the file has it
#
# Open MPI wants to be told that it may run as root and on too few CPUs, and keeps sockets in
# TMPDIR, whose name must be short: a socket's may have 107 bytes.
MPIRUN=${MPIRUN:-mpirun}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_base_warn_component_unused=0
LAUNCH_LIMIT=${LAUNCH_LIMIT:-120}

no_mpi() {
    if ! command -v "$MPIRUN" >/dev/null; then
        echo "no $MPIRUN here (openmpi-bin)"
    elif [[ ! -e $1/libkrein_mpi.so ]]; then
        echo "built without MPI (libopenmpi-dev)"
    else
        return 1
    fi
}

launch() {
    local n=$1 folder=${TMPDIR:-/tmp} status
    local -a options=()
    shift
    "$MPIRUN" --version 2>/dev/null | grep -q 'Open MPI' && options=(-q --oversubscribe)
    ((${#folder} > 32)) && folder=/tmp
    folder=$(mktemp -d "$folder/krein-mpi.XXXXXX") || return 1
    TMPDIR=$folder timeout -k 10 "$LAUNCH_LIMIT" "$MPIRUN" "${options[@]}" -n "$n" "$@"
    status=$?
    rm -rf "$folder"
    return "$status"
}

together() {
    local size=$1
    shift
    command="$* on $size ranks"
    launch "$size" "$KREIN" "$@" >out 2>err
    rc=$?
}
once() { is "$1: once" 1 "$(grep -cE -- "$3" "$2")"; }
