#!/usr/bin/env bash
# Images and the learner net from the command line: what is printed, files, checkpoints, what is
# refused.
# shellcheck source=lib.sh disable=SC2154
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# images NAME N SHAPE TYPE SEED: stripes across (class 0) or up (class 1), NAME.x.npy and NAME.y.npy.
images() {
    "$PYTHON" - "$@" <<'PY'
import math, random, struct, sys
name, n, shape, kind, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5]
parts = shape.split(",")
h, w, c = (list(map(int, parts)) + [1])[:3]
draw = random.Random(int(seed))

def write(path, kind, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (kind, shape)
    head = head.ljust(117) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)

x, y = [], []
for i in range(n):
    phase, up = 6.3 * draw.random(), i % 2
    y.append(up)
    for e in range(h * w * c):
        at = e // c % w if up else e // c // w
        v = 110 + 20 * (e % c) + 60 * math.sin(1.8 * at + phase) + 30 * draw.random()
        x.append(max(0, min(255, round(v))))
flat = "%d, %d" % (n, h * w * c)
whole = ", ".join([str(n)] + parts)
data = bytes(x) if kind == "u1" else struct.pack("<%df" % len(x), *x)
write(name + ".x.npy", "|u1" if kind == "u1" else "<f4", flat if kind.endswith("flat") else whole, data)
write(name + ".y.npy", "<i4", str(n), struct.pack("<%di" % n, *y))
PY
}
images a 240 8,8,2 u1 1 || fail "images"
images t 100 8,8,2 u1 2
images f 240 8,8,2 f4 1
images flat 240 8,8,2 f4flat 1
images one 60 8,8 u1 3
labels=(--labels a.y.npy)
net=(--learner 'net(arch="convnet(2-6)", epochs=10, batch=20)')

run train a.x.npy "${labels[@]}" "${net[@]}" --test t.x.npy --test-labels t.y.npy --json -o a.krein
ok "train"
json "train: what was chosen" 'j["map"] == "network(arch=\"convnet(2-6)\")" and j["D"] == 24 and j["kernel"] == "linear"'
json "train: it learns" 'j["test"]["accuracy"] > 0.9 and j["cv"]["folds"] == 1'
run train f.x.npy "${labels[@]}" "${net[@]}" -j 1 -o f.krein
ok "floats"
is "floats and one thread: the same model" "$(cksum <a.krein)" "$(cksum <f.krein)"
run train flat.x.npy "${labels[@]}" --image 8x8x2 "${net[@]}" -o flat.krein
ok "rows with --image"
is "rows with --image: the same model" "$(cksum <a.krein)" "$(cksum <flat.krein)"
gzip -k a.x.npy
run train a.x.npy.gz "${labels[@]}" "${net[@]}" -o gz.krein
is "gzipped: the same model" "$(cksum <a.krein)" "$(cksum <gz.krein)"
run train one.x.npy --labels one.y.npy --learner 'net(epochs=2)' --json -o one.krein
ok "one channel, arch by the rows"
json "one channel: arch" '"convnet(1-32-32)" in j["learner"]'

run info a.krein
has "info: the map" out '^map +network\(arch="convnet\(2-6\)"\)'
has "info: parameters" out '^parameters +[0-9]+'
has "info: the shape" out '^note +images: 8 x 8, 2 channels, scaled by channel'
run predict a.krein t.x.npy --probabilities -o p.csv
ok "predict"
is "predict: rows" 100 "$(wc -l <p.csv)"
run evaluate a.krein t.x.npy --labels t.y.npy --json
ok "evaluate"
json "evaluate: accuracy" 'j["metrics"]["accuracy"] > 0.9'
run transform t.x.npy -m 'network(file=a.krein)' -o z.npy
ok "transform"
has "transform: 24 features" z.npy "'shape': \(100, 24\)"
for map in learned network; do
    run train t.x.npy --labels t.y.npy -m "$map(file=a.krein)" --learner krr --holdout 0.3 --json -o k.krein
    ok "$map(file=..)"
    json "$map(file=..): the features of the network" 'j["map"].startswith("network(arch=\"convnet(2-6)\", file=") and j["D"] == 24 and j["test"]["accuracy"] > 0.9'
