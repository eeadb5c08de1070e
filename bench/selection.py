#!/usr/bin/python3
"""selection.py [--sets A,B] [--splits N] [--times] [--records FILE] [--write] -- a width by theory.

Tables 6.1 and 6.2 of the thesis behind li2017spectral: on the training part of 30 random splits (70 % of each
class) the sigma of a Gaussian, 2^-15 .. 2^15, is chosen by sm, cv, loo, ckta, fsm and er; then the
least-squares SVM with that sigma is fitted and tested on the other part.

fixed:  regularisation n lambda = 1, for cv and loo and for every fit.
path:   lambda by leave-one-out in every fit; cv and loo look for their own. Sets below 500 rows.
trace:  as fixed, by the spectral measure of K / trace K instead of K / sum K: sm(norm=trace).
times:  seconds of each criterion alone, one thread, median of 3 splits. Wants a quiet machine.

All are made, or those named by --fixed, --path, --trace (with --fixed), --times. With --records the
measurements go to FILE as lines of JSON, and those that are there are not made again: a run may be
stopped and continued. --write puts the tables that were made between the marks in
docs/results/selection.md; without it they are printed.
"""

import argparse
import re
import shutil
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import common

KERNELS = "gaussian(sigma=2^-15..2^15:31)"
PARTS = ["fixed", "path", "trace", "times"]
NAMES = ["SM", "CV", "ELOO", "CKTA", "FSM", "ER"]
SMALL = 500  # rows below which the path of lambdas is gone through

# name: file, classes of one side, classes of the other (none: all others)
TASKS = {
    "a1a": ("a1a.train", [1], []),
    "a2a": ("a2a.train", [1], []),
    "anneal": ("anneal", [2], []),
    "australian": ("australian", [1], []),
    "autos": ("autos", [2], []),
    "breast-cancer": ("breast-cancer", [1], []),
    "breast-w": ("breast-w", [1], []),
    "colic": ("colic", [1], []),
    "diabetes": ("diabetes", [1], []),
    "german.numer": ("german.numer", [1], []),
    "glass": ("glass", [0], []),
    "heart": ("heart", [1], []),
    "hepatitis": ("hepatitis", [1], []),
    "ionosphere": ("ionosphere", [1], []),
    "labor": ("labor", [1], []),
    "liver-disorders": ("liver-disorders", [1], []),
    "segment": ("segment", [0], []),
    "sonar": ("sonar", [1], []),
    "tic-tac-toe": ("tic-tac-toe", [1], []),
    "vehicle": ("vehicle", [0], []),
    "vote": ("vote", [1], []),
    "wdbc": ("wdbc", [1], []),
    "wpbc": ("wpbc", [1], []),
    # Two classes only: judging by its times, what the thesis did.
    "anneal 1/2": ("anneal", [0], [1]),
    "autos -2/-1": ("autos", [0], [1]),
    "glass 1/2": ("glass", [0], [1]),
    "segment bri/cem": ("segment", [0], [1]),
    "vehicle bus/saab": ("vehicle", [0], [2]),
}
PAIRS = [name for name in TASKS if TASKS[name][2]]

# The thesis's names of tasks where they are others.
SAME = {"bupa": "liver-disorders", "pima": "diabetes", "anneal": "anneal 1/2", "autos": "autos -2/-1",
        "glass": "glass 1/2", "segment": "segment bri/cem", "vehicle": "vehicle bus/saab"}

