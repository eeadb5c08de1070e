#!/usr/bin/env bash
# outofcore.sh [ROWS] [--file FILE] -- training on a file that is larger than the memory it may use.
#
# Generates ROWS x 50 float32 rows (4,000,000, a file of 816 MB; the results page has 100000000,
# 20 GB), trains 512 features with --max-memory an eighth of the file (2G at most, 96M at least) from a
# cold page cache, kills another training half-way with SIGKILL, goes on from its checkpoint, and compares
# the models. Prints rows a second beside what the machine's matrix products and its disk allow, both
# measured before and after; peak memory as the kernel counts it. Only root can empty the page cache;
# without, the file may be read from memory (it says so).
#
#   --file FILE    keep the data there, and use what is there
#   KREIN=PATH     the program (build/krein); bench_pipe is in bench/ beside it
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
krein=${KREIN:-$here/../build/krein}
pipe=$(dirname "$krein")/bench/bench_pipe
for program in "$krein" "$pipe" /usr/bin/time; do
    [[ -x $program ]] || { echo "$program is not there: make bench builds or installs it" >&2; exit 1; }
done
rows=4000000 file=''
while [[ $# -gt 0 ]]; do
    case $1 in
    --small) rows=500000 ;;
    --file) file=${2:?--file FILE} && shift ;;
    [1-9]*) rows=$1 ;;
    *)
        echo "usage: bench/outofcore.sh [ROWS] [--small] [--file FILE]" >&2
        exit 2
        ;;
    esac
    shift
done
work=$(mktemp -d "${TMPDIR:-/tmp}/krein_bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT
[[ -n $file ]] || file=$work/big.npy

now() { date +%s.%N; }
calc() { awk "BEGIN { printf \"$1\", $2 }"; }
field() { sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p" "$2"; }
line() { printf '  %-46s %s\n' "$1" "$2"; }
cold() { sync; { echo 3 >/proc/sys/vm/drop_caches; } 2>/dev/null || true; }

# Million rows a second of sgemm and ssyrk alone; GB/s of reading the file (4 GB of it).
limits() { # file of the answers
    "$pipe" few >"$1"
    local start bytes=$(($(stat -c %s "$file") < 4000000000 ? $(stat -c %s "$file") : 4000000000))
    cold
    start=$(now)
    dd if="$file" of=/dev/null bs=8M count=$((bytes / 8388608 + 1)) iflag=fullblock 2>/dev/null
    echo "disk $(calc %.2f "$bytes / ($(now) - $start) / 1e9")" >>"$1"
    line "limit: sgemm and ssyrk" "$(awk '/^  limit: /{ printf "%s%s GFLOP/s", n++ ? ", " : "", $(NF - 1) }' "$1")"
    line "limit: rows through both" "$(awk '/limit of both/ { print $4 }' "$1") million/s"
    line "limit: reading the file" "$(awk '/^disk/ { print $2 }' "$1") GB/s"
}

if [[ ! -e $file ]]; then
    start=$(now)
    "$krein" generate friedman -n "$rows" -d 50 -q -o "$file" >/dev/null
    line "generate" "$(calc %.0f "$(now) - $start") s, $(calc %.0f "$(stat -c %s "$file") / ($(now) - $start) / 1e6") MB/s"
fi
bytes=$(stat -c %s "$file")
memory=$((bytes / 8 > 96000000 ? bytes / 8 : 96000000))
((memory < 2147483648)) || memory=2147483648
every=$((rows >= 50000000 ? 30 : 1))
train=("$krein" train "$file" -t regression -k "gaussian(sigma=7)" -D 512 -l 1e-6 --max-memory "$memory" -q --json)
echo "n = $rows, d = 50, D = 512: $(calc %.1f "$bytes / 1e9") GB of .npy in $(calc %.0f "$memory / 1e6") MB (--max-memory)"
[[ -w /proc/sys/vm/drop_caches ]] || echo "the page cache cannot be emptied: the file may come from memory"
limits "$work/before"

cold
/usr/bin/time -f %M -o "$work/rss" "${train[@]}" -o "$work/whole.krein" >"$work/out"
seconds=$(field total "$work/out")
line "train in one go" "$(calc %.1f "$seconds") s (fit $(calc %.1f "$(field fit "$work/out")") s, waiting for the file not counted)"
line "peak memory" "$(calc %.0f "$(tail -n 1 "$work/rss") * 1024 / 1e6") MB"
limits "$work/after"
disk=$(awk '/^disk/ && $2 > most { most = $2 } END { print most }' "$work/before" "$work/after")
both=$(awk '/limit of both/ && $4 > most { most = $4 } END { print most }' "$work/before" "$work/after")
line "rows a second" "$(calc %.0f "$rows / $seconds") (two passes: $(calc %.2f "2 * $bytes / $seconds / 1e9") GB/s read)"
least=$(calc %.1f "$bytes / $disk / 1e9 + $rows / $both / 1e6")
line "least time" "$least s: one pass at the disk's speed, one at that of the products (better of both measurements)"
line "share of the limit" "$(calc %.0f "100 * $least / $seconds") % (of the products alone: $(calc %.0f "100 * $rows / $seconds / $both / 1e6") %)"

cold
"${train[@]}" -o "$work/model.krein" --checkpoint "$work/state" --checkpoint-every $every >/dev/null &
pid=$!
sleep "$(calc %.2f "$seconds / 2")"
exec 3>&2 2>/dev/null # without the shell's word on it
kill -KILL $pid
wait $pid || true
exec 2>&3
[[ -e $work/state && ! -e $work/model.krein ]] || { echo "it was not killed half-way" >&2; exit 1; }
"${train[@]}" -o "$work/model.krein" --checkpoint "$work/state" --checkpoint-every $every >"$work/out"
line "killed half-way, then to the end" "$(calc %.1f "$(field total "$work/out")") s more"
cmp "$work/whole.krein" "$work/model.krein"
line "the model" "the same bytes"
"$krein" generate friedman -n 100000 -d 50 -s 2 -q -o "$work/new.npy" >/dev/null
"$krein" evaluate "$work/model.krein" "$work/new.npy" --json >"$work/out"
line "rmse on 100,000 other rows" "$(field rmse "$work/out")"
