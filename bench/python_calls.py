#!/usr/bin/python3
"""python_calls.py [--small] [--write] -- what a prediction costs from Python beside the same call from C.

A call predicts 1, 1,000 or 1,000,000 rows of 10 inputs in memory (friedman), in float32 and float64:

  C           krein_data_from_rows, krein_predict_into, krein_data_close: bench/bench_calls, a C program of its own
  load        krein.load(FILE).predict(X), of the file that the C program reads
  estimator   krein.Regressor(...).predict(X)
  Ridge       scikit-learn's Ridge().predict(X), of the same rows

for three models: a linear one, which computes what Ridge computes; 256 random features; and Regressor() as it comes,
the kernel matrix of 1,000 rows. (A tile of 192 rows is the least that the library computes of kernel values, so that
no row depends on those around it: one row of such a model costs as much as 192.) All in one run and in turn, several
rounds; a time is the mean of the fastest batch of calls of all rounds. The predictions of C, load and estimator are
compared and must be equal to the last bit.

Then the memory that a prediction of 1,000,000 rows takes beside X and the result: what Python allocates
(tracemalloc, which counts NumPy's arrays) and by how much the process grows (VmHWM), for arrays that the library
reads as they are and, to compare, for one that has to be converted.

--write puts the tables into docs/results/python.md; --small tries the script out.
"""

import argparse
import os
import sys
import time
import tracemalloc
from datetime import date
from pathlib import Path

import common

common.package()

import numpy as np  # noqa: E402
import sklearn  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402

import krein  # noqa: E402
from krein import _rows  # noqa: E402

TYPES = {"float32": "f32", "float64": "f64"}
MORE = 30  # microseconds that krein.load(..).predict may take beside the C call
WAYS = ["C", "load", "estimator", "Ridge"]


def fastest(call, seconds):
    """Microseconds a call of the fastest batch, as bench_calls measures them."""
    start, best, count = time.perf_counter(), 1e30, 1
    while True:
        mark = time.perf_counter()
        for _ in range(count):
            call()
        taken = time.perf_counter() - mark
        best = min(best, taken / count)
        count *= 2 if taken < 1e-3 else 1
        if time.perf_counter() - start >= seconds:
            return 1e6 * best


def from_c(model, rows, X, seconds):
    """The same by the C program, and its last prediction."""
    tool = Path(common.program()).parent / "bench" / "bench_calls"
    if not os.access(tool, os.X_OK):
        sys.exit(f"{tool} is not there: make bench builds it")
    text, _ = common.run([tool, model, rows, *X.shape, TYPES[X.dtype.name], seconds], OMP_WAIT_POLICY="passive")
    taken, last = map(float, text.split())
    return taken, last


class Ways:
    """One model, called in every way."""

    def __init__(self, name, estimator, peer, folder):
        self.name, self.estimator, self.peer = name, estimator, peer
        self.path = folder / f"{name}.krein"
        estimator.model_.save(self.path)
        self.loaded = krein.load(self.path)

    def check(self, X, last):
        for guess in (self.loaded.predict(X), self.estimator.predict(X)):
            if guess[-1] != last:
                sys.exit(f"{self.name}: Python predicts {guess[-1]!r}, C {last!r}")

    def once(self, X, rows, seconds):
        """A round."""
        taken = {}
        taken["C"], last = from_c(self.path, rows, X, seconds)
        self.check(X, last)
        for way, model in (("load", self.loaded), ("estimator", self.estimator), ("Ridge", self.peer)):
            taken[way] = fastest(lambda: model.predict(X), seconds)
        return taken


def models(folder, small):
    X, y = krein.generate("friedman", 300 if small else 1000, 10, random_state=1)
    peer = Ridge().fit(X.astype(np.float64), y)
    made = []
    for name, estimator in (
        ("linear", krein.KernelRidge(kernel="linear", map="explicit", lambda_=1e-3)),
        ("features", krein.KernelRidge(kernel="gaussian", map="orf(D=256)", lambda_=1e-3)),
        ("default", krein.Regressor()),
    ):
        estimator.fit(X, y)
        print(f"{name}: {estimator.kernel_} on {estimator.map_}", flush=True)
        made.append(Ways(name, estimator, peer, folder))
    return made


