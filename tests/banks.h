/* banks.h -- small banks of kernels for tests of the methods that weigh them: rows of det(), a job
 * around them, the kernels' matrices, and the same kernels as features that are exact.
 *
 *   bench       rows, labels, weights, kernels; `matrices` and `features` are two banks of the same
 *   weigh()     a method's weights on one of them, of sum one
 *   expand()    the kernels' matrices and the targets on rows that are repeated as often as their
 *               weight says, for code that knows nothing of weights
 */
#ifndef KREIN_TEST_BANKS_H
#define KREIN_TEST_BANKS_H

#include "fitted.h"

#include "weighings.h"
#include "num/blas.h"

enum { COLUMNS = 3, KERNELS_MAX = 8 };

typedef struct bench {
    int64_t n, M;
    int classes; /* 0: numbers */
    float *x;
    double *y, *weight;
    source s;
    krein_model model;
    krein_job job;
    krein_kernel *kernel[KERNELS_MAX];
    double scale[KERNELS_MAX];
    krein_bank matrices, features;
    krein_map map;
    krein_map_class cls;
    float *z; /* n x D: rows in the order of matrices.rows */
} bench;

/* ---- exact features: a table that is looked up by the row ---------------- */

static const bench *looked_up;

static inline void table_tile(const krein_map *map, const krein_rows *x, float *out, int64_t ld,
                              float *scratch) {
    (void)scratch;
    const bench *b = looked_up;
    memset(out, 0, (size_t)(KREIN_TILE * ld) * sizeof *out);
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t r = 0; r < b->n; r++)
            if (memcmp(x->x + i * x->ld, b->matrices.rows.x.x + r * COLUMNS,
                       COLUMNS * sizeof(float)) == 0)
                memcpy(out + i * ld, b->z + r * map->D, (size_t)map->D * sizeof *out);
}

/* K_m = sum_j w_j v_j v_j': features sqrt|w_j| v_j with the sign of w_j. */
static inline void make_features(bench *b) {
    int64_t n = b->n, D = 0, *first = krein__alloc(ctx, b->M + 1, sizeof *first);
    double *A = test_new(n * n, sizeof *A), *w = test_new(n, sizeof *w);
    float *column = test_new(n * n * b->M, sizeof *column);
    int8_t *sign = test_new(n * b->M, 1);
    for (int64_t m = 0; m < b->M; m++) {
        first[m] = D;
        memcpy(A, b->matrices.K[m], (size_t)(n * n) * sizeof *A);
        CHECK(krein__eigen(ctx, n, A, n, w) == KREIN_OK);
        double top = fmax(fabs(w[0]), fabs(w[n - 1]));
        for (int64_t j = 0; j < n; j++) {
            if (fabs(w[j]) <= 1e-13 * top && !(j == n - 1 && D == first[m])) continue;
            sign[D] = w[j] < 0 ? -1 : 1;
            b->map.negative += w[j] < 0;
            for (int64_t i = 0; i < n; i++)
                column[D * n + i] = (float)(sqrt(fabs(w[j])) * A[j * n + i]);
            D++;
        }
    }
    first[b->M] = D;
    b->z = test_new(n * D, sizeof *b->z);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < D; j++) b->z[i * D + j] = column[j * n + i];
    b->cls = (krein_map_class){.tile = table_tile};
    b->map.ctx = ctx;
    b->map.cls = &b->cls;
    b->map.d = COLUMNS;
    b->map.D = b->map.R = D;
    b->map.sign = sign;
    b->features = (krein_bank){.ctx = ctx,
                               .job = &b->job,
                               .M = b->M,
                               .kernel = b->kernel,
                               .scale = b->scale,
                               .map = &b->map,
                               .first = first};
    free(A);
    free(w);
    free(column);
}

/* The matrices become those of the features as rounded to float32. */
static inline void from_table(bench *b) {
    int64_t D = b->map.D;
    for (int64_t m = 0; m < b->M; m++)
        for (int64_t e = 0; e < b->n * b->n; e++) {
            const float *u = b->z + e / b->n * D, *v = b->z + e % b->n * D;
            double sum = 0;
            for (int64_t j = b->features.first[m]; j < b->features.first[m + 1]; j++)
                sum += b->map.sign[j] * (double)u[j] * (double)v[j];
            b->matrices.K[m][e] = sum;
        }
}

