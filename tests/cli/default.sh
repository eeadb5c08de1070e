#!/usr/bin/env bash
# The default model: train without a kernel, what it reports, and the options about it.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Two inputs and a category matter; six columns of noise, cells that are missing, a date.
"$PYTHON" - <<'PY'
import math, random
random.seed(1)
def table(name, n):
    with open(name, "w") as f:
        f.write("y,height,width,colour,when," + ",".join("n%d" % i for i in range(6)) + "\n")
        for i in range(n):
            a, b, c = random.gauss(0, 1), random.gauss(0, 1), random.choice(["red", "green", "blue"])
            y = math.sin(2 * a) * b + (c == "red") + 0.05 * random.gauss(0, 1)
            cells = [y, a, "" if i % 50 == 7 else b, c, "2024-%02d-%02d" % (1 + i % 12, 1 + i % 28)]
            cells += [random.gauss(0, 1) for _ in range(6)]
            f.write(",".join(x if isinstance(x, str) else "%.6g" % x for x in cells) + "\n")
table("data.csv", 750)
table("test.csv", 300)
with open("classes.csv", "w") as f:
    f.write("class,a,b,c,d,e\n")
    for i in range(700):
        x = [random.gauss(0, 1) for _ in range(5)]
        f.write(",".join(["in" if x[1] ** 2 + x[3] ** 2 < 1.4 else "out"] + ["%.6g" % v for v in x]) + "\n")
with open("noise.csv", "w") as f:
    f.write("y,a,b,c\n")
    for i in range(520):
        f.write(",".join("%.6g" % random.gauss(0, 1) for _ in range(4)) + "\n")
PY

# ---- what is reported ----
run train data.csv --test test.csv -o data.krein
ok "no options"
for line in 'kernel +(gaussian|exponential|laplacian)\(sigma=' 'metric +diagonal: ' 'map +exact$' \
    'lambda +[0-9]' 'leave-one-out +[0-9.]+ rmse' 'tried +krr +[a-z]+\(sigma=[0-9.]+\) +(diagonal +)?rmse' 'test rmse'; do
    has "report: $line" out "^$line"
done
has "the metric by names" out '^metric +diagonal: .*height [0-9.]+'
has "the metric by names: a category" out '^metric .*colour=red [0-9.]+'
run train data.csv --test test.csv --json -o again.krein
ok "JSON"
cmp -s data.krein again.krein && pass || fail "the same model again"
json "candidates" 'len(j["candidates"]) > 4 and all({"kernel", "map", "metric", "rows", "error"} <= set(c) for c in j["candidates"])'
json "candidates: values" 'all(c["metric"] in ("none", "diagonal") and 0 < c["rows"] < 750 and c["error"] > 0 for c in j["candidates"])'
json "candidates: with and without" '{c["metric"] for c in j["candidates"]} == {"none", "diagonal"}'
json "candidates: kernels" '{c["kernel"].split("(")[0] for c in j["candidates"]} == {"exponential", "laplacian", "gaussian"}'
json "metric" 'j["metric"]["kind"] == "diagonal" and len(j["metric"]["factors"]) == j["d"]'
json "metric: the largest" '{l["input"] for l in j["metric"]["largest"][:3]} == {"height", "width", "colour=red"}'
json "it predicts" 'j["test"]["r2"] > 0.9'
cp out whole.json

run train classes.csv --json -o classes.krein
ok "classes"
json "classes: errors are shares" 'all(0 <= c["error"] <= 1 for c in j["candidates"]) and j["metric"]["kind"] == "diagonal"'
json "classes: columns" '{l["input"] for l in j["metric"]["largest"][:2]} == {"b", "d"}'
cp out classes.json
head -n 101 classes.csv >hundred.csv
run train hundred.csv -o hundred.krein
has "classes: the report" out '^tried .* % error$'
run train noise.csv --json -o noise.krein
ok "no signal"
json "no signal: no metric" 'j["metric"] is None and len(j["candidates"]) >= 3'
run train noise.csv -o noise.krein
lacks "no signal: no metric in the report" out '^metric'
head -n 31 data.csv >few.csv
run train few.csv --json -o few.krein
ok "30 rows"
json "30 rows: no metric is tried" 'j["metric"] is None and {c["metric"] for c in j["candidates"]} == {"none"}'

