#!/usr/bin/env bash
# cluster: reports, files, models, labels, refusals.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KREIN" generate blobs -n 300 --noise 0.1 -o blobs.csv >/dev/null
tail -n +2 blobs.csv | cut -d, -f2- >plain.csv # no header, no label

# ---- the report ----
run cluster blobs.csv --clusters 3 -o c.csv
ok cluster
has "rows" out '^rows +300$'
has "sizes, the largest first" out '^sizes +112, 105, 83$'
has "agreement" out '^adjusted Rand +1\.0000 \(against 3 classes\)$'
lacks "the label is named: no note" err 'first column'
is "one line a row, from 1" "300 1,2,3" "$(wc -l <c.csv) $(sort -u c.csv | paste -sd,)"
run cluster blobs.csv --clusters 3 --json
json "--json" 'j["command"] == "cluster" and j["n"] == 300 and j["d"] == 2 and j["clusters"] == 3 and j["method"] == "kmeans"'
json "sizes and measures" 'j["sizes"] == [112, 105, 83] and j["ari"] == 1 and abs(j["nmi"] - 1) < 1e-12 and j["classes"] == 3 and j["inertia"] > 0 and .5 < j["silhouette"] < 1 and j["silhouette_rows"] == 300'
json "labels are in the object" 'j["labels"] == [int(l) for l in open("c.csv")] and j["output"] is None and [j["labels"].count(c + 1) for c in range(3)] == j["sizes"]'
json "specs" 'j["map"] == "exact" and j["kernel"].startswith("gaussian(sigma=")'
run cluster blobs.csv -c 3 -o c2.csv --json -j 2
json "-o and --json" '"labels" not in j and j["output"] == "c2.csv"'
is "threads" "$(cat c.csv)" "$(cat c2.csv)"
run cluster blobs.csv --clusters 3 -o -
is "-o -" "$(cat c.csv)" "$(cat out)"
has "-o -: the report is on stderr" err '^sizes'
run cluster - --clusters 3 -o c3.csv <blobs.csv
is "standard input" "$(cat c.csv)" "$(cat c3.csv)"

# ---- methods ----
for how in '--method spectral' '--method spectral --graph knn' '--method spectral -m nystrom -D 50' \
    '-m orf -D 256' '-k linear' '-k laplacian -m rff' '-k matern --restarts 1'; do
    # shellcheck disable=SC2086
    run cluster blobs.csv --clusters 3 $how --json
    ok "cluster $how"
    json "cluster $how" 'j["ari"] == 1'
    json "cluster $how: as the others" 'j["labels"] == [int(l) for l in open("c.csv")]'
done
json "restarts" 'j["restarts"] == 1 and j["graph"] is None and j["neighbours"] is None'
run cluster blobs.csv --clusters 3 --method spectral --graph knn --neighbours 7 --json
json "graph" 'j["graph"] == "knn" and j["neighbours"] == 7 and j["map"] is None and j["D"] is None and j["inertia"] is None'
"$KREIN" generate blobs -n 90 --noise 0.1 -o blobs.libsvm >/dev/null
run cluster blobs.libsvm --clusters 3 --json
json "libsvm" 'j["ari"] == 1'

# ---- labels ----
run cluster plain.csv --clusters 3 --label none --json
json "--label none" 'j["d"] == 2 and j["ari"] is None and j["classes"] is None and j["labels"] == [int(l) for l in open("c.csv")]'
run cluster plain.csv --clusters 3 --json
json "the first column is the label" 'j["d"] == 1 and j["ari"] is None'
has "and it says so" err 'the first column is taken for the label and is no input; --label none'
run cluster blobs.csv --clusters 3 --label x1 --ignore y --json
json "numbers are no classes" 'j["d"] == 1 and j["ari"] is None'
has "and it says so too" err 'the labels are numbers'
sed 's/^[0-9]/same/' blobs.csv >same.csv
run cluster same.csv --clusters 3 --json
ok "labels of one class"
json "labels of one class" 'j["classes"] == 1 and j["ari"] == 0'

# ---- rows left out, names of rows ----
awk -F, -v OFS=, 'NR == 1 { print "name", $0; next } NR == 5 { $2 = "" } { print "r" NR, $0 }' blobs.csv >named.csv
run cluster named.csv --clusters 3 --id name --missing drop -o named.out
ok "--id"
is "--id" "r2,$(head -n 1 c.csv)" "$(head -n 1 named.out)"
is "a dropped row is an empty line" "" "$(sed -n 4p named.out)"
is "all rows" 300 "$(wc -l <named.out)"
run cluster named.csv --clusters 3 --id name --missing drop --json
json "--id --json" 'j["n"] == 299 and j["labels"][3] is None and j["ids"][0] == "r2"'

