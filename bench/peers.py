#!/usr/bin/python3
"""peers.py [--small] [--threads N] -- krein beside scikit-learn, pandas and LIBLINEAR.

Ridge regression on 2,048 random Fourier features of 200,000 x 54 rows, the same problem for
both: inputs standardised, gaussian(sigma=7), lambda 1e-4 (scikit-learn's alpha is n lambda),
float32. scikit-learn's time is StandardScaler + RBFSampler + Ridge on rows in memory; krein's is
"fit" of --json, which is the same work (its own "total" with reading and the seconds of the whole
processes are shown too). RBFSampler draws cosines with a phase: rff(phase=yes) is the same map,
and the ratios are of that one; krein's own default orf is shown beside it.

scikit-learn is run in three ways, each in a process of its own:
  at its best     OpenBLAS with the core type that krein would choose and N threads
  as installed    whatever BLAS this machine's numpy finds, environment untouched
  reference BLAS  Debian's libblas3, which apt-get installs with python3-sklearn where nobody
                  asked for OpenBLAS; on fewer rows, since it is slow, and krein on as many
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import common

D, SIGMA, LAMBDA, INPUTS = 2048, 7.0, 1e-4, 54


# ---- inside the child: one way of running scikit-learn or pandas ----------


def blas_in_use():
    """Files of BLAS mapped by this process, and what OpenBLAS says of itself."""
    files = set()
    for line in Path("/proc/self/maps").read_text().splitlines():
        name = Path(line.split()[-1])
        if name.name.startswith("lib") and "blas" in name.name:
            files.add(str(name))
    words = sorted(files)
    try:
        import threadpoolctl

        for pool in threadpoolctl.threadpool_info():
            if pool["user_api"] == "blas":
                words.append(f"{pool['internal_api']} {pool['version']}, core "
                             f"{pool['architecture']}, {pool['num_threads']} threads")
    except ImportError:
        pass
    return words


def child_sklearn(train, test, n, repeat):
    import numpy as np
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import StandardScaler

    rows, held = np.load(train)[:n], np.load(test)
    y, x0 = np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1:])
    best = None
    for _ in range(repeat):
        x = x0.copy()
        mark = [time.perf_counter()]
        scaler = StandardScaler(copy=False)
        x = scaler.fit_transform(x)
        mark.append(time.perf_counter())
        sampler = RBFSampler(gamma=0.5 / SIGMA**2, n_components=D, random_state=1)
        z = sampler.fit_transform(x)
        mark.append(time.perf_counter())
        assert z.dtype == np.float32, "scikit-learn went to float64"
        model = Ridge(alpha=len(y) * LAMBDA, copy_X=False, solver="cholesky").fit(z, y)
        mark.append(time.perf_counter())
        parts = [b - a for a, b in zip(mark, mark[1:])]
        if best is None or sum(parts) < sum(best):
            best = parts
        del z
    guess = model.predict(sampler.transform(scaler.transform(held[:, 1:].copy())))
    print(json.dumps({"scale": best[0], "features": best[1], "ridge": best[2], "fit": sum(best),
                      "rmse": float(np.sqrt(np.mean((guess - held[:, 0]) ** 2))),
                      "blas": blas_in_use()}))


def child_pandas(path, repeat):
    import pandas

    best = 1e30
    for _ in range(repeat):
        start = time.perf_counter()
        frame = pandas.read_csv(path, dtype="float32")
        best = min(best, time.perf_counter() - start)
    print(json.dumps({"seconds": best, "rows": len(frame)}))


def child_svmlight(path, repeat):
    from sklearn.datasets import load_svmlight_file

    best = 1e30
    for _ in range(repeat):
        start = time.perf_counter()
        x, _ = load_svmlight_file(path)
        best = min(best, time.perf_counter() - start)
    print(json.dumps({"seconds": best, "rows": x.shape[0]}))


def child(kind, *arguments, **environment):
    command = [sys.executable, __file__, "--child", kind, *arguments]
    text, seconds = common.run(command, **environment)
    return {**json.loads(text.splitlines()[-1]), "wall": seconds}


# ---- the comparisons ------------------------------------------------------


def line(name, seconds, text=""):
    print(f"  {name:<44} {seconds:9.3f} s  {text}".rstrip(), flush=True)


def verdict(name, ratio, target):
    word = "met" if ratio >= target else "MISSED"
    print(f"  {name:<44} {ratio:9.2f} x  (target >= {target:g}: {word})", flush=True)


def krein_ridge(path, test, spec, threads, repeat):
    best = None
    for _ in range(repeat):
        r = common.krein("train", path, "-t", "regression", "-k", f"gaussian(sigma={SIGMA:g})",
                         "-m", spec, "-l", LAMBDA, "--test", test, "-o", path.with_suffix(".krein"),
                         threads=threads)
        if best is None or r["seconds"]["fit"] < best["seconds"]["fit"]:
            best = r
    return best


def show_krein(spec, r):
    s = r["seconds"]
    line(f"krein {spec}", s["fit"],
         f"read {s['read']:.2f}, total {s['total']:.2f}, process {r['wall']:.2f}; "
         f"test rmse {r['test']['rmse']:.4f}")


def show_sklearn(name, r):
    line(name, r["fit"], f"scale {r['scale']:.2f}, features {r['features']:.2f}, ridge "
         f"{r['ridge']:.2f}; process {r['wall']:.2f}; test rmse {r['rmse']:.4f}")
    print(f"    BLAS: {'; '.join(r['blas']) or 'none found'}")


def better_core():
    """The core type krein restarts itself with, or None where OpenBLAS's own choice stands."""
    done = subprocess.run([common.program(), "list", "maps", "--verbose"], capture_output=True,
                          text=True)
    words = done.stderr.split("restarted with ")
    return words[1].split()[0] if len(words) > 1 else None


