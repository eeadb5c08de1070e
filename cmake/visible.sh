#!/bin/sh
# visible.sh OUT.o COMPILER OBJDUMP OBJCOPY OBJECT ... -- the objects as one, in which every hidden
# name is visible too.
#
# A hidden name becomes a local one, which the code itself goes on using, and a global one of the
# same address stands beside it: the instructions are those of the library.
set -eu
out=$1 compiler=$2 objdump=$3 objcopy=$4
shift 4
"$compiler" -r -nostdlib -o "$out.hidden" "$@"
# Lines of `objdump -t`: address, g, F or O (function, object), section, size, .hidden, name.
"$objdump" -t "$out.hidden" | awk '$2 == "g" && $6 == ".hidden" {
    printf "--add-symbol %s=%s:0x%s,global,%s\n", $7, $4, $1, $3 == "F" ? "function" : "object" }' >"$out.names"
"$objcopy" --localize-hidden "@$out.names" "$out.hidden" "$out"
rm "$out.hidden" "$out.names"
