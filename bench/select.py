#!/usr/bin/env python3
"""krein select against scikit-learn's GridSearchCV, and on 100,000 rows by features.

usage: select.py [--small]

One: 31 Gaussians, sigma = 2^-15 .. 2^15, on 2,000 rows of 20 inputs in two classes. krein scores them by each
criterion in one process (its "seconds", reading included); scikit-learn by 5-fold cross-validation of
KernelRidge at one alpha, as it is called (one process, BLAS on all cores) and at its best (n_jobs=2, a BLAS
thread each). Best of five for krein, best of two for scikit-learn, alternating.

Two: the same family on 100,000 rows by 1,024 random features, in less than 1 GB; its speed as a part of that of
making the features alone (krein approx's transform of 10,000 rows).
"""
import json
import sys
import time

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

import common

SMALL = "--small" in sys.argv[1:]
COUNT = 7 if SMALL else 31
FAMILY = f"gaussian(sigma=2^-{COUNT // 2}..2^{COUNT // 2}:{COUNT})"
SIGMAS = 2.0 ** np.arange(-(COUNT // 2), COUNT // 2 + 1)
CRITERIA = ["sm(r=3)", "sm(r=3, norm=sum)", "kta", "ckta", "polarization", "fsm", "loo(lambda=0.001)",
            "cv(k=5, lambda=0.001)", "er"]


def blobs(folder, rows):
    path = folder / f"blobs{rows}.npy"
    common.run([common.program(), "generate", "blobs(classes=2)", "-n", rows, "-d", 20, "-o", path, "-q"])
    return path


def grid_search(x, y, jobs):
    grid = GridSearchCV(KernelRidge(kernel="rbf", alpha=1.0), {"gamma": 1 / (2 * SIGMAS**2)}, cv=5, n_jobs=jobs)
    with threadpool_limits(None if jobs is None else 1):
        start = time.perf_counter()
        grid.fit(x, y)
        return time.perf_counter() - start


def small_n(folder):
    path = blobs(folder, 400 if SMALL else 2000)
    table = np.load(path)
    x, y = table[:, 1:].astype(np.float64), np.where(table[:, 0] > np.median(table[:, 0]), 1.0, -1.0)
    x = (x - x.mean(0)) / x.std(0)
    best, peer, plain = {}, [], []
    for turn in range(5):
        for c in CRITERIA:
            r = common.krein("select", path, "--task", "classification", "--kernels", FAMILY, "-c", c)
            best[c] = min(best.get(c, 1e9), r["seconds"])
        if turn < 2:
            peer.append(grid_search(x, y, 2))
            plain.append(grid_search(x, y, None))
    print(f"{len(x)} rows, {COUNT} kernels; scikit-learn's GridSearchCV(KernelRidge), 5 folds: {min(plain):.2f} s, "
          f"with n_jobs=2 {min(peer):.2f} s")
    for c in CRITERIA:
        note = ""
        if c.startswith("sm"):
            note = "   target 50x: " + ("met" if min(plain) >= 50 * best[c] else "MISSED")
        print(f"  {c:24s} {best[c]:8.3f} s   {min(plain) / best[c]:7.1f}x, {min(peer) / best[c]:7.1f}x{note}")


def features_a_second(path, D):
    """Of krein approx's transform alone, in billions: no program can score by features faster."""
    rows = 2000 if SMALL else 10000
    r = common.krein("approx", path, "-k", "gaussian(sigma=4)", "-m", "orf", "--features", D, "--rows", rows,
                     "--repeat", 5)
    return rows * D / r["results"][0]["seconds"] / 1e9


def large_n(folder):
    rows, D = (10000, 256) if SMALL else (100000, 1024)
    path = blobs(folder, rows)
    limit = features_a_second(path, D)
    print(f"{rows} rows by {D} features; the transform alone makes {limit:.2f} G features/s")
    command = ["/usr/bin/env", "time", "-f", "%M", "-o", folder / "peak", common.program(), "select", path, "--task",
               "classification", "--kernels", FAMILY, "-D", D, "--max-exact", 1000, "--json", "-q"]
    for c, passes in [("sm(r=3)", 2), ("fsm", 2), ("polarization", 1), ("ckta", 1), ("loo(lambda=0.001)", 2)]:
        text, _ = common.run(command + ["-c", c])
        seconds, peak = json.loads(text)["seconds"], int((folder / "peak").read_text()) / 1024
        speed = rows * D * COUNT * passes / seconds / 1e9
        note = ""
        if c.startswith("sm"):
            note = "   target 1 GB: " + ("met" if peak < 1024 else "MISSED")
        print(f"  {c:24s} {seconds:8.2f} s   {passes} passes at {100 * speed / limit:3.0f} % of the transform   "
              f"{peak:6.0f} MB{note}")


def main():
    folder = common.folder()
    print(common.machine())
    small_n(folder)
    large_n(folder)


main()
