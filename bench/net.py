#!/usr/bin/python3
"""net.py [--small] [--write] [--rounds N] [--rows N] [--records FILE] [--cpu] [--torch PYTHON ...] -- an epoch of training beside PyTorch and beside
its matrix products alone.

The model is that of askl: 2,000 features (cos(x W + b) + cos(x V + b)) / sqrt(2 D) with trained W and V, ten scores,
softmax, Adam with rate 0.001, on the 60,000 images of mnist (784 columns) in batches of 32 and 256. All start from the
same W, V and b, and an epoch visits every row once in a random order.

  krein       krein__net_fit, by bench/bench_net
  sgemm       the matrix products of such an epoch by OpenBLAS, nothing else: forwards and for the gradients
  torch       the same model in PyTorch: W and V apart or as one matrix, Adam in its loop, foreach and fused forms, on
              several threads those of OpenMP as they come or asleep between loops; the fastest of these is taken, by a
              few steps of each. Its OpenBLAS has as many threads and takes the CPU for what krein's does
  penalties   krein with the penalties that askl has by default: the trace norm of the weights and |z|^2

on one thread and on all. All sides are processes that wait while another one works; they take turns, and a time is the
best of the rounds. The share of the sgemm rate is its time over that of krein. The loss is the mean over the epoch.

  --rows N         the first N rows only: a part of an epoch
  --records FILE   keeps the measurements; those that are there are not made again
  --torch PYTHON   a Python that has PyTorch, instead of the one that runs this; several are compared with
  --cpu            CPU seconds on one thread, for a machine that does other things too
  --write          puts the tables into docs/results/net.md
"""

import argparse
import gzip
import math
import os
import sys
import time
from datetime import date
from pathlib import Path

import common

D, CLASSES, BATCHES = 2000, 10, (32, 256)
ENGINE = {"krein": "fit", "sgemm": "sgemm", "penalties": "penalties"}  # what bench_net is asked for
FASTER = {32: 1.3, 256: 1.0}  # than torch, at least


# ---- the other side, in a process of its own

def forms(torch, start, d):
    """name -> (features of rows, parameters), from the same start."""
    linear = torch.nn.functional.linear
    W, V, b = start[:d], start[d:2 * d], 2 * math.pi * start[2 * d]

    def apart():
        w, v = (torch.nn.Parameter(m.clone()) for m in (W, V))
        return lambda x: torch.cos(torch.addmm(b, x, w)) + torch.cos(torch.addmm(b, x, v)), [w, v]

    def rows():
        w, v = (torch.nn.Parameter(m.t().contiguous()) for m in (W, V))
        return lambda x: torch.cos(linear(x, w, b)) + torch.cos(linear(x, v, b)), [w, v]

    def together():
        w, twice = torch.nn.Parameter(torch.cat([W, V], 1)), b.repeat(2)

        def z(x):
            c = torch.cos(torch.addmm(twice, x, w))
            return c[:, :D] + c[:, D:]

        return z, [w]

    return {"apart": apart, "rows": rows, "together": together}


