#!/usr/bin/python3
"""spline.py [--seeds N] [--jobs N] [--records FILE] [--tables] [--write] -- rates of divide and conquer.

The experiment of li2019distributed in numbers that theory knows: one input, uniform on [0, 1], labels
Lambda_(r/gamma + 1/2)(x) + 0.1 N(0, 1), kernel Lambda_(1/gamma), Lambda_q(u) = 1 + 2 sum_k cos(2 pi k u) / k^q;
`krein train --learner "dckrr(parts=m)" -m spline` with M, m and lambda as the theorem has them,

    M = n^(((2r-1) gamma + 1) / (2r + gamma)),   m = n^((2r-1) / (2r + gamma)),   lambda = c n^(-1 / (2r + gamma)).

It leaves c open: one for each case, found on seeds of its own (PILOT) and few rows, by the true error. The excess
risk is the mean square of f - f* on a grid of 4,001 places. A slope is fitted to each seed, log excess against log n;
the table has their mean and its standard error.

With --records the measurements go to FILE as lines of JSON, and those that are there are not made again. --write
puts the tables into docs/results/divide.md and the figure into docs/results/spline.svg.
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

HARMONICS = 4000
ROWS = [round(10 ** (2 + k / 4)) for k in range(9)]  # 100 .. 10,000
PILOT, PILOT_ROWS = range(1001, 1005), [316, 1000]
CONSTANTS = [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10]


@dataclass
class Case:
    r: float
    gamma: float
    times: int  # as many features as the theorem's
    kernel: str

    @property
    def target(self):
        return self.r / self.gamma + 0.5

    @property
    def slope(self):
        return -2 * self.r / (2 * self.r + self.gamma)

    def power(self, n, numerator):
        return n ** (numerator / (2 * self.r + self.gamma))

    def features(self, n):
        return self.times * round(self.power(n, (2 * self.r - 1) * self.gamma + 1))

    def parts(self, n):
        return round(self.power(n, 2 * self.r - 1))

    def decay(self, n):
        return self.power(n, -1)


HARD = f"spline(q=1, terms={HARMONICS})"  # the whole series is infinite at 0
CASES = {"easy": Case(11 / 16, 1 / 8, 1, "spline(q=8)"), "hard": Case(0.7, 1, 1, HARD),
         "hard, 4 M": Case(0.7, 1, 4, HARD)}


# ---- measurements -------------------------------------------------------------------------------


def grid(case, path):
    """Places and the target there, without noise."""
    x = ((np.arange(4001) + 0.5) / 4001).astype(np.float32)
    y = np.ones(len(x))
    for k in range(HARMONICS, 0, -1):
        y += 2 * np.cos(2 * math.pi * np.mod(k * x.astype(float), 1)) * k ** -case.target
    np.savetxt(path, np.column_stack([y, x]), delimiter=",", fmt="%.9g", header="y,x1", comments="")


def excess(case, data, test, seed, c, n):
    r = common.krein("train", data, "-t", "regression", "--scale", "none", "--learner", f"dckrr(parts={case.parts(n)})",
                     "-k", case.kernel, "-m", "spline", "-D", case.features(n), "-l", repr(c * case.decay(n)),
                     "-s", seed, "--test", test, "-o", data.with_suffix(".krein"), threads=1)
    return {"excess": r["test"]["rmse"] ** 2, "D": r["D"], "parts": case.parts(n), "lambda": r["lambda"]}


def measure(part, split, runs, records, work):
    """runs: (case, n, c) that have no record yet. Rows and features are fresh for every split and n."""
    for name, n, c in runs:
        case, seed = CASES[name], 100000 * split + n
        data = work / f"{part}.{case.target:g}.{seed}.csv"
        if not data.exists():
            common.krein("generate", f"spline(q={case.target:g})", "-n", n, "-s", seed, "-o", data, threads=1)
        records.add({"part": part, "set": name, "split": split, "method": f"{n} {c:g}", "n": n, "c": c,
                     **excess(case, data, work / f"{case.target}.csv", seed, c, n)})


def measure_all(part, seeds, runs, records, jobs):
    work = common.folder()
    for case in {c.target: c for c in CASES.values()}.values():
        grid(case, work / f"{case.target}.csv")
    with ThreadPoolExecutor(jobs) as pool:
        futures = []
        for split in seeds:
            unmeasured = [run for run in runs if (part, run[0], split, f"{run[1]} {run[2]:g}") not in records.all]
            futures.append(pool.submit(measure, part, split, unmeasured, records, work))
        for future in futures:
            future.result()


def constant(records, name):
    """The c of the smallest mean log excess in the pilot."""
    of = {c: [math.log(r["excess"]) for r in records.of("pilot", name) if r["c"] == c] for c in CONSTANTS}
    return min(CONSTANTS, key=lambda c: statistics.fmean(of[c]))


# ---- tables, figure -----------------------------------------------------------------------------


def mean_error(values):
    return statistics.fmean(values), statistics.stdev(values) / math.sqrt(len(values))


def by_seed(records, name):
    """{seed: [excess at ROWS]}"""
    out = {}
    for r in records.of("rates", name):
        out.setdefault(r["split"], {})[r["n"]] = r["excess"]
    return {seed: [e[n] for n in ROWS] for seed, e in out.items() if len(e) == len(ROWS)}


def slopes(records, name):
    return [float(np.polyfit(np.log(ROWS), np.log(e), 1)[0]) for e in by_seed(records, name).values()]


def slope_table(records):
    lines = []
    for name, case in CASES.items():
        every = slopes(records, name)
        mean, error = mean_error(every)
        lines.append([name, f"{case.r:.4g}, {case.gamma:.4g}", f"{constant(records, name):g}", len(every),
                      f"{case.slope:.3f}", f"{mean:.3f} ± {error:.3f}", f"{statistics.stdev(every):.3f}"])
    return common.table(["case", "r, gamma", "c", "seeds", "theory", "slope, mean ± standard error", "deviation of one seed"],
                        lines)


def excess_table(records):
    lines = []
    for k in range(0, len(ROWS), 2):
        cells = []
        for name, case in CASES.items():
            mean, error = mean_error([e[k] for e in by_seed(records, name).values()])
            cells += [f"{case.features(ROWS[k])}, {case.parts(ROWS[k])}", f"{mean:.3g} ± {error:.1g}"]
        lines.append([f"{ROWS[k]:,}", *cells])
    return common.table(["n", *(h for name in CASES for h in ("M, m", f"{name}: excess"))], lines)


def pilot_table(records):
    """Geometric means."""
    lines = []
    for name in CASES:
        of = {c: [math.log(r["excess"]) for r in records.of("pilot", name) if r["c"] == c] for c in CONSTANTS}
        lines.append([name, *(f"{math.exp(statistics.fmean(of[c])):.3g}" for c in CONSTANTS)])
    return common.table(["c", *CONSTANTS], lines)


def series(records, name):
    """Means over the seeds and the line of the theory through their middle."""
    every = by_seed(records, name).values()
    points = [(n, *mean_error([e[k] for e in every])) for k, n in enumerate(ROWS)]
    centre = math.exp(statistics.fmean(math.log(y) for _, y, _ in points))
    middle = math.exp(statistics.fmean(map(math.log, ROWS)))
    theory = [(n, centre * (n / middle) ** CASES[name].slope, 0) for n in ROWS[::8]]
    return points, theory


def figure(records):
    easy, easy_theory = series(records, "easy")
    hard, hard_theory = series(records, "hard")
    names = ["features of the theorem", "four times as many", "slope of the theory"]
    plots = [("n, easy: r = 11/16, gamma = 1/8", [easy, [], easy_theory]),
             ("n, hard: r = 0.7, gamma = 1", [hard, series(records, "hard, 4 M")[0], hard_theory])]
    return common.figure("excess risk of divide and conquer on spline features", [
        (x, "excess risk", dict(zip(names, every))) for x, every in plots])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--records", type=Path)
    p.add_argument("--tables", action="store_true", help="measure nothing")
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    records = common.Records(a.records)
    print(f"# {common.machine()}", file=sys.stderr)
    if not a.tables:
        measure_all("pilot", PILOT, [(name, n, c) for name in CASES for n in PILOT_ROWS for c in CONSTANTS], records,
                    a.jobs)
        chosen = {name: constant(records, name) for name in CASES}
        measure_all("rates", range(1, a.seeds + 1), [(name, n, chosen[name]) for name in CASES for n in ROWS], records,
                    a.jobs)
    common.publish({"slopes": slope_table(records), "excess": excess_table(records), "pilot": pilot_table(records)},
                   "divide.md" if a.write else None)
    if a.write:
        (common.ROOT / "docs" / "results" / "spline.svg").write_text(figure(records))


if __name__ == "__main__":
    main()
