/* ridge -- ridge regression on features with an intercept that is not penalised
 *
 *     min over w, b   (1/W) sum_i w_i |y_i - z_i'w - b|^2 + lambda |w|^2,      W = sum w_i
 *     (Gc + W lambda I) w = Bc,   Gc = sum w_i (z_i - m)(z_i - m)',   m the weighted mean of z
 *
 * for all outputs with one factorisation. Blocks of raw features r are float32; their products are
 * added into float64. Features are z = A'r (map.h): G is accumulated on r and turned into A'GA
 * once. Leave-one-out and held-out scores: ridge_scores.c.
 */
#include "solve/ridge.h"

#include "stream/together.h"
#include "num/blas.h"

#include <math.h>
#include <string.h>

/* ---- accumulation ------------------------------------------------------- */

krein_status krein__ridge_begin(krein_ctx *ctx, int64_t R, int64_t k, int64_t rows_max,
                                krein_ridge *s) {
    krein_status st = KREIN_OK;
    int64_t t = krein__syrk_tile(R);
    memset(s, 0, sizeof *s);
    s->ctx = ctx;
    s->R = R;
    s->k = k;
    s->rows_max = rows_max;
    ZNEW(s->G, R * R);
    ZNEW(s->B, R * (k + 1));
    ZNEW(s->ysum, k);
    ZNEW(s->tile, ctx->threads * t * t);
    NEW(s->right, rows_max * (k + 1) + R * (k + 1));
done:
    if (st != KREIN_OK) krein__ridge_clear(s);
    return st;
}

double krein__ridge_bytes(int64_t R, int64_t k, int64_t rows_max, int threads) {
    double r = (double)R, t = (double)krein__syrk_tile(R), c = (double)k + 1;
    return 8 * r * r + 8 * r * c + 4.0 * threads * t * t + 4 * ((double)rows_max + r) * c;
}

void krein__ridge_clear(krein_ridge *s) {
    if (!s->ctx) return;
    krein__free(s->ctx, s->G);
    krein__free(s->ctx, s->B);
    krein__free(s->ctx, s->ysum);
    krein__free(s->ctx, s->tile);
    krein__free(s->ctx, s->right);
    memset(s, 0, sizeof *s);
}

/* Reading replaces what was there. */
static krein_status array_io(krein_archive *a, krein_ctx *ctx, const char *name, double **x,
                             int64_t n) {
    if (krein__archive_reading(a)) {
        krein__free(ctx, *x);
        *x = NULL;
    }
    return krein__archive_array(a, name, KREIN_TYPE_F64, x, n);
}

krein_status krein__ridge_io(krein_archive *a, krein_ridge *s) {
    krein_status st = KREIN_OK;
    int64_t R = s->R, k = s->k;
    TRY(krein__archive_int(a, "ridge.R", &R, s->R, s->R));
    TRY(krein__archive_int(a, "ridge.k", &k, s->k, s->k));
    TRY(krein__archive_int(a, "ridge.n", &s->n, 0, INT64_MAX));
    TRY(krein__archive_double(a, "ridge.weight", &s->weight));
    if (!(s->weight >= 0) || isinf(s->weight)) {
        st = krein__fail(s->ctx, KREIN_EMODEL, "the weight of the rows is out of range");
        goto done;
    }
    TRY(array_io(a, s->ctx, "ridge.G", &s->G, R * R));
    TRY(array_io(a, s->ctx, "ridge.B", &s->B, R * (k + 1)));
    TRY(array_io(a, s->ctx, "ridge.ysum", &s->ysum, k));
done:
    return st;
}

/* A row with sqrt(w), which both factors carry: r itself, and [y', 1] to right. */
static void weigh(int64_t R, int64_t k, float *r, const double *y, const double *weight,
                  float *right) {
    float root = weight ? (float)sqrt(*weight) : 1;
    for (int64_t j = 0; weight && j < R; j++) r[j] *= root;
    for (int64_t j = 0; j < k; j++) right[j] = root * (float)y[j];
    right[k] = root;
}

static void count_rows(krein_ridge *s, int64_t n, const double *y, const double *weight) {
    for (int64_t i = 0; i < n; i++) {
        double w = weight ? weight[i] : 1;
        s->weight += w;
        for (int64_t j = 0; j < s->k; j++) s->ysum[j] += w * y[i * s->k + j];
    }
    s->n += n;
}

enum { STRIP = 256 };

/* Features j .. times right (n x c). */
static void strip_product(int64_t R, int64_t j, int64_t n, const float *r, int64_t c,
                          const float *right, float *product) {
    krein__sgemm(true, false, krein__min(STRIP, R - j), c, n, 1, r + j, R, right, c, 0,
                 product + j * c, c);
}

static void strip_add(int64_t R, int64_t j, int64_t c, const float *product, double *B) {
    int64_t m = krein__min(STRIP, R - j);
    for (int64_t i = j * c; i < (j + m) * c; i++) B[i] += (double)product[i];
}

