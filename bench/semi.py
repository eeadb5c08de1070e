#!/usr/bin/python3
"""semi.py [--sets A,B] [--curves A,B] [--splits N] [--records FILE] [--tables] [--seconds] [--write] -- laprls on
real data.

Tables 6.6 and 6.7 of the thesis behind FORMULAS 13 (rmse of numbers and of -1/+1 classes, iterations, seconds): 70 % of
the rows are for training, a tenth of these with labels, a tenth landmarks (4,096 at most). A Gaussian, whose width is
chosen once for each set by `krein train -k gaussian` on the labelled rows of another split. lambda and lambda_i are
chosen by laprls on landmarks in each split, and are the same for all solvers. RLS is the same without a graph and on the
labelled rows alone, with its own lambda. The whole kernel matrix is left out above EXACT training rows.

Curves: the classification error of krr on the labelled rows, of labelprop and of laprls with 1 to 10 % of the labels.

--seconds shows the times of the fits as well: for a machine that does nothing else.

With --records the measurements go to FILE as lines of JSON, and those that are there are not made again. --write puts the
tables into docs/results/semi.md.
"""

import argparse
import statistics
import sys
from pathlib import Path

import numpy as np

import common

EXACT, LANDMARKS = 25000, 4096
# The label of one class (None: numbers, centred).
SETS = {"madelon": ["madelon.train"], "space_ga": ["space_ga"], "abalone": ["abalone"], "phishing": ["phishing"],
        "a9a": ["a9a.train"], "w7a": ["w7a.train"], "ijcnn1": ["ijcnn1.train"], "cod-rna": ["cod-rna.train"],
        "connect-4": ["connect-4"], "skin_nonskin": ["skin_nonskin"]}
NUMBERS = {"space_ga", "abalone"}
METHODS = ["RLS-CG", "LapRLS-CG", "LapRLS-PCG", "Nyström-CG", "Nyström-PCG"]
# rmse; iterations and seconds, in the order of the methods
THESIS = {
    "madelon": [(1.036, 32, .003), (.990, 13, .029), (.990, 6, .032), (.991, 12, .043), (.991, 1, .006)],
    "space_ga": [(1.251, 11, .004), (1.210, 23, 1.22), (1.210, 5, .569), (1.210, 23, .113), (1.210, 2, .016)],
    "abalone": [(4550, 64, .053), (4170, 98, 26.5), (4170, 4, .903), (4180, 94, .363), (4180, 2, .067)],
    "phishing": [(.426, 74, .031), (.294, 300, 24.2), (.273, 56, 8.21), (.295, 300, 2.47), (.275, 3, .045)],
    "a9a": [(.698, 300, .529), (.664, 64, 1699), (.664, 3, 30.3), (.664, 65, 70.4), (.664, 1, 4.034)],
    "w7a": [(.291, 13, .072), (.283, 32, 143.2), (.283, 2, 9.683), (.284, 213, 107.7), (.284, 1, 2.252)],
    "ijcnn1": [(.434, 242, 8.204), (.389, 57, 2154), (.389, 9, 72.41), (.393, 53, 108.8), (.463, 5, 4.186)],
    "cod-rna": [(.686, 96, 7.178), None, None, (.614, 55, 134.6), (.614, 7, 8.154)],
    "connect-4": [(.781, 103, 11.07), None, None, (.739, 154, 186.5), (.739, 10, 4.22)],
    "skin_nonskin": [(3.119, 43, 91.39), None, None, (2.620, 65, 1490), (2.620, 3, 40.05)]}

CURVES = {"usps": ["usps.train", "usps.test"], "pendigits": ["pendigits.train", "pendigits.test"],
          "letter": ["letter.train", "letter.test"], "satimage": ["satimage.train", "satimage.test"],
          "vehicle": ["vehicle"], "german.numer": ["german.numer"]}
SHARES = [1, 2, 5, 10]
LEARNERS = {"krr": "krr", "laprls": "laprls", "labelprop": "labelprop"}


def read(files):
    """Label first, as numbers; None where a file is missing."""
    import pandas

    paths = [common.data() / f"{file}.csv.gz" for file in files]
    if not all(path.exists() for path in paths):
        return None
    rows = pandas.concat([pandas.read_csv(path, header=None) for path in paths])
    for column in rows.columns:
        if rows[column].dtype == object:
            rows[column] = pandas.factorize(rows[column], sort=True)[0]
    return rows.to_numpy("float32")


def load(name):
    rows = read(SETS[name])
    if rows is None or name in NUMBERS:
        return rows
    values, counts = np.unique(rows[:, 0], return_counts=True)
    rows[:, 0] = np.where(rows[:, 0] == values[np.argmax(counts)], 1, -1)
    return rows


def write_split(rows, number, share, work, classes=False):
    """Labelled rows, all training rows without labels of the others, test rows."""
    g = np.random.default_rng(number)
    order = g.permutation(len(rows))
    train, test = order[:int(.7 * len(rows))], order[int(.7 * len(rows)):]
    few = max(2, round(share * len(train)))
    labelled = train[:few]
    if classes:  # one of each class at least
        first = [train[np.nonzero(rows[train, 0] == c)[0][0]] for c in np.unique(rows[train, 0])]
        labelled = np.unique(np.concatenate([labelled, first]))
    files = {what: work / f"{what}.npy" for what in ("labelled", "rest", "test")}
    np.save(files["labelled"], rows[labelled])
    np.save(files["rest"], rows[np.setdiff1d(train, labelled)])
    np.save(files["test"], rows[test])
    return files, len(train)


def train(files, task, *arguments, rest=True):
    more = ["--unlabeled", files["rest"]] if rest else []
    return common.krein("train", files["labelled"], "--label", "first", "-t", task, *more, "--test", files["test"],
                        "-o", files["labelled"].with_suffix(".krein"), *arguments)