class Peer:
    """Answers lines of the standard input as bench_net does."""

    ADAM = {"loop": {"foreach": False}, "foreach": {"foreach": True}, "fused": {"fused": True}}

    def __init__(self, paths, n, d):
        import numpy as np
        import torch
        self.torch = torch
        torch.manual_seed(1)
        torch.set_flush_denormal(True)
        x, classes, start = paths
        self.x = torch.from_numpy(np.fromfile(x, np.float32).reshape(n, d))
        self.y = torch.from_numpy(np.fromfile(classes, np.int32).astype(np.int64))
        self.n, self.d = n, d
        self.forms = forms(torch, torch.from_numpy(np.fromfile(start, np.float32).reshape(2 * d + 1, D)), d)
        self.best = {}

    def steps(self, form, adam, batch, count):
        """Seconds, CPU seconds and the mean loss of so many steps; None where there is no such Adam."""
        torch = self.torch
        z, parameters = self.forms[form]()
        head = torch.nn.Linear(D, CLASSES)
        torch.nn.init.zeros_(head.weight)
        torch.nn.init.zeros_(head.bias)
        try:
            optimizer = torch.optim.Adam(parameters + list(head.parameters()), lr=1e-3, **self.ADAM[adam])
        except (TypeError, RuntimeError):
            return None
        seconds, cpu, total = time.perf_counter(), time.process_time(), torch.zeros(())
        order = torch.randperm(self.n)
        for i in range(count):
            rows = order[i * batch:(i + 1) * batch]
            x, y = self.x.index_select(0, rows), self.y.index_select(0, rows)
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(head(z(x) * (2 * D) ** -0.5), y)
            loss.backward()
            optimizer.step()
            total += loss.detach() * len(rows)
        return time.perf_counter() - seconds, time.process_time() - cpu, total.item() / min(self.n, count * batch)

    def choose(self, batch, threads):
        """The fastest form and Adam, and seconds of a few steps of it."""
        few, by = max(4, 640 // batch), 1 if threads == 1 else 0
        tried = [(t[by], f, a) for _ in range(2) for f in self.forms for a in self.ADAM
                 if (t := self.steps(f, a, batch, few))]
        return min(tried)

    def answer(self, line):
        what, batch, threads = line.split()
        batch, threads = int(batch), int(threads)
        self.torch.set_num_threads(threads)
        if (batch, threads) not in self.best:
            self.best[batch, threads] = self.choose(batch, threads)
        if what == "form":
            return "%.6f %s %s" % self.best[batch, threads]
        return "%.6f %.6f %.6f" % self.steps(*self.best[batch, threads][1:], batch, math.ceil(self.n / batch))


def serve(arguments):
    peer = Peer(arguments[:3], int(arguments[3]), int(arguments[4]))
    print(peer.torch.__version__, flush=True)
    for line in sys.stdin:
        print(peer.answer(line), flush=True)


# ---- all sides

def problem(folder, small, rows):
    import numpy as np

    def array(name):
        with gzip.open(common.data() / name) as f:
            return np.load(f)

    x, y = array("mnist.train.x.npy.gz"), array("mnist.train.y.npy.gz")
    x = np.ascontiguousarray(x.reshape(len(x), -1), np.float32) / np.float32(255)
    x, y = x[:1024 if small else rows], y[:1024 if small else rows]
    rng = np.random.default_rng(1)
    start = rng.normal(0, 0.1, (2 * x.shape[1] + 1, D)).astype(np.float32)
    start[-1] = rng.uniform(0, 1, D)
    paths = [folder / name for name in ("x", "y", "start")]
    for path, a in zip(paths, (x, y.astype(np.int32), start)):
        a.tofile(path)
    return paths, *x.shape


def measure(engine, peers, batch, threads, rounds, clock, records):
    """Those sides that have no record of this batch and number of threads; best of the rounds."""
    def known(name):
        return (clock, batch, threads, name) in records.all

    asked, form, best = [(name, engine, what) for name, what in ENGINE.items() if not known(name)], {}, {}
    for both in peers:
        if known(both[0].name):
            continue
        seconds, fastest = min(((p.ask("form", batch, threads), p) for p in both), key=lambda t: float(t[0].split()[0]))
        form[fastest.name] = seconds.split(maxsplit=1)[1]
        asked.append((fastest.name, fastest, "fit"))
    for _ in range(rounds):
        for name, side, what in asked:
            answer = [float(v) for v in side.ask(what, batch, threads).split()]
            best[name] = min(best.get(name, (math.inf, 0)), (answer[clock == "CPU"], answer[2]))
            print(f"  batch {batch}, {threads} threads, {name}: {answer[0]:.2f} s, CPU {answer[1]:.2f} s, "
                  f"loss {answer[2]:.4f}", flush=True)
    for name, (seconds, loss) in best.items():
        records.add({"part": clock, "set": batch, "split": threads, "method": name, "seconds": seconds, "loss": loss,
                     "form": form.get(name)})


def verdict(ratio, target):
    return f"target {target:.1f}: {'met' if ratio >= target else 'MISSED'}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rows", type=int, default=60000)
    parser.add_argument("--torch", action="append", default=[])
    parser.add_argument("--records", type=Path)
    o = parser.parse_args()
    folder = common.folder()
    tool = Path(common.program()).parent / "bench" / "bench_net"
    if not os.access(tool, os.X_OK):
        sys.exit(f"{tool} is not there: make bench builds it")
    where = f"{common.machine()}, {date.today()}, {o.rows:,} rows" + (", CPU seconds" if o.cpu else "")
    print(where)
    paths, n, d = problem(folder, o.small, o.rows)
    engine = common.Side("krein", [tool, *paths, n, d, CLASSES, D])
    cpus = len(os.sched_getaffinity(0))
    counts = [1] if o.cpu or cpus == 1 else [1, cpus]
    peers = common.torch_sides(__file__, o.torch or [sys.executable], [*paths, n, d], counts)
    products, torches, told = [], [], []
    clock, records = "CPU" if o.cpu else "wall", common.Records(o.records)
    names = [both[0].name for both in peers[counts[0]]]
    for batch in BATCHES:
        for threads in counts:
            measure(engine, peers[threads], batch, threads, 1 if o.small else o.rounds, clock, records)
            s = {r["method"]: r for r in records.all.values() if (r["part"], r["set"], r["split"]) == (clock, batch, threads)}
            own, sgemm = s["krein"]["seconds"], s["sgemm"]["seconds"]
            rate = 2e-9 * n * D * (4 * d + 3 * CLASSES) / sgemm
            products.append([batch, threads, f"{own:.2f}", f"{sgemm:.2f}", f"{rate:.0f}", f"{100 * sgemm / own:.0f} %",
                             f"{s['penalties']['seconds']:.2f}", f"{s['krein']['loss']:.4f}"])
            for name in names:
                torches.append([batch, threads, name, s[name]["form"], f"{s[name]['seconds']:.2f}",
                                f"{s[name]['loss']:.4f}", f"{own:.2f}", f"{s[name]['seconds'] / own:.2f}"])
        own, *theirs = (min(records.all[clock, batch, t, name]["seconds"] for t in counts) for name in ["krein", *names])
        for name, seconds in zip(names, theirs):
            told.append([batch, name, f"{own:.2f}", f"{seconds:.2f}", f"{seconds / own:.2f}",
                         verdict(seconds / own, FASTER[batch])])
    tables = {
        "machine": where + ("; small: the numbers mean nothing" if o.small else "") + "\n",
        "torch": common.table(["batch", "PyTorch", "krein s", "torch s", "times faster", ""], told),
        "threads": common.table(["batch", "threads", "PyTorch", "form", "torch s", "loss", "krein s", "times faster"],
                                torches),
        "products": common.table(["batch", "threads", "krein s", "sgemm s", "GFLOP/s", "share of the sgemm rate",
                                  "with penalties s", "loss"], products)}
    common.publish(tables, "net.md" if o.write else None)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2:])
    else:
        main()