# The thesis: percent of errors and their deviation, seconds.
THESIS = {
    "a1a": "16.84 1.39 17.02 1.57 16.88 1.41 18.86 1.49 24.72 1.67 16.97 1.52",
    "a2a": "17.78 1.28 17.96 1.25 17.94 1.27 18.52 1.26 25.62 1.47 18.99 1.37",
    "anneal": "2.69 3.28 3.81 4.11 2.69 3.28 4.75 4.78 5.13 4.18 5.50 4.95",
    "australian": "13.71 2.10 13.84 2.18 13.82 2.04 13.91 1.89 44.71 2.47 13.53 2.06",
    "autos": "11.81 11.67 11.81 11.67 12.75 11.06 13.71 12.03 12.71 8.06 12.14 11.51",
    "breast-w": "3.27 1.01 3.56 1.16 3.59 1.08 3.51 1.05 3.50 1.05 4.26 1.40",
    "breast-cancer": "3.18 1.15 3.63 1.16 3.50 1.23 3.63 1.16 3.60 1.14 4.04 1.12",
    "bupa": "30.29 3.48 29.10 4.04 30.31 4.27 35.81 3.45 39.77 3.68 29.13 4.46",
    "colic": "15.62 3.00 16.47 2.78 15.73 2.97 19.27 2.58 36.42 3.28 17.35 3.09",
    "diabetes": "24.22 2.41 24.69 2.71 23.51 2.75 24.85 2.46 35.30 3.00 23.90 2.48",
    "glass": "22.09 5.07 21.82 5.68 20.95 4.82 26.41 7.13 43.00 9.22 22.50 5.08",
    "german.numer": "24.09 2.15 25.28 2.38 23.81 2.26 26.02 2.16 29.89 2.41 25.33 2.14",
    "heart": "16.53 3.27 16.69 3.36 15.95 3.29 18.67 3.78 44.37 5.50 15.98 3.47",
    "hepatitis": "15.57 4.68 17.09 5.74 16.63 4.64 15.74 5.00 21.22 5.41 18.91 6.20",
    "ionosphere": "4.88 2.10 5.28 2.11 6.42 2.17 11.70 3.43 35.77 4.00 4.86 1.99",
    "labor": "13.65 8.10 14.47 8.08 14.82 8.34 15.41 8.80 34.59 8.70 18.82 8.81",
    "pima": "23.80 2.14 22.78 2.36 22.51 2.41 24.38 2.28 34.47 2.42 22.78 2.07",
    "segment": "0.01 0.00 0.06 0.24 0.20 0.04 0.32 0.03 0.21 0.01 0.24 0.04",
    "liver-disorders": "31.94 3.21 29.00 4.11 30.02 4.76 36.27 3.93 40.90 4.10 29.69 4.97",
    "sonar": "15.06 4.80 14.26 4.93 13.68 4.43 15.00 5.51 49.32 6.93 18.84 5.75",
    "vehicle": "3.02 1.79 3.33 1.77 3.02 1.79 3.77 1.51 53.32 3.38 5.52 2.44",
    "vote": "4.31 1.71 4.78 1.74 4.82 1.73 5.25 1.72 6.37 3.96 7.80 2.33",
    "wpbc": "23.10 4.58 22.83 4.32 21.93 4.45 21.87 4.13 22.13 4.19 21.87 4.13",
    "tic-tac-toe": "10.10 1.93 10.28 1.66 9.78 1.66 33.62 5.31 34.44 2.04 14.62 2.05",
    "wdbc": "2.29 1.15 2.43 1.07 2.73 1.11 2.82 1.20 37.49 3.83 4.75 1.66",
}
THESIS_TIMES = {
    "a1a": "63.77 704.50 217.03 87.51 79.71 422.71",
    "a2a": "124.53 1995.76 810.87 172.28 156.68 1558.70",
    "anneal": "0.28 4.60 0.84 0.43 0.55 1.36",
    "australian": "8.30 111.31 30.33 11.34 9.51 52.53",
    "autos": "0.10 2.18 0.23 0.17 0.29 0.37",
    "breast-cancer": "8.05 104.55 27.13 11.10 9.36 47.68",
    "breast-w": "8.59 105.39 29.77 11.80 10.11 49.86",
    "colic": "1.55 25.72 6.52 2.15 2.17 11.60",
    "glass": "0.33 5.74 1.15 0.53 0.66 2.00",
    "heart": "1.02 14.71 3.66 1.12 1.20 6.33",
    "hepatitis": "0.38 6.55 1.42 0.58 0.70 2.44",
    "ionosphere": "1.59 24.60 6.08 2.03 2.06 10.60",
    "labor": "0.16 2.88 0.42 0.28 0.42 0.67",
    "segment": "7.50 91.73 23.83 10.49 8.93 42.63",
    "diabetes": "10.70 134.71 36.26 14.90 12.51 62.46",
    "german.numer": "21.80 249.98 72.63 29.59 26.27 127.51",
    "liver-disorders": "1.37 21.04 5.46 1.91 1.94 9.27",
    "sonar": "0.62 10.53 2.34 0.87 0.98 4.06",
    "vehicle": "2.03 35.64 9.35 2.86 2.85 15.95",
    "vote": "2.03 34.43 9.33 2.79 2.81 15.92",
    "wpbc": "0.52 9.06 2.07 0.76 0.92 3.33",
    "tic-tac-toe": "18.93 224.13 63.10 26.13 23.04 107.12",
    "wdbc": "5.75 61.32 19.18 7.86 6.80 33.65",
}


