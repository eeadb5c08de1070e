#!/usr/bin/env bash
# train.sh BUILD -- krein train on several processes gives the model of one.
#
# Where every row is a training row the blocks of rows are the same, and so are their sums but for
# the order in which they are added: predictions agree to float32 of the features. Where rows are
# dropped or held out a process has fewer, and blocks end elsewhere: float32 sums differ by about
# 1e-7 of the largest, which the solution magnifies by as much as 1/lambda. There lambda is 1e-3
# and predictions agree to 1e-3.
# shellcheck source=tests/mpi/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
data() { "$PYTHON" "$mpi_tests/data.py" "$@"; }
CLOSE=2e-5 NEAR=1e-3

# as_one NAME N TOLERANCE DATA ARGS...: on N ranks as in one process. `one` keeps the latter for
# further numbers of ranks, `input` has what predict is told on the data.
input=()
one=''
as_one() {
    local name=$1 n=$2 tolerance=$3 file=$4
    shift 4
    if [[ $one != "$file $*" ]]; then
        one="$file $*"
        run train "$file" "$@" -o one.krein
        ok "$name"
        report out >one.txt
        run predict one.krein "$file" "${input[@]}" --scores -o one.csv
    fi
    rm -f many.krein
    together "$n" train "$file" "$@" -o many.krein
    ok "$name on $n"
    report out >many.txt
    once "$name on $n" out '^rows '
    same "$name on $n: report" one.txt many.txt 2e-3 each
    run predict many.krein "$file" "${input[@]}" --scores -o many.csv
    same "$name on $n: predictions" one.csv many.csv "$tolerance"
}
fixed=(-D 48 -l 1e-3 -k 'gaussian(sigma=2)')

# 4,500 rows are three blocks: on four ranks one has none.
data mixed mixed.csv
mixed=(--ignore id --missing mean --weights w --group g)
input=(--missing mean)
as_one words 4 $CLOSE mixed.csv "${mixed[@]}" "${fixed[@]}" -l auto
as_one words 1 $CLOSE mixed.csv "${mixed[@]}" "${fixed[@]}" -l auto
input=(--missing drop)
as_one "held out by class" 3 $NEAR mixed.csv --ignore id,g,w --missing drop --holdout 0.2 "${fixed[@]}"
has "held out" many.txt '^test '
data arrays a
data partly partly.csv
data sparse s.libsvm
input=(--labels a_c.txt)
as_one "words in a file of labels" 4 $CLOSE a.npy --labels a_c.txt "${fixed[@]}"
input=()
as_one "sparse" 2 $CLOSE s.libsvm "${fixed[@]}" -l auto
"$KREIN" generate multilabel -n 4500 -o sets.csv >/dev/null
as_one "several labels a row" 3 $CLOSE sets.csv --multilabel "${fixed[@]}" -l auto
as_one "rows without labels" 3 $NEAR partly.csv --learner 'sskrr(parts=1)' "${fixed[@]}"

