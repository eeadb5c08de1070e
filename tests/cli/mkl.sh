#!/usr/bin/env bash
# Several kernels in one model: what help says, the weights as text and as JSON, refusals.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
n=200
[[ $SANITIZED ]] && n=100
family='gaussian(sigma=0.25..4:5)'
methods='average easymkl pwmk alignment centered lp mcmkl conv smsd ufo nsmkl'

"$KREIN" generate blobs -n $n -o blobs.csv >/dev/null || fail "generate"
"$KREIN" generate friedman -n $n -o numbers.csv >/dev/null
"$KREIN" generate moons -n $n -o two.csv >/dev/null

# ---- help, list, completion ----
run help mkl
ok "help mkl"
has "help mkl: what it is" out '^mkl \(learner\)'
is "help mkl fits in 80 columns" "" "$(awk 'length > 80' out)"
tr -d '\n' <out | tr -s ' ' >flat
has "help mkl: the weighings" flat 'one of the weighings'
for option in method base C; do has "help mkl: option $option" out "^    $option  "; done
run list weighings
for method in $methods; do has "list weighings: $method" out "^$method  "; done
for pair in easymkl:lambda pwmk:delta lp:p conv:theta smsd:beta ufo:alpha nsmkl:count; do
    run help ${pair%:*}
    for option in normalize split ${pair#*:}; do
        has "help ${pair%:*}: option $option" out "^    $option  "
    done
done
run list learners
has "list learners" out '^mkl  '
run list --json
json "list --json" '[e["name"] for e in j["entries"] if e["table"] == "weighings"] == "average easymkl pwmk alignment centered lp mcmkl conv smsd ufo nsmkl".split()'
run help train
has "help train: --kernels" out '--kernels LIST .*mkl'
has "help train: an example" out 'learner mkl --kernels'
run help --man
has "man: an example" out 'learner mkl'
run completion bash
has "completion" out 'train:--learner\).* mkl'

# ---- one kernel in a model: nothing of weights ----
run train two.csv -k 'gaussian(sigma=1)' -o one.krein --json
ok "one kernel"
json "one kernel: no weights" 'j["weights"] is None'
run info one.krein --json
json "one kernel: info" 'j["weights"] is None and j["kernel"] == "gaussian(sigma=1)"'
run info one.krein
has "one kernel: as text" out '^kernel +gaussian\(sigma=1\)$'

# ---- wrong calls ----
for spec in 'mkl(method=best)' 'mkl(base=svr)' 'mkl(lambda=0)' 'mkl(lambda=2)' 'mkl(delta=-1)' 'mkl(method=lp, p=0.5)' 'mkl(method=average, lambda=0.5)' 'mkl(p=2)' 'mkl(alpha=0)' 'mkl(beta=-1)' 'mkl(epochs=0)' 'mkl(count=0)' 'mkl(theta=-1)' 'mkl(C=0)' 'mkl(split=half)' 'mkl(kernels=3)'; do
    run train two.csv --learner "$spec" --kernels "$family" -o m.krein
    status "$spec" 2
done

# ---- training ----
# The weights of the last run are M numbers >= 0 that sum to one, in the order of the list.
weights() { # name M
    json "$1: weights" "(lambda w: len(w) == $2 and all(set(e) == {'kernel', 'weight'} for e in w) and all(e['weight'] >= 0 for e in w) and abs(sum(e['weight'] for e in w) - 1) < 1e-9)(j['weights'])"
}
# Machines on features: below, with wide kernels.
for how in krr,--map=exact krr,--features=240 svm,--map=exact; do
    for method in $methods; do
        name="$method, $how"
        run train two.csv --learner "mkl(method=$method, base=${how%,*})" --kernels "$family; linear" "${how#*,}" -o m.krein --json
        ok "$name"
        cp out trained
        run info m.krein --json
        weights "$name" 6
        json "$name: the model has the same" 'j["weights"] == json.load(open("trained"))["weights"]'
    done
done
run train blobs.csv --learner mkl --kernels "$family" -o m.krein --json
weights "more classes" 5
for method in average alignment centered lp conv; do
    run train numbers.csv --learner "mkl(method=$method)" --kernels "$family" -o m.krein --json
    ok "numbers, $method"
    weights "numbers, $method" 5
done
for method in easymkl pwmk smsd ufo; do
    run train numbers.csv --learner "mkl(method=$method)" --kernels "$family" -o m.krein
    [[ $rc == 1 || $rc == 2 ]] && pass || fail "numbers, $method" "$(why)"
    has "numbers, $method: why" err 'classes|classification'
done

# ---- as text ----
run train two.csv --learner 'mkl(method=average)' --kernels "$family; linear" -o m.krein
ok "as text"
has "as text: how many" out '^kernel +sum of 6 kernels'
has "as text: a bar" out '^  gaussian\(sigma=0\.25\) +0\.1667  #{30}$'
is "as text: a line each" 6 "$(grep -cE '^  .* 0\.1667  #+$' out)"
LC_ALL=C.UTF-8 "$KREIN" info m.krein >out
has "as text: blocks where there is UTF-8" out '0\.1667  █'
"$KREIN" info m.krein >out
has "info: plain elsewhere" out '^  linear +0\.1667  #+$'
run train two.csv --learner 'mkl(method=average)' --kernels 'gaussian(sigma=0.01..10:60)' -D 480 -o m.krein
ok "many kernels"
is "many kernels: forty lines" 40 "$(grep -cE '^  gaussian' out)"
has "many kernels: the others" out '^  and 20 more, together 0\.3333$'
is "many kernels: no long line" "" "$(grep -E '^(kernel|  )' out | awk 'length > 80')"

# ---- candidates: the sum, the average, each kernel; what is better by more than chance is named ----
"$KREIN" generate friedman -n 300 -o better.csv >/dev/null
run train better.csv --learner mkl --kernels 'gaussian(sigma=0.1..10:5)' -o m.krein --json
ok "candidates"
json "candidates: the sum first" 'j["candidates"][0]["learner"].startswith("mkl(method=alignment, base=krr") and j["candidates"][0]["kernel"].count(";") == 4'
json "candidates: the average" 'j["candidates"][1]["learner"].startswith("mkl(method=average, base=krr")'
json "candidates: each kernel" 'sorted(c["kernel"] for c in j["candidates"][2:]) == sorted(w["kernel"] for w in j["weights"])'
json "candidates: errors" 'all(c["error"] > 0 and c["rows"] == 300 and c["map"] == "exact" for c in j["candidates"])'
json "candidates: one is the best" 'min(j["candidates"], key=lambda c: c["error"])["kernel"] == "gaussian(sigma=10)"'
has "candidates: it is named" err 'warning: gaussian\(sigma=10\) alone is better than the weighed sum: rmse'
has "candidates: with the flags that use it" err '-k "gaussian\(sigma=10\)" and --learner "krr\('
cp m.krein candidates.krein
run train better.csv --learner mkl --kernels 'gaussian(sigma=0.1..10:5)' --select none -o m.krein --json
json "no candidates" 'j["candidates"] == []'
lacks "no candidates: nothing is said" err 'warning'
for model in m candidates; do "$KREIN" predict $model.krein better.csv >$model.txt; done
cmp -s m.txt candidates.txt && pass || fail "candidates change the model"
run train better.csv --learner mkl --kernels 'gaussian(sigma=0.1..10:5)' -o m.krein
has "candidates as text: the sum" out '^tried +mkl\(method=alignment\)  5 kernels +rmse'
has "candidates as text: the average" out '^ +mkl\(method=average\)  5 kernels +rmse'
is "candidates as text: the best of a family" 1 "$(grep -cE '^ +krr  gaussian\(sigma=10\) +rmse' out)"
run train better.csv --learner mkl --kernels 'gaussian(sigma=6); gaussian(sigma=7)' -o m.krein
ok "as good as each other"
lacks "as good as each other: nothing is said" err 'warning'
run train better.csv -k 'gaussian(sigma=10)' --learner 'krr' -o m.krein --json
json "one kernel: no candidates" 'j["candidates"] == []'
run train better.csv --learner mkl --kernels 'gaussian(sigma=1); linear' --metric diagonal -o m.krein
is "candidates of a metric and of the weighing" 2 "$(grep -c '^tried' out)"
"$KREIN" gram two.csv -k 'gaussian(sigma=0.5)' -o 'a;b.npy' >/dev/null
awk -F, 'NR > 1 {print $1 "," NR - 2}' two.csv >index.csv
run train index.csv --scale none --task classification --learner mkl --kernels 'precomputed(file="a;b.npy"); linear' -o m.krein
has "candidates as text: a semicolon in a file name" out '^ +krr  precomputed\(file="a;b.npy"\) '
run train better.csv --learner mkl --kernels 'gaussian(sigma=1); linear' --select best -o m.krein
status "a criterion that is not there" 2

# ---- lists that are odd ----
run train two.csv --learner mkl --kernels 'gaussian(sigma=1)' -o m.krein --json
ok "one kernel in the list"
has "one kernel in the list: a warning" err 'warning'
weights "one kernel in the list" 1
run train two.csv --learner mkl --kernels 'gaussian(sigma=1); gaussian(sigma=1)' -o m.krein --json
ok "identical kernels"
has "identical kernels: a warning" err 'warning'
json "identical kernels: equal parts" 'abs(j["weights"][0]["weight"] - 0.5) < 1e-9'
run train two.csv --learner 'mkl(method=centered)' --kernels 'gaussian(sigma=1); poly(gamma=0, c=1)' -o m.krein --json
[[ $rc == 0 || $rc == 2 ]] && pass || fail "a constant kernel" "$(why)"
for method in average alignment pwmk; do
    run train two.csv --learner "mkl(method=$method)" --kernels 'gaussian(sigma=1); tanh(c=-1)' -m exact -o m.krein --json
    ok "an indefinite kernel, $method"
done
for method in centered easymkl lp conv smsd ufo; do
    run train two.csv --learner "mkl(method=$method)" --kernels 'gaussian(sigma=1); tanh(c=-1)' -o m.krein
    [[ $rc == 1 || $rc == 2 ]] && pass || fail "an indefinite kernel, $method" "$(why)"
    has "an indefinite kernel, $method: which" err 'tanh'
done
run train two.csv --learner 'mkl(method=ufo, beta=1e6)' --kernels "$family" -o zero.krein
status "all weights zero" 1
has "all weights zero: the way out" err 'beta'
[[ -e zero.krein ]] && fail "all weights zero: no model" || pass
run train two.csv --learner mkl -k gaussian -o m.krein
[[ $rc == 0 || $rc == 2 ]] && pass || fail "-k with mkl" "$(why)"

# ---- hundreds of kernels, and features that depend on each other: float32 sums are no obstacle ----
for count in 20 200; do
    run train two.csv --learner 'mkl(method=centered)' --kernels "gaussian(sigma=0.01..10:$count)" -D 800 -o m.krein --json
    ok "centered, $count kernels"
    weights "centered, $count kernels" $count
done
for method in lp conv 'lp, p=1'; do
    for D in 200 600; do
        run train two.csv --learner "mkl(method=$method, base=svm)" --kernels 'gaussian(sigma=1); gaussian(sigma=2); linear' -D $D -o m.krein --json
        ok "wide kernels, $method, $D features"
        weights "wide kernels, $method, $D features" 3
    done
done

# ---- maps, tangent kernels ----
run train two.csv --learner mkl --kernels 'gaussian(sigma=1); laplacian(sigma=1)' -m 'orf(D=64); rff(D=32)' -o m.krein --json
ok "a map for each"
json "a map for each: features" 'j["D"] == 96'
run train two.csv --learner mkl --kernels 'gaussian(sigma=1); laplacian(sigma=1)' -m 'orf; rff; rff' -o m.krein
status "more maps than kernels" 2
run train two.csv --learner 'mkl(method=nsmkl, base=svm, count=3)' -o m.krein --json
ok "tangent kernels are drawn"
weights "tangent kernels are drawn" 3
json "tangent kernels" 'all("ntk(depth=" in w["kernel"] for w in j["weights"])'
run train two.csv --learner 'mkl(method=nsmkl, base=svm, count=2)' -m ntksketch -D 256 -o m.krein --json
ok "sketched"
weights "sketched" 2

# ---- threads and seeds ----
for method in alignment smsd; do
    for threads in 1 2; do
        run train two.csv --learner "mkl(method=$method)" --kernels "$family" -D 200 --threads $threads -o "t$threads.krein"
        ok "$method, $threads threads"
    done
    cmp -s t1.krein t2.krein && pass || fail "$method: threads change the model"
done
run plan two.csv --learner mkl --kernels "$family" --json
ok "plan"
run predict t1.krein two.csv
ok "predict"
is "predict: a line a row" $n "$(wc -l <out)"
summary
