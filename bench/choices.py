#!/usr/bin/python3
"""choices.py [options] -- what each choice that krein makes by default brings: errors with one of them changed.

choices     krein train with one option more than bench/tabular.py gives it, on the dev sets of that script with at
            most 21,000 rows; the same splits, the same rows, the same errors.
missing     five of these sets, of which a tenth of the cells were blanked: at random, or two fifths of the cells in
            the largest quarter of their column. --missing auto, mean, drop, beside the complete table. Test rows are
            blanked too. A model of complete rows (drop) predicts blanked ones with --missing mean.
categories  cadata with longitude and latitude replaced by one text, the cell of a grid. --categories auto, onehot,
            hash, beside the text column ignored and beside the two numbers.

Only errors are measured, which do not depend on the load of the machine, the number of threads or --jobs: another
program may run beside it. --keep FILE holds what was measured, to go on after an interruption. --write replaces
docs/results/choices.md. The data sets are those of KREIN_DATA (../shared/data beside the repository).
"""

import argparse
import gzip
import math
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import numpy as np

import common
import tabular

SETS = [n for n in tabular.DEV if n not in ("protein", "bank-marketing")]
PARTS = ["choices", "missing", "categories"]
CHANGED = 0.02

CHOICES = {
    "default": "",
    "Gaussian only": "-k gaussian --clip 8 -m exact --max-exact 21000",
    "Laplacian only": "-k laplacian --clip 8 -m exact --max-exact 21000",
    "exponential only": "-k exponential --clip 8 -m exact --max-exact 21000",
    "no metric": "--metric none",
    "full metric": "--metric full",
    "no clip": "--clip none",
    "no machines": "--learner krr",
    "Nystrom map": "-m nystrom -D 1024",
    "orf map": "-m orf -D 4096",
    "rff map": "-m rff -D 4096",
    "low effort": "--effort low",
}

BLANKED_SETS = ["abalone", "cadata", "magic", "vehicle", "german.numer"]
BLANKED_ROWS = 6000
SPLITS = {"choices": 3, "missing": 3, "categories": 1}
BLANKED = {"at random": [0.1] * 4, "large values": [0, 0, 0, 0.4]}  # by the quarter of the column that a value is in
MISSING = {"auto": (), "mean": (), "drop": ("--missing", "mean")}  # options of predict

GRID_SET, GRIDS = "cadata", [0.25, 0.08]  # degrees; columns 1 and 2 are longitude and latitude
GRID_ROWS = 6000  # for training
TEXTS = {
    "ignored": "--ignore 2",
    "auto": "--categories auto --unknown ignore",
    "onehot": "--categories onehot --unknown ignore",
    "hash": "--categories hash",
}


# ---- tables that were changed ----------------------------------------------


def blank(rows, chances, seed):
    """rows: lists of cells, the label first. A cell is emptied with the chance of its value's quarter of the column."""
    draw = np.random.default_rng([seed, 1])
    for j in range(1, len(rows[0])):
        values = np.array([float(row[j]) for row in rows])
        order = np.lexsort((draw.random(len(rows)), values))  # equal values in random order
        quarter = np.empty(len(rows), dtype=int)
        quarter[order] = np.arange(len(rows)) * 4 // len(rows)
        for i in np.flatnonzero(draw.random(len(rows)) < np.array(chances)[quarter]):
            rows[i][j] = ""
    return rows


def as_text(rows, step):
    def at(cell):
        return f"{round(float(cell) / step) * step:.2f}"
    return [[label, f"x{at(x)}y{at(y)}", *rest] for label, x, y, *rest in rows]


class Cut(tabular.Split):
    """A split of which at most so many training rows are used; they are in random order."""

    def __init__(self, name, entry, seed, work, most):
        super().__init__(name, entry, seed, work)
        lines = self.train.read_text().splitlines(keepends=True)
        self.train.write_text("".join(lines[:most]))


