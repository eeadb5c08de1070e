#!/usr/bin/python3
"""indefinite.py [--parts A,B] [--sets A,B] [--records FILE] [--tables] [--write] [--small] -- feature maps for
indefinite kernels: chapter 2 of luo2022 again.

errors    table 2-1: relative errors |K - Khat|_F / |K|_F on 1,000 rows, mean and standard deviation of 10 draws of
          the features, by `krein approx`
positive  how near a positive measure, which srf fits, comes to the Delta-Gaussian
svr       table 2-2: support vector regression on the features
svm       figure 2-6: support vector machines on the features

The thesis counts s frequencies of each sign, cos and sin of each: 4 s features, which is the D given here, to all maps
but where a name says otherwise. KREIN_DATA names the folder of the data sets. With --records the measurements go to
FILE as lines of JSON, and those that are there are not made again; --tables makes none. --write puts the tables of the
parts into docs/results/indefinite.md and the figures beside it."""

import argparse
import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import common

EPANECHNIKOV, DELTA, CUBE = "epanechnikov(a=3, m=1)", "Delta-Gaussian", "epanechnikov(a=2, m=3)"
EXPRESSION = {EPANECHNIKOV: EPANECHNIKOV, DELTA: "gaussian(sigma=1) - gaussian(sigma=10)", CUBE: CUBE}
PARTS = ["errors", "positive", "svr", "svm"]


def plus_minus(values, digits):
    """Mean ± standard deviation."""
    text = f"{statistics.fmean(values):.{digits}f}"
    return text + (f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else "")


# ---- table 2-1: errors --------------------------------------------------------------------------

DIMENSIONS = {"letter": 16, "ijcnn1": 22, "usps": 256}
MAPS = {
    "grff(route=density)": "grff, exact law",
    "gorf(route=density)": "gorf, exact law",
    "grff": "grff",
    "gorf": "gorf",
    "srf": "srf",
    "digmm": "digmm",
    "maclaurin(law=geometric)": "maclaurin, as published",
    "maclaurin": "maclaurin",
    "tensorsketch": "tensorsketch",
}
# s = d/2, d, 2d as printed in luo2022
PRINTED = {
    (EPANECHNIKOV, "letter"): {"grff": (0.0859, 0.0547, 0.0469), "gorf": (0.0716, 0.0495, 0.0360)},
    (EPANECHNIKOV, "ijcnn1"): {"grff": (0.1159, 0.0907, 0.0794), "gorf": (0.1072, 0.0775, 0.0487)},
    (EPANECHNIKOV, "usps"): {"grff": (0.0270, 0.0213, 0.0160), "gorf": (0.0251, 0.0194, 0.0143)},
    (DELTA, "letter"): {"grff": (0.3918, 0.2736, 0.1887), "gorf": (0.3154, 0.1133, 0.0760)},
    (DELTA, "ijcnn1"): {"grff": (0.2924, 0.2171, 0.1504), "gorf": (0.2415, 0.1026, 0.0739)},
    (DELTA, "usps"): {"grff": (0.1005, 0.0690, 0.0500), "gorf": (0.0724, 0.0235, 0.0166)},
}


def measure_errors(records, names, small, _):
    for name in names & DIMENSIONS.keys():
        for kernel, expression in EXPRESSION.items():
            for spec in MAPS:
                method = f"{kernel}, {spec}"
                if ("errors", name, 0, method) in records.all:
                    continue
                features = ",".join(str(c * DIMENSIONS[name]) for c in (2, 4, 8))
                command = [common.program(), "approx", common.data() / f"{name}.train.csv.gz", "-k", expression, "-m", spec,
                           "--scale", "unit", "--features", features, "--rows", "200" if small else "1000",
                           "--repeat", "2" if small else "10", "--json", "-q"]
                done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
                values = None  # the map refuses the kernel
                if done.returncode == 0:
                    values = [(r["error_mean"], r["error_sd"]) for r in json.loads(done.stdout)["results"]]
                records.add({"part": "errors", "set": name, "split": 0, "method": method, "errors": values})


