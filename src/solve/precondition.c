/* precondition -- two Cholesky factors for ridge regression on kernel values at landmarks
 *
 *     min over a, b of  sum w_i (y_i - k_i'a - b)^2 / W + lambda a'Ka,     K + jitter I = T'T
 *
 * In the coordinates w = T a the penalty is lambda |w|^2 (but for the jitter), the features are z =
 * T^-T k, and the landmarks' own have the covariance TT'/m less their mean's square: P = S + lambda
 * I = U'U is a preconditioner that costs two factorisations and no pass over the rows (rudi2017b).
 * Rows beside the landmarks can be added to S. Without K it is the covariance of a sample.
 *
 * The jitter. Kernel values and products of single precision have rounding errors of a root mean
 * square `noise`, which are noise / sqrt(mu_j) in z along an eigenvalue mu_j of K. Where mu_j is
 * small, they are features like others: rounding errors that are fitted to the targets, and
 * products that are not those of a symmetric matrix. A jitter takes such directions away, and is an
 * error itself where a direction's variance mu_j / m is not far below lambda. Errors of
 * predictions, in parts of their deviation (1,600 rows of 6 inputs, 400 landmarks, a Gaussian of
 * width 4, noise 1e-7):
 *
 *   jitter       9e-9    9e-8    9e-7    9e-6    9e-5
 *   lambda 0.1                 6.7e-7  5.4e-6  4.9e-5
 *   1e-4       7.5e-4  6.2e-5  1.8e-5
 *   1e-5       4.0e-3  4.2e-4  1.2e-4  6.1e-4
 *   1e-6               6.2e-3  9.4e-4  4.4e-3
 *
 * so that it is a few times the noise, or more where that is below BIAS m lambda, or where lambda
 * is so small that the noise in z, noise^2 / jitter, would not be. Steps are powers of ten, so that
 * lambdas share a factor.
 *
 * K and T, in double, and S and U, in float32, share a square each: 12 n^2 bytes for both, and 8
 * n^2 more while rows are added to S (beside these and T in float32), or S + lambda is factored in
 * double. n^3 / 3 flops a factor and as many for S. */
#include "solve/precondition.h"

#include "num/blas.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { TILE = 256, COPY = 64 };

/* The upper triangle of a becomes what stands below the diagonal; the diagonal is d + more. */
#define RESTORE(NAME, TO, FROM)                                                                    \
    static void NAME(krein_ctx *ctx, int64_t n, const FROM *from, const double *d, double more,    \
                     TO *a) {                                                                      \
        int64_t tiles = (n + COPY - 1) / COPY;                                                     \
        _Pragma(                                                                                   \
            "omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)") for (int64_t q = 0; \
                                                                                    q <            \
                                                                                    tiles * tiles; \
                                                                                    q++) {         \
            int64_t i0 = q / tiles * COPY, j0 = q % tiles * COPY;                                  \
            if (i0 > j0) continue;                                                                 \
            for (int64_t i = i0; i < krein__min(i0 + COPY, n); i++)                                \
                for (int64_t j = krein__max(j0, i + 1); j < krein__min(j0 + COPY, n); j++)         \
                    a[i * n + j] = (TO)from[j * n + i];                                            \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++) a[i * n + i] = (TO)(d[i] + more);                          \
    }
RESTORE(restore, double, double)
RESTORE(restore32, float, float)
RESTORE(widen, double, float)

/* The upper triangle of a, times scale, below the diagonal of s, and its diagonal to d. */
static void lower(krein_ctx *ctx, int64_t n, const double *a, double scale, float *s, double *d) {
    int64_t tiles = (n + COPY - 1) / COPY;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t q = 0; q < tiles * tiles; q++) {
        int64_t i0 = q / tiles * COPY, j0 = q % tiles * COPY;
        if (i0 < j0) continue;
        for (int64_t i = i0; i < krein__min(i0 + COPY, n); i++)
            for (int64_t j = j0; j < krein__min(j0 + COPY, i); j++)
                s[i * n + j] = (float)(scale * a[j * n + i]);
    }
    for (int64_t i = 0; i < n; i++) d[i] = scale * a[i * n + i];
}

/* ---- coordinates -------------------------------------------------------- */

krein_status krein__basis_make(krein_ctx *ctx, int64_t n, double *K, double noise, krein_basis *b) {
    krein_status st = KREIN_OK;
    *b = (krein_basis){.ctx = ctx, .n = n, .k = K, .noise = noise, .jitter = -1};
    NEW(b->diagonal, n);
    for (int64_t i = 0; i < n; i++) {
        b->diagonal[i] = K[i * n + i];
        b->size += K[i * n + i] / (double)n;
    }
    if (!(b->size > 0))
        st = krein__fail(ctx, KREIN_ENUMERIC, "nystrom: the kernel is zero on the landmarks");
done:
    return st;
}

