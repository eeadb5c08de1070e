#!/usr/bin/python3
"""python_peers.py [options] -- krein.Regressor().fit beside other regressors, each as it comes.

Three sets of KREIN_DATA (../shared/data beside the repository); a fifth of the rows, drawn with seed 0, is the test set.

krein     krein.Regressor(n_jobs=THREADS) and no other keyword
grid      scikit-learn's KernelRidge on standardised columns and targets, GridSearchCV over kernel (rbf, laplacian),
          gamma (6 values) and alpha (5 values), 3 folds, n_jobs=THREADS: where the rows allow it
ridge     KernelRidge alone, with what the grid found on the first rows
hgb, xgb, lightgbm
          as bench/tabular.py runs them, where this Python can import them

Two tables: on the first 4,000 training rows with the grid, then on all training rows with ridge in its place (a
kernel matrix of at most 20,000 rows). Every method runs in a process of its own, which has made its imports before;
seconds are the wall time of fit(), the least of up to three fits within ten seconds, and CPU seconds those of the
same fit with its processes. Error is the rmse over the standard deviation of the test targets.

--write puts the tables into docs/results/python.md; --small tries the script out; LightGBM is from the Python package
index (a venv; name its interpreter in PYTHON for bench/run.sh).
"""

import argparse
import importlib
import json
import os
import resource
import sys
import time
from datetime import date

import common

common.package()

import numpy as np  # noqa: E402

import tabular  # noqa: E402

SETS = "abalone,cpusmall,cadata"
METHODS = ["krein", "grid", "ridge", "hgb", "xgb", "lightgbm"]
MODULES = {"krein": "krein", "grid": "sklearn", "ridge": "sklearn", "hgb": "sklearn", "xgb": "xgboost",
           "lightgbm": "lightgbm"}
GAMMAS, ALPHAS = [1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1], [1e-4, 1e-3, 1e-2, 1e-1, 1.0]  # columns have deviation 1


# ---- inside the child: one method on one set --------------------------------


def machine(**parameters):
    """KernelRidge has no intercept: the targets are standardised too."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return TransformedTargetRegressor(make_pipeline(StandardScaler(), KernelRidge(**parameters)),
                                      transformer=StandardScaler())


def grid_search(threads, small):
    from sklearn.model_selection import GridSearchCV

    name = "regressor__kernelridge__"
    kernels, gammas, alphas = (["rbf"], GAMMAS[::2], ALPHAS[::3]) if small else (["rbf", "laplacian"], GAMMAS, ALPHAS)
    grid = {name + "kernel": kernels, name + "gamma": gammas, name + "alpha": alphas}
    return GridSearchCV(machine(), grid, cv=3, n_jobs=threads, scoring="neg_mean_squared_error")


def fresh(method, threads, small, found):
    if method == "krein":
        import krein

        return krein.Regressor(n_jobs=threads)
    if method == "grid":
        return grid_search(threads, small)
    if method == "ridge":
        return machine(**found)
    return tabular.peer_model(method, "regression", threads)


def cpu_seconds():
    return sum(resource.getrusage(who).ru_utime + resource.getrusage(who).ru_stime
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def told(method, model):
    """What was chosen, in words, and the parameters for `ridge`."""
    if method == "krein":
        return f"{model.kernel_}, {model.map_}", None
    if method == "grid":
        found = {key.rsplit("__", 1)[1]: value for key, value in model.best_params_.items()}
        return "{kernel}, gamma {gamma:g}, alpha {alpha:g}".format(**found), found
    return "", None


def child(method, path, threads, small, found):
    part = np.load(path)
    X, y, held, truth = (part[name] for name in ("x", "y", "held", "truth"))
    begun, best, cpu = time.perf_counter(), 1e30, 0
    for _ in range(3):
        model = fresh(method, threads, small, found)
        start, before = time.perf_counter(), cpu_seconds()
        model.fit(X, y)
        seconds = time.perf_counter() - start
        if method == "grid" and threads > 1:  # its processes are counted when they have ended
            from joblib.externals.loky import get_reusable_executor

            get_reusable_executor().shutdown(wait=True)
        if seconds < best:
            best, cpu = seconds, cpu_seconds() - before
        if time.perf_counter() - begun > 10:
            break
    start = time.perf_counter()
    guess = np.asarray(model.predict(held)).ravel()
    predict = time.perf_counter() - start
    chosen, found = told(method, model)
    error = float(np.sqrt(np.mean((guess - truth) ** 2)) / truth.std())
    print(json.dumps({"seconds": best, "cpu": cpu, "predict": predict, "error": error, "chosen": chosen,
                      "found": found}))


# ---- the measurements -------------------------------------------------------


def version(method):
    """Of the package of a method; None where it is not installed."""
    try:
        return importlib.import_module(MODULES[method]).__version__
    except ImportError:
        return None


def split(path, entry, rows):
    """Arrays of a set's training rows, at most so many of them, and of its test rows."""
    made = tabular.Split("", entry, 0, path)
    part = np.load(made.folder / "arrays.npz")
    np.savez(path / "arrays.npz", x=part["x"][:rows], y=part["y"][:rows], held=part["held"], truth=made.y)
    made.remove()
    return path / "arrays.npz", min(rows, len(part["y"])), part["x"].shape[1]


