#!/usr/bin/env bash
# fewshot.sh BUILD -- few-shot tasks over several processes: the numbers and the subspace of one process, files that the
# first one writes, refusals told once.
# shellcheck source=tests/mpi/lib.sh disable=SC2154
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh" "$1"
/usr/bin/env python3 - <<'EOF'
import math, random
random.seed(1)
with open("x.csv", "w") as f:
    for row in range(12):
        for c in range(12):
            v = [128 + 50 * math.sin(1.3 * c + 0.8 * (i % 8) * (1 + c % 5) + 1.1 * (i // 8) * (1 + c % 3)) for i in range(64)]
            f.write("c%d," % c + ",".join("%d" % (x + random.gauss(0, 25)) for x in v) + "\n")
EOF
call=(fewshot x.csv --image 8x8 --label first --no-header --method meta --method matching --method original --method nearest --ways 3 --shots 2
    --queries 4 --tasks 5 --arch "convnet(1-4)" --dimensions 4 --steps 2 --test-steps 3 --meta-steps 4 --meta-tasks 3
    --validate-every 2 --validation-tasks 3 --epochs 1 --class-split 6,3,3 --json)
run "${call[@]}" -o one.krein
ok "fewshot on one process"
cp out one.json
for n in 2 3; do
    together "$n" "${call[@]}" -o "$n.krein" --checkpoint "state.$n"
    ok "fewshot on $n"
    json "fewshot on $n: the same numbers" '[r["values"] for r in j["results"]] == [r["values"] for r in json.load(open("one.json"))["results"]]'
    is "fewshot on $n: the same subspace" "$(cksum <one.krein)" "$(cksum <"$n.krein")"
    together "$n" "${call[@]}" -o "$n.krein" --checkpoint "state.$n"
    json "fewshot on $n goes on" '[r["values"] for r in j["results"]] == [r["values"] for r in json.load(open("one.json"))["results"]]'
done
together 2 "${call[@]}" --time-limit 10
status "a time limit" 2
once "a time limit" err 'several processes has no --time-limit'
together 2 "${call[@]}" --ways 5
status "too many ways" 1
once "too many ways" err '3 validation classes'
summary
