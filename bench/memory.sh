#!/usr/bin/env bash
# memory.sh [--small] -- the most memory that krein holds on data that it need not hold.
#
# Trains 2,048 features on 2,000,000 x 50 rows (an .npy of 408 MB) and predicts 1,000,000 rows;
# prints the peak resident set as the program reports it (--json) and as the kernel counts it
# (/usr/bin/time, where there is one). KREIN names the program (build/krein).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
krein=${KREIN:-$here/../build/krein}
[[ -x $krein ]] || { echo "$krein is not there: build it, or name it in KREIN" >&2; exit 1; }
rows=2000000 new=1000000 features=2048 small=''
if [[ ${1:-} == --small ]]; then
    rows=100000 new=50000 features=512 small=1
elif [[ $# -gt 0 ]]; then
    echo "usage: bench/memory.sh [--small]" >&2
    exit 2
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/krein_bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 143' TERM INT

megabytes() { awk -v b="$1" 'BEGIN { printf "%.0f", b / 1e6 }'; }
field() { sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p" "$2"; }

# Runs the rest with its output in $work/out; sets rss (bytes, or "") and seconds.
measure() {
    local start end
    start=$(date +%s.%N)
    if [[ -x /usr/bin/time ]]; then
        /usr/bin/time -f '%M' -o "$work/rss" "$@" >"$work/out"
        rss=$(($(tail -n 1 "$work/rss") * 1024))
    else
        "$@" >"$work/out"
        rss=''
    fi
    end=$(date +%s.%N)
    seconds=$(awk -v a="$start" -v b="$end" 'BEGIN { printf "%.1f", b - a }')
}

[[ -z $small ]] || echo "small sizes: for trying out, the numbers mean nothing"
"$krein" generate friedman -n $rows -d 50 -q -o "$work/train.npy" >/dev/null
"$krein" generate friedman -n $new -d 50 -s 2 -q -o "$work/new.npy" >/dev/null
echo "train: n = $rows, d = 50, D = $features, $(megabytes "$(stat -c %s "$work/train.npy")") MB of .npy"
measure "$krein" train "$work/train.npy" -t regression -D $features --lambda 1e-4 \
    -k "gaussian(sigma=7)" -o "$work/model.krein" -q --json
reported=$(field peak_rss_bytes "$work/out")
most=$reported
[[ -z $rss || $rss -lt $most ]] || most=$rss
verdict=met
[[ $most -le 700000000 ]] || verdict=MISSED
printf '  %-34s %6s MB  (target <= 700: %s)\n' "peak, as krein reports it" "$(megabytes "$reported")" "$verdict"
[[ -z $rss ]] || printf '  %-34s %6s MB\n' "peak, as the kernel counts it" "$(megabytes "$rss")"
printf '  %-34s %6s s\n' "the whole process" "$seconds"

echo "predict: n = $new, $(megabytes "$(stat -c %s "$work/new.npy")") MB of .npy"
measure "$krein" predict "$work/model.krein" "$work/new.npy" -q
lines=$(wc -l <"$work/out")
[[ $lines -eq $new ]] || { echo "  $lines predictions instead of $new" >&2; exit 1; }
[[ -z $rss ]] || printf '  %-34s %6s MB\n' "peak, as the kernel counts it" "$(megabytes "$rss")"
printf '  %-34s %6s s    (%s rows/s)\n' "the whole process" "$seconds" \
    "$(awk -v n=$new -v s="$seconds" 'BEGIN { printf "%.0f", n / (s > 0 ? s : 0.1) }')"
