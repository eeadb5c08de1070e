#!/usr/bin/python3
"""semi.py [--parts A,B] [--sets A,B] [--methods A,B] [--splits N] [--shares A,B] [--threads N] [--records FILE] [--tables]
[--seconds] [--write] -- learning from rows without labels, on real data.

--parts are some of

table      Tables 6.6 and 6.7 of the thesis behind FORMULAS 13 (rmse of numbers and of -1/+1 classes, iterations, seconds):
           70 % of the rows are for training, a tenth of these with labels, a tenth landmarks (4,096 above MOST). A Gaussian,
           whose width is chosen once for each set by `krein train -k gaussian` on the labelled rows of another split. lambda
           and lambda_i are chosen by laprls on landmarks in each split, and are the same for all solvers. RLS is the same
           without a graph and on the labelled rows alone, with its own lambda. The whole kernel matrix is left out above
           WHOLE training rows, where the thesis leaves it out too.
labels     Figure 6.3: rmse against the share of rows with labels, a tenth landmarks; both lambdas chosen in every fit.
landmarks  Figure 6.4: the same against the share of landmarks, a tenth with labels.
curves     The classification error of krr on the labelled rows, laprls, labelprop (harmonic, and spreading with
           alpha=0.9) and selftrain (of krr) with 1 to 10 % of the labels. All but krr on 1,024 landmarks.
peers      scikit-learn's LabelSpreading and SelfTrainingClassifier beside ours: each in a process of its own, one after the
           other. Theirs are the seconds of fit and predict, ours those of the whole run.
lowrank    vvr on generated rows: 50 numbers from 20 columns, 100 rows, noise as large as what it hides. The numbers are linear
           in 2 directions of the inputs, or in all 20. rmse on 2,000 rows without noise.
skin       All rows of skin_nonskin, a tenth with labels, 4,096 landmarks, solver=pcg.
graph      bench/bench_graph on 500,000 rows of 90 columns, exact and by descent.

Of table and peers the CPU seconds (user and system) of the whole process are shown, which others on the machine change
little: with one thread, which is the default of --threads, they are the seconds on a machine that does nothing else.
--seconds shows those by the clock (table: of the fit alone), for such a machine: `--parts table,peers --threads 2 --seconds`.
skin and graph take all CPUs and have times by the clock: measure them there.

With --records the measurements go to FILE as lines of JSON, and those that are there are not made again. --write puts the
tables and figures into docs/results; parts that were not measured stay as they are there.
"""

import argparse
import gzip
import json
import re
import resource
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import common

EXACT, WHOLE, MOST, LANDMARKS = 32000, 35000, 5000, 4096
threads = 1  # of krein and of scikit-learn; main sets it
# The label of one class (None: numbers, centred).
SETS = {"madelon": ["madelon.train"], "space_ga": ["space_ga"], "abalone": ["abalone"], "phishing": ["phishing"],
        "a9a": ["a9a.train"], "w7a": ["w7a.train"], "ijcnn1": ["ijcnn1.train"], "cod-rna": ["cod-rna.train"],
        "connect-4": ["connect-4"], "skin_nonskin": ["skin_nonskin"]}
NUMBERS = {"space_ga", "abalone"}
METHODS = ["RLS-CG", "LapRLS-CG", "LapRLS-PCG", "Nyström-CG", "Nyström-PCG"]
# rmse; iterations and seconds, in the order of the methods
THESIS = {
    "madelon": [(1.036, 32, .003), (.990, 13, .029), (.990, 6, .032), (.991, 12, .043), (.991, 1, .006)],
    "space_ga": [(1.251, 11, .004), (1.210, 23, 1.22), (1.210, 5, .569), (1.210, 23, .113), (1.210, 2, .016)],
    "abalone": [(4550, 64, .053), (4170, 98, 26.5), (4170, 4, .903), (4180, 94, .363), (4180, 2, .067)],
    "phishing": [(.426, 74, .031), (.294, 300, 24.2), (.273, 56, 8.21), (.295, 300, 2.47), (.275, 3, .045)],
    "a9a": [(.698, 300, .529), (.664, 64, 1699), (.664, 3, 30.3), (.664, 65, 70.4), (.664, 1, 4.034)],
    "w7a": [(.291, 13, .072), (.283, 32, 143.2), (.283, 2, 9.683), (.284, 213, 107.7), (.284, 1, 2.252)],
    "ijcnn1": [(.434, 242, 8.204), (.389, 57, 2154), (.389, 9, 72.41), (.393, 53, 108.8), (.463, 5, 4.186)],
    "cod-rna": [(.686, 96, 7.178), None, None, (.614, 55, 134.6), (.614, 7, 8.154)],
    "connect-4": [(.781, 103, 11.07), None, None, (.739, 154, 186.5), (.739, 10, 4.22)],
    "skin_nonskin": [(3.119, 43, 91.39), None, None, (2.620, 65, 1490), (2.620, 3, 40.05)]}