done
rm -f moved.krein && mv k.krein moved.krein && mv a.krein kept.krein
run predict moved.krein t.x.npy
ok "a model does without the file"
mv kept.krein a.krein
run train t.x.npy --labels t.y.npy -m 'network(file=a.krein)' --learner 'net(epochs=2, rate=0.0001)' --json -o on.krein
ok "goes on from a model"
json "goes on from a model: arch" '"convnet(2-6)" in j["learner"]'
run train a.x.npy "${labels[@]}" --learner krr -k gaussian -m 'orf(D=64)' -o krr.krein
ok "another learner on images"
run plan a.x.npy "${labels[@]}" "${net[@]}"
ok "plan"
has "plan: features" out '^features +24'
run help net
has "help: the learner" out '^net \(learner\)'
run help network
has "help: the map" out '^network \(map\)'
run generate friedman -n 200 -o reg.csv
run train reg.csv --learner 'net(epochs=20)' --json -o reg.krein
ok "a table"
json "a table: arch" '"mlp(64-64)" in j["learner"]'

# Time limits and checkpoints.
run train a.x.npy "${labels[@]}" --learner 'net(epochs=1000000, patience=0)' --time-limit 0.5 -o l.krein
ok "a time limit"
has "a time limit: said" err 'net: time limit: best of [0-9]+ epochs'
epochs=60
[[ $SANITIZED ]] && epochs=6
long=(train a.x.npy "${labels[@]}" --learner "net(arch=\"convnet(2-6)\", epochs=$epochs, patience=0, optimizer=sgd)")
goes_on 3000 "${long[@]}"

# What is refused.
images wide 20 4,16,2 u1 4
refuse() { # name, status, message, arguments
    local name=$1 want=$2 message=$3
    shift 3
    run "$@"
    status "$name" "$want"
    has "$name: message" err "$message"
}
refuse "no shape" 1 'give their shape, such as --image 32x32x3' train flat.x.npy "${labels[@]}" "${net[@]}" -o e.krein
refuse "another shape" 1 'has 75 numbers, and the rows have 128 inputs' train flat.x.npy "${labels[@]}" --image 5x5x3 "${net[@]}" -o e.krein
refuse "no shape at all" 2 '--image takes height x width x channels' train flat.x.npy "${labels[@]}" --image 8by8 "${net[@]}" -o e.krein
refuse "two shapes" 2 'has images of 8x8x2, and --image says 4x16x2' train a.x.npy "${labels[@]}" --image 4x16x2 "${net[@]}" -o e.krein
refuse "channels" 2 'the images have 2 channels; begin with convnet\(2-' train a.x.npy "${labels[@]}" --learner 'net(arch="convnet(3-6)")' -o e.krein
refuse "too small" 2 'maxpool' train a.x.npy "${labels[@]}" --learner 'net(arch="convnet(2-6-6-6)")' -o e.krein
refuse "no such network" 2 'there are convnet, resnet and mlp' train a.x.npy "${labels[@]}" --learner 'net(arch="vgg(16)")' -o e.krein
refuse "no labels" 2 'give the labels in a file of their own \(--labels\)' train a.x.npy "${net[@]}" -o e.krein
refuse "images of another shape" 1 '4x16x2, and the model was trained on 8x8x2' predict a.krein wide.x.npy
refuse "a network of other images" 1 'for rows of 8x8x2, and the data have 4x16x2' train wide.x.npy --labels wide.y.npy -m 'learned(file=a.krein)' -o e.krein
refuse "export" 1 'cannot be written as a C program' export a.krein -o e.c
refuse "quantize" 1 'a model with the map network cannot be put into few bits' quantize a.krein --bits 8 -o e.krein
refuse "no memory" 1 'raise --max-memory, or give the learner a smaller batch' train a.x.npy "${labels[@]}" --learner 'net(arch="resnet(20)", batch=200)' --max-memory 8M -o e.krein
head -c 3000 a.krein >cut.krein
refuse "a damaged model" 1 'cut.krein' predict cut.krein t.x.npy

if [[ -r ${KREIN_DATA:-}/cifar10.train.x.npy.gz && ! $SANITIZED ]]; then
    run train "$KREIN_DATA/cifar10.test.x.npy.gz" --labels "$KREIN_DATA/cifar10.test.y.npy.gz" --image 32x32x3 \
        --learner 'net(arch="convnet(3-12-12-12)", epochs=10, batch=32, rate=0.01)' --holdout 0.2 --json -o cifar.krein
    ok "cifar10"
    json "cifar10: better than by chance" 'j["test"]["accuracy"] > 0.2'
else
    skip "cifar10" "KREIN_DATA is not there, or sanitizers are slow"
fi
summary