run train few.csv --metric diagonal -o few.krein
has "30 rows: why no metric" err 'warning: metric: none is learned: it takes 500 rows'
run train data.csv --metric full --ignore colour,when,n0,n1,n2,n3,n4,n5 -o full.krein
lacks "a full matrix of few columns" err 'warning'
head -n 3 data.csv | cut -d, -f 1-3 >two.csv
run train two.csv -o two.krein
ok "two rows"
lacks "two rows: no error that is no number" out 'nan'
head -n 201 classes.csv >some.csv
run train some.csv --group a -o groups.krein
ok "groups"
lacks "groups: sigma is chosen, not set" err 'median distance'

# ---- info ----
run info data.krein
has "info: the metric" out '^metric +diagonal: .*height [0-9.]+, .*colour=red [0-9.]+'
has "info: the clip" out '^clip +8$'
run info data.krein --json
json "info, JSON" 'j["clip"] == 8 and j["metric"]["kind"] == "diagonal" and len(j["metric"]["factors"]) == j["d"]'
json "info, JSON: names" 'len(j["metric"]["largest"]) == 10 and {"height", "width", "colour=red"} == {l["input"] for l in j["metric"]["largest"][:3]}'
json "info, JSON: in order" '(lambda f: f == sorted(f, reverse=True))([l["factor"] for l in j["metric"]["largest"]])'
run info noise.krein --json
json "info: no metric" 'j["metric"] is None and j["clip"] == 8'

# ---- options ----
head -n 521 data.csv >enough.csv # for a metric
metric() { # what, kinds that were tried
    run train enough.csv --metric "$1" --json -o m.krein
    ok "--metric $1"
    json "--metric $1" "{c[\"metric\"] for c in j[\"candidates\"]} == $2"
}
metric none '{"none"}'
json "--metric none: none" 'j["metric"] is None'
metric auto '{"none", "diagonal"}'
cp out enough.json
metric diagonal '{"none", "diagonal"}'
metric full '{"none", "diagonal", "full"}'
for word in nonsense '' Diagonal 'file='; do
    run train data.csv --metric "$word" -o m.krein
    ((rc != 0)) && pass || fail "--metric '$word'" "$(why)"
    has "--metric '$word'" err '^krein: .*--metric'
done
run train data.csv --metric file=nowhere.krein -o m.krein
status "--metric of no file" 1
run train data.csv --metric file=data.csv -o m.krein
status "--metric of another file" 1
run train classes.csv --metric file=data.krein -o m.krein
status "--metric of other columns" 1
has "--metric of other columns: why" err 'encoded inputs'

run train data.csv --effort low --json -o m.krein
ok "--effort low"
json "--effort low: no metric" 'j["metric"] is None'
rows=$("$PYTHON" -c 'import json; print(max(c["rows"] for c in json.load(open("enough.json"))["candidates"]))')
efforts=(normal 0.5 1)
[[ $SANITIZED ]] && efforts=(0.5)
for effort in "${efforts[@]}"; do
    run train enough.csv --effort $effort --json -o m.krein
    ok "--effort $effort"
    json "--effort $effort" "max(c['rows'] for c in j['candidates']) == $rows and j['metric']"
done
run train few.csv --effort high --json -o m.krein
ok "--effort high"
for word in nonsense 0 -1 1e9 ''; do
    run train data.csv --effort "$word" -o m.krein
    status "--effort '$word'" 2
    has "--effort '$word'" err 'low, or normal, or high'
done

run train enough.csv --clip 4 -o m.krein
ok "--clip 4"
run info m.krein --json
json "--clip 4" 'j["clip"] == 4'
run train enough.csv --clip none -o m.krein
ok "--clip none"
run info m.krein --json
json "--clip none" 'j["clip"] is None'
run info m.krein
lacks "--clip none: info" out '^clip'
for word in nonsense 0 -8 ''; do
    run train data.csv --clip "$word" -o m.krein
    status "--clip '$word'" 2