def error_table(records, kernel, refused, checks):
    lines = []
    for name in DIMENSIONS:
        got, printed = {}, PRINTED.get((kernel, name), {})
        for spec, label in MAPS.items():
            values = records.all["errors", name, 0, f"{kernel}, {spec}"]["errors"]
            if values is None:
                refused.add(f"{kernel}, {label}")
            else:
                got[spec] = [mean for mean, _ in values]
            cells = [f"{mean:.4f} ± {sd:.4f}" for mean, sd in values] if values else ["-"] * 3
            lines.append([name, label, *cells])
        lines += [[name, f"*{label}, printed*", *(f"*{v:.4f}*" for v in values)] for label, values in printed.items()]
        for other in ("grff", "srf", "digmm"):
            if other in got and "gorf" in got:
                checks.append((f"{kernel}, {name}: gorf below {other}",
                               all(a < b for a, b in zip(got["gorf"], got[other]))))
        if printed and "gorf" in got:
            checks.append((f"{kernel}, {name}: gorf below what is printed at s = d", got["gorf"][1] < printed["gorf"][1]))
    return common.table(["set", "map", "s = d/2", "s = d", "s = 2d"], lines)


def error_tables(records):
    refused, checks = set(), []
    tables = {f"errors {kernel}": error_table(records, kernel, refused, checks) for kernel in EXPRESSION}
    tables["errors targets"] = "\n".join(f"- {what}: {'met' if ok else 'MISSED'}" for what, ok in checks) + "\n"
    tables["errors refused"] = "\n".join(f"- {what}" for what in sorted(refused)) + "\n"
    return tables


# ---- srf and the Delta-Gaussian -----------------------------------------------------------------


def delta(z):
    return np.exp(-z * z / 2) - np.exp(-z * z / 200)


def omega(d, t):
    """The mean of cos t u_1 over unit vectors u of R^d: the kernel of one radius."""
    from scipy.special import gammaln, jv

    x, near = -t * t / 4, t * t < d
    term, series = np.ones_like(t), np.ones_like(t)
    for k in range(1, 60):
        term = np.where(near, term * x / (k * (d / 2 + k - 1)), 0)
        series += term
    far = np.where(near, 1, t)
    return np.where(near, series, jv(d / 2 - 1, far) * np.exp(gammaln(d / 2) + (d / 2 - 1) * np.log(2 / far)))


def least_errors(d):
    """Of positive measures on [0, 2]: the least largest error (a linear program), and the least root of the mean of
    squares, relative to the kernel's."""
    from scipy.optimize import linprog, nnls

    z, r = np.linspace(0, 2, 81), np.concatenate([[0], np.geomspace(0.02, 40, 600) * d**0.5])
    A, k, one = omega(d, np.outer(z, r)), delta(z), np.ones((81, 1))
    program = linprog(np.r_[np.zeros(len(r)), 1], A_ub=np.block([[A, -one], [-A, -one]]), b_ub=np.r_[k, -k])
    return program.fun, nnls(A, k)[1] / np.linalg.norm(k)


def measure_positive(records, names, small, _):
    import pandas

    for name in names & DIMENSIONS.keys():
        if ("positive", name, 0) in records.all:
            continue
        rows = pandas.read_csv(common.data() / f"{name}.train.csv.gz", header=None, nrows=200 if small else 1000).to_numpy()
        x = rows[:, 1:] / np.linalg.norm(rows[:, 1:], axis=1, keepdims=True)
        z = np.sqrt(np.maximum(2 - 2 * x @ x.T, 0))
        largest, square = least_errors(DIMENSIONS[name])
        clipped = np.linalg.norm(delta(z) - np.exp(-z * z / 2)) / np.linalg.norm(delta(z))
        records.add({"part": "positive", "set": name, "split": 0, "largest": largest, "square": square, "clipped": clipped})


def positive_table(records):
    every = [records.all["positive", name, 0] for name in DIMENSIONS]
    return {"positive": common.table(
        ["set", "d", "largest -k", "least largest error", "least mean square, relative", "gaussian(sigma=1), relative"],
        [[r["set"], DIMENSIONS[r["set"]], f"{-delta(2.0):.4f}", f"{r['largest']:.4f}", f"{r['square']:.4f}",
          f"{r['clipped']:.4f}"] for r in every])}


