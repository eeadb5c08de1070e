#!/usr/bin/env bash
# compare: the same splits for all, tests, resuming, other programs, forms of the table, wrong calls.
# shellcheck source=lib.sh disable=SC2154,SC2016
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

mkdir scratch
export TMPDIR=$work/scratch
"$KREIN" generate arm -n 160 -o arm.csv >/dev/null
"$KREIN" generate arm -n 120 --noise 0.3 -s 7 -o rough.csv >/dev/null
"$KREIN" generate moons -n 150 --noise 0.3 -o moons.csv >/dev/null

mean='mean: awk -F, "{s += \$1} END {print s / NR}" {train} >{model} && awk -v m="$(cat {model})" "{print m}" {test} >{out}'

# ---- a comparison, and what it says ----
run compare arm.csv rough.csv --learners "krr; svr" --kernels "gaussian; linear" --repeat 4 --command "$mean" --json
ok compare
cp out first.json
json "the shape" 'j["command"] == "compare" and len(j["results"]) == 10 and all(set(r) >= {"data", "method", "mean", "sd", "seconds", "p"} for r in j["results"])'
json "methods in order" '[r["method"] for r in j["results"][:5]] == ["krr / gaussian", "krr / linear", "svr / gaussian", "svr / linear", "mean"] and [r["data"] for r in j["results"][::5]] == ["arm", "rough"]'
json "mean and deviation are of the splits" 'all(abs(r["mean"] - sum(r["values"]) / 4) < 1e-12 and abs(r["sd"] ** 2 - sum((v - r["mean"]) ** 2 for v in r["values"]) / 3) < 1e-12 for r in j["results"])'
json "the best of each set has no p" 'all((r["p"] is None) == r["best"] and (not r["best"] or r["similar"]) for r in j["results"]) and sum(r["best"] for r in j["results"]) == 2'
json "the kernel wins on a curved function" 'j["results"][0]["rank"] <= 2 and j["results"][1]["p"] < 0.05 and not j["results"][1]["similar"]'
json "wins and losses are as many" 'sum(r["wins"] for r in j["results"]) == sum(r["losses"] for r in j["results"]) > 0 and all(r["wins"] + r["ties"] + r["losses"] == 4 for r in j["results"])'
json "time and memory" 'all(r["seconds"] > 0 and r["cpu"] > 0 and r["bytes"] > 1000 for r in j["results"])'
json "ranks over all sets" 'abs(sum(m["rank"] for m in j["methods"]) - 15) < 1e-9 and j["friedman"]["methods"] == 5 and j["friedman"]["critical_difference"] > 1'

# The t test and the tests over the sets as scipy has them.
if "$PYTHON" -c 'import scipy' 2>/dev/null; then
    answer=$("$PYTHON" - 2>&1 <<'PY'
import json
from scipy import stats
j = json.load(open("first.json"))
for s in j["sets"]:
    rows = [r for r in j["results"] if r["data"] == s["data"]]
    best = next(r for r in rows if r["best"])
    for r in rows:
        if r is best: continue
        d = [a - b for a, b in zip(r["values"], best["values"])]
        n, m = len(d), sum(d) / len(d)
        var = sum((x - m) ** 2 for x in d) / (n - 1)
        t = m / (var * (1 / n + s["test"] / (s["n"] - s["test"]))) ** 0.5
        p = 2 * stats.t.sf(abs(t), n - 1)
        assert abs(p - r["p"]) < 1e-9, (r["method"], p, r["p"])
    half = stats.t.ppf(0.975, n - 1) * best["sd"] * (1 / n + s["test"] / (s["n"] - s["test"])) ** 0.5
    assert abs(half / best["interval"] - 1) < 1e-6
f = stats.friedmanchisquare(*[[r["mean"] for r in j["results"] if r["method"] == m["method"]] for m in j["methods"]])
assert abs(f.statistic - j["friedman"]["chi2"]) < 1e-9 and abs(f.pvalue - j["friedman"]["chi2_p"]) < 1e-9
PY
    ) && pass || fail "tests as scipy has them" "$(tail -n 1 <<<"$answer")"
else
    skip "tests as scipy has them" "no scipy"
fi

