#!/usr/bin/env bash
# communicator.sh BUILD -- a program with MPI of its own hands communicators over to the library:
# two halves of the processes train at the same time, and get the models of one process.
# shellcheck source=tests/mpi/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
build=$(dirname "$KREIN")
if ! command -v mpicc >/dev/null; then
    skip communicator "no mpicc here (libopenmpi-dev)"
    summary
fi
if [[ ! -e $build/libkrein.so ]]; then
    skip communicator "the shared library was not built"
    summary
fi
mpicc -std=c17 -O1 -Wall -Wextra -Werror -I"$mpi_tests/../../include" "$mpi_tests/communicator.c" \
    -o communicator -L"$build" -lkrein -Wl,-rpath,"$build" >log 2>&1
is "it compiles" "0 " "$? $(cat log)"

fixed=(-D 48 -l 1e-3 -k 'gaussian(sigma=2)')
"$KREIN" generate arm -n 6000 -d 6 -o first.csv >/dev/null
"$KREIN" generate arm -n 6000 -d 6 --seed 2 -o second.csv >/dev/null
sed '5991s/^[^,]*,/inf,/' first.csv >bad.csv
for n in 2 4; do
    rm -f ./*.krein
    launch "$n" ./communicator first.csv second.csv bad.csv >out 2>err
    rc=$? command="communicator on $n ranks"
    is "$n ranks: status" 0 "$rc"
    is "$n ranks: what it says" "all good on $n" "$(cat out)"
    for model in half0:first half1:second world:first; do
        file=${model#*:}.csv model=${model%:*}
        "$KREIN" train "$file" "${fixed[@]}" -q -o one.krein >/dev/null
        "$KREIN" predict one.krein "$file" -o one.csv
        "$KREIN" predict "$model.krein" "$file" -o many.csv
        same "$model on $n: predictions" one.csv many.csv 2e-5
    done
done
summary
