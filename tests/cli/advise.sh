#!/usr/bin/env bash
# advise: its numbers against each other, with and without labels; calls and data that are wrong.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$KREIN" generate friedman -n 600 -o f.csv >out || exit 1

# ---- JSON ----
run advise f.csv --rows 300 --json
ok advise
json "what there is" 'j["command"] == "advise" and set("n d rows kernel gamma decay r lambda effective_dimension features landmarks parts rate rademacher spectrum practical seconds".split()) <= set(j)'
json "sizes" 'j["n"] == 600 and j["rows"] == 300 and j["d"] == 10 and j["kernel"].startswith("gaussian(sigma=") and j["task"] == "regression"'
json "ranges" '0 < j["gamma"] <= 1 and 0.5 <= j["r"] <= 1 and j["decay"] > 0 and 0 < j["rademacher"] < 1 and j["r_low"] <= j["r_measured"] <= j["r_high"]'
json "theory's powers" 'abs(j["lambda"] / (j["kappa"] * 600 ** (-1 / (2 * j["r"] + j["gamma"]))) - 1) < 1e-9 and abs(j["rate"] / 600 ** (-2 * j["r"] / (2 * j["r"] + j["gamma"])) - 1) < 1e-9'
json "theory's counts" '0 <= j["features"] - 600 ** (((2 * j["r"] - 1) * j["gamma"] + 1) / (2 * j["r"] + j["gamma"])) < 1 and 0 <= j["landmarks"] - 600 ** (1 / (2 * j["r"] + j["gamma"])) < 1 and 0 <= 600 ** ((2 * j["r"] - 1) / (2 * j["r"] + j["gamma"])) - j["parts"] < 1'
json "practice" '64 <= j["practical"]["features"] <= 600 and 0 < j["practical"]["lambda"] < j["sample_lambda"] and j["practical"]["parts"] >= 1'
json "the table" 'len(j["spectrum"]) >= 2 and all(a["lambda"] > b["lambda"] and a["effective_dimension"] < b["effective_dimension"] <= 300 for a, b in zip(j["spectrum"], j["spectrum"][1:]))'
"$PYTHON" -c 'import json; j = json.load(open("out")); j.pop("seconds"); print(j)' >first
run advise f.csv --rows 300 --json --threads 1
"$PYTHON" -c 'import json; j = json.load(open("out")); j.pop("seconds"); print(j)' >second
is "not by threads" "$(cat first)" "$(cat second)"
run advise f.csv --rows 300 --json --seed 2
json "another sample, about the same gamma" "abs(j['gamma'] - $("$PYTHON" -c 'import ast; print(ast.literal_eval(open("first").read())["gamma"])')) < 0.05"

# ---- the effective dimension is the definition: two rows, eigenvalues (1 + k) / 2, (1 - k) / 2 ----
printf 'a\n0\n1\n' >two.csv
run advise two.csv --label none --scale none -k 'gaussian(sigma=1)' --json
ok "two rows"
json "two rows: N" '(lambda s, t: abs(t["effective_dimension"] - sum(e / (e + t["lambda"]) for e in s)) < 1e-9)([(1 + 2.718281828459045 ** -0.5) / 2, (1 - 2.718281828459045 ** -0.5) / 2], j["spectrum"][1])'
json "two rows: no law" 'j["gamma"] == 1 and not j["gamma_fitted"] and j["decay"] is None and j["features"] <= 2'

# ---- text ----
run advise f.csv --rows 200
ok "advise as text"
for word in kernel rows inputs time gamma decay r lambda features landmarks parts rate rademacher; do
    has "a line of $word" out "^$word +[0-9a-z]"
done
has "theory and practice" out '^Practice: '
has "sigma is said" err 'sigma set to .*median'
is "lines fit a terminal" 0 "$(awk 'length > 80' out | wc -l)"
has "in words" out 'Source condition'
cut -d, -f2- f.csv >bare.csv
run advise bare.csv --label none --rows 200
ok "no labels"
has "no labels: r" out '^r +0\.5$'
has "no labels: said" out 'without labels'
run advise bare.csv --label none --rows 200 --json
json "no labels: null" 'j["r"] == 0.5 and j["r_measured"] is None and j["sample_lambda"] is None and j["task"] is None and j["practical"]["lambda"] == j["lambda"]'
json "all columns are inputs" 'j["d"] == 10'

# ---- kinds of data ----
run advise f.csv -k linear --json
ok "a linear kernel"
json "finite rank" 'j["rank"] == 10 and j["gamma_fast"] and j["gamma"] < 0.1'
run advise f.csv -k 'gaussian(sigma=1e-9)' --json
json "no row tells of another" 'j["gamma"] == 1 and j["r_measured"] is None'
run advise f.csv -k 'gaussian(sigma=1e9)' --json
json "a constant kernel" 'j["gamma"] == 0.05 and j["rank"] == 1 and j["gamma_fast"]'
"$KREIN" gram f.csv -k 'gaussian(sigma=3)' -o K.npy >/dev/null
"$PYTHON" -c '
print("y,i")
for i, row in enumerate(list(open("f.csv"))[1:]): print(row.split(",")[0], i, sep=",")' >index.csv
run advise f.csv -k 'gaussian(sigma=3)' --json
cp out plain
run advise index.csv -k 'precomputed(file=K.npy)' --scale none --json
ok "a precomputed kernel"
json "a precomputed kernel: the same" '(lambda p: all(abs(p[k] - j[k]) <= 1e-6 * abs(p[k]) for k in ("gamma", "lambda", "rademacher", "r_measured")))(json.load(open("plain")))'
for i in {1..80}; do echo "$((i % 2 * 2 - 1)) $((i % 2 + 1)):1 $((i % 13 + 3)):0.5 100000:0.1"; done >wide.libsvm
run advise wide.libsvm --json
ok "sparse, wide rows"
json "classes" 'j["task"] == "classification" and j["d"] == 100000 and j["sample_lambda"] > 0'
(echo y,a,b && for i in {1..40}; do echo "3,$((i * i % 17)),$((i % 5))"; done) >same.csv
run advise same.csv --task regression --json
ok "equal labels"
json "equal labels tell nothing" 'j["r"] == 0.5 and j["r_measured"] is None'
run advise f.csv --max-exact 50 --json
json "--max-exact bounds the sample" 'j["rows"] == 50'

# ---- wrong calls and data ----
run advise
status "advise without data" 2
run advise missing.csv
status "no such file" 1
run advise f.csv -k gausian
status "unknown kernel" 2
has "unknown kernel: nearest" err gaussian
run advise f.csv --rows 1
status "one row asked for" 2
run advise f.csv --rows 200 --max-exact 100
status "above --max-exact" 2
has "above --max-exact: why" err 'max-exact'
run advise f.csv --max-exact 1
status "no matrix allowed" 2
printf 'y,a\n1,2\n' >one.csv
run advise one.csv
status "one row" 1
run advise f.csv -k '0*gaussian(sigma=1)'
status "a zero kernel" 1
has "a zero kernel: why" err 'zero'
run advise f.csv -k 'gaussian(sigma=1) - 0.9*gaussian(sigma=3)'
status "an indefinite kernel" 1
has "an indefinite kernel: a way out" err 'repair'
run advise f.csv --max-memory 1M
status "too little memory" 1
has "too little memory: a way out" err 'rows'
run advise f.csv --map orf
status "an option of others" 2

summary
