/* bench_easymkl.c -- weights of kernels by EasyMKL, on their matrices
 *
 *   bench_easymkl [n [M [lambda]]]          4000 rows, 10 kernels, lambda = 0.1
 *
 * Gaussian kernels of widths that double, on 10 normal inputs with labels of a curved boundary: the
 * easy ones from narrow to wide, the hard ones all smooth, and with a tenth of the labels turned
 * over. Best of several runs: seconds of everything (the sum of the matrices, its minimum, the
 * weights), and of the minimum alone; beside them the time to read all matrices once, which the sum
 * does, and the weights do by half. */
#include "combine/combine.h"

extern const krein_weighing_class krein__weigh_easymkl;
#include "num/blas.h"
#include "solve/hulls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 10, RUNS = 5 };

static krein_ctx *ctx;

static void *need(int64_t count, size_t size) {
    void *p = krein__alloc(ctx, count, size);
    if (!p) {
        fprintf(stderr, "bench_easymkl: %s\n", krein_message(ctx));
        exit(1);
    }
    return p;
}

static double uniform(void) {
    static uint64_t s = 88172645463325252u;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (double)(s >> 11) * 0x1p-53;
}

static double normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform();
    return sum;
}

typedef struct problem {
    int64_t n, M;
    int32_t *class;
    double **K;
} problem;

/* The kernel of number m is exp(-|x - y|^2 / (2 sigma^2)), sigma = 2^(m + first). */
static void fill(problem *p, int first, double turned) {
    int64_t n = p->n;
    double *x = need(n * INPUTS, sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        double *row = x + i * INPUTS;
        for (int j = 0; j < INPUTS; j++) row[j] = normal();
        bool positive = row[0] * row[1] + sin(2 * row[2]) > 0;
        p->class[i] = positive != (uniform() < turned);
    }
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double square = 0;
            for (int k = 0; k < INPUTS; k++)
                square += pow(x[i * INPUTS + k] - x[j * INPUTS + k], 2);
            for (int64_t m = 0; m < p->M; m++)
                p->K[m][i * n + j] = exp(-square / 2 * pow(4, -(double)(m + first)));
        }
    krein__free(ctx, x);
}

/* Seconds to read all matrices once. */
static double read_all(const problem *p) {
    int64_t n = p->n;
    double start = krein__clock(), sum = 0;
#pragma omp parallel for collapse(2) num_threads(ctx->threads) reduction(+ : sum)
    for (int64_t m = 0; m < p->M; m++)
        for (int64_t i = 0; i < n; i++) sum += krein__ddot(n, p->K[m] + i * n, p->K[m] + i * n);
    if (!(sum > 0)) exit(1);
    return krein__clock() - start;
}

static double weights(const problem *p, double lambda, double *mu) {
    krein_model model = {.encoding.nclass = 2};
    krein_job job = {.ctx = ctx, .model = &model, .n = p->n};
    krein_bank bank = {.ctx = ctx, .job = &job, .M = p->M, .K = p->K};
    krein_values o = {.number = {[KREIN_WEIGHING_OWN] = lambda}};
    bank.rows.n = p->n;
    bank.rows.class = p->class;
    double start = krein__clock();
    if (krein__weigh_easymkl.find(&bank, &o, mu) != KREIN_OK) exit(1);
    return krein__clock() - start;
}

/* The minimum alone. */
static double minimum(const problem *p, double lambda, double *sum, double *y, double *g,
                      krein_hulls *h) {
    int64_t n = p->n;
    memset(sum, 0, (size_t)(n * n) * sizeof *sum);
    for (int64_t m = 0; m < p->M; m++)
        for (int64_t i = 0; i < n * n; i++) sum[i] += p->K[m][i];
    for (int64_t i = 0; i < n; i++) y[i] = p->class[i] ? 1 : -1;
    *h = (krein_hulls){.n = n, .K = sum, .y = y, .lambda = lambda, .tol = 1e-7, .g = g};
    double start = krein__clock();
    if (krein__hulls(ctx, h) != KREIN_OK) exit(1);
    return krein__clock() - start;
}

static void measure(problem *p, const char *name, int first, double turned, double lambda) {
    double *sum = need(p->n * p->n, sizeof *sum), *y = need(p->n, sizeof *y);
    double *g = need(p->n, sizeof *g), *mu = need(p->M, sizeof *mu);
    double all = INFINITY, alone = INFINITY, read = INFINITY;
    krein_hulls h;
    int64_t support = 0;
    fill(p, first, turned);
    for (int r = 0; r < RUNS; r++) {
        all = fmin(all, weights(p, lambda, mu));
        alone = fmin(alone, minimum(p, lambda, sum, y, g, &h));
        read = fmin(read, read_all(p));
    }
    for (int64_t i = 0; i < p->n; i++) support += g[i] > 0;
    double bytes = 8 * (double)p->M * (double)p->n * (double)p->n;
    printf("%-22s %6.3f s all, %6.3f s minimum (%lld rounds, %lld steps, %lld products, %lld of g "
           "> 0), %5.3f s to read once (%.1f GB/s), %2.0f%% of all\n",
           name, all, alone, (long long)h.rounds, (long long)h.steps, (long long)h.products,
           (long long)support, read, bytes / read * 1e-9, 100 * read / all);
    krein__free(ctx, sum);
    krein__free(ctx, y);
    krein__free(ctx, g);
    krein__free(ctx, mu);
}

int main(int argc, char **argv) {
    krein_ctx_options o;
    krein_ctx_options_init(&o);
    if (krein_ctx_create(&o, &ctx) != KREIN_OK) return 1;
    problem p = {.n = argc > 1 ? atoll(argv[1]) : 4000, .M = argc > 2 ? atoll(argv[2]) : 10};
    double lambda = argc > 3 ? atof(argv[3]) : 0.1;
    p.class = need(p.n, sizeof *p.class);
    p.K = need(p.M, sizeof *p.K);
    for (int64_t m = 0; m < p.M; m++) p.K[m] = need(p.n * p.n, sizeof *p.K[m]);
    printf("%lld rows, %lld kernels, lambda = %g, %d threads\n", (long long)p.n, (long long)p.M,
           lambda, ctx->threads);
    measure(&p, "narrow to wide", -3, 0, lambda);
    measure(&p, "narrow to wide, noise", -3, 0.1, lambda);
    measure(&p, "smooth", 1, 0, lambda);
    measure(&p, "smooth, noise", 1, 0.1, lambda);
    for (int64_t m = 0; m < p.M; m++) krein__free(ctx, p.K[m]);
    krein__free(ctx, p.K);
    krein__free(ctx, p.class);
    krein_ctx_destroy(ctx);
    return 0;
}