def kernel_of(rows, name, task, share, records, work):
    if ("kernel", name, 100) not in records.all:
        files, _ = write_split(rows, 100, share, work, task == "classification")
        records.add({"part": "kernel", "set": name, "split": 100,
                     "kernel": train(files, task, "-k", "gaussian", rest=False)["kernel"]})
    return records.all["kernel", name, 100]["kernel"]


def record(records, part, name, number, method, r, **more):
    records.add({"part": part, "set": name, "split": number, "method": method, "iterations": r["iterations"],
                 "residual": r["residual"], "condition": r["condition"], "fit": r["seconds"]["fit"],
                 "bytes": r["peak_rss_bytes"], "lambda": r["lambda"], "learner": r["learner"], "load": common.load(),
                 **more})


def measure_table(name, splits, records, work):
    rows = load(name)
    if rows is None:
        return print(f"{name}: not in {common.data()}, skipped", file=sys.stderr)
    kernel = kernel_of(rows, name, "regression", .1, records, work)
    for number in range(1, splits + 1):
        wanted = [m for m in METHODS if ("table", name, number, m) not in records.all]
        if not wanted:
            continue
        files, n = write_split(rows, number, .1, work)
        landmarks = f"nystrom(D={min(n // 10, LANDMARKS)})"
        base = ["-k", kernel, "-s", number]
        chosen = train(files, "regression", *base, "-m", landmarks, "--learner", "laprls(solver=pcg)")
        weight = float(chosen["learner"].split("lambda_i=")[1].split(",")[0].rstrip(")"))
        weight = weight or 1e-3  # the graph is to be there
        alone = train(files, "regression", *base, "-m", "exact", "--learner", "laprls(lambda_i=0)", rest=False)
        for method in wanted:
            kind, solver = method.split("-")
            if kind == "LapRLS" and n > EXACT:
                continue
            if kind == "RLS":
                r = train(files, "regression", *base, "-m", "exact", "-l", alone["lambda"], "--learner",
                          "laprls(lambda_i=0, solver=cg)", rest=False)
            else:
                r = train(files, "regression", *base, "-m", "exact" if kind == "LapRLS" else landmarks, "--max-exact",
                          EXACT, "-l", chosen["lambda"], "--learner",
                          f"laprls(lambda_i={weight!r}, solver={solver.lower()})")
            record(records, "table", name, number, method, r, rmse=r["test"]["rmse"])
            print(name, number, method, r["test"]["rmse"], r["iterations"], r["seconds"]["fit"], file=sys.stderr)


def measure_curve(name, splits, records, work):
    rows = read(CURVES[name])
    if rows is None:
        return print(f"{name}: not in {common.data()}, skipped", file=sys.stderr)
    kernel = kernel_of(rows, name + " classes", "classification", .1, records, work)
    for number in range(1, splits + 1):
        for share in SHARES:
            files = None
            for method, learner in LEARNERS.items():
                key = f"{method} {share}"
                if ("curve", name, number, key) in records.all:
                    continue
                if files is None:
                    files, _ = write_split(rows, number, share / 100, work, True)
                r = train(files, "classification", "-k", kernel, "-s", number, "--learner", learner,
                          rest=method != "krr")
                record(records, "curve", name, number, key, r, error=r["test"]["error"])
                print(name, number, key, r["test"]["error"], file=sys.stderr)


def mean(every, digits):
    if not every:
        return ""
    spread = f" ± {statistics.stdev(every):.{digits}f}" if len(every) > 1 else ""
    return f"{statistics.fmean(every):.{digits}f}{spread}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sets", type=lambda text: [s for s in text.split(",") if s], default=list(SETS))
    p.add_argument("--curves", type=lambda text: [s for s in text.split(",") if s], default=list(CURVES))
    p.add_argument("--splits", type=int, default=3)
    p.add_argument("--records", type=Path)
    p.add_argument("--tables", action="store_true", help="measure nothing")
    p.add_argument("--seconds", action="store_true")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    records, work = common.Records(a.records), common.folder()
    print(f"# {common.machine()}", file=sys.stderr)
    for name in [] if a.tables else a.sets:
        measure_table(name, a.splits, records, work)
    for name in [] if a.tables else a.curves:
        measure_curve(name, a.splits, records, work)

    def theirs(name, i, which):
        return "" if not THESIS[name][i] else f" ({THESIS[name][i][which]:g})"

    def cell(name, i, field, digits, which):
        every = [r[field] for r in records.of("table", name, METHODS[i])]
        return (mean(every, digits) if every else "-") + theirs(name, i, which)

    measured = [name for name in a.sets if records.of("table", name)]
    tables = {"rmse": common.table(["rmse (thesis)", *METHODS],
                                   [[n, *(cell(n, i, "rmse", 3, 0) for i in range(5))] for n in measured]),
              "iterations": common.table(["iterations (thesis)", *METHODS],
                                         [[n, *(cell(n, i, "iterations", 0, 1) for i in range(5))] for n in measured])}
    if a.seconds:
        tables["seconds"] = common.table(["seconds of the fit (thesis)", *METHODS],
                                         [[n, *(cell(n, i, "fit", 2, 2) for i in range(5))] for n in measured])
    curves = [name for name in a.curves if records.of("curve", name)]
    tables["curves"] = common.table(
        ["error in %, labels:", *(f"{s} %" for s in SHARES)],
        [[f"{n}, {m}", *(mean([100 * r["error"] for r in records.of("curve", n, f"{m} {s}")], 1) for s in SHARES)]
         for n in curves for m in LEARNERS])
    common.publish({f"semi {mark}": text for mark, text in tables.items()}, "semi.md" if a.write else None)


if __name__ == "__main__":
    main()