# ---- models ----
for how in '' '-m nystrom -D 40'; do
    for k in 2 3; do
        # shellcheck disable=SC2086
        run cluster blobs.csv --clusters $k $how -o c.$k --model m.krein
        ok "--model, $k clusters $how"
        has "--model" out '^model +m\.krein$'
        "$KREIN" predict m.krein blobs.csv >p.$k
        is "predict gives the clusters, $k $how" "$(cat c.$k)" "$(cat p.$k)"
    done
done
run info m.krein
has "info" out 'kmeans\(clusters=3\)'
run cluster plain.csv --label none --clusters 3 -o c.plain --model plain.krein
"$KREIN" predict plain.krein plain.csv >p.plain
is "a model of rows without labels" "$(cat c.plain)" "$(cat p.plain)"
run evaluate m.krein blobs.csv
status "evaluate" 2
has "evaluate" err 'made by kmeans\(clusters=3\) predicts no label, so there is nothing to evaluate; use predict'
is "evaluate prints nothing" "" "$(cat out)"

# ---- weights: rows as often as they say ----
awk -F, -v OFS=, 'NR == 1 { print $0, "w"; next } { print $0, NR % 4 }' blobs.csv >weighed.csv
awk -F, -v OFS=, 'NR == 1 { print; next } { for (k = 0; k < NR % 4; k++) print }' blobs.csv >repeated.csv
awk 'NR > 1 { for (k = 0; k < NR % 4; k++) print NR - 1 }' blobs.csv >which
for how in '' '-m nystrom -D 40' '--method spectral' '--method spectral -m nystrom -D 40' '--method spectral --graph knn'; do
    # shellcheck disable=SC2086
    run cluster weighed.csv --clusters 3 --weights w -k 'gaussian(sigma=1)' $how -o w.out
    ok "--weights $how"
    # shellcheck disable=SC2086
    run cluster repeated.csv --clusters 3 -k 'gaussian(sigma=1)' $how -o r.out
    is "--weights $how: one line a row" 300 "$(wc -l <w.out)"
    is "--weights $how: as repeated rows" "$(cat r.out)" "$(awk 'NR == FNR { c[NR] = $0; next } { print c[$0] }' w.out which)"
done
awk -F, -v OFS=, 'NR == 1 { print $0, "w"; next } { print $0, 0 }' blobs.csv >idle.csv

# ---- refusals ----
refuse() { # NAME STATUS REGEX ARGS...
    run cluster "${@:4}"
    status "$1" "$2"
    has "$1" err "$3"
}
refuse "no --clusters" 2 '--clusters C is required' blobs.csv
refuse "clusters 0" 2 'at least 1|from 1' blobs.csv --clusters 0
refuse "more clusters than rows" 1 '301 clusters of 300 rows' blobs.csv --clusters 301
printf '1,2\n1,2\n1,2\n3,4\n' >twins.csv
refuse "more clusters than different rows" 1 'only 2 of the rows are different' twins.csv --label none --clusters 3
printf '1,2\n' >one.csv
refuse "one row" 1 'at least two are needed' one.csv --no-header --label none --clusters 1
refuse "spectral --model" 2 'no model' blobs.csv --clusters 2 --method spectral --model m.krein
refuse "knn without spectral" 2 '--method spectral' blobs.csv --clusters 2 --graph knn
refuse "a method that is none" 2 'kmeans\|spectral' blobs.csv --clusters 2 --method dbscan
refuse "negative weights" 1 'row weights must be >= 0' blobs.csv --clusters 2 --weights x1
refuse "no weight at all" 1 'all row weights are zero' idle.csv --clusters 2 --weights w
refuse "a map fitted to labels" 2 'fitted to labels' blobs.csv --clusters 2 -m aligned
refuse "negative degrees" 1 'use more --features' blobs.csv --clusters 2 --method spectral -k 'gaussian(sigma=0.001)' -m rff -D 4
"$KREIN" generate blobs -n 3000 -o many.csv >/dev/null
refuse "too little memory" 1 'clustering needs .*use --map orf' many.csv --clusters 2 --max-memory 100M -m exact
run cluster many.csv --clusters 2 --max-memory 100M --json
json "features where the matrix does not fit" 'j["map"].startswith("orf(")'
refuse "--json and -o -" 2 'standard output' blobs.csv --clusters 2 --json -o -
refuse "the input as output" 2 '.' blobs.csv --clusters 2 -o blobs.csv
refuse "one file for both" 2 'same file' blobs.csv --clusters 2 -o x.out --model x.out
[[ ! -e x.out ]] && pass || fail "nothing is written"
no_leftovers refusals

# ---- real data ----
if [[ -n ${KREIN_DATA:-} && -r $KREIN_DATA/usps.test.csv.gz && -z $SANITIZED ]]; then
    run cluster "$KREIN_DATA/usps.test.csv.gz" --clusters 10 --method spectral --graph knn --json
    json "usps: ten digits" 'j["ari"] > .4 and j["nmi"] > .6 and len(j["sizes"]) == 10'
else
    skip "real data" "no data sets"
fi
summary
