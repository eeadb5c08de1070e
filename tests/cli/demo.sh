#!/usr/bin/env bash
# The demo to its end, on fewer rows than it has: what it shows is what it did.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if [[ $SANITIZED ]]; then
    skip demo "too slow under a sanitizer"
    summary
fi
mkdir tmp
export TMPDIR=$work/tmp
KREIN_TEST_DEMO=25 run demo
ok demo
for line in 'generate arm -n 1600' 'train arm.csv' 'train .*-k linear' 'train few.csv' 'train spiral.csv'; do
    has "demo shows $line" out "^\\$ krein $line"
done
has "demo: a table" out 'test RMSE'
rmse() { awk -v what="$1" 'index($0, what) && $NF == "s" { print $(NF - 2) }' out; }
if awk -v a="$(rmse 'krein train, no options')" -v b="$(rmse 'linear model')" -v c="$(rmse 'exact kernel')" \
    'BEGIN { exit !(a > 0 && a < c && c < b) }'; then
    pass
else
    fail "demo: no options beats fewer rows beats linear" "$(grep -A4 'test RMSE' out)"
fi
# In the picture, crosses stand on dots' side: the neighbours of a cross are mostly dots.
if "$PYTHON" - <<'PY'; then pass; else fail "demo: the picture agrees with the points"; fi
rows = [l.rstrip("\n") for l in open("out") if l.startswith("    ") and set(l.strip()) <= set(" .xo") and l.strip()]
good = bad = 0
for r in rows:
    for i, c in enumerate(r):
        if c in "xo":
            for k in (i - 1, i + 1):
                if 4 <= k < len(r) and r[k] in " .":
                    if (r[k] == ".") == (c == "x"): good += 1
                    else: bad += 1
assert len(rows) > 15 and good > 4 * bad, (len(rows), good, bad)
PY
lacks "demo: no colours in a file" out $'\033'
is "demo: nothing left" "" "$(ls tmp)"
summary
