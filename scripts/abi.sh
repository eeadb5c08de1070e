#!/usr/bin/env bash
# abi.sh LIBKREIN.SO [--write] -- what a program that was compiled against this version relies on:
# functions, structs, enumerators. Compares the library (with debug information) with the committed
# description tests/abi/libkrein.abi by abidiff of Debian's abigail-tools. Functions may be
# added; what is changed or removed fails, a field that is appended too. --write makes the description
# anew: for a new SONAME, after additions, and after a look at appended fields. The last line is "N passed, N failed[, N skipped]".
set -uo pipefail
library=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
dump=tests/abi/libkrein.abi

if ! command -v abidw >/dev/null || ! command -v abidiff >/dev/null; then
    echo "skipped: abi: no abigail-tools (scripts/deps.sh test installs them)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
if [[ ${2:-} == --write ]]; then
    # Without the paths of the machine that wrote it.
    abidw --headers-dir include --no-corpus-path --no-comp-dir-path --no-show-locs "$library" |
        sed -E "s#path='[^']*/src/#path='src/#" >"$dump.new" && mv "$dump.new" "$dump" || exit 1
    echo "$dump: $(grep -c '<elf-symbol name' "$dump") symbols"
    exit 0
fi
report=$(abidiff --headers-dir2 include "$dump" "$library")
status=$?
if ((status & 1)); then
    echo "abidiff could not compare $library with $dump"
    echo "0 passed, 1 failed"
    exit 1
fi
# 4: something changed; 8: in a way that old programs do not survive.
if ((status & 8)) || grep -qE '(summary: [1-9][0-9]* Removed|Removed, [1-9][0-9]* Changed)' <<<"$report"; then
    echo "$report"
    echo "0 passed, 1 failed"
    exit 1
fi
((status & 4)) && echo "$report" && echo "added since $dump was written: scripts/abi.sh $library --write"
echo "1 passed, 0 failed"
