"""What the measurements share: the program, a temporary folder, the machine in words, records that
are kept, tables for docs/results."""

import atexit
import ctypes
import itertools
import json
import math
import os
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def program():
    """The krein to measure: $KREIN, or build/krein."""
    path = Path(os.environ.get("KREIN", ROOT / "build" / "krein"))
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is not there: build it, or name it in KREIN")
    return str(path)


def folder():
    """A temporary folder that goes when the program ends."""
    path = tempfile.mkdtemp(prefix="krein_bench.")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return Path(path)


def run(command, log=False, **environment):
    """Runs it; gives its standard output and the seconds of the whole process, with log also its standard error. A
    value of None takes a variable out of the environment."""
    env = {k: v for k, v in {**os.environ, **environment}.items() if v is not None}
    start = time.perf_counter()
    done = subprocess.run([str(c) for c in command], env=env, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"failed ({done.returncode}): {' '.join(map(str, command))}\n{done.stderr}")
    return (done.stdout, seconds, done.stderr) if log else (done.stdout, seconds)


def krein(*arguments, threads=None):
    """Runs krein with --json; gives the object, with the seconds of the process as "wall"."""
    command = [program(), *arguments, "--json", "-q"]
    if threads:
        command += ["-j", threads]
    text, seconds = run(command)
    return {**json.loads(text), "wall": seconds}


def library():
    """The libkrein.so to measure: $KREIN_LIBRARY, or the one beside the program."""
    path = Path(os.environ.get("KREIN_LIBRARY", Path(program()).parent / "libkrein.so"))
    if not path.exists():
        sys.exit(f"{path} is not there: build it, or name it in KREIN_LIBRARY")
    return str(path.resolve())


def package():
    """Makes `import krein` find the Python package of this folder and its library. Where NumPy holds the OpenBLAS that
    the library links, the CPU that it is to take this one for must be known before either is loaded: the program is
    then started anew. To be called before NumPy is imported."""
    os.environ["KREIN_LIBRARY"] = library()
    if not os.environ.get("OPENBLAS_CORETYPE"):
        better = ctypes.c_char_p()
        ctypes.CDLL(os.environ["KREIN_LIBRARY"]).krein_blas_core(ctypes.byref(better))
        if better.value:
            os.environ["OPENBLAS_CORETYPE"] = better.value.decode()
            os.execv(sys.executable, [sys.executable, *sys.argv])
    sys.path.insert(0, str(ROOT / "python"))


def cpu():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown CPU"


def load():
    return os.getloadavg()[0]


def machine():
    return f"{cpu()}, {len(os.sched_getaffinity(0))} CPUs, load before {load():.2f}"


def data():
    """The folder of data sets."""
    return Path(os.environ.get("KREIN_DATA", ROOT.parent / "shared" / "data"))


class Records:
    """Measurements as lines of JSON, each of one (part, set, split, method): those that are in the
    file need not be made again. The method may be missing."""

    def __init__(self, path):
        self.path, self.lock = path, threading.Lock()
        lines = path.read_text().splitlines() if path and path.exists() else []
        self.all = {self.key(r): r for r in map(json.loads, lines)}

    @staticmethod
    def key(r):
        return tuple(r[field] for field in ("part", "set", "split", "method") if field in r)

    def add(self, record):
        with self.lock:
            self.all[self.key(record)] = record
            if self.path:
                with open(self.path, "a") as f:
                    f.write(json.dumps(record) + "\n")

    def of(self, part, name, method=None):
        """In the order of the splits."""
        return [r for k, r in sorted(self.all.items())
                if k[:2] == (part, name) and (method is None or k[3] == method)]


@dataclass
class Call:
    """A `krein compare`: lists of specs (none: what train takes), labels of their combinations, other options."""

    labels: list
    learners: list
    kernels: list = ()
    maps: list = ()
    options: list = ()

    def lists(self):
        return {"--learners": self.learners, "--kernels": self.kernels, "--maps": self.maps}

    def kept(self, data, results):
        """Of how many splits, from the first on, a file of results has all methods."""
        done = {}
        for line in results.read_text().splitlines() if results.exists() else []:
            r = json.loads(line)
            if r["data"] == data.stem and "value" in r:
                done.setdefault(r["method"], set()).add(r["split"])
        names = map(" / ".join, itertools.product(*filter(None, self.lists().values())))
        every = set.intersection(*(done.get(name, set()) for name in names))
        return next(k for k in range(len(every) + 1) if k not in every)


