#!/usr/bin/python3
"""divide.py [--sets A,B] [--splits N] [--records FILE] [--kept] [--write] -- divide and conquer on real data: figures
6.7 and 6.9 of the thesis behind li2019distributed, by `krein compare`.

Classification error and CPU seconds of `dckrr` against the number of features M in 20 parts, and against the number of
parts m with 500 features: on random Fourier features (KRR-DC-RF), on Nystrom features, on kernel matrices (KRR-DC), and
undivided. The sets are covtype (the second class against the rest; some of its rows) and higgs, as far as KREIN_DATA has
them. The width of the Gaussian is chosen once for each set, by `krein train -k gaussian` on a split that is not used
again, the pilot; lambda in each run by leave-one-out of the averaged model, but where it is the pilot's.

With --records what the pilots chose goes to FILE as lines of JSON, the runs to FILE.results (with the pilot's lambda to
FILE.lambda), and what is there is not measured again; with --kept nothing else is. --write
puts the tables into docs/results/divide.md and the figures beside it.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import common

PARTS, FEATURES, HOLDOUT, PILOT = 20, 500, 0.2, 100  # PILOT: the seed of its split
OWN, WHOLE = "leave-one-out", "lambda of one part"


@dataclass
class Set:
    files: list
    positive: int  # the label of one class; all others are the other
    rows: int  # so many of them are drawn
    features: list
    parts: list
    exact: list  # parts of kernel matrices


SETS = {
    "covtype": Set(["covtype"], 1, 25000, [20, 50, 100, 200, 500], [1, 5, 20, 50, 100, 200], [20, 50, 100, 200]),
    "higgs": Set(["higgs.train", "higgs.test"], 1, 7500, [10, 20, 50, 100, 200, 500, 1000], [1, 2, 5, 10, 20, 50, 100],
                 [5, 10, 20, 50, 100]),
}


def write_rows(name, work):
    """Class first; None where a file is missing."""
    import pandas

    s, file = SETS[name], work / f"{name}.npy"
    paths = [common.data() / f"{part}.csv.gz" for part in s.files]
    if not all(path.exists() for path in paths):
        return None
    rows = np.vstack([pandas.read_csv(path, header=None, dtype="float32").to_numpy() for path in paths])
    rows[:, 0] = rows[:, 0] == s.positive
    np.save(file, rows[np.random.default_rng(1).permutation(len(rows))[: s.rows]])
    return file


# ---- measurements -------------------------------------------------------------------------------


def pilot(file, name, records, what, *options):
    """What a training on the pilot's split chose."""
    if ("pilot", name, PILOT, what) not in records.all:
        r = common.krein("train", file, "--label", "first", "-t", "classification", *options, "--holdout", HOLDOUT,
                         "--seed", PILOT, "-o", file.with_suffix(".krein"), threads=1)
        records.add({"part": "pilot", "set": name, "split": PILOT, "method": what, "kernel": r["kernel"],
                     "lambda": r["lambda"]})
    return records.all["pilot", name, PILOT, what]


def measure(name, file, records, results, given, *splits):
    """Rows of compare by method: (map, M, m, how lambda is chosen)."""
    s = SETS[name]
    kernel = pilot(file, name, records, "sigma", "-k", "gaussian", "-m", "rff", "-D", FEATURES)["kernel"]
    one = pilot(file, name, records, "lambda", "-k", kernel, "-m", "rff", "-D", FEATURES, "--learner",
                "dckrr(parts=1)")["lambda"]

    def call(maps, parts, how=OWN, *options):
        return common.Call([(kind, M, m, how) for m in parts for kind, M in maps], [f"dckrr(parts={m})" for m in parts],
                           [kernel], [f"{kind}(D={M})" if M else kind for kind, M in maps], options)

    given_lambda = [call([("rff", FEATURES)], [m for m in s.parts if m > 1], WHOLE, "-l", one)]
    own = [call([("rff", M) for M in s.features], [1, PARTS]), call([("rff", FEATURES)], s.parts),
           call([("nystrom", M) for M in s.features if M <= FEATURES], [PARTS]), call([("exact", 0)], s.exact),
           call([("nystrom", FEATURES)], s.parts)]
    rows = (common.compare(file, given_lambda, given, HOLDOUT, *splits) |
            common.compare(file, own, results, HOLDOUT, *splits))
    common.mark(rows)
    return rows