void krein__basis_clear(krein_basis *b) {
    if (!b->ctx) return;
    krein__free(b->ctx, b->k);
    krein__free(b->ctx, b->diagonal);
    memset(b, 0, sizeof *b);
}

static const double BIAS = 1e-7;

static double jitter_for(const krein_basis *b, double lambda) {
    double least = fmax(DBL_EPSILON * (double)b->n * b->size, 4 * b->noise);
    double wanted = fmax(BIAS * (double)b->n * lambda, 10 * b->noise * b->noise / lambda);
    wanted = fmin(wanted, 1e-3 * b->size);
    return wanted > least ? least * pow(10, ceil(log10(wanted / least) - 1e-9)) : least;
}

/* What a factorisation said that another one made up for. */
static void forgive(krein_ctx *ctx) {
    ctx->status = KREIN_OK;
    ctx->message[0] = 0;
}

krein_status krein__basis_factor(krein_basis *b, double lambda, bool *changed) {
    krein_ctx *ctx = b->ctx;
    double jitter = jitter_for(b, lambda);
    *changed = b->jitter < 0 || jitter != b->jitter;
    if (!*changed) return KREIN_OK;
    for (;; jitter *= 10) {
        restore(ctx, b->n, b->k, b->diagonal, jitter, b->k);
        krein_status st = krein__cholesky(ctx, b->n, b->k, b->n, NULL);
        b->jitter = st == KREIN_OK ? jitter : -1;
        if (st == KREIN_OK) forgive(ctx);
        if (st != KREIN_ENUMERIC || !(jitter <= 1e-3 * b->size)) return st;
        krein__log(ctx, KREIN_LOG_INFO,
                   "nystrom: the landmarks' kernel matrix is not positive with %.1e on its "
                   "diagonal; trying %.1e",
                   jitter, jitter * 10);
    }
}

void krein__basis_variance(const krein_basis *b, double *out) {
    enum { SOME = 256 };
    int64_t n = b->n, some = krein__min(n, SOME);
    for (int64_t j = 0; j < n; j++) {
        double sum = 0, square = 0;
        for (int64_t q = 0; q < some; q++) {
            int64_t i = q * n / some; /* points may be in an order */
            double v = i == j ? b->diagonal[j] : b->k[krein__max(i, j) * n + krein__min(i, j)];
            sum += v;
            square += v * v;
        }
        out[j] = fmax(square - sum * sum / (double)some, 0) / (double)some;
    }
}

void krein__basis_to_raw(const krein_basis *b, int64_t m, double *v) {
    krein__triangle_solve(b->ctx, false, b->n, b->k, b->n, m, v, b->n);
}

void krein__basis_from_raw(const krein_basis *b, int64_t m, double *v) {
    krein__triangle_solve(b->ctx, true, b->n, b->k, b->n, m, v, b->n);
}

double krein__basis_bytes(int64_t n) { return 8 * (double)n * (double)n + 8 * (double)n + 4096; }

/* ---- the preconditioner ------------------------------------------------- */

static krein_status begin(krein_ctx *ctx, int64_t n, krein_factor *f) {
    krein_status st = KREIN_OK;
    *f = (krein_factor){.ctx = ctx, .n = n, .lambda = -1};
    NEW(f->s, n * n);
    NEW(f->diagonal, n);
done:
    return st;
}

static krein_status end(krein_factor *f) {
    f->trace = 0;
    for (int64_t i = 0; i < f->n; i++) f->trace += f->diagonal[i];
    if (isfinite(f->trace)) return KREIN_OK;
    return krein__fail(f->ctx, KREIN_ENUMERIC,
                       "features are too large for products in single precision; use "
                       "`scale=standard`, or another kernel");
}

/* T in float32, on and above the diagonal: an error of the preconditioner alone. Products of its
 * rows are off by 2^-24 of their lengths, which are those of kernel values: as a matrix that is
 * 2^-24 / sqrt(n), far below every lambda. */
static void narrow(const krein_basis *b, float *t) {
    int64_t n = b->n;
#pragma omp parallel for num_threads(b->ctx->threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) t[i * n + j] = (float)b->k[i * n + j];
}

/* A tile of TT' / n - mean mean', rows from i and columns from j <= i, from T above the diagonal of
 * s to below it. own: 2 TILE^2. */
