#!/usr/bin/python3
"""fewshot.py [--small] [--parts A,B] [--settings A,B] [--records FILE] [--tables] [--write] -- subspaces of networks, few examples.

Chapter 4 of luo2022 on the data sets that are here.

    path   figure 4-2: a network on cifar10 (8,000 images) by SGD; the principal components of its path over the first third of
           the epochs; trained again in that subspace (P-SGD), from the path's start and from a new one
    shots  figure 4-5: accuracy with K images a class, SGD and P-SGD in the subspace of the training on all of them
    tasks  tables 4-1 and 4-2, figures 4-8 and 4-9: few-shot methods on tinyimagenet32 (128, 32 and 40 classes) and on
           omniglot, in place of CIFAR-FS and MiniImageNet

With --records the measurements go to FILE as lines of JSON, and those that are there are not made again; trainings over
tasks also have a checkpoint beside FILE, so that the script can be stopped anywhere. --settings takes some of the tasks
alone, such as "omniglot 5 1" (set, ways, shots), in that order. --small takes a few steps and tasks
of everything, in some minutes. --tables makes none and shows those of the file. --write puts the tables between the marks
in docs/results/fewshot.md and replaces the figures; without it they are printed. Needs bench/figure (make bench).
"""

import argparse
import gzip
import json
import re
import resource
import shutil
import sys
from pathlib import Path

import numpy as np

import common

PAGE = "fewshot.md"  # of docs/results

# Figures 4-2 and 4-5.
NET, EPOCHS, DIMENSIONS, BATCH, RATE = "resnet(8)", 24, 40, 64, 0.05
SMALL_NET, SHOTS, SHOT_STEPS = "convnet(3-32-32-32)", [5, 20, 80, 320, 800], 1500

# Tables 4-1 and 4-2: set, ways, shots -> meta steps.
SETTINGS = {
    ("tinyimagenet32", 5, 1): 1000,
    ("tinyimagenet32", 5, 5): 1000,
    ("omniglot", 5, 1): 1000,
    ("omniglot", 5, 5): 1000,
    ("tinyimagenet32", 10, 1): 500,
    ("tinyimagenet32", 10, 5): 300,
    ("omniglot", 10, 1): 1000,
}
# Of the steps on a task: the one with the least meta loss behind 200 meta steps, 5 ways and 1 shot, of 1, 3, 10 and 30.
STEP_RATE, META_RATE = {"tinyimagenet32": 1, "omniglot": 10}, 0.0003
SPACES = ["original", "pretrained", "meta", "well"]
OTHERS = ["first-order", "nearest", "matching", "ridge", "ntk"]
FEATURES = ["nearest", "ridge", "ntk"]  # run together: they share a network
SLOW = ["first-order", "matching"]  # only of EVERY_METHOD, and last
EVERY_METHOD = {("tinyimagenet32", 5, 1), ("tinyimagenet32", 5, 5)}
QUERIES, META_QUERIES = 15, 5
THESIS = {  # CIFAR-FS, MiniImageNet
    ("original", 5, 1): (37.95, 34.12), ("original", 5, 5): (53.40, 45.55),
    ("original", 10, 1): (25.75, 20.68), ("original", 10, 5): (39.52, 31.15),
    ("pretrained", 5, 1): (40.66, 36.31), ("pretrained", 5, 5): (56.25, 48.25),
    ("pretrained", 10, 1): (21.12, 18.31), ("pretrained", 10, 5): (26.96, 24.02),
    ("well", 5, 1): (64.00, 58.24), ("well", 5, 5): (70.79, 64.73),
    ("well", 10, 1): (50.39, 43.26), ("well", 10, 5): (64.86, 54.52),
    ("meta", 5, 1): (47.05, 44.07), ("meta", 5, 5): (64.55, 56.84),
    ("meta", 10, 1): (36.66, 30.06), ("meta", 10, 5): (45.92, 37.92),
}