def measure(method, path, options, found):
    command = [sys.executable, __file__, "--child", method, path, "--threads", options.threads,
               "--found", json.dumps(found)] + ["--small"] * options.small
    text, _ = common.run(command, OMP_NUM_THREADS=str(options.threads))
    return json.loads(text.splitlines()[-1])


def compare(name, entry, rows, methods, options, folder, found):
    """A line for each method; what the grid found."""
    path, n, d = split(folder, entry, rows)
    lines = []
    for method in methods:
        if method == "ridge" and n > options.most:
            lines.append([name, f"{n:,}", d, method, "", "", "", "", "too many rows"])
        else:
            r = measure(method, path, options, found)
            found = r["found"] or found
            lines.append([name, f"{n:,}", d, method, f"{r['error']:.4f}", f"{r['seconds']:.2f}", f"{r['cpu']:.2f}",
                          f"{r['predict']:.3f}", r["chosen"]])
        print(*lines[-1], flush=True)
    return lines, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rows", type=int, default=4000, help="training rows of the first table (4000)")
    parser.add_argument("--most", type=int, default=20000, help="most rows of KernelRidge in the second (20000)")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--found", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child, options.threads, options.small, options.found)
        return
    known = tabular.manifest(common.data())
    versions = {method: version(method) for method in METHODS}
    here = [method for method in METHODS if versions[method]]
    if "hgb" not in here:
        sys.exit("there is no scikit-learn here (scripts/deps.sh bench)")
    missing = [method for method in METHODS if method not in here]
    rows, every = (500, 1000) if options.small else (options.rows, 10**9)
    seen = dict.fromkeys(f"{MODULES[method]} {versions[method]}" for method in here)
    about = (f"{date.today()}; {common.machine()}; {', '.join(seen)}, Python {sys.version.split()[0]}; "
             f"{options.threads} threads"
             + "".join(f"; {method} is not installed" for method in missing) + "\n\n")
    print(about, end="", flush=True)
    folder, few, all_rows = common.folder(), [], []
    for name in options.sets.split(","):
        entry = known[name]
        lines, found = compare(name, entry, rows, [m for m in here if m != "ridge"], options, folder, None)
        few += lines
        all_rows += compare(name, entry, every, [m for m in here if m != "grid"], options, folder, found)[0]
    head = ["set", "rows", "inputs", "method", "error", "fit s", "CPU s", "predict s", "chosen"]
    common.publish({"peers": about + common.table(head, few), "peers, all rows": common.table(head, all_rows)},
                   "python.md" if options.write else None)


if __name__ == "__main__":
    main()
