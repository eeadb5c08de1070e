/* laprls_calibrate.c -- probabilities of laprls, and thresholds of labels
 *
 * They are fitted to scores of labelled rows by the model without their labels (krr_calibrate.c):
 * a row that is left out stays in the graph. With g = Zw, H = Z'CZ + mu Z'LZ + lambda I the system
 * of solve/manifold.c, c_j the shares of the labelled nodes and m = sum_j c_j z_j
 *
 *     f_{-i}(x_i) = y_i - (y_i - f_i) / (1 - h_i),
 *     h_i = (w_i / W) (1 + (z_i - m)'H^-1(z_i - m))
 *
 * since dw / dy_i = (w_i / W) H^-1(z_i - m), and the intercept is c'(y - g). Where H is known from
 * a sample alone (solver=pcg, cg), the leverage is that of the sample, and f_i is the model's. The
 * closed form on the kernel matrix has leave-one-out of its own (dual_at.c). Above ROWS labelled
 * rows a seeded sample of them decides.
 *
 * Rows of one group know too much of each other: with groups, and where folds were asked for,
 * scores are those of folds, on the rows and features that the lambdas are chosen on
 * (laprls_choice.c). */
#include "learn/laprls.h"
#include "num/blas.h"
#include "solve/dual.h"

#include <math.h>
#include <string.h>

enum { ROWS = 2048, PART = 512 };
static const double LEAST_REST = 1e-4; /* as of float32 products elsewhere */

bool krein__laprls_by_folds(const krein_laprls *s) {
    return s->job->probabilities && !krein__krr_leaves_one_out(s->job);
}

double krein__laprls_calibrate_bytes(int64_t rows, int64_t D, int64_t k) {
    double m = (double)krein__min(rows, ROWS);
    return 8 * (double)PART * (double)(D + k) + 16 * m * (double)k + 64 * m + 16 * (double)D +
           krein__krr_calibration_bytes((int64_t)m, k);
}

/* m: the mean of the labelled nodes, by their shares. */
static krein_status find_mean(const krein_laprls *s, int64_t D, krein_laprls_at *at, void *user,
                              double *z, double *g, double *mean) {
    krein_ctx *ctx = s->job->ctx;
    krein_status st = KREIN_OK;
    int64_t *node = NULL, m = 0;
    NEW(node, PART);
    memset(mean, 0, (size_t)D * sizeof *mean);
    for (int64_t i = 0; i < s->points.nodes; i++) {
        if (s->form.share[i] > 0) node[m++] = i;
        if (m == 0 || (m < PART && i + 1 < s->points.nodes)) continue;
        TRY(at(user, m, node, z, g));
        for (int64_t r = 0; r < m; r++)
            for (int64_t j = 0; j < D; j++) mean[j] += s->form.share[node[r]] * z[r * D + j];
        m = 0;
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, node);
    return st;
}

/* score: g in, f_{-i} out; weight: 0 where float32 leaves nothing of it. */
static void leave_out(const krein_laprls *s, int64_t m, const int64_t *row, int64_t D,
                      const double *x, const double *intercept, double *score, double *weight) {
    int64_t k = s->rows.k;
    double total = 0;
    for (int64_t i = 0; i < s->rows.n; i++) total += s->weight[i];
    for (int64_t i = 0; i < m; i++) {
        double lever = 0, w = s->weight[row[i]];
        for (int64_t j = 0; j < D; j++) lever += x[i * D + j] * x[i * D + j];
        double rest = 1 - w / total * (1 + lever);
        bool alone = !(rest > LEAST_REST);
        weight[i] = alone ? 0 : w;
        for (int64_t c = 0; c < k; c++) {
            double y = s->y[row[i] * k + c], *f = score + i * k + c;
            *f = alone ? 0 : y - (y - *f - intercept[c]) / rest;
        }
    }
}

krein_status krein__laprls_calibrate(krein_laprls *s, int64_t D, krein_laprls_at *at, void *user,
                                     const double *factor, const double *intercept) {
    krein_job *job = s->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    krein_subset subset = {0};
    int64_t n = krein__min(job->n, ROWS), k = s->rows.k, *row = NULL, *node = NULL;
    double *z = NULL, *g = NULL, *mean = NULL, *score = NULL, *weight = NULL;
    if (krein__laprls_by_folds(s)) return KREIN_OK;
    NEW(row, n);
    NEW(node, PART);
    NEW(z, PART * D);
    NEW(g, PART * k);
    NEW(mean, D);
    NEW(score, n * k);
    NEW(weight, n);
    krein__rng_choose(krein__substream(job->seed, KREIN_STREAM_SAMPLE, KREIN_SAMPLE_LAMBDA), job->n,
                      n, row);
    TRY(find_mean(s, D, at, user, z, g, mean));
    for (int64_t first = 0; first < n; first += PART) {
        int64_t m = krein__min(PART, n - first);
        for (int64_t i = 0; i < m; i++) node[i] = s->points.node[row[first + i]];
        TRY(at(user, m, node, z, score + first * k));
        for (int64_t e = 0; e < m * D; e++) z[e] -= mean[e % D];
        krein__triangle_solve(ctx, true, D, factor, D, m, z, D);
        leave_out(s, m, row + first, D, z, intercept, score + first * k, weight + first);
        krein__progress(ctx, "probabilities", (double)(first + m), (double)n);
        TRY(krein__poll(ctx));
    }
    TRY(krein__subset_begin(ctx, &s->rows, &subset));
    krein_targets rows = krein__subset_pick(&s->rows, row, n, &subset);
    TRY(krein__krr_calibrate(job, 0, n, score, rows.class, rows.y, weight));
done:
    krein__subset_end(ctx, &subset);
    void *all[] = {row, node, z, g, mean, score, weight};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    return st;
}

krein_status krein__laprls_calibrate_kernel(krein_laprls *s, const double *K) {
    krein_job *job = s->job;
    krein_ctx *ctx = job->ctx;
    krein_status st = KREIN_OK;
    int64_t n = s->rows.n;
    double *copy = NULL, *score = NULL;
    krein_path path = {0};
    if (krein__laprls_by_folds(s)) return KREIN_OK;
    NEW(copy, n * n);
    NEW(score, n * s->rows.k);
    memcpy(copy, K, (size_t)(n * n) * sizeof *copy);
    TRY(krein__dual_loo_at(ctx, copy, &s->rows, job->lambda, true, &path, score));
    TRY(krein__krr_calibrate(job, 0, n, score, s->rows.class, s->y, s->weight));
done:
    krein__free(ctx, copy);
    krein__free(ctx, score);
    return st;
}
