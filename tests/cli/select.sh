#!/usr/bin/env bash
# select, and train --select: what is printed, JSON, refusals.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=300
[[ $SANITIZED ]] && n=120
family='gaussian(sigma=0.25..4:5)'

"$KREIN" generate blobs -n $n -o blobs.csv >/dev/null || fail "generate"
"$KREIN" generate friedman -n $n -o numbers.csv >/dev/null
"$KREIN" generate blobs -n $n -o blobs.libsvm >/dev/null
"$KREIN" generate friedman -n $n -o numbers.npy >/dev/null
# two classes; inputs alone
awk -F, -v OFS=, 'NR > 1 { $1 = $1 > 0 ? "yes" : "no" } { print }' blobs.csv >two.csv
cut -d, -f2- blobs.csv >inputs.csv

# scores DIGITS FILE: those of several criteria
scores() { "$PYTHON" -c 'import json, sys; print([["%.*g" % (int(sys.argv[1]), s["score"]) for s in c["scores"]] for c in json.load(open(sys.argv[2]))["criteria"]])' "$@"; }

# ---- one criterion ----
run select two.csv --kernels "$family" --criterion 'sm(r=3)' --json
ok "select"
json "select: keys" 'set(j) == {"command", "n", "d", "task", "map", "scored", "seconds", "criteria"} and len(j["criteria"]) == 1 and set(j["criteria"][0]) == {"criterion", "larger", "scores", "best"}'
json "select: values" "j['command'] == 'select' and j['n'] == $n and j['d'] == 2 and j['task'] == 'classification' and j['map'] == 'exact' and j['scored'] == 5 and j['seconds'] > 0"
json "select: the complete spec" 'j["criteria"][0]["criterion"].startswith("sm(r=3, balanced=yes") and j["criteria"][0]["larger"] is True'
json "select: scores in the order given" '[s["kernel"] for s in j["criteria"][0]["scores"]] == ["gaussian(sigma=%s)" % s for s in ("0.25", "0.5", "1", "2", "4")] and all(set(s) == {"kernel", "score"} for s in j["criteria"][0]["scores"])'
json "select: the best" 'j["criteria"][0]["best"] == max(j["criteria"][0]["scores"], key=lambda s: s["score"])["kernel"]'
run select two.csv -k "$family" -c fsm --json
json "the smaller the better" 'j["criteria"][0]["larger"] is False and j["criteria"][0]["best"] == min(j["criteria"][0]["scores"], key=lambda s: s["score"])["kernel"]'
run select two.csv -k "$family" -c loo --json
json "lambda beside the score" 'all(s["lambda"] > 0 and 0 <= s["score"] <= 1 for s in j["criteria"][0]["scores"])'

# ---- several ----
all=(sm kta ckta polarization fsm er tail loo cv gcv evidence)
run select blobs.csv --kernels "$family; laplacian(sigma=1..2:2); linear" "${all[@]/#/-c}" --json
ok "all criteria"
json "criteria is a list" '"criterion" not in j and [c["criterion"].split("(")[0] for c in j["criteria"]] == "sm kta ckta polarization fsm er tail loo cv gcv evidence".split()'
json "every one has a score for every kernel" 'all(len(c["scores"]) == 8 and c["best"] for c in j["criteria"])'
json "which way" '[c["larger"] for c in j["criteria"]] == [True] * 4 + [False, True] + [False] * 4 + [True]'
run select numbers.csv --kernels "$family" -c kta -c ckta -c loo -c cv -c gcv -c evidence -c er --json
ok "numbers"
json "task of numbers" 'j["task"] == "regression" and all(c["best"] for c in j["criteria"])'

# ---- default kernels, families ----
run select two.csv --json
ok "default kernels and criterion"
json "21 Gaussians by loo" 'len(j["criteria"][0]["scores"]) == 21 and j["criteria"][0]["criterion"].startswith("loo") and all(s["kernel"].startswith("gaussian(") for s in j["criteria"][0]["scores"])'
json "from a 32nd to 32 times" '(lambda v: abs(v[-1] / v[0] / 1024 - 1) < 1e-9)([float(s["kernel"][15:-1]) for s in j["criteria"][0]["scores"]])'
run select two.csv --kernels 'gaussian; laplacian; poly(degree=2..4:3)' -c ckta --json
ok "free scales and families"
json "free scales get a value" 'len(j["criteria"][0]["scores"]) == 5 and all("=" in s["kernel"] for s in j["criteria"][0]["scores"])'
run select two.csv -k 'gaussian(sigma=2^-2..2^2:5)' -c ckta --json
json "powers of two" '[s["kernel"] for s in j["criteria"][0]["scores"]] == ["gaussian(sigma=%s)" % s for s in ("0.25", "0.5", "1", "2", "4")]'

