#!/usr/bin/env bash
# export: models as C programs, compiled by gcc and clang, against krein predict row by row.
# shellcheck source=lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cat >main.c <<'EOF'
/* Rows of numbers from standard input, empty cells are NaN: the class and the scores of each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int PREDICT(const float *x, float *scores);
int main(int argc, char **argv) {
    static char line[65536];
    static float x[4096], scores[512];
    int k = atoi(argv[argc - 1]), n, c;
    while (fgets(line, sizeof line, stdin)) {
        char *p = line, *end, *comma;
        for (n = 0;; n++) {
            comma = strpbrk(p, ",\n");
            x[n] = (float)strtod(p, &end);
            if (end == p) x[n] = NAN;
            if (!comma || *comma == '\n') break;
            p = comma + 1;
        }
        printf("%d", PREDICT(x, scores));
        for (c = 0; c < k; c++) printf(" %.9g", (double)scores[c]);
        putchar('\n');
    }
    return 0;
}
EOF

compilers=()
for cc in gcc clang; do command -v $cc >/dev/null && compilers+=("$cc"); done
flags=(-std=c99 -Wall -Wextra -Werror -pedantic)

# A table with numbers, a heavy tail, missing cells and categories; label y (number) or c (three classes).
awk 'BEGIN {
    srand(5); split("red,green,blue", colour, ",")
    print "y,c,a,b,tail,colour,flag"
    for (i = 0; i < 700; i++) {
        a = 2 * rand() - 1; b = 10 + 3 * rand(); t = exp(4 * rand() * rand()); k = int(3 * rand()) + 1
        y = sin(3 * a) + (b - 11) * (k == 2) + log(t) / 3 + 0.1 * rand()
        printf "%.5f,%s,%s,%.4f,%.4f,%s,%d\n", y, y < 0.3 ? "low" : y < 1 ? "\"mid\"" : "high", i % 13 == 5 ? "" : sprintf("%.5f", a), b, t,
            i % 29 == 3 ? "" : colour[k], rand() < 0.3
    }
}' >table.csv
head -501 table.csv >train.csv
{ head -1 table.csv; tail -199 table.csv; } >test.csv

# The raw inputs of the test rows as the program takes them: categories by their number in the exported comment.
inputs() { # C file, columns of the CSV that are inputs
    "$PYTHON" - "$1" "$2" <<'EOF'
import csv, re, sys
text = open(sys.argv[1]).read()
codes = {}
for line in text.split("*/")[0].split("\n"):
    m = re.match(r" \*   x\[\d+\] (\w+): (.*)", line)
    if m:
        codes[m[1]] = {w: n for n, w in re.findall(r"(\d+) ([^,]+)", m[2])}
for row in csv.DictReader(open("test.csv")):
    cells = [row[c] for c in sys.argv[2].split(",")]
    print(",".join(codes[c].get(v, "-1") if c in codes and v else v for c, v in zip(sys.argv[2].split(","), cells)))
EOF
}

# Compares the program's scores with those of krein predict, and the classes. name, tolerance in deviations of the scores
agree() {
    "$PYTHON" - "$1" "$2" <<'EOF'
import json, math, sys
name, tolerance = sys.argv[1], float(sys.argv[2])
classes = json.load(open("info.json"))["classes"]
bad, worst = 0, 0.0
got = [line.split() for line in open("got.txt")]
want = [line.rstrip("\n").split("\t") if "\t" in line else line.rstrip("\n").split(",") for line in open("want.txt")]
k = len(got[0]) - 1
scores = [[float(v) for v in row[-k:]] for row in want]
flat = [v for row in scores for v in row]
mean = sum(flat) / len(flat)
unit = math.sqrt(sum((v - mean) ** 2 for v in flat) / len(flat))
for g, w, row in zip(got, scores, want):
    worst = max([worst] + [abs(float(a) - b) / unit for a, b in zip(g[1:], w)])
    if classes:
        near = k > 1 and sorted(w)[-1] - sorted(w)[-2] < 4 * tolerance * unit or k == 1 and abs(w[0]) < 4 * tolerance * unit
        bad += classes[int(g[0])] != row[0].strip('"').replace('""', '"') and not near
same = len(got) == len(want) and bad == 0 and worst <= tolerance
if not same:
    print(f"{name}: {len(got)} of {len(want)} rows, {bad} other classes, off by {worst:.2g} deviations")
sys.exit(not same)
EOF
}

# name, tolerance, input columns; then the options of train
model() {
    local name=$1 tolerance=$2 columns=$3 cc o program
    shift 3
    run train train.csv -q -o m.krein "$@"
    ok "$name trains" || return
    "$KREIN" info m.krein --json >info.json
    local k
    k=$("$PYTHON" -c 'import json; print(json.load(open("info.json"))["outputs"])')
    "$KREIN" predict m.krein test.csv --scores -q >want.txt 2>err
    for libm in "" --no-libm; do
        run export m.krein -o m.c $libm --name f --header-file f.h
        ok "$name exports $libm" || return
        if [[ -n $libm ]]; then lacks "$name without libm" m.c 'math\.h'; fi
        inputs m.c "$columns" >x.csv
        for cc in "${compilers[@]}"; do
            for o in $levels; do
                if ! "$cc" "${flags[@]}" $o -c m.c -o m.o 2>compile.log; then
                    fail "$name: $cc $o $libm" "$(head -3 compile.log)"
                    continue
                fi
                "$cc" -DPREDICT=f_predict main.c m.o -o program -lm 2>>compile.log
                ./program "$k" <x.csv >got.txt
                if agree "$name $cc $o $libm" "$tolerance"; then pass; else fail "$name: $cc $o $libm"; fi
            done
        done
    done
}