done

# ---- a map that takes one of the kernels alone ----
run train data.csv -m binning -D 64 --json -o binned.krein
ok "a map of the L1 kernel"
json "a map of the L1 kernel" 'j["map"].startswith("binning") and all(c["kernel"].startswith("laplacian") for c in j["candidates"])'
run train data.csv -m arccos -o m.krein
status "a map of none of them" 2
has "a map of none of them" err 'arccos needs arc-cosine'

# ---- outliers: one cell does not take the room of a column ----
sed '3s/^\([^,]*\),[^,]*,/\1,1e6,/' data.csv >outlier.csv
run train outlier.csv --test test.csv --json -o m.krein
ok "an outlier"
json "an outlier" 'j["test"]["r2"] > 0.9'

# ---- a kernel that is given: nothing of this ----
for kernel in gaussian 'gaussian(sigma=3)'; do
    run train enough.csv -k "$kernel" --json -o k.krein
    ok "-k $kernel"
    json "-k $kernel" 'j["metric"] is None and j["candidates"] == []'
    run info k.krein --json
    json "-k $kernel: no clip" 'j["clip"] is None and j["metric"] is None'
done
run train enough.csv --kernels 'gaussian; laplacian' --json -o k.krein
json "--kernels" 'j["metric"] is None and [c["kernel"].split("(")[0] for c in j["candidates"]] == ["gaussian", "laplacian"]'
run train enough.csv -k 'gaussian(sigma=3)' --metric diagonal --clip 5 --json -o k.krein
ok "-k with --metric and --clip"
json "-k with --metric" 'j["metric"]["kind"] == "diagonal" and j["kernel"] == "gaussian(sigma=3)"'
run info k.krein --json
json "-k with --clip" 'j["clip"] == 5'

# ---- what was chosen, given back ----
mv whole.json data.json
for name in data classes; do
    mapfile -t spec < <("$PYTHON" -c 'import json, sys; j = json.load(open(sys.argv[1])); print(j["learner"], j["kernel"], j["map"], repr(j["lambda"]), sep="\n")' $name.json)
    [[ ${spec[0]} == krr* ]] && lambda=(-l "${spec[3]}") || lambda=()
    run train $name.csv --learner "${spec[0]}" -k "${spec[1]}" -m "${spec[2]}" "${lambda[@]}" --metric file=$name.krein --json -o two.krein
    ok "$name given back"
    json "$name given back: nothing is tried" 'j["candidates"] == [] and j["metric"]["kind"] == "diagonal"'
    for model in $name two; do "$KREIN" predict $model.krein $name.csv --scores >$model.txt; done
    cmp -s $name.txt two.txt && pass || fail "$name given back: the same predictions"
done

# The metric of a model on its rows in another order, which begin with another number.
"$PYTHON" - <<'PY'
import math, random
random.seed(5)
rows = [[random.gauss(0, 1) for _ in range(4)] for _ in range(520)]
for name, turn in (("order1.csv", 0), ("order2.csv", 260)):
    with open(name, "w") as f:
        f.write("y,a,b,c,d\n")
        for r in rows[turn:] + rows[:turn]:
            cells = [math.sin(2 * r[0]) * r[1], 1000 + 5 * r[0], math.exp(2 * r[1]), r[2], r[3]]
            f.write(",".join("%.6g" % v for v in cells) + "\n")
PY
run train order1.csv --clip 2 -o order.krein
for i in 1 2; do
    run train order$i.csv -k 'gaussian(sigma=3)' -l 1e-5 --metric file=order.krein -o order$i.krein
    ok "the metric of a model, order $i"
    "$KREIN" predict order$i.krein order1.csv >order$i.txt
done
"$PYTHON" -c 'a, b = ([float(x) for x in open("order%d.txt" % i)] for i in (1, 2)); assert max(abs(x - y) for x, y in zip(a, b)) < 1e-3' &&
    pass || fail "the metric of a model on rows in another order"