/* ---- the bench ---------------------------------------------------------- */

static inline double bench_label(int64_t i, int classes) {
    double t = det(i, 0, .4) + .6 * det(i, 1, .4) * det(i, 2, .4) + .35 * det(i, 9, 1.3);
    if (classes == 0) return 3 * t + 7;
    if (i < classes) return (double)i;
    return fmin(classes - 1, fmax(0, floor((t + 1.2) / 2.4 * classes)));
}

/* kernels end with NULL. Weighted rows weigh 0 .. 3. change: the matrices before features are made
 * of them, or NULL. */
static inline void open_bench(bench *b, int64_t n, int classes, bool weighted,
                              const char *const *kernels, void (*change)(bench *b)) {
    krein_data_options o;
    memset(b, 0, sizeof *b);
    b->n = n;
    b->classes = classes;
    b->x = test_dense(n, COLUMNS, .4);
    b->y = test_new(n, sizeof *b->y);
    for (int64_t i = 0; i < n; i++) b->y[i] = bench_label(i, classes);
    if (weighted) b->weight = test_new(n, sizeof *b->weight);
    for (int64_t i = 0; i < n && weighted; i++) b->weight[i] = (double)(i * 7 % 4);
    krein_data_options_init(&o);
    o.scale = KREIN_SCALE_NONE;
    o.task = classes ? KREIN_TASK_CLASSIFICATION : KREIN_TASK_REGRESSION;
    CHECK(krein_data_from_dense(ctx, n, COLUMNS, b->x, COLUMNS, b->y, b->weight, &o, &b->s.data) ==
          KREIN_OK);
    ctx->keep_rows = KREIN_KEEP_MEMORY; /* passes keep no buffer, which a failure would release */
    CHECK(source_open(&b->s, true, 0) == KREIN_OK);
    b->model = (krein_model){.ctx = ctx, .encoding = b->s.e, .k = 1};
    b->job = (krein_job){.ctx = ctx,
                         .data = b->s.data,
                         .rows = b->s.stream,
                         .n = n,
                         .model = &b->model,
                         .lambda = .01,
                         .seed = 5};
    for (; kernels[b->M]; b->M++) b->kernel[b->M] = kernel_of(kernels[b->M]);
    CHECK(krein__bank_scales(&b->job, b->kernel, b->M, b->scale) == KREIN_OK);
    b->matrices =
        (krein_bank){.ctx = ctx, .job = &b->job, .M = b->M, .kernel = b->kernel, .scale = b->scale};
    CHECK(krein__bank_matrices(&b->matrices) == KREIN_OK);
    looked_up = b;
    if (change) change(b);
    make_features(b);
}
static inline void close_bench(bench *b) {
    free(b->map.sign);
    free(b->z);
    krein__bank_clear(&b->matrices);
    krein__bank_clear(&b->features);
    for (int64_t m = 0; m < b->M; m++) krein__kernel_destroy(ctx, b->kernel[m]);
    source_close(&b->s);
    free(b->x);
    free(b->y);
    free(b->weight);
}

static inline weighing_options plain_options(void) {
    return (weighing_options){
        .normalize = true, .lambda = .1, .delta = .5, .p = 2, .cost = NAN, .theta = NAN};
}

/* Weights of sum one. */
static inline krein_status weigh(krein_bank *bank, const krein_weighing_class *method,
                                 weighing_options o, double *mu) {
    double sum = 0;
    krein_status st = find_weights(method, bank, o, mu);
    for (int64_t m = 0; m < bank->M && st == KREIN_OK; m++) {
        CHECK(mu[m] >= 0);
        sum += mu[m];
    }
    for (int64_t m = 0; m < bank->M && sum > 0; m++) mu[m] /= sum;
    return st;
}

/* ---- without weights ---------------------------------------------------- */

typedef struct plain {
    int64_t n, M, k;
    double *K[KERNELS_MAX], *y; /* y: k x n */
} plain;

