#!/usr/bin/env bash
# approx, gram --check and --repair.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# compute NAME EXPR: Python with load(file.npy) as nested lists
compute() {
    local answer
    answer=$("$PYTHON" - "$2" 2>&1 <<'PY'
import ast, json, struct, sys
def load(file):
    b = open(file, "rb").read()
    n = struct.unpack("<H", b[8:10])[0]
    h = ast.literal_eval(b[10:10 + n].decode())
    s = h["shape"]
    count = 1
    for k in s: count *= k
    v = struct.unpack("<%d%s" % (count, {"<f4": "f", "<f8": "d", "|i1": "b"}[h["descr"]]), b[10 + n:])
    return [v[i * s[1]:(i + 1) * s[1]] for i in range(s[0])] if len(s) == 2 else v
def error(z, k, sign=None):
    n, D = len(z), len(z[0])
    sign = sign or [1] * D
    top = bottom = worst = 0
    for i in range(n):
        for j in range(n):
            e = sum(sign[f] * z[i][f] * z[j][f] for f in range(D)) - k[i][j]
            top, bottom, worst = top + e * e, bottom + k[i][j] ** 2, max(worst, abs(e))
    return (top / bottom) ** 0.5, worst
def result(): return json.load(open("out"))["results"]
ok = eval(sys.argv[1])
assert ok, "%s does not hold" % sys.argv[1]
PY
    ) && pass || fail "$1" "$(tail -n 1 <<<"$answer")"
}

"$KREIN" generate arm -n 24 -d 3 -o small.csv >/dev/null
"$KREIN" generate arm -n 400 -o arm.csv >/dev/null

# ---- the number is the definition ----
for case in 'gaussian(sigma=1.5)' 'gaussian(sigma=1) - 0.5*gaussian(sigma=3)'; do
    "$KREIN" gram small.csv -k "$case" -o K.npy >/dev/null
    rm -f z.sign.npy
    "$KREIN" transform small.csv -k "$case" -m rff -D 8 -o z.npy >/dev/null
    run approx small.csv -k "$case" -m rff --features 8 --rows 24 --repeat 1 --json
    ok "approx $case"
    sign=$([[ -e z.sign.npy ]] && echo 'load("z.sign.npy")' || echo None)
    compute "approx against gram and transform, $case" \
        "abs(result()[0]['error_mean'] / error(load('z.npy'), load('K.npy'), $sign)[0] - 1) < 1e-5"
    compute "worst entry, $case" \
        "abs(result()[0]['worst'] / error(load('z.npy'), load('K.npy'), $sign)[1] - 1) < 1e-4"
    compute "one repeat has no deviation" "result()[0]['error_sd'] is None"
done

# ---- the comparison ----
run approx arm.csv -k 'gaussian(sigma=3)' -m rff -m 'orf(D=64)' --map=nystrom -D 16,64 --rows 200 --repeat 4 --plot p.svg --json
ok approx
json "approx --json" 'j["command"] == "approx" and [(r["map"].split("(")[0], r["D"]) for r in j["results"]] == [("rff", 16), ("rff", 64), ("orf", 64), ("nystrom", 16), ("nystrom", 64)]'
json "approx numbers" 'all(0 < r["error_mean"] < 2 and r["error_sd"] > 0 and r["worst"] > 0 and r["seconds"] > 0 and r["refused"] is None for r in j["results"])'
json "more features, less error" 'j["results"][1]["error_mean"] < j["results"][0]["error_mean"] and j["results"][4]["error_mean"] < j["results"][3]["error_mean"]'
json "orf is better than rff" 'j["results"][2]["error_mean"] < j["results"][1]["error_mean"]'
"$PYTHON" -c 'import xml.etree.ElementTree as t; r = t.parse("p.svg").getroot(); assert r.tag.endswith("svg") and sum(e.tag.endswith("use") for e in r.iter()) == 2 * 5 + 3' 2>/dev/null
is "the plot is XML with a marker for each point" 0 $?
run approx arm.csv -k 'gaussian(sigma=3)' -m rff -D 16 --rows 50 --repeat 2 --seed 7 --json
cp out first
run approx arm.csv -k 'gaussian(sigma=3)' -m rff -D 16 --rows 50 --repeat 2 --seed 7 --json --threads 1
errors='[(r["error_mean"], r["error_sd"], r["worst"]) for r in json.load(open(F))["results"]]'
compute "approx does not depend on threads" "${errors/F/\"first\"} == ${errors/F/\"out\"}"
run approx arm.csv -m rff -D 16 --rows 50 --repeat 2
ok "approx as text"
has "approx table" out '^rff\(D=16.* 16 '
has "approx says its sigma" err 'median distance'
run approx arm.csv -k laplacian -m rff -m 'rff(D=1)' -m 'nystrom(D=1)' --features 8 --rows 20 --repeat 2
ok "a size that one map refuses or not does not end the comparison"

# ---- wrong calls ----
run approx arm.csv -D 16
status "approx without a map" 2
has "approx without a map says how" err '\-m'
run approx arm.csv -m rff
status "approx without a size" 2
has "approx without a size says how" err '\-\-features'
run approx arm.csv -m rff -D 16,x
status "approx with a word for a number" 2
run approx arm.csv -m rff -D 16,,32
status "approx with an empty number" 2
run approx arm.csv -m rff -D 0
status "approx with no features" 2
run approx arm.csv -m rfff -D 16
status "approx with an unknown map" 2
has "approx names the nearest map" err 'rff'
run approx arm.csv -k linear -m orf -D 16
status "approx with a map that is not for the kernel" 2
run approx arm.csv -m exact
status "approx with the exact map" 2
run approx arm.csv -m rff -D 16 --rows 1
status "approx with one row" 2
run approx arm.csv -m rff -D 16 --repeat 0
status "approx without repeats" 2
run approx arm.csv -m rff -D 16 --rows 300 --max-exact 200
status "approx above --max-exact" 2
run approx missing.csv -m rff -D 16
status "approx without data" 1
run approx arm.csv -m rff -D 16 --plot nowhere/p.svg
status "approx with a plot that cannot be written" 1
cp arm.csv arm.svg
run approx arm.svg --format csv -m rff -D 16 --plot arm.svg
status "approx over its data" 2
has "approx over its data: why" err 'is read and would be overwritten'
for name in p.png svg -; do
    run approx missing.csv -m rff -D 16 --plot $name
    status "approx --plot $name" 2
    has "approx --plot $name: why" err 'in \.svg'