CURVES = {"usps": ["usps.train", "usps.test"], "mnist": ["mnist.train"], "pendigits": ["pendigits.train", "pendigits.test"],
          "letter": ["letter.train", "letter.test"], "satimage": ["satimage.train", "satimage.test"],
          "vehicle": ["vehicle"], "german.numer": ["german.numer"]}
PIXELS, ROWS = {"usps", "mnist"}, {"mnist": 10000}
SHARES = [1, 2, 5, 10]
SOME = ["-m", "nystrom(D=1024)"]
LEARNERS = {"krr": ["--learner", "krr"], "laprls": [*SOME, "--learner", "laprls"],
            "harmonic": [*SOME, "--learner", "labelprop"],
            "spreading": [*SOME, "--learner", "labelprop(method=spreading, alpha=0.9)"],
            "selftrain": [*SOME, "--learner", "selftrain"]}
FIGURES, DOUBLED = ["madelon", "space_ga"], [1, 2, 4, 8, 16, 32, 64]
PEER_SETS, PEER_SHARE = ["pendigits", "letter"], 2
PEERS = {"labelprop(method=spreading)": [*SOME, "--learner", "labelprop(method=spreading)"],
         "scikit-learn LabelSpreading(knn)": None, "scikit-learn LabelSpreading(rbf)": None,
         "labelprop(method=spreading, alpha=0.9)": LEARNERS["spreading"], "laprls": LEARNERS["laprls"],
         "selftrain(base=svm)": ["-m", "exact", "--max-exact", EXACT, "--learner", 'selftrain(base="svm(C=10)")'],
         "scikit-learn SelfTrainingClassifier(SVC)": None}


LOW_RANK = {"krr": "krr", "vvr(lambda_s=0)": "vvr(lambda_i=0, lambda_s=0)", "vvr": "vvr(lambda_i=0)",
            "vvr(theta=2)": "vvr(lambda_i=0, theta=2)"}
RANKS, TARGETS = [2, 20], 50


def read(files):
    """Label first, as numbers; None where a file is missing."""
    import pandas

    images = [common.data() / f"{files[0]}.{part}.npy.gz" for part in "yx"]
    if all(path.exists() for path in images):
        y, x = (np.load(gzip.open(path)) for path in images)
        return np.column_stack([y.ravel(), x.reshape(len(x), -1)]).astype("float32")
    paths = [common.data() / f"{file}.csv.gz" for file in files]
    if not all(path.exists() for path in paths):
        return None
    rows = pandas.concat([pandas.read_csv(path, header=None) for path in paths])
    for column in rows.columns:
        if rows[column].dtype == object:
            rows[column] = pandas.factorize(rows[column], sort=True)[0]
    return rows.to_numpy("float32")


def load(name):
    rows = read(SETS[name])
    if rows is None or name in NUMBERS:
        return rows
    values, counts = np.unique(rows[:, 0], return_counts=True)
    rows[:, 0] = np.where(rows[:, 0] == values[np.argmax(counts)], 1, -1)
    return rows


def load_classes(name):
    rows = read(CURVES[name])
    if rows is not None and name in ROWS:
        rows = rows[np.random.default_rng(0).permutation(len(rows))[:ROWS[name]]]
    return rows


