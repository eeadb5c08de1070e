#!/usr/bin/env bash
# make.sh -- writes small models with a released program; later versions must predict the same.
#
#   tests/models/make.sh KREIN FOLDER        from the root of the sources
#   tests/models/make.sh build/krein tests/models/v0.2
#
# A folder is written once, by the program of its release, and never again: a model that was lost
# or forgotten is a new file of the same program. Models that are there already are left alone.
# tests/test_frozen.c reads every folder beside this file. For each model it has
#   NAME.krein   the model
#   NAME.txt     rows that the model was not trained on, a line ---, and for each row
#                class,score,...,probability,...   or   number,...   or nothing (a dropped row);
#                of several labels a row, their names with | between them in the place of the class
# and once
#   COVERS       "learner NAME", "map NAME" and "kernel NAME" of all there were in that version:
#                the test fails where no model has one of them
#   *.npy        what models refer to by name (the kernel `precomputed`)
#
# Scores are not close to where the class changes, so that labels are the same on every machine;
# models are regularised well, so that rounding errors stay small.
set -euo pipefail
[[ $# == 2 && -x $1 ]] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$(realpath "$1") folder=${2%/}
cd "$(dirname "$0")/../.."
export LC_ALL=C OMP_NUM_THREADS=1
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- data ---------------------------------------------------------------

# rows KIND FIRST LAST: the numbers are sines, so that every machine has the same.
rows() {
    awk -v kind="$1" -v first="$2" -v last="$3" 'BEGIN {
        split("red green blue", colour); split("left right far", name)
        if (kind ~ /^(numbers|unlabelled)$/) print "y,a,b,c"
        if (kind == "weighted") print "y,w,a,b,c"
        if (kind == "colours") print "y,a,b,colour,c"
        if (kind == "holes") print "y,a,b,colour,c"
        if (kind == "two" || kind == "three" || kind == "blobs") print "y,a,b,c"
        if (kind == "targets") print "y1,y2,a,b,c"
        if (kind == "labels") print "y,a,b,c"
        for (i = first; i <= last; i++) {
            a = sin(1 + 37 * i); b = sin(2 + 101 * i); c = sin(3 + 59 * i + i * i)
            x = sprintf("%.4f,%.4f,%.4f", a, b, c)
            y = sprintf("%.4f", a * b + c)
            if (kind == "numbers") print y "," x
            if (kind == "bare") print y "," x
            if (kind == "unlabelled") print "," x
            if (kind == "weighted") printf "%s,%d,%s\n", y, 1 + i % 3, x
            if (kind == "targets") printf "%s,%.4f,%s\n", y, a - c, x
            word = i % 11 == 10 ? "violet" : colour[1 + i % 3]
            if (kind == "colours") printf "%s,%.4f,%.4f,%s,%.4f\n", y, a, b, word, c
            if (kind == "holes")
                printf "%s,%s,%.4f,%s,%s\n", y, i % 5 == 1 ? "" : sprintf("%.4f", a), b,
                    colour[1 + i % 3], i % 7 == 2 ? "?" : sprintf("%.4f", c)
            if (kind == "two" && (a + b > .1 || a + b < -.1))
                print (a + b > 0 ? "yes" : "no") "," x
            class = a + b > .5 ? 1 : c > 0 ? 2 : 3
            if (kind == "three") print name[class] "," x
            if (kind == "labels")
                print (a + b > .2 ? "wide" : "") (a + b > .2 && c > 0 ? "|" : "") (c > 0 ? "deep sea" : "") "," x
            if (kind == "blobs")
                printf "%d,%.4f,%.4f,%.4f\n", i % 3, a + 4 * (i % 3), b - 3 * (i % 3), c
            sparse = sprintf("%d:%.4f %d:%.4f", 1 + i % 3, a, 4 + i % 5, b)
            if (kind == "sparse") printf "%.4f %s\n", a * b, sparse
            if (kind == "sparse3") print class " " sparse
            if (kind == "images") {
                printf "%s", i % 2 ? "up" : "across"
                for (j = 0; j < 32; j++) # 4 x 4 pixels of two channels: stripes
                    printf ",%d", 128 + 90 * sin(i + 2.5 * (i % 2 ? int(j / 8) : int(j / 2) % 4)) + 20 * sin(7 * i + 3 * j)
                print ""
            }
            if (kind == "index") printf "%s,%d\n", y, i - 1
        }
    }'
}
train_rows=36 predict_first=101 predict_last=108
for kind in numbers bare weighted colours holes two three blobs targets labels images sparse sparse3; do
    rows $kind 1 $train_rows >"$work/$kind.data"
    rows $kind $predict_first $predict_last >"$work/$kind.rows"
done
rows unlabelled 201 220 >"$work/unlabelled.data"
rows index 1 20 >"$work/index.data"
rows index 21 28 >"$work/index.rows"

# ---- models -------------------------------------------------------------

# predictions MODEL ROWS: the lines after ---, with all digits.
predictions() {
    local more=()
    "$program" info --json "$1" | grep '"probabilities":true' >/dev/null && more=(--probabilities)
    "$program" predict --quiet --json --scores "${more[@]}" "$1" "$2" | python3 -c '
import json, sys
j = json.load(sys.stdin)
for i, p in enumerate(j["predictions"]):
    cells = p if isinstance(p, list) else [] if p is None else [p]
    if "classes" in j and isinstance(p, list): # a set of labels
        cells, p = ["|".join(p)], ""
    if isinstance(p, str):
        cells = cells + j["scores"][i] + (j["probabilities"][i] if "probabilities" in j else [])
    print(",".join(c if isinstance(c, str) else repr(float(c)) for c in cells))'
}

# model NAME KIND COMMAND ARGS...: one model and what it predicts.
model() {
    local name=$1 kind=$2 command=$3 to=--model
    shift 3
    [[ -e $folder/$name.krein ]] && return
    [[ $command == train ]] && to=-o
    "$program" "$command" --quiet "$@" "$to" "$work/model.krein" "$work/$kind.data" >/dev/null ||
        { echo "make.sh: $name" >&2; exit 1; }
    { cat "$work/$kind.rows"; echo ---; predictions "$work/model.krein" "$work/$kind.rows"; } \
        >"$work/model.txt"
    mv "$work/model.krein" "$folder/$name.krein"
    mv "$work/model.txt" "$folder/$name.txt"
}
ridge() { local name=$1 kind=$2; shift 2; model "$name" "$kind" train -l 0.05 "$@"; }

gauss='gaussian(sigma=1.5)'
difference='gaussian(sigma=1) - 0.3*gaussian(sigma=4)'

# One map each, and where a map stores or draws something else by an option or a kernel.
ridge rff-phase numbers -k "$gauss*laplacian(sigma=4)" -m 'rff(D=32, phase=yes)'
ridge rff-difference numbers -k "$difference" -m 'rff(D=32)'
ridge nrff numbers -k "$gauss" -m 'nrff(D=32)'
ridge orf-matern numbers -k 'matern(nu=1.5, sigma=2)' -m 'orf(D=32)'
ridge sorf numbers -k "$gauss" -m 'sorf(D=32)'
ridge fastfood numbers -k "$gauss" -m 'fastfood(D=32)'
ridge scrf numbers -k 'cauchy(sigma=2)' -m 'scrf(D=32)'
ridge pmodel-toeplitz numbers -k "$gauss" -m 'pmodel(D=32)'
ridge pmodel-hadamard numbers -k "$gauss" -m 'pmodel(D=32, matrix=hadamard)'
ridge qmc-sobol numbers -k "$gauss" -m 'qmc(D=32)'
ridge qmc-halton numbers -k 'periodic(p=4, sigma=2)' -m 'qmc(D=32, sequence=halton)'
ridge ssf numbers -k 'rq(alpha=2, sigma=1.5)' -m 'ssf(D=32)'
ridge mm numbers -k "$gauss" -m 'mm(D=32)'
ridge leverage numbers -k "$gauss" -m 'leverage(D=32)'
ridge surrogate numbers -k "$gauss" -m 'surrogate(D=32)'
ridge aligned two -k "$gauss" -m 'aligned(D=32)'
ridge binning numbers -k 'laplacian(sigma=8)' -m 'binning(D=48)'
ridge hybrid numbers -k 'laplacian(sigma=8)' -m 'hybrid(D=64)'
ridge grff-atoms numbers -k "$difference" -m 'grff(D=32, route=atoms)'
ridge grff-unit numbers --scale unit -k 'tanh(gamma=1, c=0)' -m 'grff(D=32)'
ridge gorf-unit numbers --scale unit -k 'poly(degree=3, c=1, gamma=1)' -m 'gorf(D=32)'
ridge gorf-density numbers -k "$difference" -m 'gorf(D=32, route=density, coupling=nested)' \
    --learner 'krr(norm=krein)'
ridge srf numbers --scale unit -k 'poly(degree=2, c=1, gamma=1)' -m 'srf(D=32)'
ridge digmm numbers --scale unit -k 'poly(degree=3, c=1, gamma=1)' -m 'digmm(D=32)'
ridge learned numbers -k "$gauss" -m 'learned(D=32)'
ridge rff-spectral numbers -k 'spectral(q=3, sigma=1.5)' -m 'rff(D=32)'
ridge learned-sines numbers -k "$gauss" -m 'learned(D=32, sines=yes, spectrum=stationary)'
ridge explicit numbers -k 'poly(degree=2, c=1, gamma=0.3)' -m explicit
ridge maclaurin numbers -k 'poly(degree=3, c=1, gamma=0.3)' -m 'maclaurin(D=32)'
ridge maclaurin-geometric numbers --scale unit -k 'epanechnikov(a=3, m=2)' \
    -m 'maclaurin(D=32, law=geometric)'
ridge tensorsketch numbers -k 'poly(degree=2, c=1, gamma=0.3)' -m 'tensorsketch(D=32)'
ridge arccos numbers -k 'arccos(order=1)' -m 'arccos(D=32)'
ridge arccos-orthogonal numbers -k 'arccos(order=2)' -m 'arccos(D=32, orthogonal=yes)'
ridge ntkrf numbers -k 'ntk(depth=1)' -m 'ntkrf(D=32)'
ridge ntksketch numbers -k 'ntk(depth=2)' -m 'ntksketch(D=32)'
ridge spline numbers --scale minmax -k 'spline(q=2)' -m 'spline(D=32)'
ridge spline-terms numbers --scale minmax -k 'spline(q=1, terms=8)' -m 'spline(D=16)'
ridge nystrom-chi2 numbers --scale minmax -k chi2 -m 'nystrom(D=12)'
ridge nystrom-kmeans numbers -k "$gauss" -m 'nystrom(D=12, landmarks=kmeans)'
head -n 11 "$work/numbers.data" >"$folder/landmarks.csv" # a model does without the file
ridge nystrom-bits numbers -k "$gauss" -m 'nystrom(D=12, bits=4)'
ridge nystrom-file numbers -k "$gauss" -m "nystrom(D=10, file=$folder/landmarks.csv)"
rm "$folder/landmarks.csv"
ridge auto numbers -k "$gauss + 0.5*linear + 0.5*laplacian(sigma=4)" -m 'auto(D=48)'

# Kernels that no map above has, on the kernel matrix.
ridge exact-exponential numbers -k 'exponential(sigma=2)' -m exact
ridge exact-intersection numbers --scale minmax -k intersection -m exact
ridge exact-tl1 numbers -k 'tl1(rho=4)' -m exact
if [[ ! -e $folder/precomputed.npy ]]; then
    rows numbers 1 28 >"$work/all.csv"
    "$program" gram --quiet -k "$gauss" "$work/all.csv" -o "$folder/precomputed.npy" >/dev/null
fi
ridge exact-precomputed index --no-header --label first --scale none \
    -k "precomputed(file=$folder/precomputed.npy)" -m exact

# Learners.
ridge krr-pcg two --learner 'krr(solver=pcg)' -k "$gauss" -m 'orf(D=32)'
ridge krr-three three -k "$gauss" -m exact
ridge krr-labels labels --multilabel -k "$gauss" -m 'orf(D=32)'
ridge krr-krein-exact two --learner 'krr(norm=krein)' -k "$difference" -m exact
ridge dckrr numbers --learner 'dckrr(parts=3)' -k "$gauss" -m 'rff(D=32)'
ridge dckrr-exact numbers --learner 'dckrr(parts=3, order=shuffle)' -k "$gauss" -m exact
ridge sskrr numbers --learner sskrr --unlabeled "$work/unlabelled.data" -k "$gauss" -m 'orf(D=32)'
ridge laprls numbers --learner laprls --unlabeled "$work/unlabelled.data" -k "$gauss" -m exact
ridge laprls-landmarks three --learner 'laprls(lambda_i=1, k=4, solver=pcg)' -k "$gauss" -m 'nystrom(D=24)'
ridge sskrr-parts three --learner 'sskrr(parts=2)' -k "$gauss" -m 'orf(D=32)'
ridge labelprop numbers --learner 'labelprop(k=4)' --unlabeled "$work/unlabelled.data" -k "$gauss" -m exact
ridge labelprop-spreading three --learner 'labelprop(method=spreading, k=5)' -k "$gauss" -m 'orf(D=32)'
model selftrain three train --learner 'selftrain(base="svm(C=1)", rounds=2)' -k "$gauss" -m 'orf(D=32)'
model svm-two two train --probabilities --learner 'svm(C=1)' -k "$gauss" -m 'orf(D=32)'
model svm-ovr three train --probabilities --learner 'svm(C=1, loss=hinge2)' -k "$gauss" -m 'orf(D=32)'
model svm-ovo three train --probabilities --learner 'svm(C=1, multi=ovo)' -k "$gauss" -m 'orf(D=32)'
model svm-crammer three train --learner 'svm(C=1, multi=crammer)' -k "$gauss" -m 'orf(D=32)'
model svm-crammer-exact three train --probabilities --learner 'svm(C=1, multi=crammer)' -k "$gauss" -m exact
model svm-gmnp three train --learner 'svm(C=1, multi=gmnp)' -k "$gauss" -m exact
model svm-l1 three train --learner 'svm(C=1, multi=crammer, penalty=l1)' -k linear -m explicit
model svm-balanced two train --learner 'svm(C=1, intercept=no, class_weights=balanced)' \
    -k "$gauss" -m 'rff(D=32)'
model svm-exact two train --probabilities --learner 'svm(C=1)' -k "$gauss" -m exact
model svm-exact-ovo three train --probabilities --learner 'svm(C=1, multi=ovo)' -k "$gauss" -m exact
for spectrum in asis clip; do
    model svm-$spectrum two train --learner "svm(C=1, spectrum=$spectrum)" -k "$difference" -m exact
done
model svr numbers train --learner 'svr(C=1, epsilon=0.1)' -k "$gauss" -m 'orf(D=32)'
model svr-exact numbers train --learner 'svr(C=1, epsilon=0.1)' -k "$gauss" -m exact
model kgd numbers train --learner 'kgd(steps=20)' -k "$gauss" -m exact
model kgd-sample three train --learner 'kgd(steps=5, mode=sample)' -k "$gauss" -m exact
ridge askl numbers --learner 'askl(D=24, epochs=3)' -k "$gauss"
ridge askl-mixture numbers --learner 'askl(form=mixture, q=2, D=24, epochs=3)' -k "$gauss"
if [[ ! -e $folder/exact-spectral.krein ]]; then # a model does without the file
    "$program" train --quiet --learner 'askl(form=mixture, q=2, D=8, epochs=1)' -k "$gauss" -l 0.05 \
        -o "$folder/mixture.krein" "$work/numbers.data" >/dev/null
    ridge exact-spectral numbers -k "spectral(file=$folder/mixture.krein)" -m exact
    rm "$folder/mixture.krein"
fi
ridge deep numbers --learner 'deep(layers=2, width=12, epochs=3)' -k "$gauss"
model deep-8 three train --learner 'deep(layers=3, width=10, bits=8, epochs=3)' -k "$gauss"
model deep-1 numbers train --learner 'deep(layers=2, width=10, bits=1, epochs=3)' -k "$gauss"
ridge net numbers --learner 'net(arch="mlp(8-6)", epochs=3)'
model net-convnet images train --learner 'net(arch="convnet(2-4)", epochs=20, batch=8)' --image 4x4x2
model net-resnet images train --learner 'net(arch="resnet(8)", epochs=3, batch=12)' --image 4x4x2
model askl-softmax three train --learner 'askl(D=24, epochs=3)' -k "$gauss"
ridge logistic two --learner logistic -k "$gauss" -m 'orf(D=32)'

# Several kernels.
list='gaussian(sigma=1); gaussian(sigma=4); linear'
ridge mkl-exact two --learner mkl --kernels "$list" -m exact
ridge mkl-smsd three --learner 'mkl(method=smsd)' --kernels "$list" -D 36
ridge mkl-nsmkl two --learner 'mkl(method=nsmkl, count=2)' -D 48
ridge mkl-maps numbers --learner 'mkl(split=weight)' --kernels "$list" \
    -m 'orf; nystrom(D=8); explicit' -D 36
model mkl-mcmkl three train --learner 'mkl(method=mcmkl, cost=1, base=svm, C=1, multi=crammer)' --kernels "$list" -m exact
model mkl-svm two train --probabilities --learner 'mkl(base=svm, C=1, normalize=no)' \
    --kernels "$list" -m exact
model mkl-svm-features three train --probabilities --learner 'mkl(base=svm, C=1)' \
    --kernels "$list" -D 36

# Components and clusters.
model pca numbers pca --components 3 -k "$gauss" -m exact
model pca-features colours pca --components 2 --unknown ignore -k "$gauss" -m 'orf(D=32)'
model pca-difference numbers pca --components 2 -k "$difference" -m 'nystrom(D=12)'
model kmeans blobs cluster --clusters 3 -k "$gauss" -m exact
model kmeans-features blobs cluster --clusters 3 -k "$gauss" -m 'orf(D=32)'

# What happens to rows before they reach a map.
ridge rows-bare bare --no-header --label first -k "$gauss" -m 'orf(D=32)'
ridge rows-none weighted --weights w --scale none -k "$gauss" -m 'orf(D=32)'
ridge rows-minmax colours --unknown ignore --scale minmax -k "$gauss" -m 'orf(D=32)'
ridge rows-unit colours --unknown ignore --scale unit -k "$gauss" -m exact
ridge rows-mean holes --missing mean -k "$gauss" -m 'orf(D=32)'
ridge rows-drop holes --missing drop -k "$gauss" -m 'rff(D=32)'
ridge rows-targets targets --targets 2 -k "$gauss" -m 'orf(D=32)'
ridge rows-sparse sparse -k "$gauss" -m 'rff(D=32)'
ridge rows-sparse-exact sparse -k "$gauss" -m exact
ridge rows-sparse-classes sparse3 -t classification -k linear -m explicit
ridge rows-sparse-logistic sparse3 -t classification --learner logistic -k "$gauss" -m 'nystrom(D=12)'

# ---- what there is ------------------------------------------------------

[[ -e $folder/COVERS ]] || {
    for table in learner map kernel; do
        "$program" list ${table}s | sed -n "s/^\([a-z0-9]\{1,\}\) .*/$table \1/p"
    done
    echo 'learner kpca' # what the models of pca and cluster call themselves
    echo 'learner kmeans'
} >"$folder/COVERS"