# ---- tables, figures ----------------------------------------------------------------------------


# name in the figure: (method at M features, method at m parts); None: there is none
SERIES = {"KRR-DC-RF": (lambda M: ("rff", M, PARTS, OWN), lambda m: ("rff", FEATURES, m, OWN)),
          "KRR-DC-RF, lambda of one part": (lambda M: None, lambda m: ("rff", FEATURES, m, WHOLE)),
          "Nyström in parts": (lambda M: ("nystrom", M, PARTS, OWN), lambda m: ("nystrom", FEATURES, m, OWN)),
          "KRR-RF, undivided": (lambda M: ("rff", M, 1, OWN), lambda m: ("rff", FEATURES, 1, OWN)),
          "KRR-DC, kernel matrices": (lambda M: ("exact", 0, PARTS, OWN), lambda m: ("exact", 0, m, OWN))}


def percent(row, splits):
    return common.marked(row, f"{100 * row['mean']:.2f} ± {100 * row['sd']:.2f}", splits)


def cpu(row, splits):
    return common.digits(row["cpu"])


def curve_table(rows, name, which, cell, what, splits):
    values = (SETS[name].features, SETS[name].parts)[which]
    lines = [[label, *(cell(rows[key], splits) if (key := pair[which](v)) in rows else "" for v in values)]
             for label, pair in SERIES.items()]
    return common.table([f"{what}, {('20 parts: M =', 'M = 500: m =')[which]}", *values],
                        [line for line in lines if any(line[1:])])


def figure(rows, name, title, beside, point):
    plots = []
    for which, (values, below) in enumerate(((SETS[name].features, "features M, 20 parts"),
                                             (SETS[name].parts, "parts m, 500 features"))):
        plots.append((below, beside, {label: [(v, *point(rows[key])) for v in values if (key := pair[which](v)) in rows]
                                      for label, pair in SERIES.items()}))
    return common.figure(f"{title} on {name}", plots)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sets", type=lambda text: text.split(","), default=list(SETS))
    p.add_argument("--splits", type=int, default=10)
    p.add_argument("--records", type=Path)
    p.add_argument("--kept", action="store_true", help="measure nothing")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    print(f"# {common.machine()}", file=sys.stderr)
    work, records, tables = common.folder(), common.Records(a.records), {}
    results, given = (Path(f"{a.records or work / 'runs'}.{ending}") for ending in ("results", "lambda"))
    for name in a.sets:
        file = write_rows(name, work)
        if file is None:
            print(f"{name}: not in {common.data()}, skipped", file=sys.stderr)
            continue
        if a.kept and not all(("pilot", name, PILOT, what) in records.all for what in ("sigma", "lambda")):
            print(f"{name}: nothing is kept", file=sys.stderr)
            continue
        rows = measure(name, file, records, results, given, a.splits, a.kept)
        for which, part in enumerate(("features", "parts")):
            tables[f"{name} {part}"] = curve_table(rows, name, which, percent, "error in %", a.splits)
            tables[f"{name} {part} time"] = curve_table(rows, name, which, cpu, "CPU seconds", a.splits)
        if a.write:
            to = common.ROOT / "docs" / "results"
            (to / f"divide-{name}.svg").write_text(
                figure(rows, name, "divide and conquer", "error, %", lambda r: (100 * r["mean"], 100 * r["sd"])))
            (to / f"divide-{name}-time.svg").write_text(
                figure(rows, name, "time of divide and conquer", "CPU seconds", lambda r: (r["cpu"], 0)))
    common.publish(tables, "divide.md" if a.write else None)


if __name__ == "__main__":
    main()