def compare(data, calls, results, holdout, splits, only_kept=False):
    """The rows of several `krein compare`, on the same splits of a data set whose first column is the class, by the
    labels of their methods. Runs that are in the file of results are not made again; only_kept: nor are others, and a
    row may have fewer splits, or be missing. One thread, one training at a time: CPU seconds then count reading too."""
    rows = {}
    for call in calls:
        repeat = min(splits, call.kept(data, results)) if only_kept else splits
        if repeat < 2:
            continue
        lists = [word for option, specs in call.lists().items() if specs for word in (option, "; ".join(specs))]
        text, _ = run([program(), "compare", data, "--label", "first", "-t", "classification", *lists, *call.options,
                       "--holdout", holdout, "--repeat", repeat, "-j", 1, "--results", results, "--json", "-q"])
        found = json.loads(text)
        failed = [r for r in found["results"] if r["failures"]]
        if failed:
            sys.exit(f"{failed[0]['method']} on {failed[0]['data']}: {failed[0]['failed']}")
        held = found["sets"][0]
        for label, row in zip(call.labels, found["results"], strict=True):
            rows[label] = {**row, "ratio": held["test"] / (held["n"] - held["test"])}
    mark(rows)
    return rows


def mark(rows):
    """Which of the rows with the most splits is best, and which of them are not significantly worse, by the test of
    docs/compare.md at level 0.05: over all calls."""
    from scipy import stats

    splits = max((len(r["values"]) for r in rows.values()), default=0)
    whole = [r for r in rows.values() if len(r["values"]) == splits]
    best = min(whole, key=lambda r: r["mean"], default=None)
    for r in rows.values():
        r["best"], r["similar"] = r is best, r is best
    for r in whole:
        if r is not best:
            d = [a - b for a, b in zip(r["values"], best["values"])]
            error = statistics.stdev(d) * math.sqrt(1 / splits + r["ratio"])
            r["similar"] = not error or 2 * stats.t.sf(statistics.fmean(d) / error, splits - 1) >= 0.05


def marked(row, text, splits):
    """As `krein compare --table markdown` does it; how many splits there are where they are fewer."""
    sign = "**" if row["best"] else "*" if row["similar"] else ""
    made = len(row["values"])
    return f"{sign}{text}{sign}" + (f" ({made} splits)" if made < splits else "")


def digits(seconds):
    """Two digits."""
    return f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"


class Side:
    """A process that answers lines, and waits while another one works."""

    def __init__(self, name, command, **environment):
        self.name = name
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **environment})

    def line(self):
        text = self.process.stdout.readline().strip()
        if not text:
            sys.exit(f"{self.name} ended without an answer")
        return text

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.line()


def torch_sides(script, pythons, arguments, counts):
    """{threads: [[the same PyTorch, as it comes and asleep between loops], ...]}: `script --serve` by each of these
    Pythons, which says its version first."""
    found, core = {t: [] for t in counts}, ctypes.c_char_p()
    ctypes.CDLL(library()).krein_blas_core(ctypes.byref(core))
    for python in pythons:
        if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode:
            print(f"{python} has no torch: it is left out (scripts/deps.sh torch)")
            continue
        for threads in counts:
            env = {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "OPENBLAS", "MKL")}
            if core.value:
                env.setdefault("OPENBLAS_CORETYPE", core.value.decode())
            waits = [{}, {"OMP_WAIT_POLICY": "passive"}] if threads > 1 else [{}]
            both = [Side("torch", [python, script, "--serve", *arguments], **env, **wait) for wait in waits]
            for side in both:
                side.name = f"torch {side.line()}"
            found[threads].append(both)
    return found


def table(head, lines):
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in [head, rule, *lines]) + "\n"


def figure(title, plots):
    """Two log-log plots beside each other as SVG, by bench/figure. plots: (text below, text beside, {name: [(x, y,
    half a bar)]}), with the same names in both; a fourth entry "linear" makes the axes linear."""
    tool = Path(program()).parent / "bench" / "figure"
    if not os.access(tool, os.X_OK):
        sys.exit(f"{tool} is not there: make bench builds it")
    lines = [f"title\t{title}"]
    for below, beside, series, *axes in plots:
        lines.append("\t".join(["plot", below, beside, *axes]))
        for name, points in series.items():
            lines += [f"series\t{name}", *("\t".join(map(repr, point)) for point in points)]
    return subprocess.run([tool], input="\n".join(lines), capture_output=True, text=True, check=True).stdout


def publish(tables, page=None):
    """Prints them, or puts each between its marks in a page of docs/results."""
    if page is None:
        for mark, content in tables.items():
            print(f"{mark}\n{content}")
        return
    path = ROOT / "docs" / "results" / page
    text = path.read_text()
    for mark, content in tables.items():
        pattern = re.compile(rf"(<!-- {re.escape(mark)} -->\n).*?(<!-- end -->)", re.S)
        if not pattern.search(text):
            sys.exit(f"no mark {mark} in {page}")
        text = pattern.sub(lambda m: m.group(1) + content + m.group(2), text)
    path.write_text(text)
