/* pick.c -- landmarks: k-means centres, or rows drawn by ridge leverage.
 *
 * kmeans (zhang2008): k-means++ seeds and a few of Lloyd's iterations on at most 20 m and 50,000
 * rows, drawn uniformly. The centres are the landmarks; they lie between the rows, so a kernel
 * that wants inputs in an interval has them there. On rows of length one they are brought to
 * length one. Sparse rows: centres where there are at most NARROW columns (as CSR); wider ones
 * would have dense centres, so there the k-means++ seeds are the landmarks.
 *
 * leverage (alaoui2015, musco2017), in two levels. Of N candidate rows (drawn uniformly, at most
 * CANDIDATES, at least 4 m) a uniform sample S of s gives
 *     l_i = (N r / s)^-1 (k_ii - k_iS (K_SS + r I)^-1 k_Si),
 * which for S = all is the exact score [K(K + r I)^-1]_ii, and otherwise an estimate from above
 * of it (a row that the sample does not explain has a high score) but for the noise of the sample.
 * The ridge r is the one at which the sample has the effective dimension Tr K_SS(K_SS + r I)^-1 =
 * s/2. Then m of the N are drawn with inclusion probabilities in proportion (scores.c). The
 * features of nystrom do not depend on weights of the landmarks, so there are none.
 * Cost: O(N s (d + s) + s^3), s = min(m, SAMPLE).
 */
#include "map/pick.h"

#include "num/centres.h"
#include "map/scores.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

enum { NARROW = 1024, STEPS = 10, CANDIDATES = 8192, SAMPLE = 2048, BLOCK = 1024 };
static const int64_t CELLS = (int64_t)1
                             << 25; /* of the candidates, unless that is under 2 m rows */

static krein_rng stream(const krein_map *map, int use) {
    return krein__role((krein_rng){map->seed, KREIN_STREAM_LANDMARKS}, 2 * (uint64_t)use);
}

/* Rows looked at. */
static int64_t candidates(const krein_map *map, int64_t n, int64_t m, krein_pick how) {
    int64_t width = map->sparse ? krein__min(map->d, NARROW) : map->d;
    int64_t most = how == KREIN_PICK_KMEANS ? krein__max(m, krein__min(20 * m, 50000))
                                            : krein__max(4 * m, CANDIDATES);
    return krein__min(n, krein__min(most, krein__max(2 * m, CELLS / width)));
}

static krein_status gather(krein_map *map, krein_stream *rows, int64_t n, int64_t m,
                           krein_matrix *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL;
    NEW(index, m);
    krein__rng_choose(stream(map, 1), n, m, index);
    TRY(krein__stream_gather(rows, index, m, out, NULL, NULL, NULL));
done:
    krein__free(ctx, index);
    return st;
}

/* ---- k-means ------------------------------------------------------------ */

static bool not_table(const krein_kernel_class *c) { return c->family != KREIN_FAMILY_TABLE; }

static krein_status to_dense(krein_ctx *ctx, const krein_rows *x, krein_matrix *out) {
    krein_status st = KREIN_OK;
    *out = (krein_matrix){.n = x->n, .d = x->d};
    NEW(out->x, x->n * x->d);
    for (int64_t i = 0; i < x->n; i++) krein__row_copy(x, i, out->x + i * x->d);
done:
    return st;
}

static krein_status to_sparse(krein_ctx *ctx, const krein_matrix *x, krein_matrix *out) {
    krein_status st = KREIN_OK;
    int64_t at = 0, d = x->d;
    *out = (krein_matrix){.n = x->n, .d = d};
    for (int64_t i = 0; i < x->n * d; i++) out->nnz += x->x[i] != 0;
    NEW(out->ptr, x->n + 1);
    NEW(out->col, out->nnz);
    NEW(out->val, out->nnz);
    out->ptr[0] = 0;
    for (int64_t i = 0; i < x->n; i++) {
        for (int64_t j = 0; j < d; j++) {
            if (x->x[i * d + j] == 0) continue;
            out->col[at] = (int32_t)j;
            out->val[at++] = x->x[i * d + j];
        }
        out->ptr[i + 1] = at;
    }
done:
    if (st != KREIN_OK) krein__matrix_clear(ctx, out);
    return st;
}

static void unit_rows(krein_matrix *x) {
    for (int64_t i = 0; i < x->n; i++) {
        float *row = x->x + i * x->d;
        double square = 0;
        for (int64_t j = 0; j < x->d; j++) square += (double)row[j] * (double)row[j];
        float factor = square > 0 ? (float)(1 / sqrt(square)) : 0;
        for (int64_t j = 0; j < x->d; j++) row[j] *= factor;
    }
}

