#!/usr/bin/python3
"""mkl.py [--ntk] [--nsmkl] [--thesis] [--sets A,B] [--splits N] [--records FILE] [--write] -- several kernels.

ntk:     table 2 of the paper on NS-MKL: support vector machines with tangent kernels of depth 1 to 5 against linear,
         Gaussian and cubic ones; accuracy, macro precision, macro recall; 60 % of the rows for training.
nsmkl:   table 5 of that paper: AverageMKL, EasyMKL and PWMK with a linear and a Gaussian kernel, NS-MKL with
         exact and with sketched tangent kernels; accuracy and seconds of the process. One run at a time: wants a
         quiet machine.
thesis:  table 6.3 of the thesis behind li2018multi: Conv-MKL, SMSD-MKL, UFO-MKL and multi-class MKL with ten Gaussians
         against support vector machines with one of them and linear ones; 70 % of the rows for training.

With --records the measurements go to FILE as lines of JSON, and those that are there are not made again. --write
puts the tables that were made between the marks in docs/results/mkl.md; without it they are printed.
"""

import argparse
import math
import shutil
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import common

PARTS = ["ntk", "nsmkl", "thesis"]

# ---- data ---------------------------------------------------------------------------------------


def read(*files):
    """The rows of files below each other, label first; None where one is missing."""
    import pandas

    paths = [common.data() / f"{file}.csv.gz" for file in files]
    if not all(path.exists() for path in paths):
        return None
    return np.vstack([pandas.read_csv(path, header=None, dtype="float64").to_numpy() for path in paths])


def codes(rows, levels):
    """One column of 0, 1, ... in place of each group of so many indicators."""
    if rows is None:
        return None
    ends = np.cumsum([1, *levels])
    return np.column_stack([rows[:, 0], *(rows[:, a:b].argmax(1) for a, b in zip(ends, ends[1:]))])


def in_classes(rows, uppers):
    """The number of the first upper end that the label is not above."""
    if rows is not None:
        rows[:, 0] = np.searchsorted(uppers, rows[:, 0])
    return rows


def only(rows, labels):
    return None if rows is None else rows[np.isin(rows[:, 0], labels)]


LOAD = {
    "car": lambda: codes(read("car"), [4, 4, 4, 3, 3, 3]),
    "abalone": lambda: in_classes(read("abalone"), [8, 10]),
    "avila": lambda: read("avila.train"),
    "avila A, E, F": lambda: only(read("avila.train"), [0, 4, 5]),
    "occupancy": lambda: read("occupancy.train", "occupancy.test"),
    "vowel": lambda: read("vowel.train", "vowel.test"),
    "dna": lambda: read("dna.train", "dna.test"),
    "satimage": lambda: read("satimage.train", "satimage.test"),
}


def load(name):
    return LOAD[name]() if name in LOAD else read(name)


def split(rows, share, seed):
    order = np.random.default_rng(seed).permutation(len(rows))
    inside = order[: round(share * len(rows))]
    return rows[inside], rows[order[len(inside):]]


# ---- table 2: tangent kernels -------------------------------------------------------------------

DEPTHS = range(1, 6)
RBF = f"gaussian(sigma={math.sqrt(5):.7g})"  # gamma = 0.1


def ntk(depth):
    """With the factor 1 / (depth + 1) of scikit-ntk: values about |x|^2."""
    return f"ntk(depth={depth}, scale={1 / math.sqrt(depth + 1):.7g})"


def ntk_methods(name, n, d):
    fixed, chosen = ["-m", "exact", "--learner", "svm(C=1, multi=ovo)"], ["-m", "exact", "--learner", "svm(multi=ovo)"]
    out = {"linear": [*fixed, "-k", "linear"], "rbf": [*fixed, "-k", RBF],
           "poly": [*fixed, "-k", f"poly(degree=3, c=0, gamma={1 / d:.7g})"]}
    for depth in DEPTHS:
        out[f"ntk, depth {depth}"] = [*fixed, "-k", ntk(depth)]
    out["linear, tuned"] = ["-m", "explicit", "--learner", "svm(multi=ovo)", "-k", "linear"]
    out["rbf, tuned"] = [*chosen, "-k", "gaussian"]
    out["poly, tuned"] = [*chosen, "-k", f"poly(degree=3, c=1, gamma={1 / d:.7g})"]
    out["ntk, tuned"] = [*chosen, "--kernels", "; ".join(ntk(depth) for depth in DEPTHS)]
    return out


