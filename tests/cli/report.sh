#!/usr/bin/env bash
# report: pages about models of every task from the command line, what is refused.
# shellcheck source=lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KREIN" generate friedman -n 500 -o data.csv -q >/dev/null
head -301 data.csv >train.csv
{ head -1 data.csv; tail -200 data.csv; } >test.csv
run train train.csv -q -o m.krein -k gaussian -m "orf(D=128)" --uncertainty
ok "train"

# ---- numbers ----
run report m.krein test.csv -o p.html
ok "report"
has "says where it is" out '^page  *p\.html, [0-9.]* kB$'
page() { # what file: balanced, alone, with figures, under 1 MB
    "$PYTHON" - "$2" <<'EOF' 2>err && pass || fail "$1: the page" "$(tail -n 1 err)"
import html.parser, os, sys
class P(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(); self.open = []; self.figures = self.tables = self.titles = 0
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        assert "src" not in a and a.get("href", "#")[:1] in "#d", (tag, a)
        if tag not in ("meta", "link"): self.open.append(tag)
        self.figures += tag == "figure"; self.tables += tag == "table"; self.titles += tag == "title"
        assert tag != "svg" or a.get("class") != "chart" or a["aria-label"]
    def handle_startendtag(self, tag, attributes): pass
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
text = open(sys.argv[1], encoding="utf-8").read()
p = P(); p.feed(text); p.close()
assert not p.open and p.figures >= 3 and p.tables >= p.figures and p.titles > 50, (p.open, p.figures, p.tables, p.titles)
assert os.path.getsize(sys.argv[1]) < 1e6 and "://" not in text
EOF
}
page "numbers" p.html
run report m.krein test.csv --json
ok "numbers alone"
json "all of them" "j['command'] == 'report' and j['task'] == 'regression' and j['n'] == 200 and j['file'] == 'm.krein' and j['output'] is None"
json "an interval around the error" "j['metrics']['rmse']['low'] < j['metrics']['rmse']['value'] < j['metrics']['rmse']['high'] < j['metrics']['rmse']['constant']"
json "coverage near what was asked for" "all(abs(c['found'] - c['asked']) < 4 * (c['asked'] * (1 - c['asked']) * (1 / 300 + 1 / 200)) ** 0.5 for c in j['coverage']) and len(j['coverage']) == 4"
json "strong inputs are the first five" "sorted(i['name'] for i in sorted(j['inputs'], key=lambda i: -i['importance'])[:4])[0] == 'x1' and min(i['importance'] for i in j['inputs'][:5]) > max(i['importance'] for i in j['inputs'][5:])"
json "an approximation of the kernel" "0 < j['spectrum']['approximation'] < 0.5 and len(j['spectrum']['eigenvalues']) == 200"
rmse=$("$KREIN" evaluate m.krein test.csv --json | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["metrics"]["rmse"])')
json "the error is that of evaluate" "abs(j['metrics']['rmse']['value'] - $rmse) < 1e-9"
run report m.krein test.csv --train train.csv --curve -o p.html --json
ok "with the training rows"
json "a learning curve that falls" "[p['n'] for p in j['curve']][-1] == 300 and j['curve'][-1]['error'] < j['curve'][0]['error'] and not any('failed' in p for p in j['curve'])"
json "no row is in both" "j['odd']['duplicates'] == 0 and j['odd']['train_rows'] == 300 and j['output'] == 'p.html'"
page "with a learning curve" p.html
cp p.html one.html
run report m.krein test.csv --train train.csv --curve -o p.html -j 1
ok "on one thread"
cmp -s p.html one.html && pass || fail "the page depends on the threads"
run report m.krein test.csv -o - -q
ok "to standard output"
has "the page is there" out '^</html>$'

# ---- classes, with texts, missing cells and odd names ----
"$PYTHON" - <<'EOF'
import random
random.seed(2)
for name, n in (("ctrain.csv", 300), ("ctest.csv", 150)):
    with open(name, "w", encoding="latin-1") as f:
        f.write('kind,"a <b>",colour,when,\xe9t\xe9\n')
        for i in range(n):
            a, c, e = random.gauss(0, 1), random.choice(["red", "green & blue", "x\"y"]), random.gauss(0, 1)
            kind = "one" if a + (c == "red") + 0.3 * random.gauss(0, 1) > 0.4 else "two <i>" if e > 0 else "three"
            cell = "" if random.random() < 0.05 else "%.4f" % a
            f.write('%s,%s,"%s",2024-%02d-%02d,%.4f\n' % (kind, cell, c.replace('"', '""'), random.randint(1, 12), random.randint(1, 28), e))
EOF
run train ctrain.csv -q -o c.krein -k gaussian --probabilities
ok "train classes"
run report c.krein ctest.csv -o c.html --json --train ctrain.csv
ok "report on classes"
page "classes" c.html
json "areas, confusion, calibration" "len(j['curves']) == 3 and sum(map(sum, j['confusion'])) == 150 and j['calibration']['error'] < 0.2 and j['metrics']['auc']['value'] > 0.8"
json "names are whole" "j['classes'] == ['one', 'three', 'two <i>'] and [i['name'] for i in j['inputs']] == ['a <b>', 'colour', 'when', '\u00e9t\u00e9']"
json "words have a dependence" "any('labels' in d and 'green & blue' in d['labels'] for d in j['dependence'])"
lacks "names do not become tags" c.html '<b>|<i>'
head -40 ctrain.csv >few.csv
run report c.krein few.csv -o c.html --json --train ctrain.csv
json "rows that were trained on" "j['odd']['duplicates'] == 39 and j['odd']['same_label'] == 39"

# ---- several labels, several targets, clusters, components, several kernels ----
"$KREIN" generate multilabel -n 300 -o l.csv -q >/dev/null
run train l.csv --multilabel -q -o l.krein -k gaussian
run report l.krein l.csv -o l.html --json
ok "several labels a row"
page "several labels a row" l.html
json "labels" "j['task'] == 'multilabel' and 0 < j['metrics']['hamming_loss']['value'] < j['metrics']['hamming_loss']['constant']"
cut -d, -f1- data.csv | head -200 >t2.csv
run train t2.csv --targets 2 --header -q -o t.krein -k gaussian
run report t.krein t2.csv --targets 2 --header -o t.html --json -q
ok "two targets"
page "two targets" t.html
json "two outputs" "len(j['outputs']) == 2 and len(j['dependence'][0]['y']) == 2"
"$KREIN" cluster ctrain.csv --ignore when -k gaussian --clusters 3 -o labels.csv --model k.krein -q >/dev/null
run report k.krein ctrain.csv --ignore when -o k.html --json -q
ok "clusters"
page "clusters" k.html
json "sizes" "sum(j['clusters']['sizes']) == 300 and len(j['clusters']['silhouettes']) == 3 and j['clusters']['ari'] is not None"
# Rows in the order of their classes: what is sampled is from all of them.
"$KREIN" generate blobs -n 4500 -o blobs.csv -q >/dev/null
{ head -n 1 blobs.csv && tail -n +2 blobs.csv | sort -s -t, -k1,1n; } >sorted.csv
"$KREIN" cluster sorted.csv -k gaussian --clusters 3 -m 'nystrom(D=50)' -o labels.csv --model o.krein -q >/dev/null
run report o.krein sorted.csv -o o.html --json -q
ok "clusters of sorted rows"
json "the plane has each cluster by its size" "len(j['plane']['points']) == 1000 and all(abs(sum(p[2] == c for p in j['plane']['points']) / 1000 - s / 4500) < 4 * 0.0158 for c, s in enumerate(j['clusters']['sizes']))"
"$KREIN" pca train.csv -k gaussian --components 3 -o s.csv --model pc.krein -q >/dev/null
run report pc.krein test.csv -o pc.html --json -q
ok "components"
page "components" pc.html
json "a plane" "len(j['plane']['points']) == 200 and 0 < j['plane']['share'][0] < 1"
run train train.csv -q -o mk.krein --learner mkl --kernels "gaussian(sigma=1..10:3); linear"
run report mk.krein test.csv -o mk.html --json
ok "several kernels"
json "weights" "len(j['model']['weights']) == 4"
has "weights are shown" mk.html 'Weights of the kernels'

# ---- what is refused ----
wrong() { # what status pattern arguments
    local what=$1 status=$2 pattern=$3
    shift 3
    run report "$@"
    [[ $rc == "$status" ]] && pass || fail "$what: status $rc" "$(cat err)"
    has "$what: why" err "$pattern"
}
wrong "no output" 2 'o FILE is required' m.krein test.csv
wrong "a curve without rows" 2 'training rows: give --train with --curve' m.krein test.csv -o no.html --curve
wrong "over the data" 2 'would be overwritten' m.krein test.csv -o test.csv
wrong "over the training rows" 2 'would be overwritten' m.krein test.csv --train train.csv -o train.csv
wrong "both to standard output" 2 'both want standard output' m.krein test.csv -o - --json
wrong "no model" 1 'test\.csv' test.csv test.csv -o no.html
wrong "no such data" 1 'nowhere\.csv' m.krein nowhere.csv -o no.html
wrong "no such folder" 1 'nowhere' m.krein test.csv -o nowhere/no.html
wrong "other columns" 1 'ctest\.csv' m.krein ctest.csv -o no.html
cut -d, -f2- test.csv >unlabelled.csv
wrong "no labels" 1 'label' m.krein unlabelled.csv -o no.html
wrong "clusters and training rows" 2 'predicts no label' k.krein ctrain.csv --ignore when --train ctrain.csv -o no.html
head -1 test.csv >empty.csv
wrong "no row" 1 'row' m.krein empty.csv -o no.html
[[ -e no.html ]] && fail "a page was written" || pass

summary