def spent():
    """CPU seconds of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# ---- data ---------------------------------------------------------------------------------------


def unpack(here, name):
    """The set as .npy, once."""
    path = here / f"{name}.npy"
    if not path.exists():
        source = common.data() / f"{name}.npy.gz"
        if not source.exists():
            sys.exit(f"{source} is not there: name the folder of data sets in KREIN_DATA")
        with gzip.open(source) as a, open(path, "wb") as b:
            shutil.copyfileobj(a, b)
    return path


def cifar(here):
    return {part: unpack(here, f"cifar10.{part}") for part in ("train.x", "train.y", "test.x", "test.y")}


def some_of(here, files, shots):
    """So many images of each class, the first of a seeded order."""
    x, y = np.load(files["train.x"]), np.load(files["train.y"])
    order = np.random.default_rng(1).permutation(len(y))
    rows = np.concatenate([order[y[order] == c][:shots] for c in np.unique(y)])
    np.save(here / "some.x.npy", x[rows])
    np.save(here / "some.y.npy", y[rows])
    return {**files, "train.x": here / "some.x.npy", "train.y": here / "some.y.npy"}


# ---- paths --------------------------------------------------------------------------------------


def learner(arch, epochs, rate=RATE, batch=BATCH):
    return f'net(arch="{arch}", optimizer=sgd, epochs={epochs}, rate={rate}, batch={batch}, patience=0)'


def train(command, files, *options):
    """Runs it with the log; gives the object, and held-out accuracy by epoch."""
    before = spent()
    text, _, log = common.run(
        [common.program(), command, files["train.x"], "--labels", files["train.y"], "--image", "32x32x3", "--test",
         files["test.x"], "--test-labels", files["test.y"], "-t", "classification", *options, "--json", "-v"], log=True)
    lines = re.findall(r"epoch (\d+), step \d+: .*held out: .*error ([\d.e-]+)", log)
    curve = [(int(epoch), 100 * (1 - float(error))) for epoch, error in lines]
    return {**json.loads(text), "cpu": spent() - before}, curve


def add_training(records, part, method, found, curve, **more):
    record = {"part": part, "set": "cifar10", "split": 0, "method": method,
              "value": 100 * found["test"]["accuracy"], "seconds": found["cpu"], "curve": curve, **more}
    records.add(record)
    print(f"{part}, {method}: {record['value']:.2f} %, {found['cpu']:.0f} s", file=sys.stderr, flush=True)


def measure_path(here, epochs, records):
    files, P, M = cifar(here), here / "path.krein", here / "model.krein"
    if ("path", "cifar10", 0, "sgd") not in records.all or not P.exists():
        found, curve = train("subspace", files, "--learner", learner(NET, epochs), "--dimensions", DIMENSIONS,
                             "--path-epochs", max(1, epochs // 3), "-o", P, "--model", M)
        add_training(records, "path", "sgd", found, curve, shares=found["shares"], snapshots=found["snapshots"],
                     parameters=found["parameters"], epochs=epochs)
    for start in ("path", "new"):
        if ("path", "cifar10", 0, f"psgd {start}") in records.all:
            continue
        found, curve = train("train", files, "--learner", learner(NET, max(1, epochs // 2), rate=0.2),
                             "--subspace", P, "--subspace-start", start, "-o", M, *(["--seed", 2] if start == "new" else []))
        add_training(records, "path", f"psgd {start}", found, curve)


def measure_shots(here, steps, records):
    files, P, M = cifar(here), here / "shots.krein", here / "model.krein"
    wanted = [(shots, how) for shots in SHOTS for how in ("sgd", "psgd")
              if ("shots", "cifar10", 0, f"{how} {shots}") not in records.all]
    if not wanted:
        return
    for shots in SHOTS[::-1]:  # the subspace comes from all of them
        some = some_of(here, files, shots)
        batch = min(BATCH, 5 * shots)
        epochs = max(2, round(steps * batch / (9 * shots)))  # a tenth is held out
        spec = learner(SMALL_NET, epochs, batch=batch)
        if shots == SHOTS[-1]:
            found, curve = train("subspace", some, "--learner", spec, "--dimensions", DIMENSIONS, "-o", P, "--model", M)
            add_training(records, "shots", f"sgd {shots}", found, curve, shots=shots, epochs=epochs)
        elif (shots, "sgd") in wanted:
            found, curve = train("train", some, "--learner", spec, "-o", M)
            add_training(records, "shots", f"sgd {shots}", found, curve, shots=shots, epochs=epochs)
        if (shots, "psgd") in wanted:
            inside = learner(SMALL_NET, max(2, epochs // 2), rate=0.2, batch=batch)
            found, curve = train("train", some, "--learner", inside, "--subspace", P, "--subspace-start", "path", "-o", M)
            add_training(records, "shots", f"psgd {shots}", found, curve, shots=shots)


# ---- tasks --------------------------------------------------------------------------------------


def few(here, name, ways, shots, methods, options, state):
    if name == "omniglot":
        files = [unpack(here, "omniglot.train.x"), unpack(here, "omniglot.test.x"), "--labels",
                 unpack(here, "omniglot.train.y"), "--test-labels", unpack(here, "omniglot.test.y"), "--image", "28x28x1"]
    else:
        files = [unpack(here, f"{name}.x"), "--labels", unpack(here, f"{name}.y"), "--image", "32x32x3",
                 "--class-split", "128,32,40"]
    queries = min(QUERIES, 20 - shots)  # omniglot has 20 images a class
    command = ["fewshot", *files, "--ways", ways, "--shots", shots, "--queries", queries, "--meta-queries", META_QUERIES,
               *options]
    for method in methods:
        command += ["--method", method]
    if state:
        command += ["--checkpoint", state]
    found = common.krein(*command)
    if state:
        Path(state).unlink(missing_ok=True)
    return found


def key(name, ways, shots):
    return f"{name} {ways} {shots}"


def words(name, ways, shots):
    return f"{name}, {ways} ways, {shots} shot{'s' if shots > 1 else ''}"


def groups(settings):
    """(setting, methods of one run), the most telling first."""
    for setting in settings:
        yield from ((setting, [m]) for m in SPACES)
        yield setting, FEATURES
    for setting in settings:
        yield from ((setting, [m]) for m in SLOW if setting in EVERY_METHOD)


def task_counts(method, ways):
    """For tests and for validation. Each task of `well` trains a network."""
    return (200 if method == "well" else 500) // ways, 80 // ways


def measure_tasks(here, small, records, settings):
    for (name, ways, shots), group in groups(settings):
        part, steps = key(name, ways, shots), 10 if small else SETTINGS[name, ways, shots]
        if all(("tasks", part, 0, m) in records.all for m in group):
            continue
        tests, validation = (8, 4) if small else task_counts(group[0], ways)
        options = ["--tasks", tests, "--meta-steps", steps, "--validate-every", 5 if small else 50, "--validation-tasks",
                   validation, "--rate", STEP_RATE[name], "--meta-rate", META_RATE, "--epochs", 1 if small else 15,
                   "--path-epochs", 5 if small else 15, "--test-steps", 8 if small else 40]
        state = f"{records.path}.{part.replace(' ', '-')}-{group[0]}.state" if records.path else None
        before = spent()
        found = few(here, name, ways, shots, group, options, state)
        share = (spent() - before) / sum(r["seconds"] for r in found["results"])  # CPU seconds of a second
        for method in group:
            results = [r for r in found["results"] if r["method"] == method]
            for r in results:
                r["seconds"] *= share
                print(f"{part}, {method}: {100 * r['accuracy']:.2f} ± {100 * r['sd']:.2f} %, {r['seconds']:.0f} s, "
                      f"{r['detail']}", file=sys.stderr, flush=True)
            records.add({"part": "tasks", "set": part, "split": 0, "method": method, "results": results, "steps": steps,
                         "parameters": found["parameters"]})


# ---- tables -------------------------------------------------------------------------------------


def only(records, part, name, method):
    found = records.of(part, name, method)
    return found[0] if found else None


def path_table(records):
    lines = []
    for method, text in (("sgd", "SGD"), ("psgd path", "P-SGD, from the path's start"), ("psgd new", "P-SGD, from a new start")):
        r = only(records, "path", "cifar10", method)
        if r:
            lines.append([text, f"{r['value']:.2f}", len(r["curve"]), f"{r['seconds']:.0f}"])
    sgd = only(records, "path", "cifar10", "sgd")
    text = common.table([f"{NET} on cifar10", "test accuracy, %", "epochs", "CPU seconds"], lines)
    if sgd:
        shares = sgd["shares"]
        text += (f"\nThe path has {sgd['snapshots']} snapshots of {sgd['parameters']:,} parameters; the first component has "
                 f"{100 * shares[0]:.1f} % of its variance, the first five {100 * sum(shares[:5]):.1f} %, all {len(shares)} "
                 f"{100 * sum(shares):.1f} %. (Thesis, ResNet-20 on 50,000 images: 59.7 %; SGD 91.64, P-SGD 91.28 %.)\n")
    return text


def shots_table(records):
    lines = []
    for shots in SHOTS:
        a, b = (only(records, "shots", "cifar10", f"{how} {shots}") for how in ("sgd", "psgd"))
        if a and b:
            lines.append([shots, f"{a['value']:.2f}", f"{b['value']:.2f}", f"{b['value'] - a['value']:+.2f}"])
    return common.table(["images a class", "SGD, %", "P-SGD, %", "difference"], lines)


def cell(r):
    return f"{100 * r['accuracy']:.2f} ± {100 * r['sd']:.2f} (± {100 * r['interval']:.2f})"


def spaces_table(records):
    lines = []
    for name, ways, shots in SETTINGS:
        found = [only(records, "tasks", key(name, ways, shots), m) for m in SPACES]
        if any(found):
            lines.append([words(name, ways, shots), *(cell(r["results"][0]) if r else "" for r in found),
                          " / ".join(f"{THESIS[m, ways, shots][0]:.0f}" for m in SPACES)])
    return common.table(["", *SPACES, "thesis, CIFAR-FS"], lines)


def others_table(records):
    lines = []
    for name, ways, shots in SETTINGS:
        for method in ["original", "meta"] + OTHERS:
            r = only(records, "tasks", key(name, ways, shots), method)
            for result in r["results"] if r else []:
                lines.append([words(name, ways, shots), method, result["detail"] or "", cell(result), f"{result['seconds']:.0f}"])
    return common.table(["", "method", "", "accuracy, %", "CPU seconds"], lines)


def difference(below, above):
    """Mean difference in points on the tasks that both were measured on, and half of its 95 % interval."""
    a, b = (r["results"][0]["values"] for r in (below, above))
    d = 100 * (np.array(b[:len(a)]) - np.array(a[:len(b)]))
    return d.mean(), 1.96 * d.std(ddof=1) / len(d) ** 0.5


def verdict(mean, half):
    return "yes" if mean > half else "no" if mean < -half else "open"


def order_of(records):
    """What holds of the thesis' order, setting by setting: its neighbours, and meta beside all parameters."""
    lines, ends = [], [("original", "meta"), ("meta", "well")]
    pairs = {5: [("original", "pretrained"), ("pretrained", "meta"), *ends], 10: [("pretrained", "original"), *ends]}
    for name, ways, shots in SETTINGS:
        found = {m: only(records, "tasks", key(name, ways, shots), m) for m in SPACES}
        for below, above in pairs[ways]:
            if found[below] and found[above]:
                mean, half = difference(found[below], found[above])
                lines.append([words(name, ways, shots), f"{below} < {above}", f"{mean:+.2f} ± {half:.2f}", verdict(mean, half)])
    return common.table(["", "the thesis", "difference here, points", "holds"], lines)