class Changed(Cut):
    """A split whose files hold changed cells. change: lists of cells, of training and test rows, to such lists."""

    def __init__(self, name, entry, seed, work, most, change):
        super().__init__(name, entry, seed, work, most)
        parts = [[line.split(",") for line in file.read_text().split()] for file in (self.train, self.test)]
        rows = change(parts[0] + parts[1])
        for file, part in ((self.train, rows[:len(parts[0])]), (self.test, rows[len(parts[0]):])):
            file.write_text("".join(",".join(row) + "\n" for row in part))


def some_rows(name, entry, work):
    """The entry, or one of BLANKED_ROWS of its rows."""
    path, rows, columns, task = entry
    if rows <= BLANKED_ROWS:
        return entry
    with gzip.open(path, "rt") as f:
        lines = f.read().split()
    part = work / f"{name}.part.csv.gz"
    with gzip.open(part, "wt") as f:
        f.write("".join(lines[i] + "\n" for i in np.random.default_rng(0).permutation(rows)[:BLANKED_ROWS]))
    return part, BLANKED_ROWS, columns, task


# ---- measurements ----------------------------------------------------------


class Job:
    """Runs of krein on the files of one split. runs: method -> (options of train, options of predict)."""

    def __init__(self, part, name, seed, split, runs):
        self.part, self.name, self.seed, self.split, self.runs = part, name, seed, split, runs

    def measure(self, store, options):
        unmeasured = {m: r for m, r in self.runs.items() if (self.part, self.name, self.seed, m) not in store.all}
        if not unmeasured:
            return
        split = self.split()
        for method, (training, predicting) in unmeasured.items():
            if tabular.running.stopped:
                break
            self.run(store, options, split, method, training, predicting)
        split.remove()

    def run(self, store, options, split, method, training, predicting):
        record = {"part": self.part, "set": self.name, "split": self.seed, "method": method}
        options = argparse.Namespace(**{**vars(options), "krein_options": training})
        try:
            guess, rest = tabular.run_krein(split, options, predicting)
            record |= {"error": split.error(guess), "chosen": rest["chosen"]}
            store.add(record)
            tabular.say(f"{self.part} {self.name} {self.seed} {method}: {record['error']:.4f}  {rest['chosen']}")
        except tabular.Failed as problem:  # shown, but tried again next time
            words = str(problem).replace(f"{split.folder}/", "")
            store.all[common.Records.key(record)] = record | {"failed": words}
            tabular.say(f"{self.part} {self.name} {self.seed} {method}: FAILED: {problem}")


def choice_jobs(sets, work):
    jobs = []
    for name in sorted(SETS, key=lambda n: sets[n][1]):
        runs = {method: (words, ()) for method, words in CHOICES.items()
                if method != "no machines" or sets[name][3] == "classification"}
        for seed in range(SPLITS["choices"]):
            jobs.append(Job("choices", name, seed, lambda n=name, s=seed: tabular.Split(n, sets[n], s, work), runs))
    return jobs


def missing_jobs(sets, work):
    jobs = []
    entries = {name: some_rows(name, sets[name], work) for name in BLANKED_SETS}
    for name, entry in sorted(entries.items(), key=lambda item: item[1][1]):
        for seed in range(SPLITS["missing"]):
            jobs.append(Job("missing", name, seed, lambda n=name, e=entry, s=seed: tabular.Split(n, e, s, work),
                            {"complete": ("", ())}))
            for how, chances in BLANKED.items():
                runs = {f"{how}, {way}": (f"--missing {way} --label first --no-header", predicting)
                        for way, predicting in MISSING.items()}
                jobs.append(Job("missing", name, seed, lambda n=name, e=entry, s=seed, c=chances: Changed(
                    n, e, s, work, None, lambda rows: blank(rows, c, s)), runs))
    return jobs


def category_jobs(sets, work):
    entry = sets[GRID_SET]
    runs = {way: (f"{words} --label first --no-header", ()) for way, words in TEXTS.items()}
    jobs = [Job("categories", "numbers", 0, lambda: Cut(GRID_SET, entry, 0, work, GRID_ROWS), {"numbers": ("", ())})]
    return jobs + [Job("categories", str(step), 0, lambda g=step: Changed(
        GRID_SET, entry, 0, work, GRID_ROWS, lambda rows: as_text(rows, g)), runs) for step in GRIDS]