if ((${#compilers[@]} == 0)); then
    skip "programs" "no compiler is here"
else
    levels="-O0 -O2"
    model "default, classes" 1e-4 a,b,tail,colour,flag --label c --ignore y
    levels=-O2
    ((${#compilers[@]} > 1)) && compilers=(gcc)
    model "default, numbers" 1e-4 a,b,tail,colour,flag --label y --ignore c
    model "full metric" 1e-4 a,b,tail,colour,flag --label y --ignore c --metric full
    model "pairs of classes" 1e-3 a,b,tail,colour,flag --label c --ignore y --learner "svm(multi=ovo)" -k gaussian
    model "orf" 1e-4 a,b,tail,colour,flag --label c --ignore y -k gaussian -m "orf(D=128)"
    model "phases" 1e-4 a,b,tail,colour,flag --label y --ignore c -k "gaussian + 0.5*laplacian(sigma=4)" -m "rff(D=128, phase=yes)"
    model "nrff" 1e-4 a,b,tail,colour,flag --label y --ignore c -k gaussian -m "nrff(D=128)"
    model "structured" 1e-4 a,b,tail,colour,flag --label y --ignore c -k gaussian -m "sorf(D=64)"
    model "learned" 1e-4 a,b,tail,colour,flag --label c --ignore y --learner "askl(D=40, epochs=5)"
    model "two targets" 1e-4 b,tail,flag --targets 1 --label y --ignore c,a,colour -k linear
    model "logistic" 1e-4 a,b,tail,colour,flag --label c --ignore y --learner logistic -k gaussian -m "rff(D=64)"
    model "unit rows, means of categories" 1e-4 a,b,tail,colour,flag --label y --ignore c --scale unit --categories target -k "poly(degree=2)" -m exact
    model "minmax, mean of missing cells" 1e-3 a,b,tail,colour,flag --label y --ignore c --scale minmax --missing mean -k "0.3*cauchy(sigma=1)*matern(nu=2.5, sigma=2) + chi2" -m "nystrom(D=60)"
    for kernel in "exponential(sigma=3)" "rq(sigma=2)" "periodic(p=4, sigma=2)" "tl1(rho=9)" "anova(sigma=2)" "intersection" "matern(nu=1.5, sigma=3)"; do
        scale=standard
        [[ $kernel == intersection ]] && scale=minmax
        model "$kernel" 1e-3 a,b,tail,colour,flag --label y --ignore c -k "$kernel" -m "nystrom(D=40)" --scale $scale -l 1e-3
    done

    run export m.krein -o m.c --name f --header-file f.h
    printf '#include "f.h"\nint main(void) { float x[F_INPUTS] = {0}, s[F_SCORES]; return f_predict(x, s); }\n' >use.c
    if gcc "${flags[@]}" -c use.c -o use.o 2>compile.log; then pass; else fail "header" "$(head -3 compile.log)"; fi
    if echo 'int main(void) { return sizeof(void *) != 4; }' >bits.c && gcc -m32 bits.c -o bits 2>/dev/null && ./bits; then
        gcc -m32 "${flags[@]}" -O2 -c m.c -o m.o && gcc -m32 -DPREDICT=f_predict main.c m.o -o program -lm
        ./program 1 <x.csv >got.txt
        if agree "32 bits" 1e-3; then pass; else fail "32 bits"; fi
    else
        skip "32 bits" "gcc -m32 does not work here (package gcc-multilib)"
    fi
fi

# Sparse rows.
"$KREIN" generate checkers -n 300 -d 6 -o s.libsvm -q 2>/dev/null || "$KREIN" generate friedman -n 300 -o s.libsvm -q
run train s.libsvm -q -o s.krein -k gaussian -m "rff(D=50)"
ok "sparse rows train"
run export s.krein -o s.c
ok "sparse rows export"

# What cannot be.
run train train.csv -q -o m.krein --label y --ignore c -k "arccos(order=1)" -m "arccos(D=40)"
run export m.krein -o no.c
status "map without a program" 1
has "says what can" err 'cannot be written as a C program.*nystrom'
[[ -e no.c ]] && fail "no file is left" || pass
run train train.csv -q -o m.krein --label y --ignore c -k gaussian -m "rff(D=20)"
for name in 3d "a b" while ""; do
    run export m.krein -o no.c --name "$name"
    [[ $rc != 0 ]] && pass || fail "name '$name' is refused"
done
has "name" err 'no name for a function|needs'
run export m.krein
status "no output" 2
run export train.csv -o no.c
status "no model" 1
run export m.krein -o m.krein
status "onto the model itself" 2
run train train.csv -q -o m.krein --label y --ignore c --categories hash -k gaussian -m "rff(D=20)"
run export m.krein -o no.c
status "hashed texts" 1
has "which column" err 'colour is encoded by a hash'
run export s.krein -o s.c --json
ok "json"
json "sizes" 'j["bytes"] > 0 and j["stack"] > 0 and j["command"] == "export"'

# Names that a comment of C must not hold: its end, another beginning, trigraphs that join lines.
{
    printf 'y,a*/,b\xc3\xa9/,c??/,//*d\n'
    tail -n +2 train.csv | awk -F, '{ printf "%s,%d,%s,%s,%s\n", $2 == "low" ? "n??/" : "m\xc3\xa9/", NR % 7, $4, $5, NR % 2 ? "u*/" : "v??/" }'
} >odd.csv
run train odd.csv -q -o odd.krein --label y -k gaussian -m "rff(D=20)"
ok "odd names"
run export odd.krein -o odd.c
ok "odd names exported"
for cc in "${compilers[@]}"; do
    if "$cc" "${flags[@]}" -c odd.c -o odd.o 2>err; then pass; else fail "odd names: $cc $(cat err)"; fi
done

summary
