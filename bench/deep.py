#!/usr/bin/python3
"""deep.py [--splits N] [--epochs N] [--parts A,B] [--records FILE] [--tables] [--write] -- deep kernels in a few bits.

Figure 3-4 of luo2022 on eeg-eye-state: test accuracy against the bits that the weights between seven layers take, in
32, 8 and 4 bits; half of the rows, drawn at random, are for training. The width of a layer is what the budget allows,
(3.18). Hinge loss, Adam, at most so many epochs, the best on a tenth of the training rows that is held out.
Figure 3-5: the rank of the features of each layer, figure 3-6: their first two principal components, both of test rows,
on the first split.

Beside them random Fourier features with krr and `krein quantize`, whose frequencies and weights take as many bits, and
`krein train` without options. And the speed of models of six layers of 512 frequencies (bench_deep).

Parts: deep, plain, default, speed. With --records the measurements go to FILE as lines of JSON, and those that are there
are not made again. --write puts the tables between the marks in docs/results/deep.md and replaces the figures; without
it they are printed. Needs the benchmark programs (cmake -DKREIN_BENCH=ON).
"""

import argparse
import statistics
import sys
from pathlib import Path

import numpy as np

import common

SET, LAYERS = "eeg-eye-state", 7
BUDGETS = [100_000, 400_000, 1_400_000, 5_000_000]
BITS = [32, 8, 4]
MOST_FEATURES = 4096  # of random Fourier features; more take long to train and gain little
RANK_ROWS, SHOWN = 2000, 500
THESIS = {(1_400_000, 32): 70.03, (1_400_000, 8): 85.37}
SHOW = 1_400_000, (2, 3, 4)  # figure 3-6: budget and layers


def tool():
    path = Path(common.program()).parent / "bench" / "bench_deep"
    if not path.exists():
        sys.exit(f"{path} is not there: cmake -DKREIN_BENCH=ON builds it")
    return path


# ---- data ---------------------------------------------------------------------------------------


def split(number, here):
    """Half of the rows for training, the others for tests; and test rows without labels."""
    import pandas

    path = common.data() / f"{SET}.csv.gz"
    if not path.exists():
        sys.exit(f"{path} is not there: name the folder of data sets in KREIN_DATA")
    rows = pandas.read_csv(path, header=None).to_numpy("float64")
    order = np.random.default_rng(number).permutation(len(rows))
    half = len(rows) // 2
    np.save(here / "train.npy", rows[order[:half]])
    np.save(here / "test.npy", rows[order[half:]])
    np.save(here / "rows.npy", rows[order[half:half + RANK_ROWS], 1:])
    return rows.shape[1] - 1, rows[order[half:half + RANK_ROWS], 0]


def train(here, *options):
    return common.krein("train", here / "train.npy", "--label", "first", "-t", "classification", "--test",
                        here / "test.npy", *options, "-o", here / "model.krein", threads=1)


# ---- deep ---------------------------------------------------------------------------------------


def layers_of(here):
    """Features of each layer of test rows, by the model."""
    common.run([tool(), "features", here / "model.krein", here / "rows.npy", here / "z"])
    return [np.fromfile(here / f"z.{layer}.f32", "<f4").reshape(RANK_ROWS, -1).astype("float64")
            for layer in range(1, LAYERS + 1)]


def rank(z):
    """Singular values above what rounding to float32 makes of zeros."""
    s = np.linalg.svd(z, compute_uv=False)
    return int((s > s[0] * max(z.shape) * np.finfo("float32").eps).sum())


def components(z):
    """The first two principal components; kernel PCA with the kernel z'z."""
    z = z - z.mean(0)
    u, s, _ = np.linalg.svd(z, full_matrices=False)
    return (u[:, :2] * s[:2])[:SHOWN]