def rows_of(name, data):
    """Label +-1 first, or None where the file is missing."""
    import pandas

    file, plus, minus = TASKS[name]
    path = data / f"{file}.csv.gz"
    if not path.exists():
        return None
    rows = pandas.read_csv(path, header=None, dtype="float64").to_numpy()
    if minus:
        rows = rows[np.isin(rows[:, 0], plus + minus)]
    rows[:, 0] = np.where(np.isin(rows[:, 0], plus), 1, -1)
    return rows


def split(rows, seed):
    """70 % of each class, and the others."""
    rng = np.random.default_rng(seed)
    inside = np.zeros(len(rows), bool)
    for label in (-1, 1):
        order = rng.permutation(np.flatnonzero(rows[:, 0] == label))
        inside[order[: round(0.7 * len(order))]] = True
    return rows[inside], rows[~inside]


def criteria(part, n):
    at = "" if part == "path" else f"lambda={1 / n:.9g}"
    return ["sm(r=3)", f"cv(k=5{', ' + at if at else ''})", f"loo({at})" if at else "loo", "ckta", "fsm", "er"]


def sigma_of(kernel):
    return float(re.search(r"sigma=([^,)]+)", kernel).group(1))


def write_csv(path, rows):
    np.savetxt(path, rows, delimiter=",", fmt="%.9g")
    return path


def fit(train, test, sigma, lam, work):
    """Test error of the least-squares SVM."""
    return common.krein("train", train, "-k", f"gaussian(sigma={sigma!r})", "-m", "exact", "-l", lam, "--test", test,
                        "-o", work / "model.krein", threads=1)["test"]["error"]


def measure_errors(part, train, test, work):
    """Sigmas chosen on train by the six criteria, and their errors on test."""
    a, b = write_csv(work / "train.csv", train), write_csv(work / "test.csv", test)
    arguments = [word for c in criteria(part, len(train)) for word in ("-c", c)]
    chosen = common.krein("select", a, "--kernels", KERNELS, *arguments, threads=1)
    sigmas = [sigma_of(c["best"]) for c in chosen["criteria"]]
    lam = "auto" if part == "path" else f"{1 / len(train):.9g}"
    errors = {sigma: fit(a, b, sigma, lam, work) for sigma in set(sigmas)}
    return {"sigma": sigmas, "error": [errors[s] for s in sigmas]}


def measure_trace(train, test, work):
    a, b = write_csv(work / "train.csv", train), write_csv(work / "test.csv", test)
    chosen = common.krein("select", a, "--kernels", KERNELS, "-c", "sm(r=3, norm=trace)", threads=1)
    sigma = sigma_of(chosen["criteria"][0]["best"])
    return {"sigma": [sigma], "error": [fit(a, b, sigma, f"{1 / len(train):.9g}", work)]}