# ---- machines -----------------------------------------------------------------------------------

# (kernel, map, features over s) by the names of the thesis. What srf can be on the Delta-Gaussian is features of the
# positive part of its measure: those of gaussian(sigma=1). There gorf takes coupling=separate by itself.
COMMON = {"RM": ("maclaurin(law=geometric)", 4), "TS": ("tensorsketch", 4), "DIGMM": ("digmm", 4), "GRFF": ("grff", 4),
          "GORF": ("gorf", 4)}
METHODS = {
    EPANECHNIKOV: {name: (EPANECHNIKOV, *rest) for name, rest in COMMON.items()} | {
        "SRF": (EPANECHNIKOV, "srf", 4), "GORF, separate": (EPANECHNIKOV, "gorf(coupling=separate)", 4)},
    DELTA: {name: (EXPRESSION[DELTA], *rest) for name, rest in COMMON.items()} | {"SRF": ("gaussian(sigma=1)", "rff", 4)},
}
ORDER = ["RM", "TS", "SRF", "DIGMM", "GRFF", "GORF", "GORF, separate"]
LIMIT = {EPANECHNIKOV: ("the kernel itself", EPANECHNIKOV, "explicit"),
         DELTA: ("the sum of its parts", "gaussian(sigma=1) + gaussian(sigma=10)", "exact")}
SVR_MORE = {
    EPANECHNIKOV: {f"{name}, D = s": (*METHODS[EPANECHNIKOV][name][:2], 1) for name in ("RM", "SRF")},
    DELTA: {"SRF, D = s": (*METHODS[DELTA]["SRF"][:2], 1),
            "GORF, exact law": (EXPRESSION[DELTA], "gorf(route=density)", 4)},
}
# s = 2d, 4d, 8d as printed in luo2022
SVR_PRINTED = {
    (EPANECHNIKOV, "mpg"): {
        "RM": ("7.137 ± 1.828", "5.623 ± 0.862", "4.707 ± 0.107"), "TS": ("5.050 ± 0.759", "4.952 ± 0.423", "4.674 ± 0.117"),
        "SRF": ("4.461 ± 0.136", "4.269 ± 0.129", "4.137 ± 0.081"), "DIGMM": ("4.686 ± 0.287", "4.339 ± 0.128", "4.133 ± 0.119"),
        "GORF": ("4.342 ± 0.102", "4.162 ± 0.157", "3.872 ± 0.117")},
    (EPANECHNIKOV, "housing"): {
        "RM": ("7.153 ± 1.772", "5.436 ± 0.917", "4.491 ± 0.008"), "TS": ("5.414 ± 0.879", "4.772 ± 0.377", "4.657 ± 0.316"),
        "SRF": ("4.391 ± 0.368", "3.906 ± 0.219", "3.555 ± 0.130"), "DIGMM": ("4.897 ± 0.368", "4.130 ± 0.324", "4.000 ± 0.280"),
        "GORF": ("4.079 ± 0.233", "3.817 ± 0.204", "3.472 ± 0.137")},
    (DELTA, "mpg"): {
        "SRF": ("5.243 ± 0.110", "5.189 ± 0.095", "4.958 ± 0.090"), "DIGMM": ("5.203 ± 0.212", "4.925 ± 0.215", "4.613 ± 0.111"),
        "GORF": ("4.831 ± 0.173", "4.622 ± 0.189", "4.488 ± 0.128")},
    (DELTA, "housing"): {
        "SRF": ("5.432 ± 0.729", "3.845 ± 0.379", "3.321 ± 0.274"), "DIGMM": ("4.647 ± 0.411", "3.898 ± 0.598", "3.688 ± 0.192"),
        "GORF": ("3.739 ± 0.360", "3.474 ± 0.330", "3.164 ± 0.252")},
}


@dataclass
class Set:
    d: int
    repeats: int
    ratios: list  # s / d
    files: list
    train: int = 0  # rows to draw for training; 0: the first file, and the second for testing
    test: int = 0
    without: int = 0  # a column to leave out
    only: tuple = ()  # methods; (): all
    printed: str = ""
    positive: int = 0  # two classes: labels below it, and the others


