#!/usr/bin/env python3
"""export.py [--small] [--write] [--before PROGRAM] -- exported programs: size of the compiled object, error on rows that were held out, time of a row.

letter has its own test rows, of magic every third row is held out. A model is trained in float, put into a few bits
(krein quantize), exported, and compiled with gcc -O2; the error is that of the compiled program, the size text and
read-only data by `size`. The time of a row is the best of several rounds over 200 rows, one row at a time, by turns with
krein_predict_dense of the same model in the same process, one thread. --before PROGRAM: an earlier krein exports the same
models too. With --records FILE what is there is not measured again. --write replaces the tables of docs/results/export.md."""

import argparse
import csv
import gzip
import json
from pathlib import Path

import common

STORED = ["--stored"]
# name, file of rows, test file or None, largest size in bytes or None, [(map, bits or None, options of export)]
SETS = [
    ("letter", "letter.train.csv.gz", "letter.test.csv.gz", 200_000,
     [("orf(D=2048)", None, STORED), ("orf(D=2048)", None, []), ("orf(D=2048)", 8, []), ("orf(D=2048)", 4, []),
      ("sorf(D=1792)", None, []), ("sorf(D=2048)", None, STORED), ("sorf(D=2048)", None, [])]),
    ("magic", "magic.csv.gz", None, 20_000,
     [("orf(D=512)", None, STORED), ("orf(D=512)", None, []), ("orf(D=512)", 8, []), ("orf(D=512)", 4, []), ("orf(D=512)", 2, []),
      ("nystrom(D=400)", None, []), ("nystrom(D=400)", 8, []), ("nystrom(D=400)", 4, []),
      ("rff(D=512)", None, STORED), ("rff(D=512)", None, []), ("sorf(D=512)", None, []),
      ("fastfood(D=512)", None, STORED), ("fastfood(D=512)", None, [])]),
    ("dna", "dna.train.csv.gz", "dna.test.csv.gz", None,
     [("orf(D=1024)", None, []), ("sorf(D=1024)", None, []), ("fastfood(D=1024)", None, STORED), ("fastfood(D=1024)", None, [])]),
]

MAIN = r"""
#define _POSIX_C_SOURCE 199309L
#include "f.h"
#include <krein.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
enum { ROWS = 200, ROUNDS = 60, LEAST = 5 };
#define SECONDS 1.0 /* of all rounds, but for the least */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(int argc, char **argv) {
    static float x[20000][F_INPUTS], scores[F_SCORES];
    static double wide[F_SCORES];
    krein_ctx *ctx = NULL;
    krein_model *model = NULL;
    krein_ctx_options o;
    int n = 0, i, j, round;
    volatile int sum = 0;
    FILE *in = fopen(argv[1], "r");
    double best = 1e9, library = 1e9, spent;
    (void)argc;
    for (; in && n < 20000; n++)
        for (j = 0; j < F_INPUTS; j++)
            if (fscanf(in, "%f,", &x[n][j]) != 1) goto read;
read:
    for (i = 0; i < n; i++) printf("%d\n", f_predict(x[i], scores));
    krein_ctx_options_init(&o);
    o.threads = 1;
    if (krein_ctx_create(&o, &ctx) != KREIN_OK || krein_model_load(ctx, argv[2], &model) != KREIN_OK) return 1;
    /* By turns, so that both meet the same machine. */
    for (spent = 0, round = 0; round < ROUNDS && (round < LEAST || spent < SECONDS); round++) {
        double start = now(), took;
        for (i = 0; i < ROWS; i++) sum += f_predict(x[i % n], scores);
        took = now() - start;
        spent += took;
        if (took < best) best = took;
        start = now();
        for (i = 0; i < ROWS; i++)
            if (krein_predict_dense(ctx, model, 1, F_INPUTS, x[i % n], F_INPUTS, wide) != KREIN_OK) return 1;
        took = now() - start;
        spent += took;
        if (took < library) library = took;
    }
    fprintf(stderr, "%g %g\n", 1e6 * best / ROWS, 1e6 * library / ROWS);
    return 0;
}
"""


def rows_of(path):
    with gzip.open(common.data() / path, "rt") as f:
        return [line for line in csv.reader(f) if line]


