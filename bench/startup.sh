#!/usr/bin/env bash
# startup.sh -- how long `krein --version` and `krein help` take: best and median of 20 runs.
# KREIN names the program (build/krein).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
krein=${KREIN:-$here/../build/krein}
[[ -x $krein ]] || { echo "$krein is not there: build it, or name it in KREIN" >&2; exit 1; }

echo "startup, a whole process with fork and exec from the shell"
for word in --version help; do
    for ((i = 0; i < 20; i++)); do
        start=$(date +%s%N)
        "$krein" "$word" >/dev/null
        echo $(($(date +%s%N) - start))
    done | sort -n | awk -v word="$word" '
        { t[NR] = $1 / 1e6 }
        END {
            median = (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) / 2
            printf "  krein %-12s best %6.1f ms   median %6.1f ms   (target < 20: %s)\n", word, t[1],
                median, median < 20 ? "met" : "MISSED"
        }'
done