# ---- the same splits for all ----
for seed in 1 3; do
    "$KREIN" train arm.csv --learner krr -k gaussian --holdout 0.3 --seed "$seed" -o one.krein --json >one.json
    answer=$("$PYTHON" -c 'import json,sys; a=json.load(open("one.json"))["test"]["rmse"]; b=json.load(open("first.json"))["results"][0]["values"][int(sys.argv[1])-1]; assert a == b, (a, b)' "$seed" 2>&1) &&
        pass || fail "split $seed is that of train" "$(tail -n 1 <<<"$answer")"
done
copy='sort {test} | cksum >>'$work'/seen; sort {train} | cksum >>'$work'/learned; awk -F, "{print 0}" {test} >{out}'
run compare arm.csv --kernels linear --repeat 3 --command "a: $copy" --command "b: $copy" --parallel 1 --json
ok "two commands"
is "all see the same rows" "3 3" "$(sort -u seen | wc -l | tr -d ' ') $(sort -u learned | wc -l | tr -d ' ')"
json "and get the same numbers" 'j["results"][1]["values"] == j["results"][2]["values"]'
# Krein itself as another program: the same rows, so the same error but for the digits of the file.
self="self: '$KREIN' train {train} --label first -t regression -k 'gaussian(sigma=3)' -l 1e-3 -o {model} -q && '$KREIN' predict {model} {test} -o {out} -q"
run compare arm.csv --kernels 'gaussian(sigma=3)' --lambda 1e-3 --repeat 2 --command "$self" --json
ok "krein through a command"
json "it has the error of krein" 'all(abs(a - b) < 1e-5 * a for a, b in zip(j["results"][0]["values"], j["results"][1]["values"]))'

# ---- threads and processes change nothing ----
ways=("-j 1" "-j 2" "-j 2 --parallel 1")
[[ $SANITIZED ]] && ways=("-j 2 --parallel 1")
for how in "${ways[@]}"; do
    # shellcheck disable=SC2086
    run compare arm.csv rough.csv --learners "krr; svr" --kernels "gaussian; linear" --repeat 4 --command "$mean" --json $how
    answer=$("$PYTHON" -c 'import json; a, b = json.load(open("out")), json.load(open("first.json")); assert [r["values"] for r in a["results"]] == [r["values"] for r in b["results"]]' 2>&1) &&
        pass || fail "$how gives the same" "$(tail -n 1 <<<"$answer")"
done

# ---- results are kept ----
keep=(compare arm.csv --learners "krr; svr" --repeat 3 --kernels gaussian)
run "${keep[@]}" --results kept.jsonl
ok "results to a file"
is "a line a run" 6 "$(wc -l <kept.jsonl | tr -d ' ')"
grep -v ' in all' out >whole
head -n 3 kept.jsonl >cut.jsonl
sed -n 4p kept.jsonl | head -c 60 >>cut.jsonl
run "${keep[@]}" --results cut.jsonl --json
ok "a file that was cut short"
json "the whole lines are used" 'j["reused"] == 3'
run "${keep[@]}" --results cut.jsonl
has "how many are used" err 'cut.jsonl: 6 of 6 results'
# times of the runs that were made again differ
is "and the table is the same" "$(sed -E 's/ +[0-9.]+ s .*//; /thread/d' whole)" "$(grep -v ' in all' out | sed -E 's/ +[0-9.]+ s .*//; /thread/d')"
run "${keep[@]}" --results kept.jsonl
is "to the last letter, where all is known" "$(cat whole)" "$(grep -v ' in all' out)"
run "${keep[@]}" --results kept.jsonl --json
json "CPU seconds too" 'all(r["cpu"] in [json.loads(l)["cpu"] for l in open("kept.jsonl")] for r in j["results"])'
sed 's/,"cpu":[^,]*//' kept.jsonl >without.jsonl
run "${keep[@]}" --results without.jsonl --json
json "a file without them" 'j["reused"] == 6 and all(r["cpu"] is None and r["seconds"] > 0 for r in j["results"])'
run compare arm.csv --learners "krr; svr" --repeat 5 --kernels gaussian --results kept.jsonl --json
json "more splits go on from there" 'j["reused"] == 6'
run compare rough.csv --learners krr --repeat 2 --kernels gaussian --results kept.jsonl --json
json "other data" 'j["reused"] == 0'
has "told" err 'other data or options'
run compare arm.csv --learners krr --repeat 3 --kernels gaussian --results kept.jsonl --lambda 0.1 --json
json "another option" 'j["reused"] == 0'
run compare arm.csv --learners krr --repeat 3 --kernels gaussian --results kept.jsonl --max-memory 1G --json
json "a memory budget of its own" 'j["reused"] == 0'
cp arm.csv copy.csv
run compare arm.csv --results copy.csv --repeat 2
status "a file of something else" 1
has "is left alone" err 'is no file of results'
is "unchanged" "$(cat arm.csv)" "$(cat copy.csv)"
run compare arm.csv --results /dev/null --repeat 2
status "a device" 1
has "is refused" err 'is no file of results'