def measure_deep(number, here, labels, epochs, records):
    for budget in BUDGETS:
        for bits in BITS:
            if ("deep", SET, number, f"{bits} {budget}") in records.all:
                continue
            spec = f"deep(layers={LAYERS}, memory={budget}, bits={bits}, loss=hinge, epochs={epochs})"
            r = train(here, "-k", "gaussian", "--learner", spec)
            record = {"part": "deep", "set": SET, "split": number, "method": f"{bits} {budget}", "bits": bits,
                      "budget": budget, "value": 100 * r["test"]["accuracy"], "width": r["D"] // 2,
                      "seconds": r["wall"], "learner": r["learner"], "kernel": r["kernel"],
                      "bytes": (here / "model.krein").stat().st_size}
            if number == 0 and bits != 4:
                every = layers_of(here)
                record["rank"] = [rank(z) for z in every]
                if budget == SHOW[0]:
                    record["shown"] = [np.round(components(every[layer - 1]), 4).tolist() for layer in SHOW[1]]
                    record["labels"] = labels[:SHOWN].tolist()
            records.add(record)
            print(f"split {number}, {bits} bits, {budget}: {record['value']:.2f} %, width {record['width']}, "
                  f"{r['wall']:.0f} s", file=sys.stderr, flush=True)


# ---- beside it ----------------------------------------------------------------------------------


