#!/usr/bin/python3
"""askl.py [--sets A,B] [--splits N] [--records FILE] [--tables] [--write] -- automated spectral kernel learning.

Table 6.5 of the thesis behind li2020: five machines with features cos(W'x + b) + cos(V'x + b) and the Gaussian kernel
to start from. SK and NSK leave the frequencies as they were drawn, SKL and NSKL train them, ASKL trains them with other
penalties; SK and SKL have V = W. All are the presets of `askl` and nothing else but `-k gaussian`. Beside them
`krein train` with no option. 80 % of the rows, drawn at random, are for training. The splits come one after the other,
each with all sets: what was measured when the program is stopped is in the records.

Figure 6.2: error of held-out rows and objective on mnist, every 200 steps; from the runs of its first split.

With --records the measurements go to FILE as lines of JSON, and those that are there are not made again. --write
puts the tables between the marks in docs/results/askl.md and replaces askl.svg; without it they are printed.
"""

import argparse
import json
import math
import re
import shutil
import statistics
import sys
from pathlib import Path

import numpy as np

import common

MACHINES = ["sk", "nsk", "skl", "nskl", "askl"]
SHARE, DEFAULT = 0.8, "default"
NUMBERS = ["abalone", "space_ga", "cpusmall", "cadata"]
HALVES = ["satimage", "usps", "pendigits", "letter", "shuttle"]  # in two files
CLASSES = ["segment", "satimage", "usps", "pendigits", "letter", "poker", "shuttle", "mnist"]
# By what a split takes.
SETS = ["space_ga", "abalone", "segment", "cpusmall", "satimage", "pendigits", "cadata", "poker", "letter", "shuttle",
        "usps", "mnist"]
# Splits at most of (set, method), "": all of them.
LIMITS = {("mnist", ""): 1, ("", DEFAULT): 3}
SCALE = {"mnist": "none"}  # its pixels have one unit
EVERY = 200  # steps between two points of the curves
DIGITS = {"abalone": 3, "cpusmall": 3}  # in the table, else 2
UNITS = {"cadata": 1e-3, "space_ga": 100}  # of the errors in the table


# ---- data ---------------------------------------------------------------------------------------


def read(name):
    """The rows of a set, label first; None where a file is missing."""
    import gzip

    import pandas

    if name == "mnist":
        paths = [common.data() / f"mnist.{part}.{side}.npy.gz" for part in ("train", "test") for side in "yx"]
    else:
        paths = [common.data() / f"{name}{part}.csv.gz" for part in ((".train", ".test") if name in HALVES else ("",))]
    if not all(path.exists() for path in paths):
        return None
    if name != "mnist":
        return np.vstack([pandas.read_csv(path, header=None, dtype="float64").to_numpy() for path in paths])
    y, x, test_y, test_x = (np.load(gzip.open(path)) for path in paths)
    return np.column_stack([np.concatenate([y, test_y]), np.concatenate([x, test_x]).reshape(len(y) + len(test_y), -1)])


def write_split(name, rows, number, here):
    """Training and test rows as arguments of the program. Mnist has its own split first."""
    order = np.random.default_rng(number).permutation(len(rows))
    n = round(SHARE * len(rows))
    if name == "mnist":
        n = 60000
        order = np.arange(len(rows)) if number == 0 else order
    for file, part in (("train.npy", order[:n]), ("test.npy", order[n:])):
        np.save(here / file, rows[part].astype("float32" if name == "mnist" else "float64"))
    return [here / "train.npy", "--label", "first", "--test", here / "test.npy", "-t",
            "regression" if name in NUMBERS else "classification"]


# ---- measurements -------------------------------------------------------------------------------


# Those with the same features at the start: sigma is chosen for the first, on the first split.
SAME = {"skl": "sk", "nskl": "nsk", "askl": "nsk"}


def options(name, method, curve, records):
    if method == DEFAULT:
        return []
    first = records.all.get(("table", name, 0, SAME.get(method, method)))
    report = f", report={EVERY}" if curve else ""
    return ["-k", first["kernel"] if first else "gaussian", "--scale", SCALE.get(name, "standard"), "--learner",
            f"askl(preset={method}{report})"]


LINE = re.compile(r"step (\d+): loss \S+, objective (\S+), held out: loss \S+, error (\S+)")


