#!/usr/bin/env python3
"""Support vector machines on the kernel matrix: krein's solver beside LIBSVM's.

    bench/smo.py [--write] [--small] [--before KREIN]

The first table is bench_smo's: the same kernel matrix (gaussian, sigma = sqrt(d) / 2, columns standardised), the same C,
tolerance 1e-3, one thread; seconds of the CPU, so that other programs matter little. The second is of whole
trainings with `-m exact` on two threads, seconds of the CPU and peak memory of the process; --before names a krein
that is still built on LIBSVM. KREIN_DATA names the folder of the data sets; --write replaces docs/results/smo.md."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import common

# rows; the class that is told from the rest, or None: numbers
SETS = {"ijcnn1.train": (5000, 1), "magic": (5000, 1), "usps.train": (7291, 3), "letter.train": (5000, 1),
        "cpusmall": (5000, None), "kin40k": (5000, None), "cadata": (5000, None)}
COSTS = [1, 16, 256]
EPSILON = 0.1
# set, learner
TRAININGS = [("usps.train", 7291, "svm(C=8)"), ("usps.train", 7291, "svm(C=8, multi=ovo)"), ("letter.train", 5000, "svm"),
             ("magic", 5000, "svm"), ("kin40k", 5000, "svr(C=16)")]


def read(name, rows):
    table = pd.read_csv(common.data() / f"{name}.csv.gz", header=None, low_memory=False)
    try:
        float(table.iloc[0, 1])
    except ValueError:
        table = table.iloc[1:]
    x, y = table.iloc[:, 1:].to_numpy(float), table.iloc[:, 0].to_numpy()
    pick = np.random.default_rng(1).permutation(len(x))[:rows]
    x, y = x[pick], y[pick]
    sd = x.std(0)
    sd[sd == 0] = 1
    return (x - x.mean(0)) / sd, y


def targets(y, positive):
    if positive is None:
        y = y.astype(float)
        return (y - y.mean()) / y.std()
    return np.where(y.astype(str) == str(positive), 1.0, -1.0)


def machines(folder, small):
    tool = Path(common.program()).parent / "bench" / "bench_smo"
    if not os.access(tool, os.X_OK):
        sys.exit(f"{tool} is not there: make bench builds it where LIBSVM is installed (libsvm-dev)")
    lines, ratios, worst = [], [], 0
    for name, (rows, positive) in SETS.items():
        x, y = read(name, 500 if small else rows)
        y = targets(y, positive)
        if positive is not None and not 0 < np.mean(y > 0) < 1:
            sys.exit(f"{name}: no class {positive}")
        np.save(folder / "x.npy", x.astype(np.float32))
        np.save(folder / "y.npy", y)
        sigma = np.sqrt(x.shape[1]) / 2
        common.run([common.program(), "gram", folder / "x.npy", "--label", "none", "-k", f"gaussian(sigma={sigma!r})",
                    "--scale", "none", "-o", folder / "K.npy", "-q"])
        text, _ = common.run([tool, folder / "K.npy", folder / "y.npy", -1 if positive is not None else EPSILON, *COSTS])
        for line in map(json.loads, text.splitlines()):
            own, peer = line["krein"], line["libsvm"]
            ratio = peer["seconds"] / own["seconds"]
            ratios.append(ratio)
            worst = max(worst, own["dual"] / peer["dual"] - 1, 1 - own["dual"] / peer["dual"])
            lines.append([name.split(".")[0], "numbers" if positive is None else "classes", line["n"], line["C"],
                          f"{own['seconds']:.2f}", f"{peer['seconds']:.2f}", f"{peer['nodes']:.2f}", f"{ratio:.1f}",
                          own["support"], f"{own['dual']:.6g}", f"{peer['dual']:.6g}"])
            print(*lines[-1], flush=True)
    head = ["set", "targets", "rows", "C", "krein s", "LIBSVM s", "its nodes s", "times faster", "support vectors",
            "dual objective", "LIBSVM's"]
    return common.table(head, lines), ratios, worst


def train(krein, path, learner, folder):
    """Seconds of the CPU and megabytes at most of one training, and the learner it reports."""
    command = [krein, "train", path, "--label", "first", "-m", "exact", "-k", "gaussian", "--select", "none",
               "--learner", learner, "-j", "2", "-o", folder / "m.krein", "--json", "-q"]
    command += ["-t", "regression" if learner.startswith("svr") else "classification"]
    with open(folder / "report", "w") as out:
        process = subprocess.Popen([str(c) for c in command], stdout=out)
        _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("failed: " + " ".join(map(str, command)))
    chosen = json.loads((folder / "report").read_text())["learner"].split("C=")[1].split(",")[0].rstrip(")")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, chosen


def trainings(folder, before, small):
    lines = []
    for name, rows, learner in TRAININGS:
        x, y = read(name, 500 if small else rows)
        frame = pd.DataFrame(x)
        frame.insert(0, "y", y)
        path = folder / "rows.csv"
        frame.to_csv(path, index=False)
        runs = [min((train(k, path, learner, folder) for _ in range(2)), key=lambda r: r[0])
                for k in [common.program()] + ([before] if before else [])]
        line = [name.split(".")[0], len(x), learner, runs[0][2], f"{runs[0][0]:.1f}", f"{runs[0][1]:.0f}"]
        if before:
            line += [f"{runs[1][0]:.1f}", f"{runs[1][1]:.0f}", runs[1][2]]
        lines.append(line)
        print(*line, flush=True)
    head = ["set", "rows", "learner", "C", "s", "MB"]
    return common.table(head + (["with LIBSVM s", "MB", "C"] if before else []), lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--before", help="a krein built on LIBSVM")
    given = parser.parse_args()
    folder = common.folder()
    print(common.machine(), flush=True)
    first, ratios, worst = machines(folder, given.small)
    second = trainings(folder, given.before, given.small)
    tables = {
        "machine": f"{common.cpu()}; seconds of the CPU.\n",
        "machines": first,
        "summary": f"Between {min(ratios):.1f} and {max(ratios):.1f} times faster, {np.exp(np.mean(np.log(ratios))):.1f} in the "
                   f"geometric mean. The objectives differ by {worst:.0e} at most, relatively.\n",
        "trainings": second,
    }
    common.publish(tables, "smo.md" if given.write else None)


if __name__ == "__main__":
    main()
