#!/usr/bin/python3
"""svc.py [--sets A,B] [--rows N] -- `krein train --learner svm` beside grid-searched SVC.

The sets have a training and a test file (magic: a seeded quarter of its rows is the test set). Of the
training rows a seeded sample of at most N (5,000) is for both programs:

krein:         `krein train --learner svm`, no other option: sigma and C are chosen by the program.
scikit-learn:  StandardScaler, then SVC(rbf); gamma and C by GridSearchCV, 3 folds, on all of the N rows.

Then krein again on all training rows. Prints one line a set: test accuracies in percent and seconds
of the whole krein process, and of search, fit and prediction in scikit-learn.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

import common

SETS = ["letter", "satimage", "usps", "ijcnn1", "shuttle", "magic"]
GAMMA = [2.0**e for e in range(-5, 4, 2)]  # divided by the number of columns
C = [10.0**e for e in range(0, 4)]


def read(path):
    import pandas

    return pandas.read_csv(path, header=None, dtype="float64").to_numpy()


def rows_of(name, data):
    if (data / f"{name}.train.csv.gz").exists():
        return read(data / f"{name}.train.csv.gz"), read(data / f"{name}.test.csv.gz")
    if not (data / f"{name}.csv.gz").exists():
        return None
    rows = read(data / f"{name}.csv.gz")
    order = np.random.default_rng(0).permutation(len(rows))
    return rows[order[len(rows) // 4:]], rows[order[: len(rows) // 4]]


def krein(train, test, work):
    np.savetxt(work / "train.csv", train, delimiter=",", fmt="%.9g")
    np.savetxt(work / "test.csv", test, delimiter=",", fmt="%.9g")
    r = common.krein("train", "-t", "classification", "--learner", "svm", work / "train.csv", "-o",
                     work / "model.krein")
    # Not --test: the sample may lack a rare class, whose rows are then just wrong, for both.
    p = common.krein("predict", work / "model.krein", work / "test.csv", "-o", work / "out")
    r["accuracy"] = float(np.mean(np.loadtxt(work / "out") == test[:, 0]))
    r["wall"] += p["wall"]
    return r


def peer(train, test):
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    start = time.perf_counter()
    grid = {"svc__gamma": [g / (train.shape[1] - 1) for g in GAMMA], "svc__C": C}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC(cache_size=500)), grid, cv=3, n_jobs=-1)
    search.fit(train[:, 1:], train[:, 0])
    accuracy = search.score(test[:, 1:], test[:, 0])
    return accuracy, time.perf_counter() - start, search.best_params_


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--sets", default=",".join(SETS))
    p.add_argument("--rows", type=int, default=5000)
    a = p.parse_args()
    data = Path(os.environ.get("KREIN_DATA", common.ROOT.parent / "shared" / "data"))
    work = common.folder()
    print(f"# {common.machine()}", flush=True)
    print("| set | rows | krein svm | SVC, grid | krein, all rows | rows | seconds |", flush=True)
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)
    for name in a.sets.split(","):
        rows = rows_of(name, data)
        if rows is None:
            print(f"{name}: not in {data}, skipped", file=sys.stderr)
            continue
        train, test = rows
        few = train[np.sort(np.random.default_rng(1).permutation(len(train))[: a.rows])]
        own = krein(few, test, work)
        theirs, seconds, best = peer(few, test)
        print(f"{name}: krein {own['learner']} {own['kernel']} {own['map']}; SVC {best}", file=sys.stderr, flush=True)
        line = f"| {name} | {len(few)} | {100 * own['accuracy']:.2f} | {100 * theirs:.2f} "
        if len(train) > len(few):
            whole = krein(train, test, work)
            print(f"{name}: all rows {whole['learner']} {whole['kernel']} {whole['map']}", file=sys.stderr, flush=True)
            line += f"| {100 * whole['accuracy']:.2f} | {len(train)} | {own['wall']:.0f}, {seconds:.0f}, {whole['wall']:.0f} |"
        else:
            line += f"| | | {own['wall']:.0f}, {seconds:.0f} |"
        print(line, flush=True)


if __name__ == "__main__":
    main()
