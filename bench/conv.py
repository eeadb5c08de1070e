#!/usr/bin/python3
"""conv.py [--small] [--write] [--rounds N] [--cpu] [--records FILE] [--torch PYTHON ...] -- steps of a convolutional
network beside PyTorch.

The network is convnet(3-32-32-32): four times a convolution 3 x 3 with 32 channels, batch normalisation, ReLU, maxima of
2 x 2, then ten scores; images 32 x 32 x 3 of random numbers.

  step   plain SGD on a batch of 32
  meta   a task of few-shot learning: 5 inner steps th - rate P P'g (P: 40 directions) on 25 images, the loss of 75 others
         at their end, and its exact gradient by the start, through all inner steps. krein makes the inner gradients a
         second time on the way back, PyTorch keeps the graph of all of them

Both sides start from the same parameters with the same P; the loss at the end and the square of the length of the meta
gradient are printed, and must agree. PyTorch has the images with channels first or last, whichever is faster by a few
runs, on several threads those of OpenMP as they come or asleep between loops. No compiler (torch.compile) is used. All
sides are processes that wait while another one works; they take turns, and a time is the best of the rounds.

  --records FILE   keeps the measurements; those that are there are not made again
  --torch PYTHON   a Python that has PyTorch, instead of the one that runs this; several are compared with
  --cpu            CPU seconds on one thread, for a machine that does other things too
  --write          puts the tables into docs/results/conv.md
"""

import argparse
import math
import os
import sys
import time
from datetime import date
from pathlib import Path

import common

ARCH, WIDTHS, IMAGE, CLASSES, RATE, INNER = "convnet(3-32-32-32)", (32, 32, 32, 32), (32, 32, 3), 10, 0.1, 5
BATCH = {"step": 32, "meta": 25}
COUNT = {"step": 30, "meta": 3}  # in one go
ROWS = 256


# ---- the other side, in a process of its own