done

# ---- gram --check ----
printf 'a\n0\n1\n3\n' >three.csv
run gram three.csv --label none --scale none -k 'gaussian(sigma=1)' --check --json
ok "gram --check"
json "a positive matrix" 'j["check"]["asymmetry"] == 0 and j["check"]["negative"] == 0 and j["check"]["negative_mass"] == 0 and 0 < j["check"]["eigenvalue_min"] < 1 < j["check"]["eigenvalue_max"] and j["output"] is None'
# gaussian - gaussian has a zero diagonal: the eigenvalues sum to zero
run gram three.csv --label none --scale none -k 'gaussian(sigma=1) - gaussian(sigma=10)' --check --json -o K.npy
json "an indefinite matrix" 'j["check"]["negative"] >= 1 and abs(j["check"]["negative_mass"] - 0.5) < 1e-9 and j["check"]["eigenvalue_min"] < 0'
cp K.npy raw.npy
run gram three.csv --label none --scale none -k 'gaussian(sigma=1) - gaussian(sigma=10)' --check
has "gram --check as text" out 'indefinite'
for how in clip flip shift; do
    run gram three.csv --label none --scale none -k 'gaussian(sigma=1) - gaussian(sigma=10)' --repair $how -o K.npy
    ok "gram --repair $how"
    compute "$how is symmetric" 'all(load("K.npy")[i][j] == load("K.npy")[j][i] for i in range(3) for j in range(3))'
    # principal minors of a positive semi-definite matrix are not negative
    compute "$how is positive" '(lambda k: k[0][0] >= 0 and k[1][1] >= 0 and k[0][0] * k[1][1] - k[0][1] ** 2 > -1e-12 and k[0][0] * (k[1][1] * k[2][2] - k[1][2] ** 2) - k[0][1] * (k[0][1] * k[2][2] - k[1][2] * k[0][2]) + k[0][2] * (k[0][1] * k[1][2] - k[1][1] * k[0][2]) > -1e-12)(load("K.npy"))'
done
compute "shift changes the diagonal only" 'all(abs(load("K.npy")[i][j] - load("raw.npy")[i][j]) < 1e-12 for i in range(3) for j in range(3) if i != j)'
run gram three.csv --label none --repair clip
status "gram --repair without -o" 2
run gram three.csv three.csv --label none --check
status "gram --check of two files" 2
run gram three.csv --label none --check --max-exact 2
status "gram --check above --max-exact" 2
run gram three.csv --label none --repair mend -o K.npy
status "an unknown repair" 2

# ---- what a map tells of itself ----
"$KREIN" train arm.csv --scale unit -k epanechnikov -m 'gorf(D=64)' -o gorf.krein >/dev/null
run info gorf.krein
ok "info of a signed measure"
has "info: mass of the negative part" out '^mass- +[0-9.]+'
has "info: route" out '^route +atoms'
run info gorf.krein --json
json "info --json: facts" 'j["facts"]["route"] == "atoms" and j["facts"]["mass+"] > 0 and 0 <= j["facts"]["max error"] < 0.1 and j["facts"]["R"] == 2'

has "info --json: whether there are two measures" out '"decomposition": ?"finite masses up to R"'
run approx arm.csv --scale unit -k epanechnikov -m 'gorf(D=64)' -m nystrom -D 32 --repeat 2 --json
json "approx --json: facts" 'j["results"][0]["facts"]["mass+"] > 0 and j["results"][0]["facts"]["decomposition"] == "finite masses up to R"'
run approx arm.csv --scale unit -k epanechnikov -m 'gorf(D=64)' --repeat 2
has "approx: facts under the table" out '^gorf\(D=64.*: route atoms,.* decomposition finite masses up to R$'
run transform arm.csv --scale unit -k epanechnikov -m 'gorf(D=64)' -v -o gorf.npy
has "transform -v: facts" err 'gorf: route atoms,.* mass- .* decomposition finite masses up to R'
run approx arm.csv --scale unit -k 'epanechnikov(a=0.1, m=0)' -m 'gorf(D=64)'
status "approx: infinite mass" 1
has "approx: infinite mass, why" err 'infinite mass on [0-9]+ columns.*try nystrom'
run approx arm.csv -k 'gaussian(sigma=3)' -m nystrom -D 100000 --repeat 4
ok "approx: more landmarks than rows"
is "approx: said once" "$(grep -c 'landmarks asked for' err)" 1
run train arm.csv -k 'gaussian(sigma=50)' -m 'nystrom(D=100)' -o nystrom.krein
made=$(sed -n 's/^features  *//p' out)
has "train: features that were made" err "nystrom: 100 landmarks give $made features"
run info nystrom.krein
has "info: as many" out "^features +$made$"
has "info: landmarks" out '^landmarks +100$'

# ---- list ----
run list maps
has "list maps shows families, cost and reference" out 'kernels: radial; time: n d D; yu2016'
run list maps --json
json "list maps --json" 'all(e["kernels"] and e["time"] for e in j["entries"])'

summary
