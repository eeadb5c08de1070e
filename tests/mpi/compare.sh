#!/usr/bin/env bash
# compare.sh BUILD -- compare on several processes: the numbers of one process, each run made once,
# the results of all in one file that the first one writes, failures told.
# shellcheck source=tests/mpi/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
"$KREIN" generate arm -n 150 -o arm.csv >/dev/null
"$KREIN" generate arm -n 110 -s 3 --noise 0.2 -o rough.csv >/dev/null
call=(compare arm.csv rough.csv --learners "krr; svr; svm" --kernels "gaussian; linear" --repeat 3 --command
    "zero: echo x >>'$work/ran'; : {train}; awk '{print 0}' {test} >{out}")
run "${call[@]}" --json
cp out one.json
for n in 2 3; do
    rm -f ran kept.jsonl
    together "$n" "${call[@]}" --json --results kept.jsonl
    ok "compare on $n"
    is "compare on $n: each run once" 6 "$(wc -l <ran | tr -d ' ')"
    is "compare on $n: a line a run" 42 "$(wc -l <kept.jsonl | tr -d ' ')"
    json "compare on $n: the same numbers" '[r["values"] for r in j["results"]] == [r["values"] for r in json.load(open("one.json"))["results"]]'
    json "compare on $n: the same failures" '[r["failed"] for r in j["results"]] == [r["failed"] for r in json.load(open("one.json"))["results"]] and sum(r["failures"] for r in j["results"]) == 12'
done
together 2 "${call[@]}" --json --results kept.jsonl
json "they go on from the file" 'j["reused"] == 30'
together 2 compare arm.csv --measure auc
status "a wrong measure" 2
once "a wrong measure" err 'labels of arm are numbers'
summary