# ---- threads, memory ----
for j in 1 2; do run train data.csv -j $j -o $j.krein; done
cmp -s 1.krein 2.krein && pass || fail "one and two threads: the same bytes"
# Rows that do not fit are read again; the choice then has fewer rows, which can be asked for too.
run train data.csv --max-memory 1M -o m.krein
status "no room to choose in" 1
has "no room to choose in" err 'choosing the kernel needs .* -k .* --max-memory'
n=100000
[[ $SANITIZED ]] && n=75000
"$KREIN" generate friedman -n $n -d 20 -q -o big.csv >/dev/null
run train big.csv --max-memory 16M --json -o streamed.krein
ok "rows that do not fit"
has "rows that do not fit" err 'it is read in several passes'
has "the choice is smaller" err 'memory is short: .*--effort 0\.0'
effort=$(grep -o -- '--effort [0-9.]*' err | head -n 1 | cut -d' ' -f2)
map=$("$PYTHON" -c 'import json; print(json.load(open("out"))["map"])')
run train big.csv --effort "$effort" -m "$map" -o kept.krein
ok "rows in memory"
cmp -s streamed.krein kept.krein && pass || fail "streamed and in memory: the same bytes"

# ---- more rows than a kernel matrix takes: landmarks or random features by their errors ----
[[ $SANITIZED ]] || {
    head -n 21001 big.csv >many.csv
    run train many.csv --effort 0.5 --max-exact 4000 -D 200 --json -o many.krein
    ok "landmarks or random features"
    json "landmarks or random features" '[c["map"].split("(")[0] for c in j["candidates"]][-2:] == ["nystrom", "orf"] and (j["map"].startswith("nystrom") == (0.95 * j["candidates"][-2]["error"] ** 2 <= j["candidates"][-1]["error"] ** 2))'
    run train many.csv --effort 0.5 --max-exact 4000 -D 200 -l 1e-5 -o many.krein
    has "the map of a candidate" out '^ +krr  [a-z]+\(sigma=[0-9.]+\) on nystrom\(D=[0-9]+\) '
    lacks "landmarks that all add something: no word" err ' 0 of them add'
}

# ---- plan ----
run plan data.csv
ok "plan"
has "plan: kernels" out '^kernel +chosen among exponential; laplacian; gaussian$'
has "plan: metric" out '^metric +at most diagonal$'
run plan data.csv --json
json "plan, JSON" 'j["kernel"] == "exponential; laplacian; gaussian" and j["metric"] == "diagonal" and j["map"] == "exact" and j["fits"]'
most=$("$PYTHON" -c 'import json; print(json.load(open("out"))["bytes_peak"])')
run train data.csv --max-memory "$most" -o planned.krein
ok "plan: the memory is enough"
cmp -s planned.krein data.krein && pass || fail "plan: the same model in that memory"
run plan data.csv -k 'gaussian(sigma=3)' --json
json "plan with a kernel" 'j["kernel"] == "gaussian(sigma=3)" and j["metric"] == "none"'
run plan data.csv --select ckta --json
json "plan with a criterion" 'j["kernel"] == "exponential; laplacian; gaussian" and j["metric"] == "none"'
run plan data.csv --metric file=data.krein -k 'gaussian(sigma=3)' --json
json "plan with the metric of a model" 'j["metric"] == "diagonal"'
run plan data.csv --max-memory 1M
status "plan: no room to choose in" 1
has "plan: no room to choose in" err 'choosing the kernel takes most of it'
# Equal rows: the prediction is the mean.
awk 'BEGIN { print "y,a,b"; for (i = 0; i < 30; i++) print i % 3 ",1,2" }' >equal.csv
run train equal.csv -q -t regression -o equal.krein
ok "equal rows"
run predict equal.krein equal.csv
if awk '{ if ($1 < 0.999 || $1 > 1.001) bad = 1 } END { exit bad || NR != 30 }' out; then pass; else fail "equal rows: the mean"; fi

summary
