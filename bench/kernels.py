#!/usr/bin/env python3
"""Twenty kernels on 100,000 rows: what mkl costs beside one kernel.

usage: kernels.py [--small]

100,000 rows of 20 inputs in ten classes (krein generate blobs), twenty kernels of five kinds, 4,096 features in
all. For each method: seconds in all, the seconds that finding the weights took, and the peak of the resident
memory, which must stay below 4 GB. Beside it krr with one Gaussian of given width on as many features, whose share
of the machine's speed bench_pipe tells: the ratio is the price of choosing among twenty kernels.
"""
import sys

import common

SMALL = "--small" in sys.argv[1:]
ROWS, D = (4000, 512) if SMALL else (100_000, 4096)
KERNELS = ("gaussian(sigma=1..16:10); laplacian(sigma=4..64:5); linear; poly(degree=2..3:2); ntk(depth=1..2:2)")
METHODS = ["average", "alignment", "centered", "lp", "conv", "pwmk", "easymkl", "smsd", "ufo"]


def main():
    folder = common.folder()
    path, model = folder / "blobs.npy", folder / "m.krein"
    common.run([common.program(), "generate", "blobs(classes=10)", "-n", ROWS, "-d", 20, "-o", path, "-q"])
    shared = [path, "--task", "classification", "--features", D, "-o", model]
    one = common.krein("train", *shared, "-k", "gaussian(sigma=4)", "-m", "orf")
    print(f"{ROWS:,} rows, {D} features; krr with one kernel: {one['seconds']['total']:.1f} s, "
          f"{one['peak_rss_bytes'] / 1e9:.2f} GB")
    print(f"{'method':<12}{'seconds':>9}{'weights':>9}{'ratio':>7}{'GB':>7}")
    for method in METHODS:
        r = common.krein("train", *shared, "-m", "auto", "--learner", f"mkl(method={method})", "--kernels", KERNELS)
        assert len(r["weights"]) == 20
        s = r["seconds"]
        print(f"{method:<12}{s['total']:9.1f}{s['select']:9.1f}{s['total'] / one['seconds']['total']:7.2f}"
              f"{r['peak_rss_bytes'] / 1e9:7.2f}", flush=True)
        if not SMALL and r["peak_rss_bytes"] > 4e9:
            print(f"{method}: more than 4 GB", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
