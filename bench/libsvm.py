#!/usr/bin/env python3
"""krein train --learner svm and krein predict against LIBSVM's svm-train and svm-predict, on whole data sets.

usage: libsvm.py [set ...]

C and sigma are the same for both: the best of a small grid by LIBSVM's own 3-fold cross-validation
on 5,000 rows (not counted in the times). The data are standardised here, once, and both read them
from LIBSVM-format files; krein is told --scale none, and the map of MAPS. Wall-clock seconds of
whole programs.
"""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

import common

GRID_C = [1, 8, 64]
GRID_SIGMA = [0.25, 0.5, 1]  # times sqrt(d / 2)
MAPS = {"ijcnn1": ["-m", "nystrom(D=1000)"], "cod-rna": ["-m", "orf(D=1000)"]}


def read(path):
    table = pd.read_csv(path, header=None)
    return table.iloc[:, 1:].to_numpy(np.float64), table.iloc[:, 0].to_numpy()


def write(path, x, y):
    with open(path, "w") as f:
        for row, label in zip(x, y):
            f.write("%g" % label + "".join(" %d:%.7g" % (j + 1, v) for j, v in enumerate(row) if v != 0) + "\n")


def run(*command):
    start = time.perf_counter()
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return time.perf_counter() - start, out


def accuracy(path, y):
    return 100 * np.mean(np.loadtxt(path, usecols=0) == y)


def choose(folder, x, y):
    rows = np.random.default_rng(1).choice(len(x), min(5000, len(x)), replace=False)
    write(folder + "/some", x[rows], y[rows])
    best = (-1, None, None)
    for c in GRID_C:
        for factor in GRID_SIGMA:
            sigma = factor * np.sqrt(x.shape[1] / 2)
            _, out = run("svm-train", "-q", "-v", "3", "-m", "1000", "-c", str(c), "-g",
                         repr(1 / (2 * sigma**2)), folder + "/some")
            rate = float(out.split("=")[1].strip().rstrip("%"))
            best = max(best, (rate, c, sigma))
    return best


def main():
    krein = common.program()
    data = Path(os.environ.get("KREIN_DATA", common.ROOT.parent / "shared" / "data"))
    folder = str(common.folder())
    print(common.machine(), flush=True)
    for name in sys.argv[1:] or list(MAPS):
        if not (data / f"{name}.train.csv.gz").exists():
            print(f"{name}: not in {data}, skipped")
            continue
        x, y = read(f"{data}/{name}.train.csv.gz")
        xt, yt = read(f"{data}/{name}.test.csv.gz")
        mean, sd = x.mean(0), x.std(0)
        sd[sd == 0] = 1
        x, xt = (x - mean) / sd, (xt - mean) / sd
        write(folder + "/train", x, y)
        write(folder + "/test", xt, yt)
        rate, c, sigma = choose(folder, x, y)
        print(f"{name}: {len(x)} rows, {x.shape[1]} columns; C = {c}, sigma = {sigma:.4g} "
              f"({rate:.2f} % by 3 folds of 5,000 rows)", flush=True)
        fit, _ = run(krein, "train", folder + "/train", "--learner", f"svm(C={c})", "-k",
                     f"gaussian(sigma={sigma!r})", *MAPS.get(name, []), "--scale", "none",
                     "-o", folder + "/m.krein", "-q")
        use, _ = run(krein, "predict", folder + "/m.krein", folder + "/test", "-o", folder + "/k", "-q")
        ours, own = fit + use, accuracy(folder + "/k", yt)
        info = json.loads(run(krein, "info", folder + "/m.krein", "--json")[1])
        print(f"  krein   train {fit:7.2f} s  predict {use:7.2f} s  accuracy {own:.2f} %  {info['map']}", flush=True)
        fit, _ = run("svm-train", "-q", "-m", "2000", "-c", str(c), "-g", repr(1 / (2 * sigma**2)),
                     folder + "/train", folder + "/m.libsvm")
        use, _ = run("svm-predict", folder + "/test", folder + "/m.libsvm", folder + "/l")
        peer = accuracy(folder + "/l", yt)
        print(f"  LIBSVM  train {fit:7.2f} s  predict {use:7.2f} s  accuracy {peer:.2f} %")
        print(f"  krein is {(fit + use) / ours:.1f} times faster, {own - peer:+.2f} points", flush=True)


if __name__ == "__main__":
    main()
