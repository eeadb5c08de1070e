#!/usr/bin/env bash
# own_rows.sh BUILD -- processes that have rows of their own, in arrays and from sources, train the
# model of one process with all rows; with 1 to 4 processes.
# shellcheck source=tests/mpi/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
build=$(dirname "$KREIN")
if ! command -v mpicc >/dev/null; then
    skip own_rows "no mpicc here (libopenmpi-dev)"
    summary
fi
if [[ ! -e $build/libkrein.so ]]; then
    skip own_rows "the shared library was not built"
    summary
fi
mpicc -std=c17 -O1 -Wall -Wextra -Werror -I"$mpi_tests/../../include" "$mpi_tests/own_rows.c" \
    -o own_rows -L"$build" -lkrein -lm -Wl,-rpath,"$build" >log 2>&1
is "it compiles" "0 " "$? $(cat log)"
for n in 1 2 3 4; do
    launch "$n" ./own_rows >out 2>err
    rc=$? command="own_rows on $n ranks"
    is "$n ranks: status" 0 "$rc"
    is "$n ranks: what it says" "all good on $n" "$(cat out)"
done
summary