def ridge(work, small, threads):
    n, few = (20000, 2000) if small else (200000, 5000)
    train, test, train_few = work / "train.npy", work / "test.npy", work / "few.npy"
    for path, rows, seed in ((train, n, 1), (test, 20000, 2), (train_few, few, 1)):
        common.run([common.program(), "generate", "friedman", "-n", rows, "-d", INPUTS, "-s", seed,
                    "-o", path])
    same = f"rff(D={D},phase=yes)"
    core = better_core()
    print(f"ridge on features: n = {n}, d = {INPUTS}, D = {D}, {threads} threads, best of 2 each")
    first = krein_ridge(train, test, same, threads, 1)
    settings = {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    if core:
        settings["OPENBLAS_CORETYPE"] = core
    best = child("sklearn", train, test, n, 2, **settings)
    show_sklearn("scikit-learn at its best", best)
    print(f"    core type: {core or 'OpenBLAS own choice, as krein leaves it here'}")
    plain = child("sklearn", train, test, n, 2)
    show_sklearn("scikit-learn as installed here", plain)
    second = krein_ridge(train, test, same, threads, 1)  # one before and one after the others
    mine = min(first, second, key=lambda r: r["seconds"]["fit"])
    show_krein(same, mine)
    show_krein(f"orf(D={D})", krein_ridge(train, test, f"orf(D={D})", threads, 2))
    verdict("faster than scikit-learn at its best", best["fit"] / mine["seconds"]["fit"], 2.2)
    verdict("faster than as installed here", plain["fit"] / mine["seconds"]["fit"], 10)
    if "openblas" in " ".join(plain["blas"]):
        print("    (as installed here is OpenBLAS too, since building krein needs libopenblas-dev;"
              "\n    without that package apt-get's scikit-learn has the reference BLAS, below)")

    home = Path("/usr/lib/x86_64-linux-gnu")
    folders = [str(home / name) for name in ("blas", "lapack") if (home / name).is_dir()]
    if not (home / "blas" / "libblas.so.3").exists():
        print("  reference BLAS: not installed here (libblas3), skipped")
        return
    print(f"ridge on features: n = {few}, d = {INPUTS}, D = {D}")
    mine = krein_ridge(train_few, test, same, threads, 1)
    show_krein(same + " (one run)", mine)
    slow = child("sklearn", train_few, test, few, 1, LD_LIBRARY_PATH=":".join(folders))
    show_sklearn("scikit-learn on reference BLAS (one run)", slow)
    verdict("faster than scikit-learn on reference BLAS", slow["fit"] / mine["seconds"]["fit"], 10)


def krein_read(path, threads):
    """Seconds of reading and parsing inside a training that does next to nothing else."""
    best = None
    for _ in range(2):
        r = common.krein("train", path, "-t", "regression", "-k", "gaussian(sigma=3)", "-D", 16,
                         "-l", 1, "-o", path.with_suffix(".krein"), threads=threads)
        if best is None or r["seconds"]["read"] < best["seconds"]["read"]:
            best = r
    return best["seconds"]["read"], best["wall"]


def reading(work, small, threads):
    csv, sparse = work / "data.csv", work / "data.libsvm"
    rows = 50000 if small else 1000000
    for path in (csv, sparse):
        common.run([common.program(), "generate", "friedman", "-n", rows, "-d", 9, "-o", path])
    megabytes = {path: path.stat().st_size / 1e6 for path in (csv, sparse)}

    def rate(path, seconds):
        return f"{megabytes[path] / seconds:.0f} MB/s"

    print(f"reading CSV, {rows} x 10, {megabytes[csv]:.1f} MB")
    ours, wall = krein_read(csv, threads)
    line(f"krein, {threads} threads", ours, f"{rate(csv, ours)}; whole training {wall:.2f} s")
    one, _ = krein_read(csv, 1)
    line("krein, 1 thread", one, rate(csv, one))
    theirs = child("pandas", csv, 2)
    line("pandas.read_csv, float32 (1 thread)", theirs["seconds"], rate(csv, theirs["seconds"]))
    print(f"  {'faster than pandas':<44} {theirs['seconds'] / ours:9.2f} x  "
          f"(on one thread {theirs['seconds'] / one:.2f} x)")

    print(f"reading LIBSVM, {rows} x 9, {megabytes[sparse]:.1f} MB")
    ours, _ = krein_read(sparse, threads)
    line(f"krein, {threads} threads", ours, rate(sparse, ours))
    one, _ = krein_read(sparse, 1)
    line("krein, 1 thread", one, rate(sparse, one))
    theirs = child("svmlight", sparse, 1)
    line("sklearn load_svmlight_file (1 thread)", theirs["seconds"],
         rate(sparse, theirs["seconds"]))
    print(f"  {'faster than load_svmlight_file':<44} {theirs['seconds'] / ours:9.2f} x  "
          f"(on one thread {theirs['seconds'] / one:.2f} x)")
    if shutil.which("liblinear-train"):
        # It has no option to read only: a tolerance that is met at once leaves the reading.
        command = ["liblinear-train", "-q", "-s", 11, "-e", 1e9, sparse, work / "liblinear.model"]
        _, seconds = common.run(command)
        line("liblinear-train, stopping at once (1 thread)", seconds, rate(sparse, seconds))
        print(f"  {'faster than LIBLINEAR':<44} {seconds / ours:9.2f} x  "
              f"(on one thread {seconds / one:.2f} x; its time has start and end of a "
              f"training in it)")
    else:
        print("  liblinear-train is not here, skipped")


def main():
    if sys.argv[1:2] == ["--child"]:
        kind, *rest = sys.argv[2:]
        kinds = {"sklearn": child_sklearn, "pandas": child_pandas, "svmlight": child_svmlight}
        kinds[kind](*(int(a) if a.isdigit() else a for a in rest))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="small sizes, to try it out")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("what", nargs="*", help="ridge, read (default: both)")
    options = parser.parse_args()
    if set(options.what) - {"ridge", "read"}:
        parser.error("ridge or read")
    import numpy
    import pandas
    import sklearn

    print(f"{common.machine()}, numpy {numpy.__version__}, scikit-learn {sklearn.__version__}, "
          f"pandas {pandas.__version__}")
    if options.small:
        print("small sizes: for trying out, the ratios mean nothing")
    work = common.folder()
    if "ridge" in options.what or not options.what:
        ridge(work, options.small, options.threads)
    if "read" in options.what or not options.what:
        reading(work, options.small, options.threads)


if __name__ == "__main__":
    main()
