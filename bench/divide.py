#!/usr/bin/python3
"""divide.py [--sets A,B] [--splits N] [--jobs N] [--records FILE] [--tables] [--write] -- divide and conquer on real
data: figures 6.7 and 6.9 of the thesis behind li2019distributed.

Classification error of `dckrr` against the number of features M in 20 parts, and against the number of parts m with
500 features: on random Fourier features (KRR-DC-RF), on Nystrom features, on kernel matrices (KRR-DC), and undivided.
The sets are covtype (the second class against the rest) and higgs, as far as KREIN_DATA has them; rows are drawn anew
for each split. The width of the Gaussian is chosen once for each set, by `krein train -k gaussian` on a split that
is not used again; lambda in each run by leave-one-out of the averaged model, but where a method's name says otherwise.

With --records the measurements go to FILE as lines of JSON, and those that are there are not made again. --write
puts the tables into docs/results/divide.md and the figures beside it.
"""

import argparse
import math
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import common

PARTS, FEATURES = 20, 500
OWN, WHOLE = "auto", "lambda of one part"


@dataclass
class Set:
    files: list
    positive: int  # the label of one class; all others are the other
    train: int
    test: int
    splits: int
    features: list
    parts: list
    exact: dict  # parts of kernel matrices: splits


SETS = {
    "covtype": Set(["covtype"], 1, 100000, 20000, 3, [20, 50, 100, 200, 500, 1000],
                   [1, 5, 20, 50, 100, 200, 500], {20: 1}),
    "higgs": Set(["higgs.train", "higgs.test"], 1, 6000, 1500, 4, [10, 20, 50, 100, 200, 500, 1000],
                 [1, 2, 5, 10, 20, 50, 100], {5: 3, 10: 4, 20: 4, 50: 4, 100: 4}),
}


def load(name):
    """Class first, or None where a file is missing."""
    import pandas

    paths = [common.data() / f"{file}.csv.gz" for file in SETS[name].files]
    if not all(path.exists() for path in paths):
        return None
    rows = np.vstack([pandas.read_csv(path, header=None, dtype="float32").to_numpy() for path in paths])
    rows[:, 0] = rows[:, 0] == SETS[name].positive
    return rows


# ---- measurements -------------------------------------------------------------------------------


def write_split(rows, name, number, n, work):
    """n rows for training."""
    order, s = np.random.default_rng(number).permutation(len(rows)), SETS[name]
    files = work / f"{name}.{number}.train.npy", work / f"{name}.{number}.test.npy"
    np.save(files[0], rows[order[:n]])
    np.save(files[1], rows[order[n: n + s.test]])
    return files


def train(files, *arguments):
    return common.krein("train", files[0], "--label", "first", "-t", "classification", *arguments, "--test", files[1],
                        "-o", files[0].with_suffix(".krein"), threads=1)


def sigma(rows, name, records, work):
    if ("sigma", name, 100) not in records.all:
        files = write_split(rows, name, 100, min(20000, SETS[name].train), work)
        kernel = train(files, "-k", "gaussian", "-m", "rff", "-D", FEATURES)["kernel"]
        records.add({"part": "sigma", "set": name, "split": 100, "kernel": kernel})
    return records.all["sigma", name, 100]["kernel"]


def methods(name):
    """Names of the runs of a set: (map, M, m, how lambda is chosen): splits at most."""
    s = SETS[name]
    both = [(M, PARTS) for M in s.features] + [(FEATURES, m) for m in s.parts]
    out = {("rff", M, m, OWN): s.splits for M, m in both}
    out |= {("nystrom", M, m, OWN): s.splits for M, m in both if M <= FEATURES}
    out |= {("rff", M, 1, OWN): s.splits for M in s.features}
    out |= {("rff", FEATURES, m, WHOLE): s.splits for m in s.parts if m > 1}
    out |= {("exact", 0, m, OWN): k for m, k in s.exact.items()}
    return out


def regularisation(name, number, method, records):
    kind, M, m, how = method
    if how == WHOLE:
        return records.all["curves", name, number, str((kind, M, 1, OWN))]["lambda"]
    if kind == "exact" and SETS[name].train / m > 2048:  # a path of such matrices would take minutes
        return records.all["curves", name, number, str(("rff", max(SETS[name].features), m, OWN))]["lambda"]
    return "auto"


