#!/usr/bin/python3
"""nsmkl.py [--tables 2,5] [--sets "A;B"] [--calls A,B] [--splits N] [--results FILE] [--kept] [--write] -- tables 2
and 5 of the paper on NS-MKL (wang2024), by `krein compare` with 60 % of the rows for training.

2:  support vector machines with tangent kernels of depth 1 to 5 against linear, Gaussian and cubic ones.
5:  AverageMKL, EasyMKL and PWMK with a linear and a Gaussian kernel, NS-MKL with exact and with sketched tangent kernels.

Both have accuracy and CPU seconds. With --results the runs are kept in FILE, and those that are there are not made
again; with --kept no others are. --calls makes some of them (the names are below). --write puts the tables between the
marks in docs/results/mkl.md; without it they are printed.
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np

import common
from mkl import read

HOLDOUT, CLASSES = 0.4, {"avila A, E, F": [0, 4, 5]}
SETS = {"2": ["car", "abalone", "avila", "avila A, E, F"], "5": ["occupancy", "dry-bean", "bank-marketing"]}

# ---- data ---------------------------------------------------------------------------------------


def codes(rows, levels):
    """One column of 0, 1, ... in place of each group of so many indicators."""
    ends = np.cumsum([1, *levels])
    return np.column_stack([rows[:, 0], *(rows[:, a:b].argmax(1) for a, b in zip(ends, ends[1:]))])


def load(name):
    """Class first; None where a file is missing."""
    files = {"occupancy": ["occupancy.train", "occupancy.test"], "avila": ["avila.train"]}
    rows = read(*files.get(name.split()[0], [name]))
    if rows is None:
        return None
    if name == "car":
        return codes(rows, [4, 4, 4, 3, 3, 3])
    if name == "abalone":  # rings to 8, 9 and 10, from 11
        rows[:, 0] = np.searchsorted([8, 10], rows[:, 0])
    return rows[np.isin(rows[:, 0], CLASSES[name])] if name in CLASSES else rows


# ---- methods ------------------------------------------------------------------------------------

DEPTHS = range(1, 6)
RBF = f"gaussian(sigma={math.sqrt(5):.7g})"  # gamma = 0.1


def ntk(depth):
    """With the factor 1 / (depth + 1) of scikit-ntk: values about |x|^2."""
    return f"ntk(depth={depth}, scale={1 / math.sqrt(depth + 1):.7g})"


def several(kernels):
    return "{" + "; ".join(kernels) + "}"


TUNED = ["car", "abalone"]  # not in the paper; on avila a choice of C takes long


def calls2(name, d):
    def cubic(c):
        return f"poly(degree=3, c={c}, gamma={1 / d:.7g})"

    tangent = list(map(ntk, DEPTHS))
    fixed = {"fixed": common.Call(["linear", "rbf", "poly", *(f"ntk, depth {depth}" for depth in DEPTHS)],
                                  ["svm(C=1, multi=ovo)"], ["linear", RBF, cubic(0), *tangent], ["exact"])}
    if name not in TUNED:
        return fixed
    return {**fixed, "tuned linear": common.Call(["linear, tuned"], ["svm(multi=ovo)"], ["linear"], ["explicit"]),
            "tuned": common.Call(["rbf, tuned", "poly, tuned", "ntk, tuned"], ["svm(multi=ovo)"],
                                 ["gaussian", cubic(1), several(tangent)], ["exact"])}


DRAWN = {"dry-bean": (1, 3), "occupancy": (1, 2), "bank-marketing": (1, 2)}  # depths that the paper drew


def calls5(name, d):
    def learner(method, c=", C=1"):
        return f"mkl(method={method}, base=svm{c})"

    tangent = [several(f"ntk(depth={depth})" for depth in DRAWN[name])]
    sketch = ["ntksketch(D=2048)"]
    return {"pair": common.Call(["AverageMKL(l+r)", "EasyMKL(l+r)", "PWMK(l+r)"],
                                list(map(learner, ("average", "easymkl", "pwmk"))), [several(["linear", RBF])],
                                options=["-D", 2048]),
            "exact": common.Call(["NS-MKL, exact"], [learner("alignment")], tangent, ["exact"], ["--max-exact", 30000]),
            "sketched": common.Call(["NS-MKL, sketched"], [learner("alignment")], tangent, sketch),
            "chosen": common.Call(["NS-MKL, sketched, C chosen"], [learner("alignment", "")], tangent, sketch)}


CALLS = {"2": calls2, "5": calls5}

# ---- tables -------------------------------------------------------------------------------------

PAPER = {
    "2": {"linear": ".609 .644 .616", "rbf": ".709 .498 .744", "poly": ".751 .648 .742", "ntk, depth 1": ".887 .667 .805",
          "ntk, depth 2": ".861 .648 .797", "ntk, depth 3": ".873 .654 .801"},
    "5": {"AverageMKL(l+r)": ".976 .891 .896", "EasyMKL(l+r)": ".982 .897 .902", "PWMK(l+r)": ".987 .902 .913",
          "NS-MKL, exact": ".992 .915 .925", "NS-MKL, sketched": ".989 .907 .915"}}
# Seconds of table 5.
TIMES = {"AverageMKL(l+r)": "172 55 378", "EasyMKL(l+r)": "294 104 726", "PWMK(l+r)": "535 263 1351",
         "NS-MKL, exact": "337 128 860", "NS-MKL, sketched": "150 46 352"}


def cell(row, splits):
    """Accuracy and CPU seconds."""
    if row is None:
        return ["", ""]
    return [common.marked(row, f"{1 - row['mean']:.4f} ± {row['sd']:.4f}", splits), common.digits(row["cpu"])]


def paper_cell(which, method, column):
    """What the paper has for a set; of avila it has one column."""
    accuracies, times = PAPER[which].get(method, "").split(), TIMES.get(method, "").split()
    if column >= len(accuracies):
        return ""
    return f"{float(accuracies[column]):.3f}" + (f", {times[column]} s" if which == "5" else "")


def table(which, found, splits):
    """found: {set: {method: row}}."""
    methods = list(dict.fromkeys(m for call in CALLS[which](SETS[which][0], 1).values() for m in call.labels))
    lines = []
    for method in methods:
        cells = []
        for column, name in enumerate(SETS[which]):
            cells += [*cell(found.get(name, {}).get(method), splits), paper_cell(which, method, column)]
        if any(cells):
            lines.append([method, *cells])
    return common.table(["method", *(h for name in SETS[which] for h in (name, "CPU s", "paper"))], lines)


def measure(which, names, asked, results, work, *splits):
    found = {}
    for name in [name for name in SETS[which] if not names or name in names]:
        rows, file = load(name), work / f"{name.replace(', ', '')}.npy"
        if rows is None:
            print(f"{name}: not in {common.data()}, skipped", file=sys.stderr)
            continue
        np.save(file, rows)
        calls = [call for key, call in CALLS[which](name, rows.shape[1] - 1).items() if not asked or key in asked]
        if calls:
            found[name] = common.compare(file, calls, results, HOLDOUT, *splits)
    return found


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tables", type=lambda text: text.split(","), default=list(SETS))
    p.add_argument("--sets", type=lambda text: text.split(";"), help="names with ';' between them")
    p.add_argument("--calls", type=lambda text: text.split(","))
    p.add_argument("--splits", type=int, default=10)
    p.add_argument("--results", type=Path)
    p.add_argument("--kept", action="store_true", help="measure nothing")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    print(f"# {common.machine()}", file=sys.stderr)
    work = common.folder()
    tables = {}
    for which in a.tables:
        found = measure(which, a.sets, a.calls, a.results or work / "results", work, a.splits, a.kept)
        if found:
            tables[f"table {which}"] = table(which, found, a.splits)
    common.publish(tables, "mkl.md" if a.write else None)


if __name__ == "__main__":
    main()
