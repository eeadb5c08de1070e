#!/usr/bin/env bash
# fewshot and subspace: reports, files, threads, checkpoints, refusals.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# 20 classes of 12 images of 8 x 8 bytes: a pattern of the class with noise.
"$PYTHON" - <<'EOF'
import struct, random, math
def npy(name, kind, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, shape)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(data))
random.seed(1)
x, y = [], []
for row in range(12):
    for c in range(20):
        y.append(c)
        for i in range(64):
            v = math.sin(1.3 * c + 0.8 * (i % 8) * (1 + c % 5) + 1.1 * (i // 8) * (1 + c % 3))
            x.append(max(0, min(255, int(128 + 50 * v + random.gauss(0, 25)))))
npy("x.npy", "|u1", (240, 64), x)
npy("y.npy", "|u1", (240,), y)
npy("x4.npy", "|u1", (240, 8, 8, 1), x)
npy("small.npy", "|u1", (240, 49), [v for r in range(240) for v in x[64 * r:64 * r + 49]])
EOF
data=(x.npy --labels y.npy --image 8x8)
small=(--ways 3 --shots 2 --queries 4 --tasks 5 --arch "convnet(1-4)" --dimensions 4 --steps 2 --test-steps 3
    --meta-steps 4 --meta-tasks 2 --validate-every 2 --validation-tasks 3 --epochs 1 --path-epochs 3 --class-split 10,5,5)

# ---- fewshot ----
run fewshot "${data[@]}" "${small[@]}" --method meta --method nearest --json -o p.krein
ok fewshot
json "--json" 'j["command"] == "fewshot" and j["ways"] == 3 and j["shots"] == 2 and j["classes"] == [10, 5, 5] and j["arch"] == "convnet(1-4)"'
json "results" '[r["method"] for r in j["results"]] == ["meta", "nearest", "nearest"] and all(r["tasks"] == 5 and 0 <= r["accuracy"] <= 1 and r["sd"] >= 0 and len(r["values"]) == 5 for r in j["results"])'
json "spaces" '[r["detail"] for r in j["results"]][1:] == ["pixels", "features"] and j["results"][1]["accuracy"] > 0.5'
json "curve and meta" 'j["results"][0]["curve"]["steps"] == [0, 1, 2, 3] and j["results"][0]["meta"]["steps"] == [0, 2, 4] and j["results"][1]["curve"] is None'
cp out one
run fewshot "${data[@]}" "${small[@]}" --method meta --method nearest --json -o p2.krein -j 1
json "threads" '[r["values"] for r in j["results"]] == [r["values"] for r in json.load(open("one"))["results"]]'
if cmp -s p.krein p2.krein; then pass; else fail "the subspace of 1 and 2 threads"; fi
run fewshot x4.npy --labels y.npy "${small[@]}" --method nearest --json
json "four dimensions" 'j["results"][0]["values"] == json.load(open("one"))["results"][1]["values"]'
run fewshot "${data[@]}" "${small[@]}" --method ntk --method original --plot few.svg
ok "text and a plot"
has "table" out '^ntk +[0-9.]+ %'
has "network" out '^network +convnet\(1-4\)'
has "plot" few.svg '<svg'

# ---- a checkpoint ----
run fewshot "${data[@]}" "${small[@]}" --method meta --method ntk --json --checkpoint state
ok "with a checkpoint"
cp out one
run fewshot "${data[@]}" "${small[@]}" --method meta --method ntk --json --checkpoint state
json "goes on" '[r["values"] for r in j["results"]] == [r["values"] for r in json.load(open("one"))["results"]]'
run fewshot "${data[@]}" "${small[@]}" --method meta --method ntk --rate 0.2 --checkpoint state
status "another job" 2
has "another job" err 'another few-shot run'

# ---- subspace ----
net='net(arch="convnet(1-4)", optimizer=sgd, epochs=4, batch=32)'
run subspace "${data[@]}" --learner "$net" --dimensions 5 -o path.krein --model m.krein --json
ok subspace
json "subspace" 'j["command"] == "subspace" and j["dimensions"] == 5 and len(j["shares"]) == 5 and 0.5 < sum(j["shares"]) <= 1 + 1e-9 and j["scores"] == 20'
run subspace "${data[@]}" --learner "$net" -o path2.krein --every 4 --path-epochs 3
ok "subspace, text"
has "shares" out '^component +variance'
for start in new path; do
    run train "${data[@]}" --learner "$net" --subspace path.krein --subspace-start "$start" -o s.krein --json
    ok "train --subspace, $start"
done
run predict s.krein x.npy --image 8x8
ok "the model predicts"

# ---- refusals ----
refused() { # name, text of the message, arguments
    local name=$1 text=$2
    shift 2
    run "$@"
    if ((rc == 0)); then fail "$name" "it was accepted"; else has "$name" err "$text"; fi
}
refused "no method" '--method NAME is required' fewshot "${data[@]}"
refused "unknown method" 'did you mean "meta"' fewshot "${data[@]}" --method metta
refused "fewer classes than ways" '5 validation classes' fewshot "${data[@]}" "${small[@]}" --ways 6 --method ntk
refused "fewer rows than shots and queries" 'class [0-9]+ has 12 rows.*--shots' fewshot "${data[@]}" "${small[@]}" --shots 9 --method ntk
refused "no images" 'takes images.*--image' fewshot x.npy --labels y.npy --method ntk
refused "another shape" '64' fewshot x.npy --labels y.npy --image 7x7 --method ntk
refused "two sizes" '8x8x1.*7x7x1|49' fewshot x4.npy small.npy --labels y.npy --test-labels y.npy --method ntk --image 8x8
refused "too many classes" 'cannot be divided' fewshot "${data[@]}" --class-split 10,10,10 --method ntk
refused "a split of one number" 'three numbers' fewshot "${data[@]}" --class-split 10 --method ntk
refused "channels" '1 channel' fewshot "${data[@]}" "${small[@]}" --arch "convnet(3-4)" --method original
refused "subspace of another network" 'of another network: convnet\(1-4\)' train "${data[@]}" --learner 'net(arch="convnet(1-5)", epochs=1)' --subspace path.krein -o no.krein
refused "of other scores" 'of another network' train "${data[@]}" --learner "$net" --subspace p.krein -o no.krein
refused "a model is no subspace" 'no subspace' train "${data[@]}" --learner "$net" --subspace m.krein -o no.krein
refused "a learner without parameters" '--subspace' train "${data[@]}" --learner krr --subspace path.krein -o no.krein
refused "no output" 'subspace' subspace "${data[@]}" --learner "$net"

summary