static krein_status centres(krein_map *map, const krein_rows *x, int64_t m, bool unit,
                            krein_matrix *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t *seed = NULL, got;
    NEW(seed, m);
    TRY(krein__centres_seeds(ctx, stream(map, 2), x, m, seed, &got));
    TRY(krein__matrix_gather(ctx, x, seed, got, out));
    if (!x->ptr) TRY(krein__centres_lloyd(ctx, x, got, STEPS, out->x));
    if (!x->ptr && unit) unit_rows(out);
done:
    krein__free(ctx, seed);
    return st;
}

static krein_status pick_kmeans(krein_map *map, krein_stream *rows, int64_t n, int64_t m,
                                krein_matrix *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_matrix x = {0}, dense = {0}, found = {0};
    bool unit = krein__stream_encoding(rows)->scale == KREIN_SCALE_UNIT;
    if (!krein__kernel_all(map->kernel, not_table))
        return krein__fail(ctx, KREIN_ESPEC,
                           "nystrom: landmarks=kmeans makes new rows, for which a kernel from a "
                           "file has no values; try landmarks=uniform or landmarks=leverage");
    TRY(gather(map, rows, n, candidates(map, n, m, KREIN_PICK_KMEANS), &x));
    krein_rows all = krein__matrix_rows(&x);
    if (!map->sparse || map->d > NARROW) {
        TRY(centres(map, &all, m, unit, out));
        goto done;
    }
    TRY(to_dense(ctx, &all, &dense));
    krein__matrix_clear(ctx, &x);
    all = krein__matrix_rows(&dense);
    TRY(centres(map, &all, m, unit, &found));
    TRY(to_sparse(ctx, &found, out));
done:
    krein__matrix_clear(ctx, &x);
    krein__matrix_clear(ctx, &dense);
    krein__matrix_clear(ctx, &found);
    return st;
}

/* ---- leverage ----------------------------------------------------------- */

/* The r with sum w_i / (w_i + r) = target, not below what rounding resolves. */
static double find_ridge(int64_t n, const double *w, double target) {
    double low = 1e-9 * w[n - 1], high = w[n - 1] * (double)n;
    for (int step = 0; step < 60; step++) {
        double middle = sqrt(low * high), sum = 0;
        for (int64_t i = 0; i < n; i++) sum += fmax(w[i], 0) / (fmax(w[i], 0) + middle);
        if (sum > target)
            low = middle;
        else
            high = middle;
    }
    return sqrt(low * high);
}

/* v_j /= sqrt(w_j + r), so that k'(K + rI)^-1 k = |V k|^2 (rows of V are eigenvectors). */
static void whiten(int64_t s, const double *w, double ridge, double *v) {
    for (int64_t j = 0; j < s; j++) {
        double factor = 1 / sqrt(fmax(w[j], 0) + ridge);
        for (int64_t i = 0; i < s; i++) v[j * s + i] *= factor;
    }
}

krein_status krein__row_scores(krein_ctx *ctx, const krein_kernel *kernel, const krein_rows *x,
                               const krein_rows *sample, double target, double *ridge,
                               double *score) {
    krein_status st = KREIN_OK;
    int64_t s = sample->n, block = krein__min(x->n, BLOCK);
    double *v = NULL, *w = NULL, *k = NULL, *p = NULL;
    NEW(v, s * s);
    NEW(w, s);
    TRY(krein__gram_full(ctx, kernel, sample, sample, v));
    TRY(krein__eigen(ctx, s, v, s, w));
    if (!(w[s - 1] > 0) || w[0] < -1e-6 * w[s - 1]) {
        st = krein__fail(ctx, KREIN_ENUMERIC, "the kernel is not positive definite on the rows");
        goto done;
    }
    *ridge = find_ridge(s, w, target);
    whiten(s, w, *ridge, v);
    NEW(k, block * s);
    NEW(p, block * s);
    TRY(krein__gram_diagonal(ctx, kernel, x, score));
    for (int64_t from = 0; from < x->n; from += block) {
        krein_rows some = krein__rows_slice(x, from, krein__min(block, x->n - from));
        TRY(krein__gram_full(ctx, kernel, &some, sample, k));
        krein__pgemm(ctx, false, true, some.n, s, s, 1, k, s, v, s, 0, p, s);
        for (int64_t i = 0; i < some.n; i++) {
            double left = score[from + i];
            for (int64_t j = 0; j < s; j++) left -= p[i * s + j] * p[i * s + j];
            score[from + i] = fmin(1, fmax(0, left) * (double)s / ((double)x->n * *ridge));
        }
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, v);
    krein__free(ctx, w);
    krein__free(ctx, k);
    krein__free(ctx, p);
    return st;
}

