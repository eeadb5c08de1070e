/* model.h -- models of small files. */
#ifndef KREIN_TEST_MODEL_H
#define KREIN_TEST_MODEL_H

#include "common.h"

#include "file/archive.h"
#include "model/model.h"

#include <fcntl.h>
#include <sys/stat.h>

/* ---- helpers ------------------------------------------------------------ */

static inline void spit(const char *path, const void *data, int64_t n) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, (size_t)n, f) != (size_t)n || fclose(f) != 0) exit(1);
}

/* ---- data --------------------------------------------------------------- */

enum { NUMBERS = 0, OUTPUTS = 1, TWO = 2, SEVERAL = 3, SPARSE = 4, SPARSE_CLASSES = 5, KINDS = 6 };

/* A small file of the kind; n rows. */
static inline const char *make_file(int kind, int n) {
    static char text[200000];
    int at = 0;
    static const char *const colour[] = {"red", "green", "blue"}, *const name[] = {"b", "a", "c d"};
    if (kind < SPARSE) at += sprintf(text, kind == OUTPUTS ? "y1,y2,a,b,c\n" : "y,a,b,colour,c\n");
    for (int i = 0; i < n; i++) {
        double a = det(i, 0, 0), b = det(i, 1, 0), c = det(i, 2, 0);
        if (kind == NUMBERS)
            at += sprintf(text + at, "%.6g,%.6g,%.6g,%s,%.6g\n", a * b + c, a, b, colour[i % 3], c);
        if (kind == OUTPUTS)
            at += sprintf(text + at, "%.6g,%.6g,%.6g,%.6g,%.6g\n", a * b, a - c, a, b, c);
        if (kind == TWO)
            at += sprintf(text + at, "%s,%.6g,%.6g,%s,%.6g\n", a + b > 0 ? "yes" : "no", a, b,
                          colour[i % 3], c);
        if (kind == SEVERAL)
            at += sprintf(text + at, "%s,%.6g,%.6g,%s,%.6g\n", name[(a > 0) + (b > .3)], a, b,
                          colour[i % 3], c);
        if (kind == SPARSE)
            at += sprintf(text + at, "%.6g %d:%.6g %d:%.6g\n", a * b, 1 + i % 3, a, 4 + i % 5, b);
        if (kind == SPARSE_CLASSES)
            at += sprintf(text + at, "%d %d:%.6g %d:%.6g\n",
                          a > 0   ? 1
                          : b > 0 ? -1
                                  : 3,
                          1 + i % 3, a, 4 + i % 5, b);
    }
    return test_write(kind < SPARSE ? "rows.csv" : "rows.libsvm", text);
}

static inline krein_status train_file(krein_ctx *ctx, const char *path, int kind,
                                      const char *kernel, const char *map, krein_model **out) {
    krein_data_options o;
    krein_train_options t;
    krein_data *data = NULL;
    krein_data_options_init(&o);
    krein_train_options_init(&t);
    if (kind == OUTPUTS) o.targets = 2;
    t.kernel = kernel;
    t.map = map;
    t.lambda = .01;
    *out = NULL;
    krein_status st = krein_data_open(ctx, path, &o, &data);
    if (st == KREIN_OK) st = krein_train(ctx, data, &t, NULL, out);
    krein_data_close(data);
    return st;
}

/* ---- there and back ----------------------------------------------------- */

static const char *const maps[] = {"exact", "nystrom(D=12)", "rff(D=16)", "orf(D=16)",
                                   "rff(D=9, phase=yes)"};
static const char *const kernels[] = {"gaussian(sigma=1.5)",
                                      "gaussian(sigma=1) - 0.3*gaussian(sigma=4)"};

#endif