static inline plain expand(const bench *b) {
    const krein_probe *s = &b->matrices.rows;
    int64_t *from = test_new(4 * b->n, sizeof *from), count = 0;
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t t = 0; t < (s->weight ? (int64_t)s->weight[i] : 1); t++) from[count++] = i;
    plain p = {.n = count, .M = b->M, .k = s->k, .y = test_new(count * s->k, sizeof *p.y)};
    for (int64_t m = 0; m < b->M; m++) {
        p.K[m] = test_new(count * count, sizeof(double));
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < count; j++)
                p.K[m][i * count + j] = b->matrices.K[m][from[i] * b->n + from[j]];
    }
    for (int64_t q = 0; q < p.k; q++)
        for (int64_t i = 0; i < count; i++) p.y[q * count + i] = s->y[from[i] * s->k + q];
    free(from);
    return p;
}
static inline void drop_plain(plain *p) {
    for (int64_t m = 0; m < p->M; m++) free(p->K[m]);
    free(p->y);
}

static inline void centre_vector(int64_t n, double *v) {
    double mean = 0;
    for (int64_t i = 0; i < n; i++) mean += v[i] / (double)n;
    for (int64_t i = 0; i < n; i++) v[i] -= mean;
}
/* HKH */
static inline void centre_matrix(int64_t n, double *K) {
    for (int64_t i = 0; i < n; i++) centre_vector(n, K + i * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double t = K[i * n + j];
            K[i * n + j] = K[j * n + i];
            K[j * n + i] = t;
        }
    for (int64_t i = 0; i < n; i++) centre_vector(n, K + i * n);
}
static inline void centre_all(plain *p) {
    for (int64_t m = 0; m < p->M; m++) centre_matrix(p->n, p->K[m]);
    for (int64_t q = 0; q < p->k; q++) centre_vector(p->n, p->y + q * p->n);
}
static inline double dot(int64_t n, const double *a, const double *b) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
/* v'Kv */
static inline double form(int64_t n, const double *K, const double *v) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += v[i] * dot(n, K + i * n, v);
    return sum;
}
static inline void sum_to_one(int64_t M, double *mu) {
    double sum = 0;
    for (int64_t m = 0; m < M; m++) sum += mu[m];
    for (int64_t m = 0; m < M; m++) mu[m] /= sum;
}

/* Both routes of the methods: the same bits for any number of threads, and every allocation may
 * fail. */
static inline void same_for_threads(const krein_weighing_class *const *method, int64_t methods,
                                    const char *const *kernels, int64_t n, double lambda) {
    bench b;
    open_bench(&b, n, 3, true, kernels, NULL);
    b.job.lambda = lambda;
    for (int64_t i = 0; i < 2 * methods; i++) {
        double one[KERNELS_MAX], two[KERNELS_MAX];
        krein_bank *bank = i % 2 ? &b.features : &b.matrices;
        weighing_options o = plain_options();
        ctx->threads = 1;
        CHECK(find_weights(method[i / 2], bank, o, one) == KREIN_OK);
        ctx->threads = 3;
        CHECK(find_weights(method[i / 2], bank, o, two) == KREIN_OK);
        ctx->threads = 2;
        CHECK(memcmp(one, two, (size_t)b.M * sizeof *one) == 0);
    }
    close_bench(&b);
}
static inline void memory_may_fail(const krein_weighing_class *const *method, int64_t methods,
                                   const char *const *kernels) {
    krein_ctx *before = ctx;
    for (int64_t i = 0; i < 2 * methods; i++) {
        test_memory m;
        bench b;
        ctx = test_ctx_with(1, &m);
        ctx->keep_rows = KREIN_KEEP_MEMORY; /* a stream then holds nothing between passes */
        open_bench(&b, 12, 2, true, kernels, NULL);
        TEST_EVERY_ALLOCATION(&m, k) {
            double mu[KERNELS_MAX];
            krein_status st =
                weigh(i % 2 ? &b.features : &b.matrices, method[i / 2], plain_options(), mu);
            CHECK(st == (test_has_failed(&m) ? KREIN_EMEMORY : KREIN_OK));
        }
        close_bench(&b);
        krein_ctx_destroy(ctx);
    }
    ctx = before;
}

#endif
