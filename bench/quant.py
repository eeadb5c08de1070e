#!/usr/bin/env python3
"""quant.py [--runs N] [--write] -- products and layers of codes of a few bits beside float32: bench_quant, several times.

Every line is the median of all runs, with the smallest and the largest; no run is left out. float32 runs with two cores of
OpenBLAS, N times each, and what codes are compared with is the faster of the two medians, column by column. --write
replaces the tables of docs/results/codes.md."""

import argparse
import re
import statistics
from pathlib import Path

import common

CORES = ("SkylakeX", "Haswell")
LINE = re.compile(r"\s+(\d) bits?\s+(\w+)\s+([\d.]+) \([\s\d.]+\)\s+([\d.]+) \([\s\d.]+\)(?:\s+\d+ % of the limit, (\d+))?")
FLOAT = re.compile(r"\s+float32 \(.*\)\s+([\d.]+)\s+([\d.]+)")
# Of six layers on 256 rows, times float32; 4 bits must be no slower than 8.
TARGETS = {("8", "avx512"): 2.5, ("8", "avx2"): 1.5, ("1", "avx512"): 8, ("1", "avx2"): 4}


def measure(runs):
    """{part: {line: [(256 rows, one row, limit), ...]}}"""
    tool = Path(common.program()).parent / "bench" / "bench_quant"
    found = {"products": {}, "layers": {}}
    for _ in range(runs):
        for core in CORES:
            for part, lines in found.items():
                text, _ = common.run([tool, part], OPENBLAS_CORETYPE=core)
                for line in text.splitlines():
                    if m := FLOAT.match(line):
                        lines.setdefault(("float32", core), []).append((float(m[1]), float(m[2]), 0))
                    elif m := LINE.match(line):
                        lines.setdefault((m[1], m[2]), []).append((float(m[3]), float(m[4]), float(m[5] or 0)))
    return found


def middle(values):
    return statistics.median(values)


def spread(values, digits):
    return f"{middle(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def columns(lines, key):
    return [[run[i] for run in lines[key]] for i in range(3)]


def baseline(lines, faster):
    """The better median of the cores, for 256 rows and for one."""
    return [faster(middle(columns(lines, ("float32", core))[i]) for core in CORES) for i in range(2)]


def rows(lines, faster, digits, last):
    base = baseline(lines, faster)
    for key in lines:
        batch, one, limits = columns(lines, key)
        times = ["", ""]
        if key[0] != "float32":
            ratio = [middle(batch) / base[0], middle(one) / base[1]]
            times = [f"{r if faster is max else 1 / r:.2f}" for r in ratio]
        name = f"float32, {key[1]}" if key[0] == "float32" else f"{key[0]} bit{'' if key[0] == '1' else 's'}, {key[1]}"
        yield [name, spread(batch, digits), times[0], spread(one, digits), times[1], last(key, batch, limits, base[0])]


def of_limit(key, batch, limits, base):
    return f"{100 * middle(b / l for b, l in zip(batch, limits)):.0f} %" if all(limits) else ""


def judged(lines):
    def last(key, batch, limits, base):
        if key[0] == "4" and key[1] in ("avx512", "avx2"):
            eight = middle(columns(lines, ("8", key[1]))[0])
            return f"as fast as 8 bits: {'met' if middle(batch) <= eight else 'MISSED'}"
        if key not in TARGETS:
            return ""
        return f"{TARGETS[key]}: {'met' if base / middle(batch) >= TARGETS[key] else 'MISSED'}"
    return last


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--runs", type=int, default=8)
    p.add_argument("--write", action="store_true")
    a = p.parse_args()
    before = common.machine()
    found = measure(a.runs)
    products, layers = found["products"], found["layers"]
    tables = {
        "machine": f"{before}, after {common.load():.2f}; {a.runs} runs with each of OpenBLAS's cores {', '.join(CORES)}.\n",
        "products": common.table(["", "256 rows, GOP/s", "times", "one row, GOP/s", "times", "of the limit"],
                                 rows(products, max, 0, of_limit)),
        "layers": common.table(["", "256 rows, us a row", "times", "one row, us", "times", "target"],
                               rows(layers, min, 1, judged(layers)))}
    common.publish(tables, "codes.md" if a.write else None)


main()
