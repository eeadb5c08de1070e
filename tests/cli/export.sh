#!/usr/bin/env bash
# export: models as C programs, compiled by gcc and clang for 64 and 32 bits, against krein predict row by row.
# shellcheck source=lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

compilers=()
for cc in gcc clang; do command -v $cc >/dev/null && compilers+=("$cc"); done
flags=(-std=c99 -Wall -Wextra -Werror -pedantic)

# A table with numbers, a heavy tail, missing cells and categories; label y (number) or c (three classes).
awk 'BEGIN {
    srand(5); split("red,green,blue", colour, ",")
    print "y,c,a,b,tail,colour,flag"
    for (i = 0; i < 330; i++) {
        a = 2 * rand() - 1; b = 10 + 3 * rand(); t = exp(4 * rand() * rand()); k = int(3 * rand()) + 1
        y = sin(3 * a) + (b - 11) * (k == 2) + log(t) / 3 + 0.1 * rand()
        printf "%.5f,%s,%s,%.4f,%.4f,%s,%d\n", y, y < 0.3 ? "low" : y < 1 ? "\"mid\"" : "high", i % 13 == 5 ? "" : sprintf("%.5f", a), b, t,
            i % 29 == 3 ? "" : colour[k], rand() < 0.3
    }
}' >table.csv
head -241 table.csv >train.csv
{ head -1 table.csv; tail -89 table.csv; } >test.csv

# The raw inputs of the test rows as the programs take them: categories by their number in the exported comment.
cat >inputs.py <<'EOF'
import csv, re
rows = list(csv.DictReader(open("test.csv")))
for line in open("models.txt"):
    number, columns = line.split()[0], line.split()[1].split(",")
    if columns[0] in ("wide", "middle"):
        with open(f"x{number}.csv", "w") as out:
            out.writelines(row.split(",", 1)[1] for row in open(columns[0] + ".test.csv"))
        continue
    codes = {}
    for text in open(f"f{number}.c").read().split("*/")[0].split("\n"):
        m = re.match(r" \*   x\[\d+\] (\w+): (.*)", text)
        if m:
            codes[m[1]] = {w: n for n, w in re.findall(r"(\d+) ([^,]+)", m[2])}
    with open(f"x{number}.csv", "w") as out:
        for row in rows:
            cells = [codes[c].get(row[c], "-1") if c in codes and row[c] else row[c] for c in columns]
            print(",".join(cells), file=out)
EOF

# Of all programs at once: scores against those of krein predict, in deviations of these, and the classes. A kernel
# value in codes may now and then have the next code; then ("codes") it is the mean square that counts.
cat >agree.py <<'EOF'
import json, math, sys
failed = 0
for line in open("models.txt"):
    number, _, tolerance, kind, name = line.split(None, 4)
    info = json.load(open(f"info{number}.json"))
    classes, k = info["classes"], info["outputs"]
    got = [row.split() for row in open(f"got{number}.txt")]
    want = [row.rstrip("\n").split("\t") if "\t" in row else row.rstrip("\n").split(",") for row in open(f"want{number}.txt")]
    tolerance = float(tolerance)
    scores = [[float(v) for v in row[-k:]] for row in want]
    flat = [v for row in scores for v in row]
    mean = sum(flat) / len(flat)
    unit = math.sqrt(sum((v - mean) ** 2 for v in flat) / len(flat))
    off = [abs(float(a) - b) / unit for g, w in zip(got, scores) for a, b in zip(g[1:], w)]
    worst = math.sqrt(sum(v * v for v in off) / len(off)) if kind == "codes" else max(off)
    bad = 0
    for g, w, row in zip(got, scores, want):
        if classes:
            near = sorted(w)[-1] - sorted(w)[-2] if k > 1 else abs(w[0])
            bad += classes[int(g[0])] != row[0].strip('"').replace('""', '"') and near > 4 * tolerance * unit
    if not (len(got) == len(want) > 0 and bad == 0 and worst <= tolerance):
        failed += 1
        print(f"{sys.argv[1]}: {name.strip()}: {len(got)} of {len(want)} rows, {bad} other classes, off by {worst:.2g} deviations")
sys.exit(failed > 0)
EOF