# ---- table 5: NS-MKL ----------------------------------------------------------------------------

# Depths that the paper drew.
DRAWN = {"dry-bean": (1, 3), "occupancy": (1, 2), "bank-marketing": (1, 2)}


def nsmkl_methods(name, n, d):
    def arguments(method, kernels, *more):
        return ["--learner", f"mkl(method={method}, base=svm, C=1)", "--kernels", kernels, *more]

    pair, features = f"linear; {RBF}", ["-D", 2048]
    tangent = "; ".join(f"ntk(depth={depth})" for depth in DRAWN[name])
    sketch = ["-m", "ntksketch", *features]
    return {"AverageMKL(l+r)": arguments("average", pair, *features),
            "EasyMKL(l+r)": arguments("easymkl", pair, *features), "PWMK(l+r)": arguments("pwmk", pair, *features),
            "NS-MKL, exact": arguments("alignment", tangent, "-m", "exact", "--max-exact", 30000),
            "NS-MKL, sketched": arguments("alignment", tangent, *sketch),
            "NS-MKL, sketched, C chosen":
                ["--learner", "mkl(method=alignment, base=svm)", "--kernels", tangent, *sketch],
            "nsmkl, all defaults": ["--learner", "mkl(method=nsmkl, base=svm)"]}


# ---- table 6.3 of the thesis --------------------------------------------------------------------

GAUSSIANS = "gaussian(sigma=2^-3..2^6:10)"
CHOSEN = "the kernel of One vs. One"


def thesis_methods(name, n, d):
    def linear(options):
        return ["-k", "linear", "-m", "explicit", "--learner", f"svm({options})"]

    def single(multi):  # the first of them chooses the kernel, which does not depend on the machine
        kernel = ["--kernels", GAUSSIANS] if multi == "ovo" else ["-k", CHOSEN]
        return ["-m", "exact", *kernel, "--learner", f"svm(multi={multi})"]

    def mkl(options):
        return ["-m", "exact", "--learner", f"mkl({options})", "--kernels", GAUSSIANS, "--select", "none"]

    joint = "base=svm, multi=crammer"
    return {"Conv-MKL": mkl("method=conv"), "SMSD-MKL": mkl("method=smsd"), "LMC": linear("multi=crammer"),
            "LMC, l1": linear("multi=crammer, penalty=l1"), "One vs. One": single("ovo"),
            "One vs. Rest": single("ovr"), "GMNP": single("gmnp"), "l1 MC-MKL": mkl(f"method=mcmkl, p=1, {joint}"),
            "l2 MC-MKL": mkl(f"method=mcmkl, p=2, {joint}"), "UFO-MKL": mkl("method=ufo")}


# part: methods of a set, share of the rows in training, splits, sets, threads of a run
PLAN = {
    "ntk": (ntk_methods, 0.6, 10, ["car", "abalone", "avila", "avila A, E, F"], 1),
    "nsmkl": (nsmkl_methods, 0.6, 10, ["occupancy", "dry-bean", "bank-marketing"], None),
    "thesis": (thesis_methods, 0.7, 10,
               ["segment", "vehicle", "vowel", "wine", "dna", "glass", "iris", "svmguide2", "satimage"], 1),
}
# What would take too long: methods that contain a word, on a set or ("") on all: splits at most.
LIMITS = {("ntk", "", "tuned"): 5, ("nsmkl", "", "chosen"): 3, ("nsmkl", "", "defaults"): 1,
          }


def splits_of(part, name, method, most):
    return min([most, *(k for (p, s, word), k in LIMITS.items()
                        if p == part and s in ("", name) and word in method)])


# ---- measurements -------------------------------------------------------------------------------


def measure(part, name, rows, number, unmeasured, records, work):
    """The methods that have no record of one split."""
    _, share, _, _, threads = PLAN[part]
    here = work / f"{part}.{name.replace(' ', '')}.{number}"
    here.mkdir()
    files = []
    for file, half in zip(("train.csv", "test.csv"), split(rows, share, number)):
        np.savetxt(here / file, half, delimiter=",", fmt="%.9g")
        files.append(here / file)
    for method, arguments in unmeasured.items():
        if CHOSEN in arguments:
            kernel = records.all[part, name, number, "One vs. One"]["kernel"]
            arguments = [kernel if a == CHOSEN else a for a in arguments]
        r = common.krein("train", files[0], "--label", "first", "--no-header", "-t", "classification", *arguments,
                         "--test", files[1], "-o", here / "model.krein", threads=threads)
        test = r["test"]
        records.add({"part": part, "set": name, "split": number, "method": method, "rows": len(rows), "n": r["n"],
                     "accuracy": test["accuracy"], "precision": test["macro_precision"], "recall": test["macro_recall"],
                     "seconds": r["wall"], "kernel": r["kernel"], "learner": r["learner"], "map": r["map"],
                     "weights": r["weights"], "bytes": r["peak_rss_bytes"], "load": common.load()})
    shutil.rmtree(here)