class Peer:
    """Answers lines of the standard input as bench_conv does; flat vectors are in krein's order."""

    def __init__(self, rows, classes, paths):
        import numpy as np
        import torch
        self.torch = torch
        torch.manual_seed(1)
        torch.set_flush_denormal(True)
        self.x = torch.from_numpy(np.fromfile(rows, np.float32).reshape(ROWS, *IMAGE)).permute(0, 3, 1, 2)
        self.y = torch.from_numpy(np.fromfile(classes, np.int32).astype(np.int64))
        self.start = torch.from_numpy(np.fromfile(f"{paths}.start", np.float32))
        self.P = torch.from_numpy(np.fromfile(f"{paths}.subspace", np.float32)).reshape(-1, len(self.start))
        self.best = {}

    def images(self, form):
        return self.x.contiguous(memory_format=self.torch.channels_last if form == "last" else self.torch.contiguous_format)

    def parameters(self, th):
        """(weights, gamma, beta) of each convolution, and weights and intercepts of the last layer."""
        at, c, out = 0, IMAGE[2], []
        for width in WIDTHS:
            size = 9 * c * width
            norm = at + -(-size // 16) * 16
            out.append((th[at:at + size].reshape(3, 3, c, width).permute(3, 2, 0, 1), th[norm:norm + width],
                        th[norm + width:norm + 2 * width]))
            at, c = norm + -(-4 * width // 16) * 16, width
        pixels = (IMAGE[0] >> len(WIDTHS)) * (IMAGE[1] >> len(WIDTHS))
        size = pixels * c * CLASSES
        head = th[at:at + size].reshape(pixels, c, CLASSES).permute(1, 0, 2).reshape(-1, CLASSES)
        return out, (head.t(), th[at + size:at + size + CLASSES])

    def steps(self, form, batch, count):
        torch, nn = self.torch, self.torch.nn
        layers, c = [], IMAGE[2]
        for width in WIDTHS:
            layers += [nn.Conv2d(c, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2)]
            c = width
        convs, head = self.parameters(self.start)
        net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(head[0].shape[1], CLASSES))
        with torch.no_grad():
            for i, (weights, gamma, beta) in enumerate(convs):
                net[4 * i].weight.copy_(weights)
                net[4 * i + 1].weight.copy_(gamma)
                net[4 * i + 1].bias.copy_(beta)
            net[-1].weight.copy_(head[0])
            net[-1].bias.copy_(head[1])
        if form == "last":
            net = net.to(memory_format=torch.channels_last)
        x = self.images(form)
        optimizer = torch.optim.SGD(net.parameters(), lr=RATE)
        seconds, cpu = time.perf_counter(), time.process_time()
        for i in range(count):
            rows = slice(i % (ROWS // batch) * batch, (i % (ROWS // batch) + 1) * batch)
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(net(x[rows]), self.y[rows])
            loss.backward()
            optimizer.step()
        return time.perf_counter() - seconds, time.process_time() - cpu, loss.item(), 0

    def loss(self, th, x, y):
        F = self.torch.nn.functional
        convs, head = self.parameters(th)
        for weights, gamma, beta in convs:
            x = F.max_pool2d(F.relu(F.batch_norm(F.conv2d(x, weights, padding=1), None, None, gamma, beta, True)), 2)
        return F.cross_entropy(F.linear(x.flatten(1), *head), y)

    def metas(self, form, batch, count):
        grad, P, x = self.torch.autograd.grad, self.P, self.images(form)
        seconds, cpu = time.perf_counter(), time.process_time()
        for _ in range(count):
            start = self.start.clone().requires_grad_()
            th = start
            for _ in range(INNER):
                g, = grad(self.loss(th, x[:batch], self.y[:batch]), th, create_graph=True)
                th = th - RATE * (P.t() @ (P @ g))
            loss = self.loss(th, x[batch:4 * batch], self.y[batch:4 * batch])
            g, = grad(loss, start)
        return time.perf_counter() - seconds, time.process_time() - cpu, loss.item(), g.dot(g).item()

    def run(self, what, form, batch, count):
        return (self.metas if what == "meta" else self.steps)(form, batch, count)

    def answer(self, line):
        what, batch, threads, count = line.split()
        batch, threads, count = int(batch), int(threads), int(count)
        self.torch.set_num_threads(threads)
        form = what.startswith("form-")
        what = what.removeprefix("form-")
        if (what, batch, threads) not in self.best:
            few, by = max(1, count // 3), 1 if threads == 1 else 0
            self.best[what, batch, threads] = min((self.run(what, f, batch, few)[by] / few, f)
                                                  for _ in range(2) for f in ("first", "last"))
        if form:
            return "%.6f %s" % self.best[what, batch, threads]
        return "%.6f %.6f %.6f %.6g" % self.run(what, self.best[what, batch, threads][1], batch, count)


def serve(arguments):
    peer = Peer(*arguments)
    print(peer.torch.__version__, flush=True)
    for line in sys.stdin:
        print(peer.answer(line), flush=True)


# ---- both sides

def problem(folder):
    import numpy as np
    rng = np.random.default_rng(1)
    rng.normal(0, 1, (ROWS, *IMAGE)).astype(np.float32).tofile(folder / "x")
    rng.integers(0, CLASSES, ROWS).astype(np.int32).tofile(folder / "y")
    return [folder / "x", folder / "y", folder / "net"]


def measure(engine, peers, what, threads, rounds, count, clock, records):
    """Those sides that have no record of this."""
    def known(name):
        return (clock, what, threads, name) in records.all

    asked, form, best = [] if known("krein") else [("krein", engine)], {}, {}
    for both in peers:
        if known(both[0].name):
            continue
        seconds, fastest = min(((p.ask(f"form-{what}", BATCH[what], threads, count), p) for p in both),
                               key=lambda t: float(t[0].split()[0]))
        form[fastest.name] = seconds.split()[1]
        asked.append((fastest.name, fastest))
    for _ in range(rounds):
        for name, side in asked:
            answer = [float(v) for v in side.ask(what, BATCH[what], threads, count).split()]
            best[name] = min(best.get(name, (math.inf,)), (answer[clock == "CPU"] / count, answer[2], answer[3]))
            print(f"  {what}, {threads} threads, {name}: {1e3 * answer[0] / count:.1f} ms, CPU {1e3 * answer[1] / count:.1f} ms, "
                  f"loss {answer[2]:.6f}, square {answer[3]:.6g}", flush=True)
    for name, (seconds, loss, square) in best.items():
        records.add({"part": clock, "set": what, "split": threads, "method": name, "seconds": seconds, "loss": loss,
                     "square": square, "form": form.get(name)})


def verdict(ratio):
    return f"target 1.0: {'met' if ratio >= 1 else 'MISSED'}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--torch", action="append", default=[])
    parser.add_argument("--records", type=Path)
    o = parser.parse_args()
    tool = Path(common.program()).parent / "bench" / "bench_conv"
    if not os.access(tool, os.X_OK):
        sys.exit(f"{tool} is not there: make bench builds it")
    where = f"{common.machine()}, {date.today()}" + (", CPU seconds" if o.cpu else "")
    print(where)
    paths = problem(common.folder())
    engine = common.Side("krein", [tool, *paths, ARCH, ROWS, *IMAGE, CLASSES])
    engine.line()
    cpus = len(os.sched_getaffinity(0))
    counts = [1] if o.cpu or cpus == 1 else [1, cpus]
    peers = common.torch_sides(__file__, o.torch or [sys.executable], paths, counts)
    clock, records, lines = "CPU" if o.cpu else "wall", common.Records(o.records), []
    for what in BATCH:
        for threads in counts:
            measure(engine, peers[threads], what, threads, 1 if o.small else o.rounds, 1 if o.small else COUNT[what], clock,
                    records)
            own = records.all[clock, what, threads, "krein"]
            for both in peers[threads]:
                r = records.all[clock, what, threads, both[0].name]
                ratio = r["seconds"] / own["seconds"]
                lines.append([what, threads, both[0].name, f"channels {r['form']}", f"{1e3 * own['seconds']:.1f}",
                              f"{1e3 * r['seconds']:.1f}", f"{ratio:.2f}", verdict(ratio), f"{own['loss']:.4f}",
                              f"{r['loss']:.4f}"])
                if what == "meta" and abs(own["square"] / r["square"] - 1) > 1e-2:
                    sys.exit(f"the meta gradients differ: {own['square']} and {r['square']}")
    common.publish({
        "machine": where + ("; small: the numbers mean nothing" if o.small else "") + "\n",
        "times": common.table(["", "threads", "PyTorch", "form", "krein ms", "torch ms", "times faster", "", "loss krein",
                               "loss torch"], lines)}, "conv.md" if o.write else None)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2:])
    else:
        main()