# ---- classes, measures ----
prior='prior: : {train}; awk "{print \"1,0.5,0.5\"}" {test} >{out}'
run compare moons.csv --learners "krr; logistic" --kernels gaussian --repeat 3 --measure auc --command "$prior" --json
ok auc
json "larger is better" 'j["results"][2]["mean"] == 0.5 and all(r["mean"] > 0.8 for r in j["results"][:2]) and j["results"][2]["rank"] == 3'
run compare moons.csv --learners logistic --kernels gaussian --repeat 3 --measure logloss --command "$prior" --json
json logloss 'abs(j["results"][1]["mean"] - 0.6931471805599453) < 1e-12 and j["results"][0]["mean"] < 0.69'
run compare moons.csv --learners logistic --kernels gaussian --repeat 3 --measure logloss --command "$prior"
has "a loss that does not vary needs few digits" out '^prior +0\.69[0-9]{0,3} '
run compare moons.csv --learners logistic --kernels gaussian --repeat 2 --measure logloss --command "${prior/0.5,0.5/1,1}" \
    --command "low${prior/0.5,0.5/-1,2}" --command "few${prior/0.5,0.5/0.51,0.5}" --json
json "what is no probability" 'all("sum to 1" in j["results"][k]["failed"] for k in (1, 2))'
json "few digits" 'j["results"][3]["failed"] is None'
run compare moons.csv --learners "svm" --kernels gaussian --repeat 3 --json
json "error is the default of classes" 'j["measure"] == "error" and j["results"][0]["mean"] < 0.3'
{ echo "class,colour,x"; for i in $(seq 60); do echo "a b,red \"r\",$i"; echo "c,\"gr,een\",$((i + 40)).5"; done; } >texts.csv
guess="guess: : {train}; awk -F, '{print (\$NF > 60) ? \"c\" : \"\\\"a b\\\"\"}' {test} >{out}"
run compare texts.csv --kernels gaussian --repeat 2 --command "$guess" --command 'look: cat {train} >'"$work"'/rows; cat {test} >'"$work"'/inputs; cp {test} {out}' --json
ok "texts"
json "names of classes" '0 < j["results"][1]["mean"] < 0.4'
has "labels come first, texts as they are" rows '^("a b","red ""r""",[0-9]+|c,"gr,een",[0-9.]+)$'
lacks "no label in the test rows" inputs '^("a b"|c),'
json "predictions that are no class" '"none of the classes" in j["results"][2]["failed"] and j["results"][2]["mean"] is None'

# ---- a method that fails does not stop the others ----
run compare arm.csv --learners "krr; svm" --kernels gaussian --repeat 2 --command 'bad: echo one >&2; echo {train} two >&2; exit 7' \
    --command 'silent: : {train} {test} {out}'
status "a command that reads no {test}" 2
has "{test} is asked for" err 'bad has no \{test\}'
run compare arm.csv --repeat 2 --command 'bad: cat {train} {test}'
status "a command without {out}" 2
has "{out} is asked for" err 'bad has no \{out\}'
run compare arm.csv --learners "krr; svm" --kernels gaussian --repeat 2 --command 'bad: echo one >&2; echo {train} two {test} {out} >&2; exit 7' \
    --command 'short: awk -F, "NR < 4 {print 1}" {test} >{out}; : {train}' --command 'silent: : {train} {test} {out}' --command 'killed: : {train} {test} {out}; kill -9 $$'