def missing(part, name, rows, number, most, only, records):
    """Methods that have no record of this split."""
    methods, share, *_ = PLAN[part]
    every = methods(name, round(share * len(rows)), rows.shape[1] - 1)
    return {m: a for m, a in every.items() if (not only or m in only) and number < splits_of(part, name, m, most)
            and (part, name, number, m) not in records.all}


def measure_all(part, names, most, only, records, jobs):
    work, sets = common.folder(), {}
    for name in [name for name in PLAN[part][3] if not names or name in names]:
        rows = load(name)
        if rows is None:
            print(f"{name}: not in {common.data()}, skipped", file=sys.stderr)
        else:
            sets[name] = rows
    order = sorted(sets, key=lambda name: len(sets[name]))
    jobs_of = [(name, number, missing(part, name, sets[name], number, most or PLAN[part][2], only, records))
               for name in order for number in range(most or PLAN[part][2])]
    with ThreadPoolExecutor(1 if part == "nsmkl" else jobs) as pool:
        futures = [pool.submit(measure, part, name, sets[name], number, unmeasured, records, work)
                   for name, number, unmeasured in jobs_of if unmeasured]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


# ---- tables -------------------------------------------------------------------------------------

PAPER2 = {
    "linear": ".609 .180 .250 .644 .630 .570 .616 .660 .600", "rbf": ".709 .360 .380 .498 .250 .330 .744 .760 .740",
    "poly": ".751 .550 .510 .648 .600 .600 .742 .750 .740", "ntk1": ".887 .640 .620 .667 .630 .600 .805 .820 .800",
    "ntk2": ".861 .750 .700 .648 .650 .620 .797 .790 .792", "ntk3": ".873 .740 .670 .654 .630 .590 .801 .800 .794"}
PAPER5 = {
    "AverageMKL(l+r)": ".976 172 .891 55 .896 378", "EasyMKL(l+r)": ".982 294 .897 104 .902 726",
    "PWMK(l+r)": ".987 535 .902 263 .913 1351", "NS-MKL, exact": ".992 337 .915 128 .925 860",
    "NS-MKL, sketched": ".989 150 .907 46 .915 352"}
# Its columns, and the numbers in their order: means and standard deviations.
THESIS_METHODS = ["Conv-MKL", "SMSD-MKL", "LMC", "One vs. One", "One vs. Rest", "GMNP", "l1 MC-MKL", "l2 MC-MKL",
                  "UFO-MKL"]
THESIS = {
    "segment": "96.79 .91 97.62 .83 95.07 1.11 97.08 .61 97.02 .80 96.87 .80 96.98 .64 97.58 .68 97.20 .82",
    "vehicle": "79.35 2.27 77.28 2.78 75.61 3.56 78.72 1.92 79.11 1.94 81.57 2.24 74.96 2.93 76.27 3.15 76.92 2.83",
    "vowel": "98.82 1.19 98.83 5.57 62.32 4.97 98.12 1.76 98.22 1.83 97.04 1.85 98.27 1.22 97.86 1.75 98.22 1.62",
    "wine": "99.63 .96 99.63 .96 97.87 2.80 97.24 3.05 98.14 3.04 97.69 2.43 98.61 1.75 98.52 1.89 99.44 1.13",
    "dna": "96.08 .83 96.30 .79 92.02 1.50 95.89 .56 95.61 .73 94.60 .94 96.27 .68 95.06 .92 95.84 .61",
    "glass": "75.19 5.05 73.72 5.80 63.95 6.04 71.98 5.75 70.00 5.75 71.24 8.14 69.07 8.08 74.03 6.41 72.46 6.12",
    "iris": "96.67 2.94 97.00 2.63 88.00 7.82 95.93 3.25 95.87 3.20 95.40 7.34 95.40 6.46 94.00 7.82 95.93 2.88",
    "svmguide2": "82.69 5.65 85.17 3.83 81.10 4.15 84.79 3.45 84.27 3.03 81.77 3.45 83.16 3.63 83.84 4.21 82.91 3.09",
    "satimage": "91.64 .88 91.78 .82 84.95 1.15 90.67 .91 89.29 .96 89.97 .81 91.86 .62 90.43 1.27 91.92 .83"}


