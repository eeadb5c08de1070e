/* centered -- the sum of kernels of best centred alignment with the targets ("alignf", cortes2012)
 *
 *     max over mu >= 0 of  <K_mu, Y>_F / |K_mu|_F,   K_mu = sum_m mu_m HK_mH,   Y = mean_c y_c y_c'
 *
 * where y_c are the centred targets of length one (one class against the rest; numbers): the
 * criterion ckta of the sum. With a_m = <HK_mH, Y> and S_rs = <HK_rH, HK_sH> it is a'mu /
 * sqrt(mu'S mu), which does not change with the length of mu. The minimiser v over v >= 0 of v'Sv -
 * 2 v'a has v'Sv = v'a (its length is free); among vectors v of one direction d the least value is
 * -(a'd)^2 / d'Sd where a'd > 0, so v has the direction that maximises a'd / sqrt(d'Sd)
 * (cortes2012, proposition 9): mu ~ v, by non-negative least squares on a factor of S. Where no a_m
 * is positive (indefinite kernels only) v = 0.
 *
 * Kernels are brought to |HK_mH|_F = 1 first, and S gets a ridge of 1e-10: kernels that are the
 * same share their weight. On features wide kernels lose digits to their means, and S may be
 * indefinite by more than that: the ridge grows until it is not. One that is constant has nothing
 * left but rounding: weight 0.
 *
 * Row weights count as repeated rows: with kappa_i the weighted mean of row i and tau that of
 * kappa, (HKH)_ij = sqrt(w_i w_j) (K_ij - kappa_i - kappa_j + tau). S is summed over these entries:
 * as a difference of norms it would lose all digits for wide kernels. On features K = Z diag(s) Z'
 * it is sum_ij s_i s_j G_ij^2 over the block (r, s) of G = the centred Z'Z, and a_m = sum_j s_j
 * (z_j'y)^2.
 *
 * Cost: two readings of the matrices, M^2 n^2 / 2 multiplications; or a pass of n D^2. */
#include "combine/codes.h"
#include "combine/combine.h"
#include "num/blas.h"
#include "num/nnls.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* |HKH|_F below this part of |K|_F is rounding. */
static const double CONSTANT = 1e-12;
static const double RIDGE = 1e-10, RIDGE_MOST = 1e-3;

typedef struct aligned {
    double *S, *a;  /* M x M, M */
    double *square; /* M: |K_m|_F^2, not centred */
} aligned;

static double pow2(double x) { return x * x; }

/* ---- matrices ----------------------------------------------------------- */

typedef struct work {
    krein_bank *b;
    krein_ctx *ctx;
    int64_t n, M, k;
    double total;        /* sum of weights */
    double *w, *root;    /* n: weights and their roots */
    double *y;           /* k x n: targets less their means, of length one, times w */
    double *kappa, *tau; /* M x n, M */
    double *part;        /* n */
    double *X, *sum;     /* threads x M x entries; TASKS x M x M */
    int64_t entries;
} work;

/* The entries' sums are cut into so many, whatever the threads. */
enum { TASKS = 64 };

static krein_status prepare(work *w) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    const krein_probe *s = &w->b->rows;
    int64_t n = w->n, k = w->k;
    double *mean = NULL, *square = NULL, *length = NULL;
    ZNEW(mean, k);
    ZNEW(square, k);
    NEW(length, k);
    NEW(w->w, n);
    NEW(w->root, n);
    NEW(w->y, k * n);
    NEW(w->part, n);
    NEW(w->kappa, w->M * n);
    ZNEW(w->tau, w->M);
    for (int64_t i = 0; i < n; i++) {
        w->w[i] = s->weight ? s->weight[i] : 1;
        w->root[i] = sqrt(w->w[i]);
        w->total += w->w[i];
        for (int64_t q = 0; q < k; q++) {
            mean[q] += w->w[i] * s->y[i * k + q];
            square[q] += w->w[i] * pow2(s->y[i * k + q]);
        }
    }
    for (int64_t q = 0; q < k; q++) mean[q] /= w->total;
    TRY(krein__code_lengths(ctx, s->classes > 0, k, w->total, mean, square, length));
    for (int64_t q = 0; q < k; q++)
        for (int64_t i = 0; i < n; i++)
            w->y[q * n + i] =
                length[q] > 0 ? w->w[i] * (s->y[i * k + q] - mean[q]) / sqrt(length[q]) : 0;
done:
    krein__free(ctx, mean);
    krein__free(ctx, square);
    krein__free(ctx, length);
    return st;
}