SVR_SETS = {"mpg": Set(7, 10, [2, 4, 8], ["auto-mpg"], 313, 79, printed="mpg"),
            "housing": Set(13, 10, [2, 4, 8], ["boston"], 405, 101, printed="housing"),
            "mpg, no year": Set(7, 10, [2, 4, 8], ["auto-mpg"], 313, 79, printed="mpg", without=6,
                                only=("RM", "SRF", "GORF"))}
SVM_SETS = {"letter": Set(16, 10, [0.5, 1, 2, 4, 8], ["letter.train", "letter.test"], 12000, 6000, positive=13),
            "ijcnn1": Set(22, 3, [0.5, 1, 2, 4, 8], ["ijcnn1.train", "ijcnn1.test"]),
            "usps": Set(256, 2, [0.25, 0.5, 1], ["usps.train", "usps.test"])}


def split(s, number, regression, work):
    """The files of one repeat. Columns of a regression go to [-1, 1], as those of the other sets are."""
    import pandas

    paths = [common.data() / f"{name}.csv.gz" for name in s.files]
    if not s.train:
        return paths
    rows = np.vstack([pandas.read_csv(path, header=None, dtype="float32").to_numpy() for path in paths])
    if s.without:
        rows = np.delete(rows, s.without, axis=1)
    order = np.random.default_rng(number).permutation(len(rows))
    halves = rows[order[:s.train]], rows[order[s.train: s.train + s.test]]
    low, high = (f(halves[0], axis=0) for f in (np.min, np.max))
    files = work / "train.npy", work / "test.npy"
    for part, file in zip(halves, files):
        if regression:
            part[:, 1:] = 2 * (part[:, 1:] - low[1:]) / (high[1:] - low[1:]) - 1
        else:
            part[:, 0] = part[:, 0] < s.positive
        np.save(file, part)
    return files


def runs(s, regression):
    """(kernel, name, s / d): (kernel, map, D)."""
    out = {}
    for kernel in METHODS:
        for name, (expression, spec, c) in (METHODS[kernel] | (SVR_MORE[kernel] if regression else {})).items():
            if s.only and name not in s.only:
                continue
            out |= {(kernel, name, q): (expression, spec, int(c * q * s.d)) for q in s.ratios}
        if regression or kernel == EPANECHNIKOV:  # kernel matrices of so many rows would take long
            name, expression, spec = LIMIT[kernel]
            out[kernel, name, 0] = expression, spec, 0
    return out


def measure_machines(records, part, sets, names, small, work):
    regression = part == "svr"
    for set_name in [name for name in sets if name in names]:
        s = sets[set_name]
        for number in range(1, (1 if small else s.repeats) + 1):
            files = None
            for method, (expression, spec, D) in runs(s, regression).items():
                if (part, set_name, number, str(method)) in records.all or (small and method[2] > min(s.ratios)):
                    continue
                files = files or split(s, number, regression, work)
                r = common.krein("train", files[0], "--label", "first", "-t", "regression" if regression else "classification",
                                 "-k", expression, "-m", spec, *(["-D", D] if D else []), "--scale", "unit", "--learner", part,
                                 "-s", number, "--test", files[1], "-o", work / "model.krein", threads=1)
                error = r["test"]["rmse"] if regression else 100 * r["test"]["error"]
                records.add({"part": part, "set": set_name, "split": number, "method": str(method), "error": error,
                             "learner": r["learner"]})


def errors_of(records, part, name, *method):
    return [r["error"] for r in records.of(part, name, str(method))]