void krein__ridge_add(krein_ridge *s, int64_t n, float *r, const double *y, const double *weight) {
    int64_t R = s->R, k = s->k, c = k + 1;
    krein_ctx *ctx = s->ctx;
    float *right = s->right, *product = s->right + s->rows_max * c;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) if (weight)
    for (int64_t i = 0; i < n; i++)
        weigh(R, k, r + i * R, k ? y + i * k : NULL, weight ? weight + i : NULL, right + i * c);
    count_rows(s, n, y, weight);
    krein_compute compute = krein__compute_begin();
    krein__syrk_add(ctx, R, n, r, R, s->G, R, s->tile);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t j = 0; j < R; j += STRIP) {
        krein__worker_begin();
        strip_product(R, j, n, r, c, right, product);
        strip_add(R, j, c, product, s->B);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
}

/* Tiles, then R x (k + 1), then the right factor. */
int64_t krein__ridge_room(const krein_ridge *s) {
    return krein__syrk_room(s->R) + (s->R + s->rows_max) * (s->k + 1);
}

void krein__ridge_products(const krein_ridge *s, int64_t n, float *r, const double *y,
                           const double *weight, float *products) {
    int64_t R = s->R, k = s->k, c = k + 1;
    float *product = products + krein__syrk_room(R), *right = product + R * c;
    for (int64_t i = 0; i < n; i++)
        weigh(R, k, r + i * R, k ? y + i * k : NULL, weight ? weight + i : NULL, right + i * c);
    krein__syrk_products(R, n, r, R, products);
    for (int64_t j = 0; j < R; j += STRIP) strip_product(R, j, n, r, c, right, product);
}

void krein__ridge_sum(krein_ridge *s, int64_t n, const double *y, const double *weight,
                      const float *products) {
    int64_t R = s->R, c = s->k + 1;
    count_rows(s, n, y, weight);
    krein__syrk_sum(R, products, s->G, R);
    for (int64_t j = 0; j < R; j += STRIP) strip_add(R, j, c, products + krein__syrk_room(R), s->B);
}

/* The upper triangle alone, its rows behind each other: half the bytes. */
static krein_status sum_triangle(krein_ctx *ctx, krein_stream *rows, int64_t n, double *a) {
    int64_t size = n * (n + 1) / 2, at = 0;
    krein_status st = KREIN_OK;
    double *packed = NULL;
    NEW(packed, size);
    for (int64_t i = 0; i < n; i++) {
        memcpy(packed + at, a + i * n + i, (size_t)(n - i) * sizeof *a);
        at += n - i;
    }
    TRY(krein__stream_sum(rows, size, packed));
    at = 0;
    for (int64_t i = 0; i < n; i++) {
        memcpy(a + i * n + i, packed + at, (size_t)(n - i) * sizeof *a);
        at += n - i;
    }
done:
    krein__free(ctx, packed);
    return st;
}

krein_status krein__ridge_together(krein_ridge *s, krein_stream *rows) {
    krein_status st = KREIN_OK;
    if (!krein__stream_shared(rows)) return KREIN_OK; /* no need of a packed triangle */
    TRY(sum_triangle(s->ctx, rows, s->R, s->G));
    TRY(krein__stream_sum(rows, s->R * (s->k + 1), s->B));
    TRY(krein__stream_sum(rows, s->k, s->ysum));
    TRY(krein__stream_sum(rows, 1, &s->weight));
    TRY(krein__stream_count(rows, 1, &s->n));
done:
    return st;
}

/* ---- the system --------------------------------------------------------- */

static void mirror(int64_t n, double *a) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
}

/* G - W m m' on the upper triangle; B - m (sum w y)'. */
static void centre(krein_ridge *s, krein_system *out) {
    int64_t R = s->R, k = s->k, c = k + 1;
    for (int64_t i = 0; i < R; i++) out->mean[i] = s->B[i * c + k] / s->weight;
    for (int64_t j = 0; j < k; j++) out->ymean[j] = s->ysum[j] / s->weight;
    if (s->centred) return;
    s->centred = true;
#pragma omp parallel for num_threads(s->ctx->threads) schedule(static, 64)
    for (int64_t i = 0; i < R; i++) {
        for (int64_t j = i; j < R; j++) s->G[i * R + j] -= s->weight * out->mean[i] * out->mean[j];
        for (int64_t j = 0; j < k; j++) s->B[i * c + j] -= out->mean[i] * s->ysum[j];
    }
}

