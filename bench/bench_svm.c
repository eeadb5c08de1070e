/* bench_svm.c -- linear support vector machines on the same features: ours and LIBLINEAR's
 *
 *   bench_svm FILE.npy LABELS.npy [C ...]       features n x D float32, labels two values
 *
 * Both solve min 1/2 |w|^2 + C sum max(0, 1 - y w'z) (no intercept, LIBLINEAR's -s 3) on features
 * in memory. LIBLINEAR runs at its default tolerance; ours is tightened until its objective is not
 * above LIBLINEAR's by more than a part in ten thousand. Objectives are computed here, for both
 * alike, in float64. */
#include "base/rng.h"
#include "num/blas.h"
#include "solve/machine.h"

#include "npy.h"

#include <linear.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static krein_ctx *ctx;

static void check(krein_status st) {
    if (st == KREIN_OK) return;
    fprintf(stderr, "bench_svm: %s\n", krein_message(ctx));
    exit(1);
}

typedef struct table {
    int64_t n, d;
    float *x;
} table;

static table load(const char *path) {
    table t = {0};
    t.x = npy_load(path, false, &t.n, &t.d);
    return t;
}

/* The learner brings rows into a random order, whoever solves. */
static void mix(table *z, table *y) {
    float *row = malloc((size_t)z->d * sizeof *row);
    if (!row) exit(1);
    for (int64_t i = z->n - 1; i > 0; i--) {
        int64_t j = (int64_t)krein__rng_below((krein_rng){1, 0}, (uint64_t)i, 0, (uint64_t)i + 1);
        size_t bytes = (size_t)z->d * sizeof *row;
        float label = y->x[i];
        memcpy(row, z->x + i * z->d, bytes);
        memcpy(z->x + i * z->d, z->x + j * z->d, bytes);
        memcpy(z->x + j * z->d, row, bytes);
        y->x[i] = y->x[j];
        y->x[j] = label;
    }
    free(row);
}

static double objective(const table *z, const float *y, double C, const double *w) {
    double sum = krein__ddot(z->d, w, w) / 2;
    for (int64_t i = 0; i < z->n; i++) {
        double f = 0;
        for (int64_t j = 0; j < z->d; j++) f += w[j] * (double)z->x[i * z->d + j];
        sum += C * fmax(0, 1 - (double)y[i] * f);
    }
    return sum;
}

static double ours(const table *z, const float *y, double C, double tol, double *w) {
    int64_t rows = z->n < 4096 ? z->n : 4096;
    krein_features f = {.ctx = ctx,
                        .n = z->n,
                        .D = z->d,
                        .rows = rows,
                        .blocks = (z->n + rows - 1) / rows,
                        .kept = z->x,
                        .at = -1};
    krein_machine m = {.n = z->n, .w = w};
    krein_machine_options o = {.loss = KREIN_LOSS_HINGE, .tol = tol, .seed = 1};
    m.dual = malloc((size_t)z->n * sizeof *m.dual);
    if (!m.dual) exit(1);
    for (int64_t i = 0; i < z->n; i++) m.dual[i] = (krein_dual){(int32_t)i, y[i], C, 0};
    double t = krein__clock();
    check(krein__machines_train(&f, &m, 1, &o));
    t = krein__clock() - t;
    free(m.dual);
    return t;
}

static void silent(const char *text) { (void)text; }

static double liblinear(const table *z, const float *y, double C, double *w) {
    struct feature_node *cell = malloc((size_t)(z->n * (z->d + 1)) * sizeof *cell);
    struct feature_node **row = malloc((size_t)z->n * sizeof *row);
    double *label = malloc((size_t)z->n * sizeof *label);
    if (!cell || !row || !label) exit(1);
    for (int64_t i = 0; i < z->n; i++) {
        row[i] = cell + i * (z->d + 1);
        label[i] = (double)y[i];
        for (int64_t j = 0; j < z->d; j++)
            row[i][j] = (struct feature_node){(int)j + 1, (double)z->x[i * z->d + j]};
        row[i][z->d].index = -1;
    }
    struct problem p = {.l = (int)z->n, .n = (int)z->d, .y = label, .x = row, .bias = -1};
    struct parameter q = {.solver_type = L2R_L1LOSS_SVC_DUAL, .eps = 0.1, .C = C};
    set_print_string_function(silent);
    double t = krein__clock();
    struct model *m = train(&p, &q);
    t = krein__clock() - t;
    for (int64_t j = 0; j < z->d; j++) w[j] = m->label[0] == 1 ? m->w[j] : -m->w[j];
    free_and_destroy_model(&m);
    free(cell);
    free(row);
    free(label);
    return t;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: bench_svm FILE.npy LABELS.npy [C ...]\n");
        return 2;
    }
    krein_ctx_options o;
    krein_ctx_options_init(&o);
    if (krein_ctx_create(&o, &ctx) != KREIN_OK) return 1;
    table z = load(argv[1]), y = load(argv[2]);
    double *w = malloc((size_t)z.d * sizeof *w);
    if (y.n != z.n || !w) {
        fprintf(stderr, "bench_svm: %lld rows and %lld labels\n", (long long)z.n, (long long)y.n);
        return 1;
    }
    for (int64_t i = 0; i < y.n; i++) y.x[i] = y.x[i] > 0 ? 1 : -1;
    mix(&z, &y);
    printf("%lld rows, %lld features; hinge, no intercept\n", (long long)z.n, (long long)z.d);
    for (int k = 3; k < argc || k == 3; k++) {
        double C = k < argc ? strtod(argv[k], NULL) : 1, tol = 1e-2, t, own;
        double peer = liblinear(&z, y.x, C, w), theirs = objective(&z, y.x, C, w);
        do {
            t = ours(&z, y.x, C, tol, w);
            own = objective(&z, y.x, C, w);
            tol /= 1.5;
        } while (own > theirs * (1 + 1e-4));
        printf(
            "C = %-6g LIBLINEAR %7.2f s, objective %.6g; krein %7.2f s, objective %.6g: %.1f times "
            "faster\n",
            C, peer, theirs, t, own, peer / t);
        fflush(stdout);
    }
    free(w);
    free(z.x);
    free(y.x);
    krein_ctx_destroy(ctx);
    return 0;
}