def measure_all(jobs, store, options):
    pool = ThreadPoolExecutor(options.jobs)
    try:
        for f in [pool.submit(job.measure, store, options) for job in jobs]:
            f.result()
    except BaseException:  # a signal too
        pool.shutdown(wait=False, cancel_futures=True)
        tabular.running.stop()
        raise


# ---- the page --------------------------------------------------------------


def mean_error(store, part, name, method):
    """Over the splits; None where one of them failed or was not measured."""
    records = store.of(part, name, method)
    if len(records) < SPLITS[part] or any("failed" in r for r in records):
        return None
    return float(np.mean([r["error"] for r in records]))


def ratio(store, part, name, method, base):
    above, below = mean_error(store, part, name, method), mean_error(store, part, name, base)
    return above / below if above and below else None


def shown(value, form):
    return "-" if value is None else format(value, form)


def summary(store):
    lines = []
    for method, words in CHOICES.items():
        ratios = {n: r for n in SETS if (r := ratio(store, "choices", n, method, "default")) is not None}
        if method == "default" or not ratios:
            continue
        most = max(ratios, key=lambda n: abs(math.log(ratios[n])))
        others = {n: r for n, r in ratios.items() if n != most}
        lines.append([method, f"`{words}`", len(ratios), tabular.geometric(ratios), tabular.geometric(others),
                      sum(r < 1 - CHANGED for r in ratios.values()), sum(r > 1 + CHANGED for r in ratios.values()),
                      f"{most} {ratios[most]:.2f}" if ratios[most] != 1 else "none"])
    return common.table(["choice", "options", "sets", "error / default", "without the largest change", f"better by {CHANGED:.0%}",
                         f"worse by {CHANGED:.0%}", "largest change"], lines)


def by_set(store, sets):
    lines = []
    for name in SETS:
        _, rows, columns, task = sets[name]
        lines.append([name, rows, columns, "number" if task == "regression" else "class",
                      *(shown(mean_error(store, "choices", name, m), ".4f") for m in CHOICES)])
    return common.table(["set", "rows", "columns", "task", *CHOICES], lines)


def default_choices(store):
    chosen = {name: store.of("choices", name, "default") for name in SETS}
    return common.table(["set", "what the default chose on split 0"],
                        [[name, records[0].get("chosen", "-")] for name, records in chosen.items() if records])


def missing(store):
    methods = [f"{how}, {way}" for how in BLANKED for way in MISSING]
    lines, means = [], {m: {} for m in methods}
    for name in BLANKED_SETS:
        ratios = {m: ratio(store, "missing", name, m, "complete") for m in methods}
        for m in methods:
            means[m] |= {name: ratios[m]} if ratios[m] else {}
        lines.append([name, shown(mean_error(store, "missing", name, "complete"), ".4f"),
                      *(shown(ratios[m], ".3f") for m in methods)])
    lines.append(["geometric mean", "", *(tabular.geometric(means[m]) if means[m] else "-" for m in methods)])
    return common.table(["set", "error, complete", *methods], lines)


def grid_cells(entry, step):
    with gzip.open(entry[0], "rt") as f:
        return len({row[1] for row in as_text([line.split(",") for line in f.read().split()], step)})


def categories(store, sets):
    complete = mean_error(store, "categories", "numbers", "numbers")
    lines = [["numbers", "", shown(complete, ".4f"), *["-"] * len(TEXTS)]]
    for step in GRIDS:
        cells = [shown(mean_error(store, "categories", str(step), "ignored"), ".4f")]
        cells += [shown(ratio(store, "categories", str(step), way, "ignored"), ".3f") for way in TEXTS if way != "ignored"]
        lines.append([f"{step} degrees", grid_cells(sets[GRID_SET], step), "-", *cells])
    return common.table(["grid", "texts", "error of the numbers", "error, column ignored",
                         *(f"{way} / ignored" for way in TEXTS if way != "ignored")], lines)