def measure(folder, program, model, test, options):
    """Error in percent, bytes of the object, microseconds of a row here and in the library, what is drawn again."""
    told = json.loads(common.run([program, "export", model, "-o", folder / "f.c", "--name", "f", "--header-file", folder / "f.h",
                                  "--json", "-q", *options])[0])
    common.run(["gcc", "-std=c99", "-O2", "-c", folder / "f.c", "-o", folder / "f.o"])
    text = common.run(["size", folder / "f.o"])[0].splitlines()[1].split()
    (folder / "main.c").write_text(MAIN)
    library = common.library()
    build = library.rsplit("/", 1)[0]
    common.run(["gcc", "-O2", "-I", common.ROOT / "include", folder / "main.c", folder / "f.o", "-o", folder / "main",
                f"-L{build}", f"-Wl,-rpath,{build}", "-lkrein", "-lm"])
    (folder / "x.csv").write_text("".join(",".join(row[1:]) + "\n" for row in test))
    classes = json.loads(common.run([common.program(), "info", model, "--json"])[0])["classes"]
    got, _, times = common.run([folder / "main", folder / "x.csv", model], log=True)
    wrong = [float(classes[int(g)]) != float(row[0]) for g, row in zip(got.split(), test)]
    assert len(wrong) == len(test)
    here, there = map(float, times.split())
    return {"error": 100 * sum(wrong) / len(wrong), "bytes": int(text[0]), "us": here, "library": there,
            "drawn": bool(told["drawn"])}


def measure_set(folder, one, a, records):
    """All ways of a set that are not in the records."""
    name, train, test, _, ways = one
    if all(records.of("export", name, key(*way)) for way in ways):
        return
    rows = rows_of(train)
    held = rows_of(test) if test else rows[2::3]
    if not test:
        rows = [row for i, row in enumerate(rows) if i % 3 != 2]
    if a.small:
        rows, held = rows[::len(rows) // 600], held[::len(held) // 200]
    data = folder / "train.csv"
    data.write_text("".join(",".join(row) + "\n" for row in rows))
    trained = None
    for spec, bits, options in ways:
        if records.of("export", name, key(spec, bits, options)):
            continue
        if spec != trained:
            common.krein("train", data, "-o", folder / "m.krein", "-t", "classification", "-k", "gaussian", "-m", spec)
            trained = spec
        model = folder / "m.krein"
        if bits:
            model = folder / "q.krein"
            common.krein("quantize", folder / "m.krein", "--bits", bits, "--data", data, "-o", model)
        found = measure(folder, common.program(), model, held, options)
        if a.before:
            found["before"] = measure(folder, a.before, model, held, options)
        records.add({"part": "export", "set": name, "split": 0, "method": key(spec, bits, options), **found})
        print(name, key(spec, bits, options), *(found[k] for k in ("bytes", "error", "us", "library")), flush=True)


def key(spec, bits, options):
    return " ".join([spec, str(bits or "float"), *options])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="try it out on few rows")
    parser.add_argument("--before", metavar="PROGRAM", help="an earlier krein, to compare with")
    parser.add_argument("--records", type=Path, help="keep what is measured there")
    parser.add_argument("--write", action="store_true", help="replace the tables of docs/results/export.md")
    a = parser.parse_args()
    folder, before, records = common.folder(), common.load(), common.Records(a.records)
    lines, targets, changes = [], [], []
    for one in SETS:
        measure_set(folder, one, a, records)
        name, _, _, limit, ways = one
        full, met = None, False
        for spec, bits, options in ways:
            r = records.of("export", name, key(spec, bits, options))[0]
            label = [name, spec + (", drawn again" if r["drawn"] else ", stored" if options else ""), bits or "float"]
            full = r["error"] if full is None else full  # the first is in float
            met = met or bool(bits and limit) and r["bytes"] < limit and r["error"] < full + 1 and r["us"] < r["library"]
            lines.append([*label, f"{r['bytes']:,}", f"{r['error']:.2f}", f"{r['us']:.1f}", f"{r['library']:.1f}",
                          f"{r['library'] / r['us']:.1f}"])
            if "before" in r:
                old = r["before"]
                changes.append([*label, f"{old['bytes']:,}", f"{r['bytes']:,}", f"{old['us']:.1f}", f"{r['us']:.1f}"])
        if limit:
            targets.append([name, f"{limit:,} bytes", "met" if met else "MISSED"])
    tables = {
        "machine": f"{common.cpu()}, one thread, gcc -O2; load before {before:.2f}, after {common.load():.2f}.\n",
        "programs": common.table(["set", "map", "bits", "bytes", "error, %", "µs a row", "krein_predict_dense", "times"], lines),
        "targets": common.table(["set", "below", "within one point of float, and faster on a row"], targets)}
    if changes:
        tables["before"] = common.table(["set", "map", "bits", "bytes before", "now", "µs before", "now"], changes)
    common.publish(tables, "export.md" if a.write else None)


if __name__ == "__main__":
    main()
