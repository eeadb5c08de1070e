#!/usr/bin/env bash
# Tables as they come: missing cells, labels, categories, dates, nonsense.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
fixed=(-k 'gaussian(sigma=2)' -l 1e-3)

# ---- missing cells ----
"$PYTHON" - <<'PY'
import random
random.seed(1)
with open("holes.csv", "w") as f:
    print("y,a,b,c,none", file=f)
    for i in range(60):
        a, b, c = random.random(), random.random(), random.choice("uvw")
        print("%.4f,%s,%.4f,%s," % (a + b, "" if i % 7 == 3 else "%.4f" % a, b, "?" if i % 11 == 5 else c), file=f)
PY
run train holes.csv "${fixed[@]}" -o h.krein
ok "missing cells"
has "missing cells: numbers" out '^note +missing cells: a: the mean, and a column that says where'
has "missing cells: texts" out '^note +missing cells: c: a category of their own'
has "an empty column" out '^note +left out: none: no cell has a value'
run train holes.csv "${fixed[@]}" -o h1.krein --json --threads 1
json "missing cells: notes" 'len(j["notes"]) == 3 and j["n"] == 60 and j["d"] == 7'
is "missing cells: threads" "$(cksum <h.krein)" "$(cksum <h1.krein)"
run info h.krein
has "info: missing cells" out '^note +missing cells: a: the mean'
run info h.krein --json
json "info: notes" 'len(j["notes"]) == 3'
run train holes.csv "${fixed[@]}" --missing error -o no.krein
status "--missing error" 1
has "--missing error" err 'holes\.csv:2: column 5 \(none\) is empty'
printf 'a,b,c\n,0.5,u\n0.5,,\n0.5,0.5,w\n' >new.csv
run predict h.krein new.csv
ok "predict: missing cells"
is "predict: a line a row" 3 "$(grep -c . out)"
run predict h.krein new.csv --missing error
status "predict --missing error" 1
run evaluate h.krein holes.csv --json
json "evaluate: missing cells" 'j["metrics"]["n"] == 60' 
for what in transform gram pca; do
    run $what holes.csv -k 'gaussian(sigma=2)' -o out.npy
    ok "$what: missing cells"
    has "$what: says so" err 'missing cells: a: the mean'
done

# ---- labels ----
{ echo who,x,y2 && seq 50 | awk '{ print "p" $1 "," $1 % 7 "," $1 * 2.5 }'; } >names.csv
run train names.csv "${fixed[@]}" -o no.krein
status "a label of names" 1
has "a label of names: the way out" err 'names\.csv: the label \(column 1, who\) has 50 distinct texts in 50 rows.*--label NAME'
run train names.csv "${fixed[@]}" -o n.krein --label y2 --ignore who
ok "a label of names: --label"
{ echo Id,x,y2 && seq 50 | awk '{ print $1 "," $1 % 7 "," $1 * 2.5 }'; } >ids.csv
run train ids.csv "${fixed[@]}" -o no.krein
status "a label of row numbers" 1
has "a label of row numbers: the way out" err '\(Id\) numbers the rows.*--label NAME'
seq 120 | awk '{ print $1 "," $1 % 7 "," $1 * 2.5 }' >bare.csv
run train bare.csv "${fixed[@]}" -o no.krein
status "row numbers, no header" 1
has "row numbers, no header: the way out" err 'column \(without a name\) numbers the rows.*--label NAME'
{ echo customer_id,x,price && seq 50 | awk '{ print 9000 - 7 * $1 "," $1 % 7 "," $1 * 2.5 }'; } >customers.csv
run train customers.csv "${fixed[@]}" -o no.krein
status "a label of customers" 1
has "a label of customers: the way out" err '\(customer_id\) has another number in each row.*--label NAME'
run train customers.csv "${fixed[@]}" -o n.krein --label first
ok "a label of customers: --label first"
{ echo size,x,price && seq 50 | awk '{ print $1 / 8 "," $1 % 7 "," $1 * 2.5 }'; } >sizes.csv
run train sizes.csv "${fixed[@]}" -o n.krein
has "the first column is the label: the option" err 'the label \(column 1, size; --label names another\)'
run train sizes.csv "${fixed[@]}" -o n.krein --label price
has "a label that is named" err 'the label \(column 3, price\)'
{ echo y,x && seq 50 | awk '{ print "cat," $1 % 7 }'; } >one.csv
run train one.csv "${fixed[@]}" -o no.krein
status "one class" 1
has "one class: the way out" err 'one class only'
lacks "one class: no guess before the refusal" err 'task:'
{ echo y,x && seq 3000 | awk '{ print $1 % 25 "," $1 % 7 }'; } >codes.csv
run train codes.csv "${fixed[@]}" -D 16 -o c.krein --json
json "whole numbers that are classes" 'j["task"] == "classification"'
is "the guess is said once" 1 "$(grep -c 'task: classification: the label (column 1, y) has the whole numbers 0 to 24.*--task regression' err)"

# ---- many categories ----
"$PYTHON" - <<'PY'
import random
random.seed(2)
effect = [random.gauss(0, 1) for c in range(2000)]
with open("cities.csv", "w") as f, open("cities_test.csv", "w") as g:
    for h in f, g: print("y,city,id,x", file=h)
    for i in range(24000):
        c = int(2000 * random.random() ** 2)
        x = random.random()
        print("%.5f,city %d,no %d,%.4f" % (effect[c] + x, c, i, x), file=f if i % 6 else g)