def same_steps(records):
    """Accuracy behind the 5 steps that the subspace is learned for."""
    lines = []
    for name, ways, shots in SETTINGS:
        curves = [r["results"][0]["curve"] if r else None
                  for r in (only(records, "tasks", key(name, ways, shots), m) for m in SPACES)]
        if any(curves):
            lines.append([words(name, ways, shots),
                          *(f"{100 * c['accuracy'][c['steps'].index(5)]:.2f}" if c else "" for c in curves)])
    return common.table(["behind 5 steps, %", *SPACES], lines)


# ---- figures ------------------------------------------------------------------------------------


def figure_path(records):
    runs = {text: only(records, "path", "cifar10", m)
            for m, text in (("sgd", "SGD"), ("psgd path", "P-SGD"), ("psgd new", "P-SGD, new start"))}
    if not all(runs.values()):
        return None
    shares = runs["SGD"]["shares"]
    left = {name: [] for name in runs}
    left["SGD"] = [(k + 1, 100 * s, 0) for k, s in enumerate(shares[:20])]
    right = {name: [(e, v, 0) for e, v in r["curve"]] for name, r in runs.items()}
    return common.figure("Figure 4-2", [("component", "share of the path's variance, %", left, "linear"),
                                        ("epoch", "held-out accuracy, %", right, "linear")])