def train(arguments, curve):
    """The report of the program and, with curve, [step, held-out error, objective] of the lines of its log."""
    if not curve:
        return common.krein("train", *arguments, threads=1), None
    text, seconds, log = common.run([common.program(), "train", *arguments, "--json", "-vv", "-j", 1], log=True)
    points = [[int(m[1]), float(m[3]), float(m[2])] for m in LINE.finditer(log)]
    return {**json.loads(text), "wall": seconds}, points


def measure(name, rows, number, methods, records, work):
    here = work / f"{name}.{number}"
    here.mkdir()
    files = write_split(name, rows, number, here)
    for method in methods:
        curve = (name, number) == ("mnist", 0) and method != DEFAULT
        r, points = train([*files, *options(name, method, curve, records), "-o", here / "model.krein"], curve)
        test = r["test"]
        records.add({"part": "table", "set": name, "split": number, "method": method, "n": r["n"],
                     "value": test["rmse"] if name in NUMBERS else 100 * test["accuracy"], "seconds": r["wall"],
                     "kernel": r["kernel"], "map": r["map"], "learner": r["learner"], "D": r["D"], "curve": points})
        print(f"{name} split {number} {method}: {records.all['table', name, number, method]['value']:.5g}, "
              f"{r['wall']:.0f} s", file=sys.stderr, flush=True)
    shutil.rmtree(here)


def splits_of(name, method, most):
    return min([most, *(k for (s, m), k in LIMITS.items() if s in ("", name) and m in ("", method))])


def measure_all(names, most, only, records):
    work, data = common.folder(), {}
    for number in range(most):
        for name in names:
            methods = [m for m in only if number < splits_of(name, m, most) and
                       ("table", name, number, m) not in records.all]
            if not methods:
                continue
            if name not in data:
                data[name] = read(name)
                if data[name] is None:
                    print(f"{name}: not in {common.data()}, skipped", file=sys.stderr)
            if data[name] is not None:
                measure(name, data[name], number, methods, records, work)


# ---- tables, figure -----------------------------------------------------------------------------

THESIS = {
    "segment": "89.93 2.12 90.15 2.08 94.58 1.86 94.37 0.81 95.02 1.54",
    "satimage": "74.54 1.35 75.15 1.38 83.61 1.08 83.74 1.34 85.32 1.45",
    "usps": "93.19 2.84 93.81 2.13 95.13 0.91 95.27 1.65 97.76 1.14",
    "pendigits": "96.93 1.53 97.39 1.41 98.19 2.30 98.28 1.68 99.06 1.26",
    "letter": "76.50 1.21 78.21 1.56 93.60 1.14 94.66 2.21 95.70 1.74",
    "poker": "49.80 2.11 51.85 0.97 54.27 2.72 54.69 1.68 54.85 1.28",
    "shuttle": "98.17 2.81 98.21 1.46 98.87 1.42 98.74 1.07 98.98 0.94",
    "mnist": "96.03 2.21 96.45 2.16 96.67 1.61 98.03 1.16 98.26 1.78",
    "abalone": "10.09 0.42 9.71 0.28 8.35 0.28 7.85 0.42 7.88 0.16",
    "space_ga": "11.86 0.26 11.58 0.42 11.40 0.18 11.39 0.46 11.34 0.27",
    "cpusmall": "2.77 0.71 2.84 0.38 2.56 0.72 2.57 0.63 2.42 0.48",
    "cadata": "50.31 0.92 51.47 0.32 47.67 0.33 47.71 0.30 46.34 0.23"}


def values(records, name, method):
    return {r["split"]: r["value"] * UNITS.get(name, 1) for r in records.of("table", name, method)}


def spread(found, count, digits):
    """Mean ± standard deviation; the number of splits where it is not that of the line."""
    every = list(found.values())
    if not every:
        return ""
    text = f"{statistics.fmean(every):.{digits}f}"
    if len(every) > 1:
        text += f" ± {statistics.stdev(every):.{digits}f}"
    return text if len(every) == count else f"{text} ({len(every)})"


def thesis(name):
    v = list(map(float, THESIS[name].split()))
    return list(zip(v[::2], v[1::2]))


