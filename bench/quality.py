#!/usr/bin/python3
"""quality.py [--sets A,B] [--splits N] [--keep FILE] [--write] -- untuned krein beside tuned scikit-learn.

For every set and seed the rows are shuffled; a quarter of them (at most 10,000) is the test set,
and of the rest at most 4,000 are for training.

krein:         `krein train -t TASK train.csv --test test.csv`, no other option.
scikit-learn:  StandardScaler, then KernelRidge(rbf) on centred targets for regression, SVC(rbf)
               for classification. gamma times alpha or C by GridSearchCV, 3 folds, on at most
               2,000 of the training rows to bound the time; then one fit with the winner on all
               of them. alpha is not divided by the number of rows in scikit-learn, so it carries
               over. Winners at the edge of the grid are counted in the table.

The sets of FURTHER are not measured unless they are named, and have a table of their own.

--keep FILE keeps measurements as lines of JSON and takes those that are there from it, to measure in
parts. A split's krein and scikit-learn are always measured one after the other.

Then krein again, as untuned, on all rows but the test rows of the larger sets.

The verdict is "yes" where krein's mean error is at most 5 % above the peer's, or the mean of the
paired differences is within one standard error (n - 1 in the deviation, over the splits).

The sets are those of KREIN_DATA (../shared/data beside the repository); those that are not there
are skipped. --write puts the tables into docs/results/quality.md; without, they are printed only.
"""

import argparse
import io
import math
import os
import sys
import time
import warnings
from datetime import date
from pathlib import Path

import numpy as np

import common

SETS = {  # files merged, task, larger than its 4,000 training rows
    "abalone": (["abalone"], "regression", False),
    "cpusmall": (["cpusmall"], "regression", True),
    "boston": (["boston"], "regression", False),
    "kin40k": (["kin40k"], "regression", True),
    "letter": (["letter.train", "letter.test"], "classification", True),
    "satimage": (["satimage.train", "satimage.test"], "classification", True),
    "usps": (["usps.train", "usps.test"], "classification", True),
    "magic": (["magic"], "classification", True),
    # Sets that the first defaults were not made with: --sets elevators,... measures them.
    "elevators": (["elevators"], "regression", False),
    "cadata": (["cadata"], "regression", False),
    "space_ga": (["space_ga"], "regression", False),
    "pendigits": (["pendigits.train", "pendigits.test"], "classification", False),
    "phishing": (["phishing"], "classification", False),
    "dry-bean": (["dry-bean"], "classification", False),
}
FURTHER = ["elevators", "cadata", "space_ga", "pendigits", "phishing", "dry-bean"]
TRAIN, TEST, SEARCH, FOLDS = 4000, 10000, 2000, 3
GAMMA = [2.0**e for e in range(-9, 4, 2)]  # divided by the number of columns
ALPHA = [10.0**e for e in range(-6, 1)]
C = [10.0**e for e in range(-1, 4)]


def say(text):
    print(text, file=sys.stderr, flush=True)


def rows_of(name, data):
    import pandas

    parts = []
    for stem in SETS[name][0]:
        path = data / f"{stem}.csv.gz"
        if not path.exists():
            return None
        parts.append(pandas.read_csv(path, header=None, dtype="float64").to_numpy())
    return np.concatenate(parts)