def failures(store):
    failed = [r for _, r in sorted(store.all.items()) if "failed" in r]
    return "".join(f"- {r['part']}, {r['set']}, split {r['split']}, {r['method']}: {r['failed']}\n"
                   for r in failed) or "None.\n"


def page(store, sets, options):
    version = subprocess.run([options.krein, "--version"], capture_output=True, text=True).stdout.strip()
    return f"""# What each choice brings

Made by `bench/choices.py`, which says how; `--write` replaces this page. {date.today().isoformat()}; {common.cpu()}; {version.splitlines()[0]}.
Errors only, no times: rmse over the standard deviation of the test targets, or (wrong + 0.5) / (n + 1) for classes.
Splits are those of `bench/tabular.py`: 80 % of the rows for training, 20 % for testing, seeds from 0.

## One choice changed

The dev sets of `bench/tabular.py` with at most 21,000 rows, mean of {SPLITS["choices"]} splits. The default tries several kernels, a diagonal metric, and on
small tables of few classes support vector machines; it cuts scaled columns at 8. Ratios are of the error with the option over the
default's error, the mean is geometric, of all sets and without the one that changes most: above 1, the default is better. A kernel that is named turns the metric,
the logarithms and the machines off, so compare these three rows with "no metric". "No machines" is measured on classes only. With `orf` the Laplacian kernel,
which it cannot take, does not compete. The clip is for outliers, as eeg-eye-state has them. On sets of 1,000 rows one test row is more than {CHANGED:.0%} of the error.

{summary(store)}
## Errors by set

{by_set(store, sets)}
{default_choices(store)}
## Missing cells

No set has missing cells, so a tenth of them was blanked, in training and in test rows, with a fixed seed: at random, or two fifths of
the cells in the largest quarter of their column. Of cadata and magic {BLANKED_ROWS:,} rows. Mean of
{SPLITS["missing"]} splits; ratios to the error on the complete table. `drop` trains on the rows without a missing
cell and predicts all of them with `--missing mean`.

{missing(store)}
## Categories

No set has texts of many values. Of cadata longitude and latitude were replaced by one text, the cell of a grid
such as `x-122.25y37.75`; one split with {GRID_ROWS:,} training rows. Ratios to the error with the column ignored. One indicator per text
(`onehot`) is for at most 1,000 texts; beyond that `auto` takes means of the target. Texts that no training row has
are ignored (`--unknown ignore`).

{categories(store, sets)}
## Failed, and in no mean

{failures(store)}"""


# ---- options ---------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help=f"to measure, of {','.join(PARTS)} (all)")
    parser.add_argument("--krein", help="the program ($KREIN, or build/krein)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1, help="splits at a time")
    parser.add_argument("--limit", type=float, default=120, help="seconds until a run is stopped (120)")
    parser.add_argument("--keep", type=Path, help="measurements, read and added to")
    parser.add_argument("--write", action="store_true", help="replace docs/results/choices.md")
    options = parser.parse_args()
    options.krein = options.krein or common.program()
    options.parts = [part for part in options.parts.split(",") if part]
    if strange := [part for part in options.parts if part not in PARTS]:
        parser.error(f"--parts takes some of {','.join(PARTS)}, not {', '.join(strange)}")
    return options


def main():
    options = arguments()
    sets, work, start = tabular.manifest(common.data()), common.folder(), time.perf_counter()
    if absent := [n for n in SETS if n not in sets]:
        sys.exit(f"not in {common.data()}: {', '.join(absent)}")
    store = common.Records(options.keep)
    makers = {"choices": lambda: choice_jobs(sets, work), "missing": lambda: missing_jobs(sets, work),
              "categories": lambda: category_jobs(sets, work)}
    measure_all([job for part in options.parts for job in makers[part]()], store, options)
    text = page(store, sets, options)
    print(text)
    if options.write:
        (common.ROOT / "docs" / "results" / "choices.md").write_text(text)
    tabular.say(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
