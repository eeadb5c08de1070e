#!/usr/bin/env bash
# Rows without labels on a graph: labelprop, selftrain, laprls, vvr, files of graphs.
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
has "no labels" err '0 of 400 rows have a label'
for learner in 'labelprop(method=spreading, alpha=0.9, near=descent)' 'labelprop(near=tree, edges=binary)' \
    'selftrain(base="svm(C=10)", threshold=0.8)'; do
    run train some.csv --learner "$learner" "${kernel[@]}" -o d.krein
    ok "$learner"
    run predict d.krein all.csv
    ok "$learner: predict"
done
# Fewer rows than features: a lambda at which every row has a leverage of one must not win by its classes.
"$KREIN" generate 'blobs(classes=5)' -n 600 -d 8 --noise 2 -o blobs.csv >/dev/null || fail "generate"
awk -F, 'BEGIN { OFS = "," } NR > 1 && NR % 12 { $1 = "?" } { print }' blobs.csv >few.csv
run train few.csv -t classification --learner 'selftrain(rounds=1)' -k 'gaussian(sigma=3)' -m 'nystrom(D=300)' -vv -o c.krein
ok "selftrain on landmarks"
has "selftrain on landmarks: the choice of lambda" err 'the best of [0-9]+: loss 0\.2'
is "selftrain on landmarks: no loss of nothing" "$(grep -c 'loss [0-9.]*e+' err)" 0
# ---- laprls and vvr: probabilities, several labels, new rows ----
run train some.csv --learner laprls "${kernel[@]}" --graph-file g.graph --probabilities --json -o l.krein
ok "laprls"
has "laprls, the graph of labelprop" err 'g\.graph: the graph is read'
has "laprls: says how many" err '400 rows; 80 have labels'
has "laprls: probabilities" err 'calibrated on leave-one-out scores of 80 rows'
run evaluate l.krein all.csv --json
json "laprls: evaluate" 'j["metrics"]["error"] < 0.1 and j["metrics"]["log_loss"] < 0.4'
run train some.csv --learner laprls "${kernel[@]}" -m exact --max-exact 100 -o c.krein
status "laprls above --max-exact" 2
has "laprls above --max-exact" err '400 rows.*--max-exact'
lambdas=(--lambda 1e-3 "${kernel[@]}" --graph-file g.graph -m exact)
for solver in direct cg pcg; do
    run train some.csv --learner "laprls(lambda_i=1, solver=$solver, tol=1e-9)" "${lambdas[@]}" \
        --max-exact $([ $solver = direct ] && echo 400 || echo 100) --json -o c.krein
    ok "laprls: $solver"
    run predict c.krein all.csv --scores -o "$solver.csv"
    ok "laprls: $solver: predict"
done
for solver in cg pcg; do
    is "laprls: $solver above --max-exact is direct" "$(paste -d, direct.csv $solver.csv | awk -F, '{ d = $NF - $(NF / 2); if (d * d > worst) worst = d * d } END { print (NR == 400 && worst < 1e-10) }')" 1
done
run train some.csv --learner 'vvr(lambda_s=1e-5)' "${kernel[@]}" -m 'rff(D=200)' --graph-file g.graph --probabilities --json -o v.krein
ok "vvr"
has "vvr, the graph of labelprop" err 'g\.graph: the graph is read'
has "vvr: says how many" err '400 rows; 80 have labels'
json "vvr: report" 'j["n"] == 80 and j["unlabelled"] == 320 and j["learner"].startswith("vvr(lambda_a=") and j["cv"]["error"] < 0.3'
run evaluate v.krein all.csv --json
json "vvr: evaluate" 'j["metrics"]["error"] < 0.1 and j["metrics"]["log_loss"] < 0.5'
run info v.krein
ok "vvr: info"
has "vvr: info" out 'vvr\(lambda_a='
run plan some.csv --learner vvr "${kernel[@]}"
ok "vvr: plan"
run train some.csv --learner 'vvr(theta=3)' "${kernel[@]}" -D 50 -o c.krein
status "vvr: theta" 2
has "vvr: theta" err 'theta=3 leaves all singular values of W free'
run train some.csv --learner vvr "${kernel[@]}" -m exact -o c.krein
status "vvr: the kernel matrix" 2
has "vvr: the kernel matrix" err 'nystrom'
"$KREIN" generate multilabel -n 600 -o sets.csv >/dev/null || fail "generate"
"$KREIN" generate multilabel -n 300 --seed 2 -o others.csv >/dev/null || fail "generate"
head -201 sets.csv >labelled.csv
(head -1 sets.csv && tail -400 sets.csv) >more.csv
for learner in laprls 'vvr(lambda_s=0)'; do
    run train labelled.csv --unlabeled more.csv --multilabel --learner "$learner" -k 'gaussian(sigma=1.5)' -m 'rff(D=200)' -o s.krein
    ok "$learner: several labels"
    has "$learner: several labels" err '600 rows; 200 have labels'
    run evaluate s.krein others.csv --json
    ok "$learner: several labels: evaluate"
    json "$learner: several labels: evaluate" 'j["metrics"]["hamming_loss"] < 0.25 and j["metrics"]["micro_f1"] > 0.5 and "log_loss" in j["metrics"]'
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
