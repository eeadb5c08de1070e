#!/usr/bin/env bash
# Under a launcher: who prints, what is refused, how all end alike. The first half pretends that
# there is one, which needs no MPI.
# shellcheck source=../mpi/launch.sh disable=SC2034,SC2154
. "$(dirname "${BASH_SOURCE[0]}")/../mpi/launch.sh"
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
unset KREIN_MPI OMP_NUM_THREADS
folder=$(dirname "$KREIN")
"$KREIN" generate arm -n 200 -o arm.csv >/dev/null

as_rank() { # rank size args...: as mpirun would start it
    local rank=$1 size=$2
    shift 2
    command=$*
    env OMPI_COMM_WORLD_SIZE="$size" OMPI_COMM_WORLD_RANK="$rank" \
        OMPI_COMM_WORLD_LOCAL_RANK="$rank" "$KREIN" "$@" >out 2>err
    rc=$?
}

run ranks
ok "ranks of one"
is "ranks of one: lines" 2 "$(wc -l <out)"
as_rank 0 4 cluster arm.csv -o rows.txt
status "cluster on four" 2
has "cluster on four" err '^krein: cluster runs in one process, but mpirun started 4; run it without mpirun'
as_rank 1 4 cluster arm.csv -o rows.txt
is "rank 1 refuses as well" 2 "$rc"
is "rank 1 is silent" "" "$(cat out err)"
is "nobody wrote anything" "" "$(ls rows.txt 2>/dev/null)"
as_rank 0 2 list kernels
has "rank 0 lists" out gaussian
as_rank 1 2 list kernels
is "rank 1 does not" "0-" "$rc-$(cat out err)"
as_rank 0 1 train arm.csv -k linear -o one.krein
ok "one process under mpirun"
KREIN_MPI=off as_rank 1 4 train arm.csv -k linear -o own.krein
ok "on its own"
has "on its own, it prints" out '^rows'
KREIN_MPI=/nowhere/mpi.so as_rank 0 4 ranks
status "MPI is not there" 1
has "MPI is not there" err 'mpirun started 4 processes, but MPI cannot be loaded: /nowhere/mpi.so'
if compgen -G '/usr/local/lib*/krein/libkrein_mpi.so' >/dev/null; then
    skip "no libkrein_mpi" "there is one in /usr/local"
else
    mkdir solo && cp "$KREIN" solo/krein
    KREIN=$PWD/solo/krein as_rank 0 4 ranks
    status "no libkrein_mpi" 1
    has "no libkrein_mpi" err 'mpirun started 4 processes, but this Krein was built without MPI, or'
fi

# The program and the library know nothing of MPI.
for file in "$KREIN" "$folder/libkrein.so"; do
    [[ -e $file ]] || continue
    is "${file##*/}: no symbol of MPI" "" "$(nm -D "$file" | grep -E '[ _]P?MPI_[A-Z]|[ _]ompi_')"
    is "${file##*/}: not linked with it" "" "$(ldd "$file" | grep -E 'libmpi|libopen-')"
done

if [[ $SANITIZED ]]; then summary; fi # processes under a sanitizer are connected by sockets
if why=$(no_mpi "$folder"); then
    skip mpirun "$why"
    summary
fi

for n in 1 2 3 4; do
    together "$n" ranks
    ok "ranks on $n"
    once "ranks on $n" out '^rank '
    is "ranks on $n: rows" "$n" "$(grep -cE '^[0-9]' out)"
done
threads=$(awk '/^[0-9]/ { n += $4 } END { print n }' out)
if ((threads == 4 || threads <= $(nproc))); then pass; else fail "no more threads than CPUs" "$threads"; fi
together 3 ranks --json
json "as JSON" 'j["n"] == 3 and len(j["ranks"]) == 3 and j["sum_bytes_per_second"] > 0'

for rank in 0 3; do
    KREIN_TEST_RANK=$rank together 4 ranks
    is "rank $rank of 4 fails" 1 "$rc"
    once "rank $rank of 4 fails" err "^krein: rank $rank fails, as it was told"
    is "rank $rank of 4 fails: no table" "" "$(cat out)"
done
for rank in 0 1; do
    KREIN_TEST_RANK=${rank}c together 2 ranks
    is "rank $rank of 2 complains" 2 "$rc"
    once "rank $rank of 2 complains" err "^krein: rank ${rank}c complains"
done

together 3 cluster arm.csv -o rows.txt
is "cluster" 2 "$rc"
once "cluster" err '^krein: cluster runs in one process'
is "cluster: no file" "" "$(ls rows.txt 2>/dev/null)"
together 3 info one.krein
ok "info"
once "info" out '^model'
together 3 --version
once "version" out '^krein [0-9]'
together 2 ranks --bogus
is "a wrong option" 2 "$rc"
once "a wrong option" err '^krein: ranks: unknown option'
KREIN_MPI=/nowhere/mpi.so together 3 ranks
is "no library" 1 "$rc"
once "no library" err 'MPI cannot be loaded'
summary