# ---- by features ----
run select two.csv -k "$family" -c sm -c loo -m 'orf(D=64)' --json
ok "by a map"
json "map is said" 'j["map"].startswith("orf") and all(c["best"] for c in j["criteria"])'
run select two.csv -k "$family" -c sm -D 64 --json
ok "by a number of features"
json "no map was named" 'j["map"] is None and j["criteria"][0]["best"]'
run select two.csv -k "$family" -c sm --max-exact 50 --json
ok "above --max-exact"
json "features above --max-exact" 'j["map"] is None'
run select two.csv -k "$family" -c loo -c cv -c kta -m 'rff(D=32)' --seed 3 --json
cp out first
run select two.csv -k "$family" -c loo -c cv -c kta -m 'rff(D=32)' --seed 3 --json --threads 1
is "threads do not matter" "$(scores 17 first)" "$(scores 17 out)"
run select two.csv -k "$family" -m exact --max-exact 50
status "exact above --max-exact" 2
has "exact above --max-exact: why" err 'max-exact'

# ---- inputs of other kinds ----
run select blobs.libsvm -k "$family" -c sm --task classification --json
ok "LIBSVM"
run select blobs.csv -k "$family" -c sm -c ckta -c loo --scale none --json
cp out first
run select blobs.libsvm -k "$family" -c sm -c ckta -c loo --scale none --task classification --json
is "LIBSVM rows are those of the CSV" "$(scores 5 first)" "$(scores 5 out)"
run select numbers.npy -k "$family" -c ckta --json
ok ".npy"
json ".npy: rows" "j['n'] == $n and j['criteria'][0]['best']"
run select blobs.csv -k "$family" -c sm --json --scale minmax
ok "another scale"
awk -F, -v OFS=, '{ print $0, NR == 1 ? "w" : NR % 3 }' two.csv >weighted.csv
run select weighted.csv -k "$family" -c sm -c loo --weights w --json
ok "weights"
json "weights are no input" 'j["d"] == 2'
awk -F, -v OFS=, '{ print NR == 1 ? "z" : NR % 5, $0 }' numbers.csv >targets.csv
for how in exact 'rff(D=32)'; do
    run select targets.csv -k "$family" -c kta -c loo -c gcv -c evidence --targets 2 -m "$how" --json
    ok "two targets, $how"
    json "two targets, $how: inputs" 'j["task"] == "regression" and all(c["best"] for c in j["criteria"])'
done
awk -F, -v OFS=, '{ print $0, NR == 1 ? "g" : NR % 7 }' two.csv >grouped.csv
run select grouped.csv -k "$family" -c cv --group g --json
ok "groups"
for how in exact 'rff(D=32)'; do
    run select inputs.csv --label none -k "$family" -c er -c 'tail(theta=3)' -m "$how" --json
    ok "no labels, $how"
    json "no labels: no task" 'j["task"] is None and j["d"] == 2 and all(c["best"] == "gaussian(sigma=4)" for c in j["criteria"])'
done

# ---- text ----
run select two.csv --kernels "$family" -c sm -c fsm
ok "select as text"
for word in rows inputs task 'scored by' time; do has "text says $word" out "^$word  "; done
has "text: head" out '^kernel +sm +fsm'
is "text: a star for each criterion" 2 "$(grep -o ' \*' out | wc -l)"
has "text: who wins" out '^best by sm\(r=3.*larger wins: gaussian\('
has "text: and by fsm" out '^best by fsm, smaller wins: gaussian\('
run select two.csv --kernels "$family; tanh(c=-1)" -c er
ok "a refused kernel beside others"
has "text: refused" out '^tanh.*refused'
has "text: why" out '^refused: er, tanh.*positive definite'

# ---- refusals ----
run select two.csv --kernels "gaussian(sigma=1); tanh(c=-1)" -c er -c kta --json
ok "a kernel that does not suit"
json "null and the reason" '(lambda s: s[1]["score"] is None and "positive definite" in s[1]["refused"] and "refused" not in s[0])(j["criteria"][0]["scores"]) and j["criteria"][1]["scores"][1]["score"] is not None'
run select two.csv -k 'tanh(c=-1)' -c er --json
status "no kernel suits" 1
has "no kernel suits: why" err 'no kernel has a score by er'
json "no kernel suits: best" 'j["criteria"][0]["best"] is None and j["criteria"][0]["scores"][0]["score"] is None'
run select two.csv -k linear -c 'sm(norm=sum)'
status "linear on centred columns" 1
has "linear on centred columns: the way out" err 'kta'
for c in sm fsm; do
    run select numbers.csv -k "$family" -c $c
    status "$c of numbers" 1
    has "$c of numbers: the way out" err 'take kta.*--task classification'
done
for c in sm loo evidence kta; do
    run select inputs.csv --label none -k "$family" -c $c
    status "$c without labels" 1
    has "$c without labels: the way out" err 'er and tail do without'