static void product_tile(krein_factor *f, const double *mean, int64_t i, int64_t j, float *own) {
    int64_t n = f->n, ti = krein__min(TILE, n - i), tj = krein__min(TILE, n - j);
    float *s = f->s, *corner = own + TILE * TILE, by = 1 / (float)n;
    /* T's tile on the diagonal, with zeros where S stands. */
    for (int64_t a = 0; a < ti; a++)
        for (int64_t c = 0; c < ti; c++) corner[a * ti + c] = c >= a ? s[(i + a) * n + i + c] : 0;
    krein__sgemm(false, true, ti, tj, n - i - ti, by, s + i * n + i + ti, n, s + j * n + i + ti, n,
                 0, own, tj);
    krein__sgemm(false, true, ti, tj, ti, by, corner, ti, j < i ? s + j * n + i : corner,
                 j < i ? n : ti, 1, own, tj);
    for (int64_t a = 0; a < ti; a++)
        for (int64_t c = 0; c < (j < i ? tj : a); c++)
            s[(i + a) * n + j + c] = (float)((double)own[a * tj + c] - mean[i + a] * mean[j + c]);
    for (int64_t a = 0; j == i && a < ti; a++)
        f->diagonal[i + a] = (double)own[a * tj + a] - mean[i + a] * mean[i + a];
}

krein_status krein__factor_of_basis(const krein_basis *b, krein_factor *f) {
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t n = b->n, tiles = (n + TILE - 1) / TILE;
    double *mean = NULL;
    float *own = NULL;
    if (!f->s) TRY(begin(ctx, n, f));
    f->lambda = -1;
    ZNEW(mean, n);
    NEW(own, ctx->threads * 2 * TILE * TILE);
    narrow(b, f->s);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) mean[i] += b->k[i * n + j] / (double)n;
    krein_compute compute = krein__compute_begin();
#pragma omp parallel num_threads(ctx->threads)
    {
        krein__worker_begin();
        /* The longest sums are the first. */
#pragma omp for schedule(dynamic, 1)
        for (int64_t q = 0; q < tiles * tiles; q++)
            if (q / tiles >= q % tiles)
                product_tile(f, mean, q / tiles * TILE, q % tiles * TILE,
                             own + omp_get_thread_num() * 2 * TILE * TILE);
        krein__worker_end(compute);
    }
    krein__compute_end(compute);
    TRY(end(f));
    TRY(krein__poll(ctx));
done:
    krein__free(ctx, mean);
    krein__free(ctx, own);
    return st;
}

/* S = scale (a + Z'Z) in float32 products; a: n x n, its upper triangle, which is overwritten. */
static krein_status add_rows(krein_factor *f, int64_t rows, const float *z, double scale,
                             double *a) {
    enum { ROWS = 2048 };
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t n = f->n;
    float *scratch = NULL;
    NEW(scratch, ctx->threads * krein__syrk_tile(n) * krein__syrk_tile(n));
    for (int64_t i = 0; i < rows; i += ROWS) {
        krein__syrk_add(ctx, n, krein__min(ROWS, rows - i), z + i * n, n, a, n, scratch);
        TRY(krein__poll(ctx));
    }
    lower(ctx, n, a, scale, f->s, f->diagonal);
    TRY(end(f));
done:
    krein__free(ctx, scratch);
    return st;
}

krein_status krein__factor_of_rows(krein_ctx *ctx, int64_t rows, int64_t n, const float *z,
                                   double weight, krein_factor *f) {
    krein_status st = KREIN_OK;
    double *a = NULL;
    TRY(begin(ctx, n, f));
    ZNEW(a, n * n);
    TRY(add_rows(f, rows, z, 1 / weight, a));
done:
    krein__free(ctx, a);
    return st;
}

/* Z = R T^-1, by T in float32: an error of the preconditioner alone. */
static krein_status to_basis(const krein_basis *b, int64_t rows, float *r) {
    enum { ROWS = 128, MANY = 2048 };
    krein_ctx *ctx = b->ctx;
    krein_status st = KREIN_OK;
    int64_t n = b->n;
    float *t = NULL;
    NEW(t, n * n);
    narrow(b, t);
    for (int64_t from = 0; from < rows; from += MANY) {
        int64_t end = krein__min(rows, from + MANY);
        krein_compute compute = krein__compute_begin();
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
        for (int64_t i = from; i < end; i += ROWS) {
            krein__worker_begin();
            krein__strsm(krein__min(ROWS, end - i), n, t, n, r + i * n, n);
            krein__worker_end(compute);
        }
        krein__compute_end(compute);
        TRY(krein__poll(ctx));
    }
done:
    krein__free(ctx, t);
    return st;
}

krein_status krein__factor_add_rows(krein_factor *f, const krein_basis *b, int64_t rows, float *r,
                                    double weight) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t n = f->n;
    double share = weight / (double)rows, *a = NULL; /* of one of the points */
    TRY(to_basis(b, rows, r));
    NEW(a, n * n);
    widen(ctx, n, f->s, f->diagonal, 0, a);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) a[i * n + j] *= share * (double)n;
    TRY(add_rows(f, rows, r, 1 / (weight + share * (double)n), a));
done:
    krein__free(ctx, a);
    return st;
}