def split(rows, seed):
    order = np.random.default_rng(seed).permutation(len(rows))
    test = min(TEST, len(rows) // 4)
    rest = order[test:]
    return rows[rest[:TRAIN]], rows[order[:test]], rows[rest]


def krein(train, test, task, work, jobs):
    for name, rows in (("train", train), ("test", test)):
        np.savetxt(work / f"{name}.csv", rows, delimiter=",", fmt="%.9g")
    r = common.krein("train", "-t", task, work / "train.csv", "--test", work / "test.csv", "-o",
                     work / "model.krein", threads=jobs)
    value = r["test"]["rmse"] if task == "regression" else r["test"]["error"]
    return {"value": value, "seconds": r["wall"], "kernel": r["kernel"], "map": r["map"],
            "lambda": r["lambda"], "n": r["n"]}


def peer(train, test, task, seed, jobs):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds
    x, y, xt, yt = train[:, 1:], train[:, 0], test[:, 1:], test[:, 0]
    gammas = [g / x.shape[1] for g in GAMMA]
    few = np.random.default_rng(1000 + seed).permutation(len(y))[:SEARCH]
    start = time.perf_counter()
    if task == "regression":
        mean = y.mean()  # KernelRidge has no intercept
        y = y - mean
        model, name, other = KernelRidge(kernel="rbf"), "kernelridge", ("alpha", ALPHA)
        folds, score = KFold(FOLDS, shuffle=True, random_state=seed), "neg_mean_squared_error"
    else:
        model, name, other = SVC(kernel="rbf", cache_size=500), "svc", ("C", C)
        folds, score = StratifiedKFold(FOLDS, shuffle=True, random_state=seed), "accuracy"
    search = GridSearchCV(make_pipeline(StandardScaler(), model),
                          {f"{name}__gamma": gammas, f"{name}__{other[0]}": other[1]},
                          cv=folds, scoring=score, n_jobs=jobs, refit=False)
    search.fit(x[few], y[few])
    best = search.best_params_
    final = make_pipeline(StandardScaler(), model).set_params(**best).fit(x, y)
    guess = final.predict(xt)
    seconds = time.perf_counter() - start
    if task == "regression":
        value = math.sqrt(np.mean((guess + mean - yt) ** 2))
    else:
        value = float(np.mean(guess != yt))
    chosen = (best[f"{name}__gamma"], best[f"{name}__{other[0]}"])
    edge = chosen[0] in (gammas[0], gammas[-1]) or chosen[1] in (other[1][0], other[1][-1])
    return {"value": value, "seconds": seconds, "edge": edge,
            "chosen": f"gamma {chosen[0]:.4g}, {other[0]} {chosen[1]:g}"}


def measure_split(name, rows, seed, work, jobs):
    task, large = SETS[name][1:]
    train, test, rest = split(rows, seed)
    out = {"part": "quality", "set": name, "split": seed, "n": len(train), "test": len(test), "rest": len(rest),
           "d": rows.shape[1] - 1, "krein": krein(train, test, task, work, jobs),
           "peer": peer(train, test, task, seed, jobs), "all": None}
    a, b = out["krein"], out["peer"]
    say(f"{name} split {seed}: krein {a['value']:.5g} ({a['seconds']:.1f} s; {a['kernel']}, "
        f"{a['map']}, lambda {a['lambda']:.3g}), peer {b['value']:.5g} ({b['seconds']:.1f} s; "
        f"{b['chosen']}{', edge' if b['edge'] else ''})")
    if large and len(rest) > len(train):
        c = out["all"] = krein(rest, test, task, work, jobs)
        say(f"{name} split {seed}: krein on {c['n']} rows {c['value']:.5g} "
            f"({c['seconds']:.1f} s; {c['kernel']}, {c['map']}, lambda {c['lambda']:.3g})")
    return out


def measure(name, data, splits, work, jobs, kept):
    """The splits of a set together; None where it is not there."""
    rows = None
    for seed in range(splits):
        if ("quality", name, seed) in kept.all:
            continue
        rows = rows_of(name, data) if rows is None else rows
        if rows is None:
            say(f"{name}: not in {data}, skipped")
            return None
        kept.add(measure_split(name, rows, seed, work, jobs))
    each = [r for r in kept.of("quality", name) if r["split"] < splits]
    out = {key: each[0][key] for key in ("n", "test", "rest", "d")}
    return out | {"name": name, "task": SETS[name][1], "krein": [r["krein"] for r in each],
                  "peer": [r["peer"] for r in each], "all": [r["all"] for r in each if r["all"]]}


def mean(list_, key="value"):
    return float(np.mean([entry[key] for entry in list_]))


def compare(result):
    """Mean difference, its paired standard error (None from one split) and the verdict."""
    diff = np.array([a["value"] - b["value"] for a, b in zip(result["krein"], result["peer"])])
    error = float(diff.std(ddof=1) / math.sqrt(len(diff))) if len(diff) > 1 else None
    good = mean(result["krein"]) <= 1.05 * mean(result["peer"])
    good = good or (error is not None and diff.mean() <= error)
    return float(diff.mean()), error, "yes" if good else "no"


def number(task, x, sign=False):
    if x is None:
        return "-"
    if task == "classification":
        return f"{100 * x:{'+' if sign else ''}.2f} %"
    return f"{x:{'+' if sign else ''}.4g}"


def versions():
    import sklearn

    text, _ = common.run([common.program(), "--version"])
    return f"{text.strip()}, scikit-learn {sklearn.__version__}, numpy {np.__version__}"


def put(out, *cells):
    out.write("| " + " | ".join(str(c) for c in cells) + " |\n")


def beside(out, results):
    """krein and scikit-learn on the same rows."""
    put(out, "set", "rows", "test", "d", "krein", "scikit-learn", "difference", "standard error",
        "within 5 % or 1 s.e.", "krein s", "scikit-learn s", "scikit-learn s / krein s", "grid edge")
    put(out, *["---"] * 2, *["---:"] * 6, *["---"], *["---:"] * 4)
    good = 0
    for r in results:
        diff, error, verdict = compare(r)
        good += verdict == "yes"
        ours, theirs = mean(r["krein"], "seconds"), mean(r["peer"], "seconds")
        put(out, r["name"], r["n"], r["test"], r["d"], number(r["task"], mean(r["krein"])),
            number(r["task"], mean(r["peer"])), number(r["task"], diff, True),
            number(r["task"], error), verdict, f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}",
            f"{sum(p['edge'] for p in r['peer'])} of {len(r['peer'])}")
    out.write(f"\n{good} of {len(results)} within.\n")