def figure_shots(records):
    series = {name: [(r["shots"], r["value"], 0) for shots in SHOTS
                     for r in [only(records, "shots", "cifar10", f"{how} {shots}")] if r]
              for how, name in (("sgd", "SGD"), ("psgd", "P-SGD"))}
    if not all(series.values()):
        return None
    error = {name: [(x, 100 - y, 0) for x, y, _ in points] for name, points in series.items()}
    return common.figure("Figure 4-5", [("images a class", "test accuracy, %", series, "linear"),
                                        ("images a class", "test error, %", error)])


def figure_meta(records):
    left, right = {}, {}
    for shots in (1, 5):
        r = only(records, "tasks", f"tinyimagenet32 5 {shots}", "meta")
        if not r:
            return None
        looks, name = r["results"][0]["meta"], words("tinyimagenet32", 5, shots)
        left[name] = [(s, v, 0) for s, v in zip(looks["steps"], looks["loss"]) if v is not None]
        right[name] = [(s, 100 * v, 0) for s, v in zip(looks["steps"], looks["validation"])]
    return common.figure("Figure 4-8", [("meta step", "meta loss", left, "linear"),
                                        ("meta step", "validation accuracy, %", right, "linear")])


def figure_steps(records):
    plots = []
    for shots in (1, 5):
        series = {}
        for method in SPACES:
            r = only(records, "tasks", f"tinyimagenet32 5 {shots}", method)
            if not r:
                return None
            curve = r["results"][0]["curve"]
            series[method] = [(s, 100 * v, 0) for s, v in zip(curve["steps"], curve["accuracy"])]
        plots.append((f"steps on a test task, {shots} shot{'s' if shots > 1 else ''}", "query accuracy, %", series, "linear"))
    return common.figure("Figure 4-9", plots)


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--small", action="store_true")
    ask.add_argument("--parts", default="path,shots,tasks")
    ask.add_argument("--settings", default=",".join(key(*s) for s in SETTINGS))
    ask.add_argument("--records", type=Path)
    ask.add_argument("--tables", action="store_true")
    ask.add_argument("--write", action="store_true")
    asked = ask.parse_args()
    settings = [{key(*s): s for s in SETTINGS}[text] for text in asked.settings.split(",")]
    records = common.Records(asked.records)
    machine = common.machine()
    if not asked.tables:
        here = asked.records.with_suffix(".files") if asked.records else common.folder()
        here.mkdir(exist_ok=True)
        parts = asked.parts.split(",")
        if "path" in parts:
            measure_path(here, 2 if asked.small else EPOCHS, records)
        if "shots" in parts:
            measure_shots(here, 30 if asked.small else SHOT_STEPS, records)
        if "tasks" in parts:
            measure_tasks(here, asked.small, records, settings)
        records.add({"part": "machine", "set": "", "split": 0, "method": "", "text": machine})
    used = sum(r.get("seconds", 0) for r in records.all.values())
    used += sum(x["seconds"] for r in records.all.values() for x in r.get("results", []))
    ran = only(records, "machine", "", "")
    drawn = {"path": ("4-2", figure_path), "shots": ("4-5", figure_shots), "meta": ("4-8", figure_meta),
             "steps": ("4-9", figure_steps)}
    figures = {name: (number, draw(records)) for name, (number, draw) in drawn.items()} if asked.write else {}
    links = [f"![Figure {number}](fewshot-{name}.svg)\n" for name, (number, svg) in figures.items() if svg]
    common.publish({"machine": f"{ran['text'] if ran else machine}. All measurements together: {used / 60:.0f} CPU minutes.\n",
                    "path": path_table(records), "shots": shots_table(records), "spaces": spaces_table(records),
                    "order": order_of(records), "same": same_steps(records), "others": others_table(records), "figures": "\n".join(links)},
                   PAGE if asked.write else None)
    if asked.write:
        for name, (_, svg) in figures.items():
            if svg:
                (common.ROOT / "docs" / "results" / f"fewshot-{name}.svg").write_text(svg)


if __name__ == "__main__":
    main()