# Many columns, named in no program: transforms of 128 numbers, in two words of signs.
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 150; i++) {
        y = 0; line = ""
        for (j = 0; j < 70; j++) { x = 2 * rand() - 1; line = line sprintf(",%.4f", x); if (j % 9 == 0) y += sin(2 * x) }
        printf "%.4f%s\n", y, line
    }
}' >wide.csv
head -120 wide.csv >wide.train.csv
tail -30 wide.csv >wide.test.csv
# Fewer of them.
for part in train test; do cut -d, -f1-41 wide.$part.csv >middle.$part.csv; done

all=a,b,tail,colour,flag
number=0
: >models.txt
# Exports m.krein as program `number`. name, tolerance, kind, columns, options
program() {
    local name=$1 tolerance=$2 kind=$3 columns=$4
    shift 4
    number=$((number + 1))
    run export m.krein -o f$number.c --name f$number --header-file f$number.h "$@"
    ok "$name exports $*" || return
    "$KREIN" info m.krein --json >info$number.json
    "$KREIN" predict m.krein "$([[ -e $columns.test.csv ]] && echo "$columns.")test.csv" --scores -q >want$number.txt 2>err
    echo "$number $columns $tolerance $kind $name $*" >>models.txt
}

# A model and its program without math.h. name, tolerance, input columns; then the options of train
model() {
    local name=$1 tolerance=$2 columns=$3
    shift 3
    run train "$([[ -e $columns.train.csv ]] && echo "$columns.")train.csv" -q -o m.krein "$@"
    ok "$name trains" || return
    program "$name" "$tolerance" all "$columns" --no-libm
    lacks "$name without libm" f$number.c 'math\.h'
}

# The same model in a few bits. name, tolerance, kind, bits; input columns, if not all
small() {
    local data=(train.csv --label y --ignore c)
    [[ -z ${5:-} ]] || data=("$5.train.csv")
    run quantize full.krein --bits "$4" --data "${data[@]}" -o m.krein
    ok "$1 in $4 bits" || return
    program "$1 in $4 bits" "$2" "$3" "${5:-$all}" --no-libm
}

# One program of all: rows of x from files, the class and the scores of each.
dispatcher() {
    cat <<'EOF'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef int predictor(const float *x, float *scores);
static void rows(int number, int k, predictor *f) {
    static char line[65536], path[64];
    static float x[4096], scores[512];
    FILE *in, *out;
    sprintf(path, "x%d.csv", number);
    in = fopen(path, "r");
    sprintf(path, "got%d.txt", number);
    out = fopen(path, "w");
    if (!in || !out) exit(1);
    while (fgets(line, sizeof line, in)) {
        char *p = line, *end, *comma;
        int n, c;
        for (n = 0;; n++) {
            comma = strpbrk(p, ",\n");
            x[n] = (float)strtod(p, &end);
            if (end == p) x[n] = NAN;
            if (!comma || *comma == '\n') break;
            p = comma + 1;
        }
        fprintf(out, "%d", f(x, scores));
        for (c = 0; c < k; c++) fprintf(out, " %.9g", (double)scores[c]);
        fputc('\n', out);
    }
    fclose(in);
    fclose(out);
}
EOF
    while read -r n _; do echo "#include \"f$n.h\""; done <models.txt
    echo "int main(void) {"
    while read -r n _; do echo "    rows($n, F${n}_SCORES, f${n}_predict);"; done <models.txt
    echo "    return 0;"
    echo "}"
}

# Compiles every program and compares. name, command and options
compiled() {
    local name=$1
    shift
    rm -f got*.txt
    if ! "$@" "${flags[@]}" f[0-9]*.c main.c -o program -lm 2>compile.log; then
        fail "$name compiles" "$(head -3 compile.log)"
        return
    fi
    ./program
    if "$PYTHON" agree.py "$name"; then pass; else fail "$name agrees"; fi
}

