#!/usr/bin/env bash
# ntk.sh -- how fast ntksketch and ntkrf come near the tangent kernel, for one, two and three layers:
# docs/results/ntk.svg and ntk.md, with `krein approx`. The rows are of the data set letter where
# KREIN_DATA has it, else generated. KREIN names the program (build/krein).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
krein=${KREIN:-$here/../build/krein}
out=$here/../docs/results
[[ -x $krein ]] || { echo "$krein is not there: build it, or name it in KREIN" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

data=${KREIN_DATA:-}/letter.train.csv.gz
name=letter
if [[ ! -r $data ]]; then
    data=$work/rows.csv
    name="generated rows (friedman)"
    "$krein" generate friedman -n 2000 -o "$data" -q >/dev/null
fi
rows=500 draws=20

for depth in 1 2 3; do
    "$krein" approx "$data" -k "ntk(depth=$depth)" -m ntksketch -m ntkrf -D 256,512,1024,2048,4096 \
        -n $rows --repeat $draws -q --plot "$work/$depth.svg" >"$work/$depth.txt"
done

# One figure of three: the plots of approx are whole SVG documents, 980 x 420.
{
    echo '<svg xmlns="http://www.w3.org/2000/svg" width="980" height="1260" viewBox="0 0 980 1260" role="img">'
    echo '<title>tangent features against the tangent kernel, depth 1, 2, 3</title>'
    for depth in 1 2 3; do
        sed "/^<?xml/d; s/^<svg /<svg y=\"$((420 * (depth - 1)))\" /" "$work/$depth.svg"
    done
    echo '</svg>'
} >"$out/ntk.svg"

{
    cat <<END
# Tangent features against the tangent kernel

\`bench/ntk.sh\`: $name, $rows rows in standard units, |K - ZZ'| / |K| (Frobenius), mean of $draws
draws. The slope is that of log error against log D, by least squares: -1/2 is the Monte-Carlo rate,
and -1/(2 depth) is expected of ntkrf, whose m0 grows like D^(1/depth).

| depth | map | D = 256 | 512 | 1024 | 2048 | 4096 | slope |
| --- | --- | --- | --- | --- | --- | --- | --- |
END
    for depth in 1 2 3; do
        awk -v depth=$depth '
            /^ntk/ {
                split($1, part, "("); map = part[1]
                if (map != last) { order[++maps] = map; last = map }
                a = log($2); e = log($3)
                cells[map] = cells[map] sprintf(" %.4f |", $3)
                n[map]++; sx[map] += a; sy[map] += e; sxx[map] += a * a; sxy[map] += a * e
            }
            END {
                for (i = 1; i <= maps; i++) {
                    m = order[i]
                    slope = (n[m] * sxy[m] - sx[m] * sy[m]) / (n[m] * sxx[m] - sx[m] ^ 2)
                    printf "| %d | %s |%s %.2f |\n", depth, m, cells[m], slope
                }
            }' "$work/$depth.txt"
    done
    echo
    echo '![error against D and against time, depth 1, 2, 3](ntk.svg)'
} >"$out/ntk.md"
cat "$out/ntk.md"