def measure(rows, name, kernel, number, records, work):
    files = None
    for method, splits in methods(name).items():
        if number > splits or ("curves", name, number, str(method)) in records.all:
            continue
        files = files or write_split(rows, name, number, SETS[name].train, work)
        kind, M, m, how = method
        value = regularisation(name, number, method, records)
        r = train(files, "-k", kernel, "-m", kind, *(["-D", M] if M else []), "--learner", f"dckrr(parts={m})",
                  "-l", value, "-s", number)
        records.add({"part": "curves", "set": name, "split": number, "method": str(method), "error": r["test"]["error"],
                     "lambda": r["lambda"], "seconds": r["seconds"]["fit"], "load": common.load()})
    for file in files or []:
        file.unlink()


def measure_all(names, most, records, jobs):
    work = common.folder()
    with ThreadPoolExecutor(jobs) as pool:
        futures = []
        for name in names:
            rows = load(name)
            if rows is None:
                print(f"{name}: not in {common.data()}, skipped", file=sys.stderr)
                continue
            kernel = sigma(rows, name, records, work)
            for number in range(1, min(most or 100, SETS[name].splits) + 1):
                futures.append(pool.submit(measure, rows, name, kernel, number, records, work))
        for future in futures:
            future.result()


# ---- tables, figures ----------------------------------------------------------------------------


def of(records, name, method):
    """Mean error in percent and its standard error (0 where there is one run); None: no run."""
    every = [100 * r["error"] for r in records.of("curves", name, str(method))]
    if not every:
        return None
    return statistics.fmean(every), statistics.stdev(every) / math.sqrt(len(every)) if len(every) > 1 else 0


def series_of(name):
    """name in the figure: (method at M features, method at m parts); None: not measured."""
    exact = SETS[name].exact
    return {"KRR-DC-RF": (lambda M: ("rff", M, PARTS, OWN), lambda m: ("rff", FEATURES, m, OWN)),
            "KRR-DC-RF, lambda of one part": (lambda M: None, lambda m: ("rff", FEATURES, m, WHOLE if m > 1 else OWN)),
            "Nyström in parts": (lambda M: ("nystrom", M, PARTS, OWN), lambda m: ("nystrom", FEATURES, m, OWN)),
            "KRR-RF, undivided": (lambda M: ("rff", M, 1, OWN), lambda m: ("rff", FEATURES, 1, OWN)),
            "KRR-DC, kernel matrices": (lambda M: ("exact", 0, PARTS, OWN),
                                        lambda m: ("exact", 0, m, OWN) if m in exact else None)}


def cells(records, name, method, digits=2):
    found = of(records, name, method) if method else None
    return "" if not found else f"{found[0]:.{digits}f}" + (f" ± {found[1]:.{digits}f}" if found[1] else "")


def curve_table(records, name, which):
    values = (SETS[name].features, SETS[name].parts)[which]
    lines = [[label, *(cells(records, name, pair[which](v)) for v in values)] for label, pair in series_of(name).items()]
    return common.table([("error in %, 20 parts: M =", "error in %, M = 500: m =")[which], *values],
                        [line for line in lines if any(line[1:])])


def lambda_table(records, name):
    lines = []
    for label, kind in (("rff", "rff"), ("nystrom", "nystrom")):
        every = [records.of("curves", name, str((kind, FEATURES, m, OWN))) for m in SETS[name].parts]
        lines.append([label, *(f"{statistics.median(r['lambda'] for r in found):.1e}" if found else "" for found in every)])
    return common.table(["lambda chosen, median: m =", *SETS[name].parts], lines)


def figure(records, name):
    plots = []
    for which, (values, below) in enumerate(((SETS[name].features, "features M, 20 parts"),
                                             (SETS[name].parts, "parts m, 500 features"))):
        series = {}
        for label, pair in series_of(name).items():
            found = [(v, of(records, name, pair[which](v)) if pair[which](v) else None) for v in values]
            series[label] = [(v, *f) for v, f in found if f]
        plots.append((below, "error, %", series))
    return common.figure(f"divide and conquer on {name}", plots)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS))
    p.add_argument("--splits", type=int)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--records", type=Path)
    p.add_argument("--tables", action="store_true", help="measure nothing")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    records = common.Records(a.records)
    print(f"# {common.machine()}", file=sys.stderr)
    if not a.tables:
        measure_all(a.sets, a.splits, records, a.jobs)
    tables = {f"{name} {part}": make(records, name) for name in a.sets for part, make in (
        ("features", lambda r, n: curve_table(r, n, 0)), ("parts", lambda r, n: curve_table(r, n, 1)),
        ("lambda", lambda_table))}
    common.publish(tables, "divide.md" if a.write else None)
    for name in a.sets if a.write else []:
        (common.ROOT / "docs" / "results" / f"divide-{name}.svg").write_text(figure(records, name))


if __name__ == "__main__":
    main()