def measure_times(train, work):
    a = write_csv(work / "train.csv", train)
    machine = common.machine()
    return {"machine": machine,
            "seconds": [common.krein("select", a, "--kernels", KERNELS, "-c", c, threads=1)["seconds"]
                        for c in criteria("fixed", len(train))]}


def measure(part, name, rows, number, records, work):
    if (part, name, number) in records.all:
        return
    here = work / f"{part}.{name.replace('/', '-')}.{number}"
    here.mkdir()
    train, test = split(rows, number)
    if part == "times":
        result = measure_times(train, here)
    elif part == "trace":
        result = measure_trace(train, test, here)
    else:
        result = measure_errors(part, train, test, here)
    records.add({"part": part, "set": name, "split": number, "rows": len(rows), "n": len(train), **result})
    shutil.rmtree(here)


def measure_all(parts, names, splits, records, data, jobs):
    work = common.folder()
    sets = {name: rows_of(name, data) for name in names}
    for name in [name for name in names if sets[name] is None]:
        print(f"{name}: not in {data}, skipped", file=sys.stderr)
        del sets[name]
    order = sorted(sets, key=lambda name: len(sets[name]))
    for part in parts:
        chosen = [name for name in order if part != "path" or len(sets[name]) < SMALL]
        pairs = [(name, number) for name in chosen for number in range(min(splits, 3) if part == "times" else splits)]
        with ThreadPoolExecutor(1 if part == "times" else jobs) as pool:
            futures = [pool.submit(measure, part, name, sets[name], k, records, work) for name, k in pairs]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


def versus(errors):
    """Of column 0 against each other one: -1 lower error at 95 % (paired t), 1 higher, 0 neither."""
    from scipy.stats import ttest_rel

    out = []
    for other in errors.T[1:]:
        difference = errors[:, 0] - other
        if np.allclose(difference, difference[0]):  # no spread: the test is not defined
            out.append(int(np.sign(difference[0]) if abs(difference[0]) > 1e-12 else 0))
        else:
            out.append(int(np.sign(difference.mean())) if ttest_rel(errors[:, 0], other).pvalue < 0.05 else 0)
    return out


def score(signs):
    """wins/ties/losses"""
    return f"{sum(s < 0 for s in signs)}/{sum(s == 0 for s in signs)}/{sum(s > 0 for s in signs)}"


MARK = {-1: " +", 0: "", 1: " -"}


def errors_of(part, records, name):
    """Percent, splits x criteria; trace: its own and then the six of the same splits, SM first among them."""
    found = records.of(part, name)
    if part == "trace":
        fixed = {r["split"]: r["error"] for r in records.of("fixed", name)}
        found = [{**r, "error": r["error"] + fixed[r["split"]]} for r in found if r["split"] in fixed]
    return found, 100 * np.array([r["error"] for r in found])


def error_table(part, records, names):
    """Means and deviations; against the first column + is a win of the first, - a loss."""
    lines, signs, lower = [], [], []
    heads = ["SM, trace"] * (part == "trace") + NAMES
    for name in names:
        found, errors = errors_of(part, records, name)
        if len(found) < 2:
            continue
        mean, sd, sign = errors.mean(0), errors.std(0, ddof=1), versus(errors)
        if name not in PAIRS:
            signs.append(sign)
            lower.append(np.sign(np.round(mean[0] - mean[1:], 9)))
        cells = [f"{m:.2f} ± {s:.2f}{MARK[k]}" for m, s, k in zip(mean, sd, [0, *sign])]
        lines.append([name, found[0]["rows"], len(found), *cells])
    if signs:
        lines.append([f"**{heads[0]} wins/ties/losses**", "", "", "", *map(score, zip(*signs))])
        lines.append([f"{heads[0]} lower/equal/higher mean", "", "", "", *map(score, zip(*lower))])
    return common.table(["set", "rows", "splits", *heads], lines) if lines else None