static krein_status score_candidates(krein_map *map, const krein_rows *x, int64_t m,
                                     double *score) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_matrix sample = {0};
    int64_t *index = NULL, s = krein__min(x->n, krein__min(m, SAMPLE));
    double ridge;
    NEW(index, s);
    krein__rng_choose(stream(map, 3), x->n, s, index);
    TRY(krein__matrix_gather(ctx, x, index, s, &sample));
    krein_rows rows = krein__matrix_rows(&sample);
    TRY(krein__row_scores(ctx, map->kernel, x, &rows, 0.5 * (double)s, &ridge, score));
done:
    krein__free(ctx, index);
    krein__matrix_clear(ctx, &sample);
    return st;
}

static krein_status pick_leverage(krein_map *map, krein_stream *rows, int64_t n, int64_t m,
                                  krein_matrix *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    krein_matrix x = {0};
    double *score = NULL, *p = NULL;
    int64_t *index = NULL, N = candidates(map, n, m, KREIN_PICK_LEVERAGE);
    NEW(score, N);
    NEW(p, N);
    NEW(index, m);
    TRY(gather(map, rows, n, N, &x));
    krein_rows all = krein__matrix_rows(&x);
    bool definite = krein__kernel_definite(map->kernel) != KREIN_DEFINITE_NO;
    if (definite) st = score_candidates(map, &all, m, score);
    if (!definite || st == KREIN_ENUMERIC) {
        krein__log(ctx, KREIN_LOG_WARNING,
                   "nystrom: leverage scores need a positive definite kernel; landmarks are drawn "
                   "uniformly");
        st = KREIN_OK;
        for (int64_t i = 0; i < N; i++) score[i] = 1;
    }
    if (st != KREIN_OK) goto done;
    krein__inclusion(N, score, m, p);
    TRY(krein__draw_fixed(ctx, stream(map, 4), N, p, m, index));
    TRY(krein__matrix_gather(ctx, &all, index, m, out));
done:
    krein__matrix_clear(ctx, &x);
    krein__free(ctx, score);
    krein__free(ctx, p);
    krein__free(ctx, index);
    return st;
}

/* ------------------------------------------------------------------------- */

krein_status krein__pick(krein_map *map, krein_stream *rows, int64_t n, int64_t m, krein_pick how,
                         krein_matrix *out) {
    krein_ctx *ctx = map->ctx;
    krein_status st = KREIN_OK;
    int64_t *index = NULL;
    *out = (krein_matrix){0};
    if (how == KREIN_PICK_KMEANS) return pick_kmeans(map, rows, n, m, out);
    if (how == KREIN_PICK_LEVERAGE) return pick_leverage(map, rows, n, m, out);
    NEW(index, m);
    krein__rng_choose(stream(map, 0), n, m, index);
    TRY(krein__stream_gather(rows, index, m, out, NULL, NULL, NULL));
done:
    krein__free(ctx, index);
    return st;
}

void krein__pick_cost(const krein_map *map, int64_t n, int64_t m, krein_pick how, krein_cost *out) {
    int64_t N = candidates(map, n, m, how), s = krein__min(N, krein__min(m, SAMPLE));
    int64_t width = map->sparse ? krein__min(map->d, NARROW) : map->d;
    int threads = map->ctx->threads;
    double rows = (double)N, d = (double)width, M = (double)m, S = (double)s;
    /* sparse rows: some thousand entries each, in an array that grows; then dense */
    double held = rows * (map->sparse ? 32 * d + 16 : 4 * d) + 64 * rows;
    if (how == KREIN_PICK_UNIFORM) return;
    if (how == KREIN_PICK_KMEANS) {
        out->bytes += held + krein__centres_bytes(N, map->d, m, threads) + M * (12 * d + 32);
        out->fit_flops += 2 * rows * M * d * (1 + STEPS);
        return;
    }
    double block = fmin(rows, BLOCK);
    out->bytes += held + S * (8 * d + 32) + 8 * (3 * S * S + 128 * S + 2 * block * S) +
                  krein__gram_full_bytes(map->kernel, krein__max(s, 32), width, threads);
    out->fit_flops += rows * S * (krein__gram_flops(map->kernel, map->d) + 2 * S) + 9 * S * S * S;
}