PY
many=(-k 'gaussian(sigma=1)' -m 'rff(D=64)' -l 1e-4)
run train cities.csv "${many[@]}" -o t.krein --test cities_test.csv --json
json "2,000 categories: means of the target" 'j["d"] == 2 and j["test"]["r2"] > 0.85'
json "2,000 categories: said" 'any("city: the mean of the target, out of fold" in n for n in j["notes"]) and any("left out: id: nearly all" in n for n in j["notes"])'
run train cities.csv "${many[@]}" -o t1.krein --threads 1 -q
is "means of the target: threads" "$(cksum <t.krein)" "$(cksum <t1.krein)"
run train cities.csv "${many[@]}" --categories hash --ignore id -o hash.krein --json
json "hashed" 'j["d"] == 257'
run evaluate hash.krein cities_test.csv
ok "hashed: evaluate"
run info t.krein
has "info: means of the target" out '^note +categories: city: the mean of the target'
printf 'city,x\nnowhere,0.5\n,0.5\ncity 7,0.5\n' >far.csv
run predict t.krein far.csv
ok "a category never seen, by means"
run train cities.csv "${many[@]}" --categories onehot -o no.krein
status "2,000 categories: --categories onehot" 1
has "2,000 categories: the way out" err 'column 2 \(city\) has [0-9]+ distinct texts.*--categories auto'
run transform cities.csv -k 'gaussian(sigma=1)' -m 'rff(D=8)' --label y -o z.npy
ok "transform: many categories"
has "transform: hashed" err 'city: hashed into 256 columns'

# ---- dates, truth values, amounts ----
"$PYTHON" - <<'PY'
import datetime, random
random.seed(3)
day = datetime.datetime(2024, 1, 5, 7, 30)
with open("shop.csv", "w") as f:
    print("sales;when;open;price;share;note", file=f)
    for i in range(400):
        t = day + datetime.timedelta(hours=7 * i)
        price = random.uniform(500, 3000)
        print("%.3f;%s;%s;%s EUR;%d%%;%s" % (t.weekday() + price / 1000, t.strftime("%d/%m/%Y %H:%M"),
              random.choice(["yes", "no"]), ("%.2f" % price).replace(".", ","), random.randrange(100),
              random.choice(["NA", "3", "4"])), file=f)
PY
run train shop.csv "${fixed[@]}" -o s.krein
ok "dates and amounts"
has "dates" out '^note +dates, day first: when: year, month, weekday, hour and days'
has "truth values" out '^note +truth values: open: 1 or 0'
has "amounts" out '^note +amounts: price, share: numbers'
has "NA among numbers" out '^note +missing cells: note: the mean'
run evaluate s.krein shop.csv --json
json "dates: evaluate" 'j["metrics"]["r2"] > 0.9'
run info s.krein
has "info: dates" out '^note +dates, day first: when'
run train shop.csv "${fixed[@]}" -o s1.krein --threads 1 --json
json "dates: inputs" 'j["d"] == 5 + 1 + 1 + 1 + 2'
is "dates: threads" "$(cksum <s.krein)" "$(cksum <s1.krein)"
run train shop.csv "${fixed[@]}" --types plain -o p.krein --json
json "--types plain" 'not any(n.startswith(("dates", "truth", "amounts")) for n in j["notes"])'
printf 'when;open;price;share;note\n31/02/2026;yes;5 EUR;1%%;3\n' >feb.csv
run predict s.krein feb.csv
status "a day that there is not" 1
has "a day that there is not" err 'feb\.csv:2: column 1 \(when\) is not a date.*--types plain'
# In every command, streamed or not: the same numbers.
run transform shop.csv -k 'gaussian(sigma=2)' -m 'rff(D=8)' -o z1.npy -q
run transform shop.csv -k 'gaussian(sigma=2)' -m 'rff(D=8)' -o z2.npy -q --threads 1
is "transform: threads" "$(cksum <z1.npy)" "$(cksum <z2.npy)"

# ---- nonsense ----
"$PYTHON" - <<'PY'
import random
random.seed(4)
words = ["", "?", "NA", "1", "-1.5", "1e3", "$5", "5%", "2026-01-01", "31/31/2026", "yes", "10:20", "1,5", "\"a, b\"",
         "\xe4", "true", "nan", "-", "x" * 50, "1.2.3", "00:61"]
for k in range(40):
    n, d = random.choice([3, 30, 300]), random.choice([2, 3, 6])
    some = [random.sample(words, random.choice([2, 4, len(words)])) for j in range(d)]
    with open("n%d.csv" % k, "w", encoding="latin-1") as f:
        print(",".join(["y"] + ["c%d" % j for j in range(d)]), file=f)
        for i in range(n):
            print(",".join(["%.3f" % random.random()] + [random.choice(some[j]).replace("1,5", '"1,5"') for j in range(d)]), file=f)
PY
for k in {0..39}; do
    run train n$k.csv "${fixed[@]}" -o n.krein
    if ((rc == 0)); then
        run predict n.krein n$k.csv
        ok "nonsense $k: predict"
    else
        status "nonsense $k" 1
    fi
done

summary