def microseconds(value):
    return f"{value:,.1f}" if value < 1e4 else f"{value:,.0f}"


def timed(options, folder):
    """A table, and the sentences that say whether the targets are met."""
    sizes = [1, 100, 10000] if options.small else [1, 1000, 1000000]
    rounds, seconds = (2, 0.02) if options.small else (7, 0.5)
    lines, said = [], []
    everything = krein.generate("friedman", sizes[-1], 10, random_state=2)[0]
    for ways in models(folder, options.small):
        for n in sizes:
            for dtype in TYPES:
                X = np.ascontiguousarray(everything[:n], dtype=dtype)
                rows = folder / "rows"
                X.tofile(rows)
                best = dict.fromkeys(WAYS, 1e30)
                for _ in range(rounds if n < 1e5 else 3):
                    taken = ways.once(X, rows, seconds)
                    best = {way: min(best[way], taken[way]) for way in WAYS}
                more = best["load"] - best["C"]
                lines.append([ways.name, f"{n:,}", dtype, *(microseconds(best[way]) for way in WAYS),
                              f"{more:+,.1f}", f"{best['load'] / best['C']:.2f}"])
                print(*lines[-1], flush=True)
                if n == 1:
                    said.append(f"{ways.name}, 1 row, {dtype}: load is {more:.1f} us above C (target {MORE}: "
                                + ("met)" if more <= MORE else "MISSED)")
                                + f", estimator {best['estimator']:.1f} us, Ridge {best['Ridge']:.1f} us (target: not "
                                + "above Ridge: " + ("met)" if best["estimator"] <= best["Ridge"] else "MISSED)"))
    head = ["model", "rows", "type", *(f"{way} us" for way in WAYS), "load - C us", "load / C"]
    return common.table(head, lines), said


# ---- memory ----------------------------------------------------------------


def high_water():
    """Most bytes the process has held since it was told to forget them."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    return 0


def grown(call):
    """Bytes that Python allocates, and that the process grows by, while it predicts."""
    call()
    tracemalloc.start()
    call()
    allocated = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return allocated, None
    before = high_water()
    call()
    return allocated, high_water() - before


def memory(options, folder):
    n = 10000 if options.small else 1000000
    X, y = krein.generate("friedman", n, 10, random_state=2)
    model = krein.KernelRidge(kernel="linear", lambda_=1e-3).fit(X[:1000], y[:1000]).model_
    lines = []
    for name, table in (
        ("float32, row after row", X),
        ("float64, row after row", X.astype(np.float64)),
        ("float32, column after column", np.asfortranarray(X)),
        ("float32, every second row backwards", np.repeat(X, 2, axis=0)[::-2]),
        ("float16 (is converted to float32)", X.astype(np.float16)),
    ):
        result = 8 * n
        allocated, process = grown(lambda: model.predict(table))
        mine = np.shares_memory(_rows.as_numbers(table), table)
        megabytes = ["?" if v is None else f"{(v - result) / 1e6:,.1f}" for v in (allocated, process)]
        lines.append([name, f"{table.size * table.itemsize / 1e6:,.1f}", *megabytes, "yes" if mine else "no"])
        print(*lines[-1], flush=True)
    head = ["X", "MB", "allocated beside the result, MB", "process grows beside the result, MB", "the array's own memory"]
    return common.table(head, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    about = (f"{date.today()}; {common.machine()}; krein {krein.__version__}, Python {sys.version.split()[0]}, "
             f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}\n")
    print(about, flush=True)
    folder = common.folder()
    calls, said = timed(options, folder)
    copies = memory(options, folder)
    targets = "".join(f"- {line}\n" for line in said)
    common.publish({"calls": about + "\n" + calls + "\n" + targets, "copies": copies},
                   "python.md" if options.write else None)


if __name__ == "__main__":
    main()