/* First reading of K_m: means of the rows, and sum_q y_q'K y_q. */
static void read_rows(work *w, int64_t m, double *a) {
    int64_t n = w->n;
    double *kappa = w->kappa + m * n;
    const double *K = w->b->K[m];
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(w->ctx->threads)
    {
        krein__worker_begin();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            kappa[i] = krein__ddot(n, K + i * n, w->w) / w->total;
            for (int64_t q = 0; q < w->k; q++)
                sum += w->y[q * n + i] * krein__ddot(n, K + i * n, w->y + q * n);
            w->part[i] = sum;
        }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    for (int64_t i = 0; i < n; i++) {
        *a += w->part[i];
        w->tau[m] += w->w[i] * kappa[i] / w->total;
    }
}

/* Entries (i, from .. from + count - 1) of all HK_mH, those right of the diagonal times sqrt 2. */
static void centred_row(const work *w, int64_t i, int64_t from, int64_t count, double *X) {
    for (int64_t m = 0; m < w->M; m++) {
        const double *K = w->b->K[m] + i * w->n + from, *root = w->root + from;
        const double *kappa = w->kappa + m * w->n;
        double own = kappa[i] - w->tau[m], *x = X + m * w->entries;
        for (int64_t j = 0; j < count; j++)
            x[j] = M_SQRT2 * w->root[i] * root[j] * ((K[j] - kappa[from + j]) - own);
        if (from == i) x[0] /= M_SQRT2;
    }
}

/* Second reading: the products of all pairs, over the upper triangle. */
static krein_status read_entries(work *w, double *S) {
    krein_ctx *ctx = w->ctx;
    krein_status st = KREIN_OK;
    int64_t n = w->n, M = w->M;
    w->entries = krein__max(64, krein__min(2048, 32768 / M));
    NEW(w->X, ctx->threads * M * w->entries);
    ZNEW(w->sum, TASKS * M * M);
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(ctx->threads)
    {
        krein__worker_begin();
        double *X = w->X + omp_get_thread_num() * M * w->entries;
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < TASKS; t++)
            for (int64_t i = t; i < n; i += TASKS)
                for (int64_t j = i; j < n; j += w->entries) {
                    int64_t count = krein__min(w->entries, n - j);
                    centred_row(w, i, j, count, X);
                    krein__dgemm(false, true, M, M, count, 1, X, w->entries, X, w->entries, 1,
                                 w->sum + t * M * M, M);
                }
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    for (int64_t t = 0; t < TASKS; t++)
        for (int64_t e = 0; e < M * M; e++) S[e] += w->sum[t * M * M + e];
done:
    return st;
}

static krein_status by_matrices(krein_bank *b, aligned *out) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    work w = {.b = b, .ctx = ctx, .n = b->rows.n, .M = b->M, .k = b->rows.k};
    TRY(prepare(&w));
    for (int64_t m = 0; m < w.M; m++) {
        read_rows(&w, m, &out->a[m]);
        TRY(krein__poll(ctx));
    }
    TRY(read_entries(&w, out->S));
    for (int64_t m = 0; m < w.M; m++) { /* what was taken off is orthogonal to what is left */
        double sum = 0;
        for (int64_t i = 0; i < w.n; i++) sum += w.w[i] * pow2(w.kappa[m * w.n + i]);
        out->square[m] = out->S[m * w.M + m] + w.total * (2 * sum - w.total * pow2(w.tau[m]));
    }
done:;
    void *all[] = {w.w, w.root, w.y, w.kappa, w.tau, w.part, w.X, w.sum};
    for (int64_t i = 0; i < KREIN__COUNT(all); i++) krein__free(ctx, all[i]);
    return st;
}

/* ---- features ----------------------------------------------------------- */

/* sum s_i s_j G_ij^2 over the features of two kernels. */
static double block_product(const krein_bank *b, const krein_moments *g, int64_t r, int64_t s) {
    double sum = 0;
    for (int64_t i = b->first[r]; i < b->first[r + 1]; i++) {
        double row = 0;
        for (int64_t j = b->first[s]; j < b->first[s + 1]; j++)
            row += krein__bank_sign(b, j) * pow2(g->G[i * g->D + j]);
        sum += krein__bank_sign(b, i) * row;
    }
    return sum;
}

