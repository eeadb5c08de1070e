#!/usr/bin/env bash
# --plot of train, select, pca and cluster: the figures, and calls that are wrong. What the files keep for them: info.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KREIN" generate friedman -n 400 -o f.csv >out || exit 1
"$KREIN" generate blobs -n 300 -o b.csv >out || exit 1

# Plots, marks without those of the legend, lines, names in the legend.
figure() { # name file expression of Python in frames, marks, lines, names, title
    "$PYTHON" - "$2" "$3" <<'EOF' >figure.out 2>&1
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
s = "{http://www.w3.org/2000/svg}"
of = lambda e, kind: [x for x in e.iter() if kind in (x.get("class") or "").split()]
legend = of(root, "legend")
keys = of(legend[0], "mark") if legend else []
names = ["".join(t.itertext()) for t in legend[0].iter(s + "text")] if legend else []
frames, lines = len(of(root, "frame")), len(of(root, "line")) - (len(of(legend[0], "line")) if legend else 0)
marks, title = len(of(root, "mark")) - len(keys), root.find(s + "title").text
assert root.get("role") == "img" and title
assert eval(sys.argv[2]), (frames, marks, lines, names, title)
EOF
    is "$1" 0 $?
    [[ -s figure.out ]] && tail -n 1 figure.out
}

# ---- train ----
run train f.csv -o f.krein --plot f.svg
ok "train --plot"
run info f.krein --json
json "what info has" 'len(j["candidates"]) >= 3 and len(j["searched"]) > 3 and len(j["ranges"]) == 10'
json "ranges" 'all(0 <= r["low"] < r["high"] <= 1 for r in j["ranges"])'
json "candidates" 'all(c["error"] > 0 and c["rows"] > 0 and c["learner"] for c in j["candidates"])'
json "searched" 'all(s["criterion"] == "loo" and s["parameter"] == "sigma" and s["value"] > 0 and s["score"] > 0 for s in j["searched"])'
json "the path" 'j["path"] == sorted(j["path"], key=lambda p: p["lambda"]) and all(p["error"] > 0 for p in j["path"])'
cp out info.json
all=$("$PYTHON" -c 'import json; j = json.load(open("info.json")); print(len(j["candidates"]) + len(j["searched"]) + (len(j["path"]) if len(j["path"]) > 1 else 0))')
figure "a mark for each of what was tried" f.svg "marks == $all and frames >= 2 and 'chosen: ' in title and any('laplacian' in n for n in names)"
run train f.csv -o f.krein --json
"$PYTHON" - <<'EOF'
import json
i, j = json.load(open("info.json")), json.load(open("out"))
assert j["candidates"] == i["candidates"] and j["searched"] == i["searched"]
EOF
is "train --json has the same" 0 $?
run info f.krein
has "info: ranges" out '^ranges +x1 +[0-9.e-]+ to 0\.9[0-9]+$'
has "info: tried" out '^tried +krr +[a-z]+\('
run train f.csv -k gaussian -o g.krein --plot g.svg
ok "train -k gaussian --plot"
figure "values of sigma, and lambdas" g.svg "frames == 2 and names == ['gaussian']"
run train f.csv -k 'gaussian(sigma=2)' -o g.krein --plot l.svg
ok "lambdas alone"
figure "one plot" l.svg "frames == 1 and marks > 10"
run train f.csv -k 'gaussian(sigma=2)' -l 0.001 -o g.krein --plot none.svg
status "nothing was tried" 1
has "nothing was tried: why" err 'nothing was tried'
[[ ! -e none.svg && -s g.krein ]] && pass || fail "no figure, but the model"
rm -f g.krein

# ---- select ----
run select f.csv --kernels 'gaussian(sigma=1..8:4); laplacian(sigma=1..8:4); linear; poly(degree=2)' -c loo -c kta --plot s.svg
ok "select --plot"
figure "a plot for each criterion" s.svg "frames == 2 and marks == 2 * (4 + 4 + 2 + 1) and len(names) == 4"
run select f.csv --kernels 'linear' --plot s.svg
ok "select: one kernel without a number"
figure "a level line" s.svg "frames == 1 and marks == 2"

# ---- pca and cluster ----
run pca b.csv --plot p.svg
ok "pca --plot"
figure "a mark for each row, by class" p.svg "marks == 300 and lines == 0 and names == ['0', '1', '2']"
run pca f.csv --plot p.svg
ok "pca of numbers"
figure "no classes" p.svg "marks == 400 and names == []"
run pca - --plot p.svg <b.csv
ok "pca of standard input"
figure "the same of standard input" p.svg "marks == 300 and names == ['0', '1', '2']"
sed '5s/^[^,]*//' b.csv >blank.csv
run pca blank.csv --plot p.svg
ok "pca with a missing label"
has "pca with a missing label: no classes" err 'the figure has no classes'
figure "all rows, no classes" p.svg "marks == 300 and names == []"
sed '5s/,[^,]*/,/' b.csv >gap.csv
run pca gap.csv --missing drop --plot p.svg
ok "pca with a dropped row"
figure "without the dropped row" p.svg "marks == 299"
run cluster b.csv -c 3 -o labels.csv --plot c.svg
ok "cluster --plot"
figure "by cluster" c.svg "marks == 300 and names == ['cluster 1', 'cluster 2', 'cluster 3']"
run cluster - -c 3 --method spectral --plot c.svg <b.csv
ok "spectral clusters of standard input"
figure "of standard input" c.svg "marks == 300 and len(names) == 3"
run cluster b.csv -c 3 --json --plot c.svg
json "cluster --json --plot" 'len(j["labels"]) == 300'
run pca b.csv --model with.krein --plot p.svg
run pca b.csv --model without.krein
cmp -s with.krein without.krein && pass || fail "a figure changes nothing in the model"
"$KREIN" generate blobs -n 2500 -o many.csv >out
run pca many.csv --plot p.svg
ok "many rows"
figure "at most 2,000 are drawn" p.svg "marks == 2000 and '2,000 of 2,500 rows' in title"

# ---- calls that are wrong ----
for command in 'train f.csv' 'select f.csv' 'pca b.csv' 'cluster b.csv -c 3'; do
    # shellcheck disable=SC2086
    run $command --plot figure.png
    status "$command: another format" 2
    has "$command: another format: why" err 'in \.svg'
    # shellcheck disable=SC2086
    run $command --plot nowhere/p.svg
    status "$command: no such folder" 1
done
cp b.csv over.svg
run pca over.svg --format csv --plot over.svg
status "over the data" 2
has "over the data: why" err 'would be overwritten'
run train f.csv -o x.svg --plot x.svg
status "model and figure in one file" 2
has "model and figure: why" err 'the same file'
run cluster b.csv -c 3 -o x.svg --plot x.svg
status "clusters and figure in one file" 2
run pca b.csv --components 1 --plot p.svg
status "one component" 2
has "one component: why" err 'two components'
summary