krein_status krein__ridge_system(krein_ridge *s, const double *mix, int64_t ldmix, int64_t D,
                                 krein_system *out) {
    krein_ctx *ctx = s->ctx;
    krein_status st = KREIN_OK;
    int64_t R = s->R, k = s->k;
    double *half = NULL, *b = NULL;
    memset(out, 0, sizeof *out);
    out->D = D;
    out->R = R;
    out->k = k;
    out->mix = mix;
    out->ldmix = ldmix;
    if (!(s->weight > 0)) {
        st = krein__fail(ctx, KREIN_EDATA, "all row weights are zero");
        goto done;
    }
    out->weight = s->weight;
    NEW(out->mean, R);
    NEW(out->ymean, k);
    NEW(out->B, D * k);
    centre(s, out);
    NEW(b, R * k);
    for (int64_t i = 0; i < R; i++)
        for (int64_t j = 0; j < k; j++) b[i * k + j] = s->B[i * (k + 1) + j];
    if (!mix) {
        memcpy(out->B, b, (size_t)(R * k) * sizeof *b);
        out->G = s->G;
        s->G = NULL;
        goto done;
    }
    NEW(half, R * D);
    NEW(out->G, D * D);
    mirror(R, s->G);
    krein__pgemm(ctx, false, false, R, D, R, 1, s->G, R, mix, ldmix, 0, half, D);
    krein__pgemm(ctx, true, false, D, D, R, 1, mix, ldmix, half, D, 0, out->G, D);
    krein__pgemm(ctx, true, false, D, k, R, 1, mix, ldmix, b, k, 0, out->B, k);
done:
    krein__free(ctx, half);
    krein__free(ctx, b);
    if (st != KREIN_OK) krein__system_clear(ctx, out);
    return st;
}

void krein__system_clear(krein_ctx *ctx, krein_system *s) {
    krein__free(ctx, s->G);
    krein__free(ctx, s->B);
    krein__free(ctx, s->mean);
    krein__free(ctx, s->ymean);
    memset(s, 0, sizeof *s);
}

double krein__system_floor(const krein_system *s) {
    double trace = 0;
    for (int64_t i = 0; i < s->D; i++) trace += s->G[i * s->D + i];
    return 1e-7 * trace / s->weight / sqrt((double)s->D);
}

/* Products of float32 blocks carry a relative error of about this: pivots below are noise. */
static const double SINGULAR = 1e-7;

/* u = factor of G + shift I */
static krein_status factor(krein_ctx *ctx, const krein_system *s, double shift, double *u) {
    int64_t D = s->D, pivot;
    memcpy(u, s->G, (size_t)(D * D) * sizeof *u);
    for (int64_t i = 0; i < D; i++) u[i * D + i] += shift;
    return krein__cholesky(ctx, D, u, D, &pivot);
}

/* Float32 rounding may leave G slightly indefinite: it is lifted by the least that helps, from far
 * below the rounding in steps of four. */
krein_status krein__system_factor(krein_ctx *ctx, const krein_system *s, double lambda, double *u) {
    krein_status st = factor(ctx, s, s->weight * lambda, u);
    double diagonal = 0;
    for (int64_t i = 0; i < s->D; i++) diagonal = fmax(diagonal, s->G[i * s->D + i]);
    for (double lift = 1e-10; lambda > 0 && st == KREIN_ENUMERIC && lift < 1e-2; lift *= 4) {
        krein__log(ctx, KREIN_LOG_DEBUG, "ridge: not positive definite; diagonal lifted by %.1e",
                   lift);
        st = factor(ctx, s, s->weight * lambda + lift * diagonal, u);
    }
    return st;
}

static krein_status solve_features(krein_ctx *ctx, const krein_system *s, double lambda,
                                   double *x) {
    krein_status st = KREIN_OK;
    int64_t D = s->D, k = s->k;
    double *u = NULL, low = INFINITY, high = 0;
    NEW(u, D * D);
    st = krein__system_factor(ctx, s, lambda, u);
    for (int64_t i = 0; st == KREIN_OK && i < D; i++) {
        low = fmin(low, u[i * D + i] * u[i * D + i]);
        high = fmax(high, u[i * D + i] * u[i * D + i]);
    }
    if (lambda == 0 && (st == KREIN_ENUMERIC || (st == KREIN_OK && low <= SINGULAR * high))) {
        st = krein__fail(ctx, KREIN_ENUMERIC,
                         "the features are linearly dependent, so lambda = 0 has no unique "
                         "solution; give a positive `lambda`, or auto");
        goto done;
    }
    TRY(st);
    memcpy(x, s->B, (size_t)(D * k) * sizeof *x);
    TRY(krein__cholesky_solve(ctx, D, u, D, k, x, k));
done:
    krein__free(ctx, u);
    return st;
}

krein_status krein__system_solve(krein_ctx *ctx, const krein_system *s, double lambda, double *w,
                                 double *intercept) {
    krein_status st = KREIN_OK;
    double *x = NULL;
    NEW(x, s->D * s->k);
    TRY(solve_features(ctx, s, lambda, x));
    if (s->mix)
        krein__pgemm(ctx, false, false, s->R, s->k, s->D, 1, s->mix, s->ldmix, x, s->k, 0, w, s->k);
    else
        memcpy(w, x, (size_t)(s->D * s->k) * sizeof *w);
    for (int64_t j = 0; j < s->k; j++) {
        intercept[j] = s->ymean[j];
        for (int64_t i = 0; i < s->R; i++) intercept[j] -= s->mean[i] * w[i * s->k + j];
    }
done:
    krein__free(ctx, x);
    return st;
}