static krein_status by_features(krein_bank *b, aligned *out) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    krein_moments g = {0};
    double *length = NULL;
    int64_t M = b->M;
    TRY(krein__moments_of(b, true, &g));
    NEW(length, g.k);
    TRY(krein__code_lengths(ctx, krein__job_classes(b->job), g.k, g.weight, g.ymean, g.ysquare,
                            length));
    for (int64_t m = 0; m < M; m++) out->square[m] = block_product(b, &g, m, m);
    krein__moments_centre(&g);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t e = 0; e < M * M; e++)
        if (e / M <= e % M) out->S[e] = block_product(b, &g, e / M, e % M);
    for (int64_t e = 0; e < M * M; e++)
        if (e / M > e % M) out->S[e] = out->S[e % M * M + e / M];
    for (int64_t m = 0; m < M; m++)
        for (int64_t j = b->first[m]; j < b->first[m + 1]; j++)
            for (int64_t q = 0; q < g.k; q++)
                if (length[q] > 0)
                    out->a[m] += krein__bank_sign(b, j) * pow2(g.B[j * g.k + q]) / length[q];
done:
    krein__free(ctx, length);
    krein__moments_clear(ctx, &g);
    return st;
}

/* ---- the weights -------------------------------------------------------- */

/* The kernels that are not constant; a word about those that are. */
static krein_status not_constant(const krein_bank *b, const aligned *s, int64_t *index,
                                 int64_t *count) {
    *count = 0;
    for (int64_t m = 0; m < b->M; m++) {
        double left = s->S[m * b->M + m];
        if (left > pow2(CONSTANT) * s->square[m] && left > 0) {
            index[(*count)++] = m;
            continue;
        }
        char *text = krein__kernel_text(b->ctx, b->kernel[m]);
        if (!text) return b->ctx->status;
        krein__log(b->ctx, KREIN_LOG_WARNING, "%s is constant on these rows: its weight is 0",
                   text);
        krein__free(b->ctx, text);
    }
    return KREIN_OK;
}

/* The form of the n kernels of the index, of length one, with a ridge. */
static void make_form(const aligned *s, int64_t M, int64_t n, const int64_t *index,
                      const double *size, double ridge, double *S, double *a) {
    for (int64_t i = 0; i < n; i++) {
        a[i] = s->a[index[i]] / size[i];
        for (int64_t j = 0; j < n; j++)
            S[i * n + j] = s->S[index[i] * M + index[j]] / (size[i] * size[j]);
        S[i * n + i] += ridge;
    }
}

static krein_status weigh(krein_bank *b, const aligned *s, double *mu) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t M = b->M, n = 0, *index = NULL;
    double *S = NULL, *a = NULL, *v = NULL, *size = NULL;
    NEW(index, M);
    NEW(S, M * M);
    NEW(a, M);
    NEW(v, M);
    NEW(size, M);
    memset(mu, 0, (size_t)M * sizeof *mu);
    TRY(not_constant(b, s, index, &n));
    for (int64_t i = 0; i < n; i++) size[i] = sqrt(s->S[index[i] * M + index[i]]);
    bool found = n == 0;
    for (double ridge = RIDGE; !found; ridge *= 10) {
        make_form(s, M, n, index, size, ridge, S, a);
        st = krein__nnls_form(ctx, n, S, a, v);
        found = st != KREIN_ENUMERIC || ridge > RIDGE_MOST;
    }
    TRY(st);
    for (int64_t i = 0; i < n; i++) mu[index[i]] = v[i] / size[i];
done:
    krein__free(ctx, index);
    krein__free(ctx, S);
    krein__free(ctx, a);
    krein__free(ctx, v);
    krein__free(ctx, size);
    return st;
}

static krein_status find(krein_bank *b, const krein_values *v, double *mu) {
    (void)v;
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    aligned s = {0};
    ZNEW(s.S, b->M * b->M);
    ZNEW(s.a, b->M);
    ZNEW(s.square, b->M);
    TRY(b->K ? by_matrices(b, &s) : by_features(b, &s));
    TRY(weigh(b, &s, mu));
done:
    krein__free(ctx, s.S);
    krein__free(ctx, s.a);
    krein__free(ctx, s.square);
    return st;
}

static void cost(const krein_bank_size *s, krein_cost *out) {
    double M = (double)s->M;
    out->flops += krein__bank_cross_flops(s);
    if (!s->matrices) return;
    out->bytes += 8 * (s->rows * (M + (double)s->k + 6) + TASKS * M * M +
                       s->map->ctx->threads * (32768 + 64 * M));
}

static const krein_option options[] = {KREIN_WEIGHING_OPTIONS, {0}};

const krein_weighing_class krein__weigh_centered = {
    .cls = {"centered", "the sum of best centred alignment", "cortes2012", options, NULL},
    .tasks = KREIN_FOR_NUMBERS | KREIN_FOR_CLASSES,
    .row_weights = true,
    .find = find,
    .cost = cost};
