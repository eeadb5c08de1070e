#!/usr/bin/env bash
# report-examples.sh FOLDER -- reports of four models, numbers, two classes, many classes and clusters, and pictures of
# them by a browser where there is one (tests/browser/shots.py): light, dark, on a phone, printed.
#
# Data are sets of KREIN_DATA (default ../shared/data): a fifth of the rows to train on, the others for the report;
# generated ones where they are not there. KREIN is the program (build/krein). Prints the size of each page and the seconds that it took.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
krein=$(realpath "${KREIN:-$root/build/krein}")
data=${KREIN_DATA:-$root/../shared/data}
python=${PYTHON:-/usr/bin/python3}
out=${1:?usage: scripts/report-examples.sh FOLDER}
mkdir -p "$out"
pages=()

# NAME.train.csv and NAME.test.csv from a set, or from a generator.
rows() { # name set generator rows
    local whole=$out/$1.csv header=0 # the sets have no line with names
    if [[ -f $data/$2.csv.gz ]]; then
        gzip -dc "$data/$2.csv.gz" >"$whole"
    else
        echo "$1: $2 is not in KREIN_DATA; generated rows instead"
        "$krein" generate "$3" -n "$4" -o "$whole" -q >/dev/null
        header=1
    fi
    awk -v train="$out/$1.train.csv" -v test="$out/$1.test.csv" -v header="$header" '
        NR == 1 && header { print > train; print > test; next }
        { print > (NR % 5 ? test : train) }' "$whole"
    rm "$whole"
}
report() { # name [options of report]
    local name=$1
    shift
    TIMEFORMAT="$name: %R s, %U s of CPU"
    time "$krein" report "$out/$name.krein" "$out/$name.test.csv" -o "$out/$name.html" -q "$@" >/dev/null
    echo "$name: $(wc -c <"$out/$name.html") bytes, $(wc -l <"$out/$name.test.csv") rows"
    pages+=("$out/$name.html")
}

rows numbers cadata friedman 5000
"$krein" train "$out/numbers.train.csv" --uncertainty -o "$out/numbers.krein" --plot "$out/numbers-tried.svg" -q >/dev/null
report numbers --train "$out/numbers.train.csv"

rows two-classes magic moons 5000
"$krein" train "$out/two-classes.train.csv" --probabilities -o "$out/two-classes.krein" --plot "$out/two-classes-tried.svg" -q >/dev/null
report two-classes --train "$out/two-classes.train.csv" --curve

rows many-classes pendigits.train blobs 5000
"$krein" train "$out/many-classes.train.csv" --probabilities -o "$out/many-classes.krein" --plot "$out/many-classes-tried.svg" -q >/dev/null
report many-classes --train "$out/many-classes.train.csv"

rows clusters dry-bean blobs 3000
"$krein" cluster "$out/clusters.train.csv" -c 5 --model "$out/clusters.krein" --plot "$out/clusters-plane.svg" -q >/dev/null
report clusters

"$krein" pca "$out/many-classes.train.csv" --plot "$out/many-classes-plane.svg" -q >/dev/null
"$krein" select "$out/many-classes.train.csv" --plot "$out/many-classes-select.svg" -c loo -c kta -q >/dev/null
"$python" "$root/tests/browser/shots.py" "${pages[@]}" "$out"/*.svg
