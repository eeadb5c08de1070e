#!/usr/bin/python3
"""tabular.py [options] -- krein beside gradient boosting on tables, every method as it comes.

The sets are all tables of KREIN_DATA (../shared/data beside the repository; its MANIFEST.tsv) with 500 to 60,000
rows; images are left out. Where a set has a train and a test file the train file alone is used. For every seed 0, 1,
... a fifth of the rows, drawn at random, is the test set and the rest is for training.

krein     krein train -t TASK FILE, then krein predict; -j for the threads and no other option
xgb       XGBoost, 500 trees, rate 0.1, depth 6, hist
hgb       scikit-learn's HistGradientBoosting, no option but a fixed seed
lightgbm, catboost, xrfm
          no option but the threads, where this Python can import them. xrfm demands rows for validation (a fifth
          of the training rows, drawn at random), and its manual that columns are standardised unless they are 0/1.

Error is the rmse over the standard deviation of the test targets, or (wrong + 0.5) / (n + 1) for classes; the mean
over the splits. Seconds are wall time: of krein the whole command with reading the file and writing the model, of the
others fit() alone on arrays in memory; user CPU seconds of the same. Prediction: the whole krein predict command, and
predict() on arrays. SPARSE sets are LIBSVM files for krein and dense arrays for the others.

--cache keeps the peers' measurements in a file of JSON lines and takes them from there: with it,

    bench/tabular.py --half dev --splits 1 --methods krein --cache FILE

runs krein alone and compares it with the peers of the file. krein is measured anew each time; --keep FILE does for
krein what --cache does for the others, to go on after an interruption.
"""

import argparse
import csv
import gzip
import importlib.util
import json
import math
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import numpy as np

import common

LEAST, MOST = 500, 60000
IMAGES = {"cifar10", "mnist", "omniglot", "tinyimagenet32", "usps"}
SPARSE = {"a1a", "a2a", "a9a", "w7a", "w8a"}
# Methods may be tuned on these; all others are the unseen half. a1a and a2a are rows of a9a.
DEV = ["abalone", "cadata", "cpusmall", "elevators", "protein", "magic", "eeg-eye-state", "bank-marketing", "dry-bean",
       "letter", "german.numer", "vehicle", "car", "a1a"]
PEERS = {"xgb": "xgboost", "hgb": "sklearn", "lightgbm": "lightgbm", "catboost": "catboost", "xrfm": "xrfm"}
METHODS = ["krein", *PEERS]
ABOVE = 1.10


def say(text):
    print(text, file=sys.stderr, flush=True)


# ---- inside the child: one peer on one split -------------------------------


