#!/usr/bin/env bash
# Rows without labels on a graph: labelprop, selftrain, files of graphs.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
"$KREIN" generate spiral -n 400 --noise 0.01 -o all.csv >/dev/null || fail "generate"
awk -F, 'BEGIN { OFS = "," } NR > 1 && NR % 20 > 3 { $1 = NR % 2 ? "?" : "" } { print }' all.csv >some.csv
kernel=(-t classification -k 'gaussian(sigma=0.2)')

run train some.csv --learner labelprop "${kernel[@]}" --graph-file g.graph --json -o a.krein
ok "labelprop"
has "labelprop: says how many" err '400 rows; 80 have labels \(20 %\)'
has "labelprop: the graph" err 'graph: 400 nodes, [0-9]+ edges, near='
json "labelprop: report" 'j["n"] == 80 and j["unlabelled"] == 320 and j["learner"].startswith("labelprop(method=harmonic") and j["loo"] is None'
run train some.csv --learner labelprop "${kernel[@]}" --graph-file g.graph -j 1 -o b.krein
ok "labelprop, the graph of a file"
has "labelprop, the graph of a file" err 'g\.graph: the graph is read'
is "the same model" "$(cksum <a.krein)" "$(cksum <b.krein)"
run evaluate a.krein all.csv --json
ok "evaluate"
json "evaluate" 'j["metrics"]["error"] < 0.1 if "metrics" in j else j["error"] < 0.1'
run train some.csv --learner 'labelprop(k=7)' "${kernel[@]}" --graph-file g.graph -o c.krein
status "a graph of another k" 1
has "a graph of another k" err 'a graph of 10 neighbours, asked for are 7'
head -300 some.csv >fewer.csv
run train fewer.csv --learner labelprop "${kernel[@]}" --graph-file g.graph -o c.krein
status "a graph of other rows" 1
has "a graph of other rows" err 'g\.graph is the graph of other rows \(it has 400 nodes, these rows have 299\)'
run train some.csv --learner labelprop "${kernel[@]}" --graph-file a.krein -o c.krein
status "a model is no graph" 1
has "a model is no graph" err 'a\.krein is not a graph'
run train some.csv --learner sskrr "${kernel[@]}" --graph-file g.graph -o c.krein
status "a learner without a graph" 2
has "a learner without a graph" err 'sskrr makes no graph.*--graph-file.*labelprop'
run train some.csv --learner labelprop "${kernel[@]}" --graph-file some.csv -o c.krein
status "the data are no graph" 2
head -1 all.csv | cat - <(tail -n +2 some.csv | sed 's/^[^,]*,/?,/') >none.csv
run train none.csv --learner labelprop "${kernel[@]}" -o c.krein
status "no labels" 1
for learner in 'labelprop(method=spreading, alpha=0.9, near=descent)' 'labelprop(near=tree, edges=binary)' \
    'selftrain(base="svm(C=10)", threshold=0.8)'; do
    run train some.csv --learner "$learner" "${kernel[@]}" -o d.krein
    ok "$learner"
    run predict d.krein all.csv
    ok "$learner: predict"
done
run plan some.csv --learner labelprop "${kernel[@]}"
ok "plan"
run cluster all.csv -c 2 --method spectral --graph knn --graph-file c.graph -o first
ok "cluster"
run cluster all.csv -c 2 --method spectral --graph knn --graph-file c.graph -o again
ok "cluster, the graph of a file"
is "the same clusters" "$(cksum <first)" "$(cksum <again)"
run cluster all.csv -c 2 --graph-file c.graph
status "k-means has no graph" 2
summary