def mean_of(found, field):
    return statistics.fmean(r[field] for r in found)


def spread(found, factor, digits):
    """Mean and standard deviation of the accuracies, the latter if there are two."""
    every = [factor * r["accuracy"] for r in found]
    deviation = f" ± {statistics.stdev(every):.{digits}f}" if len(every) > 1 else ""
    return f"{statistics.fmean(every):.{digits}f}{deviation}"


def ntk_table(records, sets):
    """Rows of methods, our means of each set; then the paper's."""
    lines = []
    for method in ntk_methods("", 0, 1):
        cells = []
        for name in sets:
            found = records.of("ntk", name, method)
            cells += [f"{spread(found, 1, 3)} ({len(found)})",
                      *(f"{mean_of(found, field):.3f}" for field in ("precision", "recall"))] if found else [""] * 3
        if any(cells):
            lines.append([method, *cells])
    for method, text in PAPER2.items():
        lines.append([f"paper: {method}", *(f"{float(v):.3f}" for v in text.split()), *[""] * (3 * len(sets) - 9)])
    return common.table(["kernel", *(h for name in sets for h in (name, "precision", "recall"))], lines)


def nsmkl_table(records, sets):
    lines = []
    for method in nsmkl_methods("dry-bean", 0, 1):
        cells, paper = [], PAPER5.get(method, "").split()
        for j, name in enumerate(sets):
            found = records.of("nsmkl", name, method)
            cells += [spread(found, 1, 4),
                      f"{statistics.median(r['seconds'] for r in found):.1f} ({len(found)})"] if found else ["", ""]
            cells += [f"{float(paper[2 * j]):.3f}, {paper[2 * j + 1]} s"] if paper else [""]
        lines.append([method, *cells])
    return common.table(["method", *(h for name in sets for h in (name, "s (splits)", "paper"))], lines)


def thesis_table(records, sets):
    methods, lines = list(thesis_methods("", 0, 1)), []
    for name in sets:
        every = [records.of("thesis", name, method) for method in methods]
        sizes = sorted({len(found) for found in every if found})
        if sizes:
            lines.append([name, "-".join(map(str, sizes[::len(sizes) - 1 or 1])),
                          *(spread(found, 100, 2) if found else "" for found in every)])
    theirs, less = [], []
    for name, text in THESIS.items():
        v = list(map(float, text.split()))
        theirs.append([name, *(f"{v[j]:.2f} ± {v[j + 1]:.2f}" for j in range(0, len(v), 2))])
        means = {m: 100 * mean_of(found, "accuracy")
                 for m in THESIS_METHODS if (found := records.of("thesis", name, m))}
        less.append([name, *(f"{means[m] - v[2 * j]:+.2f}" if m in means else ""
                             for j, m in enumerate(THESIS_METHODS))])
    return (f"{common.table(['set', 'splits', *methods], lines)}\nThe thesis:\n\n"
            f"{common.table(['set', *THESIS_METHODS], theirs)}\nOurs less the thesis':\n\n"
            f"{common.table(['set', *THESIS_METHODS], less)}")


TABLES = {"ntk": ntk_table, "nsmkl": nsmkl_table, "thesis": thesis_table}


def main():
    p = argparse.ArgumentParser()
    for part in PARTS:
        p.add_argument(f"--{part}", action="store_true")
    p.add_argument("--sets", type=lambda text: text.split(";"), help="names with ';' between them")
    p.add_argument("--methods", type=lambda text: text.split(";"))
    p.add_argument("--splits", type=int)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--records", type=Path)
    p.add_argument("--tables", action="store_true", help="measure nothing")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    records = common.Records(a.records)
    print(f"# {common.machine()}", file=sys.stderr)
    parts = [part for part in PARTS if getattr(a, part)] or PARTS
    for part in parts:
        if not a.tables:
            measure_all(part, a.sets, a.splits, a.methods, records, a.jobs)
    common.publish({part: TABLES[part](records, PLAN[part][3]) for part in parts}, "mkl.md" if a.write else None)


if __name__ == "__main__":
    main()