def peer_model(method, task, threads):
    classes = task == "classification"
    if method == "xgb":
        from xgboost import XGBClassifier, XGBRegressor
        return (XGBClassifier if classes else XGBRegressor)(n_estimators=500, learning_rate=0.1, max_depth=6,
                                                            tree_method="hist", n_jobs=threads)
    if method == "hgb":  # its threads are those of OpenMP, set by the parent
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        return (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(random_state=0)
    if method == "lightgbm":
        from lightgbm import LGBMClassifier, LGBMRegressor
        return (LGBMClassifier if classes else LGBMRegressor)(n_jobs=threads, verbose=-1)
    if method == "catboost":
        from catboost import CatBoostClassifier, CatBoostRegressor
        return (CatBoostClassifier if classes else CatBoostRegressor)(thread_count=threads, verbose=False,
                                                                      allow_writing_files=False)
    from xrfm import xRFM
    return Rfm(xRFM(n_threads=threads, random_state=0, verbose=False))


class Rfm:
    """xRFM on standardised columns, with rows for its validation."""

    def __init__(self, model):
        self.model = model

    def scaled(self, x):
        return ((x - self.mean) / self.deviation).astype(np.float32)

    def fit(self, x, y):
        binary, deviation = np.all((x == 0) | (x == 1), axis=0), x.std(axis=0)
        self.mean = np.where(binary, 0, x.mean(axis=0))
        self.deviation = np.where(binary | (deviation == 0), 1, deviation)
        held, rest = np.split(np.random.default_rng(0).permutation(len(y)), [len(y) // 5])
        y = y.astype(np.float32) if y.dtype == np.float64 else y  # classes stay integers
        x = self.scaled(x)
        self.model.fit(x[rest], y[rest], x[held], y[held])

    def predict(self, x):
        return self.model.predict(self.scaled(x))


def child(method, path, task, threads):
    from importlib.metadata import version

    part = np.load(path)
    x, y, held = part["x"], part["y"], part["held"]
    names = None
    if task == "classification":  # the names of the classes are numbers from 0 for all
        names, y = np.unique(y, return_inverse=True)
    model = peer_model(method, task, threads)
    start, cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    model.fit(x, y)
    seconds, cpu = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_utime - cpu
    start = time.perf_counter()
    guess = np.asarray(model.predict(held)).reshape(len(held))
    predict = time.perf_counter() - start
    if names is not None:
        guess = names[guess.astype(int)]
    np.save(path + f".{method}.npy", guess)
    name = {"hgb": "scikit-learn"}.get(method, PEERS[method])
    print(json.dumps({"seconds": seconds, "cpu": cpu, "predict": predict, "version": f"{name} {version(name)}"}))


# ---- the sets --------------------------------------------------------------


def manifest(data):
    """Sets that qualify: name -> (file, rows, columns, task)."""
    path = data / "MANIFEST.tsv"
    if not path.exists():
        sys.exit(f"{path} is not there; name the folder of the data sets in KREIN_DATA")
    sets = {}
    with open(path, newline="") as f:
        for line in csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE):
            name, rows = line["name"], int(line["n_rows"])
            if name in IMAGES or line["file"].endswith(".test.csv.gz") or not LEAST <= rows <= MOST:
                continue
            task = "regression" if line["task"] == "regression" else "classification"
            sets[name] = (data / Path(line["file"]).name, rows, int(line["n_features"]), task)
    return dict(sorted(sets.items()))


def libsvm_line(line):
    label, *values = line.split(",")
    return " ".join([label, *(f"{i}:{v}" for i, v in enumerate(values, 1) if float(v) != 0)])


class Split:
    """The files of one split of one set. krein gets the lines of the set's own file."""

    def __init__(self, name, entry, seed, work):
        path, _, _, self.task = entry
        with gzip.open(path, "rt") as f:
            lines = f.read().split()
        rows = np.array([line.split(",") for line in lines], dtype=np.float64)
        order = np.random.default_rng(seed).permutation(len(rows))
        held, rest = np.split(order, [round(len(rows) / 5)])
        self.y = rows[held, 0]
        self.folder = Path(tempfile.mkdtemp(dir=work))
        np.savez(self.folder / "arrays.npz", x=rows[rest, 1:], y=rows[rest, 0], held=rows[held, 1:])
        suffix, form = (".libsvm", libsvm_line) if name in SPARSE else (".csv", str)
        self.train, self.test = self.folder / f"train{suffix}", self.folder / f"test{suffix}"
        for file, part in ((self.train, rest), (self.test, held)):
            file.write_text("".join(form(lines[i]) + "\n" for i in part))

    def error(self, guess):
        if self.task == "regression":
            return float(math.sqrt(np.mean((guess - self.y) ** 2)) / self.y.std())
        return (int(np.sum(guess != self.y)) + 0.5) / (len(self.y) + 1)

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


# ---- one measurement -------------------------------------------------------


class Failed(Exception):
    pass


class Running:
    """Processes that were started and have not ended, so that all of them end when this one is stopped."""

    def __init__(self):
        self.all, self.stopped, self.lock = set(), False, threading.Lock()

    def add(self, process):
        with self.lock:
            self.all.add(process)
            if self.stopped:
                process.kill()

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.all:
                process.kill()


running = Running()


def process(command, limit, **environment):
    """Its standard output, seconds and user CPU seconds."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        p = subprocess.Popen([str(c) for c in command], stdout=out, stderr=err, env={**os.environ, **environment})
        running.add(p)
        timer = threading.Timer(limit, p.kill)
        timer.start()
        _, status, usage = os.wait4(p.pid, 0)
        seconds = time.perf_counter() - start
        timer.cancel()
        running.all.discard(p)
        if running.stopped:
            raise Failed("stopped")
        p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode != 0:
            err.seek(0)
            words = err.read().strip().splitlines()
            if any(line.startswith("Traceback") for line in words):
                words = words[-1:]
            if p.returncode == -9 and seconds >= limit:
                words = [f"stopped after {limit:g} s"]
            raise Failed(" ".join(words) or f"status {p.returncode}, no message")
        out.seek(0)
        return out.read(), seconds, usage.ru_utime


def run_krein(split, options, predicting=()):
    """predicting: more options of krein predict."""
    model = split.folder / "model.krein"
    text, seconds, cpu = process([options.krein, "train", "-t", split.task, split.train, "-o", model, "-j",
                                  options.threads, "--json", "-q", *shlex.split(options.krein_options)], options.limit)
    chosen = json.loads(text)
    guess, predict, _ = process([options.krein, "predict", model, split.test, "-j", options.threads, "-q", *predicting],
                                options.limit)
    guess = np.array(guess.split(), dtype=np.float64)
    if guess.shape != split.y.shape:
        raise Failed(f"{len(guess)} predictions for {len(split.y)} rows")
    words = [f"{key} {chosen[key]}" for key in ("learner", "kernel", "map") if key in chosen]
    return guess, {"seconds": seconds, "cpu": cpu, "predict": predict, "chosen": ", ".join(words)}


def run_peer(method, split, options):
    path = split.folder / "arrays.npz"
    text, *_ = process([sys.executable, __file__, "--child", method, path, split.task, options.threads], options.limit,
                       OMP_NUM_THREADS=str(options.threads))
    return np.load(f"{path}.{method}.npy"), json.loads(text.splitlines()[-1])


def measure(name, seed, method, split, options):
    record = {"part": "tabular", "set": name, "split": seed, "method": method, "threads": options.threads,
              "machine": common.cpu(), "load": common.load()}
    try:
        guess, rest = run_krein(split, options) if method == "krein" else run_peer(method, split, options)
        record |= {"error": split.error(guess), **rest}
        note = f"  {rest['chosen']}" if "chosen" in rest else ""
        say(f"{name} {seed} {method}: {record['error']:.4f}, {record['seconds']:.2f} s, CPU {record['cpu']:.2f} s, "
            f"prediction {record['predict']:.2f} s{note}")
    except Failed as problem:
        record["failed"] = str(problem)
        say(f"{name} {seed} {method}: FAILED: {problem}")
    return record


def measure_split(name, entry, seed, stores, work, options):
    unmeasured = [m for m in options.methods if ("tabular", name, seed, m) not in stores[m].all]
    if not unmeasured:
        return
    split = Split(name, entry, seed, work)
    for method in unmeasured:
        if running.stopped:
            break
        record = measure(name, seed, method, split, options)
        if "failed" in record:  # shown, but tried again next time
            stores[method].all[common.Records.key(record)] = record
        else:
            stores[method].add(record)
    split.remove()


def measure_all(sets, stores, work, options):
    pool = ThreadPoolExecutor(options.jobs)
    try:
        for f in [pool.submit(measure_split, name, entry, seed, stores, work, options)
                  for name, entry in sets.items() for seed in range(options.splits)]:
            f.result()
    except BaseException:  # a signal too
        pool.shutdown(wait=False, cancel_futures=True)
        running.stop()
        raise


# ---- the page --------------------------------------------------------------


class Results:
    """Means over the splits, of sets where none of them failed."""

    def __init__(self, sets, stores, splits):
        self.failed, self.versions, self.mean = [], {}, {}
        for method, store in stores.items():
            for name in sets:
                records = [r for r in store.of("tabular", name, method) if r["split"] < splits]
                self.failed += [r for r in records if "failed" in r]
                self.versions |= {method: r["version"] for r in records if "version" in r}
                if len(records) == splits and not any("failed" in r for r in records):
                    self.mean[name, method] = {key: float(np.mean([r[key] for r in records]))
                                               for key in ("error", "seconds", "cpu", "predict")}
        self.methods = [m for m in stores if any(key[1] == m for key in self.mean)]

    def cell(self, name, method, key, form):
        values = self.mean.get((name, method))
        return format(values[key], form) if values else "-"

    def ratio(self, name, peer, key):
        ours, theirs = self.mean.get((name, "krein")), self.mean.get((name, peer))
        return ours[key] / theirs[key] if ours and theirs else None

    def ratios(self, names, peer, key):
        return {name: r for name in names if (r := self.ratio(name, peer, key)) is not None}


def geometric(ratios):
    return f"{math.exp(np.mean(np.log(list(ratios.values())))):.3f}"


def summary(results, halves):
    lines = []
    for half, names in halves.items():
        for peer in results.methods:
            error = results.ratios(names, peer, "error")
            if peer == "krein" or not error:
                continue
            above = sorted((n for n in error if error[n] > ABOVE), key=error.get, reverse=True)
            lines.append([half, peer, len(error), geometric(error),
                          *(geometric(results.ratios(names, peer, key)) for key in ("seconds", "cpu", "predict")),
                          len(above), ", ".join(f"{n} {error[n]:.2f}" for n in above) or "none"])
    return common.table(["half", "krein over", "sets", "error", "seconds", "CPU", "prediction",
                         f"above {ABOVE:.2f}", "which"], lines)


def errors(results, sets):
    beside = "xgb" in results.methods and "krein" in results.methods
    lines = []
    for name, (_, rows, columns, task) in sets.items():
        line = [name, rows, columns, "number" if task == "regression" else "class"]
        line += [results.cell(name, m, "error", ".4f") for m in results.methods]
        line += [results.cell(name, m, "seconds", ".2f") for m in results.methods]
        if beside:
            ratios = [results.ratio(name, "xgb", key) for key in ("error", "seconds")]
            line += ["-" if r is None else f"{r:.2f}" for r in ratios]
        lines.append(line)
    head = ["set", "rows", "columns", "task", *(f"{m} error" for m in results.methods),
            *(f"{m} s" for m in results.methods), *(["error / xgb", "s / xgb"] if beside else [])]
    return common.table(head, lines)


def times(results, sets):
    lines = [[name, *(results.cell(name, m, key, ".2f") for key in ("cpu", "predict") for m in results.methods)]
             for name in sets]
    return common.table(["set", *(f"{m} CPU s" for m in results.methods),
                         *(f"{m} prediction s" for m in results.methods)], lines)


def page(results, sets, options, machine):
    version = subprocess.run([options.krein, "--version"], capture_output=True, text=True).stdout.strip()
    dev, unseen = [n for n in sets if n in DEV], [n for n in sets if n not in DEV]
    halves = {half: names for half, names in (("dev", dev), ("unseen", unseen)) if names}
    if len(halves) == 2:
        halves["all"] = list(sets)
    text = ("# Tables: krein beside gradient boosting\n\nMade by `bench/tabular.py`; what each column is and how to redo "
            "it: [README.md](README.md).\n\n"
            f"{date.today().isoformat()}; {machine}; {'; '.join([version, *results.versions.values()])}; "
            f"{options.splits} splits, {options.threads} threads"
            f"{'; krein with ' + options.krein_options if options.krein_options else ''}.\n\n")
    if "krein" in results.methods and len(results.methods) > 1:
        text += f"## Geometric means of the ratios\n\n{summary(results, halves)}\n"
    text += (f"## Errors and seconds of training\n\nSeconds of krein are those of the whole command with reading the "
             f"file, of the others those of fit() on arrays.\n\n{errors(results, sets)}\n"
             f"## CPU and prediction\n\n{times(results, sets)}")
    if results.failed:
        text += "\n## Failed, and in no mean\n\n" + "".join(
            f"- {r['set']}, split {r['split']}, {r['method']}: {r['failed']}\n" for r in results.failed)
    return text


# ---- options ---------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="comma separated (all of the half)")
    parser.add_argument("--half", choices=("dev", "unseen", "all"), default="all")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--methods", help=f"to run, of {','.join(METHODS)} (all that are installed)")
    parser.add_argument("--krein", help="the program ($KREIN, or build/krein)")
    parser.add_argument("--krein-options", default="", help="more options of krein train, in one word")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1, help="splits at a time; with more than one times are disturbed")
    parser.add_argument("--limit", type=float, default=3600, help="seconds until a run is stopped (3600)")
    parser.add_argument("--cache", type=Path, help="measurements of the peers, read and added to")
    parser.add_argument("--keep", type=Path, help="measurements of krein, read and added to")
    parser.add_argument("--out", type=Path, help="the page is also written here")
    parser.add_argument("--list", action="store_true", help="name the sets and stop")
    options = parser.parse_args()
    options.krein = options.krein or common.program()
    here = [m for m in METHODS if m == "krein" or importlib.util.find_spec(PEERS[m])]
    options.methods = options.methods.split(",") if options.methods else here
    for m in options.methods:
        if m not in METHODS:
            parser.error(f"--methods takes some of {','.join(METHODS)}, not {m}")
        if m not in here:
            parser.error(f"{sys.executable} cannot import {PEERS[m]}")
    if min(options.splits, options.threads, options.jobs) < 1:
        parser.error("--splits, --threads and --jobs take a number from 1")
    return parser, options


def chosen_sets(parser, options):
    sets = manifest(common.data())
    wanted = options.sets.split(",") if options.sets else [
        n for n in sets if options.half == "all" or (n in DEV) == (options.half == "dev")]
    if strange := [n for n in wanted if n not in sets]:
        parser.error(f"not a table of {LEAST} to {MOST} rows in {common.data()}: {', '.join(strange)}")
    return {n: sets[n] for n in wanted}


def main():
    if sys.argv[1:2] == ["--child"]:
        method, path, task, threads = sys.argv[2:]
        return child(method, path, task, int(threads))
    parser, options = arguments()
    sets = chosen_sets(parser, options)
    if options.list:
        return print(common.table(["set", "rows", "columns", "task", "half"],
                                  [[n, *e[1:], "dev" if n in DEV else "unseen"] for n, e in sets.items()]))
    machine, work, start = common.machine(), common.folder(), time.perf_counter()
    peers = common.Records(options.cache)
    stores = {m: common.Records(options.keep) if m == "krein" else peers for m in METHODS}
    say(f"{machine}; {len(sets)} sets, {options.splits} splits: {', '.join(options.methods)}")
    measure_all(sets, stores, work, options)
    text = page(Results(sets, stores, options.splits), sets, options, machine)
    print(text)
    if options.out:
        options.out.write_text(text)
    say(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
