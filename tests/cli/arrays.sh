#!/usr/bin/env bash
# generate, transform, gram: files that others can read.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# npy NAME FILE TYPE SHAPE [EXPR of v, the values as nested lists]
npy() {
    local answer
    answer=$("$PYTHON" - "${@:2}" 2>&1 <<'PY'
import ast, struct, sys
file, kind, shape = sys.argv[1:4]
b = open(file, "rb").read()
assert b[:8] == b"\x93NUMPY\x01\x00", b[:8]
n = struct.unpack("<H", b[8:10])[0]
h = ast.literal_eval(b[10:10 + n].decode())
assert (10 + n) % 64 == 0 and not h["fortran_order"], h
assert h["descr"] == kind and h["shape"] == ast.literal_eval(shape), h
s = h["shape"]
count = 1
for k in s: count *= k
v = struct.unpack("<%d%s" % (count, {"<f4": "f", "<f8": "d", "|i1": "b"}[kind]), b[10 + n:])
if len(s) == 2: v = [v[i * s[1]:(i + 1) * s[1]] for i in range(s[0])]
assert len(sys.argv) < 5 or eval(sys.argv[4]), "%s does not hold" % sys.argv[4]
PY
    ) && pass || fail "$1" "$(tail -n 1 <<<"$answer")"
}

# ---- generate ----
run generate arm -n 50 -o arm.csv
ok generate
has "header" arm.csv '^y,x1,x2,'
d=$(($(head -n 1 arm.csv | tr ',' '\n' | wc -l) - 1))
run generate arm -n 50 -o arm.npy
npy "generate .npy" arm.npy '<f4' "(50, $((d + 1)))"
run generate arm -n 50 -o arm.libsvm
has "generate .libsvm" arm.libsvm '^-?[0-9.e-]+ 1:'
run generate arm -n 50 -o arm.csv.gz
is "generate .csv.gz" "$(cat arm.csv)" "$(zcat arm.csv.gz)"
run generate arm -n 50 -o -
is "generate -o -" "$(cat arm.csv)" "$(cat out)"
run generate friedman -n 20 -d 7 --noise 0 -o f.csv
is "-d" 8 "$(head -n 1 f.csv | tr ',' '\n' | wc -l)"
run generate arm -n 50 -j 2 -o j2.csv
is "threads" "$(cat arm.csv)" "$(cat j2.csv)"
run generate arm -n 50 -o g.csv --json
json "generate --json" 'j["command"] == "generate" and j["n"] == 50 and j["output"] == "g.csv"'
"$KREIN" list generators >names
while read -r name _; do
    run generate "$name" -n 20 -o "of-$name.csv"
    ok "generate $name"
done <names

# The formats carry the same data (LIBSVM is sparse and is not centred by default).
values() { # FILE: kernel values of its rows, unscaled
    "$KREIN" gram "$1" -q --scale none -k 'gaussian(sigma=2)' -o g.npy >/dev/null && cksum <g.npy
}
want=$(values arm.csv)
for format in npy libsvm csv.gz; do is "arm.$format is arm.csv" "$want" "$(values arm.$format)"; done

# ---- transform ----
run transform arm.csv -k 'gaussian(sigma=2)' -m 'orf(D=16)' -o z.npy
ok transform
has "transform says" out '^features +16'
npy "transform" z.npy '<f4' '(50, 16)' 'all(abs(x) <= 1 for r in v for x in r)'
run transform arm.csv -D 32 -o z.npy --json
ok "transform --json"
json "transform --json" 'j["command"] == "transform" and j["n"] == 50 and j["D"] == 32 and j["output"] == "z.npy" and "sigma=" in j["kernel"]'
npy "transform -D" z.npy '<f4' '(50, 32)'
run transform arm.csv -k 'gaussian(sigma=1) - gaussian(sigma=10)' -m 'rff(D=32)' -o mixed.npy --json
if ((rc == 0)); then
    npy "signs" mixed.sign.npy '|i1' '(32,)' 'set(v) == {-1, 1}'
    json "negative" 'j["negative"] == 16'
else
    ok "a mixed kernel"
fi

# ---- gram ----
printf 'a,b\n0,0\n3,4\n1,0\n' >three.csv
printf 'a,b\n0,0\n6,8\n' >two.csv
run gram three.csv --label none --scale none -k 'gaussian(sigma=5)' -o K.npy
ok gram
npy "gram" K.npy '<f8' '(3, 3)' 'abs(v[0][1] - 2.718281828459045 ** -0.5) < 1e-6 and v[0][1] == v[1][0] and v[2][2] == 1'
run gram three.csv two.csv --label none --scale none -k 'gaussian(sigma=5)' -o K2.npy --json
ok "gram DATA DATA2"
npy "gram DATA DATA2" K2.npy '<f8' '(3, 2)' 'v[0][0] == 1 and abs(v[1][1] - 2.718281828459045 ** -0.5) < 1e-6'
json "gram --json" 'j["command"] == "gram" and j["n"] == 3 and j["n2"] == 2'
run gram three.csv --label none -o K3.npy
ok "gram with a free sigma"
has "a free sigma is chosen" out 'sigma='
run gram missing.csv -o K4.npy
status "no data" 1
[[ ! -e K4.npy ]] && pass || fail "nothing is written without data"
no_leftovers arrays
summary