def features_for(budget, bits, d):
    """Features whose frequencies (half as many, d numbers each) and weights take the budget; an even number."""
    return min(MOST_FEATURES, int(budget / bits / (d / 2 + 1)) // 2 * 2)


def measure_plain(number, here, d, records):
    for budget in BUDGETS:
        for bits in BITS:
            if ("plain", SET, number, f"{bits} {budget}") in records.all:
                continue
            D = features_for(budget, bits, d)
            same = [r for r in records.of("plain", SET) if (r["split"], r["bits"], r["D"]) == (number, bits, D)]
            if same:  # the budget allows no more
                records.add({**same[0], "method": f"{bits} {budget}", "budget": budget})
                continue
            r = train(here, "-k", "gaussian", "-m", f"rff(D={D})")
            value, model = 100 * r["test"]["accuracy"], here / "model.krein"
            if bits < 32:
                small = here / "small.krein"
                common.krein("quantize", model, "--bits", bits, "--data", here / "train.npy", "--label", "first", "-o",
                             small)
                value = 100 * common.krein("evaluate", small, here / "test.npy", "--label", "first",
                                           threads=1)["metrics"]["accuracy"]
            records.add({"part": "plain", "set": SET, "split": number, "method": f"{bits} {budget}", "bits": bits,
                         "budget": budget, "value": value, "D": D, "seconds": r["wall"], "kernel": r["kernel"]})
            print(f"split {number}, rff({D}) in {bits} bits: {value:.2f} %", file=sys.stderr, flush=True)


def measure_default(number, here, records):
    if ("default", SET, number, "default") in records.all:
        return
    r = train(here)
    records.add({"part": "default", "set": SET, "split": number, "method": "default",
                 "value": 100 * r["test"]["accuracy"], "seconds": r["wall"], "learner": r["learner"],
                 "kernel": r["kernel"], "map": r["map"], "bytes": (here / "model.krein").stat().st_size})
    print(f"split {number}, default: {100 * r['test']['accuracy']:.2f} %", file=sys.stderr, flush=True)


# Instruction sets: name, that of the codes, OpenBLAS's core.
SETS = [("AVX-512", "avx512", "SkylakeX"), ("AVX2", "avx2", "Haswell")]
TARGETS = {("AVX-512", 8): 2.5, ("AVX2", 8): 1.5, ("AVX-512", 1): 8, ("AVX2", 1): 4}


def measure_speed(runs, records):
    for number in range(runs):
        for name, path, core in SETS:
            if ("speed", "six layers", number, name) in records.all:
                continue
            text, _ = common.run([tool(), "speed"], KREIN_TEST_CODES=path, OPENBLAS_CORETYPE=core)
            words = [line.split() for line in text.splitlines() if line.startswith("bits")]
            records.add({"part": "speed", "set": "six layers", "split": number, "method": name,
                         "lines": [dict(zip(w[::2], w[1::2])) for w in words], "load": common.load()})


# ---- tables -------------------------------------------------------------------------------------


def spread(found, digits=1):
    every = [r["value"] for r in found]
    if not every:
        return ""
    text = f"{statistics.fmean(every):.{digits}f}"
    return text + (f" ± {statistics.stdev(every):.{digits}f}" if len(every) > 1 else "")


def accuracy_table(records):
    lines = []
    for budget in BUDGETS:
        for bits in BITS:
            found, plain = records.of("deep", SET, f"{bits} {budget}"), records.of("plain", SET, f"{bits} {budget}")
            if not found:
                continue
            theirs = THESIS.get((budget, bits))
            lines.append([f"{budget:,}", bits, len(found), found[0]["width"], spread(found), f"{theirs:.1f}" if theirs else "",
                          f"{plain[0]['D']:,}" if plain else "", spread(plain),
                          f"{found[0]['bytes'] / 1000:,.0f}"])
    return common.table(["bits in all", "bits", "splits", "width", "deep, %", "thesis, %", "features", "rff, %", "deep, kB"],
                        lines)


def default_table(records):
    found = records.of("default", SET)
    if not found:
        return ""
    return common.table(["", "splits", "accuracy, %", "kB"],
                        [["`krein train`", len(found), spread(found), f"{found[0]['bytes'] / 1000:,.0f}"]]) + \
        f"\nIt chose `{found[0]['learner']}` with `{found[0]['kernel']}` and `{found[0]['map']}` on the first split.\n"


def rank_table(records):
    found = [r for r in records.of("deep", SET) if "rank" in r]
    found.sort(key=lambda r: (r["budget"], -r["bits"]))
    lines = [[f"{r['budget']:,}", r["bits"], 2 * r["width"], *r["rank"]] for r in found]
    return common.table(["bits in all", "bits", "features", *(f"layer {i}" for i in range(1, LAYERS + 1))], lines)


def speed_table(records):
    lines = []
    for name, _, _ in SETS:
        runs = [r["lines"] for r in records.of("speed", "six layers", name)]
        if not runs:
            continue
        base = None
        for i, first in enumerate(runs[0]):
            bits = int(first["bits"])
            many, one = (statistics.median(float(r[i][key]) for r in runs) for key in ("many", "one"))
            base = base or (many, one)
            eight = statistics.median(float(r[1]["many"]) for r in runs)
            target = TARGETS.get((name, bits))
            judged = f"{target}: {'met' if base[0] / many >= target else 'MISSED'}" if target else ""
            if bits == 4:
                judged = f"as fast as 8 bits: {'met' if many <= 1.02 * eight else 'MISSED'}"
            lines.append([f"{name}, {bits} bit{'' if bits == 1 else 's'}", f"{int(first['bytes']) / 1000:,.0f}",
                          f"{many:.1f}", f"{base[0] / many:.2f}", f"{one:,.0f}", judged])
    return common.table(["", "model, kB", "us a row", "times", "one row, us", "target"], lines)


# ---- figures ------------------------------------------------------------------------------------


def figure_accuracy(records):
    error, width = {}, {}
    for bits in BITS:
        for budget in BUDGETS:
            found = records.of("deep", SET, f"{bits} {budget}")
            if not found:
                continue
            every = [100 - r["value"] for r in found]
            bar = statistics.stdev(every) if len(every) > 1 else 0.0
            error.setdefault(f"{bits} bits", []).append((budget, statistics.fmean(every), bar))
            width.setdefault(f"{bits} bits", []).append((budget, found[0]["width"], 0))
    return common.figure(f"{LAYERS} layers on {SET}", [("bits of the weights between layers", "test error, %", error),
                                                       ("bits of the weights between layers", "width of a layer", width)])


def figure_rank(records):
    plots = []
    for bits in (32, 8):
        series = {}
        for budget in BUDGETS:
            for r in records.of("deep", SET, f"{bits} {budget}"):
                for layer, value in enumerate(r.get("rank", []), 1):
                    series.setdefault(layer, []).append((budget, value, 0))
        plots.append((f"bits of the weights between layers, {bits} bits each", "rank of the features", series))
    # Layers that are the same in both plots are one line.
    names = {}
    for layer in plots[0][2]:
        names.setdefault(repr([series[layer] for _, _, series in plots]), []).append(layer)
    together = [layers for layers in names.values() if layers[-1] - layers[0] == len(layers) - 1]
    if len(together) < len(names):
        together = [[layer] for layer in plots[0][2]]
    names = {layers[0]: f"layer {layers[0]}" if len(layers) == 1 else f"layers {layers[0]} to {layers[-1]}"
             for layers in together}
    plots = [(below, beside, {name: series[layer] for layer, name in names.items()}) for below, beside, series in plots]
    return common.figure(f"rank of the features of test rows on {SET}", plots)


def figure_components(records):
    """Scatter plots: a row for 32 bits, one for 8, a column for each layer; the two classes in two colours. The outermost
    hundredth on each side is left out."""
    size, gap, top = 260, 24, 60
    parts, colours = [], ("#0072b2", "#d55e00")
    for row, bits in enumerate((32, 8)):
        found = [r for r in records.of("deep", SET, f"{bits} {SHOW[0]}") if "shown" in r]
        if not found:
            return None
        classes = sorted(set(found[0]["labels"]))
        for column, points in enumerate(found[0]["shown"]):
            x0, y0 = gap + column * (size + gap), top + row * (size + top)
            p = np.array(points)
            low, high = np.percentile(p, 1, axis=0), np.percentile(p, 99, axis=0)
            at = (p - low) / np.maximum(high - low, 1e-12)
            inside = ((at >= 0) & (at <= 1)).all(axis=1)
            at = at * (size - 16) + 8
            parts.append(f'<text x="{x0}" y="{y0 - 8}">layer {SHOW[1][column]}, {bits} bits</text>')
            parts.append(f'<rect x="{x0}" y="{y0}" width="{size}" height="{size}" fill="none" stroke="#999"/>')
            for (x, y), label, shown in zip(at, found[0]["labels"], inside):
                if not shown:
                    continue
                parts.append(f'<circle cx="{x0 + x:.1f}" cy="{y0 + size - y:.1f}" r="2" '
                             f'fill="{colours[classes.index(label)]}" fill-opacity="0.6"/>')
    wide, high = gap + len(SHOW[1]) * (size + gap), 2 * (size + top) + gap
    for i, label in enumerate(classes):
        parts.append(f'<circle cx="{gap + 4 + 90 * i}" cy="32" r="4" fill="{colours[i]}"/>'
                     f'<text x="{gap + 14 + 90 * i}" y="36">class {label:g}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" '
            'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
            f'<text x="{gap}" y="18">first two principal components of the features of test rows, {SHOW[0]:,} bits</text>\n'
            + "\n".join(parts) + "\n</svg>\n")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--splits", type=int, default=3)
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--runs", type=int, default=3, help="of the speed")
    p.add_argument("--parts", type=lambda text: text.split(","), default=["deep", "plain", "default", "speed"])
    p.add_argument("--records", type=Path)
    p.add_argument("--tables", action="store_true", help="measure nothing")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    records = common.Records(a.records)
    print(f"# {common.machine()}", file=sys.stderr)
    for number in range(0 if a.tables else a.splits):
        here = common.folder()
        d, labels = split(number, here)
        if "default" in a.parts:
            measure_default(number, here, records)
        if "plain" in a.parts:
            measure_plain(number, here, d, records)
        if "deep" in a.parts:
            measure_deep(number, here, labels, a.epochs, records)
    if "speed" in a.parts and not a.tables:
        measure_speed(a.runs, records)
    version, _ = common.run([common.program(), "--version"])
    tables = {"machine": f"{version.splitlines()[0]}; {common.cpu()}, one thread a run.\n",
              "accuracy": accuracy_table(records), "default": default_table(records), "rank": rank_table(records),
              "speed": speed_table(records)}
    common.publish(tables, "deep.md" if a.write else None)
    if a.write:
        pages = common.ROOT / "docs" / "results"
        figures = {"deep.svg": figure_accuracy, "deep-rank.svg": figure_rank, "deep-components.svg": figure_components}
        for name, draw in figures.items():
            text = draw(records)
            if text:
                (pages / name).write_text(text)


if __name__ == "__main__":
    main()