done
awk -F, -v OFS=, 'NR > 1 { $1 = "one" } { print }' two.csv >one.csv
run select one.csv -k "$family" -c sm
status "one class" 1
awk -F, -v OFS=, 'NR > 1 { $1 = 5 } { print }' numbers.csv >constant.csv
for c in kta evidence; do
    run select constant.csv -t regression -k "$family" -c $c
    status "$c of constant targets" 1
    has "$c of constant targets: why" err 'targets are constant'
done
head -n 2 two.csv >row.csv
run select row.csv -k "$family" -c er
[[ $rc == 0 || $rc == 1 ]] && pass || fail "one row" "$(why)"
run select missing.csv -k "$family"
status "no data" 1
run select two.csv -k "$family" -c sm --max-memory 1M
status "little memory" 1
has "little memory: the way out" err 'max-memory'

# ---- wrong calls ----
run select two.csv -k "$family" --kernels linear
status "-k and --kernels" 2
run select two.csv -k "$family" -c smm
status "an unknown criterion" 2
has "an unknown criterion: the nearest" err 'sm'
for c in 'sm(r=0)' 'sm(r=99)' 'sm(r=1.5)' 'sm(h=2)' 'sm(h=-1)' 'cv(k=1)' 'cv(k=0)' 'loo(lambda=0)' 'loo(lambda=-1)' 'er(t=0)' 'tail(theta=-1)' 'evidence(scale=two)' 'kta(classes=all)' 'sm(q=1)' 'sm(balanced=maybe)' 'sm(' ''; do
    run select two.csv -k "$family" -c "$c"
    status "criterion '$c'" 2
done
for k in 'gaussian(sigma=1..2:0)' 'gaussian(sigma=1..:3)' 'gaussian(sigma=-1..2:3)' 'gaussian(sigma=0..2:3)' 'gausian' 'gaussian;;linear' ''; do
    run select two.csv -k "$k" -c kta
    status "kernels '$k'" 2
done
run select two.csv -k "$family" -m rfff
status "an unknown map" 2
run select two.csv -k "$family" -D 0
status "no features" 2
run select two.csv -k "$family" --time-limit -1
status "a negative time limit" 2
run select
status "no operand" 2

# ---- time limit ----
run select two.csv -k 'gaussian(sigma=0.01..100:200)' -c loo --time-limit 0.001 --json
ok "--time-limit"
json "--time-limit: at least one, and how many" '1 <= j["scored"] < 200 and j["criteria"][0]["best"] and sum(s["score"] is not None for s in j["criteria"][0]["scores"]) == j["scored"] and len(j["criteria"][0]["scores"]) == 200 and not any("refused" in s for s in j["criteria"][0]["scores"])'
run select two.csv -k 'gaussian(sigma=0.01..100:200)' -c loo --time-limit 0.001
has "--time-limit as text" out '^time limit +[0-9]+ of 200 kernels were scored'

# ---- train --select ----
for c in "${all[@]}"; do
    run train two.csv --select "$c" -o m.krein --json
    ok "train --select $c"
    json "train --select $c: a width was found" 'float(j["kernel"].split("sigma=")[1].rstrip(")")) > 0'
done
for c in loo cv gcv evidence ckta; do
    run train numbers.csv --select "$c" -o m.krein --json
    ok "train numbers --select $c"
done
for c in sm cv; do
    run train two.csv --select "$c" -m 'rff(D=40)' -o m.krein --json
    ok "train on features --select $c"
done
for c in sm fsm; do
    run train numbers.csv --select $c -o m.krein
    status "train numbers --select $c" 1
    has "train numbers --select $c: why" err "$c is for classes"
done
run train two.csv --select smm -o m.krein
status "train --select with an unknown criterion" 2
run train two.csv --select 'cv(k=1)' -o m.krein
status "train --select with a wrong option" 2

# ---- kernels that do not suit the data, and equal scores ----
run select two.csv --kernels 'chi2; gaussian' -c ckta --json
ok "a refused kernel beside a good one"
json "a refused kernel has no score" 'j["criteria"][0]["scores"][0]["score"] is None and "minmax" in j["criteria"][0]["scores"][0]["refused"] and j["criteria"][0]["best"].startswith("gaussian")'
run select two.csv --kernels chi2 -c ckta
status "only refused kernels" 1
has "only refused kernels: why" err 'use --scale minmax'
run select two.csv --kernels 'gaussian(sigma=1..2:2)' -c 'sm(h=1)'
has "equal scores are said" out 'all scores are equal'
run train two.csv --kernels 'gaussian; linear' --select none -o m.krein
status "--kernels with --select none" 2
has "--kernels with --select none: why" err 'nothing to choose'
run train two.csv --kernels 'gaussian; linear' -k gaussian -o m.krein
status "-k and --kernels in train" 2
run train two.csv --kernels 'gaussian(sigma=0.5..4:3); linear' --select ckta -o m.krein --json
ok "train --kernels"
json "train --kernels: one of them" 'j["kernel"].startswith(("gaussian(sigma=", "linear"))'

summary