def write_split(rows, number, share, work, classes=False, whole=False):
    """Labelled rows, all training rows without labels of the others, test rows (whole: none)."""
    g = np.random.default_rng(number)
    order = g.permutation(len(rows))
    end = len(rows) if whole else int(.7 * len(rows))
    train, test = order[:end], order[end:]
    few = max(2, round(share * len(train)))
    labelled = train[:few]
    if classes:  # one of each class at least
        first = [train[np.nonzero(rows[train, 0] == c)[0][0]] for c in np.unique(rows[train, 0])]
        labelled = np.unique(np.concatenate([labelled, first]))
    files = {what: work / f"{what}.npy" for what in ("labelled", "rest", "test")}
    np.save(files["labelled"], rows[labelled])
    np.save(files["rest"], rows[np.setdiff1d(train, labelled)])
    np.save(files["test"], rows[test])
    return files, len(train)


def spent():
    """CPU seconds of the processes that have ended: one runs at a time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def train(files, task, *arguments, rest=True):
    more, before = ["--unlabeled", files["rest"]] if rest else [], spent()
    label = [] if "--targets" in arguments else ["--label", "first"]
    r = common.krein("train", files["labelled"], *label, "-t", task, *more, "--test", files["test"], "-o",
                     files["labelled"].with_suffix(".krein"), *arguments, threads=threads)
    return {**r, "cpu": spent() - before}


def kernel_of(rows, name, task, records, work):
    """Options: the kernel, and pixels as they are."""
    scale = ["--scale", "none"] if name in PIXELS else []
    key = name + " classes" if task == "classification" else name
    if ("kernel", key, 100) not in records.all:
        files, _ = write_split(rows, 100, .1, work, task == "classification")
        records.add({"part": "kernel", "set": key, "split": 100,
                     "kernel": train(files, task, "-k", "gaussian", *scale, rest=False)["kernel"]})
    return ["-k", records.all["kernel", key, 100]["kernel"], *scale]


def record(records, part, name, number, method, r, **more):
    print(part, name, number, method, more, r["iterations"], round(r["wall"], 1), round(r.get("cpu", 0), 1),
          file=sys.stderr, flush=True)
    records.add({"part": part, "set": name, "split": number, "method": method, "iterations": r["iterations"],
                 "residual": r["residual"], "condition": r["condition"], "fit": r["seconds"]["fit"],
                 "cpu": r.get("cpu"), "bytes": r["peak_rss_bytes"], "lambda": r["lambda"], "learner": r["learner"],
                 "load": common.load(), **more})


def missing(name):
    print(f"{name}: not in {common.data()}, skipped", file=sys.stderr)


def landmarks_of(n):
    return n // 10 if n // 10 <= MOST else LANDMARKS


def weight_of(r):
    return float(r["learner"].split("lambda_i=")[1].split(",")[0].rstrip(")"))


def chosen_for(files, name, number, n, base, landmarks, records):
    """lambda and lambda_i on landmarks, lambda on the labelled rows alone. The graph is to be there: lambda n^2 / 1000, about
    the least that is tried, where it is not wanted."""
    if ("chosen", name, number) not in records.all:
        r = train(files, "regression", *base, "-m", landmarks, "--learner", "laprls(solver=pcg)")
        alone = train(files, "regression", *base, "-m", "exact", "--learner", "laprls(lambda_i=0)", rest=False)
        records.add({"part": "chosen", "set": name, "split": number, "lambda": r["lambda"],
                     "lambda_i": weight_of(r) or 1e-3 * r["lambda"] * n ** 2, "alone": alone["lambda"]})
    r = records.all["chosen", name, number]
    return r["lambda"], r["lambda_i"], r["alone"]


def measure_table(name, methods, splits, records, work):
    rows = load(name)
    if rows is None:
        return missing(name)
    kernel = kernel_of(rows, name, "regression", records, work)
    for number in range(1, splits + 1):
        wanted = [m for m in methods if ("table", name, number, m) not in records.all]
        if int(.7 * len(rows)) > WHOLE:
            wanted = [m for m in wanted if not m.startswith("LapRLS")]
        if not wanted:
            continue
        files, n = write_split(rows, number, .1, work)
        landmarks, base = f"nystrom(D={landmarks_of(n)})", [*kernel, "-s", number, "--max-exact", EXACT]
        both, weight, alone = chosen_for(files, name, number, n, base, landmarks, records)
        for method in wanted:
            kind, solver = method.lower().split("-")
            where = landmarks if kind == "nyström" else "exact"
            r = train(files, "regression", *base, "-m", where, "-l", alone if kind == "rls" else both, "--learner",
                      f"laprls(lambda_i={0 if kind == 'rls' else weight!r}, solver={solver})", rest=kind != "rls")
            record(records, "table", name, number, method, r, rmse=r["test"]["rmse"])


def measure_figure(part, name, splits, records, work):
    """labels: the share of labels changes; landmarks: that of landmarks, and the other methods are measured once."""
    rows = load(name)
    if rows is None:
        return missing(name)
    kernel = kernel_of(rows, name, "regression", records, work)
    for number in range(1, splits + 1):
        for share in DOUBLED:
            files = None
            for method in ("RLS", "LapRLS", "Nyström"):
                key = f"{method} {share}" if part == "labels" or method == "Nyström" else f"{method} all"
                if (part, name, number, key) in records.all:
                    continue
                if files is None:
                    files, n = write_split(rows, number, share / 100 if part == "labels" else .1, work)
                some = n // 10 if part == "labels" else n * share // 100
                r = train(files, "regression", *kernel, "-s", number, "--max-exact", EXACT, "-m",
                          f"nystrom(D={some})" if method == "Nyström" else "exact", "--learner",
                          "laprls(lambda_i=0)" if method == "RLS" else "laprls", rest=method != "RLS")
                record(records, part, name, number, key, r, rmse=r["test"]["rmse"])


def measure_curve(name, methods, splits, shares, records, work):
    rows = load_classes(name)
    if rows is None:
        return missing(name)
    kernel = kernel_of(rows, name, "classification", records, work)
    for number in range(1, splits + 1):
        for share in shares:
            files = None
            for method in methods:
                key = f"{method} {share}"
                if ("curve", name, number, key) in records.all:
                    continue
                if files is None:
                    files, _ = write_split(rows, number, share / 100, work, True)
                r = train(files, "classification", *kernel, "-s", number, *LEARNERS[method], rest=method != "krr")
                record(records, "curve", name, number, key, r, error=r["test"]["error"])


def write_related(rank, number, work):
    """Numbers of deviation 1 that share `rank` directions; labelled rows with noise, test rows without."""
    g = np.random.default_rng(number)
    x = g.standard_normal((2100, 20))
    y = x @ g.standard_normal((20, rank)) @ g.standard_normal((rank, TARGETS))
    y /= y.std(axis=0)
    y[:100] += g.standard_normal((100, TARGETS))
    files = {"labelled": work / "labelled.npy", "test": work / "test.npy"}
    rows = np.column_stack([y, x]).astype("float32")
    np.save(files["labelled"], rows[:100])
    np.save(files["test"], rows[100:])
    return files


def measure_low_rank(rank, methods, splits, records, work):
    for number in range(1, splits + 1):
        for method in methods:
            if ("lowrank", str(rank), number, method) in records.all:
                continue
            files = write_related(rank, number, work)
            r = train(files, "regression", "--targets", TARGETS, "-k", "linear", "--learner", LOW_RANK[method], rest=False)
            record(records, "lowrank", str(rank), number, method, r, rmse=r["test"]["rmse"])


# ---- scikit-learn


def fit_theirs(method, folder, sigma, scale):
    """In a process of its own: seconds, peak bytes, error."""
    from sklearn.neighbors import NearestNeighbors
    from sklearn.preprocessing import StandardScaler
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
    from sklearn.svm import SVC

    few, rest, test = (np.load(folder / f"{what}.npy") for what in ("labelled", "rest", "test"))
    scaler = StandardScaler(with_mean=scale, with_std=scale).fit(few[:, 1:])
    x = scaler.transform(np.concatenate([few[:, 1:], rest[:, 1:]]))
    y = np.concatenate([few[:, 0], np.full(len(rest), -1)]).astype(int)
    tenth = np.median(NearestNeighbors(n_neighbors=11).fit(x).kneighbors(x[:1000])[0][:, 10])
    gamma, narrow = 1 / (2 * sigma ** 2), 1 / (2 * tenth ** 2)  # of a classifier; of edges, as ours
    start, before = time.perf_counter(), time.process_time()
    model = {"LabelSpreading(knn)": lambda: LabelSpreading(kernel="knn", n_neighbors=10, alpha=.2, n_jobs=threads),
             "LabelSpreading(rbf)": lambda: LabelSpreading(kernel="rbf", gamma=narrow, alpha=.2, n_jobs=threads),
             "SelfTrainingClassifier(SVC)": lambda: SelfTrainingClassifier(SVC(C=10, gamma=gamma, probability=True))}
    model = model[method.removeprefix("scikit-learn ")]().fit(x, y)
    error = float(np.mean(model.predict(scaler.transform(test[:, 1:])) != test[:, 0]))
    print(json.dumps({"fit": time.perf_counter() - start, "cpu": time.process_time() - before, "error": error,
                      "bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


def measure_peers(name, methods, splits, records, work):
    rows = load_classes(name)
    if rows is None:
        return missing(name)
    kernel = kernel_of(rows, name, "classification", records, work)
    sigma = re.search(r"sigma=([0-9.e+-]+)", kernel[1]).group(1)
    for number in range(1, splits + 1):
        files, n = write_split(rows, number, PEER_SHARE / 100, work, True)
        for method in methods:
            if ("peers", name, number, method) in records.all:
                continue
            if PEERS[method]:
                r = train(files, "classification", *kernel, "-s", number, *PEERS[method])
                found = {"fit": r["seconds"]["total"], "cpu": r["cpu"], "bytes": r["peak_rss_bytes"],
                         "error": r["test"]["error"]}
            else:
                text, _ = common.run([sys.executable, __file__, "--theirs", method, work, sigma,
                                      "no" if name in PIXELS else "yes", "--threads", threads],
                                     **{f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS")})
                found = json.loads(text)
            print("peers", name, number, method, found, file=sys.stderr, flush=True)
            records.add({"part": "peers", "set": name, "split": number, "method": method, "n": n, "load": common.load(),
                         **found})


# ---- all of skin_nonskin, the graph of 500,000 rows


def measure_skin(records, work):
    name = "skin_nonskin"
    rows = load(name)
    if rows is None:
        return missing(name)
    if ("skin", name, 1, "pcg") in records.all:
        return None
    kernel = kernel_of(rows, name, "regression", records, work)
    files, _ = write_split(rows, 1, .1, work, whole=True)
    r = common.krein("train", files["labelled"], "--label", "first", "-t", "regression", "--unlabeled", files["rest"],
                     *kernel, "-m", f"nystrom(D={LANDMARKS})", "--learner", "laprls(solver=pcg)", "-o",
                     work / "skin.krein")
    return record(records, "skin", name, 1, "pcg", r, wall=r["wall"], rows=r["n"] + r["unlabelled"], labels=r["n"])


def measure_graph(methods, records):
    tool = Path(common.program()).parent / "bench" / "bench_graph"
    for method in methods:
        if ("graph", "500000", 1, method) in records.all:
            continue
        text, _ = common.run([tool, 500000, 90, 10, method])
        print(text, file=sys.stderr, flush=True)
        found = re.search(rf"{method} +([0-9.]+) s +recall ([0-9.]+) +peak ([0-9]+) MB", text)
        records.add({"part": "graph", "set": "500000", "split": 1, "method": method, "fit": float(found.group(1)),
                     "recall": float(found.group(2)), "bytes": 1e6 * float(found.group(3)), "load": common.load()})


# ---- tables and figures


def mean(every, digits):
    if not every:
        return ""
    spread = f" ± {statistics.stdev(every):.{digits}f}" if len(every) > 1 else ""
    return f"{statistics.fmean(every):.{digits}f}{spread}"


def table(head, lines):
    return common.table(head, lines) if lines else ""


def against_thesis(records, seconds):
    def cell(name, i, field, digits, which):
        every = [r[field] for r in records.of("table", name, METHODS[i])]
        theirs = "" if not THESIS[name][i] else f" ({THESIS[name][i][which]:g})"
        return (mean(every, digits) if every else "-") + theirs

    def of(head, field, digits, which):
        return table([head, *METHODS], [[n, *(cell(n, i, field, digits, which) for i in range(len(METHODS)))]
                                               for n in SETS if records.of("table", n)])

    out = {"rmse": of("rmse (thesis)", "rmse", 3, 0), "iterations": of("iterations (thesis)", "iterations", 0, 1)}
    out["seconds"] = (of("seconds of the fit (thesis)", "fit", 2, 2) if seconds else
                      of("CPU seconds of the process (seconds of the thesis)", "cpu", 2, 2))
    return out


def share_points(records, part, name, method, shares, field="rmse", times=1):
    """(share, mean, deviation) where there is anything."""
    every = {s: [times * r[field] for r in records.of(part, name, f"{method} {s}") or
                 (records.of(part, name, f"{method} all") if part == "landmarks" else [])] for s in shares}
    return [(s, statistics.fmean(v), statistics.stdev(v) if len(v) > 1 else 0) for s, v in every.items() if v]


def share_figure(records, part):
    below = "training rows with labels, %" if part == "labels" else "training rows that are landmarks, %"
    plots = [(f"{name}: {below}", "rmse on test rows",
              {m: share_points(records, part, name, m, DOUBLED) for m in ("RLS", "LapRLS", "Nyström")})
             for name in FIGURES]
    return common.figure("share of labels" if part == "labels" else "share of landmarks", plots)


def share_table(records, part):
    def text(points):
        at = {s: (v, d) for s, v, d in points}
        return [f"{at[s][0]:.3f}" + (f" ± {at[s][1]:.3f}" if at[s][1] else "") if s in at else "-" for s in DOUBLED]

    return table(["rmse at", *(f"{s} %" for s in DOUBLED)],
                        [[f"{n}, {m}", *text(share_points(records, part, n, m, DOUBLED))] for n in FIGURES
                         for m in ("RLS", "LapRLS", "Nyström") if share_points(records, part, n, m, DOUBLED)])


def curve_figure(records, names):
    plots = [(f"{name}: training rows with labels, %", "classification error, %",
              {m: share_points(records, "curve", name, m, SHARES, "error", 100) for m in LEARNERS
               if all(records.of("curve", n, f"{m} {s}") for n in names for s in SHARES)}) for name in names]
    return common.figure("labels and rows without", plots)


def page_lines(mark):
    """{first cell: cells} of a table of the page."""
    text = (common.ROOT / "docs" / "results" / "semi.md").read_text()
    inside = text.split(f"<!-- semi {mark} -->\n")[1].split("<!-- end -->")[0].splitlines()[2:]
    return {line.split(" | ")[0][2:]: line[2:-2].split(" | ") for line in inside}


def curve_table(records):
    """Learners without records keep the line that the page has."""
    lines, before, measured = [], page_lines("curves"), False
    for n in CURVES:
        for m in LEARNERS:
            every = [[100 * r["error"] for r in records.of("curve", n, f"{m} {s}")] for s in SHARES]
            measured = measured or any(every)
            if any(every):
                lines.append([f"{n}, {m}", *(mean(one, 1) or "-" for one in every)])
            elif f"{n}, {m}" in before:
                lines.append(before[f"{n}, {m}"])
    return table(["error in %, labels:", *(f"{s} %" for s in SHARES)], lines) if measured else ""


def peer_table(records, seconds):
    lines = []
    for name in PEER_SETS:
        for method in PEERS:
            every = records.of("peers", name, method)
            if every:
                lines.append([f"{name} ({every[0]['n']:,} rows)", method, mean([100 * r["error"] for r in every], 1),
                              mean([r["fit" if seconds else "cpu"] for r in every], 1),
                              f"{statistics.fmean(r['bytes'] for r in every) / 1e9:.2f}"])
    return table(["set", "", "error in %", "seconds" if seconds else "CPU seconds", "peak GB"], lines)


def low_rank_table(records):
    return table(["rmse of numbers that share", *(f"{rank} directions" for rank in RANKS)],
                 [[m, *(mean([r["rmse"] for r in records.of("lowrank", str(rank), m)], 3) or "-" for rank in RANKS)]
                  for m in LOW_RANK if records.of("lowrank", str(RANKS[0]), m)])


def skin_table(records):
    return table(["rows", "with labels", "iterations", "seconds of the fit", "of the process", "peak GB",
                  "load after"],
                        [[f"{r['rows']:,}", f"{r['labels']:,}", r["iterations"], f"{r['fit']:.1f}", f"{r['wall']:.1f}",
                          f"{r['bytes'] / 1e9:.2f}", f"{r['load']:.1f}"] for r in records.of("skin", "skin_nonskin", "pcg")])


def graph_table(records):
    return table(["near", "seconds", "recall", "peak MB beside the rows", "load after"],
                        [[m, f"{r['fit']:.0f}", f"{r['recall']:.3f}", f"{r['bytes'] / 1e6:.0f}", f"{r['load']:.1f}"]
                         for m in ("exact", "descent") for r in records.of("graph", "500000", m)])


def figures(records):
    """Those of which both plots have something."""
    out = {part: share_figure(records, part) for part in ("labels", "landmarks")
           if all(records.of(part, name) for name in FIGURES)}
    pairs = {"curves-images": ["usps", "mnist"], "curves-strokes": ["pendigits", "letter"]}
    return {**out, **{name: curve_figure(records, pair) for name, pair in pairs.items()
                      if all(records.of("curve", one) for one in pair)}}


def machine(records):
    version, _ = common.run([common.program(), "--version"])
    loads = {part: [r["load"] for key, r in records.all.items() if key[0] == part]
             for part in ("table", "peers")}
    said = ", ".join(f"{part} {max(every):.1f}" for part, every in loads.items() if every)
    where = common.machine().split(", load")[0]
    return f"{version.splitlines()[0]}; {where}. Load averages after the runs, at most: {said}.\n"


def main():
    global threads
    p = argparse.ArgumentParser()
    some = lambda text: [s for s in text.split(",") if s]
    p.add_argument("--parts", type=some, default=["table", "labels", "landmarks", "curves", "peers", "lowrank", "skin",
                                                         "graph"])
    p.add_argument("--sets", type=some, help="of all parts; without it those of each")
    p.add_argument("--methods", type=some, help="those that contain one of these texts")
    p.add_argument("--splits", type=int, default=3)
    p.add_argument("--shares", type=lambda text: [int(s) for s in text.split(",")], default=SHARES, help="of the curves")
    p.add_argument("--threads", type=int, default=threads, help="of all parts but skin and graph")
    p.add_argument("--records", type=Path)
    p.add_argument("--tables", action="store_true", help="measure nothing")
    p.add_argument("--seconds", action="store_true")
    p.add_argument("--write", action="store_true")
    p.add_argument("--theirs", nargs=4, help=argparse.SUPPRESS)
    a = p.parse_args()
    threads = a.threads
    if a.theirs:
        return fit_theirs(a.theirs[0], Path(a.theirs[1]), float(a.theirs[2]), a.theirs[3] == "yes")
    records, work = common.Records(a.records), common.folder()
    print(f"# {common.machine()}", file=sys.stderr)

    def sets(part, own):
        return [n for n in (a.sets or own) if n in own] if part in a.parts and not a.tables else []

    def methods(own):
        return [m for m in own if not a.methods or any(text in m for text in a.methods)]

    for name in sets("table", SETS):
        measure_table(name, methods(METHODS), a.splits, records, work)
    for part in ("labels", "landmarks"):
        for name in sets(part, FIGURES):
            measure_figure(part, name, a.splits, records, work)
    for name in sets("curves", CURVES):
        measure_curve(name, methods(LEARNERS), a.splits, a.shares, records, work)
    for name in sets("peers", PEER_SETS):
        measure_peers(name, methods(PEERS), a.splits, records, work)
    for rank in RANKS if sets("lowrank", ["generated"]) else []:
        measure_low_rank(rank, methods(LOW_RANK), a.splits, records, work)
    if sets("skin", ["skin_nonskin"]):
        measure_skin(records, work)
    if sets("graph", ["500000"]):
        measure_graph(methods(["exact", "descent"]), records)

    tables = {"machine": machine(records), **against_thesis(records, a.seconds), "labels": share_table(records, "labels"),
              "landmarks": share_table(records, "landmarks"), "curves": curve_table(records),
              "peers": peer_table(records, a.seconds), "lowrank": low_rank_table(records),
              "skin": skin_table(records), "graph": graph_table(records)}
    common.publish({f"semi {mark}": text for mark, text in tables.items() if text}, "semi.md" if a.write else None)
    if a.write:
        for name, text in figures(records).items():
            (common.ROOT / "docs" / "results" / f"semi-{name}.svg").write_text(text)
    return None


if __name__ == "__main__":
    main()