def machine_table(records, part, sets, kernel, digits):
    """A line for each set and method, and beside it what is printed."""
    lines = []
    most = max(len(s.ratios) for s in sets.values())
    for set_name, s in sets.items():
        printed = SVR_PRINTED.get((kernel, s.printed), {})
        names = [name for name in ORDER if name in METHODS[kernel]] + (list(SVR_MORE[kernel]) if part == "svr" else [])
        for name in [name for name in names if name in (s.only or names)]:
            every = [errors_of(records, part, set_name, kernel, name, q) for q in s.ratios]
            lines.append([set_name, name, *(plus_minus(e, digits) if e else "" for e in every), *[""] * (most - len(every))])
            if name in printed:
                lines.append([set_name, f"*{name}, printed*", *(f"*{v}*" for v in printed[name])])
        limit = errors_of(records, part, set_name, kernel, LIMIT[kernel][0], 0)
        if limit:
            lines.append([set_name, LIMIT[kernel][0], plus_minus(limit, digits), *[""] * (most - 1)])
    return lines


def ratio_text(q):
    return f"s = d/{round(1 / q)}" if q < 1 else "s = d" if q == 1 else f"s = {q}d"


def svr_tables(records):
    tables = {}
    for kernel in METHODS:
        tables[f"svr {kernel}"] = common.table(["set", "map", "s = 2d", "s = 4d", "s = 8d"],
                                               machine_table(records, "svr", SVR_SETS, kernel, 3))
    lines = []
    for kernel in METHODS:
        for set_name, s in SVR_SETS.items():
            for name in [] if s.only else [name for name in ORDER if name in METHODS[kernel] and name != "GORF"]:
                pairs = [list(zip(*(errors_of(records, "svr", set_name, kernel, n, q) for n in (name, "GORF")))) for q in s.ratios]
                differences = [[a - b for a, b in pair] for pair in pairs]
                lines.append([f"{kernel}, {set_name}", name, *(
                    f"{statistics.fmean(x):+.3f} ± {statistics.stdev(x) / len(x) ** 0.5:.3f}" if len(x) > 1 else ""
                    for x in differences)])
    tables["svr pairs"] = common.table(["kernel, set", "less GORF", "s = 2d", "s = 4d", "s = 8d"], lines)
    return tables


def svm_tables(records):
    tables = {}
    for kernel in METHODS:
        for set_name, s in SVM_SETS.items():
            head = ["error in %", *(ratio_text(q) for q in s.ratios)]
            tables[f"svm {kernel} {set_name}"] = common.table(
                head, [line[1: 2 + len(s.ratios)] for line in machine_table(records, "svm", {set_name: s}, kernel, 2)])
    return tables


def figure(records, set_name):
    plots = []
    for kernel in METHODS:
        series = {}
        for name in ORDER:
            found = [(q, errors_of(records, "svm", set_name, kernel, name, q)) for q in SVM_SETS[set_name].ratios]
            series[name] = [(q, statistics.fmean(e), statistics.stdev(e) if len(e) > 1 else 0) for q, e in found if e]
        plots.append((f"s / d, {kernel}", "test error, %", series))
    return common.figure(f"support vector machines on {set_name}", plots)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--parts", type=lambda text: text.split(","), default=PARTS)
    p.add_argument("--sets", type=lambda text: set(text.split(",")), default={*DIMENSIONS, *SVR_SETS})
    p.add_argument("--records", type=Path)
    p.add_argument("--tables", action="store_true", help="measure nothing")
    p.add_argument("--write", action="store_true")
    p.add_argument("--small", action="store_true", help="to try it out; the numbers mean nothing")
    a = p.parse_args()
    records, work = common.Records(a.records), common.folder()
    print(f"# {common.machine()}", file=sys.stderr)
    measure = {"errors": measure_errors, "positive": measure_positive,
               "svr": lambda *args: measure_machines(records, "svr", SVR_SETS, *args[1:]),
               "svm": lambda *args: measure_machines(records, "svm", SVM_SETS, *args[1:])}
    make = {"errors": error_tables, "positive": positive_table, "svr": svr_tables, "svm": svm_tables}
    tables = {}
    for part in a.parts:
        if not a.tables:
            measure[part](records, a.sets, a.small, work)
        tables |= make[part](records)
    common.publish(tables, "indefinite.md" if a.write else None)
    for name in SVM_SETS if a.write and "svm" in a.parts else []:
        (common.ROOT / "docs" / "results" / f"indefinite-{name}.svg").write_text(figure(records, name))


if __name__ == "__main__":
    main()