def main_table(records, names):
    lines = []
    for name in names:
        every = [values(records, name, m) for m in [*MACHINES, DEFAULT]]
        count = max(map(len, every))
        if count:
            lines.append([name, count, *(spread(found, count, DIGITS.get(name, 2)) for found in every)])
            lines.append(["thesis", "", *(f"{mean:.2f} ± {sd:.2f}" for mean, sd in thesis(name)), ""])
    return common.table(["set", "splits", *(m.upper() for m in MACHINES), "`krein train`"], lines)


def better(name, a, b):
    """How much better b is than a on the same splits; mean and its standard error (None: one split)."""
    sign = -1 if name in NUMBERS else 1
    both = [sign * (b[s] - a[s]) for s in sorted(a.keys() & b.keys())]
    if not both:
        return None
    return statistics.fmean(both), statistics.stdev(both) / math.sqrt(len(both)) if len(both) > 1 else None


PAIRS = [("sk", "skl"), ("nsk", "nskl"), ("nskl", "askl"), ("sk", "nsk"), ("skl", "nskl"), (DEFAULT, "askl")]


def order_table(records, names):
    """What each machine has over another, on the same splits."""
    lines = []
    for name in names:
        cells, digits = [], DIGITS.get(name, 2)
        for a, b in PAIRS:
            found = better(name, values(records, name, a), values(records, name, b))
            cells.append("" if not found else f"{found[0]:+.{digits}f}" +
                         ("" if found[1] is None else f" ± {found[1]:.{digits}f}"))
        if any(cells):
            lines.append([name, *cells])
    title = {**{m: m.upper() for m in MACHINES}, DEFAULT: "`krein train`"}
    return common.table(["set", *(f"{title[b]} over {title[a]}" for a, b in PAIRS)], lines)


def seconds_table(records, names):
    lines = []
    for name in names:
        every = [records.of("table", name, m) for m in [*MACHINES, DEFAULT]]
        if any(every):
            lines.append([name, *(f"{statistics.median(r['seconds'] for r in found):.0f}" if found else ""
                                  for found in every)])
    return common.table(["set", *(m.upper() for m in MACHINES), "`krein train`"], lines)


def curves(records):
    return {m: r["curve"] for m in MACHINES for r in records.of("table", "mnist", m) if r["curve"]}


def figure(records):
    found = curves(records)
    plots = [("steps of 32 rows", "held-out error, %", {m.upper(): [(s, 100 * e, 0) for s, e, _ in c]
                                                        for m, c in found.items()}),
             ("steps of 32 rows", "objective", {m.upper(): [(s, o, 0) for s, _, o in c] for m, c in found.items()})]
    return common.figure("training on mnist", plots)


def curve_table(records):
    """Accuracy of held-out rows and objective at some of the steps."""
    found = curves(records)
    steps = sorted({s for c in found.values() for s, _, _ in c})
    some = [s for s in (200, 600, 1000, 2000, 4000, 8000, 12000, 16000, 20000) if s in steps]
    lines = []
    for m, c in found.items():
        at = {s: (e, o) for s, e, o in c}
        lines.append([m.upper(), *(f"{100 - 100 * at[s][0]:.2f}, {at[s][1]:.3g}" if s in at else "" for s in some)])
    return common.table(["accuracy, objective at step", *some], lines)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sets", type=lambda text: text.split(","), default=SETS)
    p.add_argument("--methods", type=lambda text: text.split(","), default=[*MACHINES, DEFAULT])
    p.add_argument("--splits", type=int, default=10)
    p.add_argument("--records", type=Path)
    p.add_argument("--tables", action="store_true", help="measure nothing")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    records = common.Records(a.records)
    print(f"# {common.machine()}", file=sys.stderr)
    if not a.tables:
        measure_all(a.sets, a.splits, a.methods, records)
    version, _ = common.run([common.program(), "--version"])
    machine = f"{version.splitlines()[0]}; {common.cpu()}, one thread a run.\n"
    tables = {"machine": machine, "classes": main_table(records, CLASSES), "numbers": main_table(records, NUMBERS),
              "order": order_table(records, CLASSES + NUMBERS), "seconds": seconds_table(records, CLASSES + NUMBERS),
              "curves": curve_table(records)}
    common.publish(tables, "askl.md" if a.write else None)
    if a.write and curves(records):
        (common.ROOT / "docs" / "results" / "askl.svg").write_text(figure(records))


if __name__ == "__main__":
    main()