ok "failures"
has "status and last words" out '^bad on arm failed in 2 of 2 splits: exit status 7: one \| train.csv two test.csv out$'
has "too few predictions" out '^short .*3 predictions for 48 rows'
has "none at all" out '^silent .*no predictions'
has "a signal" out '^killed .*signal 9'
has "a learner for other labels" out '^svm / gaussian .*svm is for classification'
has "the others are there" out '^krr / gaussian +0\.'
is "no scratch files are left" "" "$(ls -A scratch)"
run compare arm.csv --learners krr --kernels gaussian --repeat 2 --command 'far: : {train}; awk "{print 1e300}" {test} >{out}'
has "an error that is not finite" out '^far .*rmse of its predictions is no finite number'
run compare arm.csv --repeat 2 --kernels gaussian --time-limit 1 --command 'slow: : {train} {test} {out}; sleep 60'
ok "a command that takes too long"
has "is ended" out '^slow .*longer than --time-limit'

# ---- forms ----
show=(compare arm.csv rough.csv --learners "krr; svr" --repeat 3 --kernels gaussian --results forms.jsonl)
run "${show[@]}" --plot p.svg -o t.md
ok "markdown"
has "best in bold" t.md '^\| arm \| .*\*\*0\.'
has "ranks" t.md '^\| mean rank \| '
run "${show[@]}" -o t.tex
has "latex" t.tex '^arm & .*\\textbf\{0\.[0-9]+ \$\\pm\$ 0\.'
run "${show[@]}" --table csv
is "csv" 5 "$(wc -l <out | tr -d ' ')"
has "csv head" out '^data,method,mean,sd,'
answer=$("$PYTHON" - 2>&1 <<'PY'
import xml.etree.ElementTree as E
t = E.parse("p.svg").getroot()
texts = [x.text for x in t.iter("{http://www.w3.org/2000/svg}text")]
assert texts.count("krr / gaussian") == 3 and any("critical difference" in x for x in texts), texts
w, h = float(t.get("width")), float(t.get("height"))
uses = list(t.iter("{http://www.w3.org/2000/svg}use"))
assert len(uses) == 4 and all(0 < float(u.get("x")) < w and 0 < float(u.get("y")) < h for u in uses)
PY
) && pass || fail "the figure" "$(tail -n 1 <<<"$answer")"

# ---- wrong calls ----
cp arm.csv plot.svg
wrong() { # NAME STATUS REGEX ARGS...
    local name=$1 want=$2 text=$3
    shift 3
    run compare "$@"
    status "$name" "$want"
    has "$name: the message" err "$text"
}
wrong "an unknown measure" 2 'rmse\|error' arm.csv --measure mse
wrong "classes on numbers" 2 "labels of arm are numbers; take rmse" arm.csv --measure error
wrong "numbers on classes" 2 "classes; take error" moons.csv --measure rmse
wrong "one split" 2 'with one split there is neither' arm.csv --repeat 1
wrong "different tasks" 1 'compare them apart' arm.csv moons.csv
wrong "an unknown learner" 2 'did you mean|krr' arm.csv --learners "krr; srv"
wrong "an unknown kernel" 2 'gaussian' arm.csv --kernels "gausian"
wrong "an unknown map" 2 'orf' arm.csv --maps "off"
wrong "an empty list" 2 'empty list' arm.csv --learners " ; "
wrong "the same method twice" 2 'two methods' arm.csv --learners "krr; krr"
wrong "a command without a name" 2 'NAME: SHELL' arm.csv --command 'cat {train} {test} {out}'
wrong "standard input" 2 'give files' -
wrong "results into the table" 2 'the same file' arm.csv -o t.md --results t.md
wrong "results into the figure" 2 'the same file' arm.csv --plot p.svg --results ./p.svg
wrong "the figure over the data" 2 'would be overwritten' arm.csv plot.svg --plot plot.svg
wrong "a brace that stays open" 2 'brace' arm.csv --learners mkl --kernels "{gaussian; linear"
wrong "no method fits" 2 '.' arm.csv --maps "orf" --kernels "poly(degree=2)"
summary