void krein__factor_clear(krein_factor *f) {
    if (!f->ctx) return;
    krein__free(f->ctx, f->s);
    krein__free(f->ctx, f->diagonal);
    memset(f, 0, sizeof *f);
}

/* Pivots of S + lambda I are lambda and more, but for rounding: whether those of U are. */
#define PIVOTS(NAME, T)                                                                            \
    static bool NAME(int64_t n, const T *u, double lambda) {                                       \
        bool good = true;                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                          \
            double v = (double)u[i * n + i];                                                       \
            good = good && v * v >= lambda / 4;                                                    \
        }                                                                                          \
        return good;                                                                               \
    }
PIVOTS(pivots32, float)
PIVOTS(pivots64, double)

/* Where S + lambda is not positive to single precision: the factor in double, of a lambda that is
 * lifted above the rounding of S, in the preconditioner alone. */
static krein_status factor_lifted(krein_factor *f, double lambda) {
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t n = f->n;
    double *u = NULL;
    NEW(u, n * n);
    for (double lift = lambda, least = 1e-15 * f->trace;; lift = fmax(100 * lift, least)) {
        widen(ctx, n, f->s, f->diagonal, lift, u);
        st = krein__cholesky(ctx, n, u, n, NULL);
        bool good = st == KREIN_OK && pivots64(n, u, lift);
        if (good || (st != KREIN_OK && st != KREIN_ENUMERIC) || !(lift <= f->trace)) break;
    }
    TRY(st);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i; j < n; j++) f->s[i * n + j] = (float)u[i * n + j];
done:
    krein__free(ctx, u);
    return st;
}

/* Errors of single precision are parts of 2^-24 of the diagonal, entry by entry. */
krein_status krein__factor_at(krein_factor *f, double lambda) {
    krein_ctx *ctx = f->ctx;
    if (f->lambda == lambda) return KREIN_OK;
    f->lambda = -1;
    restore32(ctx, f->n, f->s, f->diagonal, lambda, f->s);
    krein_status st = krein__cholesky32(ctx, f->n, f->s, f->n, NULL);
    if (st == KREIN_ENUMERIC || (st == KREIN_OK && !pivots32(f->n, f->s, lambda)))
        st = factor_lifted(f, lambda);
    if (st != KREIN_OK) return st;
    forgive(ctx);
    f->lambda = lambda;
    return KREIN_OK;
}

void krein__factor_apply(const krein_factor *f, int64_t m, const double *r, double *out,
                         float *scratch) {
    int64_t n = f->n;
    for (int64_t c = 0; c < m; c++) { /* of size one: nothing is lost below or above floats */
        const double *from = r + c * n;
        double most = 0;
        for (int64_t j = 0; j < n; j++) most = fmax(most, fabs(from[j]));
        out[c * n] = most > 0 ? most : 1;
        for (int64_t j = 0; j < n; j++) scratch[c * n + j] = (float)(from[j] / out[c * n]);
    }
    krein__triangle_solve32(f->ctx, true, n, f->s, n, m, scratch, n);
    krein__triangle_solve32(f->ctx, false, n, f->s, n, m, scratch, n);
    for (int64_t c = 0; c < m; c++) {
        double size = out[c * n];
        for (int64_t j = 0; j < n; j++) out[c * n + j] = size * (double)scratch[c * n + j];
    }
}

/* Some steps of the power method from the diagonal. */
krein_status krein__factor_top(const krein_factor *f, double *out) {
    enum { STEPS = 8 };
    krein_ctx *ctx = f->ctx;
    krein_status st = KREIN_OK;
    int64_t n = f->n;
    double *x = NULL, *y = NULL;
    *out = 0;
    NEW(x, n);
    NEW(y, n);
    for (int64_t i = 0; i < n; i++) x[i] = f->diagonal[i] + f->trace / (double)n;
    for (int step = 0; step < STEPS; step++) {
        for (int64_t i = 0; i < n; i++) y[i] = f->diagonal[i] * x[i];
        for (int64_t i = 0; i < n; i++) {
            const float *row = f->s + i * n;
            double sum = 0;
            for (int64_t j = 0; j < i; j++) {
                sum += (double)row[j] * x[j];
                y[j] += (double)row[j] * x[i];
            }
            y[i] += sum;
        }
        double xx = krein__ddot(n, x, x), yy = krein__ddot(n, y, y);
        if (!(xx > 0) || !(yy > 0)) break;
        *out = krein__ddot(n, x, y) / xx;
        for (int64_t i = 0; i < n; i++) x[i] = y[i] / sqrt(yy);
    }
done:
    krein__free(ctx, x);
    krein__free(ctx, y);
    return st;
}

double krein__factor_bytes(int64_t n, int threads) {
    double tile = (double)krein__max(TILE, krein__syrk_tile(n));
    return 12 * (double)n * (double)n + 32 * (double)n + 8 * threads * tile * tile + 8192;
}