input=(--missing drop)
as_one "held out by group" 2 $NEAR mixed.csv --ignore id,w --missing drop --group g --holdout 0.25 "${fixed[@]}"
input=(--missing mean)
as_one "folds of groups" 3 $CLOSE mixed.csv "${mixed[@]}" -D 48 -k 'gaussian(sigma=2)' --select 'cv(k=4)'
input=(--missing mean --probabilities)
as_one "probabilities by folds of groups" 3 1e-4 mixed.csv "${mixed[@]}" "${fixed[@]}" --probabilities
as_one "probabilities" 4 1e-4 mixed.csv --ignore id,g --missing mean --weights w "${fixed[@]}" -l auto --probabilities
input=(--missing mean --probabilities)
as_one "probabilities by rows kept apart" 3 $NEAR mixed.csv --ignore id,g --missing mean --weights w "${fixed[@]}" --learner 'dckrr(parts=1)' --probabilities
input=(--missing mean)
as_one "sets by groups kept apart" 2 $NEAR mixed.csv --ignore id --missing mean --weights w --group g "${fixed[@]}" --learner 'dckrr(parts=1)' --uncertainty
run info many.krein
has "sets by groups kept apart" out '^uncertainty +sets of classes$'
input=(--interval 0.9)
as_one "intervals by rows kept apart" 4 $NEAR a.npy --labels a_y.npy "${fixed[@]}" --learner 'dckrr(parts=1)' --uncertainty
input=(--missing mean)
as_one linear 4 $CLOSE mixed.csv "${mixed[@]}" -k linear -m explicit
as_one nystrom 3 1e-4 mixed.csv "${mixed[@]}" -m 'nystrom(D=40)' -k 'gaussian(sigma=2)' -l 1e-3
input=()
data arrays b 600 # enough for a metric to be tried
as_one "exact, by default" 2 1e-4 b.npy --labels b_y.npy
data heavy heavy.csv 600
as_one "logarithms by default" 2 1e-4 heavy.csv
run info many.krein
has "logarithms are in the model" out 'logarithms: a'
as_one "best of a list" 3 1e-4 b.npy --labels b_y.npy --kernels 'gaussian(sigma=1..4:3); laplacian(sigma=2)'
as_one "features of a kernel that is chosen" 2 $CLOSE a.npy --labels a_y.npy -D 32 --effort 0.2
as_one indefinite 3 1e-4 a.npy --labels a_y.npy -k 'gaussian(sigma=1) - 0.5*gaussian(sigma=4)' -m gorf -D 48 --learner 'krr(norm=krein)'
as_one "numbers in a file of labels" 2 $CLOSE a.npy --labels a_y.txt "${fixed[@]}" -l auto
gzip -k partly.csv mixed.csv
input=(--missing mean)
as_one gzip 2 $CLOSE mixed.csv.gz "${mixed[@]}" "${fixed[@]}"
input=()
data bare bare.csv 2500
as_one "a file without labels" 4 $NEAR partly.csv --unlabeled bare.csv --learner 'sskrr' "${fixed[@]}" -l auto

# Averages: the same parts where processes and parts end at the same rows, else others.
"$KREIN" generate arm -n 15360 -o even.npy >/dev/null
as_one "parts, even" 4 $CLOSE even.npy --label first --learner 'dckrr(parts=8)' "${fixed[@]}" -l auto
as_one "parts, even" 2 $CLOSE even.npy --label first --learner 'dckrr(parts=8)' "${fixed[@]}" -l auto
as_one "parts of kernel matrices" 3 1e-4 a.npy --labels a_y.npy -m exact -k 'gaussian(sigma=2)' --learner 'dckrr(parts=15)'
run train a.npy --labels a_y.npy -D 48 -k 'gaussian(sigma=2)' --learner 'dckrr(parts=3)' -o one.krein
run evaluate one.krein a.npy --labels a_y.npy
grep -E '^r2|^rows' out >one.txt
together 2 train a.npy --labels a_y.npy -D 48 -k 'gaussian(sigma=2)' --learner 'dckrr(parts=3)' -o many.krein
ok "other parts"
run evaluate many.krein a.npy --labels a_y.npy
grep -E '^r2|^rows' out >many.txt
same "other parts: as good" one.txt many.txt 0.05 each

# Where the blocks of rows end.
"$KREIN" generate arm -n 3841 -o all.csv >/dev/null
for n in 1919 1920 1921 3840 3841; do
    head -n $((n + 1)) all.csv >rows.csv
    one=''
    as_one "$n rows" $((n % 2 + 2)) $CLOSE rows.csv "${fixed[@]}" -l auto
    has "$n rows: all of them" many.txt "^rows +${n:0:1},${n:1}\$"
done
head -n 6 all.csv >five.csv
as_one "more ranks than rows" 20 $CLOSE five.csv -k 'gaussian(sigma=2)' -l 1e-2

# A rank that has nothing of something.
data late late.csv
input=(--missing drop)
as_one "the first rank drops all" 3 $NEAR late.csv --missing drop "${fixed[@]}"
as_one "the first rank drops all: nystrom" 2 $NEAR late.csv --missing drop -k 'gaussian(sigma=2)' -l 1e-3 -m 'nystrom(D=32)'
data idle idle.csv
input=()
as_one "the first rank weighs nothing" 2 $NEAR idle.csv --weights w -D 48 -k 'gaussian(sigma=2)'
as_one "the first rank weighs nothing: other parts" 2 0.2 idle.csv --weights w "${fixed[@]}" --learner 'dckrr(parts=6)'
data gap gap.csv
input=(--missing mean)
as_one "a column of the first rank alone" 3 $CLOSE gap.csv --missing mean "${fixed[@]}" -l auto
summary