def report(results, splits, machine):
    out = io.StringIO()
    out.write("# Quality: untuned krein beside tuned scikit-learn\n\n")
    out.write("Made by `bench/quality.py --write`; what each column is and how to redo it: "
              "[README.md](README.md).\n\n")
    out.write(f"{date.today().isoformat()}; {machine}; {versions()}; {splits} splits.\n\n")
    out.write("Errors are test rmse (regression) or share of wrong classes, means over the splits; "
              "seconds a split\nare those of the whole `krein train` process with its test, and of "
              "search, fit and prediction in\nscikit-learn.\n")
    tuned = [r for r in results if r["name"] not in FURTHER]
    if tuned:
        out.write(f"\n## At most {TRAIN:,} training rows\n\n")
        beside(out, tuned)
    larger = [r for r in results if r["all"]]
    if larger:
        out.write("\n## All rows but the test rows\n\n")
        put(out, "set", "rows", "krein on them", f"krein on {TRAIN:,}", f"scikit-learn on {TRAIN:,}",
            "krein s", "map of the last split")
        put(out, "---", *["---:"] * 5, "---")
        for r in larger:
            put(out, r["name"], r["rest"], number(r["task"], mean(r["all"])),
                number(r["task"], mean(r["krein"])), number(r["task"], mean(r["peer"])),
                f"{mean(r['all'], 'seconds'):.1f}", f"`{r['all'][-1]['map']}`")
    further = [r for r in results if r["name"] in FURTHER]
    if further:
        out.write("\n## Further sets\n\n")
        beside(out, further)
    return out.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(set_ for set_ in SETS if set_ not in FURTHER),
                        help="comma separated")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2, help="threads of krein, n_jobs of the search")
    parser.add_argument("--keep", type=Path, help="measurements, read and added to")
    parser.add_argument("--write", action="store_true", help="into docs/results/quality.md")
    options = parser.parse_args()
    names = options.sets.split(",")
    if set(names) - set(SETS) or options.splits < 1:
        parser.error(f"--sets takes some of {','.join(SETS)}; --splits a number from 1")
    data = Path(os.environ.get("KREIN_DATA", common.ROOT.parent / "shared" / "data"))
    machine, work, results, start = common.machine(), common.folder(), [], time.perf_counter()
    kept = common.Records(options.keep)
    for name in names:
        result = measure(name, data, options.splits, work, options.jobs, kept)
        if result:
            results.append(result)
    if not results:
        sys.exit(f"none of the sets is in {data}; name the folder in KREIN_DATA")
    text = report(results, options.splits, machine)
    print(text)
    say(f"{time.perf_counter() - start:.0f} s")
    if options.write:
        path = common.ROOT / "docs" / "results" / "quality.md"
        path.write_text(text)
        say(f"written: {path}")


if __name__ == "__main__":
    main()
