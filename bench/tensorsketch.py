#!/usr/bin/python3
"""tensorsketch.py [--small] [--threads N] -- the map tensorsketch beside scikit-learn.

(1 + <x, y>)^3 on 20,000 x 64 rows with 2,048 features: PolynomialCountSketch.fit_transform on
float32 rows in memory, and krein's map on rows of the same shape in memory (bench_sketch, which
times krein__map_apply on N threads and on one). Both sides are compute alone, without reading or
writing. They take turns; each time is the best of its runs. The target is five times faster.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import common


def sklearn_seconds(n, d, degree, features):
    import numpy as np
    from sklearn.kernel_approximation import PolynomialCountSketch

    rows = np.random.default_rng(1).random((n, d), dtype=np.float32) - np.float32(0.5)
    start = time.perf_counter()
    PolynomialCountSketch(degree=degree, gamma=1.0, coef0=1, n_components=features,
                          random_state=1).fit_transform(rows)
    return time.perf_counter() - start


def krein_seconds(bench, n, d, degree, features, threads):
    text, _ = common.run([bench, n, d, degree, features, threads])
    return float(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    options = parser.parse_args()
    bench = Path(common.program()).parent / "bench" / "bench_sketch"
    if not os.access(bench, os.X_OK):
        sys.exit(f"{bench} is not there: make bench builds it")
    n, d, degree, features = (2000 if options.small else 20000), 64, 3, 2048
    one, all_threads, peer = [], [], []
    for _ in range(3):
        peer.append(sklearn_seconds(n, d, degree, features))
        all_threads.append(krein_seconds(bench, n, d, degree, features, options.threads))
        one.append(krein_seconds(bench, n, d, degree, features, 1))
    best = min(peer)
    print(f"{n} x {d} rows, degree {degree}, {features} features; {common.cpu()}")
    print(f"scikit-learn PolynomialCountSketch   {best:8.3f} s")
    for threads, seconds in ((1, min(one)), (options.threads, min(all_threads))):
        print(f"krein tensorsketch, {threads} thread{'s' if threads > 1 else ' '}       "
              f"{seconds:8.3f} s   {best / seconds:5.1f}x")
    return 0 if options.small or best >= 5 * min(all_threads) else 1


if __name__ == "__main__":
    sys.exit(main())