if ((${#compilers[@]} == 0)); then
    skip "programs" "no compiler is here"
else
    # The core: a program of each kind, by every compiler.
    model "values, classes" 1e-4 $all --label c --ignore y -k gaussian -m exact
    program "values, classes" 1e-4 all $all
    model "drawn" 1e-4 $all --label y --ignore c -k "gaussian(sigma=2)*cauchy(sigma=3) + 0.5*laplacian(sigma=4)" -m "rff(D=128)"
    program "drawn with math.h" 1e-4 all $all
    has "drawn again" f$number.c 'philox'
    lacks "no frequencies" f$number.c 'float frequency\['
    program "stored" 1e-4 all $all --stored --no-libm
    has "stored" f$number.c 'float frequency\['
    model "drawn phases" 1e-4 $all --label y --ignore c -k gaussian -m "rff(D=64, phase=yes)"
    # Blocks that are drawn again: orthogonal by reflections, signs, swaps, normals, lengths; of one term and of several.
    model "drawn, orthogonal" 2e-5 $all --label y --ignore c -k "gaussian(sigma=2) + 0.5*matern(nu=0.5, sigma=4)*rq(alpha=3, sigma=3)" -m "orf(D=502)"
    has "reflections" f$number.c 'orthogonal\(UINT64_C'
    program "drawn, orthogonal, with math.h" 2e-5 all $all
    model "drawn gammas" 2e-5 $all --label y --ignore c -k "matern(nu=1.5, sigma=2)*gaussian(sigma=4) + exponential(sigma=3)" -m "rff(D=300)"
    has "gammas" f$number.c 'gamma_of\(UINT64_C'
    model "drawn signs" 2e-5 $all --label y --ignore c -k "gaussian(sigma=2)" -m "sorf(D=1502)"
    has "signs" f$number.c 'draw_signs\(UINT64_C'
    model "drawn signs of a sum" 2e-5 wide -k "gaussian(sigma=9) + 2*rq(sigma=5)" -m "sorf(D=1600)"
    has "signs" f$number.c 'draw_signs\(UINT64_C.*term'
    program "signs in bits" 2e-5 all wide --stored
    has "signs in bits" f$number.c 'give_signs\(factor'
    model "drawn swaps" 2e-5 $all --label y --ignore c -k "gaussian(sigma=2) + gaussian(sigma=5)*gaussian(sigma=6)" -m "fastfood(D=1030)"
    has "swaps" f$number.c 'below\(UINT64_C'
    has "lengths" f$number.c 'gamma_of\(UINT64_C'
    program "drawn swaps with math.h" 2e-5 all $all
    program "stored swaps" 2e-5 all $all --stored
    lacks "no frequencies" f$number.c 'float frequency\['
    model "layers" 1e-4 $all --label c --ignore y -k gaussian -m "deep(D=16, layers=3)"
    model "trained layers in 4 bits" 1e-5 $all --label c --ignore y -k gaussian --learner "deep(layers=2, width=9, bits=4, epochs=3)"
    for bits in 8 4 2 1; do
        model "layers in $bits bits, weights in float" 1e-5 $all --label c --ignore y -k gaussian -m "deep(D=18, layers=3, bits=$bits)"
    done
    run train train.csv -q -o full.krein --label y --ignore c -k gaussian -m "orf(D=46)"
    for bits in 8 4 2 1; do small "orf" 1e-6 all $bits; done
    # Products of few inputs, of more than 16 bits hold, and of many, whose codes lie otherwise; blocks of 64 and of 32 waves.
    for columns in middle wide; do
        run train $columns.train.csv -q -o full.krein -k gaussian -m "orf(D=$([[ $columns == wide ]] && echo 256 || echo 130))"
        for bits in 8 4 2 1; do small "orf on $columns rows" 1e-6 all $bits $columns; done
    done
    run train wide.train.csv -q -o full.krein -k gaussian -m "nystrom(D=33)" -l 1e-3
    small "landmarks of wide rows" 1e-2 codes 8 wide
    run train train.csv -q -o full.krein --label y --ignore c -k "gaussian(sigma=2) + 0.1*poly(degree=2)" -m "nystrom(D=30)" -l 1e-3
    for bits in 8 4 2 1; do small "landmarks" 1e-2 codes $bits; done
    run train train.csv -q -o m.krein --label c --ignore y -k "matern(nu=1.5, sigma=3)" -m "nystrom(D=20, bits=8)" -l 1e-3
    program "landmarks in codes, weights in float" 1e-2 codes $all
    run train train.csv -q -o full.krein --label y --ignore c -k linear -m "nystrom(D=12)" -l 1e-3
    small "landmarks of the linear kernel" 1e-2 codes 8
    "$PYTHON" inputs.py
    dispatcher >main.c
    # The text does not depend on how the program that wrote it was built: under a sanitizer one compiler is enough.
    for cc in "${compilers[@]}"; do
        for o in -O0 -O2; do
            [[ -n $SANITIZED && $cc$o != "${compilers[0]}-O0" ]] || compiled "$cc $o" "$cc" $o
        done
    done
    echo 'int main(void) { return sizeof(void *) != 4; }' >bits.c
    for cc in "${compilers[@]}"; do
        [[ -z $SANITIZED ]] || break
        if "$cc" -m32 bits.c -o bits 2>/dev/null && ./bits; then
            compiled "$cc -m32" "$cc" -m32 "$([[ $cc == gcc ]] && echo -O2 || echo -O0)"
        else
            skip "$cc for 32 bits" "$cc -m32 does not work here (package gcc-multilib)"
        fi
    done
    # The other maps, encodings and kernels, by one compiler.
    rm -f f[0-9]*.c
    : >models.txt
    model "default" 1e-4 $all --label y --ignore c
    program "default" 1e-4 all $all
    model "pairs of classes, full metric" 1e-3 $all --label c --ignore y --learner "svm(multi=ovo)" -k "gaussian(sigma=2)" --metric full
    model "nrff" 1e-4 $all --label y --ignore c -k "gaussian(sigma=2)" -m "nrff(D=64)"
    model "few structured frequencies" 1e-4 $all --label y --ignore c -k "gaussian(sigma=2)" -m "sorf(D=20)"
    model "circulant" 1e-4 $all --label y --ignore c -k "gaussian(sigma=2)" -m "scrf(D=64)"
    model "one column" 2e-5 a --label y --ignore c,b,tail,colour,flag -k "gaussian(sigma=2)" -m "orf(D=2000)"
    model "many columns, swaps" 2e-5 wide -k "gaussian(sigma=9)" -m "fastfood(D=700)"
    program "many columns, stored swaps" 2e-5 all wide --stored
    model "many columns, orthogonal" 2e-5 wide -k "gaussian(sigma=9)" -m "orf(D=100)"
    has "too many for reflections" f$number.c 'float frequency\['
    model "normals" 2e-5 wide -k "matern(nu=2.5, sigma=9)" -m "pmodel(D=2000, matrix=hadamard)"
    model "learned" 1e-4 $all --label c --ignore y --learner "askl(D=20, epochs=2)"
    model "two targets" 1e-4 b,tail,flag --targets 1 --label y --ignore c,a,colour -k linear
    model "logistic" 1e-4 $all --label c --ignore y --learner logistic -k "gaussian(sigma=2)" -m "rff(D=32)"
    model "unit rows, means of categories" 1e-4 $all --label y --ignore c --scale unit --categories target -k "poly(degree=2)" -m exact
    model "minmax, mean of missing cells" 1e-3 $all --label y --ignore c --scale minmax --missing mean -k "0.3*cauchy(sigma=1)*matern(nu=2.5, sigma=2) + chi2" -m "nystrom(D=30)"
    for kernel in "exponential(sigma=3)" "rq(sigma=2)" "periodic(p=4, sigma=2)" "tl1(rho=9)" "anova(sigma=2)" "intersection"; do
        scale=standard
        [[ $kernel == intersection ]] && scale=minmax
        run train train.csv -q -o m.krein --label y --ignore c -k "$kernel" -m "nystrom(D=20)" --scale $scale -l 1e-3
        program "$kernel" 1e-3 all $all --no-libm
    done
    "$PYTHON" inputs.py
    dispatcher >main.c
    compiled "${compilers[0]}, the others" "${compilers[0]}" "$([[ -n $SANITIZED ]] && echo -O0 || echo -O1)"
fi

# Sparse rows.
"$KREIN" generate checkers -n 300 -d 6 -o s.libsvm -q >/dev/null 2>&1 || "$KREIN" generate friedman -n 300 -o s.libsvm -q >/dev/null
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
run export m.krein -o no.c --header-file no.c
status "one file for both" 2
has "one file for both" err 'the same file'
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
