#!/usr/bin/python3
"""mkl.py [--sets "A;B"] [--methods "A;B"] [--splits N] [--jobs N] [--records FILE] [--tables] [--write] -- several kernels
and all classes: table 6.3 of the thesis behind li2018multi.

Conv-MKL, SMSD-MKL, UFO-MKL and multi-class MKL with ten Gaussians against support vector machines with one of them and
linear ones; 70 % of the rows for training. (Tables 2 and 5 of the paper on NS-MKL: bench/nsmkl.py.)

With --records the measurements go to FILE as lines of JSON, and those that are there are not made again. --write
puts the table between the marks in docs/results/mkl.md; without it it is printed.
"""

import argparse
import shutil
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import common

# ---- data ---------------------------------------------------------------------------------------


def read(*files):
    """The rows of files below each other, label first; None where one is missing."""
    import pandas

    paths = [common.data() / f"{file}.csv.gz" for file in files]
    if not all(path.exists() for path in paths):
        return None
    return np.vstack([pandas.read_csv(path, header=None, dtype="float64").to_numpy() for path in paths])


LOAD = {
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


# ---- table 6.3 of the thesis --------------------------------------------------------------------

GAUSSIANS = "gaussian(sigma=2^-3..2^6:10)"
CHOSEN = "the kernel of One vs. One"


def methods():
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


SHARE, SPLITS = 0.7, 10  # rows in training
SETS = ["segment", "vehicle", "vowel", "wine", "dna", "glass", "iris", "svmguide2", "satimage"]


# ---- measurements -------------------------------------------------------------------------------


def measure(name, rows, number, unmeasured, records, work):
    """The methods that have no record of one split."""
    here = work / f"{name}.{number}"
    here.mkdir()
    files = []
    for file, half in zip(("train.csv", "test.csv"), split(rows, SHARE, number)):
        np.savetxt(here / file, half, delimiter=",", fmt="%.9g")
        files.append(here / file)
    for method, arguments in unmeasured.items():
        if CHOSEN in arguments:
            kernel = records.all["thesis", name, number, "One vs. One"]["kernel"]
            arguments = [kernel if a == CHOSEN else a for a in arguments]
        r = common.krein("train", files[0], "--label", "first", "--no-header", "-t", "classification", *arguments,
                         "--test", files[1], "-o", here / "model.krein", threads=1)
        records.add({"part": "thesis", "set": name, "split": number, "method": method, "rows": len(rows), "n": r["n"],
                     "accuracy": r["test"]["accuracy"], "seconds": r["wall"], "kernel": r["kernel"],
                     "learner": r["learner"], "map": r["map"], "weights": r["weights"], "bytes": r["peak_rss_bytes"],
                     "load": common.load()})
    shutil.rmtree(here)


def missing(name, number, only, records):
    """Methods that have no record of this split."""
    return {m: a for m, a in methods().items()
            if (not only or m in only) and ("thesis", name, number, m) not in records.all}


def measure_all(names, most, only, records, jobs):
    work, sets = common.folder(), {}
    for name in [name for name in SETS if not names or name in names]:
        rows = load(name)
        if rows is None:
            print(f"{name}: not in {common.data()}, skipped", file=sys.stderr)
        else:
            sets[name] = rows
    order = sorted(sets, key=lambda name: len(sets[name]))
    jobs_of = [(name, number, missing(name, number, only, records))
               for name in order for number in range(most)]
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(measure, name, sets[name], number, unmeasured, records, work)
                   for name, number, unmeasured in jobs_of if unmeasured]
        try:
            for future in futures:
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


# ---- tables -------------------------------------------------------------------------------------

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


def spread(found):
    """Mean and standard deviation of the accuracies in percent, the latter if there are two."""
    every = [100 * r["accuracy"] for r in found]
    deviation = f" ± {statistics.stdev(every):.2f}" if len(every) > 1 else ""
    return f"{statistics.fmean(every):.2f}{deviation}"


def table(records):
    names, lines = list(methods()), []
    for name in SETS:
        every = [records.of("thesis", name, method) for method in names]
        sizes = sorted({len(found) for found in every if found})
        if sizes:
            lines.append([name, "-".join(map(str, sizes[::len(sizes) - 1 or 1])),
                          *(spread(found) if found else "" for found in every)])
    theirs, less = [], []
    for name, text in THESIS.items():
        v = list(map(float, text.split()))
        theirs.append([name, *(f"{v[j]:.2f} ± {v[j + 1]:.2f}" for j in range(0, len(v), 2))])
        means = {m: 100 * statistics.fmean(r["accuracy"] for r in found)
                 for m in THESIS_METHODS if (found := records.of("thesis", name, m))}
        less.append([name, *(f"{means[m] - v[2 * j]:+.2f}" if m in means else ""
                             for j, m in enumerate(THESIS_METHODS))])
    return (f"{common.table(['set', 'splits', *names], lines)}\nThe thesis:\n\n"
            f"{common.table(['set', *THESIS_METHODS], theirs)}\nOurs less the thesis':\n\n"
            f"{common.table(['set', *THESIS_METHODS], less)}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sets", type=lambda text: text.split(";"), help="names with ';' between them")
    p.add_argument("--methods", type=lambda text: text.split(";"))
    p.add_argument("--splits", type=int, default=SPLITS)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--records", type=Path)
    p.add_argument("--tables", action="store_true", help="measure nothing")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    records = common.Records(a.records)
    print(f"# {common.machine()}", file=sys.stderr)
    if not a.tables:
        measure_all(a.sets, a.splits, a.methods, records, a.jobs)
    common.publish({"thesis": table(records)}, "mkl.md" if a.write else None)


if __name__ == "__main__":
    main()
