"""The cost model of docs/scale.md against trainings on 1, 2 and 4 processes, and what it says of a
cluster. --write puts the tables into docs/scale.md; --small tries the script out.

A process has one thread. Predicted seconds of a training on p processes:

    T(p) = c (passes_read n t_read / p + passes n t_row / p + t_solve) + bytes / speed

c = max(1, p / CPUs). t_read and t_row are a row's seconds in one process, t_solve what does not get
less with p (from a training on few rows), bytes what krein__comm_sum moves and speed that of
`krein ranks`. So p = 1 is what the model is made of, and p > 1 what it is checked by.
"""

import argparse
import json
import os

from common import cpu, folder, krein, load, program, publish, run, table

LAMBDA = "1e-6"
MODES = {
    "exact, lambda given": ["-l", LAMBDA],
    "exact, lambda by leave-one-out": [],
    "average, 4 parts, lambda given": ["--learner", "dckrr(parts=4)", "-l", LAMBDA],
}
CPUS = len(os.sched_getaffinity(0))


def launch(ranks, *arguments):
    """krein --json under mpirun, one thread a process."""
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = ["mpirun", "-q", "--oversubscribe", "-n", ranks, program(), *arguments, "--json", "-q"]
    text, _ = run(command, **root)
    return json.loads(text)


def best(times, work):
    """The run with the least seconds in all."""
    return min((work() for _ in range(times)), key=lambda r: r["seconds"]["total"])


def message(mode, D):
    """Bytes that a process sums with the others: the triangle and the right side, or a model."""
    return 8 * (D + 1) if mode.startswith("average") else 4 * D * (D + 1) + 16 * D


def measure(file, few, n, times, sizes):
    """Seconds, predicted and measured, of each mode, D and number of processes."""
    speed = {p: launch(p, "ranks")["sum_bytes_per_second"] for p in (2, 4)}
    lines, rows = [], {}
    for D in sizes:
        for mode, options in MODES.items():
            job = ["-k", "gaussian(sigma=7)", "-m", "orf", "-D", D, *options, "-o"]
            model = file.with_suffix(".krein")
            alone = best(times, lambda: krein("train", file, *job, model, threads=1))["seconds"]
            solve = best(times, lambda: krein("train", few, *job, model, threads=1))["seconds"]
            rows[mode, D] = n / (alone["total"] - solve["total"])
            both = best(times, lambda: krein("train", file, *job, model, threads=2))["seconds"]
            for p in (1, 2, 4):
                c = max(1, p / CPUS)
                got = alone["total"] if p == 1 else best(
                    times, lambda: launch(p, "train", file, *job, model, "-j", "1"))["seconds"]["total"]
                said = c * ((alone["total"] - solve["total"]) / p + solve["total"])
                said += message(mode, D) / speed[p] if p > 1 else 0
                lines.append([mode if p == 1 else "", D if p == 1 else "", p, f"{said:.2f}",
                              f"{got:.2f}", f"{got / said:.2f}",
                              f"{got / both['total']:.2f}" if p == 2 else ""])
    print(f"sums: {speed[2] / 1e6:.0f} MB/s on 2 processes, {speed[4] / 1e6:.0f} on 4")
    head = ["mode", "D", "processes", "predicted s", "measured s", "ratio", "over one process with 2 threads"]
    return table(head, lines), rows


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    words.add_argument("--small", action="store_true")
    words.add_argument("--write", action="store_true")
    words.add_argument("--times", type=int, default=3, help="runs of each, of which the fastest counts")
    a = words.parse_args()
    print(f"{cpu()}, {CPUS} CPUs, load before {load():.2f}")
    n, sizes = (20000, (64,)) if a.small else (300000, (512, 1024))
    where = folder()
    file, few = where / "rows.npy", where / "few.npy"
    run([program(), "generate", "friedman", "-n", n, "-d", 50, "-o", file])
    run([program(), "generate", "friedman", "-n", 4000, "-d", 50, "-o", few])
    measured, rows = measure(file, few, n, a.times, sizes)
    for (mode, D), speed in rows.items():
        print(f"{mode}, D = {D}: {speed:.0f} rows a second on one CPU, "
              f"{speed * (2 * 50 * D + D * D) / 1e9:.0f} GFLOP/s")
    publish({"measured": measured}, "../scale.md" if a.write else None)


if __name__ == "__main__":
    main()