def sigma_table(part, records, names):
    lines = []
    for name in names:
        found = records.of(part, name)
        if found:
            exponents = np.log2([r["sigma"] for r in found])
            low, mid, high = (np.percentile(exponents, p, axis=0, method="nearest") for p in (0, 50, 100))
            lines.append([name, *(f"{mid[j]:.0f} ({low[j]:.0f}..{high[j]:.0f})" for j in range(6))])
    return common.table(["set", *NAMES], lines) if lines else None


def thesis_table():
    lines, lower = [], []
    for name, text in THESIS.items():
        v = list(map(float, text.split()))
        lower.append([np.sign(v[0] - v[j]) for j in range(2, 12, 2)])
        lines.append([name, *(f"{v[j]:.2f} ± {v[j + 1]:.2f}" for j in range(0, 12, 2))])
    lines.append(["SM lower/equal/higher mean", "", *map(score, zip(*lower))])
    return common.table(["set", *NAMES], lines)


def agreement_table(records):
    """Over the rows of the thesis: how far our mean errors are from its, in points."""
    differences = []
    for name, text in THESIS.items():
        found, errors = errors_of("trace", records, SAME.get(name, name))
        if len(found) > 1:
            theirs = np.array(text.split(), float)[::2]
            differences.append(np.abs(errors.mean(0) - theirs[[0, *range(6)]]))
    if not differences:
        return None
    line = [f"{x:.1f}" for x in np.median(differences, axis=0)]
    return common.table(["", "SM, trace", *NAMES], [["median over the rows of the thesis", *line]])


def time_table(records, names):
    lines, ratios, notes = [], [], []
    thesis = {SAME.get(name, name): text.replace(" ", ", ") for name, text in THESIS_TIMES.items()}
    for name in names:
        found = records.of("times", name)
        if not found:
            continue
        v = [statistics.median(column) for column in zip(*(r["seconds"] for r in found))]
        ratios.append([x / v[0] for x in v])
        notes.append(f"{len(found)} split(s) a set; {found[0]['machine']}.")
        lines.append([name, found[0]["n"], *(f"{x:.3f}" for x in v), thesis.get(name, "")])
    if not lines:
        return None
    lines.append(["median ratio to SM", "", *(f"{statistics.median(c):.1f}" for c in zip(*ratios)), ""])
    return common.table(["set", "n", *NAMES, "thesis"], lines) + f"\n{notes[0]}\n"


def results(records, names):
    """name of a mark: text, of what was measured"""
    tables = {"fixed": error_table("fixed", records, names), "path": error_table("path", records, names),
              "trace": error_table("trace", records, names), "sigmas": sigma_table("fixed", records, names),
              "thesis": thesis_table(), "agreement": agreement_table(records), "times": time_table(records, names)}
    return {mark: text for mark, text in tables.items() if text}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sets", default=",".join(TASKS))
    p.add_argument("--splits", type=int, default=30)
    p.add_argument("--small", action="store_true", help="three small sets, three splits, no records")
    for part in PARTS:
        p.add_argument(f"--{part}", action="store_true")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--records", type=Path)
    p.add_argument("--tables", action="store_true", help="measure nothing")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    parts = [part for part in PARTS if getattr(a, part)] or PARTS
    names, splits = a.sets.split(","), a.splits
    if a.small:
        names, splits, a.records = ["labor", "heart", "glass 1/2"], 3, None
    data = common.data()
    records = common.Records(a.records)
    print(f"# {common.machine()}", file=sys.stderr)
    if not a.tables:
        measure_all(parts, names, splits, records, data, a.jobs)
    tables = results(records, names)
    common.publish(tables, "selection.md" if a.write and not a.small else None)


if __name__ == "__main__":
    main()
